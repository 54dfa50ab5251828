package journal_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// emptied is a store whose table somebody can empty while the program runs.
type emptied struct{ *journal.MemoryStore }

func (e *emptied) empty() { e.MemoryStore = journal.NewMemoryStore() }

// rollBack keeps of an entry this version only, as a failover to a replica that is behind does.
func (e *emptied) rollBack(t *testing.T, key journal.Key, version int) {
	entry, err := e.Get(t.Context(), key)
	e.empty()
	if err == nil {
		_, _, err = e.Begin(t.Context(), entry.Begun)
	}
	for v := range version {
		err = errors.Join(err, e.Record(t.Context(), key, v, entry.Evidence[v]))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestEmptied: what this process may have sent is not sent again because the store has lost it. After a day the entry may have been forgotten,
// as the merchant wished.
func TestEmptied(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first func(*shop)
		after time.Duration
		sent  bool
		err   error
	}{
		{"unknown", func(s *shop) { s.loseNext(sandbox.CommitNow) }, 0, false, cardgateway.ErrOutcomeUnknown},
		{"succeeded", func(*shop) {}, time.Hour, false, cardgateway.ErrOutcomeUnknown},
		{"refused", func(s *shop) { s.gateway.Inject(refusal) }, 0, false, cardgateway.ErrOutcomeUnknown},
		{"not sent", func(s *shop) { s.refuse = errReset }, 0, true, nil},
		{"a day ago", func(*shop) {}, 25 * time.Hour, true, nil},
		{"submitted again today", func(s *shop) {
			s.gateway.Inject(lost)
			_, _ = s.pay("a", approved)
			time.Sleep(25 * time.Hour)
			wantStates(s.t, s.Journal, map[string]string{"a": "presumed absent"})
			_, _ = s.PayAgainRiskingSecondCharge().CreateSubscription(s.t.Context(), order("a", approved))
		}, time.Hour, false, cardgateway.ErrOutcomeUnknown},
	} {
		runInBubble(t, tt.name, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
			store := &emptied{journal.NewMemoryStore()}
			s.store = store
			s.Journal = s.restarted(journal.Options{})
			tt.first(s)
			_, _ = s.pay("a", approved)
			s.refuse = nil
			store.empty()
			time.Sleep(tt.after)
			before := s.sent.Load()
			_, err := s.pay("a", approved)
			if sent := s.sent.Load() > before; sent != tt.sent || !errors.Is(err, tt.err) {
				t.Errorf("sent again: %t, want %t; %v, want %v", sent, tt.sent, err, tt.err)
			}
		})
	}
}

// TestRolledBack: nor because it has lost only what was recorded last, and what is left says that nothing was sent.
func TestRolledBack(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		store := &emptied{journal.NewMemoryStore()}
		s.store = store
		s.Journal = s.restarted(journal.Options{})
		s.refuse = errReset
		_, _ = s.pay("a", approved)
		s.refuse = nil
		paid, _ := s.pay("a", approved)
		store.rollBack(t, key("a"), 1)
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
		succeeds(t, s.Confirm(t.Context(), paid))
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrConflict) {
			t.Errorf("got %v, want what the store has now", err)
		}
		wantExecuted(t, s, "a", 1)
	})
}

// keyless is a store whose table has lost its key: every intent is a new row.
type keyless struct{ journal.Store }

func (keyless) Begin(_ context.Context, in journal.Intent) (journal.Entry, bool, error) {
	return journal.Entry{Begun: in, Acked: -1}, true, nil
}

// TestKeyLost: nor because the table has lost its key.
func TestKeyLost(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		store := &struct{ journal.Store }{journal.NewMemoryStore()}
		s.store = store
		s.Journal = s.restarted(journal.Options{})
		_, _ = s.pay("a", approved)
		store.Store = keyless{store.Store}
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
		wantExecuted(t, s, "a", 1)
	})
}

// TestEmptiedWhileItIsSent: a store that loses the entry of a payment while it is submitted again has all of it again afterwards: the decline
// of one of two submissions is no outcome.
func TestEmptiedWhileItIsSent(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		store := &emptied{journal.NewMemoryStore()}
		s.store = store
		s.Journal = s.restarted(journal.Options{})
		s.gateway.Inject(lost)
		_, _ = s.pay("a", approved)
		time.Sleep(25 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				store.empty()
			}
			return s.gateway.RoundTripper().RoundTrip(r)
		})
		_, err := s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", declined))
		if !errors.Is(err, journal.ErrRepeatDeclined) {
			t.Errorf("got %v, want %v", err, journal.ErrRepeatDeclined)
		}
		if e := s.stored("a"); e.State() != journal.Unknown || e.Version() != 4 {
			t.Errorf("it is %v, with %d pieces of evidence; want unknown, with 4", e.State(), e.Version())
		}
	})
}
