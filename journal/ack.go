package journal

import (
	"context"
	"errors"
)

// Ack acknowledges that you have stored the outcome that this Journal last reported for the payment, by a payment method
// or by Recover, or after a restart the outcome in the store: it will not be reported again. For a payment that is
// Pending, Refused or PresumedAbsent it also means that the journal no longer queries the gateway for it. Acknowledge a
// pending payment only if something else, such as the notification, will report how it ends, and a presumed absent one
// only when it is too late for the request to arrive.
//
// Ack returns ErrOpen for a payment without an outcome, ErrChanged if more is known by now than was reported (Recover
// will report it), ErrNoEntry for a payment that was never begun, and any failure of the store. A call that could not
// read the store, or was a mismatch, has reported nothing: after it, too, Ack returns ErrChanged until this Journal has
// reported the payment. For a refund, use AckRefund.
func (j *Journal) Ack(ctx context.Context, transactionID string) error {
	if err := needContext(ctx, "Ack"); err != nil {
		return err
	}
	return j.ackTold(ctx, j.key(PaymentID(transactionID)))
}

// ackTold acknowledges what this Journal last reported for a payment or a refund.
func (j *Journal) ackTold(ctx context.Context, key Key) error {
	last, known := j.reported.get(key)
	if !known {
		e, err := j.get(ctx, key)
		switch {
		case err != nil:
			return err
		case !e.Unacked():
			return nil
		case j.mayHaveTold(&e):
			return ErrChanged
		}
		last = report{intent: e.Intent(), version: e.version(), state: e.State()}
	}
	return j.ackReport(ctx, key, last)
}

// ackReport acknowledges a report. If evidence was recorded since, it acknowledges nothing and returns ErrChanged.
func (j *Journal) ackReport(ctx context.Context, key Key, told report) error {
	if told.state == Unknown {
		return ErrOpen
	}
	j.touched.add(key)
	err := j.ack(ctx, key, told.version)
	switch {
	case errors.Is(err, ErrChanged):
		j.reported.refuted(key, told)
	case err == nil:
		j.reported.setAcked(key, told)
		j.asked.forget(key)
	case errors.Is(err, ErrNoEntry):
		j.reported.remove(key)
		j.asked.forget(key)
	}
	return err
}

// mayHaveTold reports whether this Journal may have reported an older version of the entry and have forgotten that
// report. It cannot have if the latest evidence is older than the Journal: every report then included it.
func (j *Journal) mayHaveTold(e *Entry) bool {
	v := e.version()
	return v > 0 && j.reported.hasForgotten() && !e.Evidence[v-1].At.Before(j.clock.started)
}
