package journal

import "context"

// Get returns what the store has about a payment, or ErrNoEntry. It does not query the gateway, and does not count as
// reporting the payment in the sense of Ack.
func (j *Journal) Get(ctx context.Context, transactionID string) (Entry, error) {
	if err := needContext(ctx, "Get"); err != nil {
		return Entry{}, err
	}
	return j.get(ctx, j.key(PaymentID(transactionID)))
}

// GetRefund returns what the store has about a refund, as Get does for a payment.
func (j *Journal) GetRefund(ctx context.Context, refundTransactionID string) (Entry, error) {
	if err := needContext(ctx, "GetRefund"); err != nil {
		return Entry{}, err
	}
	return j.get(ctx, j.key(RefundID(refundTransactionID)))
}
