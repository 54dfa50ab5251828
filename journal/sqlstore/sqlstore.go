// Package sqlstore stores a payment journal in a database: SQLite, Postgres, MySQL or MariaDB. It uses database/sql only; the
// program imports the driver and opens the database.
//
//	db, err := sql.Open("pgx", url) // for SQLite, package journal/sqlite does all this
//	if err != nil {
//		return err
//	}
//	store, err := sqlstore.New(ctx, db, sqlstore.Postgres)
//	if err != nil {
//		return err
//	}
//	payments := journal.New(client, store, journal.Options{})
package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/retry"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Store is a journal.Store in a table of a database, for any number of processes. Concurrent callers share transactions: the
// more there are at the same time, the less each one costs the disk.
type Store struct {
	db      *sql.DB
	dialect Dialect
	conns   checkedConns

	// SQLite has one writer: there the three are one group.
	intents *commitGroup
	durable *commitGroup // evidence for which CanBeAskedAgain is false
	lazy    *commitGroup // other evidence, and acknowledgements

	prepared [3]*sql.Stmt // for SQLite, by the kind of write
	syncing  lazySync
}

// New creates the tables cardgateway_journal, cardgateway_journal_lease and cardgateway_journal_schema if they do not exist, and
// returns a store that uses them. The caller imports the driver, opens db and closes it. Tables of a newer version are rejected,
// unless they say that programs of this version may use them.
//
// Postgres must have version 12 or later, MySQL 8.0.1, MariaDB 10.6; an older server is rejected.
//
// A commit must be durable when it returns. The settings of every connection are checked when it is first used. A
// connection with less durable settings is rejected, with an error that says what to set. Through a pooler that gives each
// transaction another connection to the server (PgBouncer with pool_mode transaction), only one of those is checked: set
// them for the server, the database or the account, not for a session.
//
//   - SQLite: synchronous=FULL, and journal_mode neither OFF nor MEMORY. Use WAL, and busy_timeout=10000, so that
//     processes wait for one another. Package journal/sqlite opens a file with these settings. An in-memory database is for
//     tests, with SetMaxOpenConns(1): with more, each connection would have its own database, and it is rejected.
//   - Postgres: synchronous_commit not off, fsync on.
//   - MySQL, MariaDB: innodb_flush_log_at_trx_commit=1, sync_binlog=1 if there is a binary log, and a strict sql_mode.
//
// Payment methods, and all others, need a connection of db for a moment. Do not call them inside transactions that can hold
// all connections that SetMaxOpenConns allows: each call would end with cardgateway.ErrNotSent after Options.WriteTimeout.
//
// The database user needs SELECT, INSERT, UPDATE and DELETE on cardgateway_journal, SELECT, INSERT and UPDATE on
// cardgateway_journal_lease, SELECT on cardgateway_journal_schema, and the right to create tables only for the first run.
func New(ctx context.Context, db *sql.DB, d Dialect) (*Store, error) {
	return open(ctx, db, d, "New", Dialect.createTables)
}

// OpenExisting returns a store on tables that another program has created: it creates none. Everything else is as with New. Use
// it in a tool that must not create tables in a wrong database.
//
// If the database has no such tables, the error matches ErrNoTables. Tables of another version are rejected as by New.
func OpenExisting(ctx context.Context, db *sql.DB, d Dialect) (*Store, error) {
	return open(ctx, db, d, "OpenExisting", Dialect.findTables)
}

// open implements the constructor of this name. The function tables creates the tables, or only checks them.
func open(ctx context.Context, db *sql.DB, d Dialect, name string, tables func(Dialect, context.Context, *sql.DB) error) (*Store, error) {
	if err := needContext(ctx, name); err != nil {
		return nil, err
	}
	if db == nil {
		return nil, fmt.Errorf("sqlstore: %s: db is nil", name)
	}
	s := &Store{db: db, dialect: d, conns: checkedConns{dialect: d}}
	s.syncing.sync = s.sync
	switch d {
	case SQLite:
		s.intents = &commitGroup{apply: s.applySQLite, most: 256, batches: 1}
		s.durable, s.lazy = s.intents, s.intents
	case Postgres, MySQL:
		// Measured with 64 callers: if two batches of intents run at the same time, each is smaller, and both databases are
		// slower.
		group := func() *commitGroup {
			return &commitGroup{apply: s.applyToServer, most: 128, batches: 1, stall: stalledAfter}
		}
		s.intents, s.durable, s.lazy = group(), group(), group()
	default:
		return nil, fmt.Errorf("sqlstore: %s: unknown database %v", name, d)
	}
	s.conns.inMemory = d == SQLite && isInMemory(ctx, db)
	if s.conns.inMemory && db.Stats().MaxOpenConnections != 1 {
		return nil, fmt.Errorf("sqlstore: %s: the database is in memory, where each connection has one of its own: use a file, "+
			"or in a test SetMaxOpenConns(1)", name)
	}
	if err := s.prepare(ctx, tables); err != nil {
		return nil, fmt.Errorf("sqlstore: %s: %v: %w", name, d, err)
	}
	return s, nil
}

// prepare checks the server's version and one connection, and creates or checks the tables. On SQLite, a connection can fail
// while another process changes the journal mode of a new file: SQLite does not wait for that.
func (s *Store) prepare(ctx context.Context, tables func(Dialect, context.Context, *sql.DB) error) (err error) {
	for range 10 {
		err = s.onConn(ctx, func(conn *sql.Conn, _ *connState) error { return s.dialect.checkVersion(ctx, conn) })
		if lax := (*settingError)(nil); err == nil || errors.As(err, &lax) || retry.Sleep(ctx, 50*time.Millisecond) != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := tables(s.dialect, ctx, s.db); err != nil || s.dialect != SQLite {
		return err
	}
	return s.prepareSQLite(ctx)
}

// isInMemory reports whether a SQLite database has no file.
func isInMemory(ctx context.Context, db *sql.DB) bool {
	var file string
	err := db.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file)
	return err == nil && file == ""
}

// longestShop is the length of the column shop on MySQL, in bytes. A longer text would be truncated without an error, and
// its entries never found.
const longestShop = 1024

func (s *Store) checkShop(text string) error {
	if n := len(text); s.dialect == MySQL && n > longestShop {
		return fmt.Errorf("sqlstore: the shop has %d bytes, at most %d are allowed: set a shorter Options.Gateway", n, longestShop)
	}
	return nil
}

// Begin implements journal.Store.
func (s *Store) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	if err := needContext(ctx, "Begin"); err != nil {
		return journal.Entry{}, false, err
	}
	w := newWrite(in.Key(), writeIntent)
	if err := s.checkShop(w.shop); err != nil {
		return journal.Entry{}, false, err
	}
	form := in
	form.Shop = journal.Shop{} // it is in the column shop
	text, err := json.Marshal(form)
	if err != nil {
		return journal.Entry{}, false, fmt.Errorf("sqlstore: %w", err)
	}
	w.text, w.begun, w.sender, w.durable = string(text), in.At.UnixMicro(), in.Sender, true
	if err := s.intents.do(ctx, w); err != nil {
		return journal.Entry{}, false, s.explain(ctx, err)
	}
	if !w.changed {
		return w.current, false, nil
	}
	return journal.Entry{Begun: in, Acked: -1}, true, nil
}

// Record implements journal.Store. Evidence for which CanBeAskedAgain is true is committed without waiting for the disk, on
// SQLite in WAL mode and on Postgres.
func (s *Store) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	if err := needContext(ctx, "Record"); err != nil {
		return err
	}
	text, err := json.Marshal(ev)
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	w := newWrite(key, writeEvidence)
	w.version, w.text, w.durable = version, string(text)+"\n", !ev.CanBeAskedAgain()
	group := s.lazy
	if w.durable {
		group = s.durable
	}
	if err := group.do(ctx, w); err != nil {
		return s.explain(ctx, err)
	}
	if !w.changed {
		return journal.ErrChanged
	}
	return nil
}

// Ack implements journal.Store.
func (s *Store) Ack(ctx context.Context, key journal.Key, version int) error {
	if err := needContext(ctx, "Ack"); err != nil {
		return err
	}
	w := newWrite(key, writeAck)
	w.version = version
	if err := s.lazy.do(ctx, w); err != nil {
		return s.explain(ctx, err)
	}
	if !w.changed && w.current.Unacked() {
		return journal.ErrChanged
	}
	return nil
}

// onConn calls do with a connection whose settings have been checked.
func (s *Store) onConn(ctx context.Context, do func(*sql.Conn, *connState) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // back to the pool: it fails only if the driver has dropped the connection
	settings, err := s.conns.check(ctx, conn, s.db)
	if err != nil {
		return err
	}
	return do(conn, settings)
}

// explain adds the prefix of this package to an error of the database. If ctx has ended while all connections are in use, it
// says so: most likely a connection was waited for, and the end of the context alone would hide that.
func (s *Store) explain(ctx context.Context, err error) error {
	if errors.Is(err, journal.ErrNoEntry) || errors.As(err, new(*journal.EntryError)) {
		return err
	}
	if pool := s.db.Stats(); ctx.Err() != nil && pool.MaxOpenConnections > 0 && pool.InUse >= pool.MaxOpenConnections {
		return fmt.Errorf("sqlstore: all %d connections of the pool are in use: %w", pool.MaxOpenConnections, err)
	}
	return fmt.Errorf("sqlstore: %w", err)
}

// needContext returns an error if a method was called without a context, which would panic later.
func needContext(ctx context.Context, method string) error {
	if ctx != nil {
		return nil
	}
	return &cardgateway.ValidationError{Op: method, Problems: []cardgateway.Problem{{
		Field: "ctx", Rule: cardgateway.RuleRequired, Message: "must not be nil",
	}}}
}
