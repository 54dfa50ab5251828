package sandbox

import (
	"errors"
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
