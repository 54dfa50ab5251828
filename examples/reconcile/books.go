package main

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"modernc.org/sqlite"               // the driver "sqlite"

	"github.com/cardgateway/cardgateway-go"
)

//go:embed schema.sql
var schema string

// Books are the merchant's copy of what the gateway has. Its statements are the same for SQLite and Postgres. One
// process at a time uses them: open books are locked.
type Books struct {
	db      *sql.DB
	lock    *sql.Conn      // holds the lock in Postgres; nil with SQLite, which locks the file
	gateway string         // that they are a copy of, as the flags say it
	zone    *time.Location // of its wall clock
}

var errInUse = errors.New("another run is using the books")

// OpenBooks opens a database and creates what is missing in it: Postgres for a postgres:// URL, otherwise SQLite in
// that file, or in memory for ":memory:". The books of another gateway, or of one in another zone, cannot be used.
func OpenBooks(ctx context.Context, name, gateway string, zone *time.Location) (*Books, error) {
	driver, source := "sqlite", "file:"+url.PathEscape(name)+
		"?_pragma=busy_timeout(1000)&_pragma=locking_mode(EXCLUSIVE)&_pragma=journal_mode(WAL)"
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
	b := &Books{db: db, gateway: gateway, zone: zone}
	if driver == "pgx" {
		b.lock, err = lock(ctx, db)
	} else {
		db.SetMaxOpenConns(1) // it has one writer anyway, and in memory each connection would have a database of its own
	}
	if err == nil {
		_, err = db.ExecContext(ctx, schema)
	}
	if err == nil && driver == "sqlite" { // a schema that is there is only read, which locks nobody out
		_, err = db.ExecContext(ctx, `BEGIN IMMEDIATE; COMMIT`)
	}
	if busy := (*sqlite.Error)(nil); errors.As(err, &busy) && busy.Code()&0xff == sqliteBusy {
		err = errInUse
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the database: %w", err), b.Close())
	}
	return b, nil
}

const sqliteBusy = 5 // SQLITE_BUSY, without what SQLite adds to it

// lock takes a lock of the schema, which Postgres keeps for as long as the connection is open.
func lock(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var locked bool
	err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock(hashtext('cardgateway reconcile ' || current_schema()))`).Scan(&locked)
	if err == nil && !locked {
		err = errInUse
	}
	return conn, err
}

// Close unlocks the books and closes the database.
func (b *Books) Close() (err error) {
	if b.lock != nil { // not by the end of the connection, which Postgres notices a little later
		_, err = b.lock.ExecContext(context.Background(), `SELECT pg_advisory_unlock_all()`)
		err = errors.Join(err, b.lock.Close())
	}
	return errors.Join(err, b.db.Close())
}

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

// each calls do for every row of a query.
func (b *Books) each(ctx context.Context, do func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := b.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // after Next has returned false it is closed, and Err has its error
	for rows.Next() {
		if err := do(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// saveOrders writes what the gateway says now over what it said before. An answer need not repeat the amount.
func (b *Books) saveOrders(ctx context.Context, tx *sql.Tx, orders []*cardgateway.Transaction) error {
	save, err := tx.PrepareContext(ctx, `
		INSERT INTO orders (id, unique_id, transaction_id, state, code, amount, currency, happened)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, code = excluded.code,
			amount = CASE WHEN excluded.currency = '' THEN orders.amount ELSE excluded.amount END,
			currency = CASE WHEN excluded.currency = '' THEN orders.currency ELSE excluded.currency END`)
	if err != nil {
		return err
	}
	defer func() { _ = save.Close() }() // the transaction's end closes it too
	for _, o := range orders {
		id := kept(cmp.Or(o.UniqueID, "transaction "+o.TransactionID+" "+o.TransactionAt.String()))
		if _, err := save.ExecContext(ctx, id, kept(o.UniqueID), kept(o.TransactionID), o.State().String(), int(o.Code),
			o.TransactionAmount.String(), kept(o.TransactionCurrency), o.TransactionAt.In(b.zone).UnixMicro()); err != nil {
			return fmt.Errorf("order %s: %w", shown(id), err)
		}
	}
	return nil
}

// saveRefunds does the same with refunds.
func (b *Books) saveRefunds(ctx context.Context, tx *sql.Tx, refunds []*cardgateway.Refund) error {
	save, err := tx.PrepareContext(ctx, `
		INSERT INTO refunds (id, refund_unique_id, merchant_refund_id, unique_id, code, amount, currency, requested)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (id) DO UPDATE SET code = excluded.code, amount = excluded.amount, currency = excluded.currency`)
	if err != nil {
		return err
	}
	defer func() { _ = save.Close() }() // the transaction's end closes it too
	for _, r := range refunds {
		id := kept(cmp.Or(r.RefundUniqueID, "refund "+r.MerchantRefundID+" "+r.UniqueID+" "+r.RefundRequestAt.String()))
		if _, err := save.ExecContext(ctx, id, kept(r.RefundUniqueID), kept(r.MerchantRefundID), kept(r.UniqueID), int(r.Code),
			r.RefundAmount.String(), kept(r.RefundCurrency), r.RefundRequestAt.In(b.zone).UnixMicro()); err != nil {
			return fmt.Errorf("refund %s: %w", shown(id), err)
		}
	}
	return nil
}

// kept makes a text of the gateway one that Postgres keeps: it takes no zero byte.
func kept(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// dropUnnamed deletes rows that were listed without the gateway's id and later with one.
func (b *Books) dropUnnamed(ctx context.Context) error {
	_, err := b.db.ExecContext(ctx, `
		DELETE FROM orders WHERE unique_id = '' AND EXISTS (
			SELECT 1 FROM orders named
			WHERE named.transaction_id = orders.transaction_id AND named.happened = orders.happened AND named.unique_id <> '')`)
	if err != nil {
		return err
	}
	_, err = b.db.ExecContext(ctx, `
		DELETE FROM refunds WHERE refund_unique_id = '' AND EXISTS (
			SELECT 1 FROM refunds named
			WHERE named.merchant_refund_id = refunds.merchant_refund_id AND named.unique_id = refunds.unique_id
				AND named.requested = refunds.requested AND named.refund_unique_id <> '')`)
	return err
}

// position is where the walks over one kind of row stand.
type position struct {
	since      time.Time // the books begin here
	complete   time.Time // and lack nothing up to here
	until      time.Time // the end of the walk that is under way, from complete on; not after complete if there is none
	checkpoint cardgateway.Checkpoint
}

// begin makes the positions of new books, and refuses what does not fit to old ones.
func (b *Books) begin(ctx context.Context, from time.Time, kinds ...string) error {
	old, err := b.position(ctx, kinds[0])
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case !from.IsZero() && from.Before(old.since):
		return fmt.Errorf("the books begin at %s, after -from: begin others with another -db", old.since.UTC().Format(time.DateTime))
	default:
		return nil
	}
	switch now := time.Now(); {
	case from.IsZero():
		return errors.New("the books are new: say with -from where they are to begin")
	case !from.Before(now):
		return fmt.Errorf("-from %s has not come yet: the clock says %s", from.Format(time.DateOnly), now.UTC().Format(time.DateTime))
	}
	return b.change(ctx, func(tx *sql.Tx) error {
		for _, kind := range kinds {
			if err := b.savePosition(ctx, tx, kind, position{since: from, complete: from, until: from}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Books) position(ctx context.Context, kind string) (p position, err error) {
	var since, complete, until int64
	var gateway, zone, checkpoint string
	err = b.db.QueryRowContext(ctx, `SELECT gateway, zone, since, complete, until, checkpoint FROM walks WHERE kind = $1`, kind).
		Scan(&gateway, &zone, &since, &complete, &until, &checkpoint)
	if err != nil {
		return position{}, err
	}
	if gateway != b.gateway {
		return position{}, fmt.Errorf("the books were begun with %s, which is not %s: begin others with another -db", gateway, b.gateway)
	}
	if zone != b.zone.String() {
		return position{}, fmt.Errorf("the books were begun with -zone %s, which is not %s", zone, b.zone)
	}
	p.since, p.complete, p.until = time.UnixMicro(since), time.UnixMicro(complete), time.UnixMicro(until)
	return p, json.Unmarshal([]byte(checkpoint), &p.checkpoint)
}

func (b *Books) savePosition(ctx context.Context, tx *sql.Tx, kind string, p position) error {
	checkpoint, err := json.Marshal(p.checkpoint)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO walks (kind, gateway, zone, since, complete, until, checkpoint) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (kind) DO UPDATE SET complete = excluded.complete, until = excluded.until, checkpoint = excluded.checkpoint`,
		kind, b.gateway, b.zone.String(), p.since.UnixMicro(), p.complete.UnixMicro(), p.until.UnixMicro(), string(checkpoint))
	return err
}

// unfinished is a row that was not at its end when it was copied.
type unfinished struct {
	id       string // the gateway's
	happened time.Time
}

func (b *Books) unfinishedOrders(ctx context.Context, since time.Time) ([]unfinished, error) {
	return b.unfinished(ctx, since, `
		SELECT unique_id, happened FROM orders
		WHERE state IN ('processing', 'redirect', 'unknown') AND happened >= $1 AND unique_id <> '' ORDER BY happened`)
}

func (b *Books) unfinishedRefunds(ctx context.Context, since time.Time) ([]unfinished, error) {
	return b.unfinished(ctx, since, `
		SELECT refund_unique_id, requested FROM refunds
		WHERE code NOT IN (111, 112) AND requested >= $1 AND refund_unique_id <> '' ORDER BY requested`)
}

func (b *Books) unfinished(ctx context.Context, since time.Time, query string) (all []unfinished, _ error) {
	return all, b.each(ctx, func(scan func(...any) error) error {
		var u unfinished
		var happened int64
		err := scan(&u.id, &happened)
		u.happened = time.UnixMicro(happened)
		all = append(all, u)
		return err
	}, query, since.UnixMicro())
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
