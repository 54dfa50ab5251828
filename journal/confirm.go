package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardgateway/cardgateway-go"
)

// Confirm records a transaction that you got from the gateway elsewhere: confirmed by package notify, or returned by
// GetTransaction or a walk. The next call with its transactionId and the next Recover then need no query. Never pass it
// a transaction that was not confirmed by a query.
//
// The transaction must match the recorded payment; otherwise Confirm records nothing and returns an error that matches
// ErrMismatch. For a payment that is not in this journal it returns ErrNoEntry, which is normal for payments that are made
// without the journal. Confirm does not acknowledge. For a refund, use ConfirmRefund.
func (j *Journal) Confirm(ctx context.Context, t *cardgateway.Transaction) error {
	if err := needContext(ctx, "Confirm"); err != nil {
		return err
	}
	if t == nil {
		return errors.New("journal: Confirm: the transaction is nil")
	}
	e, err := j.get(ctx, j.key(PaymentID(t.TransactionID)))
	if err != nil {
		return err
	}
	if in := e.Intent(); j.client.IsOtherApp(t) || !t.TransactionAmount.Equal(in.Amount) || t.TransactionCurrency != in.Currency {
		return fmt.Errorf("%w: %q is recorded as %s, and the gateway shows %s %s of app %q",
			ErrMismatch, t.TransactionID, in.describe(), t.TransactionAmount, t.TransactionCurrency, t.AppID)
	}
	return j.confirm(ctx, e, shown{transaction: t})
}

// confirm records what the gateway returned for an entry, if it changes what is known. It is one row, and there can be others:
// only a query of all of them shows that a checkout is abandoned.
func (j *Journal) confirm(ctx context.Context, e Entry, s shown) (err error) {
	defer j.memory.setChanged(e.ID())
	for _, ev := range j.evidenceOf(s, &e, e.project(), false) {
		if e, err = j.addIfNew(ctx, e, ev); err != nil {
			return err
		}
	}
	return nil
}
