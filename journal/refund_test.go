package journal_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// paidFor makes a payment without the journal and returns its uniqueId.
func (s *shop) paidFor(id string) string {
	s.t.Helper()
	t, err := s.client.CreateSubscription(s.t.Context(), order(id, approved))
	if err != nil || t.State() != cardgateway.StateApproved {
		s.t.Fatalf("the payment to be refunded: %v, %v", t, err)
	}
	s.sent.Add(-1)
	return t.UniqueID
}

// refund is a refund of a part of a payment of order.
func refund(id, uniqueID string) cardgateway.RefundRequest {
	return cardgateway.RefundRequest{UniqueID: uniqueID, RefundTransactionID: id, Amount: decimal.RequireFromString("2.50"), Remark: "too small"}
}

// lose makes the response to the next refund get lost after the refund was made.
func (s *shop) lose() {
	s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Reply: sandbox.ReplyReset})
}

func wantRefunds(t *testing.T, j *journal.Journal, want map[string]string) {
	t.Helper()
	if got := statesOf(t, j, true); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Recover reports the refunds %v, want %v", got, want)
	}
}

func wantRefunded(t *testing.T, s *shop, id string, want int) {
	t.Helper()
	if got := s.gateway.Refunded(id); got != want {
		t.Errorf("the gateway made refund %s %d times, want %d", id, got, want)
	}
}

// executing is a gateway that ignores the refundTransactionId: it makes the refund again for a second request.
var executing = sandbox.Options{RefundDuplicates: sandbox.RefundDuplicatesExecuted}

// TestRefundOutcomes: a refund has the outcomes of the client's own method, in the call and in the entry, and they are
// reported until they are acknowledged.
func TestRefundOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settle   time.Duration // of the gateway
		change   func(*cardgateway.RefundRequest)
		want     error  // of the call
		recorded string // the state of the entry after the call
		told     string // what Recover reports
		refunded int
	}{
		{"accepted, and paid back", 0, nil, nil, "pending", "succeeded", 1},
		{"accepted, and not yet paid back", -1, nil, nil, "pending", "pending", 0},
		{"above the payment's amount", 0, func(r *cardgateway.RefundRequest) { r.Amount = decimal.NewFromInt(100) }, cardgateway.ErrDeclined, "declined",
			"declined", 0},
		{"of an unknown payment", 0, func(r *cardgateway.RefundRequest) { r.UniqueID = "4711" }, cardgateway.ErrDeclined, "declined", "declined", 0},
	} {
		runInBubble(t, tt.name, sandbox.Options{RefundSettleAfter: tt.settle}, func(t *testing.T, s *shop) {
			req := refund("r", s.paidFor("a"))
			if tt.change != nil {
				tt.change(&req)
			}
			got, err := s.CreateRefund(t.Context(), req)
			if !errors.Is(err, tt.want) || got == nil {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
			e, err := s.Get(t.Context(), journal.RefundID("r"))
			if err != nil || e.State().String() != tt.recorded {
				t.Errorf("the entry is %v, %v; want %s", e.State(), err, tt.recorded)
			}
			if kept := e.Refund(); kept == nil || kept.Code != got.Code || kept.RefundCurrency != got.RefundCurrency || kept.RefundRequestAt != got.RefundRequestAt {
				t.Errorf("the entry has %+v, want what the call has returned, %+v", kept, got)
			}
			if _, isRefund := errors.AsType[*cardgateway.RefundDeclinedError](e.Err()); isRefund != (tt.recorded == "declined") {
				t.Errorf("the entry's error is %v", e.Err())
			}
			wantRefunds(t, s.restarted(journal.Options{}), map[string]string{"r": tt.told})
			wantRefunds(t, s.Journal, map[string]string{"r": tt.told})
			succeeds(t, s.Ack(t.Context(), journal.RefundID("r"), recovered(t, s.Journal)[0].State()))
			wantRefunds(t, s.restarted(journal.Options{}), nil)
			wantRefunded(t, s, "r", tt.refunded)
		})
	}
}

// TestRefundBesidePayment: a payment and a refund with the same id do not affect each other.
func TestRefundBesidePayment(t *testing.T) {
	inBubble(t, executing, func(t *testing.T, s *shop) {
		paid, err := s.pay("a", approved)
		if err != nil {
			t.Fatal(err)
		}
		s.lose()
		req := refund("a", paid.UniqueID)
		if _, err := s.CreateRefund(t.Context(), req); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Fatalf("the refund with the payment's id: %v, want ErrOutcomeUnknown", err)
		}
		_, err = s.restarted(journal.Options{}).CreateRefund(t.Context(), req)
		if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); !ok || !errors.Is(err, journal.ErrOpen) {
			t.Errorf("the refund, called again: %v, want ErrOpen", err)
		} else if q := unknown.Query(); q.RefundTransactionID != "a" || q.UniqueID != req.UniqueID || !q.Amount.Equal(req.Amount) || q.SentAt.IsZero() {
			t.Errorf("the query is %+v", q)
		}
		if got, err := s.pay("a", approved); err != nil || got.State() != cardgateway.StateApproved {
			t.Errorf("the payment, called again: %v, %v", got, err)
		}
		if err := s.Ack(t.Context(), journal.RefundID("a"), journal.Succeeded); !errors.Is(err, journal.ErrOpen) {
			t.Errorf("Ack of the open refund: %v, want ErrOpen", err)
		}
		succeeds(t, s.Ack(t.Context(), journal.PaymentID("a"), journal.Succeeded))
		all := recovered(t, s.restarted(journal.Options{}))
		if len(all) != 1 || all[0].ID() != journal.RefundID("a") || all[0].State() != journal.Succeeded {
			t.Fatalf("Recover yields %+v, want only the refund", all)
		}
		payment, err := s.Get(t.Context(), journal.PaymentID("a"))
		if err != nil || payment.ID().Refund || payment.Unacked() {
			t.Errorf("the payment is %+v, %v", payment, err)
		}
		wantExecuted(t, s, "a", 1)
		wantRefunded(t, s, "a", 1)
	})
}
