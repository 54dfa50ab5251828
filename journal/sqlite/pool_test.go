package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestNewConnectionToMovedFile: also a connection that is opened to what is now in the place of a moved file, or where a link leads now, says why
// it is of no use. Then none writes any more.
func TestNewConnectionToMovedFile(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"moved": func(dir string) error { return os.Rename(dir+".1/j.db", dir+".1/j.db.old") },
		"a link turned to another journal": func(dir string) error {
			return errors.Join(os.Remove(dir), os.Symlink(dir+".2", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := errors.Join(os.Mkdir(dir+".1", 0o700), os.Mkdir(dir+".2", 0o700), os.Symlink(dir+".1", dir)); err != nil {
				t.Skip(err)
			}
			_, _, _ = withPool(t, dir+".2", 1)
			db, store, _ := withPool(t, dir, 2)
			if err := change(dir); err != nil {
				t.Skip(err)
			}
			first, err := db.Conn(t.Context()) // so that the next one is new
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, _, err := store.Begin(t.Context(), intent("a")); err == nil || !strings.Contains(err.Error(), "start again") {
					t.Errorf("got %v, want what to do", err)
				}
				if err := first.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) { // the second one uses it
					t.Error(err)
				}
			}
		})
	}
}

// TestPoolInUse: if the caller's own transactions hold all connections of the pool, the error of a payment says so, and nothing
// is sent. If the pool is free, an ended context is no more than that.
func TestPoolInUse(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, store, payments := withPool(t, dir, 2)
		var err error
		var held [2]*sql.Tx
		for i := range held {
			if held[i], err = db.BeginTx(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		const want = "all 2 connections of the pool are in use"
		_, err = payments.CreateRefund(t.Context(), cardgateway.RefundRequest{UniqueID: "1", RefundTransactionID: "r", Amount: decimal.New(1, 0)})
		if !errors.Is(err, cardgateway.ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) {
			t.Errorf("a refund: %v, want ErrNotSent with %q", err, want)
		}
		over, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := store.Get(over, journal.Key{Shop: payments.Shop(), ID: journal.PaymentID("a")}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Get: %v, want %q", err, want)
		}
		for _, tx := range held {
			succeeds(t, tx.Rollback())
		}
		if _, err := store.Get(over, journal.Key{Shop: payments.Shop(), ID: journal.PaymentID("a")}); err == nil || strings.Contains(err.Error(), "pool") {
			t.Errorf("Get with a free pool: %v", err)
		}
	})
}

// withPool opens a journal over a pool of so many connections.
func withPool(t *testing.T, dir string, size int) (*sql.DB, *sqlstore.Store, *journal.Journal) {
	t.Helper()
	source := "file:" + filepath.ToSlash(filepath.Join(dir, "j.db")) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	db, err := sql.Open("sqlite", source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(size)
	store, err := sqlstore.New(t.Context(), db, sqlstore.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	_, client := newShop(t)
	return db, store, journal.New(client, store, journal.Options{WriteTimeout: 2 * time.Second})
}

// TestLeaseWithoutConnection: if the function that Run calls holds the last connection of the pool, the lease cannot be renewed, and the
// cause of its end names the pool.
func TestLeaseWithoutConnection(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, _, payments := withPool(t, dir, 1)
		_, _ = payments.CreateRefund(t.Context(), cardgateway.RefundRequest{UniqueID: "1", RefundTransactionID: "r", Amount: decimal.New(1, 0)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var cause error
		_ = payments.Run(ctx, 0, func(ctx context.Context, _ journal.Entry) error {
			tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
			if err != nil {
				return err
			}
			<-ctx.Done()
			cause = errors.Join(cause, context.Cause(ctx))
			return errors.Join(errors.New("not stored"), tx.Rollback())
		})
		if want := "all 1 connections of the pool are in use"; !errors.Is(cause, journal.ErrLeaseLost) || !strings.Contains(cause.Error(), want) {
			t.Errorf("the lease ended with %v, want %q", cause, want)
		}
	})
}

// TestLockedFile: what waits for a file that another program has locked says so.
func TestLockedFile(t *testing.T) {
	db, s, _ := withPool(t, t.TempDir(), 3)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Lease(ctx, shop, "holder", time.Minute); err == nil || !strings.Contains(err.Error(), "is locked by another program") {
		t.Errorf("got %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}
