package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
)

// rangeQuery returns a query for [from, to] to a gateway whose Location is loc.
func rangeQuery(from, to time.Time, loc *time.Location, page, size int) string {
	return fmt.Sprintf("?startDate=%s&endingDate=%s&currPage=%d&pageSize=%d",
		wall(from.In(loc)), wall(to.In(loc)), page, size)
}

func count(t *testing.T, a answer, name string) int {
	t.Helper()
	n, err := strconv.Atoi(fmt.Sprint(a.data[name]))
	if err != nil {
		t.Fatalf("%s: %v in %s", name, err, a.text)
	}
	return n
}

var january = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func TestQueryRules(t *testing.T) {
	tests := []struct{ name, query, problem string }{
		{"whole month", "startDate=2024-01-15&endingDate=2024-02-15", ""},
		{"a second more", "startDate=2024-01-15&endingDate=2024-02-15+00:00:01", "one month"},
		{"from the 31st to the last of February", "startDate=2024-01-31&endingDate=2024-02-29", ""},
		{"from the 31st to 1 March", "startDate=2024-01-31&endingDate=2024-03-01", "one month"},
		{"year's end", "startDate=2023-12-31&endingDate=2024-01-31", ""},
		{"no start", "endingDate=2024-02-15", "startDate"},
		{"no end", "startDate=2024-02-15", "endingDate"},
		{"backwards", "startDate=2024-02-02&endingDate=2024-02-01", "before"},
		{"no such day", "startDate=2024-02-30&endingDate=2024-03-01", "startDate"},
		{"other format", "startDate=2024-02-01T00:00:00Z&endingDate=2024-02-02", "startDate"},
		{"page zero", "startDate=2024-02-01&endingDate=2024-02-02&currPage=0", "currPage"},
		{"page of 21 digits", "startDate=2024-02-01&endingDate=2024-02-02&currPage=999999999999999999999", "currPage"},
		{"size of 4 digits", "startDate=2024-02-01&endingDate=2024-02-02&pageSize=1000", "pageSize"},
		{"size as a word", "startDate=2024-02-01&endingDate=2024-02-02&pageSize=ten", "pageSize"},
	}
	g := New(Options{})
	for _, path := range []string{"/search/list/order?", "/search/list/refund?"} {
		for _, tt := range tests {
			t.Run(path+tt.name, func(t *testing.T) {
				a := send(t, g, "GET", path+tt.query, nil)
				want := 121
				if tt.problem != "" {
					want = 500
				}
				if a.code() != want || !strings.Contains(a.str("transactionMessage"), tt.problem) {
					t.Errorf("answer %s, want code %d about %q", a.text, want, tt.problem)
				}
			})
		}
	}
}

func TestEnvelope(t *testing.T) {
	g := New(Options{MaxPageSize: 50})
	g.Seed(120, january, january.AddDate(0, 0, 1))
	to := january.AddDate(0, 0, 2)
	for _, tt := range []struct{ page, size, rows, pageSize, pages int }{
		{1, 10, 10, 10, 12}, {12, 10, 10, 10, 12}, {13, 10, 0, 10, 12}, {1, 50, 50, 50, 3}, {3, 50, 20, 50, 3},
		{1, 999, 50, 50, 3},
	} {
		a := send(t, g, "GET", "/search/list/order"+rangeQuery(january, to, g.opts.Location, tt.page, tt.size), nil)
		got := []int{len(a.rows()), count(t, a, "pageSize"), count(t, a, "totalPage"), count(t, a, "totalCount"), count(t, a, "currPage")}
		want := []int{tt.rows, tt.pageSize, tt.pages, 120, tt.page}
		if !slices.Equal(got, want) {
			t.Errorf("page %d of size %d: rows, pageSize, totalPage, totalCount, currPage = %v, want %v", tt.page, tt.size, got, want)
		}
	}
	a := send(t, g, "GET", "/search/list/order?startDate=2024-01-01&endingDate=2024-01-05", nil)
	if len(a.rows()) != 10 || count(t, a, "pageSize") != 10 {
		t.Errorf("without a page size: %d rows", len(a.rows()))
	}
}

// TestFilters finds seeded and new rows by each id.
func TestFilters(t *testing.T) {
	g := New(Options{})
	g.Seed(100, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	paid := send(t, g, "POST", "/api/subscription", body("mine", nil))
	refundID, err := g.Refund(paid.str("uniqueId"), "1.00", "my refund")
	if err != nil {
		t.Fatal(err)
	}
	seeded := g.ledger.seeded.Orders[0].Order(40)
	seededRefund := g.ledger.seeded.Refunds[0].Refund(4)
	tests := []struct{ list, filter, member, want string }{
		{"order", "transactionId=mine", "uniqueId", paid.str("uniqueId")},
		{"order", "orderId=order-mine", "uniqueId", paid.str("uniqueId")},
		{"order", "uniqueId=" + paid.str("uniqueId"), "transactionId", "mine"},
		{"order", "uniqueId=" + paid.str("uniqueId") + "&transactionId=other", "transactionId", ""},
		{"order", "transactionId=mine&orderId=other", "uniqueId", ""},
		{"order", "transactionId=" + seeded.TransactionID, "uniqueId", seeded.UniqueID},
		{"order", "orderId=" + seeded.OrderID, "uniqueId", seeded.UniqueID},
		{"order", "uniqueId=" + seeded.UniqueID, "transactionId", seeded.TransactionID},
		{"order", "transactionId=nobody", "uniqueId", ""},
		{"refund", "uniqueId=" + paid.str("uniqueId"), "merchantRefundId", "my refund"},
		{"refund", "transactionId=mine", "merchantRefundId", "my refund"},
		{"refund", "refundTransactionId=my+refund", "refundUniqueId", refundID},
		{"refund", "refundUniqueId=" + refundID, "merchantRefundId", "my refund"},
		{"refund", "refundUniqueId=" + seededRefund.RefundUniqueID, "uniqueId", seeded.UniqueID},
		{"refund", "uniqueId=" + seeded.UniqueID, "refundUniqueId", seededRefund.RefundUniqueID},
		{"refund", "transactionId=" + seeded.TransactionID, "refundUniqueId", seededRefund.RefundUniqueID},
		{"refund", "uniqueId=" + generated.ID("16", 0, 41), "refundUniqueId", ""},
	}
	for _, tt := range tests {
		t.Run(tt.list+" by "+tt.filter, func(t *testing.T) {
			a := send(t, g, "GET", "/search/list/"+tt.list+thisMonth()+"&"+tt.filter, nil)
			got := strings.Join(a.texts(tt.member), " ")
			if got != tt.want {
				t.Errorf("%s = %q, want %q", tt.member, got, tt.want)
			}
		})
	}
}

// TestPagesAgainstModel pages through every combination of bounds, order and zone, over a clock change in both directions,
// and compares with a simple sorted list.
func TestPagesAgainstModel(t *testing.T) {
	for _, zone := range []string{"UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Skipf("no time zone data: %v", err)
		}
		for _, around := range []time.Time{
			time.Date(2024, 3, 10, 6, 0, 0, 0, time.UTC), time.Date(2024, 11, 3, 5, 0, 0, 0, time.UTC),
			time.Date(2024, 4, 6, 15, 0, 0, 0, time.UTC), time.Date(2024, 10, 5, 15, 0, 0, 0, time.UTC),
		} {
			from, to := around.Add(-3*time.Hour), around.Add(3*time.Hour)
			for bits := range 16 {
				b := Search{
					StartExclusive: bits&1 != 0, EndExclusive: bits&2 != 0, OldestFirst: bits&4 != 0, UnstableTies: bits&8 != 0,
				}
				g := New(Options{Location: loc, Search: b})
				g.SeedOrders(SeedOptions{N: 60, From: from, To: to, Random: true, Seed: 1, RefundEvery: -1})
				g.SeedOrders(SeedOptions{N: 20, From: around, To: around.Add(2 * time.Second), RefundEvery: -1})
				checkPages(t, g, loc, from.Add(time.Hour), to.Add(-time.Hour))
			}
		}
	}
}

func checkPages(t *testing.T, g *Gateway, loc *time.Location, from, to time.Time) {
	t.Helper()
	start, end := from.In(loc).Format(time.DateTime), to.In(loc).Format(time.DateTime)
	want := map[string]string{} // uniqueId to wall time
	for _, book := range g.ledger.seeded.Orders {
		for i := range book.Len() {
			at := book.At(i).In(loc).Format(time.DateTime)
			b := g.opts.Search
			if at > start && at < end || at == start && !b.StartExclusive && (start != end || !b.EndExclusive) || at == end && !b.EndExclusive {
				want[book.UniqueID(i)] = at
			}
		}
	}
	var walls, ids []string
	for page := 1; ; page++ {
		a := send(t, g, "GET", "/search/list/order"+rangeQuery(from, to, loc, page, 17), nil)
		if start > end { // a clock change can turn a range around
			wantCode(t, a, 500)
			return
		}
		if got := count(t, a, "totalCount"); got != len(want) {
			t.Fatalf("%v %+v: totalCount = %d, want %d", loc, g.opts.Search, got, len(want))
		}
		if len(a.rows()) == 0 {
			break
		}
		ids = append(ids, a.texts("uniqueId")...)
		walls = append(walls, a.texts("transactionAt")...)
	}
	sorted := slices.Clone(walls)
	slices.Sort(sorted)
	if !g.opts.Search.OldestFirst {
		slices.Reverse(sorted)
	}
	if !slices.Equal(walls, sorted) {
		t.Errorf("%v %+v: rows out of order: %v", loc, g.opts.Search, walls)
	}
	if len(ids) != len(want) {
		t.Errorf("%v %+v: %d rows on the pages, want %d", loc, g.opts.Search, len(ids), len(want))
	}
	if got := slices.Compact(slices.Sorted(slices.Values(ids))); !g.opts.Search.UnstableTies &&
		!slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("%v %+v: rows are missing or repeated", loc, g.opts.Search)
	}
}

func TestUnstableTies(t *testing.T) {
	g := New(Options{Search: Search{UnstableTies: true}})
	g.SeedOrders(SeedOptions{N: 100, From: january, To: january.Add(time.Second), RefundEvery: -1})
	path := "/search/list/order" + rangeQuery(january, january.Add(time.Minute), g.opts.Location, 1, 100)
	first, second := send(t, g, "GET", path, nil).texts("uniqueId"), send(t, g, "GET", path, nil).texts("uniqueId")
	if slices.Equal(first, second) {
		t.Error("two requests gave the rows of one second in the same order")
	}
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, second) || len(slices.Compact(first)) != 100 {
		t.Error("a page is not a permutation of the rows")
	}
}

// TestLag: a row is hidden until its lag has passed, and then found by all queries.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lag = time.Hour
		g := New(Options{Search: Search{Lag: lag}})
		start := time.Now()
		g.SeedOrders(SeedOptions{N: 600, From: start, To: start.Add(10 * time.Minute), RefundEvery: -1})
		query := "/search/list/order" + rangeQuery(start.Add(-time.Hour), start.Add(3*time.Hour), g.opts.Location, 1, 999)
		time.Sleep(10 * time.Minute)
		early := len(send(t, g, "GET", query, nil).rows())
		if early == 0 || early > 300 {
			t.Errorf("after ten minutes %d of 600 rows are visible, want some", early)
		}
		time.Sleep(lag)
		if got := len(send(t, g, "GET", query, nil).rows()); got != 600 {
			t.Errorf("after the lag %d of 600 rows are visible", got)
		}
	})
}

// TestBookFillsUp: rows in the future are not found yet.
func TestBookFillsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		start := time.Now()
		g.Seed(3600, start, start.Add(time.Hour))
		query := "/search/list/order" + rangeQuery(start, start.Add(2*time.Hour), g.opts.Location, 1, 1)
		for _, want := range []int{1, 1801, 3600} {
			if got := count(t, send(t, g, "GET", query, nil), "totalCount"); got != want {
				t.Errorf("after %v: %d rows, want %d", time.Since(start), got, want)
			}
			time.Sleep(30 * time.Minute)
		}
	})
}

func TestMisbehavingSearches(t *testing.T) {
	newGateway := func(b Search) *Gateway {
		g := New(Options{Search: b, MaxPageSize: 100})
		g.Seed(1000, january, january.AddDate(0, 0, 10))
		return g
	}
	get := func(t *testing.T, g *Gateway, page int, more string) answer {
		q := rangeQuery(january.AddDate(0, 0, 5), january.AddDate(0, 0, 9), g.opts.Location, page, 100)
		return send(t, g, "GET", "/search/list/order"+q+more, nil)
	}
	t.Run("short, empty, repeated", func(t *testing.T) {
		g := newGateway(Search{ShortEvery: 2, EmptyEvery: 3, RepeatEvery: 5})
		first := get(t, g, 1, "")
		if a, b := len(get(t, g, 1, "").rows()), len(get(t, g, 1, "").rows()); a != 50 || b != 0 {
			t.Errorf("%d and %d rows, want 50 and none", a, b)
		}
		get(t, g, 1, "")
		if got := get(t, g, 2, ""); !slices.Equal(got.texts("uniqueId"), first.texts("uniqueId")) {
			t.Error("the page before was not repeated")
		}
	})
	t.Run("busy", func(t *testing.T) {
		a := get(t, newGateway(Search{BusyEvery: 1, BusyRetryAfter: 7 * time.Second}), 1, "")
		if a.status != 429 || a.header.Get("Retry-After") != "7" {
			t.Errorf("HTTP %d, Retry-After %q, want 429 and 7", a.status, a.header.Get("Retry-After"))
		}
	})
	t.Run("outside", func(t *testing.T) {
		if got := len(get(t, newGateway(Search{OutsideEvery: 1}), 1, "").rows()); got != 101 {
			t.Errorf("%d rows, want 101", got)
		}
	})
	t.Run("arriving", func(t *testing.T) {
		g := newGateway(Search{Arrive: 3})
		rows := send(t, g, "GET", "/search/list/order"+thisMonth(), nil).rows()
		ids := slices.Collect(g.OrderIDs(time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
		if len(rows) != 3 || len(ids) != 3 {
			t.Errorf("OrderIDs gives %d, the search %d, want 3", len(ids), len(rows))
		}
	})
	t.Run("arriving refunds", func(t *testing.T) {
		g := newGateway(Search{Arrive: 3})
		a := send(t, g, "GET", "/search/list/refund"+thisMonth(), nil)
		if got := len(slices.Compact(slices.Sorted(slices.Values(a.texts("refundUniqueId"))))); got != 3 {
			t.Errorf("%d refunds, want 3: %s", got, a.text)
		}
	})
	t.Run("refused size and range", func(t *testing.T) {
		g := New(Options{MaxPageSize: 50, Search: Search{RefuseLargePages: true, MaxRange: time.Hour}})
		for _, problem := range []string{"pageSize", "one month"} {
			size := map[string]int{"pageSize": 51, "one month": 50}[problem]
			a := send(t, g, "GET", "/search/list/order"+rangeQuery(january, january.Add(2*time.Hour), time.UTC, 1, size), nil)
			if a.code() != 500 || !strings.Contains(a.text, problem) {
				t.Errorf("answer %s, want one about %s", a.text, problem)
			}
		}
	})
}

// TestSearchLatency: each query takes that long, also one that fails, and sees what has happened meanwhile. Payments do not wait.
func TestSearchLatency(t *testing.T) {
	today := rangeQuery(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC), time.UTC, 1, 10)
	tests := []struct {
		name, method, path string
		body               any
		fault              *Fault
		want               time.Duration
	}{
		{name: "list of orders", method: "GET", path: "/search/list/order" + today, want: time.Second},
		{name: "list of refunds", method: "GET", path: "/search/list/refund" + today, want: time.Second},
		{name: "single query", method: "GET", path: "/search/order/1", want: time.Second},
		{name: "query with a fault", method: "GET", path: "/search/order/1", fault: &Fault{Before: time.Second}, want: 2 * time.Second},
		{name: "payment", method: "POST", path: "/api/subscription", body: body("p", nil)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := New(Options{Search: Search{Latency: time.Second}})
				if tt.fault != nil {
					g.Inject(*tt.fault)
				}
				start := time.Now()
				send(t, g, tt.method, tt.path, tt.body)
				if got := time.Since(start); got != tt.want {
					t.Errorf("took %s, want %s", got, tt.want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Search: Search{Latency: time.Second}})
		time.AfterFunc(time.Second/2, func() { send(t, g, "POST", "/api/subscription", body("meanwhile", nil)) })
		if a := send(t, g, "GET", "/search/list/order"+today, nil); count(t, a, "totalCount") != 1 {
			t.Errorf("a payment that was made while the search took its time is not found: %s", a.text)
		}
	})
}

// TestLeakedSeed: the rows of other transactions are neither the one that is looked for, nor from the future.
func TestLeakedSeed(t *testing.T) {
	g := New(Options{Search: Search{LeakRows: 3}})
	now := time.Now()
	g.Seed(5, now.Add(time.Hour), now.Add(2*time.Hour))
	g.Seed(5, now.Add(-time.Hour), now)
	newest := g.ledger.seeded.Orders[1].Order(4)
	query := rangeQuery(now.Add(-2*time.Hour), now, g.opts.Location, 1, 10) + "&transactionId=" + newest.TransactionID
	got := send(t, g, "GET", "/search/list/order"+query, nil).texts("transactionId")
	want := []string{"book-transaction-1-3", "book-transaction-1-2", "book-transaction-1-1", newest.TransactionID}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
