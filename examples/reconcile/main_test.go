package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/pgserver"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// childVariable tells a process of its own to be the program instead of its tests: base URL, books and first day.
const childVariable = "RECONCILE_TEST_CHILD"

func TestMain(m *testing.M) {
	if order := os.Getenv(childVariable); order != "" {
		os.Exit(child(order))
	}
	code := m.Run()
	if err := pgserver.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func child(order string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fields := strings.Split(order, "|")
	s := settings{gateway: fields[0], appID: "123456", db: fields[1], from: fields[2], out: io.Discard, log: io.Discard}
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// onEach runs a test on books in SQLite and in Postgres.
func onEach(t *testing.T, test func(t *testing.T, db string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "books.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, postgresURL(t)) })
}

// bench is a gateway, empty books and what copies from one to the other.
type bench struct {
	gateway *sandbox.Gateway
	url     string
	books   *Books
	copier  copier
	from    time.Time
}

func newBench(t *testing.T, db string, from time.Time, o sandbox.Options) *bench {
	t.Helper()
	server, err := sandbox.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: server.URL, AppID: "123456", Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	b := &bench{gateway: server.Gateway, url: server.URL, from: from}
	b.open(t, db)
	b.copier = copier{client, b.books, from, io.Discard, func(string, cardgateway.Progress) {}}
	return b
}

// open opens books.
func (b *bench) open(t *testing.T, db string) {
	t.Helper()
	books, err := OpenBooks(t.Context(), db, b.url, cardgateway.DefaultLocation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = books.Close() }) // a test may have closed them
	b.books = books
}

// check compares every row of the books with what the gateway has, by id.
func (b *bench) check(t *testing.T) {
	t.Helper()
	for kind, want := range map[string][]string{
		"orders":  slices.Sorted(b.gateway.OrderIDs(b.from, time.Now())),
		"refunds": slices.Sorted(b.gateway.RefundIDs(b.from, time.Now())),
	} {
		got := column(t, b.books, `SELECT id FROM `+kind+` ORDER BY id`)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the books hold %d, the gateway %d", kind, len(got), len(want))
		}
		if len(want) == 0 {
			t.Errorf("%s: the gateway has none, so that nothing was shown", kind)
		}
	}
}

func column(t *testing.T, b *Books, query string) (values []string) {
	t.Helper()
	err := b.each(t.Context(), func(scan func(...any) error) error {
		var v string
		err := scan(&v)
		values = append(values, v)
		return err
	}, query)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestDemo(t *testing.T) {
	var out, log bytes.Buffer
	if err := run(t.Context(), settings{out: &out, log: &log}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"6000 orders (5460 approved) and 600 refunds, complete from ",
		"paid, and not in the list  book-transaction-0-0 ",
		"in the list, and not paid  cash-payment-1        nothing ",
		"another amount             book-transaction-0-1 ",
		"\ndifferences: 3\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	for _, want := range []string{"orders   100%  6000 rows", "refunds  100%  600 rows"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is missing in\n%s", want, log.String())
		}
	}
}

// TestRun is the program as it runs beside a real gateway: new books, then a list that agrees, then one that does not.
func TestRun(t *testing.T) {
	from := time.Now().AddDate(0, -1, 0).UTC().Truncate(24 * time.Hour)
	server, err := sandbox.Start(sandbox.Options{MerchantID: "m", SecretKey: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Gateway.AddOrders(sandbox.Arrivals{N: 3, From: from, To: time.Now()})
	dir := t.TempDir()
	s := settings{
		gateway: server.URL, appID: "123456", merchantID: "m", secretKey: "s",
		db: filepath.Join(dir, "books.db"), from: from.Format(time.DateOnly), out: io.Discard, log: io.Discard,
	}
	if err := run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	s.from = "" // the books know
	books, err := OpenBooks(t.Context(), s.db, s.account(), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	paid := column(t, books, `SELECT transaction_id || ',' || amount || ',' || currency FROM orders WHERE state = 'approved'`)
	if err := books.Close(); err != nil || len(paid) != 3 {
		t.Fatalf("paid %q, %v", paid, err)
	}
	for _, test := range []struct {
		name  string
		lines []string
		want  error
		shows string
	}{
		{"agrees", paid, nil, "the list and the gateway agree"},
		{"one is missing", paid[1:], errDiffer, "differences: 1"},
		{"nothing", nil, errDiffer, "differences: 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.list = filepath.Join(dir, "list.csv")
			text := "transaction_id,amount,currency\n" + strings.Join(test.lines, "\n")
			if err := os.WriteFile(s.list, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			s.out = &out
			if err := run(t.Context(), s); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if !strings.Contains(out.String(), test.shows) {
				t.Errorf("%q is missing in\n%s", test.shows, out.String())
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		name  string
		s     settings
		names string
	}{
		{"no app id", settings{gateway: "https://gateway.example"}, "AppID"},
		{"plain http", settings{gateway: "http://gateway.example", appID: "1"}, "BaseURL"},
		{"no such folder", settings{gateway: "https://gateway.example", appID: "1", db: filepath.Join(dir, "no", "books.db")}, "opening the database"},
		{"no day", settings{gateway: "https://gateway.example", appID: "1", from: "yesterday"}, "-from yesterday"},
		{"a day to come", settings{gateway: "https://gateway.example", appID: "1", from: "2999-01-01"}, "-from 2999-01-01 has not come yet"},
		{"no zone", settings{gateway: "https://gateway.example", appID: "1", zone: "Mars/Olympus"}, "-zone"},
		{"no list", settings{gateway: "https://gateway.example", appID: "1", list: filepath.Join(dir, "none.csv")}, "none.csv"},
		{"no gateway", settings{list: "paid.csv"}, "-base-url is missing"},
		{"new books without a day", settings{gateway: "https://gateway.example", appID: "1"}, "-from"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.s.db == "" && test.s.gateway != "" {
				test.s.db = filepath.Join(t.TempDir(), "books.db")
			}
			test.s.out, test.s.log = io.Discard, io.Discard
			if err := run(t.Context(), test.s); err == nil || !strings.Contains(err.Error(), test.names) {
				t.Errorf("got %v, want it to name %q", err, test.names)
			}
		})
	}
}
