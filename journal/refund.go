package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardgateway/cardgateway-go"
)

// Refunds. A refund has an entry like a payment, under its refundTransactionId, and is handled in the same way: recorded
// before it is sent, sent at most once, resolved by queries, and reported until it is acknowledged.

// CreateRefund is cardgateway.Client.CreateRefund, recorded in the journal. The remark is not recorded. A second call with
// the same RefundTransactionID sends nothing after anything may have been sent; it returns what is known. For errors see
// CreateTokenOrder; a *MismatchError says that a refund of another payment or amount has this id.
//
// An accepted refund (code 110) is Pending; Recover reports when it has been made (111), or declined (112).
func (j *Journal) CreateRefund(ctx context.Context, req cardgateway.RefundRequest) (*cardgateway.Refund, error) {
	return j.payBack(ctx, j.refund(req))
}

func (j *Journal) refund(req cardgateway.RefundRequest) *payment {
	return &payment{
		intent: Intent{
			ID: RefundID(req.RefundTransactionID), UniqueID: req.UniqueID, Operation: opRefund, Amount: req.Amount,
		},
		send: func(ctx context.Context) (shown, error) {
			r, err := j.client.CreateRefund(ctx, req)
			return shown{refund: r}, err
		},
	}
}

// payBack makes a refund as pay makes a payment.
func (j *Journal) payBack(ctx context.Context, p *payment) (*cardgateway.Refund, error) {
	s, err := j.do(ctx, p)
	return s.refund, err
}

// ConfirmRefund records a refund that you got from the gateway elsewhere, as Confirm does for a payment: confirmed by
// package notify, or returned by a walk or SearchRefunds. Its id, payment and amount must match the recorded refund.
func (j *Journal) ConfirmRefund(ctx context.Context, r *cardgateway.Refund) error {
	if err := needContext(ctx, "ConfirmRefund"); err != nil {
		return err
	}
	if r == nil {
		return errors.New("journal: ConfirmRefund: the refund is nil")
	}
	e, err := j.get(ctx, j.key(RefundID(r.MerchantRefundID)))
	if err != nil {
		return err
	}
	if in := e.Intent(); r.UniqueID != in.UniqueID || !r.RefundAmount.Equal(in.Amount) {
		return fmt.Errorf("%w: refund %q is recorded as %s, and the gateway shows %s of transaction %q",
			ErrMismatch, r.MerchantRefundID, in.describe(), r.RefundAmount, r.UniqueID)
	}
	return j.confirm(ctx, e, shown{refund: r})
}
