package transport

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
)

// Sender sends requests over connections of one kind. It holds functions and not transports: a deep printer that is given
// a client would find the head of the last request in a connection's buffer, with the token in its path.
type Sender struct {
	roundTrip func(*http.Request) (*http.Response, error)
	closeIdle func()
}

// CloseIdle closes the connections that no attempt is using.
func (s *Sender) CloseIdle() { s.closeIdle() }

// Response is what one attempt observed.
type Response struct {
	Status int         // zero if no response came
	Header http.Header // of the response
	Body   []byte      // in the buffer that was given
	Unsent bool        // proved: of a request with a body, not a byte of it was read, and none can be any more
	Err    error       // of the transport, or in reading the response
}

// Exchange is one request, and what finds out how it went.
type Exchange struct {
	Request *http.Request // without its body, which Do gives it
	body    sealedBody
	watch   connWatch
}

// NewExchange returns an exchange with a fresh request for JSON. A payload that is not nil will be its body.
func NewExchange(ctx context.Context, method string, target url.URL, payload []byte) *Exchange {
	x := new(Exchange)
	x.body.rest = payload
	x.Request = (&http.Request{
		Method: method, URL: &target, Host: target.Host, Header: make(http.Header), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(x.watch.context(ctx))
	x.Request.Header["Accept"] = contentJSON
	if payload != nil {
		x.Request.Header["Content-Type"] = contentJSON
		x.Request.ContentLength = int64(len(payload))
	}
	return x
}

var contentJSON = []string{"application/json"} // the transport only reads it

// Do sends the request once, and reads the whole response, up to limit bytes of its body.
func (s *Sender) Do(x *Exchange, limit int64, buffer *Buffer) Response {
	req := x.Request
	// Nothing that was set before can let the transport send the request again.
	req.Body, req.GetBody, req.ContentLength, req.TransferEncoding = nil, nil, 0, nil
	if payload := x.body.rest; payload != nil {
		req.Body, req.ContentLength = &x.body, int64(len(payload))
		delete(req.Header, "Idempotency-Key") // with one of these, net/http would do so by itself
		delete(req.Header, "X-Idempotency-Key")
	}
	if !x.watch.isIn(req.Context()) { // a hook gave the request another context
		req = req.WithContext(x.watch.context(req.Context()))
	}
	r := s.exchange(req, limit, buffer)
	if x.watch.unsolicited.Load() { // what came, and what came of closing the connection, is not about this request
		r = Response{Err: errUnsolicited}
	}
	r.Unsent = x.body.seal()
	return r
}

var (
	errNoResponse  = errors.New("the transport gave neither a response nor an error")
	errUnsolicited = errors.New("the response began before the request was written: it answers something else")
)

func (s *Sender) exchange(req *http.Request, limit int64, buffer *Buffer) (r Response) {
	resp, err := s.roundTrip(req)
	switch {
	case err != nil:
		return Response{Err: err}
	case resp == nil:
		return Response{Err: errNoResponse}
	}
	r = Response{Status: resp.StatusCode, Header: resp.Header}
	r.Body, r.Err = readBody(resp, limit, buffer)
	return r
}

// connWatch finds out whether a response came before its request. A server or a proxy can write one twice. The copy then
// lies in the connection, and net/http can lend the connection out before it notices.
type connWatch struct {
	conn        *holdConn   // nil where the connection is not one of ours
	unsolicited atomic.Bool // set by the goroutine that reads the connection
	trace       httptrace.ClientTrace
}

// context returns a context with hooks that net/http calls in the course of one request, one after another.
func (w *connWatch) context(ctx context.Context) context.Context {
	w.trace = httptrace.ClientTrace{GotConn: w.gotConn, GotFirstResponseByte: w.gotFirstResponseByte}
	return httptrace.WithClientTrace(ctx, &w.trace)
}

// isIn reports whether ctx has the hooks, and no others before them.
func (w *connWatch) isIn(ctx context.Context) bool {
	return httptrace.ContextClientTrace(ctx) == &w.trace
}

func (w *connWatch) gotConn(info httptrace.GotConnInfo) {
	conn := info.Conn
	if tunnel, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS through a proxy
		conn = tunnel.NetConn()
	}
	if w.conn, _ = conn.(*holdConn); w.conn != nil {
		w.conn.lend(info.Reused)
	}
}

// gotFirstResponseByte is called when the first byte of the response is at hand, and before any more is read. If the
// connection gave nothing since the request was written, the byte was there before.
func (w *connWatch) gotFirstResponseByte() {
	if w.conn != nil && !w.conn.readSinceWrite() {
		w.unsolicited.Store(true)
		_ = w.conn.Close() // what else lies in it answers nothing either
	}
}
