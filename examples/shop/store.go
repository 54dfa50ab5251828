package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

//go:embed schema.sql
var schema string

// Store is the shop's database. Its SQL statements are the same for SQLite and Postgres.
type Store struct {
	db      *sql.DB
	journal *sqlstore.Store // in the same database, so that one backup holds both
}

// Errors of a Store.
var (
	errNoOrder     = errors.New("there is no such order")
	errNoCard      = errors.New("there is no such card")
	errOrderExists = errors.New("there is an order with this id")
	errCardExists  = errors.New("there is a card with this id")
	errEmptyCart   = errors.New("the cart is empty")
	errCartChanged = errors.New("the cart is not what the customer saw")
)

// OpenStore opens a database and creates missing tables: Postgres for a postgres:// URL, otherwise SQLite in that file, or
// in memory for ":memory:".
func OpenStore(ctx context.Context, name string) (_ *Store, err error) {
	driver, source, dialect := "sqlite", "file:"+url.PathEscape(name)+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)", sqlstore.SQLite
	switch {
	case strings.HasPrefix(name, "postgres://"), strings.HasPrefix(name, "postgresql://"):
		driver, source, dialect = "pgx", name, sqlstore.Postgres
	case name == ":memory:":
		source = name
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	if dialect == sqlstore.SQLite {
		db.SetMaxOpenConns(1) // SQLite has one writer anyway, and in memory each connection would have a separate database
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("creating the tables: %w", err)
	}
	payments, err := sqlstore.New(ctx, db, dialect)
	if err != nil {
		return nil, err
	}
	return &Store{db: db, journal: payments}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// changed reports whether a statement, which had this result, changed a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// scanner is a row of a query.
type scanner interface{ Scan(...any) error }

// collect reads all rows of a query.
func collect[T any](rows *sql.Rows, err error, scan func(scanner) (T, error)) (all []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // already closed after Next has returned false; errors are in Err
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
