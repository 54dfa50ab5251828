package delivery

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a transport that waits before it fails.
type slow struct{}

func (slow) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(5 * time.Second)
	return nil, errors.New("refused")
}

func TestReservedHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"http://shop.example/n": true, "http://example.com": true, "http://a.example.com:8080/": true,
		"http://x.test": true, "http://127.0.0.1:80/n": false, "http://shop.internal": false, "http://myexample.com": false,
	} {
		if got := reserved(host); got != want {
			t.Errorf("reserved(%q) = %v, want %v", host, got, want)
		}
	}
}

// transport responds with each of the statuses in turn; zero is a connection error.
type transport struct {
	mu       sync.Mutex
	statuses []int
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	status := t.statuses[0]
	t.statuses = t.statuses[1:]
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	w.WriteHeader(status)
	_, _ = w.WriteString(strings.Repeat("no ", MaxKept))
	return w.Result(), nil
}

// TestReport: every attempt is reported, with the reason of its failure and the time of the next one.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(&transport{statuses: []int{0, 302, 200}}, 1)
		defer n.Close()
		var got []Attempt
		start := time.Now()
		n.Add(Message{URL: "https://shop.internal/n?guard=x", Delay: time.Second, Report: func(a Attempt) { got = append(got, a) }})
		if err := n.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 {
			t.Fatalf("%d attempts were reported, want 3: %+v", len(got), got)
		}
		if a := got[0]; a.At.Sub(start) != time.Second || a.Err == nil || strings.Contains(a.Err.Error(), "guard") || a.Next.Sub(a.At) != 5*time.Second {
			t.Errorf("first attempt %+v, want a failure after 1s without the address, and the next one in 5s", a)
		}
		if a := got[1]; a.Status != 302 || a.Accepted() || a.Next.Sub(got[0].At) != 5*time.Minute || len(a.Body) != MaxKept {
			t.Errorf("second attempt: HTTP %d, next in %v, %d bytes kept", a.Status, a.Next.Sub(got[0].At), len(a.Body))
		}
		if a := got[2]; !a.Accepted() || !a.Next.IsZero() {
			t.Errorf("third attempt %+v, want it accepted and the last", a)
		}
	})
}

// TestReportOfWhatIsNotSent: a notification to a reserved host is reported at once.
func TestReportOfWhatIsNotSent(t *testing.T) {
	n := New(nil, 1)
	defer n.Close()
	var got []Attempt
	n.Add(Message{URL: "https://shop.example/n", Report: func(a Attempt) { got = append(got, a) }})
	if len(got) != 1 || !errors.Is(got[0].Err, ErrReserved) {
		t.Errorf("reported %+v, want ErrReserved once", got)
	}
}

// TestDropDue: what is due and waits for its turn is dropped too, an attempt that has begun is not repeated, and Close does not wait for
// either.
func TestDropDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(slow{}, 1)
		attempts := 0
		var mu sync.Mutex
		for range 2 * maxDeliveries {
			n.Add(Message{URL: "https://shop.internal/n", Report: func(a Attempt) {
				mu.Lock()
				defer mu.Unlock()
				if attempts++; !a.Next.IsZero() {
					t.Errorf("attempt %+v, want no next one", a)
				}
			}})
		}
		time.Sleep(time.Second)
		n.Drop()
		if err := n.Flush(t.Context()); err != nil || attempts != maxDeliveries {
			t.Errorf("%d attempts, %v; want only the %d that had begun", attempts, err, maxDeliveries)
		}
		for range 2 * maxDeliveries {
			n.Add(Message{URL: "https://shop.internal/n", Report: func(Attempt) {}})
		}
		time.Sleep(time.Second)
		n.Close()
		before := n.pending
		if n.Add(Message{URL: "https://shop.internal/n"}); n.pending != before {
			t.Error("a notification is queued after Close")
		}
	})
}

// TestFlushNothing: if nothing is pending, Flush says so, even if its context has ended or the Notifier is closed.
func TestFlushNothing(t *testing.T) {
	n := New(slow{}, 1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		if err := n.Flush(ended); err != nil {
			t.Fatalf("with a context that has ended: %v", err)
		}
	}
	n.Close()
	for range 50 {
		if err := n.Flush(t.Context()); err != nil {
			t.Fatalf("after Close: %v", err)
		}
	}
}
