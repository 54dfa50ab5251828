package simulation

import (
	"context"
	"errors"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// verdict is what a merchant is told.
type verdict string

const (
	paid      verdict = "paid"
	pending   verdict = "pending"
	declined  verdict = "declined"
	refused   verdict = "refused"
	notSent   verdict = "not sent"
	absent    verdict = "presumed absent"
	abandoned verdict = "abandoned"
	conflict  verdict = "conflict"
	unknown   verdict = "unknown"
	invalid   verdict = "invalid"
	mismatch  verdict = "mismatch"
	unlisted  verdict = "an error of no documented kind"
)

// isFinal reports whether Run acknowledges it.
func (v verdict) isFinal() bool {
	return v == paid || v == declined || v == conflict || v == abandoned || v == notSent
}

// result is what a call returns.
type result struct {
	payment *cardgateway.Transaction
	refund  *cardgateway.Refund
}

// state returns the state that the merchant stores and acknowledges.
func (r result) state(err error) journal.State {
	if r.refund != nil {
		return journal.StateOf(r.refund, err)
	}
	return journal.StateOf(r.payment, err)
}

func verdictOf(r result, err error) verdict {
	switch {
	case errors.Is(err, cardgateway.ErrConflict):
		return conflict
	case errors.Is(err, cardgateway.ErrDeclined):
		return declined
	case errors.Is(err, cardgateway.ErrRefused):
		return refused
	case errors.Is(err, journal.ErrMismatch):
		return mismatch
	case errors.Is(err, cardgateway.ErrInvalidRequest):
		return invalid
	case errors.Is(err, cardgateway.ErrNotSent):
		return notSent
	case errors.Is(err, journal.ErrAbandoned):
		return abandoned
	case errors.Is(err, journal.ErrPresumedAbsent):
		return absent
	case errors.Is(err, cardgateway.ErrOutcomeUnknown):
		return unknown
	case err != nil:
		return unlisted
	case r.payment != nil && r.payment.State() == cardgateway.StateApproved, r.refund != nil && r.refund.Refunded():
		return paid
	case r.payment != nil, r.refund != nil:
		return pending
	}
	return unlisted
}

// verdictOfEntry returns what an entry tells.
func verdictOfEntry(e *journal.Entry) (verdict, error) {
	var v verdict
	err := e.Outcome(func(t *cardgateway.Transaction, err error) error {
		v = verdictOf(result{payment: t}, err)
		return err
	}, func(r *cardgateway.Refund, err error) error {
		v = verdictOf(result{refund: r}, err)
		return err
	})
	return v, err
}

// verdictOfState is what a state is told as.
func verdictOfState(e *journal.Entry) verdict {
	return map[journal.State]verdict{
		journal.Unknown: unknown, journal.NotSent: notSent, journal.Refused: refused, journal.PresumedAbsent: absent,
		journal.Pending: pending, journal.Abandoned: abandoned, journal.Declined: declined, journal.Succeeded: paid, journal.Conflicting: conflict,
	}[e.State()]
}

// books is what the merchant has stored of a thing in a database of its own.
type books struct {
	stored         map[verdict]bool
	last           journal.State // that was stored
	called         bool          // the merchant has called for it
	givenUp        bool          // acknowledged without an outcome: it need not be told any more
	ackedAs        verdict       // what the last acknowledgement was of
	ackedSuccesses int           // at that time
	runs           int           // times that Run has told it
	reportFailed   bool          // the last report of Run could not be stored: it waits for the interval
}

// store stores what was told.
func (b *books) store(v verdict, state journal.State) {
	b.last = state
	b.add(v)
}

func (b *books) add(v verdict) {
	if b.stored == nil {
		b.stored = make(map[verdict]bool)
	}
	b.stored[v] = true
}

// payer is how a payment is made: a client, a journal, or one of its ways to submit again.
type payer interface {
	TokenPayment(context.Context, cardgateway.Token, cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error)
	CreateTokenOrder(context.Context, cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error)
	CreateSubscription(context.Context, cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error)
	CreateCheckout(context.Context, cardgateway.CheckoutRequest) (*cardgateway.Transaction, error)
	CreateCheckoutSubscription(context.Context, cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error)
	CreateRefund(context.Context, cardgateway.RefundRequest) (*cardgateway.Refund, error)
}
