package wire_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// What a mock cannot show: servers that cut, reset, delay, truncate and falsify, on real sockets. The till records what
// was executed. A payment must be executed at most once, and every definite outcome of the client must agree with the
// till.

// faultConn is one connection as the server sees it.
type faultConn struct {
	net.Conn
	tcp  *net.TCPConn
	in   *bufio.Reader
	till *clienttest.Till
}

// request reads one whole request without executing it.
func (c *faultConn) request() (id string, ok bool) {
	r, err := http.ReadRequest(c.in)
	if err != nil {
		return "", false
	}
	body, err := io.ReadAll(r.Body)
	return clienttest.TransactionIDIn(body), err == nil
}

// execute reads one whole request and executes it.
func (c *faultConn) execute() (id string) {
	id, ok := c.request()
	if ok {
		c.till.Execute(id)
	}
	return id
}

// head reads a request's head and leaves the body where it is.
func (c *faultConn) head() {
	for {
		if line, err := c.in.ReadString('\n'); err != nil || line == "\r\n" {
			return
		}
	}
}

func (c *faultConn) write(text string) { _, _ = io.WriteString(c, text) }

// reset ends the connection with a TCP reset.
func (c *faultConn) reset() {
	_ = c.tcp.SetLinger(0)
	_ = c.tcp.Close()
}

// hangUp waits until the client has closed its side.
func (c *faultConn) hangUp() { _, _ = io.Copy(io.Discard, c.in) }

// wireFault is what a server does to each connection, and the outcomes that the call may then have.
type wireFault struct {
	name     string
	serve    func(c *faultConn)
	outcomes string
	cfg      cardgateway.Config
}

// impatient leaves a busy machine time to send a request.
var impatient = cardgateway.Config{AttemptTimeout: 100 * time.Millisecond}

var wireFaults = []wireFault{
	{name: "reset at accept", serve: (*faultConn).reset, outcomes: "not sent, unknown"},
	{name: "close at accept", serve: func(*faultConn) {}, outcomes: "not sent, unknown"},
	{name: "reset after the head", serve: func(c *faultConn) { c.head(); c.reset() }, outcomes: "unknown"},
	{name: "close after the head", serve: func(c *faultConn) { c.head() }, outcomes: "unknown"},
	{name: "executed and reset", serve: func(c *faultConn) { c.execute(); c.reset() }, outcomes: "unknown"},
	{name: "executed and closed", serve: func(c *faultConn) { c.execute() }, outcomes: "unknown"},
	{name: "executed and silent", serve: func(c *faultConn) { c.execute(); c.hangUp() }, outcomes: "unknown", cfg: impatient},
	{name: "silent from the start", serve: (*faultConn).hangUp, outcomes: "unknown", cfg: impatient},
	{name: "response that drips for ever", serve: func(c *faultConn) {
		c.execute()
		c.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{")
		c.hangUp()
	}, outcomes: "unknown", cfg: impatient},
	{name: "response", serve: func(c *faultConn) {
		c.write(clienttest.RawResponse(clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, "")))
	}, outcomes: "paid"},
	{name: "response and reset", serve: func(c *faultConn) {
		c.write(clienttest.RawResponse(clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, "")))
		c.reset()
	}, outcomes: "paid, unknown"},
	{name: "response without a length", serve: func(c *faultConn) {
		c.write("HTTP/1.1 200 OK\r\n\r\n" + clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, ""))
	}, outcomes: "paid"},
	{name: "HTTP/1.0 response", serve: func(c *faultConn) {
		c.write("HTTP/1.0 200 OK\r\n\r\n" + clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, ""))
	}, outcomes: "paid"},
	{name: "response in chunks", serve: func(c *faultConn) {
		body := clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, "")
		c.write(fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body))
	}, outcomes: "paid"},
	{name: "chunks without an end", serve: func(c *faultConn) {
		body := clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, "")
		c.write(fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body))
	}, outcomes: "unknown"},
	{name: "length too long", serve: func(c *faultConn) {
		c.write("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, ""))
	}, outcomes: "unknown"},
	{name: "length too short", serve: func(c *faultConn) {
		c.write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\n" + clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, ""))
	}, outcomes: "unknown"},
	{name: "two lengths", serve: func(c *faultConn) {
		c.write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\nContent-Length: 60\r\n\r\n" + clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, ""))
	}, outcomes: "unknown"},
	{name: "other transaction's success", serve: func(c *faultConn) {
		c.request()
		c.write(clienttest.RawResponse(clienttest.ResponseFor("other", cardgateway.CodeSuccess, "")))
	}, outcomes: "unknown"},
	{name: "decline", serve: func(c *faultConn) {
		id, _ := c.request()
		c.write(clienttest.RawResponse(clienttest.ResponseFor(id, cardgateway.CodeFailed, "")))
	}, outcomes: "declined"},
	{name: "processing", serve: func(c *faultConn) {
		c.write(clienttest.RawResponse(clienttest.ResponseFor(c.execute(), cardgateway.CodeProcessing, "")))
	}, outcomes: "processing"},
	{name: "redirect", serve: func(c *faultConn) {
		id, _ := c.request()
		c.write(clienttest.RawResponse(clienttest.ResponseFor(id, cardgateway.CodeRedirect, "")))
	}, outcomes: "redirect"},
	{name: "parameter error", serve: func(c *faultConn) { c.request(); c.write(clienttest.RawResponse(`{"code":500,"message":"amount"}`)) }, outcomes: "refused"},
	{name: "no HTTP at all", serve: func(c *faultConn) { c.execute(); c.write("SSH-2.0-OpenSSH_9.0\r\n") }, outcomes: "unknown"},
	{name: "early hints first", serve: func(c *faultConn) {
		body := clienttest.RawResponse(clienttest.ResponseFor(c.execute(), cardgateway.CodeSuccess, ""))
		c.write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + body)
	}, outcomes: "paid"},
	{name: "interim responses without end", serve: func(c *faultConn) {
		c.execute()
		for range 10_000 {
			if _, err := io.WriteString(c, "HTTP/1.1 102 Processing\r\nX: "+strings.Repeat("x", 500)+"\r\n\r\n"); err != nil {
				return
			}
		}
	}, outcomes: "unknown"},
	{name: "switches protocols and stays silent", serve: func(c *faultConn) {
		c.execute()
		c.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		c.hangUp()
	}, outcomes: "unknown"},
	{name: "responds before it reads", serve: func(c *faultConn) {
		c.write("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		c.hangUp()
	}, outcomes: "unknown, not sent"},
}

// truncations cut responses after every byte, by a reset and by an orderly close: a good one, and one that does not say where it ends.
func truncations() (faults []wireFault) {
	for _, whole := range []string{
		clienttest.RawResponse(clienttest.ResponseFor("f-000-0", cardgateway.CodeSuccess, "")),
		"HTTP/1.1 400 Bad Request\r\n\r\n<html>This payment was made already.</html>",
	} {
		for n := range len(whole) {
			faults = append(faults, wireFault{name: fmt.Sprintf("cut after %d bytes: %.24q", n, whole), outcomes: "unknown", serve: func(c *faultConn) {
				c.execute()
				c.write(whole[:n])
				if n%2 == 0 {
					c.reset()
				}
			}})
		}
	}
	return faults
}

// payments are calls whose outcome is known to the client, to be compared with the till once the server has ended.
type payments struct {
	ids, outcomes []string
}

func (p *payments) made(id, outcome string) {
	p.ids, p.outcomes = append(p.ids, id), append(p.outcomes, outcome)
}

// judge compares the client's outcomes with what was executed, and returns how many payments there were.
func (p *payments) judge(t *testing.T, name string, l *clienttest.Till) int {
	t.Helper()
	for i, id := range p.ids {
		n, outcome := l.Count(id), p.outcomes[i]
		untrue := outcome == "paid" && n == 0 ||
			slices.Contains([]string{"not sent", "declined", "refused"}, outcome) && n > 0
		if n > 1 || untrue {
			t.Errorf("%s: payment %s was executed %d times, the client says %q", name, id, n, outcome)
		}
	}
	return len(p.ids)
}

func TestWireFaults(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	serverTLS, clientTLS := clienttest.TLSConfigs(t)
	standard := log.Writer()
	log.SetOutput(io.Discard) // net/http says there what it makes of some of these servers
	defer log.SetOutput(standard)
	for _, secured := range []bool{false, true} {
		faults := slices.Concat(wireFaults, truncations())
		if secured {
			faults = wireFaults // what differs is the connection, not the response
		}
		cases, made := len(faults), 0
		for i, f := range faults {
			each := 1
			if i < len(wireFaults) && f.cfg.AttemptTimeout == 0 {
				each = 2 * len(clienttest.PaymentOperations)
			}
			var l clienttest.Till
			var p payments
			t.Run("", func(t *testing.T) { // its end is the end of the server
				base := clienttest.ServeRaw(t, func(conn net.Conn) {
					c := &faultConn{Conn: conn, tcp: conn.(*net.TCPConn), till: &l}
					if secured {
						c.Conn = tls.Server(conn, serverTLS)
						defer func() { _ = c.Conn.Close() }()
					}
					c.in = bufio.NewReader(c.Conn)
					f.serve(c)
				})
				cfg := f.cfg
				cfg.BaseURL = base
				if secured {
					cfg.BaseURL = strings.Replace(base, "http:", "https:", 1)
					cfg.HTTPClient = &http.Client{Transport: &http.Transport{TLSClientConfig: clientTLS}}
					cfg.AttemptTimeout *= 4 // for the handshake
				}
				c := clienttest.NewClient(t, cfg)
				for n := range each {
					id := fmt.Sprintf("f-000-%d", n)
					tx, err := clienttest.PaymentOperations[n%len(clienttest.PaymentOperations)].Call(t.Context(), c, id)
					outcome := clienttest.Outcome(tx, err)
					if !slices.Contains(strings.Split(f.outcomes, ", "), outcome) && !(secured && outcome == "not sent") {
						t.Errorf("%s, tls %v: got %q (%v), want %s", f.name, secured, outcome, err, f.outcomes)
					}
					if cardgateway.SafeToRetry(err) != (outcome == "not sent") {
						t.Errorf("%s: SafeToRetry(%v) is %v", f.name, err, cardgateway.SafeToRetry(err))
					}
					p.made(id, outcome)
				}
			})
			made += p.judge(t, f.name, &l)
		}
		t.Logf("tls %v: %d faults, %d payments", secured, cases, made)
	}
}

// TestRedirectsAreNotFollowed: 3xx responses point to a second server, which must not receive any request.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		elsewhere.Add(1)
		_, _ = io.WriteString(w, clienttest.ResponseFor("r-1", cardgateway.CodeSuccess, ""))
	})
	for _, status := range []int{301, 302, 303, 307, 308} {
		var l clienttest.Till
		s := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			l.Handle(r)
			w.Header().Set("Location", other.URL+r.URL.Path)
			w.WriteHeader(status)
		})
		c := clienttest.NewClient(t, cardgateway.Config{BaseURL: s.URL, Authenticate: cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey)})
		for _, op := range clienttest.PaymentOperations {
			id := fmt.Sprintf("%s-%d", op.Name, status)
			if tx, err := op.Call(t.Context(), c, id); clienttest.Outcome(tx, err) != "unknown" || l.Count(id) != 1 {
				t.Errorf("%s, HTTP %d: got %v, executed %d times, want unknown, once", op.Name, status, err, l.Count(id))
			}
		}
		if _, err := c.GetTransaction(t.Context(), "1"); !errors.Is(err, cardgateway.ErrQueryFailed) {
			t.Errorf("query, HTTP %d: got %v, want %v", status, err, cardgateway.ErrQueryFailed)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("requests to where the redirects lead: got %d, want 0", n)
	}
}
