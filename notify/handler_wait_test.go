package notify_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/cardgateway/cardgateway-go/notify"
)

// Notifications that passed Verify wait for their turn, with limits, and QueriesPerSecond does not apply to them.

const signingKey = "test-secret"

// signed returns a notification about one of any number of approved transactions, with a token and the published signature.
func signed(i int) string { return signedWith(i, fmt.Sprintf("tok-%d", i)) }

func signedWith(i int, token string) string {
	uniqueID, transactionID := fmt.Sprint(1_000_000_000_000+int64(i)), fmt.Sprintf("order-%d", i)
	sum := sha256.Sum256([]byte("100" + token + transactionID + "Sale" + uniqueID + signingKey))
	return fmt.Sprintf(`{"code":100,"token":%q,"transactionId":%q,"transactionType":"Sale","uniqueId":%q,"sign":%q}`,
		token, transactionID, uniqueID, hex.EncodeToString(sum[:]))
}

// confirmation returns what the gateway responds about a transaction of signed.
func confirmation(path string) string {
	uniqueID := path[strings.LastIndexByte(path, '/')+1:]
	return fmt.Sprintf(`{"code":100,"uniqueId":%q,"transactionId":"order-%s","transactionAmount":"20.00","transactionCurrency":"USD"}`,
		uniqueID, strings.TrimLeft(strings.TrimPrefix(uniqueID, "1"), "0"))
}

// busyShop is a shop with a slow gateway that knows every transaction of signed except number 0.
type busyShop struct {
	*shop
	asking, maxAsking atomic.Int64
}

func newBusyShop(t testing.TB, opts notify.Options, takes time.Duration) *busyShop {
	t.Helper()
	opts.Verify, opts.AllowUnboundTokens = notify.SignatureSHA256(signingKey), true
	s := &busyShop{shop: newShop(t, opts)}
	s.gateway.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
		n := s.asking.Add(1)
		defer s.asking.Add(-1)
		for most := s.maxAsking.Load(); n > most && !s.maxAsking.CompareAndSwap(most, n); most = s.maxAsking.Load() {
		}
		select {
		case <-time.After(takes):
			return httpmock.NewStringResponse(200, confirmation(r.URL.Path)), nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
	return s
}

// postAll delivers notifications concurrently, and counts the responses by status.
func (s *busyShop) postAll(bodies []string) map[int]int {
	var mu sync.Mutex
	var group sync.WaitGroup
	statuses := map[int]int{}
	for _, body := range bodies {
		group.Go(func() {
			w := s.post("", body)
			mu.Lock()
			defer mu.Unlock()
			statuses[w.Code]++
		})
	}
	group.Wait()
	return statuses
}

// throttled counts the rejected notifications.
func (s *busyShop) throttled() (n int) {
	for _, info := range s.infos {
		if info.Throttled {
			n++
		}
	}
	return n
}

func manySigned(n int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, signed(i+1))
	}
	return bodies
}

// TestHandlerWaits delivers more verified notifications at once than may be active: each one gets its turn, and no token is lost.
func TestHandlerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 3*notify.MaxActive + 10
		s := newBusyShop(t, notify.Options{}, time.Second)
		begun := time.Now()
		statuses := s.postAll(manySigned(many))
		if statuses[200] != many || len(s.handled) != many || s.throttled() != 0 {
			t.Errorf("got status %v, %d handled and %d turned away, want all of %d handled", statuses, len(s.handled), s.throttled(), many)
		}
		tokens := map[string]bool{}
		for _, n := range s.handled {
			tokens[n.Token.Reveal()] = true
		}
		if len(tokens) != many {
			t.Errorf("tokens: got %d, want %d", len(tokens), many)
		}
		if most := s.maxAsking.Load(); most != notify.MaxActive {
			t.Errorf("queries at once: got %d, want %d", most, notify.MaxActive)
		}
		if took := time.Since(begun); took != 4*time.Second {
			t.Errorf("took %v, want 4 s for four rounds", took)
		}
		waited := map[time.Duration]int{}
		for _, info := range s.infos {
			waited[info.Waited]++
			if !info.Verified || info.Duration != info.Waited+time.Second {
				t.Fatalf("observed %+v, want it verified and a second longer than its wait", info)
			}
		}
		if waited[0] != notify.MaxActive || waited[time.Second] != notify.MaxActive || waited[3*time.Second] != 10 {
			t.Errorf("waits: got %v", waited)
		}
		if w := s.post("", signedWith(1, "tok-other")); w.Code != http.StatusConflict {
			t.Errorf("another token of one of them: got status %d, want 409", w.Code)
		}
	})
}

// TestHandlerWaitIsBounded delivers verified notifications while the gateway does not respond: beyond a time and a number
// they are rejected, the merchant gets one log line, and Observe is called for each.
func TestHandlerWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := new(bytes.Buffer)
		s := newBusyShop(t, notify.Options{Logger: slog.New(slog.NewTextHandler(logs, nil))}, time.Hour)
		const tooMany = 7
		begun := time.Now()
		statuses := s.postAll(manySigned(notify.MaxActive + notify.MaxWaiting + tooMany))
		if statuses[503] != notify.MaxActive+notify.MaxWaiting+tooMany {
			t.Errorf("got status %v, want 503 for all", statuses)
		}
		if took := time.Since(begun); took != notify.ConfirmTimeout {
			t.Errorf("took %v, want %v: nothing begins after it has waited in vain", took, notify.ConfirmTimeout)
		}
		if n := s.throttled(); n != notify.MaxWaiting+tooMany {
			t.Errorf("turned away: got %d, want %d", n, notify.MaxWaiting+tooMany)
		}
		full, waited := 0, 0
		for _, info := range s.infos {
			switch {
			case info.Throttled && info.Duration == 0:
				full++
			case info.Throttled && info.Waited == notify.MaxWait && says(info.Err, "has waited 5s for its turn"):
				waited++
			case info.Throttled:
				t.Fatalf("observed %+v, want it turned away at once or after %v", info, notify.MaxWait)
			}
		}
		if full != tooMany || waited != notify.MaxWaiting {
			t.Errorf("got %d turned away at once, %d after their wait, want %d and %d", full, waited, tooMany, notify.MaxWaiting)
		}
		if n := strings.Count(logs.String(), "\n"); n != 1 || !strings.Contains(logs.String(), "too many notifications") {
			t.Errorf("log above debug level: got %d lines, want one: %s", n, logs)
		}
		if n := notify.Present(s.Handler); n != 0 {
			t.Errorf("present afterwards: got %d, want 0", n)
		}
	})
}

// TestHandlerWaitsForTheSame delivers one verified notification several times at once: it is handled once, the copies wait
// for that, and only a limited number of them occupy places.
func TestHandlerWaitsForTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBusyShop(t, notify.Options{}, time.Second)
		var bodies []string
		for range notify.MaxPerSubject + 3 {
			bodies = append(bodies, signed(1))
		}
		statuses := s.postAll(bodies)
		if statuses[200] != notify.MaxPerSubject || statuses[503] != 3 || s.throttled() != 3 {
			t.Errorf("got status %v and %d turned away, want %d with 200 and 3 turned away", statuses, s.throttled(), notify.MaxPerSubject)
		}
		if n := s.gateway.GetTotalCallCount(); len(s.handled) != 1 || n != 1 {
			t.Errorf("got %d handled and %d queries, want one of each", len(s.handled), n)
		}
	})
}

// TestHandlerWaitsAfterAFailure: if a notification fails, the copy that has waited for it is handled.
func TestHandlerWaitsAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBusyShop(t, notify.Options{}, time.Second)
		calls := 0
		s.handle = func(context.Context, *notify.Notification) error {
			if calls++; calls == 1 {
				return errors.New("database is down")
			}
			return nil
		}
		statuses := s.postAll([]string{signed(1), signed(1)})
		if statuses[200] != 1 || statuses[503] != 1 || calls != 2 {
			t.Errorf("got status %v and %d calls, want 503, then 200", statuses, calls)
		}
	})
}

// TestHandlerWaitEndsWithTheRequest: a notification whose request is canceled while it waits gives up its place.
func TestHandlerWaitEndsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBusyShop(t, notify.Options{}, 2*time.Second)
		others := make(chan map[int]int)
		go func() { others <- s.postAll(manySigned(notify.MaxActive)) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, "POST", "/notify", strings.NewReader(signed(1_000)))
		r.Header.Set("Content-Type", "application/json")
		if w := s.serve(r); w.Code != 503 {
			t.Errorf("status: got %d, want 503", w.Code)
		}
		<-others
		if info := s.infos[0]; !info.Throttled || info.Waited != time.Second || !errors.Is(info.Err, context.DeadlineExceeded) {
			t.Errorf("observed %+v, want it turned away after a second", info)
		}
		if n := notify.Present(s.Handler); n != 0 || len(s.handled) != notify.MaxActive {
			t.Errorf("afterwards: got %d present and %d handled, want 0 and %d", n, len(s.handled), notify.MaxActive)
		}
	})
}

// TestHandlerWaitInVain: a notification whose wait times out gives up its place, for a slot and for the turn of its
// subject, to the next one with the same subject.
func TestHandlerWaitInVain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		active []string // when the two others arrive
	}{
		{"for a slot", manySigned(notify.MaxActive)},
		{"for the turn of its subject", []string{signed(1_000)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBusyShop(t, notify.Options{}, 6*time.Second)
				s.handle = func(context.Context, *notify.Notification) error { return errors.New("database is down") }
				go s.postAll(tt.active)
				synctest.Wait()
				first := make(chan map[int]int)
				go func() { first <- s.postAll([]string{signed(1_000)}) }()
				time.Sleep(3 * time.Second)
				s.post("", signed(1_000))
				if statuses := <-first; statuses[503] != 1 {
					t.Errorf("first: got status %v, want 503", statuses)
				}
				second := s.infos[len(s.infos)-1]
				if second.Throttled || second.Waited != 3*time.Second || !says(second.Err, "database is down") {
					t.Errorf("second: observed %+v, want its turn after 3 s", second)
				}
				if n := notify.Present(s.Handler); n != 0 {
					t.Errorf("present afterwards: got %d, want 0", n)
				}
			})
		})
	}
}

// TestHandlerThrottlesUnverified: without Verify the queries per second are limited, and the merchant gets one log line.
func TestHandlerThrottlesUnverified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := new(bytes.Buffer)
		s := newShop(t, notify.Options{QueriesPerSecond: 20, Logger: slog.New(slog.NewTextHandler(logs, nil))})
		s.gateway.RegisterNoResponder(httpmock.NewStringResponder(200, `{"code":404}`))
		for i := range 30 {
			s.post("", forged(i))
		}
		for i, info := range s.infos {
			throttled := i >= 20
			if info.Verified || info.Waited != 0 || info.Throttled != throttled {
				t.Errorf("notification %d: observed %+v, want it turned away: %v", i, info, throttled)
			}
		}
		if n := strings.Count(logs.String(), "\n"); n != 1 || !strings.Contains(logs.String(), "QueriesPerSecond") {
			t.Errorf("log above debug level: got %d lines, want one: %s", n, logs)
		}
	})
}
