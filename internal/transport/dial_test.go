//lint:file-ignore SA1019 deprecated fields that a caller may set are tested

package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"time"
)

// tlsConfigs returns the certificate of a server, which is for example.com and 127.0.0.1, and a client that trusts it.
func tlsConfigs(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: pool}
}

// closing records whether it was closed.
type closing struct {
	net.Conn
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return c.Conn.Close()
}

// piped dials a server in memory.
func piped(serve func(net.Conn)) (dial dialFunc, conn *closing) {
	client, server := net.Pipe()
	conn = &closing{Conn: client}
	return func(context.Context, string, string) (net.Conn, error) {
		go func() {
			defer func() { _ = server.Close() }()
			serve(server)
		}()
		return conn, nil
	}, conn
}

// dialled returns the dial function of the hardened transport, plain or with TLS.
func dialled(given *http.Transport, secure bool) (net.Conn, error) {
	h := harden(given)
	if secure {
		return h.DialTLSContext(context.Background(), "tcp", "127.0.0.1:443")
	}
	return h.DialContext(context.Background(), "tcp", "127.0.0.1:80")
}

// TestDialersOfTheCaller checks which dialer is used, and that its connection holds back heads.
func TestDialersOfTheCaller(t *testing.T) {
	for _, tt := range []struct {
		name   string
		given  func(plain dialFunc, other dialFunc) *http.Transport
		secure bool
	}{
		{"DialContext", func(plain, _ dialFunc) *http.Transport { return &http.Transport{DialContext: plain} }, false},
		{"Dial", func(plain, _ dialFunc) *http.Transport { return &http.Transport{Dial: old(plain)} }, false},
		{"DialContext before Dial", func(plain, other dialFunc) *http.Transport {
			return &http.Transport{DialContext: plain, Dial: old(other)}
		}, false},
		{"DialTLSContext", func(plain, other dialFunc) *http.Transport {
			return &http.Transport{DialTLSContext: plain, DialContext: other}
		}, true},
		{"DialTLS", func(plain, other dialFunc) *http.Transport {
			return &http.Transport{DialTLS: old(plain), DialContext: other}
		}, true},
		{"DialTLSContext before DialTLS", func(plain, other dialFunc) *http.Transport {
			return &http.Transport{DialTLSContext: plain, DialTLS: old(other)}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make(chan string, 1)
			dial, _ := piped(func(conn net.Conn) {
				text, _ := io.ReadAll(conn)
				got <- string(text)
			})
			conn, err := dialled(tt.given(dial, func(context.Context, string, string) (net.Conn, error) {
				t.Error("the other dialer was asked")
				return nil, io.EOF
			}), tt.secure)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := conn.(*holdConn); !ok {
				t.Errorf("got a %T", conn)
			}
			const head = "POST /x HTTP/1.1\r\n\r\n"
			_, _ = io.WriteString(conn, head) // held back, and discarded with the connection
			_, _ = io.WriteString(conn, "{}")
			_ = conn.Close()
			if text := <-got; text != head+"{}" {
				t.Errorf("the server got %q", text)
			}
		})
	}
}

// TestNoDialerOfTheCaller: without a dialer of the caller, the default is used.
func TestNoDialerOfTheCaller(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for name, given := range map[string]*http.Transport{"none": {}, "our own transport": newTransport()} {
		t.Run(name, func(t *testing.T) {
			conn, err := harden(given).DialContext(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, ok := conn.(*holdConn); !ok {
				t.Errorf("%s: got a %T", name, conn)
			}
			_ = conn.Close()
		})
	}
}

func old(dial dialFunc) func(network, addr string) (net.Conn, error) {
	return func(network, addr string) (net.Conn, error) { return dial(context.Background(), network, addr) }
}

// TestDialersThatFail: their error is returned unchanged, and net/http handles a dialer that returns nothing.
func TestDialersThatFail(t *testing.T) {
	refused := errors.New("refused by the caller's dialer")
	for _, want := range []error{refused, nil} {
		fails := func(context.Context, string, string) (net.Conn, error) { return nil, want }
		for name, given := range map[string]*http.Transport{"plain": {DialContext: fails}, "TLS": {DialTLSContext: fails}, "TLS on top": {DialContext: fails}} {
			t.Run(name, func(t *testing.T) {
				if conn, err := dialled(given, name != "plain"); conn != nil || err != want {
					t.Errorf("%s: got %v, %v, want %v", name, conn, err, want)
				}
			})
		}
	}
	if _, err := dialTLS(nil, nil)(t.Context(), "tcp", "no port"); err == nil {
		t.Error("an address without a port: got no error")
	}
}

// TestPanicInDialing: a panic in dialing reaches whoever sends, who can recover from it, and nothing was sent.
func TestPanicInDialing(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	panicking := func(context.Context, string, string) (net.Conn, error) { panic("a dialer's") }
	for _, tt := range []struct {
		name   string
		given  *http.Transport
		scheme string
	}{
		{"a dialer", &http.Transport{DialContext: panicking}, "http"},
		{"a dialer below TLS", &http.Transport{DialContext: panicking}, "https"},
		{"a dialer of TLS", &http.Transport{DialTLSContext: panicking}, "https"},
		{"a check of certificates", &http.Transport{TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true, VerifyConnection: func(tls.ConnectionState) error { panic("a check's") },
		}}, "https"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			payments, _ := New(tt.given, time.Minute)
			x := NewExchange(t.Context(), http.MethodPost, url.URL{Scheme: tt.scheme, Host: server.Listener.Addr().String(), Path: "/"}, []byte("{}"))
			var panicked any
			func() {
				defer func() { panicked = recover() }()
				payments.Do(x, 100, new(Buffer))
			}()
			if !x.Seal() || panicked == nil {
				t.Errorf("got the panic %v", panicked)
			}
		})
	}
}

// TestHandshake: it is done before the connection is returned, with the name of the dialed host, and traced.
func TestHandshake(t *testing.T) {
	serverTLS, clientTLS := tlsConfigs(t)
	for _, tt := range []struct {
		name, addr, configured string
		want                   string // in the error
	}{
		{"an address", "127.0.0.1:443", "", ""},
		{"a host", "example.com:443", "", ""},
		{"a wrong host", "pay.example:443", "", "pay.example"},
		{"a wrong host, the right one configured", "pay.example:443", "example.com", ""},
		{"the right host, a wrong one configured", "example.com:443", "pay.example", "pay.example"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dial, conn := piped(func(c net.Conn) { _ = tls.Server(c, serverTLS).Handshake() })
			config := clientTLS.Clone()
			config.ServerName = tt.configured
			var started bool
			var state tls.ConnectionState
			var traced error
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				TLSHandshakeStart: func() { started = true },
				TLSHandshakeDone:  func(s tls.ConnectionState, err error) { state, traced = s, err },
			})
			c, err := harden(&http.Transport{DialContext: dial, TLSClientConfig: config}).DialTLSContext(ctx, "tcp", tt.addr)
			if !started || (err == nil) != (tt.want == "") || !errors.Is(err, traced) || conn.closed != (err != nil) {
				t.Errorf("got %v, traced %v, started %t, closed %t", err, traced, started, conn.closed)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %s in it", err, tt.want)
				}
				return
			}
			if !state.HandshakeComplete || !c.(*holdConn).Conn.(*tls.Conn).ConnectionState().HandshakeComplete {
				t.Error("the handshake is not complete")
			}
			_ = conn.Close()
		})
	}
	if clientTLS.ServerName != "" {
		t.Errorf("the configuration was changed: it names %s", clientTLS.ServerName)
	}
}

// TestHandshakeLimit: the limits of the transport and of the context each have their own error.
func TestHandshakeLimit(t *testing.T) {
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	short, long := 10*time.Millisecond, 10*time.Second
	for _, tt := range []struct {
		name              string
		limit, ofContext  time.Duration
		timeout, deadline bool
	}{
		{"of the transport", short, long, true, false},
		{"of the context", long, short, false, true},
		{"of the context alone", 0, short, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dial, conn := piped(silent)
			ctx, cancel := context.WithTimeout(t.Context(), tt.ofContext)
			defer cancel()
			_, err := harden(&http.Transport{DialContext: dial, TLSHandshakeTimeout: tt.limit}).DialTLSContext(ctx, "tcp", "127.0.0.1:443")
			late, ok := errors.AsType[*handshakeTimeoutError](err)
			if ok != tt.timeout || errors.Is(err, context.DeadlineExceeded) != tt.deadline || !conn.closed {
				t.Errorf("got %v (%T), closed %t", err, err, conn.closed)
			}
			if ok && (!late.Timeout() || late.Error() != "no TLS handshake within 10ms") {
				t.Errorf("got %v, timeout %t", late, late.Timeout())
			}
		})
	}
}
