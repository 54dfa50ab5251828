package journal

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
)

// TestClaimStep checks what a call does next with an entry that another call has begun.
func TestClaimStep(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	recorded := Intent{ID: PaymentID("1"), Operation: opTokenOrder, Amount: decimal.NewFromInt(5), Currency: "USD", At: at, Sender: "earlier"}
	for _, tt := range []struct {
		name  string
		known projection
		more  claimState
		want  claimStep
	}{
		{name: "not sent", known: projection{state: NotSent}, want: submitAgain},
		{name: "refused", known: projection{state: Refused}, want: returnKnown},
		{name: "refused, after a refusal", known: projection{state: Refused}, more: claimState{accepts: afterRefusal}, want: queryFirst},
		{
			name: "refused, after a refusal and a query", known: projection{state: Refused},
			more: claimState{accepts: afterRefusal, queried: "earlier"}, want: submitAgain,
		},
		{
			name: "refused, after a query for another submission", known: projection{state: Refused},
			more: claimState{accepts: afterRefusal, queried: "first"}, want: queryFirst,
		},
		{name: "refused, at the risk of paying twice", known: projection{state: Refused}, more: claimState{accepts: riskingTwice}, want: queryFirst},
		{name: "presumed absent", known: projection{state: PresumedAbsent}, want: returnKnown},
		{name: "presumed absent, after a refusal", known: projection{state: PresumedAbsent}, more: claimState{accepts: afterRefusal}, want: returnKnown},
		{
			name: "presumed absent, at the risk of paying twice", known: projection{state: PresumedAbsent},
			more: claimState{accepts: riskingTwice}, want: queryFirst,
		},
		{
			name: "presumed absent, at the risk of paying twice, after a query", known: projection{state: PresumedAbsent},
			more: claimState{accepts: riskingTwice, queried: "earlier"}, want: submitAgain,
		},
		{name: "pending", known: projection{state: Pending}, more: claimState{accepts: riskingTwice}, want: returnKnown},
		{name: "abandoned", known: projection{state: Abandoned}, more: claimState{accepts: riskingTwice}, want: returnKnown},
		{name: "declined", known: projection{state: Declined}, more: claimState{accepts: riskingTwice}, want: returnKnown},
		{name: "succeeded", known: projection{state: Succeeded}, more: claimState{accepts: riskingTwice}, want: returnKnown},
		{name: "contradictory", known: projection{state: NotSent, conflict: true}, more: claimState{accepts: riskingTwice}, want: returnKnown},
		{name: "in flight elsewhere", known: projection{state: Unknown}, want: waitForOther},
		{name: "in flight elsewhere, at the risk of paying twice", known: projection{state: Unknown}, more: claimState{accepts: riskingTwice}, want: waitForOther},
		{name: "in flight elsewhere for too long", known: projection{state: Unknown}, more: claimState{late: true}, want: returnKnown},
		{name: "answered without an outcome", known: projection{state: Unknown, answered: true}, want: returnKnown},
		{name: "older than any call", known: projection{state: Unknown, intent: Intent{At: at.Add(-maxFlight)}}, want: returnKnown},
		{name: "known to be unsent", known: projection{state: Unknown}, more: claimState{unsent: true, late: true}, want: recordUnsent},
		{
			name: "known to be unsent, with much evidence", known: projection{state: Unknown},
			more: claimState{unsent: true, version: maxEvidence}, want: recordUnsent,
		},
		{name: "submitted often", known: projection{state: NotSent}, more: claimState{version: maxEvidence - 1}, want: submitAgain},
		{name: "submitted too often", known: projection{state: NotSent}, more: claimState{version: maxEvidence}, want: refuseTooOften},
		{
			name: "refused, and submitted too often", known: projection{state: Refused},
			more: claimState{accepts: afterRefusal, version: maxEvidence}, want: refuseTooOften,
		},
		{name: "succeeded, with much evidence", known: projection{state: Succeeded}, more: claimState{version: maxEvidence}, want: returnKnown},
		{name: "another amount", known: projection{state: NotSent, intent: Intent{Amount: decimal.NewFromInt(6)}}, want: refuseMismatch},
		{
			name: "another amount, known to be unsent", known: projection{state: Unknown, intent: Intent{Amount: decimal.NewFromInt(6)}},
			more: claimState{unsent: true}, want: refuseMismatch,
		},
		{
			name: "another amount, which was invalid", known: projection{state: NotSent, invalid: true, intent: Intent{Amount: decimal.NewFromInt(6)}},
			want: submitAgain,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known, asked := tt.known, recorded
			asked.At, asked.Sender = at, "this call"
			given := known.intent
			known.intent = recorded
			if !given.At.IsZero() {
				known.intent.At = given.At
			}
			if !given.Amount.IsZero() {
				known.intent.Amount = given.Amount
			}
			c := tt.more
			c.known, c.asked = &known, &asked
			if got := c.next(); got != tt.want {
				t.Errorf("got step %d, want %d", got, tt.want)
			}
		})
	}
}
