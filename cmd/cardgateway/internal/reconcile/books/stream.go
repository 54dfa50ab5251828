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

// comparedRows is stream for a query of the rows that are compared, with times in the gateway's zone.
func comparedRows[T any](
	ctx context.Context, b *Books, query string, args []any, read func(scan func(...any) error, zone *time.Location) (T, error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		zone, err := b.zone(ctx)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		stream(ctx, b, func(scan func(...any) error) (T, error) { return read(scan, zone) }, b.compared(query), args...)(yield)
	}
}

// zone returns the gateway's zone, or UTC in new books.
func (b *Books) zone(ctx context.Context) (*time.Location, error) {
	copied, ok, err := b.readCopy(ctx)
	if err != nil || !ok {
		return time.UTC, b.inWords(err)
	}
	return copied.zone, nil
}

// compared makes a query of orders and refunds one of the rows that are compared: without those of other apps, unless AnyApp is
// set.
func (b *Books) compared(query string) string {
	if b.AnyApp {
		return query
	}
	return strings.NewReplacer("cardgateway_orders", "cardgateway_own_orders", "cardgateway_refunds", "cardgateway_own_refunds").Replace(query)
}

// readAmount parses an amount from the database.
func readAmount(text string) (decimal.Decimal, error) {
	amount, err := decimal.NewFromString(text)
	if err != nil {
		return amount, fmt.Errorf("the database contains %q instead of an amount", text)
	}
	return amount, nil
}
