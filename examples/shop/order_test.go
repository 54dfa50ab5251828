package main

import (
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// TestStateOf: each state of the journal means something for an order, and each of those has words for the customer.
func TestStateOf(t *testing.T) {
	for state := journal.Unknown; state <= journal.Conflicting; state++ {
		t.Run(state.String(), func(t *testing.T) {
			got, ok := stateOf[state]
			if open := (Order{Payment: Payment{State: Open}}); !ok || statusOf(Order{Payment: Payment{State: got}}) == statusOf(open) {
				t.Errorf("got %q, %t", got, ok)
			}
		})
	}
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
		{"not sent", answered(journal.NotSent, nil), nil, Payment{State: Unsent, Evidence: 1}},
		{"refused", answered(journal.Refused, nil), nil, Payment{State: Refused, Evidence: 1}},
		{"approved", answered(journal.Succeeded, paid), paid, Payment{State: Paid, UniqueID: "1", Card: "0000", Evidence: 1}},
		{"declined", answered(journal.Declined, declined), declined, Payment{State: Declined, UniqueID: "1", Reason: "Do not honour", Evidence: 1}},
		{"an attempt declined", answered(journal.Pending, declined), declined, Payment{State: Declined, UniqueID: "1", Reason: "Do not honour", Evidence: 1}},
		{"in processing", answered(journal.Pending, processing), processing, Payment{State: Processing, Evidence: 1}},
		{"waiting for the cardholder", answered(journal.Pending, redirect), redirect, Payment{State: Waiting, RedirectURL: "https://g", Evidence: 1}},
		{"abandoned", append(answered(journal.Pending, redirect), answered(journal.Abandoned, nil)...), nil, Payment{State: Closed, Evidence: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := paymentOf(&journal.Entry{Evidence: tt.evidence}, tt.t); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
