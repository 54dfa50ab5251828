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
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/openfile"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Store is a journal.Store in a table of a database, for any number of processes.
type Store struct {
	db      *sql.DB
	dialect Dialect
	schema  string // of the tables, quoted, with a dot
	conns   checkedConns
	parsed  parsedEntries

	// Of SQLite, which has one writer: concurrent callers share transactions, so that the more there are at the same time, the less each
	// one costs the disk.
	group *commitGroup
	last  *write // of a submission that this Store has recorded; used by one transaction at a time
}

// New creates the tables cardgateway_journal, cardgateway_journal_lease and cardgateway_journal_schema if they do not exist, and
// returns a store that uses them. The caller imports the driver, opens db and closes it. Tables of a newer version are rejected,
// unless they say that programs of this version may use them.
//
// Postgres must have version 12 or later, MySQL 8.0.1, MariaDB 10.6; an older server is rejected.
//
// A commit must be durable when it returns. The settings of every connection, and the tables that it reaches, are checked when it
// is first used, and then once a minute, by one query. A connection that lacks something is rejected, with an error that says what
// to do. Through a pooler that gives each transaction another connection to the server (PgBouncer with pool_mode transaction), only
// one of those is checked: set them for the server, the database or the account, not for a session. With pgx, the store prepares no
// statements through a pooler; if another driver wraps pgx, set default_query_exec_mode=exec for it.
//
// A connection whose server has become read-only, or ends its session, is closed, and what was not written is repeated with another one,
// which must lead to a server that takes writes: with pgx, set target_session_attrs=read-write.
//
//   - SQLite: synchronous=FULL, and journal_mode neither OFF nor MEMORY. Use WAL, because with DELETE and less than
//     synchronous=EXTRA a power failure can undo the last commit, and busy_timeout=10000, so that processes wait for one
//     another. Package journal/sqlite opens a file with these settings. An in-memory database is for tests, with
//     SetMaxOpenConns(1): with more, each connection would have its own database, and it is rejected.
//   - Postgres: synchronous_commit not off, nor local if there is a synchronous standby, fsync on, client_encoding UTF8.
//   - MySQL, MariaDB: innodb_flush_log_at_trx_commit=1, innodb_flush_method not nosync or littlesync, sync_binlog=1 if there is a
//     binary log, a strict sql_mode without ORACLE and EMPTY_STRING_IS_NULL, autocommit=1, completion_type=NO_CHAIN, sql_log_bin=1,
//     unique_checks=1, character_set_client as character_set_connection, and none that has backslashes in its characters, such as
//     gbk. With go-sql-driver/mysql, interpolateParams=true saves a round trip for each statement.
//
// The tables must be as New creates them: ordinary, permanent tables with a unique index on exactly their keys,
// with these types, and without triggers, foreign keys, conflict clauses or row-level security. If the file of SQLite, or its log, is
// moved, deleted or replaced while it is open, every method fails from then on, and Begin before anything is sent; a backup that is copied over
// the file is noticed if this Store has written to it within a day.
//
// Payment methods, and all others, need a connection of db for a moment. Do not call them inside transactions that can hold
// all connections that SetMaxOpenConns allows: each call would end with cardgateway.ErrNotSent after Options.WriteTimeout. Begin your own
// with BeginTx: what is recorded on a connection on which Exec has left one open would be rolled back with it. With go-sql-driver/mysql, such
// a connection is refused.
//
// The database user needs SELECT, INSERT, UPDATE and DELETE on cardgateway_journal, SELECT, INSERT and UPDATE on
// cardgateway_journal_lease, SELECT on cardgateway_journal_schema, and the right to create tables only for the first run, unless the
// statements of Schema have been executed before. If it lacks that right, the error has the statements that are missing. New tries whether
// an entry can be updated: what keeps an outcome from being recorded would otherwise be noticed only after a payment was sent.
func New(ctx context.Context, db *sql.DB, d Dialect) (*Store, error) {
	s, err := open(ctx, db, d, "New", d.tables())
	if err != nil || d == SQLite { // which has no accounts, and would wait for other programs
		return s, err
	}
	for _, err := range []error{s.Record(ctx, journal.Key{}, -1, journal.Evidence{}), s.Ack(ctx, journal.Key{}, -1)} {
		if !errors.Is(err, journal.ErrNoEntry) {
			return nil, fmt.Errorf("sqlstore: New: %v: outcomes of payments cannot be recorded: %w", d, err)
		}
	}
	return s, nil
}

// OpenExisting returns a store on tables that another program has created: it creates none. Everything else is as with New. Use
// it in a tool that must not create tables in a wrong database.
//
// If the database has no such tables, the error matches ErrNoTables. Tables of another version are rejected as by New.
func OpenExisting(ctx context.Context, db *sql.DB, d Dialect) (*Store, error) {
	return open(ctx, db, d, "OpenExisting", nil)
}

// open implements the constructor of this name. The statements create the tables; without any, they must exist.
func open(ctx context.Context, db *sql.DB, d Dialect, name string, statements []string) (*Store, error) {
	if err := needContext(ctx, name); err != nil {
		return nil, err
	}
	if db == nil {
		return nil, fmt.Errorf("sqlstore: %s: db is nil", name)
	}
	s := &Store{db: db, dialect: d, conns: checkedConns{dialect: d, file: new(openfile.File)}}
	switch d {
	case SQLite:
		s.group = &commitGroup{apply: s.applySQLite}
	case Postgres, MySQL:
	default:
		return nil, fmt.Errorf("sqlstore: %s: unknown database %v", name, d)
	}
	if err := s.prepare(ctx, statements, selectVersion, tableOfEntries, tableOfLeases); err != nil {
		return nil, fmt.Errorf("sqlstore: %s: %v: %w", name, d, err)
	}
	return s, nil
}

// prepare checks one connection, and creates the tables, unless the query made says that they were created.
func (s *Store) prepare(ctx context.Context, statements []string, made string, tables ...table) error {
	err := s.dialect.besideOthers(ctx, func() error {
		return s.onConn(ctx, func(conn session) error { return s.dialect.createTables(ctx, conn, statements, made) })
	})
	if err != nil {
		return err
	}
	return s.useTables(ctx, tables...)
}

// useTables notes the schema of the tables, which exist, and checks them on one connection now, and on every other one when it is first used.
func (s *Store) useTables(ctx context.Context, tables ...table) error {
	var schema string
	err := s.queryRow(ctx, s.dialect.selectSchema(tables[0]), nil, &schema)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("the table %s is missing, or not in the search_path: if it is not there, %s", tables[0].name, otherTable)
	} else if err != nil {
		return err
	}
	for _, t := range tables {
		s.conns.addTables(s.dialect.conditions(schema, t))
	}
	if tables[0].name == tableOfEntries.name {
		s.conns.addTables([]condition{s.dialect.ofVersion(schema)})
	}
	s.schema = s.dialect.quote(schema)
	return s.onConn(ctx, func(session) error { return nil })
}

// maxShopLength is the length of the column shop on MySQL, in bytes.
const maxShopLength = 1024

// Begin implements journal.Store.
func (s *Store) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	if err := needContext(ctx, "Begin"); err != nil {
		return journal.Entry{}, false, err
	}
	form := in
	form.Shop = journal.Shop{} // it is in the column shop
	text, err := json.Marshal(form)
	if err != nil {
		return journal.Entry{}, false, fmt.Errorf("sqlstore: %w", err)
	}
	w := &write{
		key: in.Key(), sender: in.Sender, at: in.At, statement: s.dialect.insertMissing(insertOne, "shop, transaction_id"),
		args: []any{in.Shop.String(), in.ID.String(), in.At.UnixMicro(), string(text)},
	}
	if err := s.write(ctx, w); err != nil {
		return journal.Entry{}, false, s.explain(ctx, err)
	}
	if !w.changed {
		return w.current, false, nil
	}
	return journal.Entry{Begun: in, Acked: -1}, true, nil
}

// Record implements journal.Store.
func (s *Store) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	if err := needContext(ctx, "Record"); err != nil {
		return err
	}
	text, err := json.Marshal(ev)
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	w := &write{key: key, statement: recordOne, args: []any{string(text) + "\n", key.Shop.String(), key.ID.String(), version}}
	if s.dialect == MySQL {
		w.statement = recordOneMySQL
	}
	if ev.Submission != nil {
		w.sender, w.at = ev.Submission.Sender, ev.Submission.At
	}
	if err := s.write(ctx, w); err != nil {
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
	w := &write{key: key, statement: ackOne, args: []any{key.Shop.String(), key.ID.String(), version}}
	if err := s.write(ctx, w); err != nil {
		return s.explain(ctx, err)
	}
	if !w.changed && w.current.Unacked() {
		return journal.ErrChanged
	}
	return nil
}

// write makes one write. If it changed nothing, w.current is the entry as it is.
func (s *Store) write(ctx context.Context, w *write) error {
	if s.dialect == SQLite {
		return s.group.do(ctx, w)
	}
	return s.onConn(ctx, func(conn session) error { return s.makeWrite(ctx, conn, w) })
}

// onConn calls do with a connection whose settings have been checked. If its session is over, the pool closes it, and do is called again: with
// each other one that was idle, since they may lead to the same server, and then with a new one. So do must be something that can be
// repeated, even if the server has done it and could not say so.
func (s *Store) onConn(ctx context.Context, do func(session) error) error {
	err := s.onOneConn(ctx, do)
	if s.dialect.isPreparedBefore(err) { // nothing was executed, and the driver prepares the statement again
		err = s.onOneConn(ctx, do)
	}
	if s.dialect.sessionOver(err) {
		for left := s.db.Stats().Idle + 1; left > 0 && s.dialect.sessionOver(err); left-- {
			err = s.onOneConn(ctx, do)
		}
	}
	if s.dialect.isPreparedElsewhere(err) {
		return fmt.Errorf("if a pooler gives each transaction another session, set default_query_exec_mode=exec: %w", err)
	}
	return err
}

func (s *Store) onOneConn(ctx context.Context, do func(session) error) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if s.dialect.sessionOver(err) {
			_ = conn.Raw(func(c any) error {
				closePgx(c)
				return driver.ErrBadConn // the pool closes it
			})
		}
		if s.dialect.isReadOnly(err) {
			s.conns.forget() // others can lead to the same server, and would be read
		}
		_ = conn.Close() // back to the pool: it fails only if it has been closed
	}()
	checked, err := s.conns.check(ctx, conn, s.db)
	if lost := s.conns.file.Check(); lost != nil { // it may have been opened a moment ago
		err = lost
	}
	if err != nil {
		return err
	}
	return do(checked)
}

// change makes one statement, and returns how many rows it has changed.
func (s *Store) change(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = s.onConn(ctx, func(conn session) error {
		n, err = s.exec(ctx, conn, statement, args...)
		return err
	})
	return n, err
}

// queryRow reads one row.
func (s *Store) queryRow(ctx context.Context, query string, args []any, dest ...any) error {
	return s.onConn(ctx, func(conn session) error {
		return conn.QueryRowContext(ctx, s.sql(query), args...).Scan(dest...)
	})
}

// explain adds the prefix of this package to an error of the database. If ctx has ended while all connections are in use, it
// says so: most likely a connection was waited for, and the end of the context alone would hide that.
func (s *Store) explain(ctx context.Context, err error) error {
	if isOfEntry(err) {
		return err
	}
	if pool := s.db.Stats(); ctx.Err() != nil && pool.MaxOpenConnections > 0 && pool.InUse >= pool.MaxOpenConnections {
		return fmt.Errorf("sqlstore: all %d connections of the pool are in use: %w", pool.MaxOpenConnections, err)
	}
	if s.dialect == SQLite && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("sqlstore: the file is locked by another program, or its disk is slow: %w", err)
	}
	return fmt.Errorf("sqlstore: %w", err)
}

// isOfEntry reports whether an error says that there is no such entry, or that it cannot be read.
func isOfEntry(err error) bool {
	return errors.Is(err, journal.ErrNoEntry) || errors.As(err, new(*journal.EntryError))
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
