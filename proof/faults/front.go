package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

var background = context.Background()

// FrontOptions configures a Front.
type FrontOptions struct {
	Seed         uint64
	PaymentShare float64 // share of payments with a fault
	QueryShare   float64 // share of queries with a fault
	LeakShare    float64 // share of searches that return another transaction's order first
	Only         *Fault  // if set, every disturbed payment has this fault
	Proto        string  // "tls" or "h2"; empty: HTTP/1.1
}

// patience is how long a caller waits for a response before it times out; "late" is twice that.
const patience = 400 * time.Millisecond

// Front is a server in front of a gateway that breaks connections.
type Front struct {
	URL      string
	Posts    atomic.Int64 // payments with a body of which something arrived
	Bytes    atomic.Int64 // that arrived, of any kind
	gateway  *sandbox.Gateway
	opts     FrontOptions
	server   *httptest.Server
	payments []Fault
	queries  []Fault
	closing  chan struct{}
	late     sync.WaitGroup
	open     atomic.Int64 // accepted connections that are not closed

	mu   sync.Mutex
	seen map[string]int // requests so far, by kind and transactionId
}

// NewFront starts a front on the loopback interface.
func NewFront(g *sandbox.Gateway, opts FrontOptions) *Front {
	f := &Front{
		gateway: g, opts: opts, closing: make(chan struct{}), seen: make(map[string]int),
		payments: PaymentFaults(), queries: QueryFaults(),
	}
	f.server = httptest.NewUnstartedServer(f)
	f.server.Listener = countingListener{f.server.Listener, f}
	f.server.Config.ErrorLog = log.New(io.Discard, "", 0) // connections are broken on purpose
	switch opts.Proto {
	case "tls":
		f.server.StartTLS()
	case "h2":
		f.server.EnableHTTP2 = true
		f.server.StartTLS()
	default:
		f.server.Start()
	}
	f.URL = f.server.URL
	return f
}

// Transport returns a transport that trusts the front's certificate.
func (f *Front) Transport() *http.Transport {
	t := f.server.Client().Transport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 256
	return t
}

// caller is what has connections to a front.
type caller interface{ CloseIdleConnections() }

// Drain waits until no request is in transit any more: callers that timed out may have left requests in connections that
// were not read, or not even accepted, on a busy machine. Call it when the callers are done.
func (f *Front) Drain(callers ...caller) error {
	// Connections are accepted in order: once this one is, no earlier one is pending.
	last := f.server.Client()
	resp, err := last.Head(f.URL)
	if err != nil {
		return err
	}
	resp.Body.Close()
	callers = append(callers, last)
	for deadline := time.Now().Add(drainWithin); f.open.Load() > 0; time.Sleep(time.Millisecond) {
		for _, c := range callers { // repeatedly, because an abandoned stream takes a moment to end
			c.CloseIdleConnections()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("faults: %d connections are open %v after the last caller was done", f.open.Load(), drainWithin)
		}
	}
	f.late.Wait()
	return nil
}

const drainWithin = 2 * time.Minute

// Close stops the front and all its pending requests.
func (f *Front) Close() {
	close(f.closing)
	f.server.CloseClientConnections()
	f.server.Close()
	f.late.Wait()
}

// ServeHTTP serves one request, with its fault.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodHead: // see Drain
		return
	case http.MethodPost:
		f.pay(w, r)
		return
	}
	id, refunds := r.URL.Query().Get("transactionId"), strings.HasSuffix(r.URL.Path, "/refund")
	if refunds {
		id = r.URL.Query().Get("uniqueId") // different for each refund here
	}
	fault, leak := f.fault('q', id, f.queries, f.opts.QueryShare)
	rec := f.carryOut(fault, r.Clone(background), nil)
	if leak && rec != nil {
		leakRow(rec, refunds)
	}
	f.answer(w, r, fault, rec, id)
}

// pay reads the payment's id from the beginning of its body, so that the fault is known before the rest has arrived.
func (f *Front) pay(w http.ResponseWriter, r *http.Request) {
	head := make([]byte, 128)
	n, _ := io.ReadFull(r.Body, head) // a short body has a short head
	if n > 0 {                        // otherwise it was aborted before its body, is proved unsent and may be sent again
		f.Posts.Add(1)
	}
	head = head[:n]
	_, rest, _ := strings.Cut(string(head), `ransactionId":"`) // of transactionId or refundTransactionId
	id, _, _ := strings.Cut(rest, `"`)
	fault, _ := f.fault('p', id, f.payments, f.opts.PaymentShare)
	if fault.Cut == CutRequest {
		hangUp(w, CutReset, nil)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil { // the caller has gone: the gateway never gets a complete request
		hangUp(w, CutReset, nil)
		return
	}
	rec := f.carryOut(fault, r.Clone(background), append(head, body...))
	f.answer(w, r, fault, rec, id)
}

// fault selects the fault of the n-th request of its kind for a payment.
func (f *Front) fault(kind byte, id string, all []Fault, share float64) (fault Fault, leak bool) {
	f.mu.Lock()
	key := string(kind) + id
	nth := f.seen[key]
	f.seen[key]++
	f.mu.Unlock()
	chance := draw(f.opts.Seed, id, kind, nth)
	leak = chance.Float64() < f.opts.LeakShare
	if chance.Float64() >= share {
		return Fault{}, leak
	}
	if f.opts.Only != nil && kind == 'p' {
		return *f.opts.Only, leak
	}
	return all[chance.IntN(len(all))], leak
}

// carryOut lets the gateway carry out the request now, later or never, and returns its response if it did now.
func (f *Front) carryOut(fault Fault, r *http.Request, body []byte) *httptest.ResponseRecorder {
	if body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	switch fault.Exec {
	case ExecNever:
		return nil
	case ExecLate:
		f.late.Go(func() {
			if f.wait(2*patience, nil) {
				f.gateway.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
		return nil
	}
	rec := httptest.NewRecorder()
	f.gateway.ServeHTTP(rec, r)
	return rec
}

// answer sends what the fault leaves of the response.
func (f *Front) answer(w http.ResponseWriter, r *http.Request, fault Fault, rec *httptest.ResponseRecorder, id string) {
	body := fault.disturb(rec, r.URL.Path, id)
	switch {
	case fault.Cut == CutHang:
		f.wait(4*patience, r.Context())
		hangUp(w, CutClose, nil)
		return
	case fault.Slow:
		f.wait(2*patience, r.Context())
	case fault.Cut != CutNowhere:
		hangUp(w, fault.Cut, body)
		return
	}
	if rec != nil {
		w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if fault.Status != 0 {
		w.WriteHeader(fault.Status)
	}
	_, _ = w.Write(body) // the caller may have closed the connection
}

// wait reports whether the time passed before the caller left or the front closed.
func (f *Front) wait(d time.Duration, caller context.Context) bool {
	var gone <-chan struct{}
	if caller != nil {
		gone = caller.Done()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-gone:
	case <-f.closing:
	}
	return false
}

// countingListener counts bytes that arrive, and open connections.
type countingListener struct {
	net.Listener
	front *Front
}

// Accept returns the next connection and counts it.
func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.front.open.Add(1)
	return &countingConn{TCPConn: c.(*net.TCPConn), front: l.front}, nil
}

type countingConn struct {
	*net.TCPConn
	front  *Front
	closed atomic.Bool
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	c.front.Bytes.Add(int64(n))
	return n, err
}

func (c *countingConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		defer c.front.open.Add(-1)
	}
	return c.TCPConn.Close()
}
