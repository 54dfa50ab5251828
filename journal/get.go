package journal

import "context"

// Get returns what the store holds of a payment, or ErrNoEntry. It asks nobody, and tells nothing in the sense of Ack.
func (j *Journal) Get(ctx context.Context, transactionID string) (Entry, error) {
	key := j.paymentKey(transactionID)
	j.awaitLate(ctx, key)
	return j.get(ctx, key)
}

// GetRefund returns what the store holds of a refund, as Get does of a payment.
func (j *Journal) GetRefund(ctx context.Context, refundTransactionID string) (Entry, error) {
	key := j.refundKey(refundTransactionID)
	j.awaitLate(ctx, key)
	return j.get(ctx, key)
}
