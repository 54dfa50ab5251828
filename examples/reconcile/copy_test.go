package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
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
	db := filepath.Join(t.TempDir(), "books.db")
	b := newBench(t, db, monthsAgo(6), sandbox.Options{Search: sandbox.SearchBehavior{Latency: 2 * time.Millisecond}})
	b.gateway.Seed(60_000, b.from, time.Now())
	killed := 0
	for wait := 100 * time.Millisecond; ; wait += wait / 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", childVariable, b.url, db, b.from.UTC().Format(time.DateOnly)))
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
	b.check(t)
	t.Logf("killed %d times", killed)
	if killed < 3 {
		t.Errorf("killed %d times, which shows nothing", killed)
	}
}

// TestAskAgain copies an order that is in processing, and again when it has been settled.
func TestAskAgain(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "books.db"), time.Now().Add(-time.Hour), sandbox.Options{SettleAfter: -1, NoNotifications: true})
	order, err := b.copier.client.CreateTokenOrder(t.Context(), cardgateway.CreateTokenOrderRequest{
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
	if err := b.copier.askAgain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := state(); len(got) != 1 || got[0] != "approved 5" {
		t.Errorf("got %q", got)
	}
}

func TestBegin(t *testing.T) {
	b := newBench(t, ":memory:", time.Time{}, sandbox.Options{})
	if err := b.copier.run(t.Context()); err == nil || !strings.Contains(err.Error(), "-from") {
		t.Errorf("new books without a day: %v", err)
	}
	b.copier.from = monthsAgo(1)
	if err := b.copier.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.copier.from = monthsAgo(2)
	if err := b.copier.run(t.Context()); err == nil || !strings.Contains(err.Error(), "the books begin at") {
		t.Errorf("an earlier day: %v", err)
	}
	b.copier.from = time.Now()
	if err := b.copier.run(t.Context()); err != nil {
		t.Errorf("a later day: %v", err)
	}
}
