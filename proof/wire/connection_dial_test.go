package wire_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// TestPaymentsLeaveWhole checks what a server receives with one read, with and without TLS.
func TestPaymentsLeaveWhole(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	for _, secure := range []bool{false, true} {
		var mu sync.Mutex
		var reads []string
		s := httptest.NewUnstartedServer(http.HandlerFunc(clienttest.Approve))
		s.Config.ErrorLog = clienttest.QuietLog
		base, client := "http://", &http.Client{}
		if secure {
			s.TLS, client.Transport = serverAndClientTLS(t)
			s.Listener = tls.NewListener(s.Listener, s.TLS)
			base = "https://"
		}
		s.Listener = notingListener{s.Listener, func(text string) {
			mu.Lock()
			defer mu.Unlock()
			reads = append(reads, text)
		}}
		s.Start()
		base += s.Listener.Addr().String()

		var shaken bool
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			TLSHandshakeDone: func(state tls.ConnectionState, err error) { shaken = err == nil && state.HandshakeComplete },
		})
		c := clienttest.NewClient(t, cardgateway.Config{BaseURL: base, HTTPClient: client})
		for range 2 {
			if tx, err := clienttest.PayByToken(ctx, c, "whole"); clienttest.Outcome(tx, err) != "paid" {
				t.Fatalf("TLS %t: got %v", secure, err)
			}
		}
		c.CloseIdleConnections()
		s.Close()
		whole := 0
		for _, text := range reads {
			if strings.Contains(text, "\r\n\r\n{") && strings.HasSuffix(text, "}") { // of the second, one byte may come before
				whole++
			}
		}
		if whole != 2 || shaken != secure {
			t.Errorf("TLS %t: %d of 2 payments came whole, handshake traced %t: %q", secure, whole, shaken, reads)
		}
	}
}

// tunnelProxy starts a proxy that makes tunnels to one address.
func tunnelProxy(t *testing.T, to string) *url.URL {
	t.Helper()
	proxy := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, r.Method, http.StatusMethodNotAllowed)
			return
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		client, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		var both sync.WaitGroup
		both.Go(func() {
			_, _ = io.Copy(server, bufio.NewReader(io.MultiReader(buffered.Reader, client)))
			server.Close()
		})
		both.Go(func() { _, _ = io.Copy(client, server); client.Close() })
		both.Wait()
	})
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestGivenUpBeforeTheBody: if net/http gives up a payment between head and body, nothing has been sent, even if the
// caller's transport writes in small pieces.
func TestGivenUpBeforeTheBody(t *testing.T) {
	reached := make(chan string, 1)
	base := clienttest.ServeRaw(t, func(conn net.Conn) {
		text, _ := io.ReadAll(conn)
		reached <- string(text)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	given := make(chan struct{})
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() {
			cancel()
			select { // net/http closes the connection while its writer is here
			case <-given:
			case <-time.After(30 * time.Second):
			}
		},
	})
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: base, HTTPClient: &http.Client{Transport: &http.Transport{
		WriteBufferSize: 16,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &tellingConn{Conn: conn, closed: given}, err
		},
	}}})
	if _, err := clienttest.PayByToken(traced, c, "t-1"); !errors.Is(err, cardgateway.ErrNotSent) {
		t.Errorf("got %v", err)
	}
	if text := <-reached; text != "" {
		t.Errorf("%q arrived", text)
	}
}

// tellingConn reports when it is closed.
type tellingConn struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (c *tellingConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.closed) })
	return err
}

// TestHandshakeFails: the connection is closed, nothing was sent, and the dialer is not left waiting.
func TestHandshakeFails(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	for name, serve := range map[string]func(net.Conn){
		"closed": func(net.Conn) {},
		"no TLS": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") },
		"silent": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		t.Run(name, func(t *testing.T) {
			base := clienttest.ServeRaw(t, serve)
			_, transport := serverAndClientTLS(t)
			transport.TLSHandshakeTimeout = impatient.AttemptTimeout
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: strings.Replace(base, "http", "https", 1), HTTPClient: &http.Client{Transport: transport}})
			_, err := clienttest.PayByToken(t.Context(), c, "t-1")
			if !errors.Is(err, cardgateway.ErrNotSent) {
				t.Errorf("%s: got %v, want %v", name, err, cardgateway.ErrNotSent)
			}
			if late, ok := errors.AsType[interface {
				error
				Timeout() bool
			}](err); name == "silent" && !(ok && late.Timeout()) {
				t.Errorf("%s: got %v, which is no timeout", name, err)
			}
		})
	}
}

// serverAndClientTLS returns both sides of a TLS connection on the loopback interface.
func serverAndClientTLS(t *testing.T) (*tls.Config, *http.Transport) {
	t.Helper()
	server, client := clienttest.TLSConfigs(t)
	return server, &http.Transport{TLSClientConfig: client}
}

// notingListener records what each read of its connections returned.
type notingListener struct {
	net.Listener
	note func(string)
}

func (l notingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &notingConn{c, l.note}, nil
}

type notingConn struct {
	net.Conn
	note func(string)
}

func (c *notingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.note(string(p[:n]))
	}
	return n, err
}
