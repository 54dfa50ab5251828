package books

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// What a comparison reads is one statement for each question, whose rows are streamed. Every row of one id follows the others.

// entries brings both sides together by sorting them. SQLite joins by looking up one row after the other: a FULL JOIN of a million rows
// with an index takes longer than to sort both sides, and without one as long as the product of both. Postgres needs the same time for
// either, and takes longer unless a column has the same type in every part of the UNION: BIGINT, also if it is 0. An id that is no
// column alone keeps SQLite from reading the rows in the order of an index, which is a random order of the table. With one column more it would
// not compare the ids as texts at once, which takes longer: until of a row is whether it is a test.
var entries = map[Kind]string{
	Payment: `
		SELECT transaction_id || '' AS id, CAST(0 AS BIGINT) AS line, at, test AS until, state, amount, currency,
			unique_id, '' AS payment, card AS text
		FROM cardgateway_orders r` + linesOfBoth,
	Refund: `
		SELECT merchant_refund_id || '' AS id, CAST(0 AS BIGINT) AS line, r.at, CAST(0 AS BIGINT) AS until, r.state, r.amount, r.currency,
			r.refund_unique_id, r.unique_id AS payment, '' AS text
		FROM cardgateway_refunds r` + linesOfBoth,
}

// linesOfBoth are the lines of the list, and those of the list of an earlier month that belong to later ones, with negative numbers.
const linesOfBoth = `
		UNION ALL
		SELECT id, line, at, until, state, amount, currency, unique_id, '', order_id FROM $list
		UNION ALL
		SELECT id, -line, at, until, state, amount, currency, unique_id, '', order_id FROM cardgateway_later_lines
		WHERE kind = $1 AND month = $2 AND (at = 0 OR until >= $3)
		ORDER BY id`

// Entries returns the rows of the copy, of any time, and the lines of the merchant's list, sorted by the bytes of their ids. Those
// with the same id are in no order. If before is not zero, it is a month that was compared: the lines of its list that belong to later months are
// there, too.
func (b *Books) Entries(ctx context.Context, kind Kind, before Month) iter.Seq2[Entry, error] {
	type either struct {
		Row
		line  int
		until time.Time
	}
	args := []any{string(kind), micro(before.From), micro(before.To)}
	all := stream(ctx, b, b.compared(tableOf(kind).sql(entries[kind])), args, func(e *either, zone *time.Location) []any {
		return []any{&e.ID, &e.line, clock{&e.At, zone}, clock{&e.until, zone}, &e.State, &e.Amount, &e.Currency, &e.UniqueID, &e.Payment, &e.Card}
	})
	return func(yield func(Entry, error) bool) {
		for e, err := range all {
			e.Test = !e.until.IsZero()
			entry := Entry{Row: e.Row}
			if e.line != 0 {
				entry = Entry{Line: Line{Line: max(e.line, -e.line), Earlier: e.line < 0, ID: e.ID, UniqueID: e.UniqueID, Order: e.Card, State: e.State, Amount: e.Amount,
					Currency: e.Currency, At: e.At, Until: e.until}}
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// OrderLines returns the lines of payments whose order is in the lines of several transaction ids, sorted by the bytes of the order and by line.
// Those that are kept of the list of the month that begins at before are there, too, with negative numbers. A line is returned once for each
// successful payment that has its id. MATERIALIZED keeps each parallel worker of Postgres from finding the orders by itself; the sorted
// subquery lets it sort in parallel, which takes half as long as its hash table.
func (b *Books) OrderLines(ctx context.Context, before time.Time) iter.Seq2[OrderLine, error] {
	lines := `SELECT line, id, order_id, order_total, state, amount, currency, at, until FROM cardgateway_listed_payments WHERE order_id <> ''`
	if !before.IsZero() { // with it, SQLite takes a third longer
		lines += fmt.Sprint(`
			UNION ALL SELECT -line, id, order_id, '', state, amount, currency, at, until FROM cardgateway_later_lines
			WHERE kind = 'payment' AND order_id <> '' AND month = `, micro(before))
	}
	return stream(ctx, b, b.compared(`
		WITH lines AS NOT MATERIALIZED (`+lines+`), several AS MATERIALIZED (
			SELECT order_id FROM (SELECT order_id, id FROM lines ORDER BY order_id) sorted GROUP BY order_id HAVING MIN(id) <> MAX(id)
		)
		SELECT l.line, l.id, l.order_id, NULLIF(l.order_total, ''), l.state, l.amount, l.currency, l.at, l.until, `+columnsOfOrder+`
		FROM lines l LEFT JOIN cardgateway_orders p ON p.transaction_id = l.id AND p.state = 'approved' AND l.state = 'approved'
		WHERE l.order_id IN (SELECT order_id FROM several) ORDER BY l.order_id, l.line`), nil,
		func(o *OrderLine, zone *time.Location) []any {
			l := &o.Line
			return append([]any{&l.Line, &l.ID, &l.Order, &o.Total, &l.State, &l.Amount, &l.Currency, clock{&l.At, zone}, clock{&l.Until, zone}}, o.Paid.into(zone)...)
		})
}

// RefundsOf returns the refunds in [from, to), and those without a time, with their payments, sorted by the bytes of Payment, by At
// and by UniqueID.
func (b *Books) RefundsOf(ctx context.Context, from, to time.Time) iter.Seq2[RefundOf, error] {
	return stream(ctx, b, b.compared(`
		SELECT `+columnsOfRefund+`, `+columnsOfOrder+`
		FROM cardgateway_refunds r LEFT JOIN cardgateway_orders p ON p.id = r.unique_id AND p.unique_id <> ''
		WHERE r.at >= $1 AND r.at < $2 OR r.at = 0
		ORDER BY r.unique_id, r.at, r.refund_unique_id`), []any{micro(from), micro(to)}, func(r *RefundOf, zone *time.Location) []any {
		return append(r.Refund.into(zone), r.Payment.into(zone)...)
	})
}

// RefundsBy returns the refunds of a payment that are not declined, by the gateway's id of the payment.
func (b *Books) RefundsBy(ctx context.Context, payment string) iter.Seq2[Row, error] {
	return stream(ctx, b, b.compared(`SELECT `+columnsOfRefund+` FROM cardgateway_refunds r
		WHERE r.unique_id = $1 AND r.unique_id <> '' AND r.state <> 'declined'`), []any{payment}, (*Row).into)
}

// Unreadables returns the lines of a list that could not be parsed, sorted by line. A line is returned once for each row that has its
// id.
func (b *Books) Unreadables(ctx context.Context, kind Kind) iter.Seq2[Unreadable, error] {
	row, columns := "p", columnsOfOrder
	if kind == Refund {
		row, columns = "r", columnsOfRefund
	}
	return stream(ctx, b, b.compared(tableOf(kind).sql(`
		SELECT u.line, u.id, u.order_id, u.column_name, u.why, `+columns+`
		FROM cardgateway_unreadable u LEFT JOIN $rows `+row+` ON u.id <> '' AND `+row+`.$id = u.id
		WHERE u.kind = $1 ORDER BY u.line`)), []any{string(kind)}, func(u *Unreadable, zone *time.Location) []any {
		return append([]any{&u.Line, &u.ID, &u.Order, &u.Column, &u.Why}, u.Row.into(zone)...)
	})
}

// The columns of a row in the order of Row.into, which are empty if a join has found none.
const (
	columnsOfOrder = `COALESCE(p.unique_id, ''), COALESCE(p.transaction_id, ''), '', COALESCE(p.state, ''), COALESCE(p.amount, '0'),
			COALESCE(p.currency, ''), COALESCE(p.at, 0), COALESCE(p.card, ''), COALESCE(p.test, 0)`
	columnsOfRefund = `COALESCE(r.refund_unique_id, ''), COALESCE(r.merchant_refund_id, ''), COALESCE(r.unique_id, ''), COALESCE(r.state, ''),
			COALESCE(r.amount, '0'), COALESCE(r.currency, ''), COALESCE(r.at, 0), '', 0`
)

// into returns where the columns of a row go.
func (r *Row) into(zone *time.Location) []any {
	return []any{&r.UniqueID, &r.ID, &r.Payment, &r.State, &r.Amount, &r.Currency, clock{&r.At, zone}, &r.Card, &r.Test}
}

// ListSpan returns the first and the last time in a list. If the list has none, they are those of its approved rows in the copy,
// or zero if there is none either.
func (b *Books) ListSpan(ctx context.Context, kind Kind) (first, last time.Time, err error) {
	zone, err := b.zone(ctx)
	if err != nil {
		return first, last, err
	}
	for _, span := range []string{
		`SELECT COALESCE(MIN(at), 0), COALESCE(MAX(until), 0) FROM $list WHERE at <> 0`,
		`SELECT COALESCE(MIN(at), 0), COALESCE(MAX(at), 0) FROM $rows r WHERE state = 'approved' AND at <> 0 AND $id || '' IN (SELECT id FROM $list)`,
	} {
		if first.IsZero() && err == nil {
			err = b.db.QueryRowContext(ctx, b.compared(tableOf(kind).sql(span))).Scan(clock{&first, zone}, clock{&last, zone})
		}
	}
	return first, last, b.inWords(err)
}
