// Package books stores a merchant's copy of a gateway's orders and refunds, and the merchant's own lists, in SQLite or
// Postgres.
package books

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	"github.com/cardgateway/cardgateway-go/internal/openfile"
)

// Books are a merchant's copy of a gateway's orders and refunds, and the merchant's lists. Only one process at a time can open
// them. Methods that read can be used concurrently; only one goroutine at a time may write.
type Books struct {
	// AnyApp makes the rows of other apps appear in what is read and counted. The copy contains them in any case.
	AnyApp bool

	kind   database.Kind
	db     *sql.DB   // for reading
	writer *sql.Conn // for writing; in Postgres it also holds the lock, so that nothing is written without it
	lock   *sql.Conn // in SQLite: holds the lock, in a separate file
	locks  *sql.DB
	file   openfile.File // in SQLite
}

// Close unlocks the books and closes the database.
func (b *Books) Close() (err error) {
	if b.kind == database.Postgres && b.writer != nil { // Postgres may notice the end of the connection only later
		_, _ = b.writer.ExecContext(context.Background(), `SELECT pg_advisory_unlock_all()`) // a lost connection holds no lock
	}
	for _, conn := range []*sql.Conn{b.writer, b.lock} {
		if conn != nil {
			if closed := conn.Close(); !errors.Is(closed, sql.ErrConnDone) {
				err = errors.Join(err, closed)
			}
		}
	}
	for _, db := range []*sql.DB{b.db, b.locks} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// change runs do in a transaction. It fails if what was committed is not in the file that the next run will find.
func (b *Books) change(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := b.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // a lost connection has nothing to roll back
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return b.file.Check()
}

// Refused is the error for wrong input or a wrong database. Nothing was changed.
type Refused struct {
	Setting string // the flag that it is about; empty if it is the list or the database as a whole
	Why     string
}

func (r *Refused) Error() string {
	if r.Setting == "" {
		return r.Why
	}
	return r.Setting + ": " + r.Why
}

// ErrInUse means that another run has the books open.
var ErrInUse = errors.New("another run is using the database; wait until it has ended")

// sqliteCode returns the code of an error of SQLite without its extension, or 0.
func sqliteCode(err error) int {
	if failed, ok := errors.AsType[*sqlite.Error](err); ok {
		return failed.Code() & 0xff
	}
	return 0
}

// inWords explains errors on which an operator can act.
func (b *Books) inWords(err error) error {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another program has locked the file: %w", err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full: %w", err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk failed, or is full: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the file cannot be written: %w", err)
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the file is not a SQLite database, or it is damaged: %w", err)
	}
	return err
}
