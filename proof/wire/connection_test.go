package wire_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// How connections are made: TLS 1.2 or later, HTTP/1.1 only, no compression, the caller's settings unchanged, and
// connections reused by many concurrent callers.

// TestCertificatesAreVerified: an unknown certificate means that nothing was sent, and New rejects a transport that does
// not verify certificates.
func TestCertificatesAreVerified(t *testing.T) {
	s := clienttest.ServeTLS(t, clienttest.Approve)
	if _, err := clienttest.PayByToken(t.Context(), clienttest.NewClient(t, cardgateway.Config{BaseURL: s.URL}), "t-1"); !errors.Is(err, cardgateway.ErrNotSent) {
		t.Errorf("unknown certificate: got %v, want %v", err, cardgateway.ErrNotSent)
	}
	blind := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if _, err := cardgateway.New(cardgateway.Config{
		BaseURL: s.URL, AppID: "1", HTTPClient: blind,
	}); !slices.Equal(clienttest.Problems(err), []string{"HTTPClient format"}) {
		t.Errorf("a transport that does not verify: got %v", err)
	}
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: s.URL, HTTPClient: blind, InsecureHTTP: true})
	if tx, err := clienttest.PayByToken(t.Context(), c, "t-1"); clienttest.Outcome(tx, err) != "paid" {
		t.Errorf("the same for tests: got %v", err)
	}
}

// TestRequestsOnTheWire: what every request contains and never contains, whatever the settings of the caller's
// transport.
func TestRequestsOnTheWire(t *testing.T) {
	var requests []*http.Request
	var mu sync.Mutex
	s := clienttest.ServeTLS(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests = append(requests, r)
		mu.Unlock()
		clienttest.Approve(w, r)
	})
	prepared := s.Client().Transport.(*http.Transport)
	both := new(http.Protocols)
	both.SetHTTP2(true)
	both.SetHTTP1(true)
	transports := map[string]*http.Transport{
		"the server's own": prepared.Clone(), "forced to HTTP/2": prepared.Clone(), "HTTP/2 by protocols": prepared.Clone(), "NextProtos": prepared.Clone(),
	}
	transports["forced to HTTP/2"].ForceAttemptHTTP2 = true
	transports["HTTP/2 by protocols"].Protocols = both
	transports["NextProtos"].TLSClientConfig.NextProtos = []string{"h2"}
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) {
			used := transport.Clone()
			if resp, err := (&http.Client{Transport: used}).Get(s.URL); err != nil || resp.ProtoMajor != 2 {
				t.Fatalf("%s: a plain client does not speak HTTP/2 here: %v", name, err)
			} else {
				_ = resp.Body.Close()
			}
			requests = nil
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: s.URL, HTTPClient: &http.Client{Transport: used}, Authenticate: func(r *http.Request, _ []byte) error {
					r.Header.Set("Idempotency-Key", "1") // with it net/http would send a payment again by itself
					r.Header.Set("X-Idempotency-Key", "1")
					r.GetBody = func() (io.ReadCloser, error) { return http.NoBody, nil }
					return nil
				},
			})
			for _, op := range clienttest.PaymentOperations {
				if _, err := op.Call(t.Context(), c, "t-1"); err != nil {
					t.Errorf("%s, %s: %v", name, op.Name, err)
				}
			}
			_, _ = c.GetTransaction(t.Context(), "1")
			_, _ = c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: time.Unix(0, 0), End: time.Unix(1, 0)}, cardgateway.PageRequest{})
			if len(requests) < len(clienttest.PaymentOperations)+2 {
				t.Fatalf("%s: %d requests", name, len(requests))
			}
			for _, r := range requests {
				h := r.Header
				if r.ProtoMajor != 1 || h.Get("Accept-Encoding") != "" || h.Get("Accept") != "application/json" ||
					h.Get("User-Agent") != "cardgateway-go/"+cardgateway.Version {
					t.Errorf("%s: %s %s with %v", name, r.Proto, r.Method, h)
				}
				if r.Method == "POST" &&
					(h.Get("Idempotency-Key") != "" || h.Get("X-Idempotency-Key") != "" || h.Get("Content-Type") != "application/json" || r.ContentLength <= 0) {
					t.Errorf("%s: payment with length %d and %v", name, r.ContentLength, h)
				}
			}
			used.CloseIdleConnections()
		})
	}
}
