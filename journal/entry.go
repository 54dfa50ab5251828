package journal

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

// Entry is one payment, or one refund, as a Store holds it: the intent with which it began, and all evidence since, in
// order. What it comes to is said by State, Conflict, and Outcome or RefundOutcome.
type Entry struct {
	Begun    Intent
	Evidence []Evidence
	// Acked is how much of Evidence has been acknowledged; negative before the first acknowledgement. Evidence
	// beyond it has to be told to the merchant.
	Acked int

	why error // why the gateway could not be asked last, in an entry that Recover gives
}

// Key names the entry.
func (e *Entry) Key() Key { return e.Begun.Key() }

// TransactionID is the merchant's id of the payment; empty for a refund.
func (e *Entry) TransactionID() string { return e.Begun.TransactionID }

// RefundTransactionID is the merchant's id of the refund; empty for a payment.
func (e *Entry) RefundTransactionID() string { return e.Begun.RefundTransactionID }

// Unacked reports whether there is something that the merchant has not acknowledged.
func (e *Entry) Unacked() bool { return e.Acked < len(e.Evidence) }

// Intent is what is about to be sent: all that tells one payment from another, and nothing of the card.
type Intent struct {
	Shop          Shop
	TransactionID string // empty for a refund
	OrderID       string // empty for TokenPayment and for a refund, which carry none
	Operation     string // the client's method, such as TokenPayment
	Amount        decimal.Decimal
	Currency      string    // empty for a refund, which carries none
	At            time.Time // when it was recorded, which is before anything was sent
	Sender        string    // random; tells this submission from any other of the same id

	RefundTransactionID string // of a refund
	UniqueID            string // of a refund: the gateway's id of the payment
}

// Key names the intent's entry.
func (in *Intent) Key() Key { return Key{in.Shop, in.TransactionID, in.RefundTransactionID} }

// isRefund reports whether money is to be given back.
func (in *Intent) isRefund() bool { return in.RefundTransactionID != "" }

// idMember is the interface's name of the id.
func (in *Intent) idMember() string {
	if in.isRefund() {
		return "refundTransactionId"
	}
	return "transactionId"
}

// The operations, by the names of the client's methods.
const (
	opTokenOrder           = "CreateTokenOrder"
	opTokenPayment         = "TokenPayment"
	opSubscription         = "CreateSubscription"
	opCheckout             = "CreateCheckout"
	opCheckoutSubscription = "CreateCheckoutSubscription"
	opRefund               = "CreateRefund"
)

// onHostedPage reports whether the payment is made on the gateway's page, where a cardholder whose card is declined can
// try another one.
func (in *Intent) onHostedPage() bool {
	switch in.Operation {
	case opTokenOrder, opCheckout, opCheckoutSubscription:
		return true
	}
	return false
}

// same reports whether two intents are of one payment, or of one refund.
func (in *Intent) same(other *Intent) bool {
	return in.TransactionID == other.TransactionID && in.OrderID == other.OrderID && in.Operation == other.Operation &&
		in.Amount.Equal(other.Amount) && in.Currency == other.Currency &&
		in.RefundTransactionID == other.RefundTransactionID && in.UniqueID == other.UniqueID
}

// Evidence is one thing that became known of a payment or a refund, or one further submission of it. It is never changed.
type Evidence struct {
	At     time.Time
	Source Source
	// State is what this evidence alone says.
	State State
	// Submission is set for SourceSubmission only: what is submitted now.
	Submission *Intent
	// Sender names the submission that a response belongs to.
	Sender string
	// Transaction is what the gateway said of it, or nil. Only members that identify or decide are kept: no free
	// text, no card number, no address, nothing unknown.
	Transaction *cardgateway.Transaction
	// Refund is, in an entry of a refund, what the gateway said of it, or nil. The same members are kept.
	Refund *cardgateway.Refund
	// HTTPStatus and Code are those of a refusal.
	HTTPStatus int
	Code       cardgateway.Code
	// Invalid says that the client found the request to violate a limit; State is then NotSent.
	Invalid bool
	// Seen says that the gateway has shown this id in a form that says nothing certain; State is then Unknown.
	// It is never presumed absent.
	Seen bool
}

// Source says where evidence comes from.
type Source string

// The sources of evidence.
const (
	SourceSubmission Source = "submission" // another submission is about to be sent; State is Unknown
	SourceAnswer     Source = "answer"     // what a payment call returned
	SourceQuery      Source = "query"      // what asking the gateway showed
)

// CanBeAskedAgain reports whether losing this evidence would only leave the payment open, for Recover to ask about:
// so it is with a response of the gateway, and not with further submissions, with what is proved unsent or presumed
// absent, and with a refusal.
func (ev *Evidence) CanBeAskedAgain() bool {
	switch ev.State {
	case Pending, Abandoned, Declined, Succeeded:
		return true
	case Unknown:
		return ev.Source != SourceSubmission
	}
	return false
}

// State is what is known of a payment, or of a refund. The states are in the order of knowledge: one is left only for a
// later one, Declined and Succeeded for none, except that another submission makes a payment Unknown again.
type State int

// The states of a payment. A refund is Pending at 110, Declined at 112 and Succeeded at 111, and never Abandoned.
const (
	Unknown        State = iota // the intent is durable and the request may have been sent; or a response said nothing certain
	NotSent                     // proved: nothing was submitted; the same call may be made again
	Refused                     // the gateway said that it did not process it
	PresumedAbsent              // the gateway did not know it for longer than AbsentAfter: a presumption, no proof
	Pending                     // 102 or 301: accepted, or waiting for the cardholder, who may have had an attempt declined
	Abandoned                   // it waited for its cardholder for longer than AbandonAfter; nobody asks any more
	Declined                    // final, not paid
	Succeeded                   // final, paid
)

// String returns the state in words.
func (s State) String() string {
	switch s {
	case NotSent:
		return "not sent"
	case Refused:
		return "refused"
	case PresumedAbsent:
		return "presumed absent"
	case Pending:
		return "pending"
	case Abandoned:
		return "abandoned"
	case Declined:
		return "declined"
	case Succeeded:
		return "succeeded"
	}
	return "unknown"
}

// Errors of a Store.
var (
	ErrNoEntry = errors.New("journal: no such payment or refund")
	ErrChanged = errors.New("journal: the entry has changed since then")
)

// The changes that a store makes to an entry, for the stores that hold entries whole. A version of an entry is how much
// evidence it has: as an optimistic lock, a change names the version that it was decided on.

// newEntry returns the entry of an intent of which nothing is known or acknowledged.
func newEntry(in Intent) Entry { return Entry{Begun: in, Acked: -1} }

// version is how much evidence the entry has.
func (e *Entry) version() int { return len(e.Evidence) }

// record appends evidence to an entry of exactly this version.
func (e *Entry) record(version int, ev Evidence) error {
	if len(e.Evidence) != version {
		return ErrChanged
	}
	e.Evidence = append(e.Evidence, ev)
	return nil
}

// ack acknowledges an entry of exactly this version. One of which everything is acknowledged is left as it is.
func (e *Entry) ack(version int) error {
	switch {
	case !e.Unacked():
		return nil
	case len(e.Evidence) != version:
		return ErrChanged
	}
	e.Acked = version
	return nil
}

// snapshot returns a copy that later changes of e leave alone. Evidence itself is never changed.
func (e *Entry) snapshot() Entry {
	s := *e
	s.Evidence = slices.Clone(e.Evidence)
	return s
}

// byAge orders entries by when they began.
func byAge(a, b Entry) int {
	return cmp.Or(a.Begun.At.Compare(b.Begun.At), cmp.Compare(a.Key().ID(), b.Key().ID()))
}
