package cardgateway_test

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// A gateway that follows a script, on which virtual time can be used.

// script is a gateway that returns one response after the other, the last one forever, and records the times of the
// requests.
type script struct {
	responses []scripted

	mu    sync.Mutex // a mock responds in a goroutine of its own where a context may end
	asked []time.Time
}

func (s *script) times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *script) client(t *testing.T, cfg cardgateway.Config) *cardgateway.Client {
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
		s.mu.Lock()
		n := min(len(s.asked), len(s.responses)-1)
		s.asked = append(s.asked, time.Now())
		s.mu.Unlock()
		return s.responses[n](r)
	})
	cfg.BaseURL, cfg.AppID, cfg.HTTPClient = clienttest.BaseURL, "1", &http.Client{Transport: mock}
	c, err := cardgateway.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type scripted = func(r *http.Request) (*http.Response, error)

// gives responds with a status, a body and an optional Retry-After.
func gives(status int, body string, retryAfter ...string) scripted {
	return func(*http.Request) (*http.Response, error) {
		resp := httpmock.NewStringResponse(status, body)
		for _, text := range retryAfter {
			resp.Header.Set("Retry-After", text)
		}
		return resp, nil
	}
}

var errReset = errors.New("connection reset")

func resets(*http.Request) (*http.Response, error) { return nil, errReset }

// hangs responds only when the attempt is ended.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
