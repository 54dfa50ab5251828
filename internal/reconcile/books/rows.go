package books

import (
	"time"

	"github.com/shopspring/decimal"
)

// Order is a payment, as last returned by the gateway.
type Order struct {
	UniqueID      string // the gateway's id; empty if it never returned one
	TransactionID string // the merchant's id
	State         string // approved, declined, processing, redirect or unknown
	Code          int
	Amount        decimal.Decimal
	Currency      string // ISO 4217; empty if the gateway never returned an amount
	At            time.Time
	Card          string // masked by the gateway; may be empty
}

// Refund is a refund, as last returned by the gateway.
type Refund struct {
	RefundUniqueID   string // the gateway's id; empty if it never returned one
	MerchantRefundID string // the merchant's id; may be empty
	UniqueID         string // the gateway's id of the payment
	State            string // approved (refunded), processing, declined or unknown
	Code             int
	Amount           decimal.Decimal
	Currency         string    // may be empty; it is then that of the payment
	At               time.Time // when it was requested
}

// ListedPayment is a line of the merchant's list of payments.
type ListedPayment struct {
	Line          int    // line number in the file, or row number of the query
	TransactionID string // never empty
	Amount        decimal.Decimal
	Currency      string
	State         string    // approved if the list has no such column
	Order         string    // the merchant's order; empty if the list has no such column
	At            time.Time // zero if the list has no such column
	Other         []string  // the additional columns, in the order of ListInfo.Other
}

// ListedRefund is a line of the merchant's list of refunds.
type ListedRefund struct {
	Line          int
	RefundID      string // the merchant's id of the refund; never empty
	TransactionID string // the merchant's id of the payment; empty if the list has no such column
	Amount        decimal.Decimal
	Currency      string
	At            time.Time // zero if the list has no such column
	Other         []string
}

// Unreadable is a line of a list that could not be parsed.
type Unreadable struct {
	List   string // PaymentList or RefundList
	Line   int
	ID     string // the transaction id or refund id, if that could be parsed
	Column string // empty if it concerns the whole line
	Why    string
}
