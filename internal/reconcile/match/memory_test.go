package match

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// memory is books in memory.
type memory struct {
	orders      []books.Order
	refunds     []books.Refund
	payments    []books.ListedPayment
	given       []books.ListedRefund
	unreadables []books.Unreadable
}

// sorted streams the rows that are kept by their keys.
func sorted[T any](rows []T, keep func(*T) bool, key func(*T) string, at func(*T) time.Time) iter.Seq2[T, error] {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r T) bool { return !keep(&r) })
	slices.SortStableFunc(rows, func(a, b T) int { return cmp.Or(strings.Compare(key(&a), key(&b)), at(&a).Compare(at(&b))) })
	return func(yield func(T, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// within is as books have it: rows without a time are in every range.
func within(from, to, t time.Time) bool { return t.IsZero() || !t.Before(from) && t.Before(to) }

func (m *memory) Orders(_ context.Context, from, to time.Time) iter.Seq2[books.Order, error] {
	return sorted(m.orders, func(o *books.Order) bool { return within(from, to, o.At) }, func(o *books.Order) string { return o.TransactionID }, orderAt)
}

func orderAt(o *books.Order) time.Time { return o.At }

func (m *memory) OrdersByTransactionID(_ context.Context, ids ...string) iter.Seq2[books.Order, error] {
	id := func(o *books.Order) string { return o.TransactionID }
	return sorted(m.orders, func(o *books.Order) bool { return slices.Contains(ids, id(o)) }, id, orderAt)
}

func (m *memory) OrdersByUniqueID(_ context.Context, ids ...string) iter.Seq2[books.Order, error] {
	id := func(o *books.Order) string { return o.UniqueID }
	return sorted(m.orders, func(o *books.Order) bool { return slices.Contains(ids, id(o)) }, id, orderAt)
}

func (m *memory) refundsBy(from, to time.Time, key func(*books.Refund) string) iter.Seq2[books.Refund, error] {
	return sorted(m.refunds, func(r *books.Refund) bool { return within(from, to, r.At) }, key, refundAt)
}

func (m *memory) Refunds(_ context.Context, from, to time.Time) iter.Seq2[books.Refund, error] {
	return m.refundsBy(from, to, func(r *books.Refund) string { return r.UniqueID })
}

func refundID(r *books.Refund) string { return cmp.Or(r.MerchantRefundID, r.RefundUniqueID) }

func (m *memory) RefundsByRefundID(_ context.Context, from, to time.Time) iter.Seq2[books.Refund, error] {
	return m.refundsBy(from, to, refundID)
}

func refundAt(r *books.Refund) time.Time { return r.At }

func (m *memory) FindRefunds(_ context.Context, ids ...string) iter.Seq2[books.Refund, error] {
	return sorted(m.refunds, func(r *books.Refund) bool { return slices.Contains(ids, refundID(r)) }, refundID, refundAt)
}

func (m *memory) RepeatedPayments(context.Context) iter.Seq2[books.Order, error] {
	count := map[string]int{}
	isPaid := func(o *books.Order) bool { return o.TransactionID != "" && o.State == approved }
	for i := range m.orders {
		if isPaid(&m.orders[i]) {
			count[m.orders[i].TransactionID]++
		}
	}
	return sorted(m.orders, func(o *books.Order) bool { return isPaid(o) && count[o.TransactionID] > 1 },
		func(o *books.Order) string { return o.TransactionID }, orderAt)
}

func (m *memory) RepeatedRefunds(context.Context) iter.Seq2[books.Refund, error] {
	count := map[string]int{}
	isMade := func(r *books.Refund) bool { return refundID(r) != "" && r.State == approved }
	for i := range m.refunds {
		if isMade(&m.refunds[i]) {
			count[refundID(&m.refunds[i])]++
		}
	}
	return sorted(m.refunds, func(r *books.Refund) bool { return isMade(r) && count[refundID(r)] > 1 }, refundID, refundAt)
}

func all[T any](*T) bool { return true }

func (m *memory) ListedPayments(context.Context) iter.Seq2[books.ListedPayment, error] {
	return sorted(m.payments, all, func(l *books.ListedPayment) string { return l.TransactionID }, func(*books.ListedPayment) time.Time { return time.Time{} })
}

func (m *memory) RepeatedOrders(context.Context) iter.Seq2[books.ListedPayment, error] {
	count := map[string]int{}
	for _, l := range m.payments {
		count[l.Order]++
	}
	return sorted(m.payments, func(l *books.ListedPayment) bool { return l.Order != "" && count[l.Order] > 1 },
		func(l *books.ListedPayment) string { return l.Order }, func(*books.ListedPayment) time.Time { return time.Time{} })
}

func (m *memory) ListedRefunds(context.Context) iter.Seq2[books.ListedRefund, error] {
	return sorted(m.given, all, func(l *books.ListedRefund) string { return l.RefundID }, func(*books.ListedRefund) time.Time { return time.Time{} })
}

func (m *memory) Unreadables(context.Context) iter.Seq2[books.Unreadable, error] {
	return sorted(m.unreadables, all, func(u *books.Unreadable) string { return u.List }, func(*books.Unreadable) time.Time { return time.Time{} })
}

func money(text string) decimal.Decimal { return decimal.RequireFromString(text) }
