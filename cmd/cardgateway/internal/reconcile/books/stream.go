package books

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"
)

// stream returns the rows of a query one by one, without loading all of them. Into returns where the columns of a row go, with the zone of their
// times; it is called once. An error ends the loop.
func stream[T any](ctx context.Context, b *Books, query string, args []any, into func(row *T, zone *time.Location) []any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none, row T
		zone, err := b.zone(ctx)
		if err != nil {
			yield(none, err)
			return
		}
		rows, err := b.db.QueryContext(ctx, query, args...)
		if err != nil {
			yield(none, b.inWords(err))
			return
		}
		defer func() { _ = rows.Close() }() // after Next has returned false it is closed, and Err has its error
		for columns := into(&row, zone); rows.Next(); row = none {
			err := rows.Scan(columns...)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, b.inWords(err))
		}
	}
}

// clock is where a time of the database goes.
type clock struct {
	at   *time.Time
	zone *time.Location
}

// Scan converts a column.
func (c clock) Scan(column any) error {
	micro, ok := column.(int64)
	if !ok {
		return fmt.Errorf("the database contains %T instead of a time", column)
	}
	*c.at = fromMicro(micro, c.zone)
	return nil
}

// jsonText is where a text of the database goes that is JSON.
type jsonText struct{ into any }

// Scan converts a column.
func (j jsonText) Scan(column any) error {
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("the database contains %T instead of JSON", column)
	}
	return json.Unmarshal([]byte(text), j.into)
}

// zone returns the gateway's zone, or UTC in new books.
func (b *Books) zone(ctx context.Context) (*time.Location, error) {
	copied, err := b.readCopy(ctx)
	return cmp.Or(copied.Zone, time.UTC), b.inWords(err)
}

// compared makes a query of orders and refunds one of the rows that are compared: without those of other apps, unless AnyApp is
// set.
func (b *Books) compared(query string) string {
	if b.AnyApp {
		return query
	}
	return strings.NewReplacer("cardgateway_orders", "cardgateway_own_orders", "cardgateway_refunds", "cardgateway_own_refunds").Replace(query)
}
