package notify_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/cardgateway/cardgateway-go/notify"
)

// forged returns one of any number of notifications about transactions that do not exist.
func forged(i int) string {
	return `{"code":100,"transactionType":"Sale","uniqueId":"` + strconv.FormatInt(2_000_000_000_000+int64(i), 10) + `","transactionId":"order-1"}`
}

// TestHandlerFlood sends 10,000 forged notifications in each of five seconds of virtual time, and counts the queries of
// every second.
func TestHandlerFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, notify.Options{})
		s.quiet = true // records of every notification would count as memory of the handler
		var asked []time.Time
		s.gateway.RegisterNoResponder(func(*http.Request) (*http.Response, error) {
			asked = append(asked, time.Now())
			return httpmock.NewStringResponse(200, `{"code":404}`), nil
		})
		const seconds, each = 5, 10_000
		before, peak := heap(true), uint64(0)
		for i := range seconds * each {
			if w := s.post("", forged(i)); w.Code != http.StatusServiceUnavailable {
				t.Fatalf("forged: got status %d, want 503", w.Code)
			}
			if i%500 == 0 {
				peak = max(peak, max(heap(false), before)-before)
			}
			time.Sleep(time.Second / each)
		}
		kept := int64(heap(true)) - int64(before)
		t.Logf("%d forged notifications, %d in a second: %d queries; heap %d KiB more at most, %d KiB kept",
			seconds*each, each, len(asked), peak>>10, kept>>10)
		for i := 10; i < len(asked); i++ {
			if d := asked[i].Sub(asked[i-10]); d < time.Second {
				t.Fatalf("11 queries within %v, want at most 10 in a second", d)
			}
		}
		if len(s.handled) != 0 || len(asked) != 10*seconds {
			t.Errorf("got %d handled and %d queries, want 0 and %d", len(s.handled), len(asked), 10*seconds)
		}
		if peak > 32<<20 || kept > 1<<20 {
			t.Errorf("heap: got %d KiB at most and %d KiB kept, want less than 32 MiB and 1 MiB", peak>>10, kept>>10)
		}
		runtime.KeepAlive(s)
	})
}

func heap(collect bool) uint64 {
	if collect {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestHandlerHangingGateway floods while the gateway does not respond.
func TestHandlerHangingGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, notify.Options{QueriesPerSecond: 100})
		var asking, most atomic.Int64
		s.gateway.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
			n := asking.Add(1)
			defer asking.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		begun := time.Now()
		var group sync.WaitGroup
		for i := range 1_000 {
			group.Go(func() {
				if w := s.post("", forged(i)); w.Code != http.StatusServiceUnavailable {
					t.Errorf("got status %d, want 503", w.Code)
				}
			})
			time.Sleep(5 * time.Millisecond)
		}
		group.Wait()
		if got := most.Load(); got != notify.MaxActive {
			t.Errorf("queries at once: got %d, want %d", got, notify.MaxActive)
		}
		if took := time.Since(begun); took > 5*time.Second+notify.ConfirmTimeout {
			t.Errorf("took %v, want at most %v after the last", took, notify.ConfirmTimeout)
		}
		full := 0
		for _, info := range s.infos {
			if says(info.Err, "too many notifications at once") {
				full++
			}
		}
		if active := notify.Active(s.Handler); full == 0 || active != 0 {
			t.Errorf("got %d refused for fullness and %d still active, want some and none", full, active)
		}
	})
}

// TestHandlerConcurrently sends genuine, repeated and forged notifications from many goroutines.
func TestHandlerConcurrently(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	s := newShop(t, notify.Options{QueriesPerSecond: 100_000})
	var running sync.Map
	var handled atomic.Int64
	s.handle = func(_ context.Context, n *notify.Notification) error {
		if _, loaded := running.LoadOrStore(n.Transaction.UniqueID, true); loaded {
			t.Errorf("%s is handled twice at once", n.Transaction.UniqueID)
		}
		runtime.Gosched()
		running.Delete(n.Transaction.UniqueID)
		handled.Add(1)
		return nil
	}
	const senders, real = 16, 50
	for i := range real {
		id := strconv.Itoa(i + 1)
		s.knows(id, fmt.Sprintf(`{"code":100,"uniqueId":%q,"transactionId":"order-%s"}`, id, id))
	}
	s.gateway.RegisterNoResponder(httpmock.NewStringResponder(200, `{"code":404}`))
	var group sync.WaitGroup
	for sender := range senders {
		group.Go(func() {
			for i := range real {
				id := strconv.Itoa((i+sender)%real + 1)
				body := fmt.Sprintf(`{"code":100,"transactionType":"Sale","uniqueId":%q,"transactionId":"order-%s"}`, id, id)
				for s.post("", body).Code != http.StatusOK {
					runtime.Gosched() // repeated, as a gateway would
				}
				s.post("", forged(i))
			}
		})
	}
	group.Wait()
	if handled.Load() != real {
		t.Errorf("handled: got %d events, want %d", handled.Load(), real)
	}
	for wait := 0; runtime.NumGoroutine() > goroutines && wait < 100; wait++ {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("goroutines: got %d, want at most the %d from before", n, goroutines)
	}
}
