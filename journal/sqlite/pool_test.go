package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestPoolInUse: if the caller's own transactions hold all connections of the pool, the error of a payment says so, and nothing
// is sent. If the pool is free, an ended context is no more than that.
func TestPoolInUse(t *testing.T) {
	source := "file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "j.db")) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	db, err := sql.Open("sqlite", source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(2)
	store, err := sqlstore.New(t.Context(), db, sqlstore.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	gateway := sandbox.New(sandbox.Options{NoNotifications: true})
	defer gateway.Close()
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: gateway.RoundTripper()},
	})
	if err != nil {
		t.Fatal(err)
	}
	payments := journal.New(client, store, journal.Options{WriteTimeout: 2 * time.Second})
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
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Get(over, journal.Key{Shop: payments.Shop(), ID: journal.PaymentID("a")}); err == nil || strings.Contains(err.Error(), "pool") {
		t.Errorf("Get with a free pool: %v", err)
	}
}
