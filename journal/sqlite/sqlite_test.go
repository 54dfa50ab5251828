package sqlite_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/journaltest"
	"github.com/cardgateway/cardgateway-go/journal/sqlite"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	journaltest.Run(t, journaltest.Harness{
		Shared: true,
		Open: func(t testing.TB, place string) (journal.Store, func()) {
			s := open(t, filepath.Join(place, "journal.db"))
			return s, func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		},
	})
}

// TestOddPaths: a path is a path, whatever a URL would make of its characters.
func TestOddPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{
		"plain.db", "a b.db", "50%25.db", "what?.db", "number#1.db", "plus+and&.db", "ü.db", filepath.Join("new", "deeper", "j.db"),
		filepath.Join(t.TempDir(), "absolute.db"), "-dash.db", "colon:name.db",
	} {
		t.Run(fmt.Sprintf("%q", path), func(t *testing.T) {
			if err := open(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatalf("the file is elsewhere: %v", err)
			}
			if info.Size() == 0 || info.Mode().Perm() != 0o600 {
				t.Errorf("it has %d bytes and mode %o, want a database and 600", info.Size(), info.Mode().Perm())
			}
			if err := open(t, path).Close(); err != nil {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}

func TestRefusedPaths(t *testing.T) {
	for path, want := range map[string]string{
		"": "needs the path", ":memory:": "NewMemoryStore", "file:x?mode=memory": "NewMemoryStore",
		"postgres://db/x": "NewSQLStore", "mysql://db/x": "NewSQLStore", t.TempDir(): "directory",
	} {
		if _, err := sqlite.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", path, err, want)
		}
	}
}

// TestOneConnection: a pool of one connection, as a database in memory needs it, is enough.
func TestOneConnection(t *testing.T) {
	journaltest.Run(t, journaltest.Harness{
		Volatile: true,
		Open: func(t testing.TB, _ string) (journal.Store, func()) {
			db, err := sql.Open("sqlite", ":memory:")
			if err != nil {
				t.Fatal(err)
			}
			db.SetMaxOpenConns(1)
			s, err := journal.NewSQLStore(t.Context(), db, journal.SQLite)
			if err != nil {
				t.Fatal(err)
			}
			return s, func() { _ = db.Close() }
		},
	})
}
