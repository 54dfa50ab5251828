package books

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Month is a month that was compared with a list.
type Month struct {
	Kind     Kind
	From, To time.Time
}

// OpenItem is a payment or a refund that was open at the end of a month: its other side was not final, or could be outside the list or
// the copy.
type OpenItem struct {
	Kind     Kind            `json:"-"`
	Month    time.Time       `json:"-"` // its start
	ID       string          `json:"-"` // of the transaction or the refund
	Class    string          `json:"class"`
	Currency string          `json:"currency"`
	Value    decimal.Decimal `json:"value"`
	At       time.Time       `json:"at"`
	Lines    []Line          `json:"lines"` // of the list of that month, which later lists need not have
}

// MostOpen is the maximum number of payments and refunds that are kept of a month.
const MostOpen = 100_000

// Months returns the months of which the payments or the refunds were compared, sorted by their start.
func (b *Books) Months(ctx context.Context, kind Kind) (all []Month, err error) {
	for m, err := range comparedRows(ctx, b, `SELECT start, finish FROM cardgateway_months WHERE kind = $1 ORDER BY start`, []any{string(kind)},
		func(scan func(...any) error, zone *time.Location) (Month, error) {
			var from, to int64
			err := scan(&from, &to)
			return Month{kind, fromMicro(from, zone), fromMicro(to, zone)}, err
		}) {
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// OpenBefore returns what was open at the end of the months before one, and was not closed before it, sorted by month and id.
func (b *Books) OpenBefore(ctx context.Context, kind Kind, month time.Time) iter.Seq2[OpenItem, error] {
	return comparedRows(ctx, b, `SELECT month, id, was FROM cardgateway_open WHERE kind = $1 AND month < $2 AND (closed = 0 OR closed >= $2)
		ORDER BY month, id`, []any{string(kind), micro(month)}, func(scan func(...any) error, zone *time.Location) (OpenItem, error) {
		o := OpenItem{Kind: kind}
		var at int64
		var was string
		err := scan(&at, &o.ID, &was)
		if err == nil {
			err = json.Unmarshal([]byte(was), &o)
		}
		o.Month, o.At = fromMicro(at, zone), o.At.In(zone)
		for i := range o.Lines {
			o.Lines[i].Earlier = true
			o.Lines[i].At, o.Lines[i].Until = o.Lines[i].At.In(zone), o.Lines[i].Until.In(zone)
		}
		return o, err
	})
}

// keepLater keeps the lines of a list that may belong to later months: by the latest time that they may have or, if they have none, by that
// of the gateway. Of those with one id and without a time, the first are of the rows of the month itself. The plus keeps the databases from
// reading all rows of a range of time for each line: they find its rows by their ids.
var keepLater = map[Kind]string{
	Payment: laterLinesOf("transaction_id", "state", "cardgateway_listed_payments", "cardgateway_orders", "r.transaction_id = l.transaction_id"),
	Refund:  laterLinesOf("refund_id", "'approved'", "cardgateway_listed_refunds", "cardgateway_refunds", hasRefundID("l.refund_id")),
}

func laterLinesOf(id, state, list, rows, isSame string) string {
	return strings.NewReplacer("$id", id, "$state", state, "$list", list, "$rows", rows, "$is_same", isSame).Replace(`
		INSERT INTO cardgateway_later_lines (kind, month, line, id, amount, currency, state, order_id, at, until)
		SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), line, $id, amount, currency, $state, order_id, at, until FROM $list WHERE until >= $3
		UNION ALL
		SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), line, $id, amount, currency, $state, order_id, at, until FROM (
			SELECT l.*, ROW_NUMBER() OVER (PARTITION BY $id ORDER BY line) AS number FROM $list l
			WHERE at = 0 AND EXISTS (SELECT 1 FROM $rows r WHERE $is_same AND +r.at >= $3)
		) l WHERE number > (SELECT COUNT(*) FROM $rows r WHERE $is_same AND r.state = 'approved' AND +r.at >= $2 AND +r.at < $3)`)
}

// KeepMonth records what a comparison of a month has found: that it was compared, what is open at its end, which entries of earlier months
// are still open, and which lines of the lists belong to later months. It replaces what an earlier comparison of the same month has recorded.
func (b *Books) KeepMonth(ctx context.Context, months []Month, open, stillOpen, closed []OpenItem) error {
	err := b.change(ctx, func(tx *sql.Tx) (err error) {
		do := func(statement string, args ...any) { // unless one has failed
			if err == nil {
				_, err = tx.ExecContext(ctx, statement, args...)
			}
		}
		now := time.Time{}
		for _, m := range months {
			now = m.From
			kind, from, to := string(m.Kind), micro(m.From), micro(m.To)
			do(`INSERT INTO cardgateway_months (kind, start, finish) VALUES ($1, $2, $3)
				ON CONFLICT (kind, start) DO UPDATE SET finish = excluded.finish`, kind, from, to)
			do(`DELETE FROM cardgateway_later_lines WHERE kind = $1 AND month = $2`, kind, from)
			do(b.compared(keepLater[m.Kind]), kind, from, to)
			// Entries that are found again stay closed if a later month has closed them. The others are deleted below.
			do(`UPDATE cardgateway_open SET was = '' WHERE kind = $1 AND month = $2`, kind, from)
		}
		for i := range open {
			was, failed := json.Marshal(open[i])
			if failed != nil {
				return failed
			}
			do(`INSERT INTO cardgateway_open (kind, month, id, was, closed) VALUES ($1, $2, $3, $4, 0)
				ON CONFLICT (kind, month, id) DO UPDATE SET was = excluded.was`, string(open[i].Kind), micro(now), open[i].ID, string(was))
		}
		for _, o := range stillOpen {
			do(`UPDATE cardgateway_open SET closed = 0 WHERE kind = $1 AND id = $2 AND month = $3 AND closed = $4`,
				string(o.Kind), o.ID, micro(o.Month), micro(now))
		}
		for _, o := range closed {
			do(`UPDATE cardgateway_open SET closed = $4 WHERE kind = $1 AND id = $2 AND month = $3`,
				string(o.Kind), o.ID, micro(o.Month), micro(now))
		}
		do(`DELETE FROM cardgateway_open WHERE was = ''`)
		return err
	})
	if err != nil {
		return b.inWords(fmt.Errorf("keeping what is open: %w", err))
	}
	return nil
}
