package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// What a call must not conclude about a payment whose entry it has not read, or only in part.

// TestAckOfUnseen: a call that ended before it read the entry has reported nothing about it, so an Ack after it
// acknowledges nothing.
func TestAckOfUnseen(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		call func(*shop, *failing, *journal.Journal) error
		want error
	}{
		{"another amount", func(_ *shop, _ *failing, j *journal.Journal) error {
			req := order("a", approved)
			req.Amount = decimal.New(1, 0)
			_, err := j.CreateSubscription(context.Background(), req)
			return err
		}, journal.ErrMismatch},
		{"an amount that fits nowhere", func(_ *shop, _ *failing, j *journal.Journal) error {
			req := order("a", approved)
			req.Amount = decimal.New(1, -5)
			_, err := j.CreateSubscription(context.Background(), req)
			return err
		}, cardgateway.ErrInvalidRequest},
		{"a context that has ended", func(_ *shop, _ *failing, j *journal.Journal) error {
			_, err := j.CreateSubscription(over, order("a", approved))
			return err
		}, cardgateway.ErrNotSent},
		{"a store that is gone for a while", func(_ *shop, f *failing, j *journal.Journal) error {
			f.begins.Store(100)
			_, err := j.CreateSubscription(context.Background(), order("a", approved))
			f.begins.Store(0)
			return err
		}, cardgateway.ErrNotSent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
				if got, err := s.pay("a", approved); err != nil || got.State() != cardgateway.StateApproved { // and the process dies before its books have it
					t.Fatalf("got %v, %v", got, err)
				}
				store := &failing{Store: s.store}
				restarted := journal.New(s.client, store, journal.Options{})
				err := tt.call(s, store, restarted)
				if !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				state := journal.StateOf((*cardgateway.Transaction)(nil), err)
				if err := restarted.Ack(t.Context(), journal.PaymentID("a"), state); state != journal.Unknown || !errors.Is(err, journal.ErrChanged) {
					t.Errorf("Ack of %v: got %v, want ErrChanged", state, err)
				}
				wantStates(t, restarted, map[string]string{"a": "succeeded"})
				if err := restarted.Ack(t.Context(), journal.PaymentID("a"), journal.Succeeded); err != nil {
					t.Errorf("Ack of what Recover reported: %v", err)
				}
			})
		})
	}
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) { // nothing there to acknowledge
		_, _ = s.CreateSubscription(over, order("a", approved))
		if err := s.Ack(t.Context(), journal.PaymentID("a"), journal.NotSent); !errors.Is(err, journal.ErrNoEntry) {
			t.Errorf("Ack of a payment that was never begun: got %v", err)
		}
	})
}

// cutting is a store whose Begin writes, ends the caller's context, and returns an error.
type cutting struct {
	journal.Store
	cancel context.CancelFunc
}

func (c *cutting) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	if e, created, err := c.Store.Begin(ctx, in); c.cancel == nil || err != nil {
		return e, created, err
	}
	cancel := c.cancel
	c.cancel = nil // before anybody can call again
	cancel()
	return journal.Entry{}, false, errDisk
}

// TestIntentWrittenUnseen: if an intent was written although the store returned an error, and the caller's context has
// ended, the payment does not stay open.
func TestIntentWrittenUnseen(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		payments := journal.New(s.client, &cutting{s.store, cancel}, journal.Options{})
		if _, err := payments.CreateSubscription(ctx, order("a", approved)); !cardgateway.SafeToRetry(err) {
			t.Fatalf("got %v, want ErrNotSent", err)
		}
		if got, err := payments.CreateSubscription(t.Context(), order("a", approved)); err != nil || got.State() != cardgateway.StateApproved {
			t.Errorf("called again: %v, %v", got, err)
		}
		wantExecuted(t, s, "a", 1)
	})
}

// searchShows responds to every order search with rows of the payment "a" with these codes, one for each id.
func searchShows(s *shop, codes ...int) {
	s.network = rewriting{s.network, func(q *http.Request, body []byte) []byte {
		if q.Method != http.MethodGet {
			return body
		}
		var rows []string
		for i, code := range codes {
			rows = append(rows, fmt.Sprintf(`{"code":%d,"uniqueId":"%d","transactionId":"a","transactionAmount":"12.50","transactionCurrency":"USD"}`, code, i+1))
		}
		return fmt.Appendf(nil, `{"code":121,"currPage":1,"pageSize":10,"totalCount":%d,"totalPage":1,"data":[%s]}`, len(rows), strings.Join(rows, ","))
	}}
}

// TestHalfConflict: if only the first outcome of a conflict is recorded, it must be the success.
func TestHalfConflict(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
		_, _ = s.pay("a", approved)
		searchShows(s, 101, 100)
		store := &failing{Store: s.store}
		store.recordsAfter.Store(1)
		store.records.Store(100)
		for range journal.New(s.client, store, journal.Options{}).Recover(t.Context()) {
		}
		states := states(t, s.restarted(journal.Options{}))
		if got := states["a"]; !strings.HasPrefix(got, "succeeded") {
			t.Errorf("half a conflict is reported as %q", got)
		}
	})
}

// TestDeclineOfRepetition: if two submissions may have been sent, a single decline may be the gateway's rejection of the
// second. It is final only when the first is no longer expected to arrive.
func TestDeclineOfRepetition(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
		_, _ = s.pay("a", approved)
		time.Sleep(25 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
		_, _ = s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
		usual := s.network
		searchShows(s, 101)
		time.Sleep(10 * time.Minute)
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "unknown"})
		s.network = usual
		searchShows(s, 101, 100)
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "succeeded"})
	})
}

// TestDeclineOfRepetitionInTheEnd: a day later, the single decline is final; so are those of both submissions, and nothing that is not a
// decline.
func TestDeclineOfRepetitionInTheEnd(t *testing.T) {
	for _, tt := range []struct {
		codes       []int
		early, late string // before and after a day is over
	}{
		{[]int{101}, "unknown", "declined"},
		{[]int{101, 101}, "unknown", "declined"},
		{[]int{101, 102}, "unknown", "unknown"},
	} {
		t.Run(fmt.Sprint(tt.codes), func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
				never := sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose}
				s.gateway.Inject(never)
				_, _ = s.pay("a", approved)
				time.Sleep(25 * time.Hour)
				wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
				s.gateway.Inject(never)
				_, _ = s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
				searchShows(s, tt.codes...)
				time.Sleep(23 * time.Hour)
				wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.early})
				time.Sleep(time.Hour)
				wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.late})
			})
		})
	}
}

// TestSubmittedTooOften: a payment that is called again and again while nothing can be sent ends with an error that says
// so, before its entry becomes too large for a store.
func TestSubmittedTooOften(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.refuse = errors.New("no route to host")
		var err error
		n := 0
		for n < 5000 && !errors.Is(err, cardgateway.ErrInvalidRequest) {
			_, err = s.pay("a", approved)
			n++
		}
		s.refuse = nil
		if _, err := s.pay("a", approved); n > 1100 || !errors.Is(err, cardgateway.ErrInvalidRequest) {
			t.Errorf("after %d calls: %v", n, err)
		}
		if got, err := s.pay("b", approved); err != nil || got.State() != cardgateway.StateApproved {
			t.Errorf("another payment: %v, %v", got, err)
		}
		all := recovered(t, s.Journal)
		evidence, err := json.Marshal(all[0].Evidence)
		if err != nil || len(evidence) > 3<<18 {
			t.Errorf("its evidence takes %d bytes (%v), too much for a line of a file", len(evidence), err)
		}
		wantStates(t, s.Journal, map[string]string{"a": "not sent", "b": "succeeded"})
		wantExecuted(t, s, "a", 0)
	})
}

// TestUnrecordedNotSent: if a payment was proved not sent but that could not be recorded, it is open in the journal, and
// Ack does not close it. The process that knows it records it later.
func TestUnrecordedNotSent(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.refuse = errors.New("no route to host")
		store := &failing{Store: s.store}
		store.records.Store(100)
		payments := journal.New(s.client, store, journal.Options{})
		if _, err := payments.CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, cardgateway.ErrNotSent) {
			t.Errorf("got %v", err)
		}
		store.records.Store(0)
		s.refuse = nil
		if err := payments.Ack(t.Context(), journal.PaymentID("a"), journal.NotSent); !errors.Is(err, journal.ErrOpen) {
			t.Errorf("Ack: got %v, want ErrOpen", err)
		}
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "unknown"})
		wantStates(t, payments, map[string]string{"a": "not sent"})
	})
}

// TestUnrecordedInvalid: an invalid request is reported as invalid, whether or not that could be recorded.
func TestUnrecordedInvalid(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &failing{Store: s.store}
		store.records.Store(100)
		req := order("a", approved)
		req.TransactionIP = "nowhere"
		if _, err := journal.New(s.client, store, journal.Options{}).CreateSubscription(t.Context(), req); !errors.Is(err, cardgateway.ErrInvalidRequest) {
			t.Errorf("got %v, want ErrInvalidRequest", err)
		}
	})
}

// TestUnsentRepetition: after a repeated submission that was not sent, the earlier state applies again, so that no call
// sends again without accepting the risk.
func TestUnsentRepetition(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
		_, _ = s.pay("a", approved)
		time.Sleep(25 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
		s.refuse = errors.New("no route to host")
		if _, err := s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, cardgateway.ErrNotSent) {
			t.Fatalf("got %v, want ErrNotSent", err)
		}
		s.refuse = nil
		sent := s.sent.Load()
		if _, err := s.pay("a", approved); !errors.Is(err, journal.ErrPresumedAbsent) || s.sent.Load() != sent {
			t.Errorf("got %v after %d requests more, want ErrPresumedAbsent after none", err, s.sent.Load()-sent)
		}
	})
}

// TestToldOfOldPayments: a report about a payment counts even if the payment is older than what is remembered.
func TestToldOfOldPayments(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitLate, Late: 11 * 24 * time.Hour})
		_, _ = s.pay("a", approved)
		time.Sleep(10 * 24 * time.Hour)
		here := s.restarted(journal.Options{})
		wantStates(t, here, map[string]string{"a": "presumed absent"})
		time.Sleep(3 * 24 * time.Hour)
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "conflict"})
		if err := here.Ack(t.Context(), journal.PaymentID("a"), journal.PresumedAbsent); !errors.Is(err, journal.ErrChanged) {
			t.Errorf("Ack of an absence that no longer applies: got %v, want ErrChanged", err)
		}
	})
}

// TestAfterAck: a Journal remembers what it reported after an acknowledgement too. A repeated Ack acknowledges no other
// state, and a repeated call that cannot read the store does not return "not sent".
func TestAfterAck(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitLate, Late: 11 * 24 * time.Hour})
		_, _ = s.pay("a", approved)
		time.Sleep(10 * 24 * time.Hour)
		store := &failing{Store: s.store}
		here := journal.New(s.client, store, journal.Options{})
		ack := func(stored journal.State, want error) {
			t.Helper()
			if err := here.Ack(t.Context(), journal.PaymentID("a"), stored); !errors.Is(err, want) {
				t.Errorf("Ack: got %v, want %v", err, want)
			}
		}
		wantStates(t, here, map[string]string{"a": "presumed absent"})
		ack(journal.PresumedAbsent, nil)
		ack(journal.PresumedAbsent, nil)
		time.Sleep(3 * 24 * time.Hour)
		other := s.restarted(journal.Options{})
		if err := other.Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "1")); err != nil {
			t.Fatal(err)
		}
		ack(journal.PresumedAbsent, journal.ErrChanged)
		ack(journal.PresumedAbsent, journal.ErrChanged)
		wantStates(t, here, map[string]string{"a": "conflict"})
		ack(journal.Conflicting, nil)
		store.begins.Store(100)
		if _, err := here.CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, cardgateway.ErrOutcomeUnknown) ||
			errors.Is(err, cardgateway.ErrNotSent) {
			t.Errorf("a repeated call without the store: got %v, want ErrOutcomeUnknown", err)
		}
	})
}
