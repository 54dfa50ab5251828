package match

import (
	"time"

	"github.com/shopspring/decimal"
)

// Kind is payment or refund.
type Kind string

// The kinds of rows.
const (
	Payment Kind = "payment"
	Refund  Kind = "refund"
)

// Row is a payment or a refund as the gateway has it.
type Row struct {
	UniqueID string // the gateway's id; may be empty
	ID       string // the merchant's id; of a refund without one, the gateway's; may be empty
	Payment  string // of a refund: the gateway's id of the payment
	State    string // approved, declined, processing, redirect or unknown
	Code     int
	Amount   decimal.Decimal
	Currency string
	At       time.Time
	Card     string // masked; may be empty
}

// Line is a line of a list of the merchant.
type Line struct {
	Line     int
	ID       string
	Order    string // of a payment: what it pays for; may be empty
	State    string
	Amount   decimal.Decimal
	Currency string
	At       time.Time // zero if the list has no time
}

// Difference is one thing in which the books and the gateway differ, with what shows it.
type Difference struct {
	Class    Class
	Kind     Kind
	ID       string // transaction id, refund id, order (paid_twice) or line (unreadable): with Class it names the difference
	Known    bool   // marked as known by the merchant
	Reason   string // why, in the words of the mark
	Currency string // of Value; empty if there is none
	Value    decimal.Decimal
	At       time.Time // when it happened; zero if nobody says
	Gateway  []Row
	Books    []Line
	Paid     *Row   // of refund_above_payment: the payment
	Why      string // what the rows do not show by themselves
}

// Age is how long it has been there at a time, or -1 if nobody knows since when.
func (d *Difference) Age(now time.Time) time.Duration {
	if d.At.IsZero() {
		return -1
	}
	return max(0, now.Sub(d.At))
}

// mark says that a row belongs to a difference which was found earlier.
type mark struct {
	class Class
	known bool
}

// The states of rows.
const (
	approved   = "approved"
	declined   = "declined"
	processing = "processing"
	redirect   = "redirect"
)
