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
func (e *Entry) Outcome() (*cardgateway.Transaction, error) {
	known := e.project()
	in := &known.intent
	if known.conflict {
		conflict := &cardgateway.ConflictError{TransactionID: in.TransactionID}
		for _, ev := range known.outcomes {
			conflict.Transactions = append(conflict.Transactions, *ev.Transaction)
		}
		return nil, conflict
	}
	switch known.state {
	case Succeeded, Pending:
		return known.deciding.transaction(), nil
	case Declined:
		t := known.deciding.transaction()
		return t, &cardgateway.DeclinedError{Op: in.Operation, TransactionID: in.TransactionID, Transaction: t}
	case Refused:
		refused := &cardgateway.RefusedError{Op: in.Operation, HTTPStatus: known.deciding.HTTPStatus, Code: known.deciding.Code}
		return nil, &RecordedError{At: known.deciding.At, Err: refused}
	case NotSent:
		return nil, in.notSent(fmt.Errorf("recorded in the journal at %s", known.deciding.At.UTC().Format(time.RFC3339)))
	case PresumedAbsent:
		return nil, in.unknown(e.because(ErrPresumedAbsent))
	case Abandoned:
		return nil, in.unknown(ErrAbandoned)
	}
	return nil, in.unknown(e.because(ErrOpen))
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
	return &cardgateway.NotSentError{Op: in.Operation, TransactionID: in.TransactionID, Cause: cause}
}

func (in *Intent) unknown(cause error) *cardgateway.OutcomeUnknownError {
	return &cardgateway.OutcomeUnknownError{
		Op: in.Operation, TransactionID: in.TransactionID, OrderID: in.OrderID,
		Amount: in.Amount, Currency: in.Currency, SentAt: in.At, Cause: cause,
	}
}

// transaction returns a copy, so that no caller can change the evidence.
func (ev *Evidence) transaction() *cardgateway.Transaction {
	t := *ev.Transaction
	return &t
}

// observed turns what a payment call returned into evidence. A decline counts only if certain: the gateway may
// answer a repetition with it.
func observed(t *cardgateway.Transaction, err error, certain bool) Evidence {
	ev := Evidence{Source: SourceAnswer}
	refused, isRefused := errors.AsType[*cardgateway.RefusedError](err)
	switch {
	case err == nil && t != nil:
		ev.State, ev.Transaction = stateOf(t), kept(t)
	case errors.Is(err, cardgateway.ErrOutcomeUnknown), errors.Is(err, cardgateway.ErrConflict):
	case errors.Is(err, cardgateway.ErrDeclined) && t != nil:
		ev.Transaction = kept(t)
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

// stateOf says what a transaction that was returned without an error stands for.
func stateOf(t *cardgateway.Transaction) State {
	switch t.State() {
	case cardgateway.StateApproved:
		return Succeeded
	case cardgateway.StateDeclined:
		return Declined
	case cardgateway.StateProcessing, cardgateway.StateRedirect:
		return Pending
	}
	return Unknown
}

// kept copies the members of a transaction that a store may hold. Texts of the gateway are not among them: they
// could echo a card number or a token. The address to which a cardholder is to be sent is, since it cannot be asked
// for again.
func kept(t *cardgateway.Transaction) *cardgateway.Transaction {
	k := &cardgateway.Transaction{
		Code: t.Code, IsTest: t.IsTest, UniqueID: t.UniqueID, TransactionID: t.TransactionID, Timestamp: t.Timestamp,
		TransactionAmount: t.TransactionAmount, TransactionCurrency: t.TransactionCurrency,
		TransactionAt: t.TransactionAt, Is3D: t.Is3D,
	}
	if t.State() == cardgateway.StateRedirect {
		k.RedirectURL = t.RedirectURL
	}
	return k
}

// keptOfQuery does the same for what a query showed. The secrets of the payment are not at hand then, so that an
// address is kept only of payments that have none.
func keptOfQuery(t *cardgateway.Transaction, e *Entry) *cardgateway.Transaction {
	k := kept(t)
	if op := e.Intent().Operation; op == opTokenPayment || op == opSubscription {
		k.RedirectURL = ""
	}
	return k
}

// ErrMismatch is what errors.Is finds in a *MismatchError.
var ErrMismatch = errors.New("journal: the transactionId is that of another payment")

// MismatchError says that a payment was asked for under a transactionId which another payment has: one of another
// amount, currency, order or operation. Nothing was sent. errors.Is finds ErrMismatch in it, and ErrInvalidRequest: a new
// payment needs a new transactionId. It says nothing about the payment that is recorded under this one.
type MismatchError struct {
	Asked    Intent
	Recorded Intent
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("journal: %s: transactionId %q is that of another payment: asked for %s, recorded %s",
		e.Asked.Operation, e.Asked.TransactionID, e.Asked.describe(), e.Recorded.describe())
}

// Is reports whether target is ErrMismatch or cardgateway.ErrInvalidRequest.
func (e *MismatchError) Is(target error) bool {
	return target == ErrMismatch || target == cardgateway.ErrInvalidRequest
}

func (in *Intent) describe() string {
	return fmt.Sprintf("%s of %s %s for order %q", in.Operation, amountText(in.Amount), in.Currency, in.OrderID)
}
