package listener

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"go.uber.org/goleak"
)

// newTest makes a listener whose gateway does not exist, and what it prints.
func newTest(t *testing.T, o Options) (*Listener, *bytes.Buffer) {
	t.Helper()
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "http://127.0.0.1:1", AppID: "7"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o.SecretKey, o.Printer = "k3y-AGsC0123456789", &relay.Printer{Zone: time.UTC, Out: &out}
	o.Tell, o.End = func(format string, args ...any) { t.Errorf(format, args...) }, func(int) {}
	return New(client, o), &out
}

// TestServe ends when enough have come, numbers them, and counts what is refused.
func TestServe(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, out := newTest(t, Options{Max: 2})
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(t.Context(), socket) }()
	gateway := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 2 {
		resp, err := gateway.Post("http://"+socket.Addr().String(), "application/json", strings.NewReader(`{"transactionType":"Sale","uniqueId":"1"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("got %d, want 403", resp.StatusCode)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := l.Totals(); got != (Totals{Refused: 2}) || got.Received() != 2 {
		t.Errorf("got %+v, want two that were refused", got)
	}
	for _, words := range []string{"[n-1]  SIGNATURE REFUSED", "[n-2]  SIGNATURE REFUSED", "by cardgateway  [n-2]  not forwarded\n"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("got %s, want in it %q", out, words)
		}
	}
}

// TestServeEnds when its context does.
func TestServeEnds(t *testing.T) {
	l, _ := newTest(t, Options{})
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.o.End = func(inFlight int) {
		if inFlight != 0 {
			t.Errorf("got %d in flight, want none", inFlight)
		}
	}
	cancel()
	if err := l.Serve(ctx, socket); err != nil {
		t.Error(err)
	}
}
