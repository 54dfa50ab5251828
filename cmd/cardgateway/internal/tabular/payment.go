package tabular

import (
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// PaymentColumns are the printed members of a payment. Its address, its redirect URL, and members that the library does not know
// are never printed. IsPaid is the client's: what it does not take for paid is not said to be approved alone.
func PaymentColumns(zone *time.Location, isPaid func(*cardgateway.Transaction) bool) []Column[cardgateway.Transaction] {
	type row = cardgateway.Transaction
	return []Column[row]{
		{"transactionAt", "time", func(r *row) any { return r.TransactionAt.String() }},
		{"at", "", func(r *row) any { return Instant(r.TransactionAt.In(zone)) }},
		{"state", "state", func(r *row) any { return PaymentState(r, isPaid) }},
		{"transactionAmount", "amount", func(r *row) any { return r.TransactionAmount }},
		{"transactionCurrency", "currency", func(r *row) any { return r.TransactionCurrency }},
		{"transactionCardNumber", "card", func(r *row) any { return string(r.TransactionCardNumber) }},
		{"transactionId", "transaction", func(r *row) any { return r.TransactionID }},
		{"uniqueId", "unique id", func(r *row) any { return r.UniqueID }},
		{"code", "", func(r *row) any { return int(r.Code) }},
		{"message", "", func(r *row) any { return r.Message }},
		{"transactionMessage", "message", func(r *row) any { return r.TransactionMessage }},
		{"transactionMethod", "", func(r *row) any { return string(r.TransactionMethod) }},
		{"transactionType", "", func(r *row) any { return string(r.TransactionType) }},
		{"is3d", "", func(r *row) any {
			if r.Is3D == nil {
				return nil
			}
			return *r.Is3D
		}},
		{"isTest", "", func(r *row) any { return r.IsTest }},
		{"appId", "", func(r *row) any { return string(r.AppID) }},
	}
}

// PaymentState returns the state of a payment, and of a test that it is not paid.
func PaymentState(r *cardgateway.Transaction, isPaid func(*cardgateway.Transaction) bool) string {
	if r.State() == cardgateway.StateApproved && !isPaid(r) {
		return "approved, not paid: a test"
	}
	return r.State().String()
}

// RefundColumns are the members of a refund.
func RefundColumns(zone *time.Location) []Column[cardgateway.Refund] {
	type row = cardgateway.Refund
	return []Column[row]{
		{"refundRequestAt", "requested", func(r *row) any { return r.RefundRequestAt.String() }},
		{"requestedAt", "", func(r *row) any { return Instant(r.RefundRequestAt.In(zone)) }},
		{"refundAt", "refunded", func(r *row) any { return r.RefundAt.String() }},
		{"state", "state", func(r *row) any { return RefundState(r) }},
		{"refundAmount", "amount", func(r *row) any { return r.RefundAmount }},
		{"refundCurrency", "currency", func(r *row) any { return r.RefundCurrency }},
		{"merchantRefundId", "refund", func(r *row) any { return r.MerchantRefundID }},
		{"refundUniqueId", "refund unique id", func(r *row) any { return r.RefundUniqueID }},
		{"uniqueId", "of payment", func(r *row) any { return r.UniqueID }},
		{"code", "", func(r *row) any { return int(r.Code) }},
		{"message", "", func(r *row) any { return r.Message }},
	}
}

// RefundState returns the state of a refund, in words that differ from those for payments.
func RefundState(r *cardgateway.Refund) string {
	switch r.State() {
	case cardgateway.StateApproved:
		return "refunded"
	case cardgateway.StateProcessing:
		return "accepted"
	case cardgateway.StateDeclined:
		return "declined"
	}
	return "unknown"
}

// Instant returns a time with the offset of its time zone, or nil for the zero time.
func Instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(time.RFC3339)
}
