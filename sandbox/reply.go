package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// reply is a response before it is sent: complete, or cut off by a fault.
type reply struct {
	status int
	header http.Header
	body   []byte
	cut    Reply // ReplyClose, ReplyReset, ReplyCutHeader or ReplyCutBody says where it is cut off

	code    int // of a JSON response of the gateway, or zero
	message string
}

// jsonReply is a response with HTTP status 200, whose object has that code and its message.
func jsonReply(code int, o jsonobject.Object) reply {
	return reply{status: http.StatusOK, body: o.End(), code: code, message: codes.Message(code), header: http.Header{
		"Content-Type":  {"application/json; charset=utf-8"},
		"Cache-Control": {"no-store"},
	}}
}

// shortReply is a response with a code, a message, the time, and between them texts, whose names and values alternate.
func shortReply(code int, message string, texts ...string) reply {
	o := jsonobject.New().Number("code", int64(code)).Text("message", message)
	for i := 0; i < len(texts); i += 2 {
		o = o.Text(texts[i], texts[i+1])
	}
	r := jsonReply(code, o.Number("timestamp", time.Now().UnixMilli()))
	r.message = message
	return r
}

// refusalWithStatus returns the JSON response to a request that is not carried out.
func refusalWithStatus(status, code int, reason string) reply {
	return shortReply(code, codes.Message(code), "transactionMessage", reason).withStatus(status)
}

// refusal returns the same response with the HTTP status that the options require for the code.
func (o *Options) refusal(code int, reason string) reply {
	return o.statusFor(refusalWithStatus(http.StatusOK, code, reason))
}

func (o *Options) statusFor(r reply) reply {
	switch {
	case !o.Responses.HTTPStatusFollowsCode || r.code < 400:
		return r
	case r.code == codes.SystemError:
		return r.withStatus(http.StatusInternalServerError)
	}
	return r.withStatus(r.code)
}

func (r reply) withStatus(status int) reply {
	r.status = status
	return r
}

func (r reply) withHeader(name, value string) reply {
	r.header.Set(name, value)
	return r
}

// withBody returns a reply whose body is no longer that of the gateway.
func (r reply) withBody(body []byte, contentType string) reply {
	r.body, r.code, r.message = body, 0, ""
	return r.withHeader("Content-Type", contentType)
}

// send writes the reply to a server's connection.
func (r reply) send(w http.ResponseWriter, req *http.Request) {
	if r.cut != ReplyAsIs {
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
	switch r.cut {
	case ReplyReset:
		if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
			_ = tcp.SetLinger(0) // makes Close send a reset
		}
	case ReplyCutHeader:
		_, _ = fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\nContent-Type: appl", r.status, http.StatusText(r.status))
	case ReplyCutBody:
		_, _ = fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n", r.status, http.StatusText(r.status), len(r.body))
		_ = r.header.Write(buf)
		_, _ = buf.WriteString("\r\n")
		_, _ = buf.Write(r.body[:len(r.body)/2])
	}
	_ = buf.Flush()
}

// response converts the reply to what a client's transport returns.
func (r reply) response(req *http.Request) (*http.Response, error) {
	switch r.cut {
	case ReplyClose:
		return nil, io.EOF
	case ReplyReset:
		return nil, syscall.ECONNRESET
	case ReplyCutHeader:
		return nil, io.ErrUnexpectedEOF
	}
	var body io.Reader = bytes.NewReader(r.body)
	if r.cut == ReplyCutBody {
		body = io.MultiReader(bytes.NewReader(r.body[:len(r.body)/2]), cutReader{})
	}
	r.header.Set("Content-Length", strconv.Itoa(len(r.body)))
	return &http.Response{
		Status: strconv.Itoa(r.status) + " " + http.StatusText(r.status), StatusCode: r.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Body: io.NopCloser(body), ContentLength: int64(len(r.body)), Request: req,
	}, nil
}

// cutReader follows the half of a body that arrived.
type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// replyOf runs a handler and returns its reply.
func replyOf(h http.HandlerFunc, r *http.Request) reply {
	w := &replyWriter{reply: reply{header: make(http.Header)}}
	h(w, r)
	w.WriteHeader(http.StatusOK)
	return w.reply
}

// replyWriter is an http.ResponseWriter that records a reply.
type replyWriter struct{ reply reply }

func (w *replyWriter) Header() http.Header { return w.reply.header }

func (w *replyWriter) WriteHeader(status int) {
	if w.reply.status == 0 {
		w.reply.status = status
	}
}

func (w *replyWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.reply.body = append(w.reply.body, b...)
	return len(b), nil
}
