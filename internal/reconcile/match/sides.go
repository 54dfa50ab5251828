package match

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// sides are the two sides of a comparison: payments or refunds, at the gateway and in the merchant's list.
type sides struct {
	kind Kind
	rows func(ctx context.Context, from, to time.Time) iter.Seq2[Row, error] // by ID
	find func(ctx context.Context, ids []string) ([]Row, error)
	// repeated are the approved rows of any time whose id is that of several approved rows, by ID.
	repeated iter.Seq2[Row, error]
	lines    iter.Seq2[Line, error] // by ID
	list     Span
	marks    marks // by ID
}

func (m *matcher) payments(marks marks) sides {
	return sides{
		kind: Payment, marks: marks, list: m.Payments.Span,
		rows: func(ctx context.Context, from, to time.Time) iter.Seq2[Row, error] {
			return convert(m.books.Orders(ctx, from, to), ofOrder)
		},
		find: func(ctx context.Context, ids []string) ([]Row, error) {
			return collect(convert(m.books.OrdersByTransactionID(ctx, ids...), ofOrder))
		},
		repeated: convert(m.books.RepeatedPayments(m.ctx), ofOrder),
		lines:    convert(m.books.ListedPayments(m.ctx), ofListedPayment),
	}
}

func (m *matcher) refunds(marks marks) sides {
	return sides{
		kind: Refund, marks: marks, list: m.Refunds.Span,
		rows: func(ctx context.Context, from, to time.Time) iter.Seq2[Row, error] {
			return convert(m.books.RefundsByRefundID(ctx, from, to), ofRefundRow)
		},
		find: func(ctx context.Context, ids []string) ([]Row, error) {
			return collect(convert(m.books.FindRefunds(ctx, ids...), ofRefundRow))
		},
		repeated: convert(m.books.RepeatedRefunds(m.ctx), ofRefundRow),
		lines:    convert(m.books.ListedRefunds(m.ctx), ofListedRefund),
	}
}

func ofOrder(o *books.Order) Row {
	return Row{
		UniqueID: o.UniqueID, ID: o.TransactionID, State: o.State, Code: o.Code, Amount: o.Amount, Currency: o.Currency, At: o.At, Card: o.Card,
	}
}

func ofRefundRow(r *books.Refund) Row {
	return Row{
		UniqueID: r.RefundUniqueID, ID: cmp.Or(r.MerchantRefundID, r.RefundUniqueID), Payment: r.UniqueID,
		State: r.State, Code: r.Code, Amount: r.Amount, Currency: r.Currency, At: r.At,
	}
}

func ofListedPayment(l *books.ListedPayment) Line {
	return Line{Line: l.Line, ID: l.TransactionID, Order: l.Order, State: l.State, Amount: l.Amount, Currency: l.Currency, At: l.At}
}

func ofListedRefund(l *books.ListedRefund) Line {
	return Line{Line: l.Line, ID: l.RefundID, State: approved, Amount: l.Amount, Currency: l.Currency, At: l.At}
}

func convert[A, B any](rows iter.Seq2[A, error], of func(*A) B) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		for a, err := range rows {
			if err != nil {
				var none B
				yield(none, err)
				return
			}
			if !yield(of(&a), nil) {
				return
			}
		}
	}
}

// collect reads a short stream into a slice.
func collect[T any](rows iter.Seq2[T, error]) (all []T, err error) {
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

func lineName(n int) string { return fmt.Sprintf("line %d", n) }

func unreadableWhy(u *books.Unreadable) string {
	if u.Column == "" {
		return u.Why
	}
	return "column " + u.Column + ": " + u.Why
}
