package books

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

func TestInUse(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		for range 2 { // new books, and such as are there
			b := open(t, db)
			if again, err := Open(t.Context(), db); !errors.Is(err, ErrInUse) {
				t.Errorf("open twice: got %v, %v", again, err)
			}
			succeeds(t, b.Close())
		}
	})
}

// TestInUseByLink: a link to the file has its lock.
func TestInUseByLink(t *testing.T) {
	db := filepath.Join(t.TempDir(), "books.db")
	open(t, db)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(db, link); err != nil {
		t.Skip(err)
	}
	if _, err := Open(t.Context(), link); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
}

func TestSchemaVersions(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		if _, err := b.writer.ExecContext(t.Context(), `INSERT INTO cardgateway_schema (version) VALUES (99)`); err != nil {
			t.Fatal(err)
		}
		succeeds(t, b.Close())
		_, err := Open(t.Context(), db)
		if _, ok := errors.AsType[*Refused](err); !ok || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "newer program") {
			t.Errorf("got %v", err)
		}
	})
}

func TestNotBooks(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "shop.db")
	execAt(t, "sqlite", other, `CREATE TABLE orders (id TEXT)`)
	text := filepath.Join(dir, "list.csv")
	succeeds(t, os.WriteFile(text, []byte(strings.Repeat("transaction_id,amount,currency\n", 100)), 0o600))
	for _, test := range []struct{ name, want string }{
		{other, `the file belongs to another program: it has a table "orders"`},
		{text, "is not a SQLite database"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, err := os.ReadFile(test.name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), test.name); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want in it %q", err, test.want)
			}
			if after, err := os.ReadFile(test.name); err != nil || len(after) != len(before) {
				t.Errorf("%s was changed", test.name)
			}
		})
	}
}

// TestMovedFile: what is written to a file that another one has replaced is no success.
func TestMovedFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"deleted": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := gateway(t, sandbox.Options{})
			path := filepath.Join(t.TempDir(), "books.db")
			b, o := open(t, path), SyncOptions{Client: clientOf(t, server, "7"), From: time.Now().Add(-time.Hour)}
			mustSync(t, b, o)
			if err := change(path); err != nil {
				t.Skip(err) // some systems do not let an open file be moved
			}
			if _, err := b.Sync(t.Context(), o); err == nil || !strings.Contains(err.Error(), "start again") {
				t.Errorf("got %v, want what to do", err)
			}
		})
	}
}
