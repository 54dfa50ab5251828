package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a Gateway that listens on its own address. Create one with Start.
type Server struct {
	URL      string // base URL, for example "http://127.0.0.1:40123"
	*Gateway        // serves the requests

	server *http.Server
	served sync.WaitGroup // the accept loop

	mu     sync.Mutex // active.Add must not follow the Wait of Close
	closed bool
	active sync.WaitGroup // requests being served
}

// Start creates a Gateway that listens on a free port of the loopback interface. Call Close after use.
func Start(opts Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return Serve(l, New(opts)), nil
}

// Serve serves g on a listener, which Close closes.
func Serve(l net.Listener, g *Gateway) *Server {
	s := &Server{URL: "http://" + l.Addr().String(), Gateway: g}
	s.server = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // faults drop connections on purpose
	}
	s.served.Go(func() {
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			_ = l.Close()
		}
	})
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.active.Add(1)
	s.mu.Unlock()
	defer s.active.Done()
	s.Gateway.ServeHTTP(w, r)
}

// Close stops listening, aborts requests in flight, drops pending notifications, and returns when all goroutines of the
// server and its gateway have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.server.Close() // the listener may be closed already
	s.Gateway.Close()
	s.active.Wait()
	s.served.Wait()
}

// RoundTripper returns an HTTP transport that reaches g without a socket, whatever host the request names. It works inside
// a testing/synctest bubble, where a network connection does not. Faults that drop the connection are returned as errors.
// Like a real gateway, g carries out a request even if its context has ended meanwhile.
func (g *Gateway) RoundTripper() http.RoundTripper { return memoryTransport{g} }

// memoryTransport is the transport of RoundTripper.
type memoryTransport struct{ gateway *Gateway }

// RoundTrip sends r to the gateway. It reads and closes the body, as http.RoundTripper requires.
func (t memoryTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		closeBody(r)
		return nil, err
	}
	type outcome struct {
		resp *http.Response
		err  error
	}
	done := make(chan outcome, 1) // buffered, so that the goroutine ends if nobody waits
	go func() {
		resp, err := t.exchange(r)
		done <- outcome{resp, err}
	}()
	select {
	case o := <-done:
		return o.resp, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t memoryTransport) exchange(r *http.Request) (*http.Response, error) {
	body, err := sendBody(r)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err // the request has not arrived completely
	}
	in := &http.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header.Clone(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	if in.Header == nil {
		in.Header = make(http.Header)
	}
	return t.gateway.respond(in).response(r)
}

// sendBody reads and closes the request body.
func sendBody(r *http.Request) ([]byte, error) {
	defer closeBody(r)
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("sandbox: reading the request body: %w", err)
	}
	if r.ContentLength > 0 && int64(len(body)) != r.ContentLength {
		return nil, errors.New("sandbox: the length of the request body differs from Content-Length")
	}
	return body, nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
