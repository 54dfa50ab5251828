package journal

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLeaseIsChecked: nothing is reported once the lease is over, also if its goroutine has not noticed it yet, as after the
// process was stopped.
func TestLeaseIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemoryStore()
		j := &Journal{store: store, opts: Options{}.withDefaults(), soon: newSoon()}
		for _, id := range []string{"1", "2", "3", "4"} {
			e, _, err := store.Begin(t.Context(), Intent{ID: PaymentID(id), At: time.Now()})
			if err == nil {
				err = store.Record(t.Context(), e.Key(), 0, Evidence{Source: SourceAnswer, State: NotSent})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var mu sync.Mutex
		var told []string
		r := newRunner(j, time.Minute, func(_ context.Context, e Entry) error {
			mu.Lock()
			told = append(told, e.ID().Text)
			n := len(told)
			mu.Unlock()
			if n == 2 {
				time.Sleep(leaseLength) // and nothing is renewed
			}
			return nil
		})
		r.lease = newLease(j, store)
		term, end := context.WithCancelCause(t.Context())
		r.lease.sent, r.lease.end = time.Now(), end
		r.list(t.Context(), term)
		mu.Lock()
		defer mu.Unlock()
		if len(told) != 2 || !errors.Is(context.Cause(term), ErrLeaseLost) {
			t.Errorf("reported %q, the term ended with %v", told, context.Cause(term))
		}
		time.Sleep(leaseLength) // the report returns
	})
}

// TestLeaseEndsByBothClocks: the time since a lease is the longer one of both clocks.
func TestLeaseEndsByBothClocks(t *testing.T) {
	for _, tt := range []struct {
		name string
		sent time.Time
		held bool
	}{
		{"young", time.Now(), true},
		{"old", time.Now().Add(-leaseLength), false},
		{"old by the clock on the wall", time.Now().Add(-leaseLength).Round(0), false},
		{"the clock on the wall was set back", time.Now().Add(time.Hour), true},
		{"never", time.Time{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if l := (&lease{sent: tt.sent}); l.isHeld() != tt.held {
				t.Errorf("held %t, want %t", !tt.held, tt.held)
			}
		})
	}
}
