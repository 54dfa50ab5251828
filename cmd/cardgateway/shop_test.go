package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// place is a database of a shop.
type place struct {
	setting string // as the tool is told
	driver  string
	dsn     string // as the shop's program opens it
	dialect sqlstore.Dialect
}

var databases atomic.Int64

func sqlitePlace(t *testing.T) place {
	path := filepath.Join(t.TempDir(), "payments.db")
	return place{path, "sqlite", "file:" + path + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)", sqlstore.SQLite}
}

func postgresPlace(t *testing.T, server *pgserver.Server) place {
	schema := fmt.Sprintf("shop%d", databases.Add(1))
	execAt(t, "pgx", server.URL("public"), "CREATE SCHEMA "+schema)
	return place{server.URL(schema), "pgx", server.URL(schema), sqlstore.Postgres}
}

func mysqlPlace(t *testing.T, server *mysqlserver.Server) place {
	name := fmt.Sprintf("shop%d", databases.Add(1))
	execAt(t, "mysql", server.DSN(""), "CREATE DATABASE "+name)
	_, socket, _ := strings.Cut(server.DSN(""), "(")
	socket, _, _ = strings.Cut(socket, ")")
	return place{"mysql://root@localhost/" + name + "?socket=" + url.QueryEscape(socket), "mysql", server.DSN(name), sqlstore.MySQL}
}

// openAt opens a database until the end of the test.
func openAt(t *testing.T, driver, name string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { succeeds(t, db.Close()) })
	return db
}

func execAt(t *testing.T, driver, dsn, statement string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statement)
	succeeds(t, errors.Join(err, db.Close()))
}

// places make an empty database of each kind.
var places = map[string]func(*testing.T) place{
	"sqlite":   sqlitePlace,
	"postgres": func(t *testing.T) place { return postgresPlace(t, pgserver.Shared(t)) },
	"mysql":    func(t *testing.T) place { return mysqlPlace(t, mysqlserver.Shared(t)) },
}

// everyDatabase runs a test with each.
func everyDatabase(t *testing.T, test func(*testing.T, place)) {
	for name, at := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, at(t))
		})
	}
}

// shop is the shop's own program, which has the journal open while the tool looks at it.
type shop struct {
	*journal.Journal
	server *sandbox.Server
	store  *sqlstore.Store
}

func openShop(t *testing.T, server *sandbox.Server, at place) *shop {
	t.Helper()
	db, err := sql.Open(at.driver, at.dsn)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlstore.New(t.Context(), db, at.dialect)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &shop{journal.New(clientOf(t, server, "7"), store, journal.Options{WriteTimeout: time.Second}), server, store}
}

// charge pays with a card of this outcome.
func (s *shop) charge(t *testing.T, id, amount, currency string, o sandbox.Outcome) (*cardgateway.Transaction, error) {
	t.Helper()
	return s.TokenPayment(t.Context(), cardgateway.NewToken(s.server.NewToken(o)), paymentOf(id, amount, currency))
}

// lose makes a payment whose response is lost after the money was taken.
func (s *shop) lose(t *testing.T, id, amount, currency string) {
	t.Helper()
	s.server.Inject(sandbox.Fault{Operation: sandbox.OpPayments, TransactionID: id, Reply: sandbox.ReplyReset})
	if _, err := s.charge(t, id, amount, currency, sandbox.Approved); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
}

// fill makes payments and refunds of every kind.
func (s *shop) fill(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	must := func(err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Fatalf("got %v, want %v", err, want)
		}
	}
	acked, err := s.charge(t, "acked", "20.00", "EUR", sandbox.Approved)
	must(err, nil)
	must(s.Ack(ctx, journal.PaymentID("acked"), journal.StateOf(acked, err)), nil)
	_, err = s.charge(t, "paid", "12.50", "EUR", sandbox.Approved)
	must(err, nil)
	_, err = s.charge(t, "declined", "7", "JPY", sandbox.Declined)
	must(err, cardgateway.ErrDeclined)
	s.lose(t, "lost", "30.00", "EUR")
	s.server.Inject(sandbox.Fault{Operation: sandbox.OpPayments, TransactionID: "refused", Commit: sandbox.CommitNever, Code: 201})
	_, err = s.charge(t, "refused", "5.00", "EUR", sandbox.Approved)
	must(err, cardgateway.ErrRefused)
	_, err = s.CreateCheckout(ctx, cardgateway.CheckoutRequest{
		TransactionID: "waiting", OrderID: "o-1", Currency: "EUR", Amount: decimal.RequireFromString("9.00"), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candles"}}, BillingAddress: cardgateway.Address{Country: "US"},
	})
	must(err, nil)
	s.server.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Reply: sandbox.ReplyReset})
	_, err = s.CreateRefund(ctx, cardgateway.RefundRequest{UniqueID: acked.UniqueID, RefundTransactionID: "lost", Amount: decimal.RequireFromString("2.50")})
	must(err, cardgateway.ErrOutcomeUnknown)
	for _, id := range []string{"901", "902"} { // two successes of one payment
		s.record(t, "paid", journal.Evidence{
			At: time.Now(), Source: journal.SourceQuery, State: journal.Succeeded,
			Transaction: &cardgateway.Transaction{
				Code: cardgateway.CodeSuccess, TransactionID: "paid", UniqueID: id, TransactionAmount: decimal.RequireFromString("12.50"), TransactionCurrency: "EUR",
			},
		})
	}
}

// record adds evidence to a payment.
func (s *shop) record(t *testing.T, id string, ev journal.Evidence) {
	t.Helper()
	e, err := s.Get(t.Context(), journal.PaymentID(id))
	if err == nil {
		err = s.store.Record(t.Context(), e.Key(), len(e.Evidence), ev)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// journalEnv has the settings for a journal.
func journalEnv(server *sandbox.Server, at place) map[string]string {
	return with(environment(server.URL), "CARDGATEWAY_JOURNAL", at.setting)
}
