package main

import (
	"cmp"
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Order is one purchase, paid by one payment: its ID is the payment's transactionId too.
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

// Buyer is what the shop asks of its customers. Of the address the gateway requires the country alone.
type Buyer struct{ FirstName, LastName, Email, Country string }

// Line is one product of an order, at the price of the day.
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

// State is what the shop knows of an order's payment. It moves by facts alone: what a payment call returned, what the
// journal found out, what a query of the gateway said. Notifications and returning browsers are reasons to ask.
type State string

// The states of an order.
const (
	Open       State = "open"       // written down; the payment has not been submitted, as far as this row knows
	Unsent     State = "unsent"     // proved: nothing was submitted
	Refused    State = "refused"    // the gateway did not take the request
	Checking   State = "checking"   // the outcome is unknown, and is being found out
	Waiting    State = "waiting"    // for the cardholder, at RedirectURL
	Processing State = "processing" // accepted by the gateway
	Paid       State = "paid"
	Declined   State = "declined"
	Conflict   State = "conflict" // facts that cannot all be true: a person has to look
)

// Final reports whether nothing more is expected to happen to the order by itself.
func (s State) Final() bool {
	switch s {
	case Open, Checking, Waiting, Processing:
		return false
	}
	return true
}

// after returns the state in which an order is once a fact has been learnt. Facts come in any order and more than
// once, so that this is what keeps a late "processing" from unmaking a payment.
func (s State) after(fact State) State {
	switch {
	case s == Conflict, fact == Conflict, (s == Refused || s == Unsent) && fact == Paid: // nothing was to be submitted
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

// Fact is what was learnt of a payment. Apart from State, its zero values say nothing.
type Fact struct {
	State       State
	Reason      string // the gateway's text for a decline: data, shown escaped
	UniqueID    string // the gateway's id
	Card        string // the last four digits
	RedirectURL string // where the cardholder is awaited
}

// with returns what is known once n has been learnt as well.
func (f Fact) with(n Fact) Fact {
	if f.State == Paid && n.State == Paid && n.UniqueID != "" && f.UniqueID != "" && n.UniqueID != f.UniqueID {
		n.State = Conflict // paid twice
	}
	state := f.State.after(n.State)
	if state != n.State { // what is known already says more
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

// factOf reads what a payment call returned, or the journal's Entry.Outcome, which has the same results, or a query.
// The order of the cases is that of doubt: an error that says both "unknown" and something else is unknown.
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
