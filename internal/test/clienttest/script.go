package clienttest

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// Script is a gateway that returns one response after the other, the last one forever, and records the times of the requests.
// Virtual time can be used on it.
type Script struct {
	Responses []Scripted

	mu    sync.Mutex
	asked []time.Time
}

// Times returns when the requests came.
func (s *Script) Times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Client returns a client of this gateway.
func (s *Script) Client(t testing.TB, cfg cardgateway.Config) *cardgateway.Client {
	transport := RoundTrip(func(r *http.Request) (*http.Response, error) {
		s.mu.Lock()
		n := min(len(s.asked), len(s.Responses)-1)
		s.asked = append(s.asked, time.Now())
		s.mu.Unlock()
		return s.Responses[n](r)
	})
	cfg.BaseURL, cfg.AppID, cfg.HTTPClient = BaseURL, "1", &http.Client{Transport: transport}
	c, err := cardgateway.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Scripted responds to one request.
type Scripted = func(r *http.Request) (*http.Response, error)

// Gives responds with a status, a body and an optional Retry-After.
func Gives(status int, body string, retryAfter ...string) Scripted {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := Respond(r, status, body)
		for _, text := range retryAfter {
			resp.Header.Set("Retry-After", text)
		}
		return resp, err
	}
}

// ErrReset is the error of Resets.
var ErrReset = errors.New("connection reset")

// Resets fails without a response.
func Resets(*http.Request) (*http.Response, error) { return nil, ErrReset }

// Hangs responds only when the attempt is ended.
func Hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
