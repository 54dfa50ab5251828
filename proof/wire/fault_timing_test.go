package wire_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Faults that depend on timing: contexts that end while a payment is in flight, kept-alive connections that close as a
// request starts, servers that respond before they have read the body, and HTTP/2 servers that execute a request and
// then demand it again.

// TestCancelledPayments ends contexts at random moments of thousands of payments, on new and on kept connections.
// "Not sent" must be true each time: the seal decides, not the error.
func TestCancelledPayments(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	const callers, each = 8, 250
	for _, idle := range []time.Duration{0, -1} { // kept connections, and a new one for each
		var l clienttest.Till
		var mu sync.Mutex
		var p payments
		counts := map[string]int{}
		t.Run("", func(t *testing.T) { // its end is the end of the server
			s := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if id, ok := l.Handle(r); ok {
					_, _ = io.WriteString(w, clienttest.ResponseFor(id, cardgateway.CodeSuccess, ""))
				}
			})
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: s.URL, PaymentIdleTimeout: idle, Retry: cardgateway.RetryPolicy{MaxAttempts: 1}})
			var all sync.WaitGroup
			for caller := range callers {
				all.Go(func() {
					chance := rand.New(rand.NewPCG(1, uint64(caller)))
					for n := range each {
						id := fmt.Sprintf("c-%d-%d", caller, n)
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(chance.IntN(4_000))*time.Microsecond)
						tx, err := clienttest.PaymentOperations[n%len(clienttest.PaymentOperations)].Call(ctx, c, id)
						cancel()
						mu.Lock()
						p.made(id, clienttest.Outcome(tx, err))
						counts[clienttest.Outcome(tx, err)]++
						mu.Unlock()
					}
				})
			}
			all.Wait()
		})
		made := p.judge(t, "cancelled", &l)
		t.Logf("connections kept %v: %d payments, %v", idle == 0, made, counts)
		for outcome := range counts {
			if !slices.Contains([]string{"paid", "unknown", "not sent"}, outcome) {
				t.Errorf("outcomes: got %q", outcome)
			}
		}
	}
}

// TestStaleConnections: a server closes a kept connection as the next request starts. Where the client uses a new
// connection for each payment, or asks before it sends one, there is nothing to lose; where it keeps them, an unknown is
// allowed and a repetition is not.
func TestStaleConnections(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	for _, cfg := range []cardgateway.Config{
		{}, {PaymentIdleTimeout: -1}, {ExpectContinue: true, Retry: cardgateway.RetryPolicy{MinWait: time.Millisecond}},
	} {
		var l clienttest.Till
		var p payments
		t.Run("", func(t *testing.T) {
			base := clienttest.ServeRaw(t, func(conn net.Conn) {
				in := bufio.NewReader(conn)
				c := &faultConn{Conn: conn, tcp: conn.(*net.TCPConn), in: in, till: &l}
				execute := c.execute
				if cfg.ExpectContinue {
					execute = c.executeOnceAsked
				}
				body := clienttest.ResponseFor(execute(), cardgateway.CodeSuccess, "")
				c.write(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
				_, _ = in.ReadByte() // the next request starts
				c.reset()
			})
			cfg.BaseURL = base
			c := clienttest.NewClient(t, cfg)
			for n := range 300 {
				id := fmt.Sprintf("s-%d", n)
				tx, err := clienttest.PayByToken(t.Context(), c, id)
				if err != nil && (cfg.PaymentIdleTimeout < 0 || cfg.ExpectContinue) {
					t.Errorf("a new connection for each payment, or asked before: got %v", err)
				}
				p.made(id, clienttest.Outcome(tx, err))
			}
		})
		p.judge(t, "stale", &l)
		unknown := len(p.ids) - strings.Count(strings.Join(p.outcomes, " "), "paid")
		t.Logf("idle timeout %v, asked %t: %d payments, %d unknown", cfg.PaymentIdleTimeout, cfg.ExpectContinue, len(p.ids), unknown)
	}
}

// TestExpectContinue: with ExpectContinue, a server can refuse before it has received a body; then nothing was sent.
func TestExpectContinue(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	faults := []wireFault{
		{name: "goes on", outcomes: "paid", serve: func(c *faultConn) { c.onceAsked(goOn); c.paid() }},
		{name: "goes on twice", outcomes: "paid", serve: func(c *faultConn) { c.onceAsked(goOn + goOn); c.paid() }},
		{name: "hints and goes on", outcomes: "paid", serve: func(c *faultConn) { c.onceAsked("HTTP/1.1 103 Early Hints\r\n\r\n" + goOn); c.paid() }},
		{name: "does not know it", outcomes: "paid", serve: func(c *faultConn) { c.onceAsked(""); c.paid() }},
		{name: "goes on and resets", outcomes: "unknown", serve: func(c *faultConn) { c.onceAsked(goOn); c.take(); c.reset() }},
		{name: "goes on, executes, resets", outcomes: "unknown", serve: func(c *faultConn) { c.executeOnceAsked(); c.reset() }},
		{name: "resets at accept", outcomes: "not sent", serve: (*faultConn).reset},
		{name: "resets", outcomes: "not sent", serve: func(c *faultConn) { c.head(); c.reset() }},
		{name: "closes", outcomes: "not sent", serve: func(c *faultConn) { c.head() }},
		{name: "refuses the expectation", outcomes: "not sent", serve: func(c *faultConn) { c.onceAsked(status(417, "")) }},
		{name: "is unavailable", outcomes: "not sent", serve: func(c *faultConn) { c.onceAsked(status(503, "<html>")) }},
		{name: "redirects", outcomes: "not sent", serve: func(c *faultConn) { c.onceAsked(status(307, "")) }},
		{name: "refuses", outcomes: "refused", serve: func(c *faultConn) { c.onceAsked(status(401, `{"code":401}`)) }},
		{name: "responds with nothing of use", outcomes: "unknown, not sent", serve: func(c *faultConn) { c.onceAsked(status(200, `{}`)) }},
	}
	for _, f := range faults {
		var l clienttest.Till
		var p payments
		t.Run("", func(t *testing.T) {
			base := clienttest.ServeRaw(t, func(conn net.Conn) {
				f.serve(&faultConn{Conn: conn, tcp: conn.(*net.TCPConn), in: bufio.NewReader(conn), till: &l})
			})
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: base, ExpectContinue: true,
				HTTPClient: &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 300 * time.Millisecond}},
			})
			for n := range 3 {
				id := fmt.Sprintf("e-%d", n)
				tx, err := clienttest.PaymentOperations[n].Call(t.Context(), c, id)
				if outcome := clienttest.Outcome(tx, err); !slices.Contains(strings.Split(f.outcomes, ", "), outcome) {
					t.Errorf("server %s: got %q (%v), want %s", f.name, outcome, err, f.outcomes)
				}
				p.made(id, clienttest.Outcome(tx, err))
			}
		})
		p.judge(t, f.name, &l)
	}
	t.Logf("%d servers, %d payments", len(faults), 3*len(faults))
}

func status(code int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", code, len(body), body)
}

// onceAsked reads the head and responds to it.
func (c *faultConn) onceAsked(response string) {
	c.head()
	c.write(response)
}

const goOn = "HTTP/1.1 100 Continue\r\n\r\n"

// executeOnceAsked reads the head, asks for the rest, and executes the request.
func (c *faultConn) executeOnceAsked() (id string) {
	c.onceAsked(goOn)
	id = c.take()
	c.till.Execute(id)
	return id
}

// take reads the body that follows a head: one JSON object.
func (c *faultConn) take() (id string) {
	var body []byte
	for depth := 0; ; {
		b, err := c.in.ReadByte()
		if err != nil {
			return ""
		}
		body = append(body, b)
		switch b { // the test requests have no braces in texts
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return clienttest.TransactionIDIn(body)
		}
	}
}

func (c *faultConn) paid() {
	id := c.take()
	c.till.Execute(id)
	c.write(clienttest.RawResponse(clienttest.ResponseFor(id, cardgateway.CodeSuccess, "")))
}

// TestHTTP2ServersThatAskAgain: a server that executes a request and then resets its stream, or says that it has not
// seen it, makes net/http send the request again if it can. The client does not use HTTP/2. With a caller's transport
// that does, the body can be read only once, so that the payment is sent only once.
func TestHTTP2ServersThatAskAgain(t *testing.T) {
	serverTLS, clientTLS := clienttest.TLSConfigs(t)
	serverTLS.NextProtos = []string{"h2", "http/1.1"}
	endings := map[string][]byte{
		"RST_STREAM PROTOCOL_ERROR": http2Frame(3, 0, 1, 0, 0, 0, 1), "RST_STREAM INTERNAL_ERROR": http2Frame(3, 0, 1, 0, 0, 0, 2),
		"RST_STREAM REFUSED_STREAM": http2Frame(3, 0, 1, 0, 0, 0, 7), "RST_STREAM CANCEL": http2Frame(3, 0, 1, 0, 0, 0, 8),
		"RST_STREAM ENHANCE_YOUR_CALM": http2Frame(3, 0, 1, 0, 0, 0, 11), "GOAWAY 0": http2Frame(7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		"GOAWAY 1": http2Frame(7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0), "nothing": nil,
	}
	made, spoken := 0, 0
	for name, ending := range endings {
		for _, foreign := range []bool{false, true} {
			var l clienttest.Till
			var p payments
			t.Run("", func(t *testing.T) {
				base := clienttest.ServeRaw(t, func(conn net.Conn) {
					secured := tls.Server(conn, serverTLS)
					if secured.Handshake() != nil {
						return
					}
					defer func() { _ = secured.Close() }()
					if secured.ConnectionState().NegotiatedProtocol == "h2" {
						serveHTTP2(secured, &l, ending)
						return
					}
					c := &faultConn{Conn: secured, tcp: conn.(*net.TCPConn), in: bufio.NewReader(secured), till: &l}
					c.execute()
					c.reset()
				})
				transport := &http.Transport{TLSClientConfig: clientTLS.Clone(), ForceAttemptHTTP2: true}
				defer transport.CloseIdleConnections()
				cfg := cardgateway.Config{BaseURL: strings.Replace(base, "http:", "https:", 1), AttemptTimeout: 2 * time.Second}
				cfg.HTTPClient = &http.Client{Transport: transport}
				if foreign {
					cfg.HTTPClient.Transport = clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
						resp, err := transport.RoundTrip(r)
						return resp, err
					})
				}
				c := clienttest.NewClient(t, cfg)
				for n := range 3 {
					id := fmt.Sprintf("h-%d", n)
					tx, err := clienttest.PaymentOperations[n].Call(t.Context(), c, id)
					if outcome := clienttest.Outcome(tx, err); outcome != "unknown" {
						t.Errorf("%s, foreign transport %v: got %q (%v), want unknown", name, foreign, outcome, err)
					}
					p.made(id, clienttest.Outcome(tx, err))
				}
			})
			made += p.judge(t, name, &l)
			if http2 := l.Count("over HTTP/2"); http2 > 0 != foreign {
				t.Errorf("%s: requests over HTTP/2: got %d with foreign transport %v", name, http2, foreign)
			} else {
				spoken += http2
			}
		}
	}
	t.Logf("%d endings, %d payments, of them %d over HTTP/2", len(endings), made, spoken)
}

func http2Frame(kind, flags byte, stream uint32, payload ...byte) []byte {
	frame := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(frame, stream), payload...)
}

// serveHTTP2 takes the first request of an HTTP/2 connection, executes it and ends it as the test says.
func serveHTTP2(conn net.Conn, l *clienttest.Till, ending []byte) {
	_, _ = conn.Write(http2Frame(4, 0, 0)) // SETTINGS
	if _, err := io.CopyN(io.Discard, conn, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	var body []byte
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			return
		}
		const data, settings, endStream = 0, 4, 1
		switch kind, flags := head[3], head[4]; {
		case kind == settings && flags == 0:
			_, _ = conn.Write(http2Frame(settings, 1, 0))
		case kind == data:
			body = append(body, payload...)
			if flags&endStream != 0 {
				l.Execute(clienttest.TransactionIDIn(body))
				l.Execute("over HTTP/2")
				_, _ = conn.Write(ending)
				return
			}
		}
	}
}
