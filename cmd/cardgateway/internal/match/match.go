// Package match compares a merchant's books with the copy of a gateway, row by row, and says of every difference what it is.
package match

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/books"
)

// Books is what matching reads. Every stream is sorted by the bytes of the id that it names.
type Books interface {
	Orders(ctx context.Context, from, to time.Time) iter.Seq2[books.Order, error] // by TransactionID
	OrdersByTransactionID(ctx context.Context, ids ...string) iter.Seq2[books.Order, error]
	OrdersByUniqueID(ctx context.Context, ids ...string) iter.Seq2[books.Order, error]
	Refunds(ctx context.Context, from, to time.Time) iter.Seq2[books.Refund, error] // by UniqueID

	// RefundsByRefundID is Refunds by the merchant's id, or the gateway's where there is none. Their currency is never
	// empty if their payment is known.
	RefundsByRefundID(ctx context.Context, from, to time.Time) iter.Seq2[books.Refund, error]
	FindRefunds(ctx context.Context, refundIDs ...string) iter.Seq2[books.Refund, error] // by the same ids

	ListedPayments(ctx context.Context) iter.Seq2[books.ListedPayment, error] // by TransactionID
	// RepeatedOrders gives the lines whose order stands in several lines, by Order.
	RepeatedOrders(ctx context.Context) iter.Seq2[books.ListedPayment, error]
	ListedRefunds(ctx context.Context) iter.Seq2[books.ListedRefund, error] // by RefundID
	Unreadables(ctx context.Context) iter.Seq2[books.Unreadable, error]     // by list and line
}

// DefaultGrace is how near to an edge a row may lack its counterpart without being an error.
const DefaultGrace = 48 * time.Hour

// Span is a range of time; To is not in it. The zero Span is unknown.
type Span struct{ From, To time.Time }

// IsZero reports whether it is unknown.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

func (s Span) holds(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }

// inPeriod reports whether a row of the gateway is one of the period. One without a time may be.
func (m *matcher) inPeriod(t time.Time) bool { return t.IsZero() || m.Period.holds(t) }

// List says what there is of a list of the merchant.
type List struct {
	Read bool // there is one
	Span Span // of its times; unknown if it has none
}

// Options say what is compared.
type Options struct {
	Period Span // required, and within Copy
	Copy   Span // what the copy of the gateway has without a gap
	Now    time.Time

	// Grace is how near to an edge of what is compared a row may lack its counterpart: it is then Timing. Zero means not
	// at all.
	Grace time.Duration

	Payments, Refunds List
	Known             Known // differences that the merchant has marked

	Found func(*Difference) error // gets every difference; what it points to may be kept
	// Gateway gets every payment of the gateway in the period, and every refund that was not refused, each once. It may be
	// nil, and must not keep the row.
	Gateway func(Kind, *Row)
}

// Run compares, and gives every difference to o.Found. Memory grows with the number of differences that concern several rows,
// not with the number of rows.
func Run(ctx context.Context, b Books, o Options) (*Summary, error) {
	if !o.Period.From.Before(o.Period.To) {
		return nil, errors.New("match: the period is empty")
	}
	if o.Grace < 0 {
		return nil, errors.New("match: the grace is below zero")
	}
	if o.Gateway == nil {
		o.Gateway = func(Kind, *Row) {}
	}
	m := &matcher{ctx: ctx, books: b, Options: o, summary: &Summary{Lines: map[Kind]int{}}}
	m.Known.begin()
	marks := map[Kind]map[string]mark{Payment: {}, Refund: {}}
	if err := m.unreadables(marks); err != nil {
		return nil, err
	}
	if o.Payments.Read {
		if err := m.paidTwice(marks[Payment]); err != nil {
			return nil, err
		}
		if err := m.compare(m.payments(marks[Payment])); err != nil {
			return nil, err
		}
	}
	if err := m.parents(marks[Refund]); err != nil {
		return nil, err
	}
	if o.Refunds.Read {
		if err := m.compare(m.refunds(marks[Refund])); err != nil {
			return nil, err
		}
	}
	m.summary.finish(m.Known.unused())
	return m.summary, nil
}

// matcher is one run.
type matcher struct {
	Options
	ctx     context.Context
	books   Books
	summary *Summary
}

// mark says that a row belongs to a difference which was found earlier.
type mark struct {
	class Class
	known bool
}

// found counts a difference and passes it on.
func (m *matcher) found(d *Difference) (mark, error) {
	d.Known, d.Reason = m.Known.covers(d)
	m.summary.add(d, m.Now)
	return mark{d.Class, d.Known}, m.Found(d)
}

// atEdge reports whether a row of the gateway lies so near to an edge of what the list covers that its line may lie beyond.
func (m *matcher) atEdge(t time.Time, list Span) bool {
	if t.IsZero() {
		return false
	}
	from, to := m.Period.From, m.Period.To
	if !list.IsZero() {
		if list.From.Before(from) {
			from = list.From
		}
		if list.To.After(to) {
			to = list.To
		}
	}
	return t.Before(from.Add(m.Grace)) || !t.Before(to.Add(-m.Grace))
}
