package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// NewSQLStore creates the tables cardgateway_journal and cardgateway_journal_schema if they do not exist, and returns a
// store that uses them. The caller imports the driver, opens db and closes it. Tables of an older version are migrated; those
// of a newer version, and of version 0.1, are rejected.
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
// The database user needs SELECT, INSERT, UPDATE and DELETE on cardgateway_journal, SELECT on cardgateway_journal_schema, and
// the right to create and alter tables only for the first run of each version.
func NewSQLStore(ctx context.Context, db *sql.DB, d Dialect) (*SQLStore, error) {
	return openSQL(ctx, db, d, "NewSQLStore", Dialect.migrate)
}

// openSQL implements the constructor of this name. The function tables creates the tables, or only checks them.
func openSQL(ctx context.Context, db *sql.DB, d Dialect, name string, tables func(Dialect, context.Context, *sql.DB) error) (*SQLStore, error) {
	if err := needContext(ctx, name); err != nil {
		return nil, err
	}
	if db == nil {
		return nil, fmt.Errorf("journal: %s: db is nil", name)
	}
	s := &SQLStore{db: db, dialect: d, conns: checkedConns{dialect: d}}
	s.syncing.sync = s.sync
	switch d {
	case SQLite:
		s.intents = commitGroup{apply: s.applySQLite, most: 256, batches: 1}
	case Postgres, MySQL:
		// Measured with 64 callers: if two batches of intents run at the same time, each is smaller, and both databases are
		// slower.
		s.intents = commitGroup{apply: s.applyToServer, most: 128, batches: 1, stall: stalledAfter}
		s.durable = commitGroup{apply: s.applyToServer, most: 128, batches: 1, stall: stalledAfter}
		s.lazy = commitGroup{apply: s.applyToServer, most: 128, batches: 1, stall: stalledAfter}
	default:
		return nil, fmt.Errorf("journal: %s: unknown database %v", name, d)
	}
	s.conns.inMemory = d == SQLite && isInMemory(ctx, db)
	if s.conns.inMemory && db.Stats().MaxOpenConnections != 1 {
		return nil, fmt.Errorf("journal: %s: the database is in memory, where each connection has one of its own: use a file, "+
			"or in a test SetMaxOpenConns(1)", name)
	}
	if err := s.prepare(ctx, tables); err != nil {
		return nil, fmt.Errorf("journal: %s: %v: %w", name, d, err)
	}
	return s, nil
}

// prepare checks the server's version and one connection, and creates or checks the tables. On SQLite, a connection can fail while another process
// changes the journal mode of a new file: SQLite does not wait for that.
func (s *SQLStore) prepare(ctx context.Context, tables func(Dialect, context.Context, *sql.DB) error) (err error) {
	for range 10 {
		err = s.onConn(ctx, func(conn *sql.Conn, _ *connState) error { return s.dialect.checkVersion(ctx, conn) })
		if lax := (*settingError)(nil); err == nil || errors.As(err, &lax) || !sleep(ctx, 50*time.Millisecond) {
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

// Begin implements Store.
func (s *SQLStore) Begin(ctx context.Context, in Intent) (Entry, bool, error) {
	if err := needContext(ctx, "Begin"); err != nil {
		return Entry{}, false, err
	}
	if n := len(in.Shop.String()); s.dialect == MySQL && n > longestShop {
		return Entry{}, false, fmt.Errorf("journal: the shop has %d bytes, at most %d are allowed: set a shorter Options.Gateway", n, longestShop)
	}
	form := in.json()
	form.Gateway, form.AppID = "", "" // they are in the column shop
	text, err := json.Marshal(form)
	if err != nil {
		return Entry{}, false, fmt.Errorf("journal: %w", err)
	}
	w := &write{key: in.Key().row(), kind: writeIntent, text: string(text), begun: in.At.UnixMicro(), sender: in.Sender, durable: true}
	if err := s.intents.do(ctx, w); err != nil {
		return Entry{}, false, s.inJournal(ctx, err)
	}
	if !w.changed {
		return w.current, false, nil
	}
	return newEntry(in), true, nil
}

// Record implements Store.
func (s *SQLStore) Record(ctx context.Context, key Key, version int, ev Evidence) error {
	if err := needContext(ctx, "Record"); err != nil {
		return err
	}
	text, err := json.Marshal(ev.json())
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	w := &write{key: key.row(), kind: writeEvidence, version: version, text: string(text) + "\n", durable: !ev.CanBeAskedAgain()}
	if err := s.groupOf(w).do(ctx, w); err != nil {
		return s.inJournal(ctx, err)
	}
	if !w.changed {
		return ErrChanged
	}
	return nil
}

// Ack implements Store.
func (s *SQLStore) Ack(ctx context.Context, key Key, version int) error {
	if err := needContext(ctx, "Ack"); err != nil {
		return err
	}
	w := &write{key: key.row(), kind: writeAck, version: version}
	if err := s.groupOf(w).do(ctx, w); err != nil {
		return s.inJournal(ctx, err)
	}
	if !w.changed {
		return w.current.ack(version)
	}
	return nil
}

func (s *SQLStore) groupOf(w *write) *commitGroup {
	switch {
	case s.dialect == SQLite:
		return &s.intents
	case w.durable:
		return &s.durable
	}
	return &s.lazy
}

// inJournal adds the prefix of this package to an error of the database. If ctx has ended while all connections are in use,
// it says so: most likely a connection was waited for, and the end of the context alone would hide that.
func (s *SQLStore) inJournal(ctx context.Context, err error) error {
	if errors.Is(err, ErrNoEntry) || errors.As(err, new(*EntryError)) {
		return err
	}
	if pool := s.db.Stats(); ctx.Err() != nil && pool.MaxOpenConnections > 0 && pool.InUse >= pool.MaxOpenConnections {
		return fmt.Errorf("journal: all %d connections of the pool are in use: %w", pool.MaxOpenConnections, err)
	}
	return fmt.Errorf("journal: %w", err)
}

// Get implements Store.
func (s *SQLStore) Get(ctx context.Context, key Key) (Entry, error) {
	if err := needContext(ctx, "Get"); err != nil {
		return Entry{}, err
	}
	e, err := s.read(ctx, s.db, key.row())
	if err != nil {
		return e, s.inJournal(ctx, err)
	}
	return e, nil
}

const (
	pageOfUnacked = 200
	// stalePage is how old a page of entries may become in the loop. The rest of an older one is read again.
	stalePage = 500 * time.Millisecond

	selectUnacked = `SELECT transaction_id, begun, intent, evidence, version, acked FROM cardgateway_journal
		WHERE shop = ? AND %s AND begun >= ? AND (begun > ? OR transaction_id > ?) ORDER BY begun, transaction_id LIMIT ?`
)

// Unacked implements Store. It reads a page of entries at a time, and holds no connection while they are used.
func (s *SQLStore) Unacked(ctx context.Context, shop Shop) iter.Seq2[Entry, error] {
	unacked := fmt.Sprintf(selectUnacked, s.dialect.isUnacked())
	return func(yield func(Entry, error) bool) {
		if err := needContext(ctx, "Unacked"); err != nil {
			yield(Entry{}, err)
			return
		}
		begun, id := any(int64(-1)<<62), ""
		for {
			page, err := s.page(ctx, unacked, shop.String(), begun, begun, id, pageOfUnacked)
			if err != nil {
				yield(Entry{}, s.inJournal(ctx, err))
				return
			}
			read := time.Now()
			for i := range page {
				begun, id = page[i].begun, page[i].id
				if !yield(page[i].entry(Key{Shop: shop, TransactionID: id})) {
					return
				}
				if time.Since(read) > stalePage {
					break
				}
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// page returns the rows of a statement that selects the columns of a storedEntry.
func (s *SQLStore) page(ctx context.Context, statement string, args ...any) (page []storedEntry, err error) {
	rows, err := s.db.QueryContext(ctx, s.dialect.sql(statement), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r storedEntry
		if err := rows.Scan(&r.id, &r.begun, &r.intent, &r.evidence, &r.version, &r.acked); err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, rows.Err()
}
