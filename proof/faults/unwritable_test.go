//go:build unix

package faults

import (
	"errors"
	"net/http"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestUnwritable pays with journals that cannot be written, each for a realistic reason: not one byte may reach the
// gateway.
func TestUnwritable(t *testing.T) {
	t.Run("sqlite, disk full", func(t *testing.T) {
		store := openStore(t, "sqlite:"+filepath.Join(t.TempDir(), "journal.db"))
		noFileGrows(t)
		unwritable(t, store)
	})
	t.Run("sqlite, read-only", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal.db")
		createStore(t, "sqlite:"+path)
		d := database{"sqlite", "file:" + path + "?_pragma=synchronous(FULL)&_pragma=query_only(1)", sqlstore.SQLite}
		store, done, err := d.openStore(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = done() }()
		unwritable(t, store)
	})
	t.Run("postgres, read-only", func(t *testing.T) {
		spec := postgres(t, t.Name())
		createStore(t, spec)
		db := openDB(t, spec+"&default_transaction_read_only=on")
		if _, err := sqlstore.New(t.Context(), db, sqlstore.Postgres); err == nil {
			t.Error("New: no error")
		}
		store, err := sqlstore.OpenExisting(t.Context(), db, sqlstore.Postgres)
		if err != nil {
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
	client := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: front.URL, AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: front.Transport()},
	})
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
