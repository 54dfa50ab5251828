// Package books keeps a merchant's copy of what a gateway has, in SQLite or Postgres, and the merchant's own lists beside it.
package books

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	"modernc.org/sqlite"
)

// Books are a merchant's copy of what a gateway has, and his lists. One process at a time has them open: they are locked.
// The methods that read may be used by several goroutines at once, those that write by one.
type Books struct {
	kind   database.Kind
	db     *sql.DB   // for reading
	writer *sql.Conn // for writing; in Postgres it holds the lock, so that nothing can be written without
	lock   *sql.Conn // in SQLite, of a file beside the database
	locks  *sql.DB
}

// Close unlocks the books and closes the database.
func (b *Books) Close() (err error) {
	if b.kind == database.Postgres && b.writer != nil { // not by the end of the connection, which Postgres notices a little later
		_, _ = b.writer.ExecContext(context.Background(), `SELECT pg_advisory_unlock_all()`) // a lost connection has no lock
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

// change makes several changes or none.
func (b *Books) change(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := b.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // a lost connection has nothing to roll back
		return err
	}
	return tx.Commit()
}

// Refused says in words why books cannot be used as they are. Nothing was changed.
type Refused struct{ Why string }

func (r *Refused) Error() string { return r.Why }

// ErrInUse says that another run has the books open.
var ErrInUse = errors.New("another run is using the database; wait until it has ended")

const (
	sqliteBusy      = 5
	sqliteIOErr     = 10
	sqliteCorrupt   = 11
	sqliteFull      = 13
	sqliteCannot    = 14
	sqliteReadOnly  = 8
	sqliteNotSQLite = 26
)

func sqliteCode(err error) int {
	if failed, ok := errors.AsType[*sqlite.Error](err); ok {
		return failed.Code() & 0xff // without what SQLite adds to it
	}
	return 0
}

func isBusy(err error) bool { return sqliteCode(err) == sqliteBusy }

// inWords says of errors that an operator can act on what they mean.
func (b *Books) inWords(err error) error {
	switch sqliteCode(err) {
	case sqliteBusy:
		return fmt.Errorf("another program has locked the file: %w", err)
	case sqliteFull:
		return fmt.Errorf("the disk is full: %w", err)
	case sqliteIOErr:
		return fmt.Errorf("the disk failed, or is full: %w", err)
	case sqliteReadOnly, sqliteCannot:
		return fmt.Errorf("the file cannot be written: %w", err)
	case sqliteNotSQLite, sqliteCorrupt:
		return fmt.Errorf("the file is not a SQLite database, or it is damaged: %w", err)
	}
	return err
}
