package journal_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// A Run goes on while a gateway, or the merchant's database, is slow or does not answer.

// hangs answers no query for payments whose transactionId has this prefix.
func (s *shop) hangs(prefix string) {
	s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Query().Get("transactionId"), prefix) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return s.gateway.RoundTripper().RoundTrip(r)
	})
}

// open makes payments whose outcome is not known.
func (s *shop) open(n int) {
	for i := range n {
		s.loseNext(sandbox.CommitNow)
		_, _ = s.pay(fmt.Sprintf("open-%04d", i), approved)
	}
}

// wantWithin checks that something was reported, and not later than this after a time.
func (told *reports) wantWithin(t *testing.T, text string, since time.Time, limit time.Duration) {
	t.Helper()
	i := slices.Index(told.all(), text)
	if i < 0 {
		t.Errorf("%q was not reported", text)
	} else if after := told.begun.Add(told.at()[i]).Sub(since); after > limit {
		t.Errorf("%q was reported after %v, want %v at most", text, after, limit)
	}
}

// TestRunWhileQueriesHang: a new payment with a lost response does not wait until the gateway has answered for older ones.
func TestRunWhileQueriesHang(t *testing.T) {
	for _, tt := range []struct {
		name    string
		open    int
		restart bool
		limit   time.Duration
	}{
		{"none", 0, false, time.Second},
		{"one, of an earlier process", 1, true, time.Second},
		{"one", 1, false, 6 * time.Second},
		{"fifty, of an earlier process", 50, true, time.Second},
		{"fifty", 50, false, 22 * time.Second}, // planned queries, too: 16 at a time take 5 s
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.open(tt.open)
			s.hangs("open-")
			if tt.restart {
				s.Journal = s.restarted(journal.Options{})
			}
			told := running(t, s.Journal, time.Minute, nil)
			time.Sleep(time.Second)
			s.loseNext(sandbox.CommitNow)
			_, _ = s.pay("new", approved)
			paid := time.Now()
			time.Sleep(time.Hour)
			synctest.Wait()
			told.wantWithin(t, "new succeeded", paid, tt.limit)
		})
	}
}

// TestRunInAnOutage: what is known already is reported a second after the start, although the gateway answers no query, and again at
// the interval if it could not be stored.
func TestRunInAnOutage(t *testing.T) {
	for _, failures := range []int{0, 1} {
		runInBubble(t, fmt.Sprintf("%d failures", failures), sandbox.Options{}, func(t *testing.T, s *shop) {
			s.open(500)
			time.Sleep(time.Second)
			if _, err := s.pay("paid", approved); err != nil {
				t.Fatal(err)
			}
			s.hangs("")
			begun, stored, limit := time.Now(), time.Time{}, time.Second+time.Duration(failures)*time.Minute
			running(t, s.restarted(journal.Options{}), time.Minute, func(_ context.Context, e *journal.Entry) error {
				switch {
				case e.ID().Text != "paid":
				case failures > 0:
					failures--
					return errors.New("the shop's database was busy")
				case stored.IsZero():
					stored = time.Now()
				}
				return nil
			})
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if after := stored.Sub(begun); stored.IsZero() || after > limit {
				t.Errorf("stored after %v, want %v at most", after, limit)
			}
		})
	}
}

// TestAbsentInTime: a payment that the gateway has never received is presumed absent when AbsentAfter is over, at the next Recover.
func TestAbsentInTime(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		var oldest time.Duration
		s.Journal = s.restarted(journal.Options{Observe: func(_ context.Context, i journal.RecoverInfo) {
			if !i.OldestOpen.IsZero() {
				oldest = max(oldest, time.Since(i.OldestOpen))
			}
		}})
		s.loseNext(sandbox.CommitNever)
		_, _ = s.pay("a", approved)
		sent := time.Now()
		time.Sleep(21 * time.Hour)
		told := running(t, s.Journal, time.Minute, nil)
		time.Sleep(7 * time.Hour)
		synctest.Wait()
		told.wantWithin(t, "a presumed absent", sent, 24*time.Hour+time.Minute)
		if oldest > 24*time.Hour {
			t.Errorf("it was open for %v, want 24 hours at most", oldest)
		}
	})
}

// TestRunReturnsAtOnce: when its context ends, in the process that works and in one that stands by.
func TestRunReturnsAtOnce(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for _, name := range []string{"works", "stands by"} {
			if name == "stands by" {
				running(t, s.Journal, time.Minute, nil)
				time.Sleep(10 * time.Second) // it has the lease
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			j := s.restarted(journal.Options{})
			go func() {
				ended <- j.Run(ctx, time.Minute, func(context.Context, journal.Entry) error { return nil })
			}()
			time.Sleep(10 * time.Second)
			cancel()
			stopped := time.Now()
			if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(stopped) > 0 {
				t.Errorf("the one that %s: %v after %v", name, err, time.Since(stopped))
			}
		}
	})
}

// TestQueriesUnderWay holds that one payment is queried once at a time, and that no more queries are under way than Options.Parallel
// allows: for calls of this process, and as many for what was listed.
func TestQueriesUnderWay(t *testing.T) {
	for _, every := range []time.Duration{300 * time.Millisecond, time.Second, 5 * time.Second, 7 * time.Second} {
		runInBubble(t, every.String(), sandbox.Options{}, func(t *testing.T, s *shop) {
			const parallel = 2
			s.Journal = s.restarted(journal.Options{Parallel: parallel})
			var (
				mu       sync.Mutex
				underWay = make(map[string]int)
				all      int
			)
			s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodGet {
					return s.gateway.RoundTripper().RoundTrip(r)
				}
				id := r.URL.Query().Get("transactionId")
				count := func(n int) {
					mu.Lock()
					defer mu.Unlock()
					underWay[id] += n
					if all += n; underWay[id] > 1 || all > 2*parallel {
						t.Errorf("%d queries for %s, %d in all", underWay[id], id, all)
					}
				}
				count(1)
				defer count(-1)
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
			running(t, s.Journal, every, nil)
			for i := range 10 {
				s.open(1 + i)
				time.Sleep(time.Minute)
			}
		})
	}
}
