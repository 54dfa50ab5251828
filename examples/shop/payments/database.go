package payments

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// Amounts are text, exactly as they are charged; times are microseconds since 1970.
const tables = `
CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, customer TEXT NOT NULL, amount TEXT NOT NULL, terms TEXT NOT NULL, created BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS orders_customer ON orders (customer, created);
CREATE TABLE IF NOT EXISTS attempts (id TEXT PRIMARY KEY, order_id TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, card_id TEXT NOT NULL,
	state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', unique_id TEXT NOT NULL DEFAULT '', digits TEXT NOT NULL DEFAULT '',
	redirect_url TEXT NOT NULL DEFAULT '', version INTEGER NOT NULL, looked BIGINT NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS attempts_order ON attempts (order_id);
CREATE TABLE IF NOT EXISTS refunds (id TEXT PRIMARY KEY, attempt_id TEXT NOT NULL, amount TEXT NOT NULL, created BIGINT NOT NULL, state TEXT NOT NULL,
	version INTEGER NOT NULL, made BIGINT NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS refunds_attempt ON refunds (attempt_id);
CREATE TABLE IF NOT EXISTS cards (id TEXT PRIMARY KEY, customer TEXT NOT NULL, state TEXT NOT NULL, digits TEXT NOT NULL DEFAULT '',
	token TEXT NOT NULL DEFAULT '', redirect_url TEXT NOT NULL DEFAULT '', version INTEGER NOT NULL DEFAULT -1, changed BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS cards_customer ON cards (customer);
CREATE TABLE IF NOT EXISTS gateway_orders (unique_id TEXT PRIMARY KEY, transaction_id TEXT NOT NULL,
	code INTEGER NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL, at BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS gateway_refunds (unique_id TEXT PRIMARY KEY, of_unique_id TEXT NOT NULL, refund_id TEXT NOT NULL,
	code INTEGER NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL, at BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS copies (name TEXT PRIMARY KEY, since BIGINT NOT NULL, position TEXT, due BIGINT NOT NULL DEFAULT 0)`

// OpenDatabase opens the database of the shop and of its journal: the URL of a Postgres database, the path of a SQLite file, or ":memory:".
func OpenDatabase(ctx context.Context, name string) (*sql.DB, *sqlstore.Store, error) {
	driver, dialect, connections := "pgx", sqlstore.Postgres, 20 // of each process: Postgres allows 100 in all by default
	if !strings.Contains(name, "://") {
		driver, dialect, connections = "sqlite", sqlstore.SQLite, 1 // SQLite has one writer, and in memory each connection would have its own database
		if name != ":memory:" {
			name = "file:" + url.PathEscape(name) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
		}
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(connections)
	store, err := sqlstore.New(ctx, db, dialect)
	if err != nil {
		_ = db.Close()
	}
	return db, store, err
}

// Querier is a database or a transaction.
type Querier interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// Transaction runs a function in a transaction, which is rolled back if it returns an error.
func (s *Service) Transaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// changed reports whether a statement, which had this result, changed a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// Collect reads the rows of a query.
func Collect[T any](ctx context.Context, db Querier, read func(scan func(...any) error) (T, error), query string, args ...any) (all []T, _ error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // already closed after Next has returned false; errors are in Err
	for rows.Next() {
		v, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// one returns the only row of a query, or ErrNotFound.
func one[T any](all []T, err error) (T, error) {
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return *new(T), err
	}
	return all[0], nil
}

// column reads a row of one column.
func column[T any](scan func(...any) error) (value T, err error) {
	err = scan(&value)
	return value, err
}

// micro returns a time as the database has it; the zero time is 0.
func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
