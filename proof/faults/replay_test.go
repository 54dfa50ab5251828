package faults

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Go's own transport sends a POST again by itself: over HTTP/2 when the server resets the stream or goes away, over
// HTTP/1.1 on a kept-alive connection if there is an idempotency header. These servers execute every complete request and
// then provoke exactly that.

// replayLimit is the timeout of tests that would not end by themselves.
const replayLimit = 5

// http2Server executes complete requests and responds to each with what refuse writes.
type http2Server struct {
	net.Listener
	executed atomic.Int32
	refuse   func(fr *http2.Framer, stream uint32) (keep bool)
}

func serveHTTP2(t *testing.T, refuse func(*http2.Framer, uint32) bool) *http2Server {
	t.Helper()
	plain := httptest.NewUnstartedServer(nil)
	plain.StartTLS() // for its certificate
	certificate := plain.TLS.Certificates
	plain.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certificate, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &http2Server{Listener: l, refuse: refuse}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *http2Server) serve(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil || string(preface) != http2.ClientPreface {
		return // HTTP/1.1
	}
	fr := http2.NewFramer(c, c)
	if fr.WriteSettings() != nil {
		return
	}
	for {
		frame, err := fr.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = fr.WriteSettingsAck()
			}
		case *http2.DataFrame:
			if frame.StreamEnded() && !(s.executed.Add(1) < replayLimit && s.refuse(fr, frame.StreamID)) {
				return
			}
		}
	}
}

// serveOnce is an HTTP/1.1 server that responds to the first request of a connection, and for the second executes it and
// closes the connection without a response.
func serveOnce(t *testing.T) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	executed := new(atomic.Int32)
	first := make(map[string]bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct{ TransactionID string }
		_ = json.NewDecoder(r.Body).Decode(&sent)
		if !first[r.RemoteAddr] && executed.Load() == 0 {
			first[r.RemoteAddr] = true
			_, _ = fmt.Fprintf(w, `{"code":101,"transactionId":%q}`, sent.TransactionID) // without the id, the client closes the connection
			return
		}
		if executed.Add(1) < replayLimit {
			hangUp(w, CutClose, nil)
		}
	}))
	t.Cleanup(s.Close)
	return s, executed
}

// TestReplay counts the executions of one call.
func TestReplay(t *testing.T) {
	refusals := map[string]func(*http2.Framer, uint32) bool{
		"RST_STREAM PROTOCOL_ERROR": func(fr *http2.Framer, id uint32) bool { return fr.WriteRSTStream(id, http2.ErrCodeProtocol) == nil },
		"RST_STREAM REFUSED_STREAM": func(fr *http2.Framer, id uint32) bool {
			return fr.WriteRSTStream(id, http2.ErrCodeRefusedStream) == nil
		},
		"RST_STREAM CANCEL": func(fr *http2.Framer, id uint32) bool { return fr.WriteRSTStream(id, http2.ErrCodeCancel) == nil },
		"GOAWAY 0":          func(fr *http2.Framer, _ uint32) bool { _ = fr.WriteGoAway(0, http2.ErrCodeNo, nil); return false },
		"GOAWAY PROTOCOL":   func(fr *http2.Framer, _ uint32) bool { _ = fr.WriteGoAway(0, http2.ErrCodeProtocol, nil); return false },
		"closed":            func(*http2.Framer, uint32) bool { return false },
	}
	headers := []string{"", "Idempotency-Key", "X-Idempotency-Key"}
	for name, refuse := range refusals {
		for _, header := range headers {
			t.Run(fmt.Sprintf("HTTP2/%s/%s", name, header), func(t *testing.T) {
				t.Parallel()
				s := serveHTTP2(t, refuse)
				transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
				defer transport.CloseIdleConnections()
				payOnce(t, "https://"+s.Addr().String(), opaque{transport}, header, &s.executed, 1)
				given := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
				payOnce(t, "https://"+s.Addr().String(), given, header, &s.executed, 1) // speaks HTTP/1.1: nothing is executed
			})
		}
	}
	for _, header := range headers {
		t.Run("HTTP1/kept alive and closed/"+header, func(t *testing.T) {
			s, executed := serveOnce(t)
			transport := new(http.Transport)
			defer transport.CloseIdleConnections()
			c := newClient(t, s.URL, transport, header)
			for _, o := range Orders(1, 2) {
				_, _ = c.CreateSubscription(t.Context(), o.subscription())
			}
			if n := executed.Load(); n != 1 {
				t.Errorf("%d executions, want 1", n)
			}
		})
	}
}

func newClient(t *testing.T, url string, transport http.RoundTripper, header string) *cardgateway.Client {
	t.Helper()
	return clienttest.NewClient(t, cardgateway.Config{
		BaseURL: url, AppID: "7", HTTPClient: &http.Client{Transport: transport}, InsecureHTTP: true,
		Retry: cardgateway.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}, AttemptTimeout: 3 * time.Second,
		Authenticate: func(r *http.Request, _ []byte) error {
			if header != "" {
				r.Header.Set(header, "key")
			}
			return nil
		},
	})
}

func payOnce(t *testing.T, url string, transport http.RoundTripper, header string, executed *atomic.Int32, want int32) {
	t.Helper()
	o := Orders(1, 1)[0]
	_, err := newClient(t, url, transport, header).CreateSubscription(t.Context(), o.subscription())
	if n := executed.Load(); n != want || err == nil {
		t.Errorf("%d executions, want %d; %v", n, want, err)
	}
}

// TestReplayBites makes the same call with a plain http.Client: if that is executed only once, TestReplay proves nothing.
func TestReplayBites(t *testing.T) {
	s := serveHTTP2(t, func(fr *http2.Framer, id uint32) bool { return fr.WriteRSTStream(id, http2.ErrCodeProtocol) == nil })
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	o := Orders(1, 1)[0]
	_, body := o.wire(nil)
	_, _, err := read((&http.Client{Transport: transport}).Post("https://"+s.Addr().String(), "application/json", strings.NewReader(string(body))))
	t.Logf("%d executions of one call, then %v", s.executed.Load(), err)
	if s.executed.Load() < 2 {
		t.Error("a plain client is not replayed")
	}
}
