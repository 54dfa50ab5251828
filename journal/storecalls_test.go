package journal_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestIDsThatNoStoreHolds: the store is not called for an id that it cannot store, because it might return an error of
// its own.
func TestIDsThatNoStoreHolds(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		f := &faulty{Store: s.store, fail: map[string]bool{"Get": true}}
		j := journal.New(s.client, f, journal.Options{})
		for _, id := range []string{"", "a\x00", "\xff"} {
			if _, err := j.Get(t.Context(), journal.PaymentID(id)); !errors.Is(err, journal.ErrNoEntry) {
				t.Errorf("Get of %q: got %v, want ErrNoEntry", id, err)
			}
			if err := j.Ack(t.Context(), journal.PaymentID(id), journal.Succeeded); !errors.Is(err, journal.ErrNoEntry) {
				t.Errorf("Ack of %q: got %v, want ErrNoEntry", id, err)
			}
		}
	})
}

// TestNoEntryNamesTheID: the error about a payment or a refund that the journal does not have names it.
func TestNoEntryNamesTheID(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		payment, refund := s.Ack(t.Context(), journal.PaymentID("a"), journal.Succeeded), s.Ack(t.Context(), journal.RefundID("r"), journal.Succeeded)
		if got, want := fmt.Sprint(payment), `journal: no such payment or refund: transaction "a"`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(refund), `journal: no such payment or refund: refund "r"`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// restless is a store whose Record returns ErrChanged for every outcome.
type restless struct {
	journal.Store
	records atomic.Int32
}

func (r *restless) Record(context.Context, journal.Key, int, journal.Evidence) error {
	r.records.Add(1)
	return journal.ErrChanged
}

// TestOutcomeInAStoreThatAlwaysChanges: after a few attempts to record an outcome, the payment stays open.
func TestOutcomeInAStoreThatAlwaysChanges(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &restless{Store: s.store}
		_, err := journal.New(s.client, store, journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		if !errors.Is(err, cardgateway.ErrOutcomeUnknown) || !errors.Is(err, journal.ErrChanged) || store.records.Load() != 10 {
			t.Errorf("got %v after %d times", err, store.records.Load())
		}
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
		wantExecuted(t, s, "a", 1)
	})
}

// changedUnseen is a store in which, from the first Record on, every entry has changed and none can be read until a time.
type changedUnseen struct {
	journal.Store
	until time.Time
}

func (c *changedUnseen) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	if time.Now().Before(c.until) {
		return journal.Entry{}, false, errDisk
	}
	return c.Store.Begin(ctx, in)
}

func (c *changedUnseen) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	if c.until.IsZero() {
		c.until = time.Now().Add(3 * time.Second)
	}
	if time.Now().Before(c.until) {
		return journal.ErrChanged
	}
	return c.Store.Record(ctx, key, version, ev)
}

// TestOutcomeOfAChangedEntry: an outcome is recorded although the entry has changed and cannot be read for three seconds.
func TestOutcomeOfAChangedEntry(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		_, err := journal.New(s.client, &changedUnseen{Store: s.store}, journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		if err != nil || s.stored("a").State() != journal.Succeeded {
			t.Errorf("got %v, and stored is %v, want none and succeeded", err, s.stored("a").State())
		}
	})
}

// TestAnswerInAStoreThatAlwaysChanges: the same applies to the result of a query, and Recover then ends. If the changed entry cannot
// be read, Recover ends with that.
func TestAnswerInAStoreThatAlwaysChanges(t *testing.T) {
	for _, tt := range []struct {
		name     string
		readable bool
		want     error
		records  int32
	}{{"changes", true, journal.ErrChanged, 10}, {"changes, and cannot be read", false, errDisk, 1}} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
			_, _ = s.pay("a", approved)
			store := &restless{Store: s.store}
			if !tt.readable {
				store.Store = gone{s.store}
			}
			var last error
			for _, err := range journal.New(s.client, store, journal.Options{}).Recover(t.Context()) {
				last = err
			}
			if !errors.Is(last, tt.want) || store.records.Load() != tt.records {
				t.Errorf("got %v after %d times, want %v after %d", last, store.records.Load(), tt.want, tt.records)
			}
		})
	}
}
