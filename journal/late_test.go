package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// lately gives a shop a journal with a store that records approvals later.
func (s *shop) lately(opts journal.Options) *journal.LateStore {
	late := &journal.LateStore{Store: s.store}
	s.Journal = journal.New(s.client, late, opts)
	return late
}

// stored returns the entry of a payment in the store, as another process would read it.
func (s *shop) stored(id string) *journal.Entry {
	s.t.Helper()
	e, err := s.store.Get(s.t.Context(), key(id))
	if err != nil {
		s.t.Fatal(err)
	}
	return &e
}

// TestApprovalIsWrittenLater: an approval is returned before it is written; any call of this Journal for the same payment
// waits until it is written.
func TestApprovalIsWrittenLater(t *testing.T) {
	for name, look := range map[string]func(*testing.T, *shop){
		"Ack": func(t *testing.T, s *shop) {
			if err := s.Ack(t.Context(), "a"); err != nil {
				t.Error(err)
			}
			if e := s.stored("a"); e.Unacked() || e.State() != journal.Succeeded {
				t.Errorf("stored: %v, unacknowledged %t", e.State(), e.Unacked())
			}
		},
		"Get": func(t *testing.T, s *shop) {
			if e, err := s.Get(t.Context(), "a"); err != nil || e.State() != journal.Succeeded {
				t.Errorf("got %v, %v", e.State(), err)
			}
		},
		"the call again": func(t *testing.T, s *shop) {
			begun := time.Now()
			if got, err := s.pay("a", approved); err != nil || !got.Paid() || time.Since(begun) > 0 {
				t.Errorf("got %v, %v after %v", got, err, time.Since(begun))
			}
		},
		"Confirm": func(t *testing.T, s *shop) {
			page, err := s.client.SearchOrders(t.Context(), cardgateway.OrderQuery{TransactionID: "a", Start: time.Now().Add(-time.Hour), End: time.Now().Add(time.Hour)}, cardgateway.PageRequest{})
			if err != nil || len(page.Data) != 1 {
				t.Fatal(page, err)
			}
			if err := s.Journal.Confirm(t.Context(), &page.Data[0]); err != nil {
				t.Error(err)
			}
		},
		"Recover": func(t *testing.T, s *shop) {
			s.network = refusing{t, s.network}
			wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
				late, begun := s.lately(journal.Options{}), time.Now()
				if got, err := s.pay("a", approved); err != nil || !got.Paid() {
					t.Fatal(got, err)
				}
				if n := late.Waiting(); n != 1 || s.stored("a").State() != journal.Unknown {
					t.Errorf("%d wait to be written, want 1", n)
				}
				look(t, s)
				late.Write()
				synctest.Wait()
				if e := s.stored("a"); len(e.Evidence) != 1 || !e.Evidence[0].At.Equal(begun) {
					t.Errorf("evidence %v, want one piece, of %v", e.Evidence, begun)
				}
				wantExecuted(t, s, "a", 1)
			})
		})
	}
}

// TestWrittenBeforeTold: everything except the approval of a first submission is in the store when the call returns.
func TestWrittenBeforeTold(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		late := s.lately(journal.Options{})
		check := func(id string, want journal.State) {
			t.Helper()
			if got := s.stored(id).State(); got != want || late.Waiting() != 0 {
				t.Errorf("%s: stored is %v, want %v; %d wait", id, got, want, late.Waiting())
			}
		}
		_, _ = s.pay("declined", declined)
		check("declined", journal.Declined)
		_, _ = s.pay("pending", pending)
		check("pending", journal.Pending)
		_, _ = s.CreateCheckout(t.Context(), hosted("page"))
		check("page", journal.Pending)
		s.refuse = errReset
		_, _ = s.pay("again", approved)
		check("again", journal.NotSent)
		s.refuse = nil
		_, _ = s.pay("again", approved)
		check("again", journal.Succeeded)
	})
}

// TestApprovalThatIsNotTaken: if the store does not accept an approval to be written later, it is written before it is
// returned.
func TestApprovalThatIsNotTaken(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.lately(journal.Options{}).Full = errDisk
		if got, err := s.pay("a", approved); err != nil || !got.Paid() || s.stored("a").State() != journal.Succeeded {
			t.Errorf("got %v, %v; stored is %v", got, err, s.stored("a").State())
		}
		if e, err := s.Get(t.Context(), "a"); err != nil || len(e.Evidence) != 1 {
			t.Errorf("got %+v, %v", e, err)
		}
	})
}

// TestApprovalThatWasNotWritten: if the write of an approval fails at first, it is repeated.
func TestApprovalThatWasNotWritten(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		late := s.lately(journal.Options{})
		late.Fail = errDisk
		if got, err := s.pay("a", approved); err != nil || !got.Paid() {
			t.Fatal(got, err)
		}
		if err := s.Ack(t.Context(), "a"); err != nil {
			t.Errorf("Ack: %v", err)
		}
		if e := s.stored("a"); e.State() != journal.Succeeded || e.Unacked() {
			t.Errorf("stored: %v, unacknowledged %t", e.State(), e.Unacked())
		}
	})
}

// TestApprovalOvertaken: an approval that contradicts what another process has recorded meanwhile is recorded too. Ack
// does not acknowledge the conflict before it was reported, and Recover reports it.
func TestApprovalOvertaken(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.lately(journal.Options{})
		if _, err := s.pay("a", approved); err != nil {
			t.Fatal(err)
		}
		if err := s.restarted(journal.Options{}).Confirm(t.Context(), shownAs(cardgateway.CodeFailed, "1")); err != nil {
			t.Fatal(err)
		}
		if err := s.Ack(t.Context(), "a"); !errors.Is(err, journal.ErrChanged) {
			t.Errorf("Ack: got %v, want ErrChanged", err)
		}
		wantStates(t, s.Journal, map[string]string{"a": "succeeded, conflict"})
	})
}

// TestApprovalThatCannotBeWritten: no call waits for longer than WriteTimeout, the failure is logged, Ack does not close
// the payment, and Recover finds the approval.
func TestApprovalThatCannotBeWritten(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		var log bytes.Buffer
		store := &failing{Store: s.store}
		store.records.Store(1000)
		s.store = store
		const patience = 2 * time.Second
		s.lately(journal.Options{WriteTimeout: patience, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if got, err := s.pay("a", approved); err != nil || !got.Paid() {
			t.Fatal(got, err)
		}
		begun := time.Now()
		if err := s.Ack(t.Context(), "a"); !errors.Is(err, journal.ErrChanged) {
			t.Errorf("Ack: got %v, want ErrChanged", err)
		}
		if took := time.Since(begun); took > patience {
			t.Errorf("Ack took %v, want at most %v", took, patience)
		}
		time.Sleep(patience)
		synctest.Wait()
		if !strings.Contains(log.String(), "transactionId=a") || !strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("logged: %s", &log)
		}
		store.records.Store(0)
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
		wantExecuted(t, s, "a", 1)
	})
}

// TestApprovalThatHangs: a call that waits until an approval is written waits no longer than its context and
// WriteTimeout.
func TestApprovalThatHangs(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		late := s.lately(journal.Options{WriteTimeout: 3 * time.Second})
		late.Stuck = true
		if _, err := s.pay("a", approved); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Ack(ctx, "a"); err == nil || time.Since(begun) != time.Second {
			t.Errorf("Ack with a deadline: %v after %v", err, time.Since(begun))
		}
		begun = time.Now()
		if err := s.Ack(t.Context(), "a"); !errors.Is(err, journal.ErrChanged) || time.Since(begun) != 3*time.Second {
			t.Errorf("Ack: %v after %v, want ErrChanged", err, time.Since(begun))
		}
		late.Write()
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
	})
}

// TestKilledBeforeApprovalIsWritten: another process finds the approval by a query.
func TestKilledBeforeApprovalIsWritten(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		s.lately(journal.Options{})
		if _, err := s.pay("a", approved); err != nil {
			t.Fatal(err)
		}
		next := s.restarted(journal.Options{})
		if _, err := next.CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, journal.ErrOpen) {
			t.Errorf("the call again: got %v, want ErrOpen", err)
		}
		wantStates(t, next, map[string]string{"a": "succeeded"})
		wantExecuted(t, s, "a", 1)
	})
}

// TestNotTooMuchIsLate: if too many approvals wait to be written, further ones are written before they are returned.
func TestNotTooMuchIsLate(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		late := s.lately(journal.Options{})
		for i := range journal.MostLate + 1 {
			if _, err := s.pay(fmt.Sprint(i), approved); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.stored(fmt.Sprint(journal.MostLate)).State(); got != journal.Succeeded || late.Waiting() != journal.MostLate {
			t.Errorf("the last one is stored as %v, and %d wait, want %d", got, late.Waiting(), journal.MostLate)
		}
		if n := late.Write(); n != journal.MostLate {
			t.Errorf("%d written", n)
		}
		if _, err := s.pay("one more", approved); err != nil || late.Waiting() != 1 {
			t.Errorf("%v, %d wait, want 1", err, late.Waiting())
		}
	})
}

// TestRecoverDuringApproval: an approval that is written during a Recover is reported as succeeded, without a query.
func TestRecoverDuringApproval(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		late := s.lately(journal.Options{})
		for _, id := range []string{"a", "b"} {
			if _, err := s.pay(id, approved); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond) // a is the older one
		}
		s.network = refusing{t, s.network}
		for e, err := range s.Recover(context.Background()) {
			if err != nil || e.State() != journal.Succeeded {
				t.Errorf("%s is reported as %v, %v", e.TransactionID(), e.State(), err)
			}
			late.Write()
		}
	})
}

// refusing is a network on which no query may be sent.
type refusing struct {
	t *testing.T
	http.RoundTripper
}

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("the gateway was queried: %s %s", req.Method, req.URL.Path)
	return r.RoundTripper.RoundTrip(req)
}
