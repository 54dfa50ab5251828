package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRecords: the boundaries of TLS records are found wherever what is read begins and ends.
func TestRecords(t *testing.T) {
	record := func(n int) string {
		return "\x17\x03\x03" + string([]byte{byte(n >> 8), byte(n)}) + strings.Repeat("x", n)
	}
	empty, short, long := record(0), record(5), record(1<<14+256)
	for _, tt := range []struct {
		name   string
		text   string
		within bool
	}{
		{"nothing", "", false},
		{"one", short, false},
		{"an empty one", empty, false},
		{"several", short + empty + long + short, false},
		{"a type alone", short[:1], true},
		{"a header alone", short[:5], true},
		{"all but one byte", long[:len(long)-1], true},
		{"one and a type", short + long[:1], true},
		{"one and the next without its last byte", long + short[:len(short)-1], true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 5, 7, 4096, 1 << 20} {
				var r records
				for rest := []byte(tt.text); len(rest) > 0; {
					n := min(size, len(rest))
					r.pass(rest[:n])
					rest = rest[n:]
				}
				if r.isWithin() != tt.within {
					t.Errorf("%s, %d bytes at a time: got %t", tt.name, size, r.isWithin())
				}
			}
		})
	}
}

// TestWithinRecord: a record that began before the request was written is not new when its end arrives. That also counts in a
// tunnel, which begins without TLS.
func TestWithinRecord(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes []string
		reads  []string
		stale  bool
	}{
		{"plain", nil, []string{"\x17\x03\x03\x00\x05ab"}, false},
		{"TLS", []string{"\x16\x03\x01hello"}, []string{"\x17\x03\x03\x00\x02ab"}, false},
		{"TLS, within", []string{"\x16\x03\x01hello"}, []string{"\x17\x03\x03\x00\x02ab\x17\x03"}, true},
		{"tunnel", []string{"CONNECT x HTTP/1.1\r\n\r\n", "\x16\x03\x01hello"}, []string{"\x17\x03\x03\x00\x02ab"}, false},
		{"tunnel, within", []string{"CONNECT x HTTP/1.1\r\n\r\n", "\x16\x03\x01hello"}, []string{"\x17\x03\x03\x00\x02a"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(scripted)
			c := newHoldConn(s)
			for _, text := range tt.writes {
				_, _ = io.WriteString(c, text)
			}
			for _, text := range tt.reads {
				s.gives = text
				_, _ = c.Read(make([]byte, len(text)))
			}
			c.lend(true)
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); errors.Is(err, errStale) != tt.stale {
				t.Errorf("on a reused connection: got %v, stale: want %t", err, tt.stale)
			}
			c.lend(false)
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); err != nil { // the server's tickets may arrive in parts
				t.Errorf("on a new connection: got %v", err)
			}
		})
	}
}

// judged is a payment that judges each response alike, and keeps it.
type judged struct {
	id                string
	statesID, accepts bool
	bodies            []string
}

func (p *judged) ID() string { return p.id }

func (p *judged) Judge(body []byte) (statesID, accepts bool) {
	p.bodies = append(p.bodies, string(body))
	return p.statesID, p.accepts
}

// TestJudge: the connection is kept if the response states the ID, and the next payment has another ID or the response accepted
// it. A payment that gets a closed connection is unsent, and says so. Queries share no such rule.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name              string
		statesID, accepts bool
		next              string
		kept              bool
	}{
		{"accepted", true, true, "b", true},
		{"accepted, the same again", true, true, "a", true},
		{"not accepted", true, false, "b", true},
		{"not accepted, the same again", true, false, "a", false},
		{"another's", false, true, "b", false},
		{"nobody's", false, false, "b", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, traced := range []bool{false, true} {
				var p pipes
				payments, queries := New(&http.Transport{DialContext: p.dial, MaxConnsPerHost: 1}, time.Minute)
				send := func(s *Sender, p Payment) Response {
					x := NewExchange(t.Context(), http.MethodPost, endpoint, []byte("{}"))
					x.Payment = p
					if traced { // as a hook may do, which then makes net/http call the hooks of the exchange twice
						*x.Request = *x.Request.WithContext(httptrace.WithClientTrace(x.Request.Context(), &httptrace.ClientTrace{
							GotConn: func(httptrace.GotConnInfo) {},
						}))
					}
					var buffer Buffer
					defer buffer.Release()
					r := s.Do(x, 100, &buffer)
					r.Body = bytes.Clone(r.Body)
					return r
				}
				first, next := &judged{"a", tt.statesID, tt.accepts, nil}, &judged{tt.next, true, true, nil}
				if r := send(payments, first); r.Err != nil || !slices.Equal(first.bodies, []string{"right"}) {
					t.Fatalf("first: got %v, judged %q", r.Err, first.bodies)
				}
				var r Response
				for r = send(payments, next); r.Ended; r = send(payments, next) {
					if !r.Unsent || r.Err == nil {
						t.Errorf("ended: got %+v", r)
					}
				}
				if got := p.dialled.Load() == 1; r.Err != nil || got != tt.kept {
					t.Errorf("%s, traced %t: got %v over %d connections, kept: want %t", tt.name, traced, r.Err, p.dialled.Load(), tt.kept)
				}
				p.dialled.Store(0)
				for range 2 {
					if r := send(queries, nil); r.Err != nil || p.dialled.Load() != 1 {
						t.Errorf("a query: got %v over %d connections", r.Err, p.dialled.Load())
					}
				}
				payments.CloseIdle()
				queries.CloseIdle()
				p.servers.Wait()
			}
		})
	}
}

// TestPanicGivesBack: if a hook of the caller panics, the connection is closed, and no payment waits for it.
func TestPanicGivesBack(t *testing.T) {
	var p pipes
	payments, _ := New(&http.Transport{DialContext: p.dial}, time.Minute)
	var conn *holdConn
	x := NewExchange(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			conn = info.Conn.(*holdConn)
			panic("a hook's")
		},
	}), http.MethodPost, endpoint, []byte("{}"))
	x.Payment = &judged{"a", true, true, nil}
	func() {
		defer func() { _ = recover() }()
		payments.Do(x, 100, new(Buffer))
	}()
	if x.watch.has || !conn.closed.Load() || !conn.payment.TryLock() {
		t.Errorf("has %t, closed %t", x.watch.has, conn.closed.Load())
	}
	payments.CloseIdle()
	p.servers.Wait()
}

// TestTLSSettings: what the caller has configured for TLS holds over counted sockets: client certificates, and resumed sessions.
func TestTLSSettings(t *testing.T) {
	serverTLS, clientTLS := tlsConfigs(t)
	serverTLS.ClientAuth = tls.RequireAnyClientCert
	clientTLS.Certificates = serverTLS.Certificates
	clientTLS.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	l, err := tls.Listen("tcp", "127.0.0.1:0", serverTLS)
	if err != nil {
		t.Fatal(err)
	}
	var servers sync.WaitGroup
	servers.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			servers.Go(func() {
				_, _ = io.WriteString(conn, "x")
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			})
		}
	})
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		config := clientTLS.Clone()
		config.MaxVersion = version
		dial := harden(&http.Transport{DialContext: new(net.Dialer).DialContext, TLSClientConfig: config}).DialTLSContext
		for _, resumed := range []bool{false, true} {
			var state tls.ConnectionState
			conn, err := dial(httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
				TLSHandshakeDone: func(s tls.ConnectionState, _ error) { state = s },
			}), "tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); err != nil || state.DidResume != resumed || state.Version != version {
				t.Errorf("%s: got %v, resumed %t, want %t", tls.VersionName(version), err, state.DidResume, resumed)
			}
			_ = conn.Close()
		}
		clientTLS.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	_ = l.Close()
	servers.Wait()
}
