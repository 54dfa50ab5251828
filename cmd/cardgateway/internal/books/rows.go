package books

import (
	"time"

	"github.com/shopspring/decimal"
)

// Order is one payment as the gateway told it last.
type Order struct {
	UniqueID      string // the gateway's id; empty if it never gave one
	TransactionID string // the merchant's id
	State         string // approved, declined, processing, redirect or unknown
	Code          int
	Amount        decimal.Decimal
	Currency      string // ISO 4217; empty if the gateway never gave an amount
	At            time.Time
	Card          string // masked, as the gateway gives it; may be empty
}

// Refund is one refund as the gateway told it last.
type Refund struct {
	RefundUniqueID   string // the gateway's id; empty if it never gave one
	MerchantRefundID string // the merchant's id; may be empty
	UniqueID         string // the gateway's id of the payment
	State            string // approved (paid back), processing, declined or unknown
	Code             int
	Amount           decimal.Decimal
	Currency         string    // may be empty: that of the payment
	At               time.Time // when it was asked for
}

// ListedPayment is one line of the merchant's list of payments.
type ListedPayment struct {
	Line          int    // in the file, or the row's number of the query
	TransactionID string // never empty
	Amount        decimal.Decimal
	Currency      string
	State         string    // what the merchant takes it for: approved unless his list has a column for it
	Order         string    // the merchant's order that it pays for; empty if his list has no such column
	At            time.Time // zero if his list has no such column
	Other         []string  // the columns that were kept besides, in the order of ListInfo.Other
}

// ListedRefund is one line of the merchant's list of refunds.
type ListedRefund struct {
	Line          int
	RefundID      string // the merchant's id of the refund; never empty
	TransactionID string // the merchant's id of the payment; empty if his list has no such column
	Amount        decimal.Decimal
	Currency      string
	At            time.Time // zero if his list has no such column
	Other         []string
}

// Unreadable is a line of a list that could not be read. The others are.
type Unreadable struct {
	List   string // PaymentList or RefundList
	Line   int
	ID     string // the transaction id or refund id, if that could be read
	Column string // empty if it concerns the whole line
	Why    string
}
