package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestRun: outcomes are reported until tell has stored them, open payments once and when more is known, and no failure
// ends Run.
func TestRun(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		_, _ = s.pay("paid", approved)
		_, _ = s.pay("later", pending)
		s.gateway.Inject(lost)
		_, _ = s.pay("lost", approved)
		ctx, cancel := context.WithCancel(t.Context())
		j := s.restarted(journal.Options{})
		var told []string
		failed := false
		done := make(chan error)
		go func() {
			done <- j.Run(ctx, time.Minute, func(_ context.Context, e journal.Entry) error {
				told = append(told, e.ID().Text+" "+e.State().String())
				if e.ID().Text == "paid" && !failed {
					failed = true
					return errDisk
				}
				return nil
			})
		}()
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		slices.Sort(told)
		if want := []string{"later pending", "lost unknown", "paid succeeded", "paid succeeded"}; !slices.Equal(told, want) {
			t.Errorf("reported %q, want %q", told, want)
		}
		told = nil
		s.gateway.Settle("later", true)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if want := []string{"later succeeded"}; !slices.Equal(told, want) {
			t.Errorf("reported %q, want %q", told, want)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
		again, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = j.Run(again, time.Minute, func(_ context.Context, e journal.Entry) error {
			told = append(told, e.ID().Text+" "+e.State().String())
			return nil
		})
		if want := []string{"later succeeded", "lost unknown"}; !slices.Equal(told, want) {
			t.Errorf("once more, reported %q, want %q", told, want)
		}
		if err := j.Run(t.Context(), time.Minute, nil); err == nil {
			t.Error("without a function: no error")
		}
		all := states(t, s.restarted(journal.Options{}))
		if want := map[string]string{"lost": "unknown"}; fmt.Sprint(all) != fmt.Sprint(want) {
			t.Errorf("not acknowledged are %v, want %v", all, want)
		}
	})
}

// TestOtherNames: Run warns of what the store has of the same app under another name of the shop, with numbers, and only then.
func TestOtherNames(t *testing.T) {
	for _, tt := range []struct {
		name    string
		baseURL string
		app     cardgateway.AppID
		acked   bool
		want    string
	}{
		{"the base URL has changed", "https://moved.test", "7", false, `name=https://moved.test otherName=https://gateway.test notAcknowledged=3 open=1 pending=1`},
		{"nothing is left", "https://moved.test", "7", true, ""},
		{"another app", "https://moved.test", "8", false, ""},
		{"the same shop", "https://gateway.test:443", "7", false, ""},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			if !tt.acked {
				_, _ = s.pay("paid", approved)
				_, _ = s.pay("waits", pending)
				s.gateway.Inject(lost)
			}
			_, _ = s.pay("a", approved)
			if tt.acked {
				ackAndForget(t, s, "a")
			}
			var log clienttest.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_ = s.otherShop(tt.baseURL, tt.app, journal.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).
				Run(ctx, 0, func(context.Context, journal.Entry) error { return nil })
			got := log.String()
			if strings.Count(got, "level=") != min(1, len(tt.want)) || !strings.Contains(got, tt.want) {
				t.Errorf("logged %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRunLogs: an error of tell is logged. An outcome that tell has stored, or that was acknowledged or forgotten
// meanwhile, is not.
func TestRunLogs(t *testing.T) {
	for _, tt := range []struct {
		name string
		tell func(*testing.T, *shop) error
		logs bool
	}{
		{"taken", func(*testing.T, *shop) error { return nil }, false},
		{"not taken", func(*testing.T, *shop) error { return errDisk }, true},
		{"acknowledged meanwhile", func(t *testing.T, s *shop) error {
			return s.store.Ack(t.Context(), key("a"), 1)
		}, false},
		{"acknowledged and forgotten meanwhile", func(t *testing.T, s *shop) error {
			ackAndForget(t, s, "a")
			return nil
		}, false},
		{"more is known meanwhile", func(t *testing.T, s *shop) error {
			return s.store.Record(t.Context(), key("a"), 1, journal.Evidence{Source: journal.SourceQuery, Seen: true})
		}, false},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			_, _ = s.pay("a", approved)
			time.Sleep(50 * time.Hour)
			var log bytes.Buffer
			s.Journal = s.restarted(journal.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			told := 0
			_ = s.Run(ctx, time.Minute, func(context.Context, journal.Entry) error {
				told++
				return tt.tell(t, s)
			})
			if told != 1 || strings.Contains(log.String(), "reporting") != tt.logs {
				t.Errorf("reported %d times, logged %q", told, &log)
			}
		})
	}
}

// TestRunGoesOn: a store that fails for a while does not end Run, and is not called without pauses.
func TestRunGoesOn(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		_, _ = s.pay("a", approved)
		f := &faulty{Store: s.store, fail: map[string]bool{"Unacked": true}}
		var log bytes.Buffer
		j := journal.New(s.client, f, journal.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Second)
		defer cancel()
		told := 0
		go func() {
			time.Sleep(4*time.Minute + time.Second)
			f.mend()
		}()
		err := j.Run(ctx, time.Minute, func(context.Context, journal.Entry) error {
			told++
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) || told != 1 || f.calls.Load() > 10 {
			t.Errorf("ended with %v, reported %d times, the store was called %d times", err, told, f.calls.Load())
		}
		if !strings.Contains(log.String(), errDisk.Error()) {
			t.Errorf("the failure was not logged: %s", &log)
		}
	})
}

// TestRecoverTellsWhy: the outcome wraps the error of the last query, also in a Recover that makes no query, and it is
// counted.
func TestRecoverTellsWhy(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(lost)
		_, _ = s.pay("a", approved)
		_, _ = s.pay("b", approved)
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Status: 401, Reply: sandbox.ReplyHTML, Times: -1})
		var infos []journal.RecoverInfo
		var log bytes.Buffer
		j := s.restarted(journal.Options{
			Logger:  slog.New(slog.NewTextHandler(&log, nil)),
			Observe: func(_ context.Context, i journal.RecoverInfo) { infos = append(infos, i) },
		})
		time.Sleep(time.Hour)
		for range 2 {
			for _, e := range recovered(t, j) {
				_, err := outcomeOf(e)
				if why := strings.Contains(fmt.Sprint(err), "HTTP 401"); why != (e.ID().Text == "a") {
					t.Errorf("%s: %v", e.ID().Text, err)
				}
				if e.ID().Text == "a" && !errors.Is(err, journal.ErrOpen) {
					t.Errorf("the outcome's cause is lost: %v", err)
				}
			}
		}
		if len(infos) != 2 {
			t.Fatalf("observed %d times, want 2", len(infos))
		}
		for _, i := range infos {
			if i.Open != 1 || i.Settled != 1 || i.Reported != 2 || i.Unanswered != 1 || i.LastError == nil || !i.Complete ||
				time.Since(i.OldestOpen).Round(time.Minute) != time.Hour {
				t.Errorf("observed %+v", i)
			}
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 2 {
			t.Errorf("%d warnings, want 2: %s", n, &log)
		}
		s.gateway.ClearFaults()
		time.Sleep(time.Hour)
		if _, err := outcomeOf(recovered(t, j)[0]); strings.Contains(err.Error(), "401") {
			t.Errorf("the outcome still wraps an error that no longer applies: %v", err)
		}
	})
}

// TestRecoverInParallel: as many payments as Options.Parallel says are queried concurrently, and they are yielded in
// order.
func TestRecoverInParallel(t *testing.T) {
	for _, parallel := range []int{1, 5, 0, math.MaxInt} {
		runInBubble(t, fmt.Sprint(parallel), sandbox.Options{}, func(t *testing.T, s *shop) {
			const n = 100
			for i := range n {
				s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
				_, _ = s.pay(fmt.Sprintf("%03d", i), approved)
				time.Sleep(time.Second)
			}
			s.gateway.SetSearch(sandbox.Search{Latency: time.Second})
			begun := time.Now()
			all := recovered(t, s.restarted(journal.Options{Parallel: parallel}))
			took := time.Since(begun)
			want := max(parallel, 0)
			if parallel == 0 {
				want = 16
			}
			if seconds := (n-1)/want + 1; took != time.Duration(seconds)*time.Second {
				t.Errorf("took %v, want %d s", took, seconds)
			}
			for i, e := range all {
				if e.ID().Text != fmt.Sprintf("%03d", i) || e.State() != journal.Succeeded {
					t.Fatalf("payment %d is %s, %v", i, e.ID().Text, e.State())
				}
			}
			if len(all) != n {
				t.Errorf("%d are reported, want %d", len(all), n)
			}
		})
	}
}

// unreadable is a store in which some entries cannot be read.
type unreadable struct {
	journal.Store
	bad map[string]bool
}

func (u unreadable) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	if u.bad[key.ID.Text] {
		return journal.Entry{}, &journal.EntryError{Key: key, Cause: errDisk}
	}
	return u.Store.Get(ctx, key)
}

func (u unreadable) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	if u.bad[in.ID.Text] {
		return journal.Entry{}, false, &journal.EntryError{Key: in.Key(), Cause: errDisk}
	}
	return u.Store.Begin(ctx, in)
}

func (u unreadable) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range u.Store.Unacked(ctx, shop) {
			if u.bad[e.ID().Text] {
				e, err = journal.Entry{}, &journal.EntryError{Key: e.Key(), Cause: errDisk}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// TestOneBadEntry: an entry that cannot be read affects only itself. It is yielded after all others, and its payment is
// neither sent nor reported as not sent.
func TestOneBadEntry(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for _, id := range []string{"a", "b", "c"} {
			_, _ = s.pay(id, approved)
			time.Sleep(time.Second)
		}
		j := journal.New(s.client, unreadable{s.store, map[string]bool{"b": true}}, journal.Options{})
		var told []string
		for e, err := range j.Recover(t.Context()) {
			if bad, ok := errors.AsType[*journal.EntryError](err); ok {
				told = append(told, "bad "+bad.Key.ID.Text)
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			told = append(told, e.ID().Text)
		}
		if want := []string{"a", "c", "bad b"}; !slices.Equal(told, want) {
			t.Errorf("reported %q, want %q", told, want)
		}
		_, err := j.CreateSubscription(t.Context(), order("b", approved))
		unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
		if !ok || !errors.Is(err, errDisk) || s.sent.Load() != 3 || !unknown.SentAgain || !unknown.Seen { // nothing is known of it
			t.Errorf("paying it again: %+v (%v), %d requests", unknown, err, s.sent.Load())
		}
	})
}

// TestAckIsOneLookUp: an acknowledgement reads one entry and not the list.
func TestAckIsOneLookUp(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		_, _ = s.pay("a", approved)
		f := &faulty{Store: s.store, fail: map[string]bool{"Unacked": true}}
		j := journal.New(s.client, f, journal.Options{})
		if err := j.Ack(t.Context(), journal.PaymentID("a"), journal.Succeeded); err != nil || f.calls.Load() != 2 {
			t.Errorf("got %v after %d calls of the store", err, f.calls.Load())
		}
	})
}

// TestRecoverStops: leaving the loop, or the end of its context, ends every query.
func TestRecoverStops(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for i := range 40 {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
			_, _ = s.pay(fmt.Sprintf("%03d", i), approved)
		}
		var asked atomic.Int32
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		given := 0
		for _, err := range s.Recover(ctx) {
			if given++; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
		if given != 1 {
			t.Errorf("%d are given, want the end of the context", given)
		}
		if took := time.Since(begun); took != time.Second || asked.Load() != 16 {
			t.Errorf("took %v, %d queries", took, asked.Load())
		}
		s.Journal = s.restarted(journal.Options{Parallel: 2})
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("transactionId") != "000" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return s.gateway.RoundTripper().RoundTrip(r)
		})
		begun = time.Now()
		for range s.Recover(t.Context()) {
			break
		}
		if took := time.Since(begun); took >= time.Second {
			t.Errorf("leaving the loop took %v", took)
		}
	}) // the bubble ends only when all goroutines have
}

// TestAskedEverMoreRarely: a payment is queried again when an eighth of its age has passed since the last query, but by Resolve at once.
func TestAskedEverMoreRarely(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(lost)
		_, _ = s.pay("a", approved)
		asked := 0
		usual := s.network
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			asked++
			return usual.RoundTrip(r)
		})
		for _, step := range []struct {
			after time.Duration
			asks  bool
		}{{8 * time.Hour, true}, {0, false}, {68 * time.Minute, false}, {2 * time.Minute, true}, {70 * time.Minute, false}, {10 * time.Minute, true}} {
			time.Sleep(step.after)
			asked = 0
			recovered(t, s.Journal)
			if (asked > 0) != step.asks {
				t.Errorf("%v later it was queried %d times, want some: %t", step.after, asked, step.asks)
			}
		}
		asked = 0
		if _, err := s.Resolve(t.Context(), journal.PaymentID("a")); err != nil || asked == 0 {
			t.Errorf("Resolve queries whenever it is called: %d times, %v", asked, err)
		}
	})
}

// TestQuietLog: a Recover without a problem logs no warning, and one that finds a conflict does.
func TestQuietLog(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		_, _ = s.pay("a", approved)
		var log bytes.Buffer
		j := s.restarted(journal.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		recovered(t, j)
		if n := strings.Count(log.String(), "level=DEBUG"); n != 1 || strings.Contains(log.String(), "level=WARN") {
			t.Errorf("logged %s", &log)
		}
		succeeds(t, j.Ack(t.Context(), journal.PaymentID("a"), journal.Succeeded))
		log.Reset()
		if recovered(t, j); log.Len() > 0 {
			t.Errorf("with nothing to report it logged %s", &log)
		}
		succeeds(t, j.Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "another")))
		if recovered(t, j); !strings.Contains(log.String(), "level=WARN") {
			t.Errorf("there is no warning about a conflict: %s", &log)
		}
	})
}

// TestLogOfALeftLoop: a Recover that did not come to its end logs a warning.
func TestLogOfALeftLoop(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		_, _ = s.pay("a", approved)
		var log bytes.Buffer
		for range s.restarted(journal.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Recover(t.Context()) {
			break
		}
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "complete=false") {
			t.Errorf("logged %q", &log)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestQueryPanics: a hook of the client that panics, or ends its goroutine, in the query for one entry is trouble of that entry: Run and
// Recover say so, report the others, and query for it again.
func TestQueryPanics(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		hook       func()
	}{
		{"a panic", "a fault of the hook", func() { panic("a fault of the hook") }},
		{"the end of its goroutine", "has ended its goroutine", runtime.Goexit},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			for _, id := range []string{"a", "b"} {
				s.loseNext(sandbox.CommitNow)
				_, _ = s.pay(id, approved)
			}
			time.Sleep(time.Minute)
			times := 2
			s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("transactionId") == "a" && times > 0 {
					times--
					tt.hook()
				}
				return s.gateway.RoundTripper().RoundTrip(r)
			})
			var yielded []string
			for e, err := range s.restarted(journal.Options{}).Recover(t.Context()) {
				yielded = append(yielded, fmt.Sprint(e.ID(), e.State(), err))
			}
			if len(yielded) != 2 || yielded[0] != "b succeeded <nil>" || !strings.Contains(yielded[1], tt.says) {
				t.Errorf("Recover yields %q", yielded)
			}
			var log bytes.Buffer
			told := running(t, s.restarted(journal.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}), 0,
				func(context.Context, *journal.Entry) error { return nil })
			time.Sleep(time.Minute)
			synctest.Wait()
			if all := told.all(); !slices.Contains(all, "a succeeded") || !slices.Contains(all, "b succeeded") {
				t.Errorf("Run reported %q", all)
			}
			if !strings.Contains(log.String(), tt.says) || !strings.Contains(log.String(), "transactionId=a") {
				t.Errorf("logged\n%s", &log)
			}
		})
	}
}

// TestResolveOne: Resolve queries at once for one entry, and for nothing that is final or acknowledged.
func TestResolveOne(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, s *shop)
		state   journal.State
		queries bool
		err     error
		failed  bool // the query
	}{
		{"unknown, and paid", func(_ *testing.T, s *shop) {
			s.loseNext(sandbox.CommitNow)
			_, _ = s.pay("a", approved)
		}, journal.Succeeded, true, nil, false},
		{"unknown, and not found", func(_ *testing.T, s *shop) {
			s.loseNext(sandbox.CommitNever)
			_, _ = s.pay("a", approved)
		}, journal.Unknown, true, nil, false},
		{"the gateway fails", func(_ *testing.T, s *shop) {
			s.loseNext(sandbox.CommitNow)
			_, _ = s.pay("a", approved)
			silence(s)
		}, journal.Unknown, true, nil, true},
		{"final", func(_ *testing.T, s *shop) { _, _ = s.pay("a", approved) }, journal.Succeeded, false, nil, false},
		{"acknowledged while pending", func(t *testing.T, s *shop) {
			_, _ = s.pay("a", pending)
			succeeds(t, s.Ack(t.Context(), journal.PaymentID("a"), journal.Pending))
		}, journal.Pending, false, nil, false},
		{"no entry", func(*testing.T, *shop) {}, journal.Unknown, false, journal.ErrNoEntry, false},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			tt.prepare(t, s)
			queries, usual := 0, s.network
			s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
				queries++
				return usual.RoundTrip(r)
			})
			for range 2 {
				e, err := s.Resolve(t.Context(), journal.PaymentID("a"))
				if e.State() != tt.state || !errors.Is(err, tt.err) || (e.LastQueryError() != nil) != tt.failed {
					t.Errorf("got %v, %v, the query: %v; want %v, %v", e.State(), err, e.LastQueryError(), tt.state, tt.err)
				}
			}
			if (queries > 0) != tt.queries {
				t.Errorf("%d requests were sent, want some: %t", queries, tt.queries)
			}
		})
	}
}

// TestReportChangesTheEntry: what the merchant's function does to the entry that it is given changes nothing in the store.
func TestReportChangesTheEntry(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(refusal)
		_, _ = s.pay("a", approved)
		_, _ = s.AfterRefusal().CreateSubscription(t.Context(), order("a", approved))
		wreck := func(_ context.Context, e *journal.Entry) error {
			for i := range e.Evidence {
				ev := &e.Evidence[i]
				for _, tx := range []*cardgateway.Transaction{ev.Transaction, e.Transaction()} {
					if tx != nil {
						*tx = cardgateway.Transaction{}
					}
				}
				if ev.Submission != nil {
					*ev.Submission = journal.Intent{}
				}
				*ev = journal.Evidence{}
			}
			return errDisk
		}
		before, _ := json.Marshal(s.stored("a").Evidence)
		running(t, s.Journal, 0, wreck)
		for e := range s.Recover(t.Context()) {
			_ = wreck(t.Context(), &e)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if after, _ := json.Marshal(s.stored("a").Evidence); string(after) != string(before) {
			t.Errorf("the store has\n%s, want\n%s", after, before)
		}
	})
}
