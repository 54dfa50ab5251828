package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
)

func monthsAgo(n int) time.Time { return time.Now().AddDate(0, -n, 0).Truncate(24 * time.Hour) }

// TestCopy copies three months, then what came in meanwhile.
func TestCopy(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := newBench(t, db, monthsAgo(3), sandbox.Options{})
		b.gateway.Seed(5000, b.from, time.Now())
		for range 2 { // the second run finds nothing new
			if err := b.copier.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.check(t)
		}
		b.gateway.Seed(300, time.Now().Add(-10*time.Minute), time.Now())
		if err := b.copier.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.check(t)
		held, err := b.books.Held(t.Context())
		if err != nil || held.Orders != 5300 || held.Refunds != 530 {
			t.Errorf("the books hold %+v, %v", held, err)
		}
		if behind := time.Since(held.Complete); behind < 15*time.Minute || behind > 16*time.Minute {
			t.Errorf("complete up to %v, want some 15 minutes ago", held.Complete)
		}
	})
}

// TestBrokenOff lets the gateway fail for good after each number of requests, then answers again.
func TestBrokenOff(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := newBench(t, db, monthsAgo(3), sandbox.Options{MaxPageSize: 100})
		b.gateway.Seed(2000, b.from, time.Now())
		for answered := 0; ; answered++ {
			b.gateway.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Skip: answered, Times: -1, Commit: sandbox.CommitNever, Status: 503})
			err := b.copier.run(t.Context())
			b.gateway.ClearFaults()
			if err == nil {
				break
			}
			if queryError := (*cardgateway.QueryError)(nil); !errors.As(err, &queryError) {
				t.Fatalf("after %d answers: %v", answered, err)
			}
		}
		b.check(t)
	})
}

// TestKilled kills the program again and again while it copies, and lets it end at last.
func TestKilled(t *testing.T) {
	db := filepath.Join(t.TempDir(), "a ?strange#name%41.db")
	b := newBench(t, ":memory:", monthsAgo(6), sandbox.Options{Search: sandbox.SearchBehavior{Latency: 2 * time.Millisecond}})
	b.gateway.Seed(60_000, b.from, time.Now())
	killed := 0
	for wait := 100 * time.Millisecond; ; wait += wait / 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%s", childVariable, b.url, db, b.from.UTC().Format(time.DateOnly)))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(wait, func() { _ = cmd.Process.Kill() }) // it may have ended by itself
		err := cmd.Wait()
		if timer.Stop() && err == nil {
			break
		}
		if killed++; killed > 50 || err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("killed %d times, then %v", killed, err)
		}
	}
	b.open(t, db)
	b.check(t)
	t.Logf("killed %d times", killed)
	if killed < 3 {
		t.Errorf("killed %d times, which shows nothing", killed)
	}
}

// TestAskAgain copies an order that is in processing, and again when it has been settled.
func TestAskAgain(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "books.db"), time.Now().Add(-time.Hour), sandbox.Options{SettleAfter: -1, NoNotifications: true})
	order, err := b.copier.client.CreateTokenOrder(t.Context(), cardgateway.TokenOrderRequest{
		TransactionID: "t-order", OrderID: "o-1", Currency: "USD", Amount: decimal.NewFromInt(1), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}}, BillingAddress: cardgateway.Address{Country: "US"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.gateway.EnterCard(order.RedirectURL, sandbox.TestCard(sandbox.Approved)); err != nil {
		t.Fatal(err)
	}
	_, err = b.copier.client.TokenPayment(t.Context(), cardgateway.NewToken(b.gateway.Token("t-order")), cardgateway.TokenPaymentRequest{
		TransactionID: "t-1", Currency: "USD", Amount: decimal.NewFromInt(5), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	state := func() []string {
		return column(t, b.books, `SELECT state || ' ' || amount FROM orders WHERE transaction_id = 't-1'`)
	}
	if err := b.copier.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := state(); len(got) != 1 || got[0] != "processing 5" {
		t.Fatalf("got %q", got)
	}
	b.gateway.Settle("t-1", true)
	if err := askAgain(t.Context(), &b.copier, b.copier.orders()); err != nil {
		t.Fatal(err)
	}
	if got := state(); len(got) != 1 || got[0] != "approved 5" {
		t.Errorf("got %q", got)
	}
}

// TestAskForRefunds asks again for a refund that was not made yet when it was copied.
func TestAskForRefunds(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := newBench(t, db, time.Now().AddDate(0, 0, -7), sandbox.Options{})
		b.gateway.Seed(100, b.from, time.Now())
		if err := b.copier.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := b.books.db.ExecContext(t.Context(), `UPDATE refunds SET code = 110, amount = '0'`); err != nil {
			t.Fatal(err)
		}
		if err := askAgain(t.Context(), &b.copier, b.copier.refunds()); err != nil {
			t.Fatal(err)
		}
		if left := column(t, b.books, `SELECT id FROM refunds WHERE code <> 111 OR amount = '0'`); len(left) != 0 {
			t.Errorf("%q were not asked for", left)
		}
	})
}

// TestPass: an order that the gateway cannot answer singly stops nothing, a gateway that is down does.
func TestPass(t *testing.T) {
	b := newBench(t, ":memory:", time.Now().AddDate(0, 0, -7), sandbox.Options{})
	b.gateway.Seed(300, b.from, time.Now()) // six of them are in processing
	var log bytes.Buffer
	b.copier.log = &log
	b.gateway.Inject(sandbox.Fault{Operation: sandbox.OpGetOrder, Skip: 1, Commit: sandbox.CommitNever, Status: 200})
	if err := b.copier.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(log.String(), "was not asked for again"); got != 1 || !strings.Contains(log.String(), "999") {
		t.Errorf("the log says\n%s", log.String())
	}
	b.gateway.Inject(sandbox.Fault{Operation: sandbox.OpGetOrder, Commit: sandbox.CommitNever, Reply: sandbox.ReplyHTML, Status: 503})
	if err := b.copier.run(t.Context()); !errors.Is(err, cardgateway.ErrQueryFailed) {
		t.Errorf("got %v", err)
	}
}

// TestResumedGoesOn: a run that ends an old walk copies what came after it too.
func TestResumedGoesOn(t *testing.T) {
	b := newBench(t, ":memory:", monthsAgo(1), sandbox.Options{})
	b.gateway.Seed(500, b.from, time.Now())
	old := time.Now().AddDate(0, 0, -2).Truncate(time.Second)
	at := position{since: b.from, complete: b.from, until: old}
	err := b.books.change(t.Context(), func(tx *sql.Tx) error {
		return errors.Join(b.books.savePosition(t.Context(), tx, "orders", at), b.books.savePosition(t.Context(), tx, "refunds", at))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.copier.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.check(t)
}

func TestBegin(t *testing.T) {
	b := newBench(t, ":memory:", time.Time{}, sandbox.Options{})
	b.gateway.Seed(100, monthsAgo(1), time.Now())
	run := func(from time.Time) error {
		b.copier.from = from
		return b.copier.run(t.Context())
	}
	for _, test := range []struct {
		name string
		from time.Time
		says string // nothing: it goes well
	}{
		{"new books without a day", time.Time{}, "say with -from"},
		{"a day to come", time.Now().AddDate(1, 0, 0), "has not come yet"},
		{"new books", monthsAgo(1), ""},
		{"an earlier day", monthsAgo(2), "the books begin at"},
		{"a later day", time.Now(), ""},
		{"old books", time.Time{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			switch err := run(test.from); {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
				t.Errorf("got %v, want it to say %q", err, test.says)
			}
		})
	}

	// A clock that was set back is named, and does no harm for good.
	ahead := time.Now().Add(time.Hour)
	move := func(complete time.Time) {
		if _, err := b.books.db.ExecContext(t.Context(), `UPDATE walks SET complete = $1`, complete.UnixMicro()); err != nil {
			t.Fatal(err)
		}
	}
	move(ahead)
	if err := run(time.Time{}); err == nil || !strings.Contains(err.Error(), "the clock says") {
		t.Errorf("a clock set back: %v", err)
	}
	move(time.Now().Add(-time.Hour))
	if err := run(time.Time{}); err != nil {
		t.Errorf("a clock set right again: %v", err)
	}
}

// TestZone: rows are found by the gateway's wall clock, and books keep to one, as to one gateway and app.
func TestZone(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server, err := sandbox.Start(sandbox.Options{Location: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		from := monthsAgo(1)
		server.Gateway.AddOrders(sandbox.Arrivals{N: 500, From: from, To: time.Now()})
		var out bytes.Buffer
		s := settings{gateway: server.URL, appID: "1", zone: "UTC", db: db, from: from.UTC().Format(time.DateOnly), out: &out, log: io.Discard}
		if err := run(t.Context(), s); err != nil || !strings.HasPrefix(out.String(), "500 orders") {
			t.Errorf("%v: %s", err, out.String())
		}
		s.zone = "Asia/Shanghai"
		if err := run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "-zone UTC") {
			t.Errorf("another zone: %v", err)
		}
		s.zone, s.appID = "UTC", "2"
		if err := run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "-app-id 1") || !strings.Contains(err.Error(), "-app-id 2") {
			t.Errorf("another app: %v", err)
		}
		elsewhere, err := sandbox.Start(sandbox.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer elsewhere.Close()
		s.gateway, s.appID = elsewhere.URL, "1"
		if err := run(t.Context(), s); err == nil || !strings.Contains(err.Error(), elsewhere.URL) || !strings.Contains(err.Error(), server.URL) {
			t.Errorf("another gateway: %v", err)
		}
	})
}

func TestInUse(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := newBench(t, db, monthsAgo(1), sandbox.Options{})
		if err := b.books.Close(); err != nil {
			t.Fatal(err)
		}
		b.open(t, db) // books that are there already are locked too
		for _, held := range []bool{true, false} {
			again, err := OpenBooks(t.Context(), db, b.url, time.UTC)
			if held != errors.Is(err, errInUse) {
				t.Errorf("held %t: %v", held, err)
			}
			if err == nil {
				err = again.Close()
			} else {
				err = b.books.Close()
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// TestSaveOdd saves what a gateway should not send but may.
func TestSaveOdd(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := newBench(t, db, monthsAgo(1), sandbox.Options{}).books
		at, err := cardgateway.ParseWallTime("2026-01-15 10:07:09")
		if err != nil {
			t.Fatal(err)
		}
		save := func(o cardgateway.Transaction) {
			t.Helper()
			err := b.change(t.Context(), func(tx *sql.Tx) error {
				return b.saveOrders(t.Context(), tx, []*cardgateway.Transaction{&o})
			})
			if err != nil {
				t.Error(err)
			}
		}
		save(cardgateway.Transaction{UniqueID: "1", TransactionID: "zero \x00 byte", Code: 100})
		save(cardgateway.Transaction{UniqueID: "2", Code: 777, TransactionAmount: decimal.RequireFromString("1.23456789")})
		save(cardgateway.Transaction{TransactionID: "t", Code: 301, TransactionAt: at}) // before the gateway has given it an id
		save(cardgateway.Transaction{TransactionID: "u", Code: 301, TransactionAt: at})
		save(cardgateway.Transaction{UniqueID: "7", TransactionID: "t", Code: 100, TransactionAt: at})
		save(cardgateway.Transaction{UniqueID: "8", TransactionID: "v", Code: 102, TransactionAmount: decimal.NewFromInt(10), TransactionCurrency: "USD"})
		save(cardgateway.Transaction{UniqueID: "8", TransactionID: "v", Code: 100}) // without the amount
		for _, id := range []string{"", "9"} {
			err := b.change(t.Context(), func(tx *sql.Tx) error {
				return b.saveRefunds(t.Context(), tx, []*cardgateway.Refund{{RefundUniqueID: id, MerchantRefundID: "r", UniqueID: "8", Code: 111}})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := b.dropUnnamed(t.Context()); err != nil {
			t.Fatal(err)
		}
		if refunds := column(t, b, `SELECT id FROM refunds`); len(refunds) != 1 || refunds[0] != "9" {
			t.Errorf("refunds: got %q", refunds)
		}
		want := []string{"1 zero \uFFFD byte approved 0", "2  unknown 1.23456789", "7 t approved 0", "8 v approved 10", " u redirect 0"}
		got := column(t, b, `SELECT unique_id || ' ' || transaction_id || ' ' || state || ' ' || amount FROM orders ORDER BY id`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("orders (-want +got):\n%s", diff)
		}
	})
}
