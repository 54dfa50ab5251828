package cardgateway_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// TestWithRetry: the copy has a policy of its own, and its original's settings and connections.
func TestWithRetry(t *testing.T) {
	var requests, connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") == "" {
			t.Error("the copy has lost the Authenticate hook")
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	zone := time.FixedZone("elsewhere", 3600)
	original, err := cardgateway.New(cardgateway.Config{
		BaseURL: s.URL, AppID: "1", Location: zone, Authenticate: cardgateway.BasicAuth("merchant", "secret"),
		Retry: cardgateway.RetryPolicy{MaxAttempts: 3, MinWait: time.Nanosecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer original.CloseIdleConnections()
	for _, tt := range []struct {
		name   string
		client *cardgateway.Client
		want   int32
	}{
		{"the original", original, 3},
		{"one attempt", original.WithRetry(cardgateway.RetryPolicy{MaxAttempts: 1}), 1},
		{"zero values mean the defaults", original.WithRetry(cardgateway.RetryPolicy{MinWait: time.Nanosecond}), 4},
		{"negative values do so too", original.WithRetry(cardgateway.RetryPolicy{MaxAttempts: -1, MinWait: time.Nanosecond}), 4},
		{"the original again", original, 3},
	} {
		requests.Store(0)
		if _, err := tt.client.GetTransaction(t.Context(), "1"); err == nil {
			t.Errorf("%s: got no error", tt.name)
		}
		if got := requests.Load(); got != tt.want {
			t.Errorf("%s: got %d requests, want %d", tt.name, got, tt.want)
		}
		if tt.client.Location() != zone {
			t.Errorf("%s: got zone %v, want %v", tt.name, tt.client.Location(), zone)
		}
	}
	if got := connections.Load(); got != 1 {
		t.Errorf("got %d connections, want one for all", got)
	}
}

// TestDefaultLocation: a client that names no zone has the default one, which nothing can change.
func TestDefaultLocation(t *testing.T) {
	c, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.example", AppID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, offset := time.Unix(0, 0).In(c.Location()).Zone(); offset != 8*60*60 || c.Location() != cardgateway.DefaultLocation() {
		t.Errorf("got %v, %d seconds east, want UTC+8", c.Location(), offset)
	}
}
