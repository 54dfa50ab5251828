package books

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"modernc.org/sqlite"               // the driver "sqlite"
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

// Refused says in words why books cannot be used as they are. Nothing was changed.
type Refused struct{ Why string }

func (r *Refused) Error() string { return r.Why }

// ErrInUse says that another run has the books open.
var ErrInUse = errors.New("another run is using the database; wait until it has ended")

// maxConns bounds the connections: one writes, and the others read.
const maxConns = 8

// Open opens the books in a SQLite file, or in Postgres for a postgres:// URL, and makes what is missing: the file,
// readable by this account only, and the tables, whose names begin with cardgateway_. A *Refused says that the name or the
// database is not one for books, ErrInUse that they are open elsewhere. Close them after use.
func Open(ctx context.Context, name string) (*Books, error) {
	n, err := database.Parse(name)
	if err == nil && n.Kind == database.MySQL {
		err = errors.New("is a MySQL database; books are kept in a SQLite file or in Postgres")
	}
	if err != nil {
		return nil, &Refused{"the name of the database " + err.Error()}
	}
	b := &Books{kind: n.Kind}
	if n.Kind == database.SQLite {
		err = b.openSQLite(ctx, n.Text)
	} else {
		err = b.openPostgres(ctx, n)
	}
	if err == nil {
		err = b.migrate(ctx)
	}
	if err == nil {
		err = b.prepareStaging(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", n, b.inWords(err)), b.Close())
	}
	return b, nil
}

func (b *Books) openSQLite(ctx context.Context, path string) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &Refused{"is a directory; write the path of a file"}
	}
	if err := makeFile(path); err != nil {
		return err
	}
	// The lock is a transaction in a file beside the database: the system ends it with the process, however that ends.
	if b.locks, err = database.OpenSQLite(path+"-lock", "_pragma=busy_timeout(500)"); err != nil {
		return err
	}
	if b.lock, err = b.locks.Conn(ctx); err != nil {
		return err
	}
	if _, err = b.lock.ExecContext(ctx, `BEGIN EXCLUSIVE`); err != nil {
		if isBusy(err) {
			err = ErrInUse
		}
		return err
	}
	// With synchronous(NORMAL) a power failure can take back the last transactions, each as a whole. The cache bounds the memory
	// of a sort, too, of which matching has several at the same time; the connection that writes gets more.
	b.db, err = database.OpenSQLite(path,
		"_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=cache_size(-4000)&_txlock=immediate")
	if err == nil {
		b.db.SetMaxOpenConns(maxConns)
		b.writer, err = b.db.Conn(ctx)
	}
	return err
}

// makeFile makes the file, since SQLite would make one that others may read. SQLite gives the files beside it the same
// permissions.
func makeFile(path string) error {
	for _, name := range []string{path, path + "-lock"} {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Books) openPostgres(ctx context.Context, name database.Name) (err error) {
	if b.db, err = name.OpenServer(""); err != nil {
		return err
	}
	b.db.SetMaxOpenConns(maxConns)
	if b.writer, err = b.db.Conn(ctx); err != nil {
		return err
	}
	var locked, utf8 bool
	err = b.writer.QueryRowContext(ctx, `SELECT pg_try_advisory_lock(hashtext('cardgateway'), hashtext(current_schema())), pg_encoding_to_char(encoding) = 'UTF8'
		FROM pg_database WHERE datname = current_database()`).Scan(&locked, &utf8)
	switch {
	case err != nil:
		return err
	case !locked:
		return ErrInUse
	case !utf8:
		return &Refused{"the encoding of the database is not UTF8"}
	}
	return nil
}

// statements splits a step of the schema, in the words of this database.
func (b *Books) statements(step string) []string {
	text := "TEXT"
	if b.kind == database.Postgres {
		text = `TEXT COLLATE "C"`
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(step, "$TEXT", text), "; \n"), ";\n")
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
		return fmt.Errorf("another program holds a lock on the file: %w", err)
	case sqliteFull:
		return fmt.Errorf("the disk is full: %w", err)
	case sqliteIOErr:
		return fmt.Errorf("the disk failed, or is full: %w", err)
	case sqliteReadOnly, sqliteCannot:
		return fmt.Errorf("the file cannot be written: %w", err)
	case sqliteNotSQLite, sqliteCorrupt:
		return fmt.Errorf("the file is not a SQLite database, or a damaged one: %w", err)
	}
	return err
}
