package main

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/cardgateway/cardgateway-go"
)

//go:embed schema.sql
var schema string

// Books are the merchant's copy of what the gateway has. Its statements are the same for SQLite and Postgres.
type Books struct {
	db  *sql.DB
	loc *time.Location // of the gateway's wall-clock texts
}

// OpenBooks opens a database and creates what is missing in it: Postgres for a postgres:// URL, otherwise SQLite in
// that file, or in memory for ":memory:".
func OpenBooks(ctx context.Context, name string, loc *time.Location) (*Books, error) {
	driver, source := "sqlite", "file:"+name+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)"
	switch {
	case strings.HasPrefix(name, "postgres://"), strings.HasPrefix(name, "postgresql://"):
		driver, source = "pgx", name
	case name == ":memory:":
		source = name
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	if driver == "sqlite" {
		db.SetMaxOpenConns(1) // it has one writer anyway, and in memory each connection would have a database of its own
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("creating the tables: %w", err), db.Close())
	}
	return &Books{db, loc}, nil
}

// Close closes the database.
func (b *Books) Close() error { return b.db.Close() }

// change makes several changes or none.
func (b *Books) change(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// saveOrders writes what the gateway says now over what it said before.
func (b *Books) saveOrders(ctx context.Context, tx *sql.Tx, orders []*cardgateway.Transaction) error {
	save, err := tx.PrepareContext(ctx, `
		INSERT INTO orders (id, unique_id, transaction_id, state, code, amount, currency, happened)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, code = excluded.code,
			amount = excluded.amount, currency = excluded.currency`)
	if err != nil {
		return err
	}
	defer func() { _ = save.Close() }() // the transaction's end closes it too
	for _, o := range orders {
		id := cmp.Or(o.UniqueID, "transaction "+o.TransactionID+" "+o.TransactionAt.String())
		if _, err := save.ExecContext(ctx, id, o.UniqueID, o.TransactionID, o.State().String(), int(o.Code),
			o.TransactionAmount.String(), o.TransactionCurrency, o.TransactionAt.In(b.loc).UnixMicro()); err != nil {
			return fmt.Errorf("order %s: %w", shown(id), err)
		}
	}
	return nil
}

// saveRefunds does the same with refunds.
func (b *Books) saveRefunds(ctx context.Context, tx *sql.Tx, refunds []*cardgateway.Refund) error {
	save, err := tx.PrepareContext(ctx, `
		INSERT INTO refunds (id, refund_unique_id, unique_id, code, amount, currency, requested)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET code = excluded.code, amount = excluded.amount, currency = excluded.currency`)
	if err != nil {
		return err
	}
	defer func() { _ = save.Close() }() // the transaction's end closes it too
	for _, r := range refunds {
		id := cmp.Or(r.RefundUniqueID, "refund "+r.MerchantRefundID+" "+r.UniqueID+" "+r.RefundRequestAt.String())
		if _, err := save.ExecContext(ctx, id, r.RefundUniqueID, r.UniqueID, int(r.Code),
			r.RefundAmount.String(), r.RefundCurrency, r.RefundRequestAt.In(b.loc).UnixMicro()); err != nil {
			return fmt.Errorf("refund %s: %w", shown(id), err)
		}
	}
	return nil
}

// position is where the walks over one kind of row stand.
type position struct {
	since      time.Time // the books begin here
	complete   time.Time // and lack nothing up to here
	until      time.Time // the end of the walk that is under way, from complete on; zero if there is none
	checkpoint cardgateway.Checkpoint
}

// position returns the zero position for books that are new.
func (b *Books) position(ctx context.Context, name string) (p position, err error) {
	var since, complete, until int64
	var checkpoint string
	err = b.db.QueryRowContext(ctx, `SELECT since, complete, until, checkpoint FROM walks WHERE name = $1`, name).
		Scan(&since, &complete, &until, &checkpoint)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return position{}, nil
	case err != nil:
		return position{}, err
	}
	p.since, p.complete = time.UnixMicro(since), time.UnixMicro(complete)
	if until != 0 {
		p.until = time.UnixMicro(until)
	}
	return p, json.Unmarshal([]byte(checkpoint), &p.checkpoint)
}

func savePosition(ctx context.Context, tx *sql.Tx, name string, p position) error {
	checkpoint, err := json.Marshal(p.checkpoint)
	if err != nil {
		return err
	}
	until := int64(0)
	if !p.until.IsZero() {
		until = p.until.UnixMicro()
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO walks (name, since, complete, until, checkpoint) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (name) DO UPDATE SET complete = excluded.complete, until = excluded.until, checkpoint = excluded.checkpoint`,
		name, p.since.UnixMicro(), p.complete.UnixMicro(), until, string(checkpoint))
	return err
}

// open lists orders younger than since that were not at an end when they were copied, with their gateway's ids.
func (b *Books) open(ctx context.Context, since time.Time) (ids []string, err error) {
	rows, err := b.db.QueryContext(ctx, `
		SELECT unique_id FROM orders
		WHERE state IN ('processing', 'redirect', 'unknown') AND happened >= $1 AND unique_id <> ''
		ORDER BY happened`, since.UnixMicro())
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // after Next has returned false it is closed, and Err has its error
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Held says what the books hold.
type Held struct {
	Orders, Approved, Refunds int
	Since, Complete           time.Time // nothing between these is lacking
}

// Held counts.
func (b *Books) Held(ctx context.Context) (h Held, err error) {
	var since, complete int64
	err = b.db.QueryRowContext(ctx, `
		SELECT (SELECT COUNT(*) FROM orders), (SELECT COUNT(*) FROM orders WHERE state = 'approved'), (SELECT COUNT(*) FROM refunds),
			COALESCE(MAX(since), 0), COALESCE(MIN(complete), 0)
		FROM walks`).Scan(&h.Orders, &h.Approved, &h.Refunds, &since, &complete)
	h.Since, h.Complete = time.UnixMicro(since), time.UnixMicro(complete)
	return h, err
}
