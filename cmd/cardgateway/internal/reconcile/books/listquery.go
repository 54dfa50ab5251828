package books

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
)

// queryRows is a list in a database of the merchant, read in a read-only transaction.
type queryRows struct {
	db    *sql.DB
	tx    *sql.Tx
	rows  *sql.Rows
	types []string // of the columns, as the driver names them
	cells []any
	line  int
	hash  hash.Hash
}

func (s *ListSource) openQuery(ctx context.Context, sum hash.Hash, choose func(titles []string) error) (_ lines, err error) {
	name, err := database.Parse(s.DSN)
	if err != nil {
		return nil, &Refused{"--list-dsn", err.Error()}
	}
	if strings.TrimSpace(s.Query) == "" {
		return nil, &Refused{"--list-query", "is missing: set a SELECT statement or a table name"}
	}
	q := &queryRows{hash: sum}
	defer func() {
		if err != nil {
			err = errors.Join(err, q.close())
		}
	}()
	if q.db, err = openReadOnly(name); err != nil {
		return nil, err
	}
	q.db.SetMaxOpenConns(1)
	query := asSelect(s.Query, name.Kind)
	// the SQLite driver has no read-only transactions, but the file is opened read-only
	q.tx, err = q.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: name.Kind != database.SQLite})
	if err == nil && name.Kind == database.SQLite {
		query, err = q.asTexts(ctx, query)
	}
	if err == nil {
		q.rows, err = q.tx.QueryContext(ctx, query)
	}
	if err != nil {
		return nil, cmp.Or(ctx.Err(), error(&Refused{Why: fmt.Sprintf("cannot be read from the %s: %v", name, err)}))
	}
	types, err := q.rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, t := range types {
		titles = append(titles, t.Name())
		q.types = append(q.types, t.DatabaseTypeName())
		q.cells = append(q.cells, new(any))
	}
	return q, choose(titles)
}

// asTexts returns a query for the same rows as texts. Of a column that is declared as a time, the driver of SQLite would return a time
// without saying whether the text had a zone.
func (q *queryRows) asTexts(ctx context.Context, query string) (string, error) {
	query = "(" + strings.TrimRight(query, "; \t\r\n") + "\n)" // a comment can be at its end
	rows, err := q.tx.QueryContext(ctx, "SELECT * FROM "+query+" LIMIT 0")
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		return "", err
	}
	for i, name := range names {
		name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		names[i] = name + ` || '' AS ` + name
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM " + query, rows.Err()
}

// openReadOnly opens a database of the merchant, a SQLite file read-only.
func openReadOnly(name database.Name) (*sql.DB, error) {
	if name.Kind != database.SQLite {
		return name.OpenServer("")
	}
	if _, err := os.Stat(name.Text); err != nil {
		return nil, &Refused{"--list-dsn", fmt.Sprintf("names a file that cannot be opened: %v", err)}
	}
	return database.OpenSQLite(name.Text, "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(10000)")
}

var tablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// asSelect converts a table name to a query, and returns a query unchanged.
func asSelect(query string, kind database.Kind) string {
	query = strings.TrimSpace(query)
	if !tablePattern.MatchString(query) {
		return query
	}
	quote := `"`
	if kind == database.MySQL {
		quote = "`"
	}
	return "SELECT * FROM " + quote + strings.ReplaceAll(query, ".", quote+"."+quote) + quote
}

func (q *queryRows) next() (line int, cells []string, err error) {
	if !q.rows.Next() {
		if err := q.rows.Err(); err != nil {
			return 0, nil, err
		}
		return 0, nil, io.EOF
	}
	q.line++
	if err := q.rows.Scan(q.cells...); err != nil {
		return q.line, nil, err
	}
	cells = make([]string, len(q.cells))
	for i, cell := range q.cells {
		cells[i] = q.text(i, *cell.(*any))
		_ = binary.Write(q.hash, binary.BigEndian, uint64(len(cells[i]))) // a hash returns no error
		_, _ = io.WriteString(q.hash, cells[i])
	}
	return q.line, cells, nil
}

// text formats a value as in a CSV list.
func (q *queryRows) text(column int, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	case time.Time:
		switch q.types[column] {
		case "DATE":
			return v.Format(time.DateOnly)
		case "TIMESTAMPTZ":
			return v.Format(time.RFC3339Nano)
		}
		return v.Format(time.DateTime) // it has no zone
	}
	return fmt.Sprint(value)
}

// isNumber reports whether a cell has a numeric type. Everything that SQLite returns is a text, see asTexts.
func (q *queryRows) isNumber(column int) bool {
	return slices.Contains([]string{"NUMERIC", "DECIMAL", "FLOAT", "FLOAT4", "FLOAT8", "DOUBLE"}, q.types[column])
}

func (q *queryRows) close() (err error) {
	if q.rows != nil {
		err = q.rows.Close()
	}
	if q.tx != nil {
		_ = q.tx.Rollback() // nothing was written
	}
	if q.db != nil {
		err = errors.Join(err, q.db.Close())
	}
	return err
}
