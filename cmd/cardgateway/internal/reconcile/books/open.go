package books

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
)

// maxConns is the maximum number of connections: one writes, and the others read.
const maxConns = 8

// Open opens the books in a SQLite file, or in Postgres for a postgres:// URL. It creates a missing file, readable only by the
// current user account, and missing tables, whose names begin with cardgateway_. The error is a *Refused if the name or the
// database cannot be used for books, and ErrInUse if they are already open. Call Close after use.
func Open(ctx context.Context, name string) (*Books, error) {
	n, err := database.Parse(name)
	if err == nil && n.Kind == database.MySQL {
		err = errors.New("is a MySQL database; use a SQLite file or Postgres")
	}
	if err != nil {
		return nil, &Refused{Why: "the name of the database " + err.Error()}
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
		return &Refused{Why: "is a directory; write the path of a file"}
	}
	if err := makeFile(path); err != nil {
		return err
	}
	// The lock is a transaction in a separate file: the operating system ends it with the process, even after a crash. It is next to the file
	// itself, so that a link to it has the same one.
	lock := path + "-lock"
	if target, err := filepath.EvalSymlinks(path); err == nil {
		lock = target + "-lock"
	}
	if err := makeFile(lock); err != nil {
		return err
	}
	if b.locks, err = database.OpenSQLite(lock, "_pragma=busy_timeout(500)"); err != nil {
		return err
	}
	if b.lock, err = b.locks.Conn(ctx); err != nil {
		return err
	}
	if _, err = b.lock.ExecContext(ctx, `BEGIN EXCLUSIVE`); err != nil {
		if sqliteCode(err) == sqlite3.SQLITE_BUSY {
			err = ErrInUse
		}
		return err
	}
	// With synchronous(NORMAL) a power failure can undo the last transactions, each completely. The cache size also limits the
	// memory of a sort; a comparison runs two at the same time. The writing connection has a larger one.
	b.db, err = database.OpenSQLite(path,
		"_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=cache_size(-4000)&_txlock=immediate")
	if err == nil {
		b.db.SetMaxOpenConns(maxConns)
		b.writer, err = b.db.Conn(ctx)
	}
	if err == nil {
		err = b.file.Note(ctx, path)
	}
	return err
}

// makeFile creates a file, because other users could read one that SQLite creates. SQLite creates further files with the same permissions.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (b *Books) openPostgres(ctx context.Context, name database.Name) (err error) {
	// A comparison sorts the whole copy. Compiling its statements takes longer than they gain by it.
	const settings = `SELECT set_config(name, CASE name WHEN 'jit' THEN 'off' ELSE '32MB' END, false) FROM pg_settings WHERE name IN ('jit', 'work_mem')`
	if b.db, err = name.OpenServer("", settings); err != nil {
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
		return &Refused{Why: "the encoding of the database is not UTF8"}
	}
	return nil
}
