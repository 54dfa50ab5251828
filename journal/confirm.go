package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/random"
)

// What the gateway has shown elsewhere, and not to this Journal: to a notification's handler or to a walk.

// Confirm records a transaction that you got from the gateway elsewhere: confirmed by package notify, or returned by
// GetTransaction or a walk. The next call with its transactionId and the next Recover then need no query. Never pass it
// a transaction that was not confirmed by a query.
//
// The transaction must match the recorded payment; otherwise Confirm records nothing and returns an error that matches
// ErrMismatch. For a payment that is not in this journal it returns ErrNoEntry, which is normal for payments that are made
// without the journal. Confirm does not acknowledge. For a refund, use ConfirmRefund.
//
// If the later charges of a subscription repeat the transactionId of the first one, they are recorded too. They are no second
// payment and change no outcome, unless two of them are closer together than cardgateway.Client.Resolve describes, or about as far
// apart as two submissions of the payment: then the entry is a conflict. So pass them to Confirm, and store them by their UniqueID. The decline
// of one does not tell the outcome of the first, nor does that of a transaction which the gateway dates long before the payment was sent.
func (j *Journal) Confirm(ctx context.Context, t *cardgateway.Transaction) error {
	return j.confirm(ctx, "Confirm", gatewayResult{transaction: t})
}

// ConfirmRefund records a refund that you got from the gateway elsewhere, as Confirm does for a payment: confirmed by
// package notify, or returned by a walk or SearchRefunds. Its id, payment and amount must match the recorded refund.
func (j *Journal) ConfirmRefund(ctx context.Context, r *cardgateway.Refund) error {
	return j.confirm(ctx, "ConfirmRefund", gatewayResult{refund: r})
}

// Restore records a transaction that a walk over Client.Orders returned, as Confirm does, also if this journal has no entry for it: after a
// backup of the store was restored, which lacks the latest payments. Until it has recorded a payment, a call with its transactionId makes it
// again. Call it before the program starts, for every transaction since shortly before the backup, and RestoreRefund for every refund.
//
// The gateway does not show by which method a payment was made, nor for which order. So the new entry, whose Operation is Restore, is that of
// every call with this transactionId, amount and currency. The call sends nothing and returns what is known; a decline is taken as one attempt on
// the hosted page, and two charges of a subscription with one transactionId as a conflict. Restore does nothing with a transaction of another
// app, nor with one whose id no call can have, such as an empty one. If the entry that exists is of another payment, the error matches ErrMismatch.
// One that says that nothing was sent gets a further submission, which the backup lacks.
func (j *Journal) Restore(ctx context.Context, t *cardgateway.Transaction) error {
	return j.restore(ctx, "Restore", gatewayResult{transaction: t})
}

// RestoreRefund records a refund that a walk over Client.Refunds returned, as Restore does for a payment.
func (j *Journal) RestoreRefund(ctx context.Context, r *cardgateway.Refund) error {
	return j.restore(ctx, "RestoreRefund", gatewayResult{refund: r})
}

// restore confirms a row that the gateway shows, once it has an entry. A refund can have been sent under the second of two names: then its outcome is
// not certain, as Client.ResolveRefund says.
func (j *Journal) restore(ctx context.Context, method string, row gatewayResult) error {
	if err := needRow(ctx, method, row); err != nil {
		return err
	}
	in := row.intent()
	err := j.restoreIntent(ctx, in, row)
	if err == nil {
		err = j.confirm(ctx, method, row)
	}
	if errors.Is(err, ErrNoEntry) { // of another app, or with an id that no call can have
		err = nil
	}
	if second := row.secondName(); second != "" {
		in.ID = RefundID(second)
		err = errors.Join(err, j.restoreIntent(ctx, in, row))
	}
	return err
}

// restoreIntent makes sure that there is an entry for what a row shows, in which it may have been sent. An entry that says that nothing was sent is
// older than the row: what was sent since then is lost.
func (j *Journal) restoreIntent(ctx context.Context, in Intent, row gatewayResult) error {
	in.Shop, in.At, in.Sender = j.shop, time.Now().Round(0), random.Text()
	e, err := j.get(ctx, in.Key())
	begins, known := errors.Is(err, ErrNoEntry), e.project()
	switch isOther := j.client.IsOtherApp(row); {
	case begins && (isOther || !in.ID.recordable()):
		return nil
	case err != nil && !begins:
		return err
	case !begins && (isOther || known.current() != NotSent || !known.invalid && !in.same(&known.intent)):
		return nil
	}
	if at := row.facts().at; !at.IsZero() {
		in.At = earlier(at.In(j.client.Location()), in.At)
	}
	for places := int32(2); !in.recordable() && places >= 0; places-- { // with the zeros that a gateway adds, it can have more digits than a request
		if shorter := in.Amount.Truncate(places); shorter.Equal(in.Amount) {
			in.Amount = shorter
		}
	}
	if !in.recordable() {
		return fmt.Errorf("journal: Restore: the gateway shows %s, whose amount cannot be recorded", in.ID.describe())
	}
	if begins {
		within, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
		defer cancel()
		_, _, err := j.tryBegin(within, in)
		return err
	}
	if !known.invalid { // otherwise the request was corrected
		known.intent.At, known.intent.Sender = in.At, in.Sender
		in = known.intent
	}
	return j.recordOnce(ctx, &e, Evidence{At: j.clock.now(), Source: SourceSubmission, Submission: &in})
}

// needRow rejects what is no context, and no transaction or refund.
func needRow(ctx context.Context, method string, row gatewayResult) error {
	err := needContext(ctx, method)
	if err == nil && row.isNothing() {
		err = fmt.Errorf("journal: %s: it is nil", method)
	}
	return err
}

// confirm records a row that the gateway shows, if it changes what is known. It is one row, and there can be others:
// only a query of all of them shows that a checkout is abandoned, or that a payment that was submitted again was declined.
func (j *Journal) confirm(ctx context.Context, method string, row gatewayResult) error {
	if err := needRow(ctx, method, row); err != nil {
		return err
	}
	shown := row.intent()
	e, err := j.get(ctx, j.key(shown.ID))
	if err != nil {
		return err
	}
	before, acked := e.project(), !e.Unacked()
	switch {
	case !shown.same(&before.intent):
		shown.Operation = method
		return &MismatchError{Asked: shown, Recorded: before.intent}
	case j.client.IsOtherApp(row):
		return fmt.Errorf("%w: the gateway shows %s of another app", ErrMismatch, shown.ID.describe())
	}
	defer j.memory.setChanged(e.ID())
	e, err = j.recordChanges(ctx, e, func(known *projection) []Evidence { return j.evidenceOfRow(row, known, false) })
	switch {
	case err != nil:
		return err
	case !e.Unacked():
	case acked && e.project().isNoNewsAfter(before) && j.ack(ctx, &e) == nil: // otherwise the same outcome would be reported again
	default:
		j.soon.change(e.ID())
	}
	return nil
}
