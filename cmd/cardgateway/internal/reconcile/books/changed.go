package books

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"
)

// RowChanges are the recorded changes of one row of the copy.
type RowChanges struct {
	table   *table
	now     map[string]string // its columns; nil if it is gone
	records []changeRecord    // the latest first
	zone    *time.Location
	anyApp  bool
}

type changeRecord struct {
	what, old string
	seen      int64
}

// LastChange returns the mark of the changes that are recorded now.
func (b *Books) LastChange(ctx context.Context) (seen int64, err error) {
	err = b.db.QueryRowContext(ctx, lastChange).Scan(&seen)
	return seen, b.inWords(err)
}

const lastChange = `SELECT COALESCE(MAX(seen), 0) FROM cardgateway_changes`

// nextChange returns when a transaction that begins now has seen its changes: later than every earlier one, also if the clock was set back.
func nextChange(ctx context.Context, tx *sql.Tx, now time.Time) (seen int64, err error) {
	err = tx.QueryRowContext(ctx, lastChange).Scan(&seen)
	return max(now.UnixMicro(), seen+1), err
}

// ChangesSince returns the rows that have changed since a mark, sorted by the gateway's ids.
func (b *Books) ChangesSince(ctx context.Context, kind Kind, seen int64) iter.Seq2[*RowChanges, error] {
	t, columns := tableOf(kind), ""
	for _, name := range t.columns {
		columns += `, COALESCE(CAST(r.` + name + ` AS TEXT), '')`
	}
	query := t.sql(`SELECT c.id, c.what, c.old, c.seen` + columns + ` FROM cardgateway_changes c LEFT JOIN $rows r ON r.id = c.id
		WHERE c.kind = '` + t.kind + `' AND c.seen > $1 ORDER BY c.id, c.seen DESC`)
	if kind == Refund { // which do not state the app
		query = b.compared(query)
	}
	return func(yield func(*RowChanges, error) bool) {
		type change struct {
			id  string
			now [12]string // of the widest table; the first is empty if the row is gone
			changeRecord
		}
		var zone *time.Location
		var id string
		var c *RowChanges
		for change, err := range stream(ctx, b, query, []any{seen}, func(change *change, of *time.Location) []any {
			zone = of
			into := []any{&change.id, &change.what, &change.old, &change.seen}
			for i := range t.columns {
				into = append(into, &change.now[i])
			}
			return into
		}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if c == nil || change.id != id {
				if c != nil && !yield(c, nil) {
					return
				}
				id, c = change.id, &RowChanges{table: t, zone: zone, anyApp: b.AnyApp}
				if change.now[0] != "" {
					c.now = map[string]string{}
					for i, name := range t.columns {
						c.now[name] = change.now[i]
					}
				}
			}
			c.records = append(c.records, change.changeRecord)
		}
		if c != nil {
			yield(c, nil)
		}
	}
}

// At returns the row as the copy had it at a mark, or nil if it was not in the copy.
func (c *RowChanges) At(seen int64) (*Row, error) {
	columns, isCopied := c.now, false
	for _, r := range c.records {
		switch {
		case r.seen <= seen:
		case r.what == "late":
			columns = nil
		case r.what == "gone":
			columns, isCopied = map[string]string{}, true
			if err := json.Unmarshal([]byte(r.old), &columns); err != nil {
				return nil, fmt.Errorf("the database contains %.40q instead of a row: %w", r.old, err)
			}
		case columns != nil:
			if !isCopied {
				columns, isCopied = maps.Clone(columns), true
			}
			columns[r.what] = r.old
		}
	}
	if columns == nil || columns["other_app"] != "" && !c.anyApp {
		return nil, nil
	}
	at, err := strconv.ParseInt(columns["at"], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the database contains %.40q instead of a time", columns["at"])
	}
	r := &Row{UniqueID: columns[c.table.key], ID: columns[c.table.id], State: columns["state"], Currency: columns["currency"], At: fromMicro(at, c.zone),
		Card: columns["card"], Test: columns["test"] == "1"}
	if c.table == &refundsTable {
		r.Payment = columns["unique_id"]
	}
	return r, r.Amount.Scan(columns["amount"])
}

// Now returns the row as the copy has it, or nil if it is not in the copy.
func (c *RowChanges) Now() (*Row, error) { return c.At(math.MaxInt64) }

// Change is a recorded change of the copy.
type Change struct {
	Kind     Kind
	ID       string    // the gateway's id or, without one, an id derived from the merchant's
	What     string    // a column name; "late" for a row that appeared after its time had been copied; "gone" for a deleted row
	Old, New string    // values of the column; for a row that is gone, Old is the row as JSON
	At       time.Time // of the row before the change; zero if it has none
	After    time.Time // of the row after the change: another one only if that has changed it
	Seen     time.Time // its mark is Seen.UnixMicro(): see Month.Seen
}

// moved is the time of a row before the first change since c, with >= c itself, that moved it or deleted it; without one, as it is now.
const moved = `COALESCE((SELECT n.old FROM cardgateway_changes n WHERE n.kind = c.kind AND n.id = c.id AND n.what IN ('at', 'gone')
		AND n.seen %s c.seen ORDER BY n.seen LIMIT 1), CAST(o.at AS TEXT), CAST(r.at AS TEXT), '0')`

// Changes returns the changes that were seen in [from, to), in this order.
func (b *Books) Changes(ctx context.Context, from, to time.Time) iter.Seq2[Change, error] {
	// Not of the rows that are compared only: one of them may have become one of another app.
	query := `SELECT CASE c.kind WHEN 'orders' THEN 'payment' ELSE 'refund' END, c.id, c.what, c.old, c.new, c.seen, ` +
		fmt.Sprintf(moved+`, CASE c.what WHEN 'gone' THEN c.old ELSE `+moved+` END`, ">=", ">") + ` FROM cardgateway_changes c
		LEFT JOIN cardgateway_orders o ON c.kind = 'orders' AND o.id = c.id LEFT JOIN cardgateway_refunds r ON c.kind = 'refunds' AND r.id = c.id
		WHERE c.seen >= $1 AND c.seen < $2 ORDER BY c.seen, c.kind, c.id, c.what`
	return stream(ctx, b, query, []any{micro(from), micro(to)}, func(c *Change, zone *time.Location) []any {
		return []any{&c.Kind, &c.ID, &c.What, &c.Old, &c.New, clock{&c.Seen, zone}, timeOfRow{&c.At, zone}, timeOfRow{&c.After, zone}}
	})
}

// timeOfRow is where the time of a row goes, which is a text, or in that of the row as JSON.
type timeOfRow clock

// Scan converts a column.
func (t timeOfRow) Scan(column any) error {
	text, _ := column.(string)
	if strings.HasPrefix(text, "{") { // the row that is gone
		var was struct{ At string }
		if err := json.Unmarshal([]byte(text), &was); err != nil {
			return err
		}
		text = was.At
	}
	at, err := strconv.ParseInt(text, 10, 64)
	*t.at = fromMicro(at, t.zone)
	return err
}
