package journal_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestReversed: a refund that was made and then came back, shown with the same id, is recorded and reported as a conflict,
// also after it was acknowledged. So is a payment, unless it is on the hosted page, where a decline is an earlier attempt.
func TestReversed(t *testing.T) {
	for _, tt := range []struct {
		name     string
		paid     string // the id of the success
		declined string // the id of the decline
		want     map[string]string
	}{
		{"the same id", "4711", "4711", map[string]string{"r": "conflict"}},
		{"another id", "4711", "4712", nil},
		{"no ids", "", "", map[string]string{"r": "conflict"}},
		{"an id of the success only", "4711", "", map[string]string{"r": "conflict"}},
		{"an id of the decline only", "", "4711", map[string]string{"r": "conflict"}},
	} {
		runInBubble(t, tt.name, executing, func(t *testing.T, s *shop) {
			req := refund("r", s.paidFor("a"))
			s.lose()
			_, _ = s.CreateRefund(t.Context(), req)
			shown := cardgateway.Refund{
				Code: 111, UniqueID: req.UniqueID, MerchantRefundID: "r", RefundUniqueID: tt.paid, RefundAmount: req.Amount, RefundCurrency: "USD",
			}
			confirm := func() {
				t.Helper()
				succeeds(t, s.ConfirmRefund(t.Context(), &shown))
			}
			confirm()
			succeeds(t, s.Ack(t.Context(), journal.RefundID("r"), journal.Succeeded))
			shown.Code, shown.RefundUniqueID = 112, tt.declined
			confirm()
			confirm()
			wantRefunds(t, s.restarted(journal.Options{}), tt.want)
			_, err := s.CreateRefund(t.Context(), req)
			conflict, ok := errors.AsType[*cardgateway.RefundConflictError](err)
			if ok != (tt.want != nil) || ok && len(conflict.Refunds) != 2 {
				t.Errorf("the next call: %v; want a conflict with both: %t", err, tt.want != nil)
			}
		})
	}
	runInBubble(t, "a payment", sandbox.Options{}, func(t *testing.T, s *shop) {
		paid, err := s.pay("a", approved)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"another", paid.UniqueID} {
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "succeeded"})
			succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeFailed, id)))
		}
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "conflict"})
	})
	t.Run("a repeated payment without ids", func(t *testing.T) { // the decline may be the gateway's rejection of the repetition
		inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.gateway.Inject(refusal)
			_, _ = s.pay("a", approved)
			if _, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", approved)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(25 * time.Hour)
			succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeFailed, "")))
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "succeeded"})
		})
	})
	t.Run("a repeated payment, at once", func(t *testing.T) { // a decline with the id of the success is not of the repetition
		inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.gateway.Inject(refusal)
			_, _ = s.pay("a", approved)
			paid, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", approved))
			if err != nil {
				t.Fatal(err)
			}
			succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeFailed, paid.UniqueID)))
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "conflict"})
		})
	})
	runInBubble(t, "on the hosted page", sandbox.Options{}, func(t *testing.T, s *shop) {
		s.opensPage()
		for _, code := range []cardgateway.Code{cardgateway.CodeSuccess, cardgateway.CodeFailed} {
			time.Sleep(8 * 24 * time.Hour)
			succeeds(t, s.Confirm(t.Context(), shownAs(code, "1")))
		}
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "succeeded"})
	})
}
