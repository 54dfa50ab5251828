package match

import (
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/shopspring/decimal"
)

// Difference is a difference between the books and the gateway, with the rows and lines that it concerns.
type Difference struct {
	Class    Class
	Kind     books.Kind
	ID       string          // transaction id, refund id, order (paid_twice) or line (unreadable): unique together with Class, Kind and Since
	Known    bool            // marked as known by the merchant
	Reason   string          // that the merchant gives for it
	Currency string          // of Value; empty if there is none
	Value    decimal.Decimal // of changed what the total of the month changes by, otherwise without a sign
	At       time.Time       // zero if unknown
	Gateway  []books.Row
	Books    []books.Line
	Paid     *books.Row // the payment of refunds that were compared with it: refund_above_payment, and currency of a refund; otherwise nil
	Why      string     // an explanation that the rows do not show; may be empty
	Since    time.Time  // start of the earlier month at whose end it was open; zero for a difference of the period itself
}

// Orders returns the merchant's orders in the lines, each once.
func (d *Difference) Orders() (orders []string) {
	for i := range d.Books {
		if o := d.Books[i].Order; o != "" && !slices.Contains(orders, o) {
			orders = append(orders, o)
		}
	}
	return orders
}

// IsTest reports whether it concerns a test payment.
func (d *Difference) IsTest() bool {
	return d.Paid != nil && d.Paid.Test || slices.ContainsFunc(d.Gateway, func(r books.Row) bool { return r.Test })
}

// Age returns the time since At, or -1 if At is unknown.
func (d *Difference) Age(now time.Time) time.Duration {
	if d.At.IsZero() {
		return -1
	}
	return max(0, now.Sub(d.At))
}

// finding is the class of a difference that was already found for an id.
type finding struct {
	class Class
	known bool
}

// findings are differences that were already found, by the ids of their rows.
type findings map[string]finding

// add adds what was found for an id. A known difference does not replace another one.
func (f findings) add(id string, found finding) {
	if before, isFound := f[id]; !isFound || before.known || !found.known {
		f[id] = found
	}
}
