package journal

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Dialect says which database a SQLStore is in.
type Dialect int

// The databases that SQLStore knows.
const (
	SQLite Dialect = iota + 1
	Postgres
)

//go:embed schema_sqlite.sql
var schemaSQLite string

//go:embed schema_postgres.sql
var schemaPostgres string

// SQLStore is a Store in a table of a database, for any number of processes. Every method is one statement, or two
// that need no transaction.
type SQLStore struct {
	db *sql.DB

	insert, read, record, recordLazily, ack, unacked, forget string
}

// NewSQLStore creates the table cardgateway_journal if it is not there, and returns a store in it. The caller links
// the driver, opens db and closes it.
//
// A commit must be durable when it returns, which is the default of both databases; a database that is set to less is
// refused: SQLite with synchronous=OFF or NORMAL, Postgres with synchronous_commit=off. For SQLite set
// "PRAGMA busy_timeout=10000" in the way of the driver, so that writers wait for one another. Journal mode WAL is
// faster; OFF and MEMORY, which are not checked, can lose the database in a crash. A database in memory is for tests,
// with SetMaxOpenConns(1): with more, each connection could have a database of its own, and it is refused.
func NewSQLStore(ctx context.Context, db *sql.DB, d Dialect) (*SQLStore, error) {
	if db == nil {
		return nil, errors.New("journal: NewSQLStore: there is no database")
	}
	schema, setting, lax := schemaSQLite, "PRAGMA synchronous", []string{"0", "1"}
	switch d {
	case SQLite:
	case Postgres:
		schema, setting, lax = schemaPostgres, "SHOW synchronous_commit", []string{"off"}
	default:
		return nil, fmt.Errorf("journal: NewSQLStore: no dialect has the number %d", int(d))
	}
	if err := prepare(ctx, db, schema, setting, lax); err != nil {
		return nil, fmt.Errorf("journal: NewSQLStore: %w", err)
	}
	if d == SQLite && db.Stats().MaxOpenConnections != 1 && isInMemory(ctx, db) {
		return nil, errors.New("journal: NewSQLStore: the database is in memory, where each connection can have one of its " +
			"own: use a file, or in a test SetMaxOpenConns(1)")
	}
	s := &SQLStore{
		db:     db,
		insert: d.sql(`INSERT INTO cardgateway_journal (transaction_id, begun, intent) VALUES (?1, ?2, ?3) ON CONFLICT (transaction_id) DO NOTHING`),
		read:   d.sql(`SELECT intent, evidence, acked FROM cardgateway_journal WHERE transaction_id = ?1`),
		record: d.sql(`UPDATE cardgateway_journal SET evidence = evidence || ?3, pieces = pieces + 1 WHERE transaction_id = ?1 AND pieces = ?2`),
		ack:    d.sql(`UPDATE cardgateway_journal SET acked = ?2 WHERE transaction_id = ?1 AND pieces = ?2 AND acked < ?2`),
		unacked: d.sql(`SELECT intent, evidence, acked FROM cardgateway_journal WHERE acked < pieces
			AND (begun > ?1 OR begun = ?1 AND transaction_id > ?2) ORDER BY begun, transaction_id LIMIT 100`),
		forget: d.sql(`DELETE FROM cardgateway_journal WHERE acked >= pieces AND begun < ?1`),
	}
	s.recordLazily = s.record
	if d == Postgres {
		s.recordLazily = d.sql(recordLazilyPostgres)
	}
	return s, nil
}

// recordLazilyPostgres does not wait for the disk: the commit is durable within three times wal_writer_delay, 600 ms by
// default, and survives anything but a crash of the server within that time.
const recordLazilyPostgres = `WITH lazily AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
	UPDATE cardgateway_journal SET evidence = evidence || ?3, pieces = pieces + 1 FROM lazily WHERE transaction_id = ?1 AND pieces = ?2`

// sql writes a statement's parameters as the database does.
func (d Dialect) sql(statement string) string {
	if d == Postgres {
		return strings.ReplaceAll(statement, "?", "$")
	}
	return statement
}

// prepare makes the table, in a database whose commits are durable. Where several processes do so at once, some of
// them can fail: on Postgres although all say IF NOT EXISTS, on SQLite while one of them changes the journal mode of a
// new file, for which the others do not wait. By the next try it is done.
func prepare(ctx context.Context, db *sql.DB, schema, setting string, lax []string) (err error) {
	for range 10 {
		var value string
		if err = db.QueryRowContext(ctx, setting).Scan(&value); err != nil {
			err = fmt.Errorf("%s: %w", setting, err)
		} else if slices.Contains(lax, value) {
			return fmt.Errorf("%s is %s: a commit would not be durable", setting, value)
		} else if _, err = db.ExecContext(ctx, schema); err == nil || isThere(ctx, db) {
			return nil
		}
		if !sleep(ctx, 50*time.Millisecond) {
			break
		}
	}
	return err
}

// isThere reports whether there is a table already, as for an account that may use one and not create any.
func isThere(ctx context.Context, db *sql.DB) bool {
	rows, err := db.QueryContext(ctx, `SELECT transaction_id, begun, intent, evidence, pieces, acked FROM cardgateway_journal WHERE 1 = 0`)
	return err == nil && errors.Join(rows.Err(), rows.Close()) == nil
}

// isInMemory reports whether a SQLite database has no file.
func isInMemory(ctx context.Context, db *sql.DB) bool {
	var file string
	err := db.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file)
	return err == nil && file == ""
}

// Begin implements Store.
func (s *SQLStore) Begin(ctx context.Context, in Intent) (Entry, bool, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return Entry{}, false, fmt.Errorf("journal: %w", err)
	}
	created, err := s.exec(ctx, s.insert, in.TransactionID, in.At.UnixMicro(), string(text))
	if err != nil || created {
		return newEntry(in), created, err
	}
	e, err := s.Get(ctx, in.TransactionID)
	return e, false, err
}

// Get implements Store.
func (s *SQLStore) Get(ctx context.Context, transactionID string) (Entry, error) {
	return scan(s.db.QueryRowContext(ctx, s.read, transactionID))
}

// Record implements Store.
func (s *SQLStore) Record(ctx context.Context, transactionID string, version int, ev Evidence) error {
	text, err := json.Marshal(ev)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	statement := s.record
	if ev.CanBeAskedAgain() {
		statement = s.recordLazily
	}
	done, err := s.exec(ctx, statement, transactionID, version, string(text)+"\n")
	if err != nil || done {
		return err
	}
	if _, err := s.Get(ctx, transactionID); err != nil {
		return err
	}
	return ErrChanged
}

// Ack implements Store.
func (s *SQLStore) Ack(ctx context.Context, transactionID string, version int) error {
	done, err := s.exec(ctx, s.ack, transactionID, version)
	if err != nil || done {
		return err
	}
	e, err := s.Get(ctx, transactionID)
	if err != nil {
		return err
	}
	_, err = e.ack(version)
	return err
}

// Unacked implements Store. It reads a hundred entries at a time, and holds no connection while they are used.
func (s *SQLStore) Unacked(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var begun int64 = -1 << 62
		var id string
		for {
			page, err := s.page(ctx, begun, id)
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				begun, id = e.Begun.At.UnixMicro(), e.Begun.TransactionID
			}
			if err != nil {
				yield(Entry{}, err)
			}
			if err != nil || len(page) == 0 {
				return
			}
		}
	}
}

func (s *SQLStore) page(ctx context.Context, begun int64, id string) (page []Entry, err error) {
	rows, err := s.db.QueryContext(ctx, s.unacked, begun, id)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, err
		}
		page = append(page, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return page, nil
}

// Forget deletes acknowledged payments that began before the given time, and returns how many. A forgotten
// transactionId can be paid again, so keep them for longer than any job of yours could repeat a call; it refuses a
// time within the last 24 hours.
func (s *SQLStore) Forget(ctx context.Context, before time.Time) (int64, error) {
	if err := tooRecent(before); err != nil {
		return 0, err
	}
	result, err := s.db.ExecContext(ctx, s.forget, before.UnixMicro())
	if err != nil {
		return 0, fmt.Errorf("journal: %w", err)
	}
	return result.RowsAffected()
}

// exec runs a statement and reports whether it changed a row.
func (s *SQLStore) exec(ctx context.Context, statement string, args ...any) (bool, error) {
	result, err := s.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	return n > 0, nil
}

// scan reads an entry from a row of intent, evidence and acked.
func scan(row interface{ Scan(...any) error }) (e Entry, err error) {
	var intent, evidence string
	if err := row.Scan(&intent, &evidence, &e.Acked); errors.Is(err, sql.ErrNoRows) {
		return Entry{}, ErrNoEntry
	} else if err != nil {
		return Entry{}, fmt.Errorf("journal: %w", err)
	}
	if err := json.Unmarshal([]byte(intent), &e.Begun); err != nil {
		return Entry{}, fmt.Errorf("journal: an intent cannot be read: %w", err)
	}
	for line := range strings.Lines(evidence) {
		var ev Evidence
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			return Entry{}, fmt.Errorf("journal: evidence of %q cannot be read: %w", e.Begun.TransactionID, err)
		}
		e.Evidence = append(e.Evidence, ev)
	}
	return e, nil
}
