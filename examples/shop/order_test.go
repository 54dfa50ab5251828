package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

var states = []State{Open, Unsent, Refused, Checking, Waiting, Processing, Paid, Declined, Conflict}

func TestAfter(t *testing.T) {
	for _, tt := range []struct{ known, fact, want State }{
		{Open, Checking, Checking},
		{Open, Waiting, Waiting},
		{Checking, Waiting, Waiting},
		{Checking, Unsent, Unsent},
		{Waiting, Checking, Waiting}, // it is known to have arrived
		{Waiting, Processing, Processing},
		{Processing, Waiting, Waiting}, // the bank asks the cardholder after all
		{Waiting, Paid, Paid},
		{Processing, Declined, Declined},
		{Paid, Processing, Paid}, // late
		{Paid, Waiting, Paid},
		{Paid, Checking, Paid},
		{Declined, Processing, Declined},
		{Paid, Declined, Paid}, // an attempt with another card
		{Declined, Paid, Paid}, // another attempt on the gateway's page
		{Refused, Paid, Conflict},
		{Unsent, Paid, Conflict},
		{Unsent, Open, Unsent}, // only Reopen does that
		{Conflict, Paid, Conflict},
		{Paid, Conflict, Conflict},
	} {
		if got := tt.known.after(tt.fact); got != tt.want {
			t.Errorf("%s after learning %s: got %s, want %s", tt.known, tt.fact, got, tt.want)
		}
	}
}

// TestAfterLosesNoPayment adds every pair of facts in every state: an approved order always says so or needs manual review.
func TestAfterLosesNoPayment(t *testing.T) {
	for _, s := range states {
		for _, f := range states {
			for _, g := range states {
				if s != Paid && f != Paid && g != Paid {
					continue
				}
				if end := s.after(f).after(g); end != Paid && end != Conflict {
					t.Errorf("%s, then %s, then %s ends as %s", s, f, g, end)
				}
			}
		}
	}
}

func TestFactOf(t *testing.T) {
	paid := &cardgateway.Transaction{Code: cardgateway.CodeSuccess, UniqueID: "1", TransactionCardNumber: "430000******0000"}
	declined := &cardgateway.Transaction{Code: cardgateway.CodeFailed, UniqueID: "1", TransactionMessage: "Do not honour"}
	unknown := &cardgateway.OutcomeUnknownError{Cause: errors.New("reset")}
	for _, tt := range []struct {
		name string
		t    *cardgateway.Transaction
		err  error
		want Fact
	}{
		{"approved", paid, nil, Fact{State: Paid, UniqueID: "1", Card: "0000"}},
		{"declined by a query", declined, nil, Fact{State: Declined, UniqueID: "1", Reason: "Do not honour"}},
		{"declined by a call", declined, &cardgateway.DeclinedError{Transaction: declined}, Fact{State: Declined, UniqueID: "1", Reason: "Do not honour"}},
		{"processing", &cardgateway.Transaction{Code: cardgateway.CodeProcessing}, nil, Fact{State: Processing}},
		{"redirect", &cardgateway.Transaction{Code: cardgateway.CodeRedirect, RedirectURL: "https://g"}, nil, Fact{State: Waiting, RedirectURL: "https://g"}},
		{"a code that nobody knows", &cardgateway.Transaction{Code: 777}, nil, Fact{State: Checking}},
		{"unknown", nil, unknown, Fact{State: Checking}},
		{"unknown, with a success that is not to be trusted", paid, unknown, Fact{State: Checking}},
		{"unknown and not sent at once", nil, errors.Join(unknown, &cardgateway.NotSentError{}), Fact{State: Checking}},
		{"not sent", nil, &cardgateway.NotSentError{}, Fact{State: Unsent}},
		{"refused", nil, &cardgateway.RefusedError{}, Fact{State: Refused}},
		{"invalid", nil, &cardgateway.ValidationError{}, Fact{State: Refused}},
		{"another payment's id", nil, &journal.MismatchError{}, Fact{State: Refused}},
		{"conflict", nil, &cardgateway.ConflictError{}, Fact{State: Conflict}},
		{"an error of no kind", paid, errors.New("disk full"), Fact{State: Checking}},
		{"nothing at all", nil, nil, Fact{State: Checking}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := factOf(tt.t, tt.err); got != tt.want {
				t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
			}
		})
	}
	absent := fmt.Errorf("%w: %w", unknown, journal.ErrPresumedAbsent)
	if got := factOf(nil, absent); got.State != Checking || got.Reason == "" {
		t.Errorf("presumed absent: got %+v", got)
	}
}

func TestFactWith(t *testing.T) {
	waiting := Fact{State: Waiting, UniqueID: "1", RedirectURL: "https://g"}
	paid := waiting.with(Fact{State: Paid, Card: "0000"})
	if want := (Fact{State: Paid, UniqueID: "1", Card: "0000"}); paid != want {
		t.Errorf("got %+v, want %+v", paid, want)
	}
	if got := paid.with(waiting); got != paid {
		t.Errorf("a late fact makes it %+v", got)
	}
	if got := paid.with(Fact{State: Paid, UniqueID: "2"}); got.State != Conflict {
		t.Errorf("paid twice is %s", got.State)
	}
}
