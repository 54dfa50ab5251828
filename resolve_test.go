package cardgateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"io"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Resolve in virtual time, against gateways whose clock is in any zone, whose filter lets other orders through, whose
// responses come late, and whose records contradict each other: every row of what it promises.

// record is one order as the gateway has it.
type record struct {
	id, uniqueID string
	code         cardgateway.Code
	more         string        // members that replace the usual ones
	visible      time.Duration // after the test's begin
}

// archive is a gateway's search.
type archive struct {
	zone     *time.Location
	records  []record
	leaky    bool // the filter by transactionId does not work
	pageSize int
	total    int // announced; zero: as many as there are
	failing  func(since time.Duration) bool
	moving   bool // a new foreign row comes first with each page that is asked for

	begun time.Time
	asked []time.Duration
}

func (l *archive) response(r *http.Request) (*http.Response, error) {
	since := time.Since(l.begun)
	l.asked = append(l.asked, since)
	if l.failing != nil && l.failing(since) {
		return clienttest.Respond(r, 503, "")
	}
	q := r.URL.Query()
	sentAt := l.begun.In(l.zone).Format(time.DateTime) // each record is as old as the payment
	if sentAt < q.Get("startDate") || sentAt > q.Get("endingDate") {
		return clienttest.Respond(r, 200, `{"code":121,"totalCount":0,"data":[]}`)
	}
	if l.moving {
		l.records = slices.Insert(l.records, 0, record{id: "new", uniqueID: strconv.Itoa(1_000_000 + len(l.asked)), code: 100})
	}
	var found []record
	for _, rec := range l.records {
		if since >= rec.visible && (l.leaky || rec.id == q.Get("transactionId")) {
			found = append(found, rec)
		}
	}
	page, size, total := max(number(q, "currPage"), 1), l.pageSize, l.total
	if size == 0 {
		size = 10
	}
	if total == 0 {
		total = len(found)
	}
	var shown []string
	for _, rec := range found[min((page-1)*size, len(found)):min(page*size, len(found))] {
		if rec.more == "" {
			rec.more = `,"transactionAmount":"12.50","transactionCurrency":"USD"`
		}
		shown = append(shown, fmt.Sprintf(`{"transactionId":%q,"uniqueId":%q,"code":%d,"transactionAt":%q%s}`,
			rec.id, rec.uniqueID, rec.code, sentAt, rec.more))
	}
	return clienttest.Respond(
		r, 200, fmt.Sprintf(`{"code":121,"currPage":%d,"pageSize":%d,"totalCount":%d,"data":[%s]}`, page, size, total, strings.Join(shown, ",")),
	)
}

// foreign are n orders that are not ours.
func foreign(n int) (records []record) {
	for i := range n {
		records = append(records, record{id: fmt.Sprintf("other-%d", i), uniqueID: strconv.Itoa(5000 + i), code: 100})
	}
	return records
}

const second, minute = time.Second, time.Minute

func TestResolve(t *testing.T) {
	ours := func(code cardgateway.Code, unique string) record {
		return record{id: "t-1", uniqueID: unique, code: code}
	}
	from := func(r record, visible time.Duration) record { r.visible = visible; return r }
	with := func(r record, more string) record { r.more = more; return r }
	always := func(time.Duration) bool { return true }
	tests := []struct {
		name        string
		archive     archive
		want        string
		least, most time.Duration
	}{
		{"approved", archive{records: []record{ours(100, "1")}}, "paid", 0, 0},
		{"approved on the third page of moving pages", archive{leaky: true, moving: true, records: append(foreign(25), ours(100, "1"))}, "paid", 0, 0},
		{"approved just before the end", archive{records: []record{from(ours(100, "1"), 2*minute)}}, "paid", 2 * minute, 2 * minute},
		{"approved after the end", archive{records: []record{from(ours(100, "1"), 2*minute+1)}}, "not found", 2 * minute, 2 * minute},
		{"declined", archive{records: []record{ours(101, "1")}}, "declined", 0, 0},
		{"closed", archive{records: []record{ours(103, "1")}}, "declined", 0, 0},
		{
			"redirect",
			archive{records: []record{with(ours(301, "1"), `,"transactionAmount":"12.5","transactionCurrency":"USD","redirectUrl":"https://pay.example"`)}},
			"redirect", 0, 0,
		},
		{"processing to the end", archive{records: []record{ours(102, "1")}}, "processing", 2 * minute, 2 * minute},
		{"approved twice", archive{records: []record{ours(100, "1"), ours(100, "2")}}, "conflict", 0, 0},
		{
			"a row without an id on every page",
			archive{leaky: true, pageSize: 2, total: 10, records: slices.Repeat([]record{ours(100, ""), foreign(1)[0]}, 5)}, "paid", 0, 0,
		},
		{"two rows without ids", archive{records: []record{ours(100, ""), ours(100, "")}}, "conflict", 0, 0},
		{"never there", archive{}, "not found", 2 * minute, 2 * minute},
		{"id in capitals", archive{leaky: true, records: []record{{id: "T-1", uniqueID: "1", code: 100}}}, "unknown", 2 * minute, 2 * minute},
		{"cannot be asked", archive{records: []record{ours(100, "1")}, failing: always}, "unknown", 2 * minute, 3 * minute},
	}
	for _, tt := range tests {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			l := tt.archive
			l.zone, l.begun = time.UTC, time.Now()
			tx, err := l.client(t).Resolve(t.Context(), l.query())
			took := time.Since(l.begun)
			if got := clienttest.Outcome(tx, err); got != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
			if took < tt.least || took > tt.most {
				t.Errorf("took %v, want %v to %v", took, tt.least, tt.most)
			}
			clienttest.CheckOneSentinel(t, err)
			if cardgateway.SafeToRetry(err) {
				t.Errorf("SafeToRetry(%v) is true", err)
			}
			if conflict, ok := errors.AsType[*cardgateway.ConflictError](err); ok && (conflict.TransactionID != "t-1" || len(conflict.Transactions) != 2) {
				t.Errorf("got %+v", conflict)
			}
			if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok {
				if unknown.Op != "Resolve" {
					t.Errorf("got operation %q", unknown.Op)
				}
				want := l.query()
				want.Seen = unknown.Seen // see TestResolveSeen
				if diff := cmp.Diff(want, unknown.Query()); diff != "" {
					t.Errorf("what is asked again (-want +got):\n%s", diff)
				}
			}
		})
	}
	t.Logf("%d gateways", len(tests))
}

func (l *archive) client(t *testing.T) *cardgateway.Client {
	return clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(l.response)}})
}

func (l *archive) query() cardgateway.ResolveQuery {
	return cardgateway.ResolveQuery{TransactionID: "t-1", OrderID: "o-1", Amount: clienttest.Amount, Currency: "USD", SentAt: l.begun}
}

// TestResolveInEveryZone: the queried range contains the payment, whatever the time zone of the gateway's clock and
// whenever the query is made. Together with the error of both clocks, its texts may be 13 hours behind UTC, and 15 ahead; those further behind
// are not found, and those further ahead later.
func TestResolveInEveryZone(t *testing.T) {
	zones := 0
	for hours := -14; hours <= 16; hours++ {
		zones++
		for _, later := range []time.Duration{0, time.Hour, 20 * time.Hour, 29 * 24 * time.Hour, 400 * 24 * time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				l := archive{zone: time.FixedZone("", hours*3600), begun: time.Now(), records: []record{{id: "t-1", uniqueID: "1", code: 100}}}
				time.Sleep(later)
				found := hours >= -13 && (hours <= 15 || later > 0)
				if tx, err := l.client(t).Resolve(t.Context(), l.query()); found && (err != nil || !tx.Paid()) || !found && !errors.Is(err, cardgateway.ErrNotFound) {
					t.Errorf("UTC%+d, asked %v later: got %v", hours, later, err)
				}
			})
		}
	}
	t.Logf("%d zones", zones)
}

// TestResolveWithWrongClock: if this machine's clock is hours from the gateway's, the search may not reach the payment, and nothing is absent.
func TestResolveWithWrongClock(t *testing.T) {
	for apart, want := range map[time.Duration]string{0: "not found", 59 * time.Minute: "not found", 61 * time.Minute: "unknown", -72 * time.Hour: "unknown"} {
		synctest.Test(t, func(t *testing.T) {
			l := archive{zone: time.UTC, begun: time.Now()}
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{
				Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					resp, err := l.response(r)
					resp.Header.Set("Date", time.Now().Add(apart).UTC().Format(http.TimeFormat))
					return resp, err
				}),
			}})
			tx, err := c.Resolve(t.Context(), l.query())
			if got := clienttest.Outcome(tx, err); got != want {
				t.Errorf("%v apart: got %q (%v), want %q", apart, got, err, want)
			}
		})
	}
}

// TestResolveIsBounded: if the gateway ignores the filter, a long range costs no more.
func TestResolveIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := archive{zone: time.UTC, begun: time.Now(), leaky: true, records: foreign(6000)}
		q := l.query()
		q.SentAt, q.Wait = l.begun.AddDate(0, -20, 0), 1
		if _, err := l.client(t).Resolve(t.Context(), q); !errors.Is(err, cardgateway.ErrOutcomeUnknown) || len(l.asked) > 2*(resolve.MaxPages+24) {
			t.Errorf("got %v after %d queries", err, len(l.asked))
		}
	})
}

// TestResolveSentAgain: after several submissions, no decline is final. A success is.
func TestResolveSentAgain(t *testing.T) {
	row := func(code cardgateway.Code, unique string) record {
		return record{id: "t-1", uniqueID: unique, code: code}
	}
	for _, tt := range []struct {
		name    string
		records []record
		hosted  bool
		want    string
	}{
		{"declined", []record{row(101, "1")}, false, "unknown"},
		{"declined twice", []record{row(101, "1"), row(101, "2")}, false, "unknown"},
		{"closed on the hosted page", []record{row(103, "1")}, true, "unknown"},
		{"approved and declined", []record{row(100, "1"), row(101, "2")}, false, "paid"},
		{"never there", nil, false, "not found"},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			l := archive{zone: time.UTC, begun: time.Now(), records: tt.records}
			q := l.query()
			q.SentAgain, q.HostedPage = true, tt.hosted
			tx, err := l.client(t).Resolve(t.Context(), q)
			if got := clienttest.Outcome(tx, err); got != tt.want {
				t.Fatalf("got %q (%v), want %q", got, err, tt.want)
			}
			if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok && (!errors.Is(err, resolve.ErrRepeated) || !unknown.SentAgain ||
				unknown.Transaction == nil) {
				t.Errorf("got %+v, want ErrRepeated with the declined row", unknown)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		declined := slices.Repeat(pages{clienttest.Page(clienttest.RefundRow(112, "9", ""))}, 100)
		r, err := resolver(t, &declined).ResolveRefund(t.Context(), cardgateway.ResolveRefundQuery{
			UniqueID: "77", RefundTransactionID: "r-1", Amount: decimal.RequireFromString("12.50"), SentAt: time.Now(), SentAgain: true,
		})
		if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); !ok || !errors.Is(err, resolve.ErrRepeated) || !unknown.SentAgain {
			t.Errorf("a refund: got %v, %v, want an unknown outcome, sent again", r, err)
		}
	})
}

// TestResolveEndsWithContext: at once, and with an outcome that is still unknown.
func TestResolveEndsWithContext(t *testing.T) {
	for name, l := range map[string]archive{
		"absent": {}, "processing": {records: []record{{id: "t-1", uniqueID: "1", code: 102}}}, "failing": {failing: func(time.Duration) bool { return true }},
	} {
		clienttest.RunVirtual(t, name, func(t *testing.T) {
			l.zone, l.begun = time.UTC, time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			tx, err := l.client(t).Resolve(ctx, l.query())
			if took := time.Since(l.begun); took > 10*time.Second || clienttest.Outcome(tx, err) != "unknown" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v after %v", name, err, took)
			}
			clienttest.CheckOneSentinel(t, err)
		})
	}
}

// TestResolveEndedShowsNothing: what was found before the context ended is masked as in any error.
func TestResolveEndedShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := archive{zone: time.UTC, begun: time.Now(), records: []record{{id: "t-1", uniqueID: "1", code: 102, more: `,
			"transactionAmount":"12.50","transactionCurrency":"USD","pan":"` + clienttest.CardNumber + `",
			"redirectUrl":"https://pay.example/?n=` + clienttest.CardNumber + `"`}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := l.client(t).Resolve(ctx, l.query())
		unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
		if !ok || unknown.Transaction == nil {
			t.Fatalf("got %v", err)
		}
		if text := clienttest.DeepPrint(err, false) + string(unknown.Transaction.Extra["pan"]); strings.Contains(text, clienttest.CardNumber) {
			t.Errorf("shows the card: %s", text)
		}
	})
}

func TestResolveRefuses(t *testing.T) {
	c := clienttest.NewClient(t,
		cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(*http.Request) (*http.Response, error) {
			t.Error("the gateway was asked")
			return nil, clienttest.ErrReset
		})}})
	good := cardgateway.ResolveQuery{TransactionID: "t", Amount: clienttest.Amount, Currency: "USD", SentAt: time.Unix(1, 0)}
	for _, tt := range []struct {
		name, want string
		change     func(*cardgateway.ResolveQuery)
	}{
		{
			"nothing", "transactionId required, amount required, currency required, SentAt required",
			func(q *cardgateway.ResolveQuery) { *q = cardgateway.ResolveQuery{} },
		},
		{"amount and currency that no payment has", "amount format, currency format", func(q *cardgateway.ResolveQuery) {
			q.Amount, q.Currency = decimal.RequireFromString("1.0001"), "usd"
		}},
		{"no SentAt", "SentAt required", func(q *cardgateway.ResolveQuery) { q.SentAt = time.Time{} }},
		{"long id", "transactionId length", func(q *cardgateway.ResolveQuery) { q.TransactionID = strings.Repeat("x", 129) }},
		{"SentAt in no year", "SentAt range", func(q *cardgateway.ResolveQuery) { q.SentAt = time.Time{}.Add(1) }},
		{"SentAt to come", "SentAt range", func(q *cardgateway.ResolveQuery) { q.SentAt = time.Now().AddDate(0, 0, 2) }},
		{"negative Wait", "Wait range", func(q *cardgateway.ResolveQuery) { q.Wait = -1 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := good
			tt.change(&q)
			_, err := c.Resolve(t.Context(), q)
			if got := strings.Join(clienttest.Problems(err), ", "); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		})
	}
}

// TestQueryOfUnknownOutcome: the query that resolves an outcome has everything that the error knows.
func TestQueryOfUnknownOutcome(t *testing.T) {
	at := time.Now()
	unknown := cardgateway.OutcomeUnknownError{
		TransactionID: "t-1", OrderID: "o-1", Amount: clienttest.Amount, Currency: "USD", SentAt: at, HostedPage: true, Seen: true,
		SentAgain: true, SubscriptionCycle: cardgateway.CycleWeek,
	}
	payment := cardgateway.ResolveQuery{
		TransactionID: "t-1", OrderID: "o-1", Amount: clienttest.Amount, Currency: "USD", SentAt: at, HostedPage: true, Seen: true,
		SentAgain: true, SubscriptionCycle: cardgateway.CycleWeek,
	}
	if diff := cmp.Diff(payment, unknown.Query()); diff != "" {
		t.Errorf("payment (-want +got):\n%s", diff)
	}
	refund := cardgateway.ResolveRefundQuery{
		UniqueID: "77", RefundTransactionID: "r-1", Amount: clienttest.Amount, SentAt: at, Seen: true, SentAgain: true,
	}
	refunded := cardgateway.RefundUnknownError{
		UniqueID: "77", RefundTransactionID: "r-1", Amount: clienttest.Amount, SentAt: at, Seen: true, SentAgain: true,
	}
	if diff := cmp.Diff(refund, refunded.Query()); diff != "" {
		t.Errorf("refund (-want +got):\n%s", diff)
	}
}

// What Resolve concludes from rows that were returned once and never again, and from approved and declined rows
// together.

// pages is a gateway's search that returns one page after another, and then only empty ones.
type pages []string

func (p *pages) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"code":121,"totalCount":0,"data":[]}`
	if len(*p) > 0 {
		body, *p = (*p)[0], (*p)[1:]
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func resolver(t *testing.T, search http.RoundTripper) *cardgateway.Client {
	t.Helper()
	return clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, AppID: "111", HTTPClient: &http.Client{Transport: search}})
}

func paymentSentNow() cardgateway.ResolveQuery {
	return cardgateway.ResolveQuery{
		TransactionID: "t-1", Amount: decimal.RequireFromString("12.50"), Currency: "USD", SentAt: time.Now(), Wait: 20 * time.Second,
	}
}

// TestResolveSeen: what was returned once with the transactionId, in any form, is not absent afterwards.
func TestResolveSeen(t *testing.T) {
	for _, tt := range []struct {
		name string
		page string
		seen bool
	}{
		{"nothing", clienttest.Page(), false},
		{"no amount", clienttest.Page(`{"transactionId":"t-1","uniqueId":"1","code":100,"transactionCurrency":"USD"}`), true},
		{"another amount", clienttest.Page(strings.Replace(clienttest.OrderRow(100, "1", ""), "12.50", "12.51", 1)), true},
		{"another currency", clienttest.Page(strings.Replace(clienttest.OrderRow(100, "1", ""), "USD", "EUR", 1)), true},
		{"currency in small letters", clienttest.Page(strings.Replace(clienttest.OrderRow(100, "1", ""), "USD", "usd", 1)), true},
		{"no currency", clienttest.Page(strings.Replace(clienttest.OrderRow(100, "1", ""), `,"transactionCurrency":"USD"`, "", 1)), true},
		{"an unlisted code", clienttest.Page(clienttest.OrderRow(777, "1", "")), true},
		{"a refund's code", clienttest.Page(clienttest.OrderRow(111, "1", "")), true},
		{"no code", clienttest.Page(strings.Replace(clienttest.OrderRow(100, "1", ""), `"code":100,`, "", 1)), true},
		{"a row that cannot be read", clienttest.Page(strings.Replace(clienttest.OrderRow(100, "1", ""), `"12.50"`, `"1e99"`, 1)), true},
		{"a row that is no object", clienttest.Page("17"), true},
		{"a row announced and not given", `{"code":121,"totalCount":1,"data":[]}`, true},
		{"processing", clienttest.Page(clienttest.OrderRow(102, "1", "")), true},
		{"two declines of a direct payment", clienttest.Page(clienttest.OrderRow(101, "1", ""), clienttest.OrderRow(101, "2", "")), true},
		{"a row with two codes", clienttest.Page(clienttest.OrderRow(100, "1", ""), clienttest.OrderRow(101, "1", "")), true},
		{"another app's row", clienttest.Page(clienttest.OrderRow(100, "1", `,"appId":222`)), false},
		{"another transaction's row", clienttest.Page(strings.Replace(clienttest.OrderRow(100, "1", ""), "t-1", "t-2", 1)), false},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			c := resolver(t, &pages{tt.page})
			tx, err := c.Resolve(t.Context(), paymentSentNow())
			if !tt.seen {
				if !errors.Is(err, cardgateway.ErrNotFound) {
					t.Errorf("got %v, %v, want ErrNotFound", tx, err)
				}
				return
			}
			unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
			if !ok || !unknown.Seen || errors.Is(err, cardgateway.ErrNotFound) {
				t.Fatalf("got %v, %v, want an unknown outcome that was seen", tx, err)
			}
			if _, err := c.Resolve(t.Context(), unknown.Query()); !errors.Is(err, cardgateway.ErrOutcomeUnknown) || errors.Is(err, cardgateway.ErrNotFound) {
				t.Errorf("resolved again, nothing found: got %v, want an unknown outcome", err)
			}
		})
	}
}

// TestResolveHostedDecline: on the hosted page a decline is an attempt until the page can no longer be used.
func TestResolveHostedDecline(t *testing.T) {
	declined, approved := clienttest.OrderRow(101, "1", `,"transactionAt":"2026-05-04 03:02:01"`), clienttest.OrderRow(100, "2", "")
	for _, tt := range []struct {
		name  string
		pages pages
		sent  time.Duration // ago
		want  string
	}{
		{"declined to the end of Wait", slices.Repeat(pages{clienttest.Page(declined)}, 100), 0, "unknown"},
		{"declined, then approved", pages{clienttest.Page(declined), clienttest.Page(declined, approved)}, 0, "paid"},
		{"declined, then closed", pages{clienttest.Page(declined), clienttest.Page(declined, clienttest.OrderRow(103, "1", ""))}, 0, "unknown"}, // one id, two codes
		{"declined, then another attempt closed", pages{clienttest.Page(declined), clienttest.Page(declined, clienttest.OrderRow(103, "3", ""))}, 0, "declined"},
		{"declined a day ago", slices.Repeat(pages{clienttest.Page(declined)}, 100), 24*time.Hour + time.Second, "declined"},
		{"declined not quite a day ago", slices.Repeat(pages{clienttest.Page(declined)}, 100), 24*time.Hour - time.Minute, "unknown"},
		{"two declines a day ago", slices.Repeat(pages{clienttest.Page(declined, clienttest.OrderRow(101, "2", ""))}, 100), 24*time.Hour + time.Second, "declined"},
		{
			"declined a day ago, and processing", slices.Repeat(pages{clienttest.Page(declined, clienttest.OrderRow(102, "2", ""))}, 100),
			24*time.Hour + time.Second, "processing",
		},
		{"declined just now, and processing", slices.Repeat(pages{clienttest.Page(declined, clienttest.OrderRow(102, "2", ""))}, 100), 0, "processing"},
		{"declined, and waiting for the cardholder", pages{clienttest.Page(declined, clienttest.OrderRow(301, "2", ""))}, 0, "redirect"},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			q := paymentSentNow()
			q.HostedPage, q.SentAt = true, q.SentAt.Add(-tt.sent)
			tx, err := resolver(t, &tt.pages).Resolve(t.Context(), q)
			if got := clienttest.Outcome(tx, err); got != tt.want {
				t.Fatalf("got %q (%v), want %q", got, err, tt.want)
			}
			if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok && (!unknown.HostedPage || !unknown.Seen || unknown.Transaction == nil) {
				t.Errorf("got %+v, want what was seen of a hosted payment", unknown)
			}
		})
	}
}

// TestResolveLatestDecline: the last of several declined attempts is returned.
func TestResolveLatestDecline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		search := pages{clienttest.Page(
			clienttest.OrderRow(101, "1", `,"transactionAt":"2026-05-04 03:02:01"`), clienttest.OrderRow(103, "2", `,"transactionAt":"2026-05-04 03:02:03"`),
			clienttest.OrderRow(101, "3", `,"transactionAt":"2026-05-04 03:02:02"`),
		)}
		q := paymentSentNow()
		q.HostedPage = true
		if tx, err := resolver(t, &search).Resolve(t.Context(), q); !errors.Is(err, cardgateway.ErrDeclined) || tx.UniqueID != "2" {
			t.Errorf("got %+v, %v, want the decline with uniqueId 2", tx, err)
		}
	})
}
