package journal_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestInvalidRequest: a request that the client rejects leaves nothing open, and can be corrected.
func TestInvalidRequest(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		req := order("a", approved)
		req.CallbackURL, req.Amount = "nowhere", decimal.New(1, 0)
		if _, err := s.CreateSubscription(t.Context(), req); !errors.Is(err, cardgateway.ErrInvalidRequest) {
			t.Fatalf("got %v", err)
		}
		for _, unfit := range []func(*cardgateway.SubscriptionRequest){
			func(r *cardgateway.SubscriptionRequest) { r.TransactionID = "" },
			func(r *cardgateway.SubscriptionRequest) { r.TransactionID = "a\x00b" },
			func(r *cardgateway.SubscriptionRequest) { r.Amount = decimal.New(1, 1<<30) },
			func(r *cardgateway.SubscriptionRequest) { r.OrderID = "\xff" },
		} {
			req := order("b", approved)
			unfit(&req)
			if _, err := s.CreateSubscription(t.Context(), req); !errors.Is(err, cardgateway.ErrInvalidRequest) {
				t.Errorf("got %v, want ErrInvalidRequest", err)
			}
			f := &faulty{Store: s.store}
			_, _ = journal.New(s.client, f, journal.Options{}).CreateSubscription(t.Context(), req)
			if n := f.calls.Load(); n != 0 {
				t.Errorf("the store was called %d times for what no store can hold", n)
			}
		}
		wantStates(t, s.Journal, nil)
		if got, err := s.pay("a", approved); err != nil || got.State() != cardgateway.StateApproved {
			t.Errorf("corrected: %v", err)
		}
		wantExecuted(t, s, "a", 1)
	})
}

// TestInvalidRepetition: a further submission violates a limit, so that what is known of the earlier one applies again. It is not
// acknowledged with that: it may have been executed, and then the journal finds it.
func TestInvalidRepetition(t *testing.T) {
	for name, earlier := range map[string]struct {
		fault sandbox.Fault
		after time.Duration
		state string
	}{
		"refused":         {refusal, time.Minute, "refused"},
		"presumed absent": {lost, 25 * time.Hour, "presumed absent"},
	} {
		runInBubble(t, name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.gateway.Inject(earlier.fault)
			_, _ = s.pay("a", approved)
			time.Sleep(earlier.after)
			wantStates(t, s.Journal, map[string]string{"a": earlier.state})
			req := order("a", approved)
			req.CallbackURL = "nowhere"
			if _, err := s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), req); !errors.Is(err, cardgateway.ErrInvalidRequest) {
				t.Fatalf("got %v", err)
			}
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": earlier.state})
			searchShows(s, 100)
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "conflict"})
		})
	}
}

// failing is a store in which some methods fail.
type failing struct {
	journal.Store
	begins, records atomic.Int32 // how many calls still fail
	wrote           bool         // they write before they fail
	recordsAfter    atomic.Int32 // how many calls of Record succeed before that
}

var errDisk = errors.New("no space left on device")

func (f *failing) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	if f.begins.Add(-1) >= 0 {
		if f.wrote {
			_, _, _ = f.Store.Begin(ctx, in)
		}
		return journal.Entry{}, false, errDisk
	}
	return f.Store.Begin(ctx, in)
}

func (f *failing) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	if f.recordsAfter.Add(-1) < 0 && f.records.Add(-1) >= 0 {
		if f.wrote {
			_ = f.Store.Record(ctx, key, version, ev)
		}
		return errDisk
	}
	return f.Store.Record(ctx, key, version, ev)
}

func TestStoreThatCannotBeWritten(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &failing{Store: s.store}
		store.begins.Store(1000)
		begun := time.Now()
		_, err := journal.New(s.client, store, journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		if waited := time.Since(begun); waited < time.Second || waited > 2*time.Second {
			t.Errorf("gave up after %v, want almost 2 s", waited)
		}
		if !errors.Is(err, cardgateway.ErrNotSent) || !errors.Is(err, errDisk) || !cardgateway.SafeToRetry(err) {
			t.Errorf("got %v, want ErrNotSent because of the disk", err)
		}
		if n := s.sent.Load(); n != 0 {
			t.Errorf("%d requests, want 0", n)
		}
	})
}

// TestStoreThatWritesAndFails: if Begin writes the intent and returns an error, the call finds its own intent, and pays.
func TestStoreThatWritesAndFails(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &failing{Store: s.store, wrote: true}
		store.begins.Store(1)
		got, err := journal.New(s.client, store, journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		if err != nil || got.State() != cardgateway.StateApproved {
			t.Errorf("got %v, %v", got, err)
		}
		wantExecuted(t, s, "a", 1)
	})
}

// TestOutcomeThatCannotBeRecorded: such an outcome is not returned by the call; Recover reports it.
func TestOutcomeThatCannotBeRecorded(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &failing{Store: s.store}
		store.records.Store(100)
		_, err := journal.New(s.client, store, journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		if !errors.Is(err, cardgateway.ErrOutcomeUnknown) || !errors.Is(err, errDisk) {
			t.Errorf("got %v, want ErrOutcomeUnknown because of the disk", err)
		}
		if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); !ok || unknown.Transaction == nil || unknown.Transaction.UniqueID == "" {
			t.Errorf("the gateway's response is lost: %+v", unknown)
		}
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
		wantExecuted(t, s, "a", 1)
	})
}

// TestStoreThatIsGone: a call that cannot read the journal sends nothing, and does not return "not sent" for a payment
// that an earlier call may have sent.
func TestStoreThatIsGone(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name  string
		first func(*shop, *failing) // what the earlier call met
		want  error
		seen  bool // the gateway has answered with its id
	}{
		{"the response was lost", func(s *shop, _ *failing) {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
		}, cardgateway.ErrOutcomeUnknown, false},
		{"the outcome could not be recorded", func(_ *shop, f *failing) { f.records.Store(100) }, cardgateway.ErrOutcomeUnknown, false},
		{"it was paid", func(*shop, *failing) {}, cardgateway.ErrOutcomeUnknown, true},
		{"it was acknowledged", func(s *shop, _ *failing) {
			time.AfterFunc(time.Minute, func() { _ = s.Ack(context.Background(), journal.PaymentID("a"), journal.Succeeded) })
		}, cardgateway.ErrOutcomeUnknown, true},
		{"it was refused", func(s *shop, _ *failing) { s.gateway.Inject(refusal) }, cardgateway.ErrOutcomeUnknown, false},
		{"nothing could be sent", func(s *shop, _ *failing) { s.refuse = errors.New("no route to host") }, cardgateway.ErrNotSent, false},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			store := &failing{Store: s.store}
			s.Journal = journal.New(s.client, store, journal.Options{})
			tt.first(s, store)
			begun := time.Now()
			_, err := s.CreateSubscription(t.Context(), order("a", approved))
			if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok && unknown.Seen != (unknown.Transaction != nil) {
				t.Errorf("got %+v, want it seen if there was an answer", unknown)
			}
			sent := s.sent.Load()
			time.Sleep(time.Hour)

			store.begins.Store(100)
			_, gone := s.CreateSubscription(t.Context(), order("a", approved))
			_, cancelled := s.CreateSubscription(over, order("a", approved))
			if !errors.Is(gone, tt.want) || !errors.Is(gone, errDisk) || !errors.Is(cancelled, tt.want) || !errors.Is(cancelled, context.Canceled) {
				t.Errorf("got %v and %v, want %v because of the disk and the context", gone, cancelled, tt.want)
			}
			if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](gone); ok &&
				(unknown.SentAt.Sub(begun) > time.Minute || unknown.SentAgain || unknown.Seen != tt.seen) {
				t.Errorf("got %+v, want it sent once, at %v, seen %t", unknown, begun, tt.seen)
			}
			another := order("a", approved)
			another.Currency = "EUR"
			_, err = s.CreateSubscription(over, another)
			if _, ok := errors.AsType[*journal.MismatchError](err); ok != (tt.want == cardgateway.ErrOutcomeUnknown) {
				t.Errorf("another payment under the same id: got %v", err)
			}
			if n := s.sent.Load(); n != sent {
				t.Errorf("%d requests, want %d", n, sent)
			}
		})
	}
}
