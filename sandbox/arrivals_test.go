package sandbox

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/listing"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

func TestArrivals(t *testing.T) {
	to := january.AddDate(0, 0, 28)
	tests := []struct {
		name string
		book Arrivals
	}{
		{"even", Arrivals{N: 10_000, From: january, To: to}},
		{"random", Arrivals{N: 10_000, From: january, To: to, Random: true, Seed: 3}},
		{"day and night", Arrivals{N: 10_000, From: january, To: to, Hours: DayAndNight()}},
		{"random day and night", Arrivals{N: 10_000, From: january.Add(5 * time.Hour), To: to, Random: true, Hours: DayAndNight()}},
		{"one row", Arrivals{N: 1, From: january, To: to, Random: true}},
		{"many rows in a second", Arrivals{N: 10_000, From: january, To: january.Add(time.Second), Random: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			last := tt.book.From
			for i := range tt.book.Len() {
				at := tt.book.At(i)
				if at.Before(last) || !at.Before(tt.book.To) {
					t.Fatalf("row %d at %v, after %v, of [%v, %v)", i, at, last, tt.book.From, tt.book.To)
				}
				if !at.Equal(tt.book.At(i)) {
					t.Fatalf("row %d changes its time", i)
				}
				last = at
			}
		})
	}
	if n := (Arrivals{}).Len(); n != 0 {
		t.Errorf("the zero Arrivals has %d rows", n)
	}
}

// TestRandomArrivals compares the rows per hour with the Poisson distribution, whose variance is its mean.
func TestRandomArrivals(t *testing.T) {
	const hours, mean = 600, 50
	a := Arrivals{N: hours * mean, From: january, To: january.Add(hours * time.Hour), Random: true, Seed: 11}
	var counts [hours]float64
	for i := range a.N {
		counts[int(a.At(i).Sub(january)/time.Hour)]++
	}
	variance := 0.0
	for _, n := range counts {
		variance += (n - mean) * (n - mean) / hours
	}
	if ratio := variance / mean; math.Abs(ratio-1) > 0.25 {
		t.Errorf("variance is %.2f times the mean, want about 1", ratio)
	}
}

func TestDayAndNight(t *testing.T) {
	a := Arrivals{N: 50_000, From: january, To: january.AddDate(0, 0, 10), Hours: DayAndNight()}
	var counts [24]int
	for i := range a.N {
		counts[a.At(i).UTC().Hour()]++
	}
	sum := 0.0
	for _, rate := range a.Hours {
		sum += rate
	}
	for hour, got := range counts {
		if want := a.Hours[hour] / sum * float64(a.N); math.Abs(float64(got)-want) > 15 {
			t.Errorf("%d rows in hour %d, want %.0f", got, hour, want)
		}
	}
}

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
	for i := range 150 {
		r := g.ledger.generatedRefunds[i/100].refund(i % 100)
		if o := g.ledger.find(r.uniqueID); i < 100 && (o == nil || o.code != codes.Success || o.amount != r.amount) {
			t.Fatalf("refund %d is of order %+v", i, o)
		}
		if i >= 100 {
			break
		}
	}
	again := New(Options{})
	again.Seed(1000, january, to)
	if a, b := fmt.Sprint(*g.ledger.generatedOrders[0].order(7)), fmt.Sprint(*again.ledger.generatedOrders[0].order(7)); a != b {
		t.Errorf("the same seed gives %s and %s", a, b)
	}
}

func BenchmarkPage(b *testing.B) {
	to := january.AddDate(1, 0, 0)
	for name, book := range map[string]Arrivals{
		"even":   {N: 5_000_000, From: january, To: to},
		"random": {N: 5_000_000, From: january, To: to, Random: true},
		"shop":   {N: 5_000_000, From: january, To: to, Random: true, Hours: DayAndNight()},
	} {
		b.Run(name, func(b *testing.B) {
			g := New(Options{})
			g.AddOrders(book)
			month := january.AddDate(0, 6, 0)
			path := "/search/list/order" + rangeQuery(month, month.AddDate(0, 1, -1), time.UTC, 300, 999)
			b.ReportAllocs()
			for b.Loop() {
				resp, err := exchange(g, "GET", path, nil)
				if err != nil || resp.ContentLength < 400_000 {
					b.Fatalf("%v %v", resp, err)
				}
			}
		})
	}
}

// TestFirstSecond: the first row found for a time agrees with the times of the rows.
func TestFirstSecond(t *testing.T) {
	rows := &generatedOrders{refundEvery: refundEvery, book: Arrivals{N: 1000, From: january, To: january.AddDate(0, 0, 1), Random: true}}
	for sec := january.Unix(); sec < january.Unix()+day; sec += 97 {
		want := sort.Search(rows.Len(), func(i int) bool { return rows.At(i).Unix()+3600 >= sec })
		if got := listing.FirstAt(rows, sec-3600); got != want {
			t.Fatalf("FirstAt(%d) = %d, want %d", sec, got, want)
		}
	}
}
