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
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
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
		})
	}
}

// TestRunInAnOutage: what is known already is reported a second after the start, although the gateway answers no query, and again at
// the interval if it could not be stored.
func TestRunInAnOutage(t *testing.T) {
	for _, failures := range []int{0, 1} {
		t.Run(fmt.Sprintf("%d failures", failures), func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
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
		})
	}
}

// TestQueriesAfterASlowCall: however long a call took that ended unknown, the gateway is queried soon after it, and then less and less
// often; also by another process, which has met the payment in flight.
func TestQueriesAfterASlowCall(t *testing.T) {
	for _, takes := range []time.Duration{time.Second, 25 * time.Second} {
		for _, standby := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, in a process that stands by: %t", takes, standby), func(t *testing.T) {
				inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
					var mu sync.Mutex
					var asked []time.Time
					s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
						if r.Method == http.MethodGet {
							mu.Lock()
							asked = append(asked, time.Now())
							mu.Unlock()
						}
						return s.gateway.RoundTripper().RoundTrip(r)
					})
					running(t, s.Journal, time.Minute, nil)
					caller := s.Journal
					if standby {
						time.Sleep(3 * time.Second)
						caller = s.restarted(journal.Options{})
						running(t, caller, time.Minute, nil)
						time.Sleep(47 * time.Second) // the next Recover of the one that works comes 10 s after the call begins
					}
					s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, After: takes, Reply: sandbox.ReplyReset})
					_, _ = caller.CreateSubscription(context.Background(), order("a", approved))
					ended := time.Now()
					time.Sleep(20 * time.Second)
					synctest.Wait()
					var queries []time.Duration
					for _, at := range asked {
						if at.After(ended) {
							queries = append(queries, at.Sub(ended))
						}
					}
					limits := []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, 9 * time.Second}
					if len(queries) < len(limits) {
						t.Fatalf("queries at %v", queries)
					}
					for i, limit := range limits {
						if queries[i] > limit {
							t.Errorf("queries at %v, want the first ones within %v", queries, limits)
						}
					}
				})
			})
		}
	}
}

// TestQueriesAreNotPlannedAgain: the queries of a process that stands by for one of its payments, which have become rare, stay so, however
// many others it makes.
func TestQueriesAreNotPlannedAgain(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		queries := 0
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("transactionId") == "a" {
				queries++
			}
			return s.gateway.RoundTripper().RoundTrip(r)
		})
		running(t, s.Journal, time.Hour, nil)
		time.Sleep(3 * time.Second)
		other := s.restarted(journal.Options{})
		running(t, other, time.Hour, nil)
		s.loseNext(sandbox.CommitNever)
		_, _ = other.CreateSubscription(t.Context(), order("a", approved))
		for i := range 60 {
			time.Sleep(10 * time.Second)
			s.loseNext(sandbox.CommitNow)
			_, _ = other.CreateSubscription(t.Context(), order(fmt.Sprint(i), approved))
		}
		synctest.Wait()
		if queries < 18 || queries > 22 { // at 0.5, 1.5, 3.5 s and so on until ten minutes are over, of two months each
			t.Errorf("%d requests in ten minutes, want twenty", queries)
		}
	})
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
		told := running(t, s.Journal, time.Minute, nil)
		s.loseNext(sandbox.CommitNever)
		_, _ = s.pay("a", approved)
		sent := time.Now()
		time.Sleep(30 * time.Hour)
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
		t.Run(every.String(), func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
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
		})
	}
}
