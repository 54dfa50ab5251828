package clienttest

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// QuietLog discards what test servers log about clients that close connections.
var QuietLog = log.New(io.Discard, "", 0)

// Serve starts a server on the loopback interface and stops it at the end of the test.
func Serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = QuietLog
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// ServeBody starts a server that always responds with the same body and status 200.
func ServeBody(t testing.TB, body string) *httptest.Server {
	t.Helper()
	return Serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body)
	})
}

// ServeTLS starts a server with TLS and HTTP/2.
func ServeTLS(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = QuietLog
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// Approve is a handler that approves every payment.
func Approve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = io.WriteString(w, ResponseFor(TransactionIDIn(body), cardgateway.CodeSuccess, ""))
}

// TLSConfigs returns a configuration for a server, and one for clients that trusts its certificate.
func TLSConfigs(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: pool, ServerName: "example.com"}
}

// ServeRaw accepts TCP connections and calls serve once for each. It returns the base URL.
func ServeRaw(t testing.TB, serve func(net.Conn)) (base string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				end := func() { _ = conn.Close() }
				defer end()
				defer context.AfterFunc(t.Context(), end)() // a server that waits forever ends with the test
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		conns.Wait()
	})
	return "http://" + l.Addr().String()
}

// RawRequests reads requests from a connection and calls respond with each one and its body, until respond returns false or
// the connection ends.
func RawRequests(conn net.Conn, respond func(r *http.Request, body []byte) bool) {
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !respond(r, body) {
			return
		}
	}
}

// RawResponse returns a complete HTTP/1.1 response with status 200 that closes its connection.
func RawResponse(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// RoundTrip is a function that implements http.RoundTripper.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Respond returns a response like a transport's. It reads the body of the request first.
func Respond(r *http.Request, status int, body string) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}
