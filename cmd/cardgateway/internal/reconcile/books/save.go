package books

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
)

// Rows are saved in batches. A batch is first inserted into an empty staging table, with COPY in Postgres and with multi-row
// inserts in SQLite. The other statements process the whole batch, and are the same for both.

// prepareStaging creates the staging tables of the writing connection, with the columns of the tables.
func (b *Books) prepareStaging(ctx context.Context) error {
	// Postgres has no statistics of a staging table, and would otherwise read the whole table with which it is joined.
	statements, onCommit := []string{`SET enable_hashjoin = off`, `SET enable_mergejoin = off`}, "ON COMMIT DELETE ROWS"
	if b.kind == database.SQLite {
		statements, onCommit = []string{`PRAGMA temp_store = MEMORY`, `PRAGMA cache_size = -16000`}, ""
	}
	for _, t := range bothTables {
		statements = append(statements, t.sql(`CREATE TEMP TABLE $new `+onCommit+` AS SELECT * FROM $rows WHERE false`))
	}
	for _, statement := range statements {
		if _, err := b.writer.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// save inserts or updates rows, and records the changes. A row without an amount or without a currency keeps the earlier one. A refund that never
// had a currency gets that of its payment, and keeps it, too: it counts in the totals of a month that can be signed. A
// new row whose time is before complete is recorded as late.
func (b *Books) save(ctx context.Context, tx *sql.Tx, t *table, rows []record, complete int64, now time.Time) (found changes, err error) {
	rows = t.lastOfEach(rows)
	if len(rows) == 0 {
		return found, nil
	}
	if err := b.fill(ctx, tx, t.staging(), t.columns, rows); err != nil {
		return found, err
	}
	if slices.ContainsFunc(rows, func(row record) bool { return row[keyColumn] == "" }) {
		if err := nameAgain(ctx, tx, t); err != nil {
			return found, err
		}
	}
	isShort := func(row record) bool { return row[t.money] == "" || row[t.money+1] == "" }
	if slices.ContainsFunc(rows, isShort) {
		_, err := tx.ExecContext(ctx, t.sql(`UPDATE $new SET
			amount = CASE WHEN amount = '' THEN COALESCE((SELECT was.amount FROM $rows was WHERE was.id = $new.id), '0') ELSE amount END,
			currency = CASE WHEN currency = '' THEN COALESCE(NULLIF((SELECT was.currency FROM $rows was WHERE was.id = $new.id), ''),
				(SELECT p.currency FROM cardgateway_orders p WHERE p.id = $new.unique_id), '') ELSE currency END
			WHERE amount = '' OR currency = ''`))
		if err != nil {
			return found, err
		}
	}
	if found, err = b.saveChanges(ctx, tx, t, complete, now); err != nil {
		return found, err
	}
	var set []string
	for _, name := range t.columns[1:] {
		set = append(set, name+" = excluded."+name)
	}
	columns := strings.Join(t.columns, ", ")
	_, err = tx.ExecContext(ctx, t.sql(`INSERT INTO $rows (`+columns+`) SELECT `+columns+` FROM $new WHERE true
		ON CONFLICT (id) DO UPDATE SET `+strings.Join(set, ", ")))
	if err == nil && b.kind == database.SQLite {
		_, err = tx.ExecContext(ctx, t.sql(`DELETE FROM $new`))
	}
	return found, err
}

// nameAgain gives the rows that the gateway returned without its id the one with which it returned them before. Otherwise the
// named row would be gone.
func nameAgain(ctx context.Context, tx *sql.Tx, t *table) error {
	_, err := tx.ExecContext(ctx, t.sql(`UPDATE $new SET id = named.id, $key = named.$key, $id = named.$id FROM $rows named
		WHERE $new.$key = '' AND `+t.isSame("$new", "named")+`
			AND NOT EXISTS (SELECT 1 FROM $new other WHERE other.id = named.id)
			AND NOT EXISTS (SELECT 1 FROM $rows other WHERE other.id <> named.id AND `+t.isSame("$new", "other")+`)`))
	return err
}

// isSame is the SQL condition that a named row is the same as an unnamed one.
func (t *table) isSame(unnamed, named string) string {
	is := fmt.Sprintf(`%[2]s.$key <> '' AND (%[2]s.$id = %[1]s.$id OR %[1]s.$id = '' AND %[2]s.$id = %[2]s.$key)`, unnamed, named)
	for _, name := range t.same {
		is += " AND " + named + "." + name + " = " + unnamed + "." + name
	}
	return is
}

// changes counts the changed and late rows of a batch.
type changes struct{ rows, late int }

// sql inserts the names and conditions of the table, its staging table and its list into a statement.
func (t *table) sql(statement string) string {
	return strings.NewReplacer("$rows", "cardgateway_"+t.kind, "$new", t.staging(), "$list", t.list, "$id", t.id, "$key", t.key).Replace(statement)
}

// lastOfEach keeps only the last row with each id, because a statement cannot change a row twice. Without an amount or without a currency, it
// gets that of the row before it.
func (t *table) lastOfEach(rows []record) []record {
	last := make(map[string]int, len(rows))
	for i, row := range rows {
		if before, isAgain := last[row.id()]; isAgain {
			if row[t.money] == "" {
				row[t.money] = rows[before][t.money]
			}
			if row[t.money+1] == "" {
				row[t.money+1] = rows[before][t.money+1]
			}
		}
		last[row.id()] = i
	}
	if len(last) == len(rows) {
		return rows
	}
	var left []record
	for i, row := range rows {
		if last[row.id()] == i {
			left = append(left, row)
		}
	}
	return left
}

// saveChanges records the differences between the rows of the staging table and the stored ones.
func (b *Books) saveChanges(ctx context.Context, tx *sql.Tx, t *table, complete int64, now time.Time) (found changes, err error) {
	seen, err := nextChange(ctx, tx, now)
	if err != nil {
		return found, err
	}
	var values, differ []string
	for _, name := range t.record {
		values = append(values, "CAST(was."+name+" AS TEXT)", "CAST(now."+name+" AS TEXT)")
		differ = append(differ, "was."+name+" <> now."+name)
	}
	var records []record
	err = texts(ctx, tx, func(row []string) error {
		found.rows++
		for i, name := range t.record {
			if old, new := row[1+2*i], row[2+2*i]; old != new {
				records = append(records, record{t.kind, row[0], name, old, new, seen})
			}
		}
		return nil
	}, t.sql(`SELECT now.id, `+strings.Join(values, ", ")+` FROM $new now JOIN $rows was ON was.id = now.id
		WHERE `+strings.Join(differ, " OR ")+` ORDER BY now.id`))
	if err != nil {
		return found, err
	}
	if err := b.fill(ctx, tx, "cardgateway_changes", changeColumns, records); err != nil {
		return found, err
	}
	late, err := tx.ExecContext(ctx, t.sql(`INSERT INTO cardgateway_changes (kind, id, what, old, new, seen)
		SELECT '`+t.kind+`', now.id, 'late', '', '', $1 FROM $new now
		WHERE now.at > 0 AND now.at < $2 AND NOT EXISTS (SELECT 1 FROM $rows was WHERE was.id = now.id) ORDER BY now.id`), seen, complete)
	if err != nil {
		return found, err
	}
	n, err := late.RowsAffected()
	found.late = int(n)
	return found, err
}

var changeColumns = []string{"kind", "id", "what", "old", "new", "seen"}

// texts calls do for every row of a query, with its values as strings.
func texts(ctx context.Context, tx *sql.Tx, do func(row []string) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // after Next has returned false it is closed, and Err has its error
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, targets := make([]string, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := do(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// fill inserts rows into a table.
func (b *Books) fill(ctx context.Context, tx *sql.Tx, table string, columns []string, rows []record) error {
	if b.kind == database.Postgres {
		return b.copyIn(ctx, table, columns, rows)
	}
	head := `INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES `
	for size := min(sqliteRows, len(rows)); size > 0; size = min(size, len(rows)) {
		insert, err := tx.PrepareContext(ctx, head+manyRows(len(columns), size))
		if err != nil {
			return err
		}
		args := make([]any, 0, size*len(columns))
		for len(rows) >= size && err == nil {
			args = args[:0]
			for _, row := range rows[:size] {
				args = append(args, row...)
			}
			_, err = insert.ExecContext(ctx, args...)
			rows = rows[size:]
		}
		_ = insert.Close() // the transaction's end closes it too
		if err != nil {
			return err
		}
	}
	return nil
}

// sqliteRows is the number of rows that one SQLite statement inserts.
const sqliteRows = 50

// manyRows returns placeholders for several rows, such as (?,?),(?,?).
func manyRows(columns, rows int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", columns), ",") + ")"
	return strings.TrimSuffix(strings.Repeat(row+",", rows), ",")
}

// copyIn inserts rows with COPY, in the current transaction of the writing connection.
func (b *Books) copyIn(ctx context.Context, table string, columns []string, rows []record) error {
	if len(rows) == 0 {
		return nil
	}
	return b.writer.Raw(func(driver any) error {
		conn := driver.(*stdlib.Conn).Conn()
		_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) { return rows[i], nil }))
		return err
	})
}

// dropUnnamed deletes rows that the gateway first returned without its id, and later with it.
func (b *Books) dropUnnamed(ctx context.Context, tx *sql.Tx, t *table, now time.Time) error {
	return b.drop(ctx, tx, t, now, `$key = '' AND EXISTS (SELECT 1 FROM $rows named WHERE `+t.isSame("$rows", "named")+`)`)
}

// drop deletes rows, and records them.
func (b *Books) drop(ctx context.Context, tx *sql.Tx, t *table, now time.Time, where string, args ...any) error {
	seen, err := nextChange(ctx, tx, now)
	if err != nil {
		return err
	}
	var records []record
	err = texts(ctx, tx, func(row []string) error {
		was := map[string]string{}
		for i, name := range t.columns {
			was[name] = row[i]
		}
		text, err := json.Marshal(was)
		records = append(records, record{t.kind, row[0], "gone", string(text), "", seen})
		return err
	}, t.sql(`SELECT `+strings.Join(t.columns, ", ")+` FROM $rows WHERE `+where), args...)
	if err != nil || len(records) == 0 {
		return err
	}
	// Not by ORDER BY: SQLite would read the whole table in that order instead of the few rows.
	slices.SortFunc(records, func(a, b record) int { return strings.Compare(a[1].(string), b[1].(string)) })
	if err := b.fill(ctx, tx, "cardgateway_changes", changeColumns, records); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, t.sql(`DELETE FROM $rows WHERE `+where), args...)
	return err
}

// dropGone deletes and records the rows of a range that a walk over it did not return. If there are so many that an error of
// the gateway is more likely, it returns a *GoneError instead, unless accept is set.
func (b *Books) dropGone(ctx context.Context, tx *sql.Tx, t *table, from, to, walk int64, accept bool, now time.Time) (gone int, err error) {
	all := 0
	err = tx.QueryRowContext(ctx, t.sql(`SELECT COUNT(*), COALESCE(SUM(CASE WHEN walk < $3 THEN 1 ELSE 0 END), 0) FROM $rows WHERE at >= $1 AND at < $2`),
		from, to, walk).Scan(&all, &gone)
	if err != nil || gone == 0 {
		return 0, err
	}
	if gone > max(manyGone, all/100) && !accept {
		return 0, &GoneError{Kind: t.kind, Gone: gone, Of: all, From: time.UnixMicro(from), To: time.UnixMicro(to)}
	}
	return gone, b.drop(ctx, tx, t, now, `at >= $1 AND at < $2 AND walk < $3`, from, to, walk)
}

// manyGone is how many rows of a range may be gone without a *GoneError, or 1 % of them if that is more.
const manyGone = 5

// GoneError means that the gateway no longer returns many rows of a time range, so that none of them was deleted from the copy.
type GoneError struct {
	Kind     string // orders or refunds
	Gone, Of int
	From, To time.Time // the range
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("the gateway no longer returns %d of the %d %s from %s to %s (UTC)", e.Gone, e.Of, e.Kind,
		e.From.UTC().Format(time.DateTime), e.To.UTC().Format(time.DateTime))
}
