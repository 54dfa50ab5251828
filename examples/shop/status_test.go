package main

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// TestWords: every state has words for the customer, of a payment and of a refund.
func TestWords(t *testing.T) {
	for state, refund := range map[payments.State]string{
		payments.Open: "Being checked", payments.Checking: "Being checked", payments.Unsent: "Not sent", payments.Refused: "Refused", payments.Unpaid: "Being looked at",
		payments.Waiting: "", payments.Processing: "On its way", payments.Closed: "", payments.Declined: "Declined", payments.Paid: "",
		payments.Tested: "", payments.Conflict: "Being looked at",
	} {
		if got := statusOf(payments.Order{Attempt: payments.Attempt{Payment: payments.Payment{State: state}}}); got.Word == "" {
			t.Errorf("a payment that is %s has no words", state)
		}
		if got := statusOfRefund(payments.Refund{State: state}).Word; refund != "" && got != refund {
			t.Errorf("a refund that is %s has the word %q, want %q", state, got, refund)
		}
		paid := payments.Order{Attempt: payments.Attempt{Payment: payments.Payment{State: payments.Paid}, Refunds: []payments.Refund{{State: state}}}}
		if got := statusOf(paid).Word; refund == "Being looked at" && got != "Refund being looked at" {
			t.Errorf("an order with a refund that is %s has the word %q", state, got)
		}
	}
	if got := statusOfRefund(payments.Refund{State: payments.Refunded}).Word; got != "Refunded" {
		t.Errorf("a refund that was made has the word %q", got)
	}
}
