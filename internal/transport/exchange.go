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

// Sender sends requests over one set of connections. It holds functions and not transports: a deep printer of a client
// would otherwise find the head of the last request, with the token in its path, in a connection's buffer.
type Sender struct {
	roundTrip func(*http.Request) (*http.Response, error)
	closeIdle func()
}

// CloseIdle closes the connections that no attempt is using.
func (s *Sender) CloseIdle() { s.closeIdle() }

// Response is what one attempt observed.
type Response struct {
	Status   int         // zero if no response came
	Header   http.Header // of the response
	Body     []byte      // in the given buffer
	MayBeCut bool        // the body has ended with the connection, and not where the response says that it ends
	Unsent   bool        // proved: the request has a body, no byte of it was read, and none can be read any more
	Ended    bool        // it is unsent because of the payment before on this connection: it can be sent on another one at once
	Err      error       // of the transport, or in reading the response
}

// Exchange is one request, and what observes its sending.
type Exchange struct {
	Request *http.Request // without its body, which Do sets

	// Payment is set for payments. If a complete response does not state the ID, or if there is none, the connection is closed,
	// because a server or a proxy may write a response twice, and the copy could be taken for the response to the next payment. A
	// copy that states the ID can only be taken for the response to a payment with the same ID, which is made if the first was not
	// accepted.
	Payment Payment

	attempt context.Context
	target  url.URL
	body    sealedBody
	watch   connWatch
}

// Payment is a payment that is sent.
type Payment interface {
	// ID identifies it.
	ID() string
	// Judge is called with a complete response, and tells whether it states the ID, and accepts the payment.
	Judge(body []byte) (statesID, accepts bool)
}

// NewExchange returns an exchange with a new request for JSON. A payload that is not nil becomes its body.
func NewExchange(ctx context.Context, method string, target url.URL, payload []byte) *Exchange {
	x := &Exchange{attempt: ctx, target: target}
	x.body.rest = payload
	x.Request = (&http.Request{
		Method: method, URL: &x.target, Host: target.Host, Header: make(http.Header), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(x.watch.context(ctx, &x.watch.trace))
	x.Request.Header["Accept"] = contentJSON
	if payload != nil {
		x.Request.Header["Content-Type"] = contentJSON
		x.Request.ContentLength = int64(len(payload))
	}
	return x
}

var contentJSON = []string{"application/json"} // the transport only reads it

// Do sends the request once, and reads the complete response, up to limit bytes of its body.
func (s *Sender) Do(x *Exchange, limit int64, buffer *Buffer) Response {
	req := x.Request
	// Nothing that a hook has set may let the transport send the request again.
	req.Body, req.GetBody, req.ContentLength, req.TransferEncoding = nil, nil, 0, nil
	if payload := x.body.rest; payload != nil {
		req.Body, req.ContentLength = &x.body, int64(len(payload))
		delete(req.Header, "Idempotency-Key") // with one of these, net/http would send it again by itself
		delete(req.Header, "X-Idempotency-Key")
	}
	if given := req.Context(); !x.watch.isIn(given) { // a hook has replaced the context, which ends nevertheless when that of the attempt does
		ctx, cancel := context.WithCancelCause(given)
		defer cancel(nil)
		defer context.AfterFunc(x.attempt, func() { cancel(context.Cause(x.attempt)) })()
		req = req.WithContext(x.watch.context(ctx, new(httptrace.ClientTrace)))
	}
	x.watch.payment = x.Payment
	statesID, accepts := false, false
	defer func() {
		x.Seal() // also if the transport panics
		x.watch.giveBack(statesID, accepts)
		x.watch.conn.Store(nil) // a connection that net/http has given up may still read
	}()
	r := s.roundTripAndRead(req, limit, buffer)
	if x.watch.unsolicited.Load() { // neither the response nor the error of closing the connection is about this request
		r = Response{Err: errUnsolicited}
	}
	r.Unsent = x.Seal()
	r.Ended = r.Unsent && x.watch.ended
	if r.Err == nil && x.Payment != nil {
		statesID, accepts = x.Payment.Judge(r.Body)
	}
	return r
}

// Seal prevents that more of the request's body is read, and reports whether none was read: then nothing was sent.
func (x *Exchange) Seal() (unsent bool) { return x.body.seal() }

var (
	errNoResponse  = errors.New("the transport gave neither a response nor an error")
	errUnsolicited = errors.New("the response began before the request was written: it answers something else")
)

func (s *Sender) roundTripAndRead(req *http.Request, limit int64, buffer *Buffer) (r Response) {
	resp, err := s.roundTrip(req)
	if dialing, ok := errors.AsType[*panicError](err); ok && dialing != nil { // an As method may find anything
		panic(dialing.panicked)
	}
	switch {
	case err != nil:
		if resp != nil && resp.Body != nil { // a RoundTripper of the caller gave both
			_ = resp.Body.Close()
		}
		return Response{Err: err}
	case resp == nil:
		return Response{Err: errNoResponse}
	}
	r = Response{Status: resp.StatusCode, Header: resp.Header}
	r.MayBeCut = resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0
	r.Body, r.Err = readBody(req.Context(), resp, limit, buffer)
	return r
}

// connWatch detects a response that arrived before its request was written. A server or a proxy can write a response twice.
// The copy is then in the connection, and net/http may reuse the connection before it notices.
type connWatch struct {
	conn        atomic.Pointer[holdConn] // nil if it is not one of our connections
	payment     Payment                  // has the connection for itself; nil for a query
	has         bool                     // the payment has conn, until giveBack
	ended       bool                     // the payment before has closed conn, or is the reason why this one cannot use it
	unsolicited atomic.Bool              // set by the goroutine that reads the connection
	trace       httptrace.ClientTrace
}

// context returns a context with hooks that net/http calls during one request, in sequence. They are in trace, which must be a new
// one if ctx may contain the one before: that one would then call itself.
func (w *connWatch) context(ctx context.Context, trace *httptrace.ClientTrace) context.Context {
	*trace = httptrace.ClientTrace{GotConn: w.gotConn, GotFirstResponseByte: w.gotFirstResponseByte}
	return httptrace.WithClientTrace(ctx, trace)
}

// isIn reports whether the innermost hooks of ctx are those of w.
func (w *connWatch) isIn(ctx context.Context) bool {
	return httptrace.ContextClientTrace(ctx) == &w.trace
}

func (w *connWatch) gotConn(info httptrace.GotConnInfo) {
	conn := info.Conn
	if tunnel, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS through a proxy
		conn = tunnel.NetConn()
	}
	got, _ := conn.(*holdConn)
	if got == nil || w.has && got == w.conn.Load() { // a hook that has added its own trace makes net/http call it twice
		return
	}
	w.giveBack(false, false)
	w.conn.Store(got)
	if w.payment != nil {
		got.payment.Lock() // net/http hands a connection on before the payment before has judged its response
		if w.has = true; got.unaccepted == w.payment.ID() {
			_ = got.Close()
		}
		w.ended = got.closed.Load()
	}
	got.lend(info.Reused)
}

// giveBack lets the next payment have the connection, or closes it if no response has stated the ID of this one.
func (w *connWatch) giveBack(statesID, accepts bool) {
	if !w.has {
		return
	}
	w.has = false
	conn := w.conn.Load()
	if !statesID {
		_ = conn.Close() // net/http then discards it
	}
	if conn.unaccepted = ""; !accepts {
		conn.unaccepted = w.payment.ID()
	}
	conn.payment.Unlock()
}

// gotFirstResponseByte is called when the first byte of the response has been read, and before any more is read. If nothing
// was read from the connection since the request was written, the byte had arrived before. The goroutine that calls it reads a connection:
// if net/http has given that up and has repeated the request over another one, the byte counts as one of the other.
func (w *connWatch) gotFirstResponseByte() {
	if conn := w.conn.Load(); conn != nil && !conn.readSinceWrite() {
		w.unsolicited.Store(true)
		_ = conn.Close() // its other data do not belong to a request either
	}
}
