//go:build unix

package faults

import (
	"database/sql"
	"errors"
	"net/http"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestUnwritable pays with journals that cannot be written, each for a realistic reason: not one byte may reach the
// gateway.
func TestUnwritable(t *testing.T) {
	t.Run("sqlite, disk full", func(t *testing.T) {
		store, done, err := OpenStore("sqlite:" + filepath.Join(t.TempDir(), "journal.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = done() }()
		noFileGrows(t)
		unwritable(t, store)
	})
	t.Run("sqlite, read-only", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal.db")
		_, done, err := OpenStore("sqlite:" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = done() }()
		store, done2, err := openSQL(t.Context(), "sqlite", "file:"+path+"?_pragma=synchronous(FULL)&_pragma=query_only(1)", sqlstore.SQLite)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = done2() }()
		unwritable(t, store)
	})
	t.Run("postgres, read-only", func(t *testing.T) {
		spec := postgres(t, t.Name())
		_, done, err := OpenStore(spec) // makes the schema
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = done() }()
		db, err := sql.Open("pgx", spec[len("postgres:"):])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		db.SetMaxOpenConns(1)
		store, err := sqlstore.New(t.Context(), db, sqlstore.Postgres)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("SET default_transaction_read_only = on"); err != nil {
			t.Fatal(err)
		}
		unwritable(t, store)
	})
	t.Run("postgres, gone", func(t *testing.T) {
		store, done, err := OpenStore(postgres(t, t.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
		unwritable(t, store)
	})
}

// noFileGrows makes the system refuse every write beyond the end of any file of this process, like a full disk.
func noFileGrows(t *testing.T) (restore func()) {
	var before syscall.Rlimit
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skip(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: before.Max}); err != nil {
		t.Skip(err)
	}
	restore = func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }
	t.Cleanup(restore)
	return restore
}

func unwritable(t *testing.T, store journal.Store) {
	t.Helper()
	g := sandbox.New(sandbox.Options{NoNotifications: true})
	defer g.Close()
	front := NewFront(g, FrontOptions{})
	defer front.Close()
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: front.URL, AppID: "7", HTTPClient: &http.Client{Transport: front.Transport()},
	})
	if err != nil {
		t.Fatal(err)
	}
	j := journal.New(client, store, journal.Options{})
	var all sync.WaitGroup // at once, since each tries for a while
	for _, o := range Orders(1, 20) {
		all.Go(func() {
			_, err := j.CreateSubscription(t.Context(), o.subscription())
			if !errors.Is(err, cardgateway.ErrNotSent) || !cardgateway.SafeToRetry(err) {
				t.Errorf("got %v, want ErrNotSent", err)
			}
		})
	}
	all.Wait()
	if n := front.Bytes.Load(); n != 0 {
		t.Errorf("%d bytes reached the gateway", n)
	}
}
