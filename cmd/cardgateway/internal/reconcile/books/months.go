package books

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Month is a month that was compared with a list.
type Month struct {
	Kind     Kind
	From, To time.Time
	Seen     int64                      // mark of the changes that were known then: see ChangesSince
	Totals   map[string]decimal.Decimal // of the gateway then, by currency
}

// KeptItem is a payment or a refund that did not tie out in a month, or has a row without a time. It is open if its other side was not final, or
// could be outside the list or the copy, or if one of its rows was not final.
type KeptItem struct {
	Kind     Kind              `json:"-"`
	Month    time.Time         `json:"-"` // its start
	Closed   time.Time         `json:"-"` // start of the later month in which it matched or became a difference; zero if there is none yet; Month if it was not open
	ID       string            `json:"-"` // of the transaction or the refund
	Class    string            `json:"class"`
	Currency string            `json:"currency"`
	Value    decimal.Decimal   `json:"value"`
	At       time.Time         `json:"at"`
	Lines    []Line            `json:"lines"`             // of the list of that month, which later lists need not have
	Rows     map[string]string `json:"rows"`              // the states of the rows that were not final, by Row.Key
	Untimed  []string          `json:"untimed,omitempty"` // the Row.Key of each approved row without a time, which counted in the month
}

// MostKept is the maximum number of payments and refunds that are kept of a month.
const MostKept = 100_000

// Months returns the months of which the payments or the refunds were compared, sorted by their start.
func (b *Books) Months(ctx context.Context, kind Kind) (all []Month, err error) {
	for m, err := range stream(ctx, b, `SELECT kind, start, finish, seen, totals FROM cardgateway_months WHERE kind = $1 ORDER BY start`,
		[]any{string(kind)}, func(m *Month, zone *time.Location) []any {
			return []any{&m.Kind, clock{&m.From, zone}, clock{&m.To, zone}, &m.Seen, jsonText{&m.Totals}}
		}) {
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

const keptColumns = `SELECT kind, month, id, closed, was FROM cardgateway_open WHERE kind = $1 AND `

// into returns where the columns of an item go.
func (o *KeptItem) into(zone *time.Location) []any {
	return []any{&o.Kind, clock{&o.Month, zone}, &o.ID, clock{&o.Closed, zone}, jsonText{o}}
}

// OpenItems returns what was open at the end of the months before one and not closed before it, and what was open at its own end and
// closed later, sorted by month and id.
func (b *Books) OpenItems(ctx context.Context, kind Kind, month time.Time) iter.Seq2[KeptItem, error] {
	return stream(ctx, b, keptColumns+`(month < $2 AND (closed = 0 OR closed >= $2) OR month = $2 AND closed > $2) ORDER BY month, id`,
		[]any{string(kind), micro(month)}, (*KeptItem).into)
}

// KeptItem returns what was kept of one id in a month.
func (b *Books) KeptItem(ctx context.Context, kind Kind, month time.Time, id string) (item KeptItem, ok bool, err error) {
	for item, err := range stream(ctx, b, keptColumns+`month = $2 AND id = $3`, []any{string(kind), micro(month), id}, (*KeptItem).into) {
		return item, err == nil, err
	}
	return item, false, nil
}

// keepLater keeps the lines of a list that may belong to later months: by the latest time that they may have or, if they have none, by that
// of the gateway. Of those with one id and without a time, the first are of the rows of the month itself. The plus keeps the databases from
// reading all rows of a range of time for each line: they find its rows by their ids.
const keepLater = `INSERT INTO cardgateway_later_lines (kind, month, line, id, unique_id, amount, currency, state, order_id, at, until)
	SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), line, id, unique_id, amount, currency, state, order_id, at, until FROM $list WHERE until >= $3
	UNION ALL
	SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), line, id, unique_id, amount, currency, state, order_id, at, until FROM (
		SELECT l.*, ROW_NUMBER() OVER (PARTITION BY id ORDER BY line) AS number FROM $list l
		WHERE at = 0 AND EXISTS (SELECT 1 FROM $rows r WHERE $is_line AND +r.at >= $3)
	) l WHERE number > (SELECT COUNT(*) FROM $rows r WHERE $is_line AND r.state = 'approved' AND +r.at >= $2 AND +r.at < $3)`

// keepOn keeps the lines of the month before that belong to a later month than this one. EXCEPT sorts the ids: a list of a year would be searched
// without an index for each line that it has for later months.
const keepOn = `INSERT INTO cardgateway_later_lines (kind, month, line, id, unique_id, amount, currency, state, order_id, at, until)
	SELECT e.kind, CAST($2 AS BIGINT), e.line, e.id, e.unique_id, e.amount, e.currency, e.state, e.order_id, e.at, e.until
	FROM cardgateway_later_lines e JOIN cardgateway_months m ON m.kind = e.kind AND m.start = e.month AND m.finish = $2
	WHERE e.kind = $1 AND e.until >= $3 AND e.id IN (SELECT id FROM cardgateway_later_lines EXCEPT SELECT id FROM $list)`

// keepOrders keeps the lines of the last week of a month that have an order: it can be paid again in the next month, whose list need not have them.
const keepOrders = `INSERT INTO cardgateway_later_lines (kind, month, line, id, unique_id, amount, currency, state, order_id, at, until)
	SELECT 'order', CAST($1 AS BIGINT), line, id, unique_id, amount, currency, state, order_id, at, until FROM cardgateway_listed_payments
	WHERE order_id <> '' AND at >= $2 AND at < $3`

// Untimed returns in which month before one each row without a time counted first, by Row.Key. Otherwise it would count in every month.
func (b *Books) Untimed(ctx context.Context, kind Kind, month time.Time) (map[string]time.Time, error) {
	first := map[string]time.Time{}
	for o, err := range stream(ctx, b, keptColumns+`month < $2 AND was LIKE '%"untimed":[%' ORDER BY month DESC`, []any{string(kind), micro(month)}, (*KeptItem).into) {
		if err != nil {
			return nil, err
		}
		for _, key := range o.Untimed {
			first[key] = o.Month
		}
	}
	return first, nil
}

// KeepMonth records what a comparison of a month has found: that it was compared, what did not tie out, which open items of earlier months
// are closed by it, and which lines of the lists belong to later months. It replaces what an earlier comparison of the same month has recorded.
func (b *Books) KeepMonth(ctx context.Context, months []Month, items, closed []KeptItem) error {
	err := b.change(ctx, func(tx *sql.Tx) (err error) {
		do := func(statement string, args ...any) { // unless one has failed
			if err == nil {
				_, err = tx.ExecContext(ctx, statement, args...)
			}
		}
		for _, m := range months {
			totals, failed := json.Marshal(m.Totals)
			if failed != nil {
				return failed
			}
			kind, from, to := string(m.Kind), micro(m.From), micro(m.To)
			do(`INSERT INTO cardgateway_months (kind, start, finish, seen, totals) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (kind, start) DO UPDATE SET finish = excluded.finish, seen = excluded.seen, totals = excluded.totals`,
				kind, from, to, m.Seen, string(totals))
			do(`DELETE FROM cardgateway_later_lines WHERE kind = $1 AND month = $2`, kind, from)
			do(b.compared(tableOf(m.Kind).sql(keepLater)), kind, from, to)
			do(tableOf(m.Kind).sql(keepOn), kind, from, to)
			if m.Kind == Payment {
				do(`DELETE FROM cardgateway_later_lines WHERE kind = 'order' AND month = $1`, from)
				do(keepOrders, from, micro(m.To.AddDate(0, 0, -7)), to)
			}
			if err == nil {
				err = b.keepItems(ctx, tx, m, items)
			}
			do(`UPDATE cardgateway_open SET closed = 0 WHERE kind = $1 AND month < $2 AND closed = $2`, kind, from)
			if err == nil {
				err = closeItems(ctx, tx, m, closed)
			}
		}
		return err
	})
	if err != nil {
		return b.inWords(fmt.Errorf("keeping what did not tie out: %w", err))
	}
	return nil
}

// keepItems replaces the items of a month. Those that are open again stay closed if a later month has closed them.
func (b *Books) keepItems(ctx context.Context, tx *sql.Tx, m Month, items []KeptItem) error {
	kind, month := string(m.Kind), micro(m.From)
	closed := map[string]int64{}
	err := texts(ctx, tx, func(row []string) (err error) {
		closed[row[0]], err = strconv.ParseInt(row[1], 10, 64)
		return err
	}, `SELECT id, CAST(closed AS TEXT) FROM cardgateway_open WHERE kind = $1 AND month = $2 AND closed > $2`, kind, month)
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM cardgateway_open WHERE kind = $1 AND month = $2`, kind, month)
	}
	var records []record
	for i := range items {
		o := &items[i]
		if o.Kind != m.Kind || err != nil {
			continue
		}
		was, failed := json.Marshal(o)
		until := micro(o.Closed)
		if o.Closed.IsZero() {
			until = closed[o.ID]
		}
		records, err = append(records, record{kind, month, o.ID, string(was), until}), failed
	}
	if err != nil {
		return err
	}
	return b.fill(ctx, tx, "cardgateway_open", []string{"kind", "month", "id", "was", "closed"}, records)
}

// closeItems closes items of earlier months, many in one statement.
func closeItems(ctx context.Context, tx *sql.Tx, m Month, closed []KeptItem) error {
	byMonth := map[int64][]any{}
	for i := range closed {
		if closed[i].Kind == m.Kind {
			month := micro(closed[i].Month)
			byMonth[month] = append(byMonth[month], closed[i].ID)
		}
	}
	for month, ids := range byMonth {
		for some := range slices.Chunk(ids, 500) {
			places := make([]string, len(some))
			for i := range some {
				places[i] = fmt.Sprint("$", i+4)
			}
			_, err := tx.ExecContext(ctx, `UPDATE cardgateway_open SET closed = $1 WHERE kind = $2 AND month = $3 AND id IN (`+strings.Join(places, ", ")+`)`,
				append([]any{micro(m.From), string(m.Kind), month}, some...)...)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Named returns the id of an item now: if its line has the gateway's id and no other, that of its row, which the copy may not have had then.
func (b *Books) Named(ctx context.Context, o *KeptItem) (id string, err error) {
	if len(o.Lines) == 0 || o.Lines[0].UniqueID != o.ID {
		return o.ID, nil
	}
	err = b.db.QueryRowContext(ctx, tableOf(o.Kind).sql(`SELECT COALESCE((SELECT $id FROM $rows r WHERE r.id = $1 AND $id <> ''), CAST($1 AS TEXT))`), o.ID).Scan(&id)
	return id, b.inWords(err)
}

// FirstPeriod returns the start of the first period with which the list of payments was compared. It is this one if there was none, or if all
// lines have a time.
func (b *Books) FirstPeriod(ctx context.Context, start time.Time) (time.Time, error) {
	if has, err := b.has(ctx, `cardgateway_listed_payments WHERE at = 0`); err != nil || !has {
		return start, b.inWords(err)
	}
	var first int64
	err := b.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO cardgateway_first_periods (kind, sha256, start)
			SELECT kind, sha256, $2 FROM cardgateway_lists WHERE kind = $1
			ON CONFLICT (kind, sha256) DO NOTHING`, string(Payment), micro(start))
		if err == nil {
			err = tx.QueryRowContext(ctx, `SELECT COALESCE(MIN(f.start), $2) FROM cardgateway_first_periods f JOIN cardgateway_lists l
				ON l.kind = f.kind AND l.sha256 = f.sha256 WHERE f.kind = $1`, string(Payment), micro(start)).Scan(&first)
		}
		return err
	})
	return fromMicro(first, start.Location()), b.inWords(err)
}
