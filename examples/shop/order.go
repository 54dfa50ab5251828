package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Order is one purchase. It is paid by one of its attempts.
type Order struct {
	ID       string // also the orderId of each attempt
	Customer string
	Amount   decimal.Decimal
	Buyer    Buyer
	Lines    Lines
	Created  time.Time
	Attempt  // the one that has paid the order, or else the last one
	Refunds  []Refund
}

// Attempt is one attempt to pay an order. The next one begins only if every earlier one has ended without a payment.
type Attempt struct {
	ID      string // the payment's transactionId
	Number  int    // from 1
	Kind    Kind
	CardID  string // of the stored card, for KindToken
	Payment        // what is known of it
}

// attemptID returns the id of an attempt.
func attemptID(orderID string, number int) string {
	if number == 1 {
		return orderID
	}
	return fmt.Sprintf("%s-%d", orderID, number)
}

// Kind is how an attempt pays.
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

// Lines are what is in a cart or an order.
type Lines []Line

// Total is the price of all lines.
func (all Lines) Total() (sum decimal.Decimal) {
	for _, l := range all {
		sum = sum.Add(l.Total())
	}
	return sum
}

// contents says what is in a cart, at which prices: what a customer agrees to.
type contents string

// Contents returns the same for the same lines in any order. The form that orders them has it.
func (all Lines) Contents() contents {
	var texts []string
	for _, l := range all {
		texts = append(texts, fmt.Sprintf("%d %s %s", l.Quantity, l.SKU, l.Price))
	}
	slices.Sort(texts)
	return contents(strings.Join(texts, ", "))
}

// State is what the shop knows about a payment. It follows from the journal's entry of the payment, and from nothing
// else: notifications and returning browsers are only reasons to query.
type State string

// The states of an attempt.
const (
	Open       State = "open"       // recorded; the payment has not been submitted, or the shop was stopped before it could store the outcome
	Unsent     State = "unsent"     // proved: nothing was sent
	Refused    State = "refused"    // the gateway did not accept the request
	Checking   State = "checking"   // the outcome is unknown, and is being resolved
	Unpaid     State = "unpaid"     // the gateway has not known the payment for a day
	Waiting    State = "waiting"    // for the cardholder, at RedirectURL
	Processing State = "processing" // accepted by the gateway
	Closed     State = "closed"     // the cardholder did not finish the gateway's page
	Declined   State = "declined"   // on the gateway's page this is one attempt, and another may follow
	Paid       State = "paid"
	Tested     State = "tested"   // approved as a test, and this is no test system: not paid
	Conflict   State = "conflict" // contradictory outcomes: needs manual review
	Refunded   State = "refunded" // of a refund: the money was returned
)

// stateOf is what each state of the journal means for an attempt; for a refund see refundOf.
var stateOf = map[journal.State]State{
	journal.Unknown:        Checking,
	journal.NotSent:        Unsent,
	journal.Refused:        Refused,
	journal.PresumedAbsent: Unpaid,
	journal.Pending:        Waiting, // or Processing, or Declined: see paymentOf
	journal.Abandoned:      Closed,
	journal.Declined:       Declined,
	journal.Succeeded:      Paid,
	journal.Tested:         Tested,
	journal.Conflicting:    Conflict,
}

// Final reports whether the payment is not expected to change by itself any more.
func (s State) Final() bool {
	switch s {
	case Open, Checking, Waiting, Processing:
		return false
	}
	return true
}

// Payment is what is known of a payment. Empty texts mean "not known".
type Payment struct {
	State       State
	Reason      string // the gateway's text for a decline: data, shown escaped
	UniqueID    string // the gateway's id
	Card        string // the last four digits
	RedirectURL string // the page where the cardholder continues
	// Evidence is how much of the journal's evidence this includes, or -1. Evidence is only ever added: what includes more of it is newer.
	Evidence int
}

// paymentOf returns what an entry of the journal means for its attempt; t is the transaction of its outcome, or nil.
func paymentOf(e *journal.Entry, t *cardgateway.Transaction) Payment {
	p := Payment{State: stateOf[e.State()], Evidence: len(e.Evidence)}
	if t == nil {
		return p
	}
	p.UniqueID, p.Card = t.UniqueID, t.TransactionCardNumber.Last4()
	switch t.State() {
	case cardgateway.StateDeclined:
		p.State, p.Reason = Declined, t.TransactionMessage
	case cardgateway.StateProcessing:
		p.State = Processing
	case cardgateway.StateRedirect:
		p.RedirectURL = t.RedirectURL
	}
	return p
}
