package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardgateway/cardgateway-go"
)

// Confirm records what the gateway has shown of a payment elsewhere: the transaction that package notify has confirmed,
// that GetTransaction returned, or that a walk gave. The next call with its transactionId and the next Recover know it
// without a query. Never hand it what has not been confirmed by a query.
//
// The transaction must be this payment's: else Confirm records nothing and returns an error that ErrMismatch is found in.
// For a payment that this journal does not have it returns ErrNoEntry, which is not wrong for payments that are made
// without it. Confirm does not acknowledge; if what it recorded is all that is known, an Ack then acknowledges that.
// For a refund there is ConfirmRefund.
func (j *Journal) Confirm(ctx context.Context, t *cardgateway.Transaction) error {
	if t == nil {
		return errors.New("journal: Confirm: the transaction is nil")
	}
	key := j.paymentKey(t.TransactionID)
	j.awaitLate(ctx, key)
	e, err := j.get(ctx, key)
	if err != nil {
		return err
	}
	if in := e.Intent(); t.AppID != "" && t.AppID != j.shop.AppID || !t.TransactionAmount.Equal(in.Amount) || t.TransactionCurrency != in.Currency {
		return fmt.Errorf("%w: %q is recorded as %s, and the gateway shows %s %s of app %q",
			ErrMismatch, t.TransactionID, in.describe(), t.TransactionAmount, t.TransactionCurrency, t.AppID)
	}
	return j.confirm(ctx, e, shown{transaction: t})
}

// confirm records what the gateway has shown of an entry, if that is new.
func (j *Journal) confirm(ctx context.Context, e Entry, s shown) (err error) {
	j.touched.add(e.Key())
	for _, ev := range j.evidenceOf(s, &e, e.project()) {
		if e, err = j.addIfNew(ctx, e, ev); err != nil {
			return err
		}
	}
	if now := e.project(); now.state == s.state() && !now.conflict {
		j.reported.set(&e, now.state)
	}
	return nil
}
