package sandbox

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// TestLargeBook: memory depends neither on the number of rows nor on the page number.
func TestLargeBook(t *testing.T) {
	const n = 5_000_000
	g := New(Options{})
	to := january.AddDate(1, 0, 0)
	g.Seed(n, january, to)
	month := january.AddDate(0, 6, 0)
	a := send(t, g, "GET", "/search/list/order"+rangeQuery(month, month.AddDate(0, 1, -1), time.UTC, 300, 999), nil)
	if total := count(t, a, "totalCount"); total < n/13 || total > n/11 || len(a.rows()) != 999 {
		t.Errorf("%d rows of %d, want 999 of about %d", len(a.rows()), total, n/12)
	}
	allocated := testing.AllocsPerRun(5, func() {
		r := New(Options{})
		r.Seed(n, january, to)
	})
	if allocated > 100 {
		t.Errorf("a book of %d rows takes %.0f allocations", n, allocated)
	}
}

func TestSeed(t *testing.T) {
	g := New(Options{})
	to := january.AddDate(0, 0, 20)
	g.Seed(1000, january, to)
	g.Seed(500, january, to)
	orders := slices.Sorted(g.OrderIDs(january, to))
	refunds := slices.Sorted(g.RefundIDs(january, to))
	if len(orders) != 1500 || len(slices.Compact(orders)) != 1500 || len(refunds) != 150 || len(slices.Compact(refunds)) != 150 {
		t.Errorf("%d orders and %d refunds, want 1500 and 150, all different", len(orders), len(refunds))
	}
	for _, id := range append(orders, refunds...) {
		if !money.IsDigits(id) || len(id) != 19 {
			t.Fatalf("id %q is not 19 digits", id)
		}
	}
	for i := range 100 {
		r := g.ledger.seeded.Refunds[0].Refund(i)
		if o := g.ledger.find(r.UniqueID); o == nil || o.code != codes.Success || o.amount != r.Amount {
			t.Fatalf("refund %d is of order %+v", i, o)
		}
	}
	again := New(Options{})
	again.Seed(1000, january, to)
	if a, b := fmt.Sprint(g.ledger.seeded.Orders[0].Order(7)), fmt.Sprint(again.ledger.seeded.Orders[0].Order(7)); a != b {
		t.Errorf("the same seed gives %s and %s", a, b)
	}
}

// TestManySeeds: the ids of a thousand seeds are different.
func TestManySeeds(t *testing.T) {
	g := New(Options{})
	for range 1001 {
		g.SeedOrders(SeedOptions{N: 10, From: january, To: january.AddDate(0, 0, 1), StrayRefunds: 1})
	}
	for what, ids := range map[string][]string{
		"orders":  slices.Sorted(g.OrderIDs(january, january.AddDate(0, 0, 1))),
		"refunds": slices.Sorted(g.RefundIDs(january, january.AddDate(0, 0, 1))),
	} {
		if all, different := len(ids), len(slices.Compact(ids)); all < 2002 || different != all {
			t.Errorf("%d %s have %d different ids", all, what, different)
		}
	}
}

// TestFutureSeed: what is seeded in the future is found from its time on, by each of its ids.
func TestFutureSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		hour := time.Now().Add(time.Hour)
		g.Seed(10, hour, hour.Add(time.Second))
		order, refund := g.ledger.seeded.Orders[0].Order(0), g.ledger.seeded.Refunds[0].Refund(0)
		found := func() (ids []string) {
			for _, id := range []string{order.UniqueID, order.TransactionID} {
				if _, err := (forConsole{g}).Payment(id); err == nil {
					ids = append(ids, id)
				}
			}
			for _, id := range []string{refund.RefundUniqueID, refund.RefundTransactionID} {
				if _, err := (forConsole{g}).Refund(id); err == nil {
					ids = append(ids, id)
				}
			}
			return ids
		}
		if got := found(); got != nil {
			t.Errorf("before its time, %q are found", got)
		}
		time.Sleep(2 * time.Hour)
		if got := found(); len(got) != 4 {
			t.Errorf("after its time, only %q are found", got)
		}
	})
}
