package sandbox

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// reply is an answer before it is sent: either complete, or cut off somewhere by a fault.
type reply struct {
	status int
	header http.Header
	body   []byte
	cut    cut
}

// cut says where the connection ends.
type cut int

const (
	cutNowhere cut = iota
	cutBeforeAnswer
	cutByReset
	cutInHeader
	cutInBody
)

// Result codes. Those above 301, and 110 and 112, are published and not part of the interface.
const (
	codeSuccess         = 100
	codeFailed          = 101
	codeProcessing      = 102
	codeRefundRequested = 110
	codeRefunded        = 111
	codeRefundFailed    = 112
	codeSearchSuccess   = 121
	codeRedirect        = 301
	codeRequestFailed   = 400
	codeUnauthorized    = 401
	codeNotFound        = 404
	codeParameterError  = 500
	codeDuplicate       = 501
	codeSystemError     = 999
)

// codeMessage is the text that goes with a code.
func codeMessage(code int) string {
	switch code {
	case codeSuccess:
		return "successful transaction"
	case codeFailed:
		return "transaction failed"
	case codeProcessing, codeRedirect:
		return "order processing"
	case codeRefundRequested:
		return "Refund request successful"
	case codeRefunded:
		return "Refund successful"
	case codeRefundFailed:
		return "Refund failed"
	case codeSearchSuccess:
		return "Search success"
	case codeRequestFailed:
		return "request failed"
	case codeUnauthorized:
		return "unauthorized"
	case codeNotFound:
		return "not found"
	case codeParameterError:
		return "request parameter error"
	case codeDuplicate:
		return "duplicate transactionId"
	}
	return "system error"
}

// jsonReply is an answer with HTTP status 200.
func jsonReply(body []byte) reply {
	return reply{status: http.StatusOK, body: body, header: http.Header{
		"Content-Type":  {"application/json; charset=utf-8"},
		"Cache-Control": {"no-store"},
	}}
}

// refusal is the JSON answer to a request that is not carried out.
func refusal(code int, reason string) reply {
	o := newObject().number("code", int64(code)).text("message", codeMessage(code)).text("transactionMessage", reason)
	return jsonReply(o.number("timestamp", time.Now().UnixMilli()).end())
}

// refuse is refusal with the HTTP status that the options ask for.
func (g *Gateway) refuse(code int, reason string) reply {
	return g.statusFor(code, refusal(code, reason))
}

func (g *Gateway) statusFor(code int, rep reply) reply {
	switch {
	case !g.opts.HTTPStatusFollowsCode || code < 400:
		return rep
	case code == codeSystemError:
		return rep.withStatus(http.StatusInternalServerError)
	}
	return rep.withStatus(code)
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
	if r.cut != cutNowhere {
		r.hangUp(w)
		return
	}
	maps.Copy(w.Header(), r.header)
	w.Header().Set("Content-Length", strconv.Itoa(len(r.body)))
	w.WriteHeader(r.status)
	if req.Method != http.MethodHead {
		_, _ = w.Write(r.body) // a caller that has gone away is not the gateway's concern
	}
}

// hangUp ends the connection where the reply is cut. Where the connection cannot be taken over, as in HTTP/2,
// the server is told to abort the answer instead.
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
	switch r.cut {
	case cutByReset:
		if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
			_ = tcp.SetLinger(0) // makes Close send a reset
		}
	case cutInHeader:
		_, _ = fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\nContent-Type: appl", r.status, http.StatusText(r.status))
	case cutInBody:
		_, _ = fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n", r.status, http.StatusText(r.status), len(r.body))
		_ = r.header.Write(buf)
		_, _ = buf.WriteString("\r\n")
		_, _ = buf.Write(r.body[:len(r.body)/2])
	}
	_ = buf.Flush()
}
