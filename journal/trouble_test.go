package journal_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// locked is a store in which the row of one entry is locked: what writes it, or reads it alone, waits and then fails.
type locked struct {
	*journal.MemoryStore
	id    string
	reads bool // reading it waits, too

	mu    sync.Mutex
	tries []time.Time
}

// take returns when the row was tried since the last time.
func (l *locked) take() []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	tries := l.tries
	l.tries = nil
	return tries
}

func (l *locked) wait(ctx context.Context) error {
	l.mu.Lock()
	l.tries = append(l.tries, time.Now())
	l.mu.Unlock()
	<-ctx.Done()
	return errors.New("lock wait timeout exceeded")
}

func (l *locked) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	if l.reads && key.ID.Text == l.id {
		return journal.Entry{}, l.wait(ctx)
	}
	return l.MemoryStore.Get(ctx, key)
}

func (l *locked) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	if key.ID.Text == l.id {
		return l.wait(ctx)
	}
	return l.MemoryStore.Record(ctx, key, version, ev)
}

func (l *locked) Ack(ctx context.Context, key journal.Key, version int) error {
	if key.ID.Text == l.id {
		return l.wait(ctx)
	}
	return l.MemoryStore.Ack(ctx, key, version)
}

// TestLockedRow: an entry that cannot be written, the oldest one, holds up no other. It is counted, named, and tried again with growing pauses.
func TestLockedRow(t *testing.T) {
	for _, tt := range []struct {
		name       string
		reads, has bool // the oldest has an outcome
	}{{name: "unknown"}, {name: "unknown, also for reading", reads: true}, {name: "paid", has: true}, {"paid, also for reading", true, true}} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			for i := range 21 {
				if !tt.has || i > 0 {
					s.loseNext(sandbox.CommitNow)
				}
				_, _ = s.pay(fmt.Sprintf("%03d", i), approved)
				time.Sleep(time.Second)
			}
			var log clienttest.Buffer
			var observed atomic.Pointer[journal.RecoverInfo]
			store := &locked{MemoryStore: s.store.(*journal.MemoryStore), id: "000", reads: tt.reads}
			opts := journal.Options{
				Logger:  slog.New(slog.NewTextHandler(&log, nil)),
				Observe: func(_ context.Context, info journal.RecoverInfo) { observed.Store(&info) },
			}
			if !tt.has {
				yielded, last := 0, error(nil)
				j := journal.New(s.client, store, opts)
				for e, err := range j.Recover(t.Context()) {
					if last != nil || err == nil && (e.ID().Text == "000" || e.State() != journal.Succeeded) {
						t.Errorf("%s %v is yielded after %v", e.ID().Text, e.State(), last)
					}
					if last = err; err == nil {
						yielded++
					}
				}
				info := observed.Load()
				if yielded != 20 || !strings.Contains(fmt.Sprint(last), "000") || info.Open != 1 || info.Failing != 1 || !info.Complete {
					t.Errorf("%d are yielded, and then %v; observed %+v", yielded, last, *info)
				}
				store.take()
				for range j.Recover(t.Context()) {
				}
				if n := len(store.take()); n != 0 && !tt.reads {
					t.Errorf("it was tried %d times again at once, want a pause", n)
				}
			}
			told := running(t, journal.New(s.client, store, opts), 0, nil)
			time.Sleep(time.Minute)
			synctest.Wait()
			for i := range 20 {
				told.wantWithin(t, fmt.Sprintf("%03d succeeded", i+1), told.begun, 30*time.Second)
			}
			info := observed.Load()
			if info.Failing != 1 || !info.Complete || !strings.Contains(log.String(), "transactionId=000") {
				t.Errorf("observed %+v, logged %s", *info, log.String())
			}
			time.Sleep(2 * time.Hour)
			store.take()
			time.Sleep(time.Hour)
			synctest.Wait()
			if n := len(store.take()); n > 2*12+1 || n < 6 {
				t.Errorf("it was tried %d times in an hour, want every five minutes", n)
			}
		})
	}
}

// TestTroubleOfOneReport: whatever the merchant's function does for some entries, the others are reported soon, and these again later, unless
// their report still runs.
func TestTroubleOfOneReport(t *testing.T) {
	hang := make(chan struct{})
	for _, tt := range []struct {
		name   string
		bad    int
		report func() error
		hangs  bool
	}{
		{"an error", 20, func() error { return errDisk }, false},
		{"an error of another entry", 20, func() error { return fmt.Errorf("the first attempt: %w", journal.ErrNoEntry) }, false},
		{"an error of its own call", 20, func() error { return fmt.Errorf("another journal: %w", journal.ErrChanged) }, false},
		{"a panic", 20, func() error { panic("a fault of the shop") }, false},
		{"a panic without a value", 20, func() error { panic(nil) }, false},
		{"the end of its goroutine", 20, func() error { runtime.Goexit(); return nil }, false},
		{"it does not return", 8, func() error { <-hang; return nil }, true},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			hang = make(chan struct{})
			for i := range tt.bad + 20 {
				_, _ = s.pay(fmt.Sprintf("%03d", i), approved)
				time.Sleep(time.Second)
			}
			bad := func(id string) bool { return id < fmt.Sprintf("%03d", tt.bad) }
			var log clienttest.Buffer
			var observed atomic.Pointer[journal.RecoverInfo]
			var broken atomic.Bool
			broken.Store(true)
			told := running(t, s.restarted(journal.Options{
				Logger:  slog.New(slog.NewTextHandler(&log, nil)),
				Observe: func(_ context.Context, info journal.RecoverInfo) { observed.Store(&info) },
			}), 0, func(_ context.Context, e *journal.Entry) error {
				if broken.Load() && bad(e.ID().Text) {
					return tt.report()
				}
				return nil
			})
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			times := map[string]int{}
			for _, one := range told.all() {
				times[one[:3]]++
			}
			for i := range tt.bad + 20 {
				id, least, most := fmt.Sprintf("%03d", i), 1, 1
				if bad(id) && !tt.hangs {
					least, most = 7, 9 // after 0, 5, 10, 20, 40, 80 seconds and so on
				}
				if n := times[id]; n < least || n > most {
					t.Errorf("%s was reported %d times, want %d to %d", id, n, least, most)
				}
				if !bad(id) {
					told.wantWithin(t, id+" succeeded", told.begun, time.Minute)
				}
			}
			info := observed.Load()
			if info.Failing != tt.bad || info.Settled != tt.bad || !strings.Contains(log.String(), "transactionId=000") {
				t.Errorf("observed %+v, logged %s", *info, log.String())
			}
			broken.Store(false)
			close(hang)
			time.Sleep(6 * time.Minute)
			synctest.Wait()
			if info = observed.Load(); info.Failing != 0 || info.Settled != 0 {
				t.Errorf("once it works: observed %+v", *info)
			}
			if n := len(told.all()); tt.hangs && n != tt.bad+20 {
				t.Errorf("%d reports, want one for each", n)
			}
		})
	}
}

// TestMostSlowReports: of many reports that do not return, nine run at a time; the lists and the queries go on.
func TestMostSlowReports(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for i := range 30 {
			_, _ = s.pay(fmt.Sprintf("%03d", i), approved)
		}
		var info journal.RecoverInfo
		hang := make(chan struct{})
		told := running(t, s.restarted(journal.Options{Observe: func(_ context.Context, i journal.RecoverInfo) { info = i }}), 0,
			func(context.Context, *journal.Entry) error { <-hang; return nil })
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(told.all()); n != 9 || info.Settled != 30 || info.Failing != 9 {
			t.Errorf("%d run, observed %+v", n, info)
		}
		close(hang)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := len(told.all()); n != 30 {
			t.Errorf("%d were reported, want 30", n)
		}
	})
}

// TestTroubleOfObserve: Options.Observe keeps back no report, if it panics, ends its goroutine or does not return.
func TestTroubleOfObserve(t *testing.T) {
	for name, observe := range map[string]func(hang chan struct{}){
		"panics": func(chan struct{}) { panic("a fault") }, "exits": func(chan struct{}) { runtime.Goexit() }, "hangs": func(hang chan struct{}) { <-hang },
	} {
		runInBubble(t, name, sandbox.Options{}, func(t *testing.T, s *shop) {
			hang := make(chan struct{})
			defer close(hang)
			told := running(t, s.restarted(journal.Options{Observe: func(context.Context, journal.RecoverInfo) { observe(hang) }}), 0, nil)
			_, _ = s.restarted(journal.Options{}).CreateSubscription(t.Context(), order("a", approved)) // in another process
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := len(told.all()); n != 1 {
				t.Errorf("%d were reported, want 1", n)
			}
		})
	}
}

type panicHandler struct{ slog.Handler }

func (panicHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (panicHandler) Handle(context.Context, slog.Record) error { panic("a fault") }

// TestTroubleOfLogger: a logger that panics at what it is told of one entry keeps back no other.
func TestTroubleOfLogger(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		j := s.restarted(journal.Options{Logger: slog.New(panicHandler{})})
		s.loseNext(sandbox.CommitNever)
		if _, err := j.CreateSubscription(t.Context(), order("unknown", approved)); !errors.Is(err, cardgateway.ErrOutcomeUnknown) { // nobody runs
			t.Error(err)
		}
		_, _ = s.pay("a", approved)
		_, _ = s.pay("b", approved)
		told := running(t, j, 0, func(_ context.Context, e *journal.Entry) error {
			if e.ID().Text == "a" {
				return errDisk
			}
			return nil
		})
		told.wantWithin(t, "b succeeded", told.begun, time.Minute)
	})
}

// TestCountsOfAFailedLook: what could not be looked at counts as when it was last seen.
func TestCountsOfAFailedLook(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.loseNext(sandbox.CommitNever)
		_, _ = s.pay("a", approved)
		_, _ = s.pay("b", pending)
		var info journal.RecoverInfo
		store := &faulty{Store: s.store, fail: map[string]bool{}}
		j := journal.New(s.client, store, journal.Options{Observe: func(_ context.Context, i journal.RecoverInfo) { info = i }})
		recovered(t, j)
		whole := info
		store.fail["Unacked"] = true
		for range j.Recover(t.Context()) {
		}
		if info.Complete || info.Open != 1 || info.Pending != 1 || info.Reported != 2 || !info.OldestOpen.Equal(whole.OldestOpen) {
			t.Errorf("observed %+v, after %+v", info, whole)
		}
	})
}
