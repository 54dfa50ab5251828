package match

import (
	"time"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/shopspring/decimal"
)

// Difference is a difference between the books and the gateway, with the rows and lines that it concerns.
type Difference struct {
	Class    Class
	Kind     books.Kind
	ID       string // transaction id, refund id, order (paid_twice) or line (unreadable): unique together with Class
	Known    bool   // marked as known by the merchant
	Reason   string // of the mark
	Currency string // of Value; empty if there is none
	Value    decimal.Decimal
	At       time.Time // zero if unknown
	Gateway  []books.Row
	Books    []books.Line
	Paid     *books.Row // of refund_above_payment: the payment
	Why      string     // an explanation that the rows do not show; may be empty
}

// Age returns the time since At, or -1 if At is unknown.
func (d *Difference) Age(now time.Time) time.Duration {
	if d.At.IsZero() {
		return -1
	}
	return max(0, now.Sub(d.At))
}

// mark is the class of a difference that was already found for an id.
type mark struct {
	class Class
	known bool
}

// marks are differences that were already found, by the ids of their rows.
type marks map[string]mark

// add marks an id. A known difference does not replace another one.
func (m marks) add(id string, found mark) {
	if before, isMarked := m[id]; !isMarked || before.known || !found.known {
		m[id] = found
	}
}

// The states of rows.
const (
	approved   = "approved"
	declined   = "declined"
	processing = "processing"
	redirect   = "redirect"
)
