package main

import (
	"cmp"
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Order is one purchase with one payment: its ID is also the payment's transactionId.
type Order struct {
	ID       string
	Customer string
	Kind     Kind
	CardID   string // of the stored card, for KindToken
	Amount   decimal.Decimal
	Buyer    Buyer
	Lines    []Line
	Created  time.Time
	Fact     // what is known of the payment
}

// Kind is how an order is paid.
type Kind string

// The ways to pay.
const (
	KindHosted     Kind = "hosted"      // on the gateway's page
	KindToken      Kind = "token"       // with a stored card
	KindWeekly     Kind = "weekly"      // a subscription, on the gateway's page
	KindWeeklyCard Kind = "weekly-card" // a subscription, with a card that was typed into the shop
)

// Buyer is the data that the shop requires of a customer. Of the address, the gateway requires only the country.
type Buyer struct{ FirstName, LastName, Email, Country string }

// Line is one product of an order, at its price at the time of the order.
type Line struct {
	Product
	Quantity int
}

// Total is the line's price.
func (l Line) Total() decimal.Decimal { return l.Price.Mul(decimal.NewFromInt(int64(l.Quantity))) }

func total(lines []Line) (sum decimal.Decimal) {
	for _, l := range lines {
		sum = sum.Add(l.Total())
	}
	return sum
}

// State is what the shop knows about an order's payment. Only facts change it: the result of a payment call, of the
// journal, or of a query. Notifications and returning browsers are only reasons to query.
type State string

// The states of an order.
const (
	Open       State = "open"       // recorded; as far as this row knows, the payment has not been submitted
	Unsent     State = "unsent"     // proved: nothing was sent
	Refused    State = "refused"    // the gateway did not accept the request
	Checking   State = "checking"   // the outcome is unknown, and is being resolved
	Waiting    State = "waiting"    // for the cardholder, at RedirectURL
	Processing State = "processing" // accepted by the gateway
	Paid       State = "paid"
	Declined   State = "declined"
	Conflict   State = "conflict" // facts that contradict each other: needs manual review
)

// Final reports whether the order is not expected to change by itself any more.
func (s State) Final() bool {
	switch s {
	case Open, Checking, Waiting, Processing:
		return false
	}
	return true
}

// after returns the state of an order after a new fact. Facts arrive in any order and repeatedly, so this prevents a late
// "processing" from undoing a payment.
func (s State) after(fact State) State {
	switch {
	case s == Conflict, fact == Conflict, (s == Refused || s == Unsent) && fact == Paid: // it was known not to be accepted
		return Conflict
	case s == Declined && fact == Paid: // the cardholder has tried another card on the gateway's page
		return Paid
	case s == Paid, s == Declined:
		return s
	case fact == Open, s.known() && !fact.known():
		return s
	}
	return fact
}

// known reports whether the gateway is known to have the payment.
func (s State) known() bool {
	switch s {
	case Open, Unsent, Refused, Checking:
		return false
	}
	return true
}

// Fact is new information about a payment. Zero values of fields other than State mean "not known".
type Fact struct {
	State       State
	Reason      string // the gateway's text for a decline: data, shown escaped
	UniqueID    string // the gateway's id
	Card        string // the last four digits
	RedirectURL string // the page where the cardholder continues
}

// with returns what is known after the new fact n.
func (f Fact) with(n Fact) Fact {
	if f.State == Paid && n.State == Paid && n.UniqueID != "" && f.UniqueID != "" && n.UniqueID != f.UniqueID {
		n.State = Conflict // paid twice
	}
	state := f.State.after(n.State)
	if state != n.State { // the earlier fact is more specific
		f.State = state
		return f
	}
	n.UniqueID = cmp.Or(n.UniqueID, f.UniqueID)
	n.Card = cmp.Or(n.Card, f.Card)
	if f.State == n.State {
		n.Reason = cmp.Or(n.Reason, f.Reason)
		n.RedirectURL = cmp.Or(n.RedirectURL, f.RedirectURL)
	}
	return n
}

// factOf converts the result of a payment call, of the journal's Entry.Outcome, which has the same results, or of a query.
// The cases are in order of doubt: an error that matches both "unknown" and something else is unknown.
func factOf(t *cardgateway.Transaction, err error) Fact {
	switch {
	case errors.Is(err, cardgateway.ErrConflict):
		return Fact{State: Conflict}
	case errors.Is(err, journal.ErrPresumedAbsent):
		return Fact{State: Checking, Reason: "The gateway has not known this payment for a day. Most likely it was never made."}
	case errors.Is(err, cardgateway.ErrOutcomeUnknown):
		return Fact{State: Checking}
	case errors.Is(err, cardgateway.ErrRefused), errors.Is(err, cardgateway.ErrInvalidRequest):
		return Fact{State: Refused}
	case errors.Is(err, cardgateway.ErrNotSent):
		return Fact{State: Unsent}
	case t == nil, err != nil && !errors.Is(err, cardgateway.ErrDeclined):
		return Fact{State: Checking}
	}
	f := Fact{UniqueID: t.UniqueID, Card: t.TransactionCardNumber.Last4()}
	switch t.State() {
	case cardgateway.StateApproved:
		f.State = Paid
	case cardgateway.StateDeclined:
		f.State, f.Reason = Declined, t.TransactionMessage
	case cardgateway.StateProcessing:
		f.State = Processing
	case cardgateway.StateRedirect:
		f.State, f.RedirectURL = Waiting, t.RedirectURL
	default:
		f.State = Checking
	}
	return f
}

// isOf reports whether a transaction that a query returned is this order's payment.
func (o *Order) isOf(t *cardgateway.Transaction) bool {
	return t.TransactionID == o.ID && t.TransactionCurrency == currency && t.TransactionAmount.Equal(o.Amount)
}
