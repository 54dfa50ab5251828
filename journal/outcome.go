package journal

import (
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// Causes of an *OutcomeUnknownError that a Journal returns; errors.Is finds them.
var (
	// ErrOpen: the payment is in flight, here or in another process, or whoever sent it died. Recover settles it.
	ErrOpen = errors.New("journal: the payment is open")
	// ErrPresumedAbsent: the gateway did not know the payment for longer than Options.AbsentAfter. It was most
	// likely never made; see Journal.PayAgainRiskingSecondCharge.
	ErrPresumedAbsent = errors.New("journal: the payment is presumed absent")
	// ErrAbandoned: the payment waited for its cardholder for longer than Options.AbandonAfter. Most likely nobody will
	// ever pay it. If somebody does, a notification or a walk shows it; hand that to Journal.Confirm.
	ErrAbandoned = errors.New("journal: the cardholder has not come")
	// ErrRepeatDeclined: a further submission was declined, which may only mean that it was a repetition.
	ErrRepeatDeclined = errors.New("journal: a repeated submission was declined, which does not say what became of the first")
)

// Outcome returns what the payment's own call returned, or would have: the transaction of a payment that succeeded
// or is pending, or an error of package cardgateway. The transaction has the members that identify it and decide
// about it; for the gateway's texts ask Client.GetTransaction.
//
//	Succeeded, Pending       the transaction
//	Declined                 the transaction and a *cardgateway.DeclinedError
//	Refused                  a *cardgateway.RefusedError in a *RecordedError, which says when
//	NotSent                  a *cardgateway.NotSentError
//	Unknown                  a *cardgateway.OutcomeUnknownError with cause ErrOpen
//	PresumedAbsent           a *cardgateway.OutcomeUnknownError with cause ErrPresumedAbsent
//	Abandoned                a *cardgateway.OutcomeUnknownError with cause ErrAbandoned
//	any state, if Conflict   a *cardgateway.ConflictError
//
// In an entry that Recover gives, the chain of an outcome that is not known also has the error of the last query, if it
// failed: a secret key that is not valid any more, say.
//
// The entry of a refund has no such outcome: see RefundOutcome.
func (e *Entry) Outcome() (*cardgateway.Transaction, error) {
	if e.Begun.isRefund() {
		return nil, fmt.Errorf("%w: %s", ErrRefund, e.Key().describe())
	}
	s, err := e.outcome()
	return s.transaction, err
}

// RefundOutcome returns what the refund's own call returned, or would have: the refund, or an error of package cardgateway,
// as Outcome does for a payment. The entry of a payment has no such outcome.
func (e *Entry) RefundOutcome() (*cardgateway.Refund, error) {
	if !e.Begun.isRefund() {
		return nil, fmt.Errorf("%w: %s", ErrPayment, e.Key().describe())
	}
	s, err := e.outcome()
	return s.refund, err
}

// Errors of the two methods, where an entry is asked for what it does not have.
var (
	ErrRefund  = errors.New("journal: the entry is of a refund: it has a RefundOutcome")
	ErrPayment = errors.New("journal: the entry is of a payment: it has an Outcome")
)

func (e *Entry) outcome() (shown, error) {
	known := e.project()
	in := &known.intent
	if known.conflict {
		return shown{}, in.conflict(known.outcomes)
	}
	switch known.state {
	case Succeeded, Pending:
		return known.deciding.shown().copied(), nil
	case Declined:
		s := known.deciding.shown().copied()
		return s, &cardgateway.DeclinedError{
			Op: in.Operation, TransactionID: in.TransactionID, Transaction: s.transaction,
			RefundTransactionID: in.RefundTransactionID, Refund: s.refund,
		}
	case Refused:
		refused := &cardgateway.RefusedError{Op: in.Operation, HTTPStatus: known.deciding.HTTPStatus, Code: known.deciding.Code}
		return shown{}, &RecordedError{At: known.deciding.At, Err: refused}
	case NotSent:
		return shown{}, in.notSent(fmt.Errorf("recorded in the journal at %s", known.deciding.At.UTC().Format(time.RFC3339)))
	case PresumedAbsent:
		return shown{}, in.unknown(e.because(ErrPresumedAbsent))
	case Abandoned:
		return shown{}, in.unknown(ErrAbandoned)
	}
	return shown{}, in.unknown(e.because(ErrOpen))
}

// because adds to a cause why the gateway could not be asked.
func (e *Entry) because(cause error) error {
	if e.why == nil {
		return cause
	}
	return fmt.Errorf("%w: the last query failed: %w", cause, e.why)
}

// RecordedError is an error that was recorded earlier and is told again. The call that returns it has sent nothing.
type RecordedError struct {
	At  time.Time
	Err error
}

func (e *RecordedError) Error() string {
	return fmt.Sprintf("journal: recorded at %s, nothing was sent now: %v", e.At.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap returns the recorded error.
func (e *RecordedError) Unwrap() error { return e.Err }

func (in *Intent) notSent(cause error) error {
	return &cardgateway.NotSentError{
		Op: in.Operation, TransactionID: in.TransactionID, RefundTransactionID: in.RefundTransactionID, Cause: cause,
	}
}

func (in *Intent) unknown(cause error) *cardgateway.OutcomeUnknownError {
	return &cardgateway.OutcomeUnknownError{
		Op: in.Operation, TransactionID: in.TransactionID, OrderID: in.OrderID,
		RefundTransactionID: in.RefundTransactionID, UniqueID: in.UniqueID,
		Amount: in.Amount, Currency: in.Currency, SentAt: in.At, Cause: cause,
	}
}

// conflict says which outcomes cannot all be true.
func (in *Intent) conflict(outcomes []*Evidence) error {
	conflict := &cardgateway.ConflictError{TransactionID: in.TransactionID, RefundTransactionID: in.RefundTransactionID}
	for _, ev := range outcomes {
		if ev.Transaction != nil {
			conflict.Transactions = append(conflict.Transactions, *ev.Transaction)
		}
		if ev.Refund != nil {
			conflict.Refunds = append(conflict.Refunds, *ev.Refund)
		}
	}
	return conflict
}

// observed turns what a call returned into evidence. A decline counts only if certain: the gateway may answer a
// repetition with it.
func observed(s shown, err error, certain bool) Evidence {
	ev := Evidence{Source: SourceAnswer}
	refused, isRefused := errors.AsType[*cardgateway.RefusedError](err)
	unknown, isUnknown := errors.AsType[*cardgateway.OutcomeUnknownError](err)
	switch {
	case err == nil && !s.isNothing():
		ev.State = s.state()
		ev.set(s.kept())
	case isUnknown:
		ev.Seen = unknown.Seen
	case errors.Is(err, cardgateway.ErrConflict):
	case errors.Is(err, cardgateway.ErrDeclined) && !s.isNothing():
		ev.set(s.kept())
		if certain {
			ev.State = Declined
		}
	case isRefused:
		ev.State, ev.HTTPStatus, ev.Code = Refused, refused.HTTPStatus, refused.Code
	case errors.Is(err, cardgateway.ErrInvalidRequest):
		ev.State, ev.Invalid = NotSent, true
	case errors.Is(err, cardgateway.ErrNotSent):
		ev.State = NotSent
	}
	return ev
}

// ErrMismatch is what errors.Is finds in a *MismatchError.
var ErrMismatch = errors.New("journal: the id is that of another payment or refund")

// MismatchError says that a payment was asked for under a transactionId which another payment has: one of another
// amount, currency, order or operation. Nothing was sent. errors.Is finds ErrMismatch in it, and ErrInvalidRequest: a new
// payment needs a new transactionId. It says nothing about the payment that is recorded under this one. So it is with a
// refund of another payment or amount.
type MismatchError struct {
	Asked    Intent
	Recorded Intent
}

func (e *MismatchError) Error() string {
	what, id := "payment", e.Asked.TransactionID
	if e.Asked.isRefund() {
		what, id = "refund", e.Asked.RefundTransactionID
	}
	return fmt.Sprintf("journal: %s: %s %q is that of another %s: asked for %s, recorded %s",
		e.Asked.Operation, e.Asked.idMember(), id, what, e.Asked.describe(), e.Recorded.describe())
}

// Is reports whether target is ErrMismatch or cardgateway.ErrInvalidRequest.
func (e *MismatchError) Is(target error) bool {
	return target == ErrMismatch || target == cardgateway.ErrInvalidRequest
}

func (in *Intent) describe() string {
	if in.isRefund() {
		return fmt.Sprintf("%s of %s of transaction %q", in.Operation, amountText(in.Amount), in.UniqueID)
	}
	return fmt.Sprintf("%s of %s %s for order %q", in.Operation, amountText(in.Amount), in.Currency, in.OrderID)
}
