package books

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
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

// KeptMonth is what the comparison of a month has found.
type KeptMonth struct {
	Month
	Items  []KeptItem
	Closed []KeptItem // of earlier months
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

const keptColumns = `SELECT month, id, closed, was FROM cardgateway_kept WHERE kind = $1 AND `

// into returns where the columns of an item go.
func (o *KeptItem) into(zone *time.Location) []any {
	return []any{clock{&o.Month, zone}, &o.ID, clock{&o.Closed, zone}, jsonText{o}}
}

// OpenItems returns what was open at the end of the months before one and not closed before it, and what was open at its own end and
// closed later, sorted by month and id.
func (b *Books) OpenItems(ctx context.Context, kind Kind, month time.Time) iter.Seq2[KeptItem, error] {
	return stream(ctx, b, keptColumns+`(month < $2 AND (closed = 0 OR closed >= $2) OR month = $2 AND closed > $2) ORDER BY month, id`,
		[]any{string(kind), micro(month)}, (*KeptItem).into)
}

// KeptItems returns what was kept of one id, by the Unix time of the start of its month.
func (b *Books) KeptItems(ctx context.Context, kind Kind, id string) (map[int64]KeptItem, error) {
	items := map[int64]KeptItem{}
	for item, err := range stream(ctx, b, keptColumns+`id = $2`, []any{string(kind), id}, (*KeptItem).into) {
		if err != nil {
			return nil, err
		}
		items[item.Month.Unix()] = item
	}
	return items, nil
}

// keepLater keeps the lines of a list that may belong to later months: by the latest time that they may have or, if they have none, by that
// of the gateway. Of those with one id and without a time, the first are of the rows of the month itself. Those of its last week that have an
// order are kept, too: it can be paid again in the next month.
const keepLater = `INSERT INTO cardgateway_later_lines (kind, month, line, id, unique_id, amount, currency, state, order_id, at, until)
	SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), line, id, unique_id, amount, currency, state, order_id, at, until FROM $list
	WHERE until >= $3 OR order_id <> '' AND at >= $4
	UNION ALL
	SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), line, id, unique_id, amount, currency, state, order_id, at, until FROM (
		SELECT l.*, ROW_NUMBER() OVER (PARTITION BY id ORDER BY line) AS number FROM $list l
		WHERE at = 0 AND EXISTS (SELECT 1 FROM $rows r WHERE r.$id = l.id AND r.at >= $3)
	) l WHERE number > (SELECT COUNT(*) FROM $rows r WHERE r.$id = l.id AND r.state = 'approved' AND r.at >= $2 AND r.at < $3)`

// keepOn keeps the lines of the month before that belong to a later month than this one. What this list has not is found once, by sorting both: a
// list of a year would be searched, or sorted, for each line that it has for later months.
const keepOn = `INSERT INTO cardgateway_later_lines (kind, month, line, id, unique_id, amount, currency, state, order_id, at, until)
	WITH other AS MATERIALIZED (SELECT id FROM cardgateway_later_lines EXCEPT SELECT id FROM $list)
	SELECT e.kind, CAST($2 AS BIGINT), e.line, e.id, e.unique_id, e.amount, e.currency, e.state, e.order_id, e.at, e.until
	FROM cardgateway_later_lines e JOIN cardgateway_months m ON m.kind = e.kind AND m.start = e.month AND m.finish = $2
	WHERE e.kind = $1 AND e.until >= $3 AND e.id IN (SELECT id FROM other)`

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

// KeepMonths records what the comparisons of a month have found: that it was compared, what did not tie out, which open items of earlier months
// are closed by it, and which lines of the lists belong to later months. It replaces what earlier comparisons of the same month have recorded.
func (b *Books) KeepMonths(ctx context.Context, months []KeptMonth) error {
	err := b.change(ctx, func(tx *sql.Tx) error {
		for i := range months {
			if err := b.keepMonth(ctx, tx, &months[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return b.inWords(fmt.Errorf("keeping what did not tie out: %w", err))
	}
	return nil
}

func (b *Books) keepMonth(ctx context.Context, tx *sql.Tx, m *KeptMonth) error {
	kind, from, to := string(m.Kind), micro(m.From), micro(m.To)
	totals, err := json.Marshal(m.Totals)
	do := func(statement string, args ...any) { // unless one has failed
		if err == nil {
			_, err = tx.ExecContext(ctx, statement, args...)
		}
	}
	do(`INSERT INTO cardgateway_months (kind, start, finish, seen, totals) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (kind, start) DO UPDATE SET finish = excluded.finish, seen = excluded.seen, totals = excluded.totals`,
		kind, from, to, m.Seen, string(totals))
	do(`DELETE FROM cardgateway_later_lines WHERE kind = $1 AND month = $2`, kind, from)
	do(b.compared(tableOf(m.Kind).sql(keepLater)), kind, from, to, micro(m.To.AddDate(0, 0, -7)))
	do(tableOf(m.Kind).sql(keepOn), kind, from, to)
	do(`DELETE FROM cardgateway_open WHERE kind = $1 AND month = $2`, kind, from)
	do(`DELETE FROM cardgateway_closed WHERE kind = $1 AND closed = $2`, kind, from)
	var open, closed []record
	for i := range m.Items {
		o := &m.Items[i]
		was, failed := json.Marshal(o)
		err = cmp.Or(err, failed)
		open = append(open, record{kind, from, o.ID, string(was)})
		if !o.Closed.IsZero() {
			closed = append(closed, record{kind, from, o.ID, micro(o.Closed)})
		}
	}
	for i := range m.Closed {
		closed = append(closed, record{kind, micro(m.Closed[i].Month), m.Closed[i].ID, from})
	}
	if err == nil {
		err = b.fill(ctx, tx, "cardgateway_open", []string{"kind", "month", "id", "was"}, open)
	}
	if err == nil {
		err = b.fill(ctx, tx, "cardgateway_closed", []string{"kind", "month", "id", "closed"}, closed)
	}
	return err
}

// Named returns the id of an item now: if its line has the gateway's id and no other, that of its row, which the copy may not have had then.
func (b *Books) Named(ctx context.Context, kind Kind, o *KeptItem) (id string, err error) {
	if len(o.Lines) == 0 || o.Lines[0].UniqueID != o.ID {
		return o.ID, nil
	}
	err = b.db.QueryRowContext(ctx, tableOf(kind).sql(`SELECT COALESCE((SELECT r.$id FROM $rows r WHERE r.id = $1 AND r.$id <> ''), CAST($1 AS TEXT))`), o.ID).Scan(&id)
	return id, b.inWords(err)
}

// FirstPeriod returns the start of the first period with which the list of payments was compared. It is this one if there was none, or if all
// lines have a time.
func (b *Books) FirstPeriod(ctx context.Context, start time.Time) (time.Time, error) {
	var has bool // asked of a reading connection: the writing one would fill its memory while it looks at all lines
	err := b.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM cardgateway_listed_payments WHERE at = 0)`).Scan(&has)
	if err != nil || !has {
		return start, b.inWords(err)
	}
	var first int64
	err = b.change(ctx, func(tx *sql.Tx) error {
		const list = ` FROM cardgateway_lists l WHERE l.kind = 'payment'`
		_, err := tx.ExecContext(ctx, `INSERT INTO cardgateway_first_periods (sha256, start) SELECT sha256, $1`+list+` ON CONFLICT (sha256) DO NOTHING`, micro(start))
		if err == nil {
			err = tx.QueryRowContext(ctx, `SELECT COALESCE(MIN(start), $1) FROM cardgateway_first_periods WHERE sha256 IN (SELECT sha256`+list+`)`, micro(start)).Scan(&first)
		}
		return err
	})
	return fromMicro(first, start.Location()), b.inWords(err)
}
