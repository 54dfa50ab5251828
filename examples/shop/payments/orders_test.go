package payments

import (
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/shopspring/decimal"
)

// TestStateOf: each state of the journal means something.
func TestStateOf(t *testing.T) {
	for state := journal.Unknown; state <= journal.Conflicting; state++ {
		if got := stateOf[state]; got == "" || got == Open {
			t.Errorf("%v: got %q", state, got)
		}
	}
}

// TestNextRefund: what can be refunded, and with which id.
func TestNextRefund(t *testing.T) {
	refund := func(amount string, s State) Refund {
		return Refund{ID: "S-1-" + string(s), Amount: decimal.RequireFromString(amount), State: s}
	}
	for _, tt := range []struct {
		name    string
		state   State
		refunds []Refund
		id      string
		amount  string
		why     string
	}{
		{"not paid", Processing, nil, "", "", "Only a paid order can be refunded."},
		{"none yet", Paid, nil, "S-1-R1", "24", ""},
		{"a part", Paid, []Refund{refund("4.50", Refunded)}, "S-1-R2", "19.5", ""},
		{"all", Paid, []Refund{refund("4.50", Refunded), refund("19.50", Refunded)}, "", "", "Nothing is left to refund."},
		{"declined", Paid, []Refund{refund("24", Declined)}, "S-1-R2", "24", ""},
		{"not sent", Paid, []Refund{refund("24", Unsent)}, "S-1-unsent", "24", ""},
		{"refused", Paid, []Refund{refund("24", Refused)}, "S-1-refused", "24", ""},
		{"recorded", Paid, []Refund{refund("24", Open)}, "", "", "A refund is under way."},
		{"not recorded", Paid, []Refund{{ID: "S-1-R1", Amount: decimal.RequireFromString("24"), State: Open, Version: -1}}, "S-1-R1", "24", ""},
		{"unknown", Paid, []Refund{refund("24", Checking)}, "", "", "A refund is under way."},
		{"accepted", Paid, []Refund{refund("4.50", Refunded), refund("19.50", Processing)}, "", "", "A refund is under way."},
		{"presumed absent", Paid, []Refund{refund("24", Unpaid)}, "", "", "Somebody looks at the refund first."},
		{"not sent, and meanwhile the back office has refunded a part", Paid, []Refund{refund("24", Unsent), refund("4.50", Refunded)}, "", "",
			"Somebody looks at the refund first."},
		{"not sent, and meanwhile the back office has refunded all", Paid, []Refund{refund("24", Unsent), refund("24", Refunded)}, "", "",
			"Nothing is left to refund."},
		{"not sent, and the back office refunds", Paid, []Refund{refund("24", Unsent), refund("4.50", Processing)}, "", "", "A refund is under way."},
		{"a part was not sent", Paid, []Refund{refund("4.50", Refunded), refund("19.50", Unsent)}, "S-1-unsent", "19.5", ""},
		{"made twice", Paid, []Refund{refund("24", Conflict)}, "", "", "Somebody looks at the refund first."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Order{ID: "S-1", Amount: decimal.RequireFromString("24.00"), Attempt: Attempt{ID: "S-1", Payment: Payment{State: tt.state}, Refunds: tt.refunds}}
			next, why := o.NextRefund()
			if why != tt.why || next.ID != tt.id || tt.amount != "" && next.Amount.String() != tt.amount {
				t.Errorf("got %q of %s, %q; want %q of %s, %q", next.ID, next.Amount, why, tt.id, tt.amount, tt.why)
			}
		})
	}
}

// TestRefundOf: each state of the journal means something for a refund.
func TestRefundOf(t *testing.T) {
	made := &cardgateway.Refund{Code: cardgateway.CodeRefundSuccess, RefundUniqueID: "1", RefundAt: wallTime(t, "2026-10-05 08:00:00")}
	for _, tt := range []struct {
		state journal.State
		r     *cardgateway.Refund
		want  State
	}{
		{journal.Unknown, nil, Checking}, {journal.NotSent, nil, Unsent}, {journal.Refused, nil, Refused},
		{journal.PresumedAbsent, nil, Unpaid},
		{journal.Pending, &cardgateway.Refund{Code: cardgateway.CodeRefundAccepted}, Processing},
		{journal.Declined, &cardgateway.Refund{}, Declined}, {journal.Succeeded, made, Refunded},
	} {
		t.Run(tt.state.String(), func(t *testing.T) {
			e := &journal.Entry{Begun: journal.Intent{ID: journal.RefundID("S-1-R1")},
				Evidence: []journal.Evidence{{Source: journal.SourceAnswer, State: tt.state, Refund: tt.r}}}
			got := refundOf(e, tt.r, time.FixedZone("gateway", 8*60*60))
			if got.State != tt.want || got.ID != "S-1-R1" || got.Version != 1 {
				t.Errorf("got %+v; want %s", got, tt.want)
			}
			if tt.want == Refunded && got.Made.UTC().Format(time.DateTime) != "2026-10-05 00:00:00" {
				t.Errorf("made on %s", got.Made)
			}
		})
	}
}

func wallTime(t *testing.T, text string) cardgateway.WallTime {
	t.Helper()
	w, err := cardgateway.ParseWallTime(text)
	must(t, err)
	return w
}

func TestPaymentOf(t *testing.T) {
	answered := func(state journal.State, t *cardgateway.Transaction) []journal.Evidence {
		return []journal.Evidence{{Source: journal.SourceAnswer, State: state, Transaction: t}}
	}
	paid := &cardgateway.Transaction{Code: cardgateway.CodeSuccess, UniqueID: "1", TransactionCardNumber: "430000******0000"}
	declined := &cardgateway.Transaction{Code: cardgateway.CodeFailed, UniqueID: "1", TransactionMessage: "Do not honour"}
	processing := &cardgateway.Transaction{Code: cardgateway.CodeProcessing}
	redirect := &cardgateway.Transaction{Code: cardgateway.CodeRedirect, RedirectURL: "https://g"}
	for _, tt := range []struct {
		name     string
		evidence []journal.Evidence
		t        *cardgateway.Transaction
		want     Payment
	}{
		{"nothing", nil, nil, Payment{State: Checking}},
		{"not sent", answered(journal.NotSent, nil), nil, Payment{State: Unsent, Version: 1}},
		{"refused", answered(journal.Refused, nil), nil, Payment{State: Refused, Version: 1}},
		{"approved", answered(journal.Succeeded, paid), paid, Payment{State: Paid, UniqueID: "1", Digits: "0000", Version: 1}},
		{"declined", answered(journal.Declined, declined), declined, Payment{State: Declined, UniqueID: "1", Reason: "Do not honour", Version: 1}},
		{"an attempt declined", answered(journal.Pending, declined), declined, Payment{State: Declined, UniqueID: "1", Reason: "Do not honour", Version: 1}},
		{"in processing", answered(journal.Pending, processing), processing, Payment{State: Processing, Version: 1}},
		{"waiting for the cardholder", answered(journal.Pending, redirect), redirect, Payment{State: Waiting, RedirectURL: "https://g", Version: 1}},
		{"abandoned", append(answered(journal.Pending, redirect), answered(journal.Abandoned, nil)...), nil, Payment{State: Closed, Version: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := paymentOf(&journal.Entry{Evidence: tt.evidence}, tt.t); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
