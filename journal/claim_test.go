package journal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestGivenUpWhileElsewhere: a call whose context ends while it waits for another process returns an unknown outcome, and
// records nothing.
func TestGivenUpWhileElsewhere(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 20 * time.Second})
		go func() { _, _ = s.pay("a", approved) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		_, err := s.restarted(journal.Options{}).CreateSubscription(ctx, order("a", approved))
		if !errors.Is(err, journal.ErrOpen) || cardgateway.SafeToRetry(err) || time.Since(begun) != time.Second {
			t.Errorf("got %v after %v, want ErrOpen after its second", err, time.Since(begun))
		}
		if e := s.stored("a"); len(e.Evidence) != 0 {
			t.Errorf("it recorded %v", e.Evidence)
		}
		time.Sleep(20 * time.Second)
		wantExecuted(t, s, "a", 1)
	})
}

// TestEntryThatCannotBeReadWhileElsewhere: a call that waits for another process, and can no longer read the entry, has sent nothing; but the
// other one may have, so it does not say that the payment was not sent.
func TestEntryThatCannotBeReadWhileElsewhere(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 3 * time.Second})
		go func() { _, _ = s.pay("a", approved) }()
		synctest.Wait()
		_, err := journal.New(s.client, gone{s.store}, journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		if !errors.Is(err, journal.ErrOpen) || !errors.Is(err, errDisk) || errors.Is(err, cardgateway.ErrNotSent) {
			t.Errorf("got %v, want ErrOpen because of the store", err)
		}
		time.Sleep(3 * time.Second)
		wantExecuted(t, s, "a", 1)
	})
}

// TestAnotherSubmitsAgain: nor does a call that is about to record something of what was not sent, or refused, when another process submits
// it again.
func TestAnotherSubmitsAgain(t *testing.T) {
	pay := func(j *journal.Journal) error {
		_, err := j.CreateSubscription(context.Background(), order("a", approved))
		return err
	}
	afterRefusal := func(j *journal.Journal) error {
		_, err := j.AfterRefusal().CreateSubscription(context.Background(), order("a", approved))
		return err
	}
	unsent := func(s *shop, _ *faulty, _ *journal.Journal) {
		s.refuse = errReset
		_ = pay(s.Journal)
		s.refuse = nil
	}
	for _, tt := range []struct {
		name   string
		before func(s *shop, f *faulty, here *journal.Journal) // the call
		call   func(*journal.Journal) error
		gone   bool // the entry cannot be read then
	}{
		{"another submission", unsent, pay, true},
		{"another submission, which can be read", unsent, pay, false},
		{"that it was not sent", func(s *shop, f *faulty, here *journal.Journal) {
			f.Store = written{s.store}
			_ = pay(here)
			f.Store = s.store
		}, pay, true},
		{"what the gateway shows of a refusal", func(s *shop, _ *faulty, _ *journal.Journal) {
			untrue := refusal
			untrue.Commit = sandbox.CommitNow
			s.gateway.Inject(untrue)
			_ = pay(s.Journal)
		}, afterRefusal, true},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			f := &faulty{Store: s.store, fail: map[string]bool{}}
			here := journal.New(s.client, f, journal.Options{})
			tt.before(s, f, here)
			f.before = map[string]func(){"Record": func() {
				e := s.stored("a")
				in := e.Begun
				in.Sender = "another process"
				ev := journal.Evidence{At: time.Now(), Source: journal.SourceSubmission, Submission: &in}
				succeeds(t, s.store.Record(t.Context(), key("a"), e.Version(), ev))
				f.mu.Lock()
				defer f.mu.Unlock()
				f.fail["Get"] = tt.gone
			}}
			sent := s.sent.Load()
			err := tt.call(here)
			unknown, _ := errors.AsType[*cardgateway.OutcomeUnknownError](err)
			if unknown == nil || unknown.SentAgain != tt.gone || errors.Is(err, cardgateway.ErrNotSent) || s.sent.Load() != sent {
				t.Errorf("got %#v, and %d requests; want an unknown outcome, and none", err, s.sent.Load()-sent)
			}
		})
	}
}

// written is a store that writes each intent, and cannot say so.
type written struct{ journal.Store }

func (w written) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	_, _, _ = w.Store.Begin(ctx, in)
	return journal.Entry{}, false, errDisk
}

// gone is a store that cannot be read.
type gone struct{ journal.Store }

func (gone) Get(context.Context, journal.Key) (journal.Entry, error) { return journal.Entry{}, errDisk }

// TestGivenUpIntent: if the store has written an intent, but reported only failures until the call gave up, the intent is
// known to be unsent: Recover reports this without a query.
func TestGivenUpIntent(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &failing{Store: s.store, wrote: true}
		store.begins.Store(1000)
		j := journal.New(s.client, store, journal.Options{})
		if _, err := j.CreateSubscription(t.Context(), order("a", approved)); !cardgateway.SafeToRetry(err) {
			t.Fatal(err)
		}
		usual := s.network
		s.network = refusing{t, s.network}
		wantStates(t, j, map[string]string{"a": "not sent"})
		s.network = usual
		if _, err := j.CreateSubscription(t.Context(), order("b", approved)); !cardgateway.SafeToRetry(err) {
			t.Fatal(err)
		}
		store.begins.Store(0)
		begun := time.Now()
		if got, err := j.CreateSubscription(t.Context(), order("b", approved)); err != nil || got.State() != cardgateway.StateApproved || time.Since(begun) != 0 {
			t.Errorf("made again: %v, %v after %v, want it paid at once", got, err, time.Since(begun))
		}
	})
}

// TestGivenUpIntentThatStaysOpen: as long as the store cannot record that such an intent is unsent, the payment is not
// sent, and the call returns an error that says so.
func TestGivenUpIntentThatStaysOpen(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &failing{Store: s.store, wrote: true}
		store.begins.Store(1000)
		store.records.Store(1000)
		j := journal.New(s.client, store, journal.Options{})
		_, _ = j.CreateSubscription(t.Context(), order("a", approved))
		store.begins.Store(0)
		if _, err := j.CreateSubscription(t.Context(), order("a", approved)); !cardgateway.SafeToRetry(err) || !errors.Is(err, errDisk) || s.sent.Load() != 0 {
			t.Errorf("got %v and %d requests, want ErrNotSent because of the disk", err, s.sent.Load())
		}
	})
}

// TestRecordedForNobody: the outcome of a payment is recorded although the caller's context has ended, and although the
// store fails for a while.
func TestRecordedForNobody(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &failing{Store: s.store}
		store.records.Store(3)
		j := journal.New(s.client, store, journal.Options{})
		if got, err := j.CreateSubscription(t.Context(), order("b", approved)); err != nil || got.State() != cardgateway.StateApproved || s.stored("b").State() != journal.Succeeded {
			t.Errorf("got %v, %v, stored %v", got, err, s.stored("b").State())
		}
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 20 * time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := j.CreateSubscription(ctx, order("a", approved)); !errors.Is(err, cardgateway.ErrOutcomeUnknown) || errors.Is(err, journal.ErrOpen) {
			t.Errorf("got %v", err)
		}
		if e := s.stored("a"); len(e.Evidence) != 1 || e.Evidence[0].Source != journal.SourceAnswer {
			t.Errorf("recorded: %v", e.Evidence)
		}
	})
}

// deaf is a store that ignores its context.
type deaf struct{ journal.Store }

func (d deaf) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	return d.Store.Begin(context.WithoutCancel(ctx), in)
}

// TestCancelledCallRecordsNothing: a call whose context has ended records no intent, even if the store ignores the
// context.
func TestCancelledCallRecordsNothing(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := journal.New(s.client, deaf{s.store}, journal.Options{}).CreateSubscription(over, order("a", approved))
		if !cardgateway.SafeToRetry(err) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want ErrNotSent because of the context", err)
		}
		synctest.Wait()
		if _, err := s.store.Get(t.Context(), key("a")); !errors.Is(err, journal.ErrNoEntry) {
			t.Errorf("the store has an entry, or fails: %v", err)
		}
	})
}

// TestWaitingAsksSeldom: a call that waits for another process soon notices the outcome, and does not read the store too
// often.
func TestWaitingAsksSeldom(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 4 * time.Second})
		go func() { _, _ = s.pay("a", approved) }()
		synctest.Wait()
		f := &faulty{Store: s.store}
		begun := time.Now()
		got, err := journal.New(s.client, f, journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		if err != nil || got.State() != cardgateway.StateApproved {
			t.Errorf("got %v, %v", got, err)
		}
		if took := time.Since(begun); took < 4*time.Second || took > 4*time.Second+200*time.Millisecond || f.calls.Load() > 30 {
			t.Errorf("it took %v and read the store %d times", took, f.calls.Load())
		}
	})
}

// overtaken is a store that writes an intent or a submission, then receives evidence from another process, and returns an
// error.
type overtaken struct {
	journal.Store
	evidence journal.Evidence
	done     bool
}

func (w *overtaken) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	e, created, err := w.Store.Begin(ctx, in)
	if err != nil || !created {
		return e, created, err
	}
	return journal.Entry{}, false, w.overtake(ctx, in.Key(), 0)
}

func (w *overtaken) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	err := w.Store.Record(ctx, key, version, ev)
	if err == nil && ev.Source == journal.SourceSubmission {
		return w.overtake(ctx, key, version+1)
	}
	return err
}

func (w *overtaken) overtake(ctx context.Context, key journal.Key, version int) error {
	if w.done {
		return nil
	}
	w.done = true
	return errors.Join(errDisk, w.Store.Record(ctx, key, version, w.evidence))
}

// TestOwnIntentOvertaken: if an intent or a submission was written although the store returned an error, its call may
// send it; but not if another process has recorded more about the payment since, because an earlier request may have
// arrived.
func TestOwnIntentOvertaken(t *testing.T) {
	paid := journal.Evidence{Source: journal.SourceQuery, State: journal.Succeeded, Transaction: shownAs(cardgateway.CodeSuccess, "1")}
	seen := journal.Evidence{Source: journal.SourceQuery, Seen: true}
	for _, tt := range []struct {
		name     string
		again    bool // it was refused before
		evidence journal.Evidence
		want     error
	}{
		{"the first submission, paid", false, paid, nil},
		{"the first submission, seen", false, seen, journal.ErrOpen},
		{"another submission, paid", true, paid, nil},
		{"another submission, seen", true, seen, journal.ErrOpen},
	} {
		runInBubble(t, tt.name, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
			if tt.again {
				s.gateway.Inject(refusal)
				_, _ = s.pay("a", approved)
			}
			sent := s.sent.Load()
			j := journal.New(s.client, &overtaken{Store: s.store, evidence: tt.evidence}, journal.Options{})
			var err error
			if tt.again {
				_, err = j.AfterRefusal().CreateSubscription(t.Context(), order("a", approved))
			} else {
				_, err = j.CreateSubscription(t.Context(), order("a", approved))
			}
			if !errors.Is(err, tt.want) || s.sent.Load() != sent {
				t.Errorf("got %v and %d requests, want %v and none", err, s.sent.Load()-sent, tt.want)
			}
		})
	}
}
