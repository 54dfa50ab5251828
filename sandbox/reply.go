package sandbox

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// reply is a response before it is sent: complete, or cut off by a fault.
type reply struct {
	status     int
	header     http.Header
	body       []byte
	truncation truncation
}

// truncation says where the response is cut off.
type truncation int

const (
	notTruncated truncation = iota
	truncatedToNothing
	truncatedByReset
	truncatedInHeader
	truncatedInBody
)

// jsonReply is a response with HTTP status 200.
func jsonReply(body []byte) reply {
	return reply{status: http.StatusOK, body: body, header: http.Header{
		"Content-Type":  {"application/json; charset=utf-8"},
		"Cache-Control": {"no-store"},
	}}
}

func (r reply) withStatus(status int) reply {
	r.status = status
	return r
}

func (r reply) withHeader(name, value string) reply {
	r.header.Set(name, value)
	return r
}

// send writes the reply to a server's connection.
func (r reply) send(w http.ResponseWriter, req *http.Request) {
	if r.truncation != notTruncated {
		r.hangUp(w)
		return
	}
	maps.Copy(w.Header(), r.header)
	w.Header().Set("Content-Length", strconv.Itoa(len(r.body)))
	w.WriteHeader(r.status)
	if req.Method != http.MethodHead {
		_, _ = w.Write(r.body) // an error means that the caller has gone away
	}
}

// hangUp closes the connection at the point where the reply is cut off. If the connection cannot be hijacked, as in HTTP/2,
// the response is aborted instead.
func (r reply) hangUp(w http.ResponseWriter) {
	h, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, buf, err := h.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	switch r.truncation {
	case truncatedByReset:
		if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
			_ = tcp.SetLinger(0) // makes Close send a reset
		}
	case truncatedInHeader:
		_, _ = fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\nContent-Type: appl", r.status, http.StatusText(r.status))
	case truncatedInBody:
		_, _ = fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n", r.status, http.StatusText(r.status), len(r.body))
		_ = r.header.Write(buf)
		_, _ = buf.WriteString("\r\n")
		_, _ = buf.Write(r.body[:len(r.body)/2])
	}
	_ = buf.Flush()
}

// refusal returns the JSON response to a request that is not carried out.
func refusal(code int, reason string) reply {
	o := jsonobject.New().Number("code", int64(code)).Text("message", codes.Message(code)).Text("transactionMessage", reason)
	return jsonReply(o.Number("timestamp", time.Now().UnixMilli()).End())
}
