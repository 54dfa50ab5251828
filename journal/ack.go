package journal

import (
	"context"
	"errors"
)

// Ack acknowledges that the merchant's own books hold the outcome that this Journal last told of the payment, by a
// payment method or by Recover, or after a restart the outcome that the store holds: it will not be repeated. Of a
// payment that is Pending, Refused or PresumedAbsent it means also that nobody asks any more what became of it.
// Acknowledge a pending one only if something else, such as the notification, will say how it ends, and an absence only
// when it is too late for the request to arrive.
//
// Ack returns ErrOpen for a payment without an outcome, ErrChanged if more is known by now than was told (Recover
// will tell it), ErrNoEntry for a payment that was never begun, and any failure of the store. A call that could not
// look into the store, or was a mismatch, has told nothing: after it, too, Ack returns ErrChanged until the payment is
// told by this Journal.
func (j *Journal) Ack(ctx context.Context, transactionID string) error {
	last, known := j.reported.get(transactionID)
	if !known {
		e, err := j.get(ctx, transactionID)
		if err != nil {
			return err
		}
		last = report{intent: e.Intent(), version: len(e.Evidence), state: e.State()}
		if !e.Unacked() {
			last.state = NotSent // it has been acknowledged, whatever the state
		}
	}
	if last.state == Unknown {
		return ErrOpen
	}
	err := j.store.Ack(ctx, transactionID, last.version)
	switch {
	case errors.Is(err, ErrChanged):
		j.reported.refuted(transactionID, last)
	case err == nil, errors.Is(err, ErrNoEntry):
		j.reported.remove(transactionID)
		j.asked.forget(transactionID)
	}
	return err
}
