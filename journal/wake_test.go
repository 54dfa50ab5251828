package journal_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// reports are the calls that Run has made, in order.
type reports struct {
	mu    sync.Mutex
	begun time.Time
	told  []string
	times []time.Duration // since begun
}

func (r *reports) add(e *journal.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, e.ID().Text+" "+e.State().String())
	r.times = append(r.times, time.Since(r.begun))
}

func (r *reports) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.told)
}

func (r *reports) at() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.times)
}

// running calls Run in the background until the test ends. It returns what Run has reported: complete after synctest.Wait.
func running(t *testing.T, j *journal.Journal, every time.Duration, store func(context.Context, *journal.Entry) error) *reports {
	t.Helper()
	told := &reports{begun: time.Now()}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := j.Run(ctx, every, func(ctx context.Context, e journal.Entry) error {
			told.add(&e)
			if store != nil {
				return store(ctx, &e)
			}
			return nil
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	synctest.Wait()
	return told
}

// loseNext makes the response to the next payment get lost. The gateway makes it, or never receives it.
func (s *shop) loseNext(commit sandbox.Commit) {
	s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: commit, Reply: sandbox.ReplyReset})
}

func confirm(t *testing.T, j *journal.Journal, id string) {
	t.Helper()
	shown := shownAs(cardgateway.CodeSuccess, "1")
	shown.TransactionID = id
	succeeds(t, j.Confirm(context.Background(), shown))
}

// TestRunWakesOnConfirm: what is confirmed is reported at once, and not again.
func TestRunWakesOnConfirm(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.loseNext(sandbox.CommitNever)
		_, _ = s.pay("a", approved)
		time.Sleep(time.Hour)
		told := running(t, s.Journal, time.Hour, nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		told.begun = time.Now()
		for range 3 {
			confirm(t, s.Journal, "a")
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if want := []string{"a unknown", "a succeeded"}; !slices.Equal(told.all(), want) || told.at()[1] > time.Millisecond {
			t.Errorf("reported %q, want %q; %v after Confirm", told.all(), want, told.at())
		}
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if len(told.all()) != 2 {
			t.Errorf("reported again: %q", told.all())
		}
	})
}

// TestConfirmedWhileReporting: what is confirmed while report is called is reported afterwards.
func TestConfirmedWhileReporting(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for _, id := range []string{"a", "b"} {
			s.loseNext(sandbox.CommitNever)
			_, _ = s.pay(id, approved)
		}
		confirmed := map[string]bool{}
		told := running(t, s.Journal, time.Hour, func(_ context.Context, e *journal.Entry) error {
			for _, id := range []string{"a", "b"} {
				if !confirmed[id] {
					confirmed[id] = true
					confirm(t, s.Journal, id)
					break
				}
			}
			time.Sleep(time.Second)
			return nil
		})
		time.Sleep(30 * time.Second)
		synctest.Wait()
		got := slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(told.all()), func(s string) bool { return s[2:] == "unknown" })))
		if want := []string{"a succeeded", "b succeeded"}; !slices.Equal(got, want) || told.at()[len(told.at())-1] > 5*time.Second {
			t.Errorf("reported %q at %v, want %q once each", told.all(), told.at(), want)
		}
	})
}

// TestRunAsksSoon: a call that ended with an unknown outcome is queried after half a second, and then less and less often.
func TestRunAsksSoon(t *testing.T) {
	for _, tt := range []struct {
		name  string
		every time.Duration
		paid  bool
		want  []time.Duration // queries after the call has ended
	}{
		{"found", time.Minute, true, []time.Duration{500 * time.Millisecond}},
		{"not found", 10 * time.Second, false, []time.Duration{
			500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 7500 * time.Millisecond, 10 * time.Second,
			15500 * time.Millisecond, 20 * time.Second,
		}},
		{"a short interval", time.Second, false, []time.Duration{
			500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 6 * time.Second,
			7 * time.Second, 8 * time.Second, 10 * time.Second, 12 * time.Second, 14 * time.Second, 16 * time.Second, 19 * time.Second,
		}},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			var at []time.Time
			usual := s.network
			s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
				at = append(at, time.Now())
				return usual.RoundTrip(r)
			})
			told := running(t, s.Journal, tt.every, nil)
			commit := sandbox.CommitNever
			if tt.paid {
				commit = sandbox.CommitNow
			}
			s.loseNext(commit)
			_, _ = s.pay("a", approved)
			begun := time.Now()
			time.Sleep(20*time.Second + 100*time.Millisecond)
			synctest.Wait()
			var queries []time.Duration
			for _, query := range at[1:] { // after the payment
				queries = append(queries, query.Sub(begun).Round(time.Millisecond))
			}
			queries = slices.Compact(queries) // a query that finds nothing is two searches
			if !slices.Equal(queries, tt.want) {
				t.Errorf("queried after %v, want %v", queries, tt.want)
			}
			want := "a unknown"
			if tt.paid {
				want = "a succeeded"
			}
			if !slices.Equal(told.all(), []string{want}) {
				t.Errorf("reported %q, want %q once", told.all(), want)
			}
		})
	}
}

// TestAcknowledgedIsNotQueried: a query that is planned for a payment is not made once the payment is acknowledged.
func TestAcknowledgedIsNotQueried(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.loseNext(sandbox.CommitNow)
		_, _ = s.pay("a", pending)
		succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeProcessing, "1")))
		succeeds(t, s.Ack(t.Context(), journal.PaymentID("a"), journal.Pending))
		var queries atomic.Int32
		s.network = roundTripper(func(*http.Request) (*http.Response, error) {
			queries.Add(1)
			return nil, errors.New("the gateway is away")
		})
		running(t, s.Journal, 5*time.Second, nil)
		time.Sleep(time.Minute)
		if n := queries.Load(); n != 0 {
			t.Errorf("the gateway was queried %d times", n)
		}
	})
}
