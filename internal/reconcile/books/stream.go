package books

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// stream returns the rows of a query one by one, without loading all of them. An error ends the loop.
func stream[T any](ctx context.Context, b *Books, read func(scan func(...any) error) (T, error), query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := b.db.QueryContext(ctx, query, args...)
		if err != nil {
			yield(none, b.inWords(err))
			return
		}
		defer func() { _ = rows.Close() }() // after Next has returned false it is closed, and Err has its error
		for rows.Next() {
			row, err := read(rows.Scan)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, b.inWords(err))
		}
	}
}

// failed returns a stream that contains only an error.
func failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}

// compared makes a query of orders and refunds one of the rows that are compared: without those of other apps, unless AnyApp is
// set.
func (b *Books) compared(query string) string {
	if b.AnyApp {
		return query
	}
	return strings.NewReplacer("cardgateway_orders", "cardgateway_own_orders", "cardgateway_refunds", "cardgateway_own_refunds").Replace(query)
}

const orderColumns = `unique_id, transaction_id, state, code, amount, currency, at, card`

func readOrder(zone *time.Location) func(scan func(...any) error) (Order, error) {
	return func(scan func(...any) error) (o Order, err error) {
		var amount string
		var at int64
		if err = scan(&o.UniqueID, &o.TransactionID, &o.State, &o.Code, &amount, &o.Currency, &at, &o.Card); err != nil {
			return o, err
		}
		o.At = fromMicro(at, zone)
		o.Amount, err = readAmount(amount)
		return o, err
	}
}

// readAmount parses an amount from the database.
func readAmount(text string) (decimal.Decimal, error) {
	amount, err := decimal.NewFromString(text)
	if err != nil {
		return amount, fmt.Errorf("the database contains %q instead of an amount", text)
	}
	return amount, nil
}

// Orders returns the orders in [from, to), and those without a time, sorted by TransactionID, At and UniqueID. Texts are
// sorted by their bytes.
func (b *Books) Orders(ctx context.Context, from, to time.Time) iter.Seq2[Order, error] {
	return b.orders(ctx, `WHERE at >= $1 AND at < $2 OR at = 0 ORDER BY transaction_id, at, unique_id`, micro(from), micro(to))
}

// OrdersByTransactionID returns the orders of any time with one of these ids, sorted as by Orders.
func (b *Books) OrdersByTransactionID(ctx context.Context, ids ...string) iter.Seq2[Order, error] {
	return b.orders(ctx, `WHERE transaction_id IN `+in(ids)+` ORDER BY transaction_id, at, unique_id`, list(ids)...)
}

// OrdersByUniqueID returns the orders of any time with one of these ids of the gateway, sorted by UniqueID.
func (b *Books) OrdersByUniqueID(ctx context.Context, ids ...string) iter.Seq2[Order, error] {
	return b.orders(ctx, `WHERE id IN `+in(ids)+` AND unique_id <> '' ORDER BY unique_id`, list(ids)...)
}

func (b *Books) orders(ctx context.Context, where string, args ...any) iter.Seq2[Order, error] {
	copied, _, err := b.readCopy(ctx)
	if err != nil {
		return failed[Order](b.inWords(err))
	}
	return stream(ctx, b, readOrder(copied.zone), b.compared(`SELECT `+orderColumns+` FROM cardgateway_orders `+where), args...)
}

// Refunds returns the refunds in [from, to), and those without a time, sorted by UniqueID (of the payment), At and
// RefundUniqueID.
func (b *Books) Refunds(ctx context.Context, from, to time.Time) iter.Seq2[Refund, error] {
	return b.refunds(ctx, `WHERE at >= $1 AND at < $2 OR at = 0 ORDER BY unique_id, at, refund_unique_id`, micro(from), micro(to))
}

// RefundsByUniqueID returns the refunds of these payments, of any time, sorted as by Refunds.
func (b *Books) RefundsByUniqueID(ctx context.Context, ids ...string) iter.Seq2[Refund, error] {
	return b.refunds(ctx, `WHERE unique_id IN `+in(ids)+` ORDER BY unique_id, at, refund_unique_id`, list(ids)...)
}

// RefundsByMerchantRefundID returns the refunds of any time with one of these ids of the merchant, sorted by it.
func (b *Books) RefundsByMerchantRefundID(ctx context.Context, ids ...string) iter.Seq2[Refund, error] {
	return b.refunds(ctx, `WHERE merchant_refund_id IN `+in(ids)+` ORDER BY merchant_refund_id, at, refund_unique_id`, list(ids)...)
}

func (b *Books) refunds(ctx context.Context, where string, args ...any) iter.Seq2[Refund, error] {
	return b.refundsOf(ctx, `SELECT refund_unique_id, merchant_refund_id, unique_id, state, code, amount, currency, at FROM cardgateway_refunds `+where, args...)
}

func (b *Books) refundsOf(ctx context.Context, query string, args ...any) iter.Seq2[Refund, error] {
	copied, _, err := b.readCopy(ctx)
	if err != nil {
		return failed[Refund](b.inWords(err))
	}
	read := func(scan func(...any) error) (r Refund, err error) {
		var amount string
		var at int64
		if err = scan(&r.RefundUniqueID, &r.MerchantRefundID, &r.UniqueID, &r.State, &r.Code, &amount, &r.Currency, &at); err != nil {
			return r, err
		}
		r.At = fromMicro(at, copied.zone)
		r.Amount, err = readAmount(amount)
		return r, err
	}
	return stream(ctx, b, read, b.compared(query), args...)
}

// in returns the placeholders of an IN list. Without ids the list matches nothing.
func in(ids []string) string {
	if len(ids) == 0 {
		return "(NULL)"
	}
	text := []byte{'('}
	for i := range ids {
		text = fmt.Appendf(text, "$%d,", i+1)
	}
	text[len(text)-1] = ')'
	return string(text)
}

func list(ids []string) (args []any) {
	for _, id := range ids {
		args = append(args, kept(id))
	}
	return args
}
