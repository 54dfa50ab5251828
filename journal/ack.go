package journal

import (
	"context"
	"errors"

	"github.com/cardgateway/cardgateway-go"
)

// Ack acknowledges that you have stored the state of a payment or a refund, and what belongs to it: it will not be reported
// again. The state is that of what a payment method returned, see StateOf, or of the Entry. For an entry that is
// Pending, Refused or PresumedAbsent it also means that the journal no longer queries the gateway for it. Acknowledge a
// pending payment only if something else, such as the notification, will report how it ends, and a presumed absent one
// only when it is too late for the request to arrive.
//
// Ack acknowledges the entry if it has this state now, and otherwise nothing. It returns ErrOpen for an entry without an
// outcome (Unknown), ErrChanged for an entry with another state (Recover reports it until it is acknowledged), ErrNoEntry for
// what was never begun, and any failure of the store. A repeated Ack does nothing. It makes no difference which process
// was told the state, or when.
func (j *Journal) Ack(ctx context.Context, id ID, stored State) error {
	if err := needContext(ctx, "Ack"); err != nil {
		return err
	}
	for range mostChanges {
		e, err := j.get(ctx, j.key(id))
		if err != nil {
			return err
		}
		switch now := e.State(); {
		case now == Unknown:
			return ErrOpen
		case now != stored:
			return ErrChanged
		case !e.Unacked():
			return nil
		}
		if err := j.ack(ctx, &e); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}

// StateOf returns the state that the results of a payment method or of CreateRefund state, for Ack. It is Unknown, which is
// never acknowledged, for every error that says something about the call only and not about the payment: not sent, invalid,
// mismatch, or a failure of the store.
func StateOf[R *cardgateway.Transaction | *cardgateway.Refund](result R, err error) State {
	switch {
	case err == nil:
		switch r := any(result).(type) {
		case *cardgateway.Transaction:
			return shown{transaction: r}.state()
		case *cardgateway.Refund:
			return shown{refund: r}.state()
		}
	case errors.Is(err, cardgateway.ErrNotSent), errors.Is(err, cardgateway.ErrInvalidRequest): // it may wrap any other
	case errors.Is(err, ErrPresumedAbsent):
		return PresumedAbsent
	case errors.Is(err, ErrAbandoned):
		return Abandoned
	case errors.Is(err, cardgateway.ErrOutcomeUnknown): // it may wrap an outcome that is not certain
	case errors.Is(err, cardgateway.ErrConflict):
		return Conflicting
	case errors.Is(err, cardgateway.ErrDeclined):
		return Declined
	case errors.Is(err, cardgateway.ErrRefused):
		return Refused
	}
	return Unknown
}
