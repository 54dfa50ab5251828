// Package sqlite opens a payment journal in a SQLite file: the recommended store for a shop on one machine.
//
//	store, err := sqlite.Open(ctx, "/var/lib/shop/payments.db")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	payments := journal.New(client, store, journal.Options{})
//
// Several processes on that machine may open the file. It must be on a local disk: SQLite's locks do not work on
// most network file systems. For processes on several machines see sqlstore.New with Postgres or MySQL.
//
// The driver, modernc.org/sqlite, is written in Go and needs no C compiler. Only this package imports it, which is
// why it is a separate module.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/cardgateway/cardgateway-go/internal/openfile"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// Store is a journal.Store in a SQLite file.
type Store struct {
	*sqlstore.Store
	db *sql.DB
}

// maxConns limits the connections: one writes at a time, and the others read meanwhile.
const maxConns = 8

// Open opens the journal in a file. It creates the file and its parent directories if they do not exist, accessible only to
// the current user. SQLite keeps two more files next to it, with the suffixes -wal and -shm. Make a backup with SQLite itself
// ("VACUUM INTO"), or copy all three while no program has the file open. Close the store after use.
//
// Every commit is synced to disk (journal_mode WAL, synchronous FULL), and processes wait up
// to ten seconds for one another.
func Open(ctx context.Context, path string) (*Store, error) {
	if ctx == nil {
		return nil, errors.New("journal/sqlite: Open: ctx must not be nil")
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path) // connections are opened later, too, when the program may have another working directory
	if err == nil {
		err = makeFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("journal/sqlite: %w", err)
	}
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, fmt.Errorf("journal/sqlite: %w", err)
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	s, err := sqlstore.New(openfile.Given(ctx, path), db, sqlstore.SQLite)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal/sqlite: %s: %w", path, err), db.Close())
	}
	return &Store{s, db}, nil
}

// Close closes the file. Payments that are in flight fail, or stay open until they are recovered.
func (s *Store) Close() error { return s.db.Close() }

// checkPath rejects a path that is most likely a mistake, or that SQLite would open as a database with another name.
func checkPath(path string) error {
	switch {
	case path == "":
		return errors.New("journal/sqlite: Open needs the path of a file")
	case path == ":memory:", strings.HasPrefix(path, "file:"):
		return fmt.Errorf("journal/sqlite: Open takes the path of a file, not %q; for tests there is journal.NewMemoryStore", path)
	case strings.Contains(path, "://"):
		return errors.New("journal/sqlite: Open takes the path of a file; for a database server use sqlstore.New")
	}
	return nil
}

// makeFile creates the file, because SQLite would create one that others may read. SQLite gives the files next to it the
// same permissions. It leaves one that exists alone: to open and close that would release the locks of another Store of this process on it, and
// another program could delete its log.
func makeFile(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dataSource returns the driver's name of a file, with the settings of every connection. busy_timeout comes first,
// because changing the journal mode may have to wait too.
func dataSource(path string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}
	u.RawQuery = "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	return u.String()
}
