package journal

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

// Entry is one payment as a Store holds it: the intent with which it began, and all evidence since, in order. What it
// comes to is said by State, Conflict and Outcome.
type Entry struct {
	Begun    Intent
	Evidence []Evidence
	// Acked is how much of Evidence has been acknowledged; negative before the first acknowledgement. Evidence
	// beyond it has to be told to the merchant.
	Acked int
}

// Intent is what is about to be sent: all that tells one payment from another, and nothing of the card.
type Intent struct {
	TransactionID string
	OrderID       string // empty for TokenPayment, which carries none
	Operation     string // the client's method, such as TokenPayment
	Amount        decimal.Decimal
	Currency      string
	At            time.Time // when it was recorded, which is before anything was sent
	Sender        string    // random; tells this submission from any other of the same transactionId
}

// Evidence is one thing that became known of a payment, or one further submission of it. It is never changed.
type Evidence struct {
	At     time.Time
	Source Source
	// State is what this evidence alone says.
	State State
	// Submission is set for SourceSubmission only: what is submitted now.
	Submission *Intent
	// Sender names the submission that an answer belongs to.
	Sender string
	// Transaction is what the gateway said of it, or nil. Only members that identify or decide are kept: no free
	// text, no card number, no address, nothing unknown.
	Transaction *cardgateway.Transaction
	// HTTPStatus and Code are those of a refusal.
	HTTPStatus int
	Code       cardgateway.Code
	// Invalid says that the client found the request to violate a limit; State is then NotSent.
	Invalid bool
}

// Source says where evidence comes from.
type Source string

// The sources of evidence.
const (
	SourceSubmission Source = "submission" // another submission is about to be sent; State is Unknown
	SourceAnswer     Source = "answer"     // what a payment call returned
	SourceQuery      Source = "query"      // what asking the gateway showed
)

// State is what is known of a payment. The states are in the order of knowledge: one is left only for a later one,
// Declined and Succeeded for none, except that another submission makes a payment Unknown again.
type State int

// The states of a payment.
const (
	Unknown        State = iota // the intent is durable and the request may have been sent; or an answer said nothing certain
	NotSent                     // proved: nothing was submitted; the same call may be made again
	Refused                     // the gateway said that it did not process it
	PresumedAbsent              // the gateway did not know it for longer than AbsentAfter: a presumption, no proof
	Pending                     // 102 or 301: accepted, or waiting for the cardholder
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
	case Declined:
		return "declined"
	case Succeeded:
		return "succeeded"
	}
	return "unknown"
}

// TransactionID is the merchant's id of the payment.
func (e *Entry) TransactionID() string { return e.Begun.TransactionID }

// Intent is that of the latest submission.
func (e *Entry) Intent() Intent { return e.view().intent }

// State is what all evidence together comes to.
func (e *Entry) State() State { return e.view().state }

// Conflict reports that the evidence cannot all be true of one payment: two successes, or a success after the
// payment was declined, refused, proved not sent or presumed absent. A person has to look: money may have moved
// twice, or after the customer was told that it did not. It is never taken back.
func (e *Entry) Conflict() bool { return e.view().conflict }

// Unacked reports whether there is something that the merchant has not acknowledged.
func (e *Entry) Unacked() bool { return e.Acked < len(e.Evidence) }
