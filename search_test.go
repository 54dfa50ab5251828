package cardgateway_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"net"
	"testing/synctest"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// Searches: the parameters that are sent, what of a page is taken, and what is observed.

// TestSearchObserved: the observer of a search receives what the caller receives.
func TestSearchObserved(t *testing.T) {
	const envelope = `"currPage":1,"pageSize":10,"totalCount":1,"totalPage":1,"data":`
	for _, tt := range []struct {
		name, response string
		code           cardgateway.Code
		rows           int // of the page, -1 without one
		err            error
	}{
		{"rows", `{"code":121,` + envelope + `[{"code":100,"uniqueId":"1"}]}`, cardgateway.CodeSearchSuccess, 1, nil},
		{
			"a row that cannot be read", `{"code":121,` + envelope + `[{"code":100,"transactionAmount":"x"}]}`, cardgateway.CodeSearchSuccess, 0,
			cardgateway.ErrQueryFailed,
		},
		{"refused", `{"code":122,"message":"no"}`, cardgateway.CodeSearchFailed, -1, cardgateway.ErrQueryFailed},
		{"unreadable", `[]`, 0, -1, cardgateway.ErrQueryFailed},
		{"no rows", `{"code":121,"totalCount":0}`, cardgateway.CodeSearchSuccess, 0, nil},
		{"neither a total nor rows", `{"code":121,"result":{"totalCount":1}}`, cardgateway.CodeSearchSuccess, -1, cardgateway.ErrQueryFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, tt.response)}}
			var info cardgateway.CallInfo
			c := s.Client(t,
				cardgateway.Config{Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
					Observe: func(ctx context.Context, _ cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
						return ctx, func(i cardgateway.CallInfo) { info = i }
					}})
			end := time.Now()
			page, err := c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: end.Add(-time.Hour), End: end}, cardgateway.PageRequest{})
			if info.Err != err || !errors.Is(err, tt.err) || info.Code != tt.code {
				t.Errorf("observed %v with code %v, returned %v, want %v and %v", info.Err, info.Code, err, tt.err, tt.code)
			}
			rows := -1
			if page != nil {
				rows = len(page.Data)
			}
			if rows != tt.rows {
				t.Errorf("got %d rows, want %d", rows, tt.rows)
			}
		})
	}
}

// TestRowErrors: the error of a row names its first essential member with a wrong format, and the other rows are
// returned.
func TestRowErrors(t *testing.T) {
	const rows = `{"code":100,"uniqueId":"1"},{"message":[],"uniqueId":"x","code":"y"},7,{"code":100,"transactionCurrency":{}},{"code":100,"uniqueId":"2"}`
	s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, `{"code":121,"totalCount":5,"data":[`+rows+`]}`)}}
	c := s.Client(t, cardgateway.Config{})
	page, err := c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: time.Unix(0, 0), End: time.Unix(1, 0)}, cardgateway.PageRequest{CurrPage: 3})
	if page == nil || len(page.Data) != 2 || page.Data[0].UniqueID != "1" || page.Data[1].UniqueID != "2" {
		t.Errorf("got the page %+v, want the rows 1 and 2", page)
	}
	failed, ok := errors.AsType[*cardgateway.QueryError](err)
	if !ok {
		t.Fatalf("got %v, want a QueryError", err)
	}
	const want = `page 3, row 2: uniqueId is not a number of at most 128 digits
page 3, row 3: data is not an object
page 3, row 4: transactionCurrency cannot be read`
	if diff := cmp.Diff(want, failed.Cause.Error()); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// TestRefundNames: the interface's name for the merchant's refund id takes precedence over the published one, unless its
// value is null.
func TestRefundNames(t *testing.T) {
	for _, tt := range []struct{ names, want string }{
		{`"merchantRefundId":"own","refundTransactionId":"other"`, "own"},
		{`"refundTransactionId":"other","merchantRefundId":"own"`, "own"},
		{`"merchantRefundId":"own","refundTransactionId":[1]`, "own"},
		{`"merchantRefundId":null,"refundTransactionId":"other"`, "other"},
		{`"refundTransactionId":"other"`, "other"},
	} {
		t.Run(tt.names, func(t *testing.T) {
			s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, `{"code":121,"totalCount":1,"data":[{"code":111,`+tt.names+`}]}`)}}
			end := time.Now()
			page, err := s.Client(t, cardgateway.Config{}).
				SearchRefunds(t.Context(), cardgateway.RefundQuery{Start: end.Add(-time.Hour), End: end}, cardgateway.PageRequest{})
			if err != nil || len(page.Data) != 1 || page.Data[0].MerchantRefundID != tt.want {
				t.Errorf("%s: got %+v, %v, want %q", tt.names, page, err, tt.want)
			}
		})
	}
}

// TestPagesOfOtherSizes: a page may have more rows than requested, but not more than the maximum page size.
func TestPagesOfOtherSizes(t *testing.T) {
	for _, tt := range []struct {
		given int
		ok    bool
	}{{0, true}, {10, true}, {50, true}, {999, true}, {1000, false}, {20_000, false}} {
		all := strings.TrimSuffix(strings.Repeat(`{"code":100},`, tt.given), ",")
		s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, fmt.Sprintf(`{"code":121,"totalCount":%d,"pageSize":%d,"data":[%s]}`, tt.given, tt.given, all))}}
		c := s.Client(t, cardgateway.Config{Retry: cardgateway.RetryPolicy{MaxAttempts: 1}})
		page, err := c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: time.Unix(0, 0), End: time.Unix(1, 0)}, cardgateway.PageRequest{PageSize: 10})
		switch {
		case !tt.ok:
			if err == nil || !strings.Contains(err.Error(), "more than 999 rows") {
				t.Errorf("%d rows: got %v", tt.given, err)
			}
		case err != nil || len(page.Data) != tt.given:
			t.Errorf("%d rows: got %v, %v", tt.given, page, err)
		}
	}
}

// TestSearchParameters: what a query sends is what the table lists, within its limits.
func TestSearchParameters(t *testing.T) {
	tab := readTable(t)
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, cardgateway.DefaultLocation())
	var sent url.Values
	c := clienttest.NewClient(t,
		cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			sent = r.URL.Query()
			return clienttest.Respond(r, 200, clienttest.Page())
		})}})
	orders := func(q cardgateway.OrderQuery, page cardgateway.PageRequest) error {
		_, err := c.SearchOrders(t.Context(), q, page)
		return err
	}
	second := cardgateway.PageRequest{CurrPage: 2, PageSize: 999}
	full := cardgateway.OrderQuery{UniqueID: "1", OrderID: "o", TransactionID: "t & t", Start: start, End: start.Add(time.Hour)}
	refunds := cardgateway.RefundQuery{
		UniqueID: "1", TransactionID: "t", RefundTransactionID: "r", RefundUniqueID: "u", Start: start, End: start.Add(time.Hour),
	}
	for _, op := range tab.Operations {
		var err error
		switch op.Name {
		case "SearchOrders":
			err = orders(full, second)
		case "SearchRefunds":
			_, err = c.SearchRefunds(t.Context(), refunds, cardgateway.PageRequest{CurrPage: 1, PageSize: 1})
		default:
			continue
		}
		var want []string
		for _, m := range op.Members {
			want = append(want, m.Name)
		}
		if diff := cmp.Diff(sortedCopy(want), slices.Sorted(maps.Keys(sent))); diff != "" || err != nil {
			t.Errorf("%s: %v (-table +sent):\n%s", op.Name, err, diff)
		}
	}
	if sent.Get("startDate") != "2026-01-31 12:00:00" || sent.Get("endingDate") != "2026-01-31 13:00:00" {
		t.Errorf("range: got %v", sent)
	}
	with := func(change func(*cardgateway.OrderQuery)) cardgateway.OrderQuery { q := full; change(&q); return q }
	for _, tt := range []struct {
		name, want string
		q          cardgateway.OrderQuery
	}{
		{"full", "", full},
		{"no range", "startDate required, endingDate required", cardgateway.OrderQuery{UniqueID: "1"}},
		{"no end", "endingDate required", with(func(q *cardgateway.OrderQuery) { q.End = time.Time{} })},
		{"end before start", "endingDate range", with(func(q *cardgateway.OrderQuery) { q.End = q.Start.Add(-time.Second) })},
		{"years of five digits", "startDate range, endingDate range", with(func(q *cardgateway.OrderQuery) {
			q.Start, q.End = q.Start.AddDate(8000, 0, 0), q.End.AddDate(8000, 0, 0)
		})},
		{"before the first year", "startDate range", with(func(q *cardgateway.OrderQuery) { q.Start = q.Start.AddDate(-3000, 0, 0) })},
		{"empty range", "", with(func(q *cardgateway.OrderQuery) { q.End = q.Start })},
		{"a month, to the last day", "", with(func(q *cardgateway.OrderQuery) {
			q.End = time.Date(2026, 2, 28, 12, 0, 0, 0, cardgateway.DefaultLocation())
		})},
		{"a month and a second", "endingDate range", with(func(q *cardgateway.OrderQuery) {
			q.End = time.Date(2026, 2, 28, 12, 0, 1, 0, cardgateway.DefaultLocation())
		})},
		{"a month and a nanosecond", "endingDate range", with(func(q *cardgateway.OrderQuery) {
			q.End = time.Date(2026, 2, 28, 12, 0, 0, 1, cardgateway.DefaultLocation())
		})},
		{"a month, with nanoseconds", "", cardgateway.OrderQuery{
			Start: time.Date(2026, 1, 15, 12, 0, 0, 5, cardgateway.DefaultLocation()), End: time.Date(2026, 2, 15, 12, 0, 0, 5, cardgateway.DefaultLocation()),
		}},
		{"id at the limit", "", with(func(q *cardgateway.OrderQuery) { q.OrderID = strings.Repeat("é", 128) })},
		{"ids over the limit", "uniqueId length, orderId length, transactionId length", with(func(q *cardgateway.OrderQuery) {
			q.UniqueID, q.OrderID, q.TransactionID = strings.Repeat("1", 129), strings.Repeat("é", 129), strings.Repeat("x", 129)
		})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(clienttest.Problems(orders(tt.q, second)), ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		name, want string
		page       cardgateway.PageRequest
	}{
		{"page size of four digits", "pageSize range", cardgateway.PageRequest{PageSize: 1000}},
		{"negative page and size", "currPage range, pageSize range", cardgateway.PageRequest{CurrPage: -1, PageSize: -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(clienttest.Problems(orders(full, tt.page)), ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for id, want := range map[string]string{
		"": "uniqueId required", "1": "", strings.Repeat("1", 128): "", strings.Repeat("1", 129): "uniqueId format",
		"..": "uniqueId format", "1/../2": "uniqueId format", "%2e%2e": "uniqueId format", "1 ": "uniqueId format", "١": "uniqueId format",
	} {
		t.Run(id, func(t *testing.T) {
			_, err := c.GetTransaction(t.Context(), id)
			if got := strings.Join(clienttest.Problems(err), ", "); got != want {
				t.Errorf("GetTransaction(%q): got %q, want %q", id, got, want)
			}
		})
	}
}

// TestSearchOverClockChange: a range in which clocks are set back covers every time that they show in it.
func TestSearchOverClockChange(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York") // clocks go from 02:00 EDT to 01:00 EST on 1 November 2026
	if err != nil {
		t.Fatal(err)
	}
	utc := func(hour, minute int) time.Time { return time.Date(2026, 11, 1, hour, minute, 0, 0, time.UTC) }
	for _, tt := range []struct {
		start, end time.Time
		want       string
	}{
		{utc(5, 50), utc(6, 10), "2026-11-01 01:00:00 to 2026-11-01 02:00:00"},
		{utc(4, 30), utc(6, 10), "2026-11-01 00:30:00 to 2026-11-01 02:00:00"},
		{utc(3, 30), utc(4, 10), "2026-10-31 23:30:00 to 2026-11-01 00:10:00"},
		{utc(6, 30), utc(6, 30).AddDate(0, 1, 0), "2026-11-01 01:30:00 to 2026-12-01 01:30:00"},
		{utc(5, 30), utc(6, 30).AddDate(0, 1, 0), ""}, // a month by its bounds, but it contains 01:00
	} {
		var sent string
		c := clienttest.NewClient(t, cardgateway.Config{
			BaseURL: clienttest.BaseURL, Location: loc, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				q := r.URL.Query()
				sent = q.Get("startDate") + " to " + q.Get("endingDate")
				return clienttest.Answering(200, clienttest.Page())(r)
			})},
		})
		_, err := c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: tt.start, End: tt.end}, cardgateway.PageRequest{})
		if tooLong := tt.want == ""; tooLong && strings.Join(clienttest.Problems(err), "") == "endingDate range" && sent == "" {
			continue
		}
		if err != nil || sent != tt.want {
			t.Errorf("%v to %v: sent %q, %v, want %q", tt.start, tt.end, sent, err, tt.want)
		}
	}
}

// How a query is repeated, in virtual time: how often, after which pauses, and what makes it stop.

const foundOne = `{"code":100,"uniqueId":"1","transactionId":"t-1"}`

func TestQueryAttempts(t *testing.T) {
	good := clienttest.Gives(200, foundOne)
	tests := []struct {
		name      string
		responses []clienttest.Scripted
		policy    cardgateway.RetryPolicy
		attempts  int
		status    int
		err       error
	}{
		{"reset, then good", []clienttest.Scripted{clienttest.Resets, good}, cardgateway.RetryPolicy{}, 2, 200, nil},
		{"reset for ever", []clienttest.Scripted{clienttest.Resets}, cardgateway.RetryPolicy{}, 4, 0, clienttest.ErrReset},
		{"503 three times, then good", []clienttest.Scripted{clienttest.Gives(503, ""), clienttest.Gives(500, "<html>"), clienttest.Gives(599, "{}"), good}, cardgateway.RetryPolicy{}, 4, 200, nil},
		{"503 for ever with code 404", []clienttest.Scripted{clienttest.Gives(503, `{"code":404}`)}, cardgateway.RetryPolicy{}, 4, 503, cardgateway.ErrQueryFailed},
		{"unreadable, then good", []clienttest.Scripted{clienttest.Gives(200, "<html>"), clienttest.Gives(200, ""), clienttest.Gives(200, foundOne[:20]), good}, cardgateway.RetryPolicy{}, 4, 200, nil},
		{"unreadable for ever", []clienttest.Scripted{clienttest.Gives(200, "<html>")}, cardgateway.RetryPolicy{}, 4, 200, cardgateway.ErrNotObject},
		{
			"the last failure counts", []clienttest.Scripted{clienttest.Resets, clienttest.Gives(200, "{"), clienttest.Gives(503, ""), clienttest.Gives(502, "")}, cardgateway.RetryPolicy{}, 4, 502,
			cardgateway.ErrQueryFailed,
		},
		{"a reset after a response counts", []clienttest.Scripted{clienttest.Gives(503, ""), clienttest.Resets}, cardgateway.RetryPolicy{MaxAttempts: 2}, 2, 0, clienttest.ErrReset},
		{"401", []clienttest.Scripted{clienttest.Gives(401, ""), good}, cardgateway.RetryPolicy{}, 1, 401, cardgateway.ErrQueryFailed},
		{"404 with a page", []clienttest.Scripted{clienttest.Gives(404, "<html>"), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"404 without a body", []clienttest.Scripted{clienttest.Gives(404, ""), clienttest.Gives(200, clienttest.Page())}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrNotFound},
		{"404 without a body, or cut", []clienttest.Scripted{func(r *http.Request) (*http.Response, error) {
			resp, err := clienttest.Respond(r, 404, "")
			resp.ProtoMajor, resp.ContentLength = 1, -1
			return resp, err
		}, good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"404 that is compressed", []clienttest.Scripted{func(r *http.Request) (*http.Response, error) {
			resp, err := clienttest.Respond(r, 404, "packed")
			resp.Header.Set("Content-Encoding", "gzip")
			return resp, err
		}}, cardgateway.RetryPolicy{}, 4, 404, cardgateway.ErrQueryFailed},
		{
			"404 of another program", []clienttest.Scripted{clienttest.Gives(404, `{"status":404,"error":"Not Found","path":"/search/order/1"}`), good}, cardgateway.RetryPolicy{},
			1, 404, cardgateway.ErrQueryFailed,
		},
		{"404 cut short", []clienttest.Scripted{clienttest.Gives(404, `{"code":404`), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"404 twice", []clienttest.Scripted{clienttest.Gives(404, `{"code":404}`), clienttest.Gives(503, "")}, cardgateway.RetryPolicy{MaxAttempts: 1}, 1, 404, cardgateway.ErrNotFound},
		{"404 with another code", []clienttest.Scripted{clienttest.Gives(404, `{"code":500}`), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"404 of another server", []clienttest.Scripted{clienttest.Gives(404, "404 page not found\n"), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"code 404", []clienttest.Scripted{clienttest.Gives(200, `{"code":404}`), good}, cardgateway.RetryPolicy{}, 1, 200, cardgateway.ErrNotFound},
		{
			"code 404 with the id", []clienttest.Scripted{clienttest.Gives(200, `{"code":404,"uniqueId":"1","message":"no"}`), good}, cardgateway.RetryPolicy{}, 1, 200,
			cardgateway.ErrNotFound,
		},
		{"code 999 with the id", []clienttest.Scripted{clienttest.Gives(200, `{"code":999,"uniqueId":"1"}`), good}, cardgateway.RetryPolicy{}, 1, 200, cardgateway.ErrQueryFailed},
		{"a transaction with code 400", []clienttest.Scripted{clienttest.Gives(200, `{"code":400,"uniqueId":"1","transactionId":"t-1"}`), good}, cardgateway.RetryPolicy{}, 1, 200, nil},
		{"201", []clienttest.Scripted{clienttest.Gives(201, foundOne), good}, cardgateway.RetryPolicy{}, 1, 201, cardgateway.ErrQueryFailed},
		{"nothing", []clienttest.Scripted{clienttest.Gives(200, `{}`), good}, cardgateway.RetryPolicy{}, 1, 200, verdict.ErrNobodys},
		{"code 100 without an id", []clienttest.Scripted{clienttest.Gives(200, `{"code":100}`), good}, cardgateway.RetryPolicy{}, 1, 200, verdict.ErrNobodys},
		{"code 101 without an id", []clienttest.Scripted{clienttest.Gives(200, `{"code":101}`), good}, cardgateway.RetryPolicy{}, 1, 200, cardgateway.ErrQueryFailed},
		{"another transaction", []clienttest.Scripted{clienttest.Gives(200, `{"code":100,"uniqueId":"2"}`), good}, cardgateway.RetryPolicy{}, 1, 200, verdict.ErrNotOurs},
	}
	for _, tt := range tests {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			s := clienttest.Script{Responses: tt.responses}
			var info cardgateway.CallInfo
			c := s.Client(t,
				cardgateway.Config{Retry: tt.policy, Observe: func(ctx context.Context, _ cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
					return ctx, func(i cardgateway.CallInfo) { info = i }
				}})
			_, err := c.GetTransaction(t.Context(), "1")
			if !errors.Is(err, tt.err) || errors.Is(err, cardgateway.ErrNotFound) != (tt.err == cardgateway.ErrNotFound) {
				t.Errorf("got %v, want %v", err, tt.err)
			}
			if info.Err != err {
				t.Errorf("observed %v, returned %v", info.Err, err)
			}
			if failed, ok := errors.AsType[*cardgateway.QueryError](err); ok && failed.Code != info.Code {
				t.Errorf("observed code %v, returned %v", info.Code, failed.Code)
			}
			if failed, ok := errors.AsType[*cardgateway.QueryError](err); ok && failed.HTTPStatus != tt.status {
				t.Errorf("HTTPStatus: got %d, want %d", failed.HTTPStatus, tt.status)
			}
			requests := tt.attempts
			if tt.err == cardgateway.ErrNotFound && tt.status == 404 {
				requests++ // the search
			}
			if len(s.Times()) != requests || info.Attempts != tt.attempts || info.HTTPStatus != tt.status {
				t.Errorf("attempts: got %d, observed %d with status %d, want %d and %d", len(s.Times()), info.Attempts, info.HTTPStatus, tt.attempts, tt.status)
			}
		})
	}
}

// TestRetryAfter: the client waits for MaxWait at most, and says what the gateway has said.
func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"60": time.Minute, "3600": time.Hour, "99999999999999999999": math.MaxInt64, "Fri, 31 Dec 9999 23:59:59 GMT": math.MaxInt64,
		"Sat, 01 Jan 2000 02:00:00 GMT": 2*time.Hour - 10*time.Second, // the clock begins at midnight
	} {
		synctest.Test(t, func(t *testing.T) {
			s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(429, "", header)}}
			begun := time.Now()
			_, err := s.Client(t, cardgateway.Config{Retry: cardgateway.RetryPolicy{MaxAttempts: 3}}).GetTransaction(t.Context(), "1")
			if took := time.Since(begun); took != 10*time.Second {
				t.Errorf("%s: three attempts took %v, want two pauses of MaxWait", header, took)
			}
			if failed, ok := errors.AsType[*cardgateway.QueryError](err); !ok || failed.RetryAfter != want {
				t.Errorf("%s: got %+v, want %v", header, err, want)
			}
			s = clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(429, "", "60")}}
			_, err = clienttest.PayByToken(t.Context(), s.Client(t, cardgateway.Config{}), "t-1")
			if refused, ok := errors.AsType[*cardgateway.RefusedError](err); !ok || refused.RetryAfter != time.Minute {
				t.Errorf("a payment: got %+v, want a minute", err)
			}
			s = clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, clienttest.Page()), clienttest.Gives(503, "", header), clienttest.Gives(200, clienttest.Page())}}
			c := s.Client(t, cardgateway.Config{})
			for _, err := range c.Orders(t.Context(), cardgateway.OrderQuery{Start: time.Now().AddDate(0, -3, 0), End: time.Now()}) {
				t.Errorf("a walk: %v", err)
			}
		})
	}
}

// TestQueryStops: no attempt and no pause begins for which the context leaves no time.
func TestQueryStops(t *testing.T) {
	tests := []struct {
		name      string
		responses []clienttest.Scripted
		timeout   time.Duration // of the caller's context
		cancel    time.Duration
		took      time.Duration
		asked     int
		err       error
		status    int
	}{
		{"deadline before the pause ends", []clienttest.Scripted{clienttest.Gives(503, "", "3")}, 2 * time.Second, 0, 0, 1, cardgateway.ErrQueryFailed, 503},
		{"deadline with the pause's end", []clienttest.Scripted{clienttest.Gives(503, "", "3")}, 3 * time.Second, 0, 0, 1, cardgateway.ErrQueryFailed, 503},
		{"room for one more", []clienttest.Scripted{clienttest.Gives(503, "", "3")}, 4 * time.Second, 0, 3 * time.Second, 2, cardgateway.ErrQueryFailed, 503},
		{"cancelled in a pause", []clienttest.Scripted{clienttest.Gives(503, "", "5")}, 0, time.Second, time.Second, 1, context.Canceled, 503},
		{"cancelled in an attempt", []clienttest.Scripted{clienttest.Hangs}, 0, time.Second, time.Second, 1, context.Canceled, 0},
		{"deadline in an attempt", []clienttest.Scripted{clienttest.Hangs}, time.Second, 0, time.Second, 1, context.DeadlineExceeded, 0},
		{"over before it begins", []clienttest.Scripted{clienttest.Gives(200, foundOne)}, -1, 0, 0, 0, context.DeadlineExceeded, 0},
	}
	for _, tt := range tests {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.timeout != 0 {
				ctx, cancel = context.WithTimeout(ctx, tt.timeout)
				defer cancel()
			}
			if tt.cancel != 0 {
				time.AfterFunc(tt.cancel, cancel)
			}
			s := clienttest.Script{Responses: tt.responses}
			begun := time.Now()
			_, err := s.Client(t, cardgateway.Config{}).GetTransaction(ctx, "1")
			if took := time.Since(begun); took != tt.took || len(s.Times()) != tt.asked || !errors.Is(err, tt.err) {
				t.Errorf("got %v after %v and %d attempts, want %v after %v and %d", err, took, len(s.Times()), tt.err, tt.took, tt.asked)
			}
			if failed, ok := errors.AsType[*cardgateway.QueryError](err); !ok || failed.HTTPStatus != tt.status {
				t.Errorf("got %+v, want a QueryError with the last status, %d", err, tt.status)
			}
		})
	}
}

// TestAttemptTimeout: an attempt that hangs is ended and repeated; the caller's own context has not ended.
func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Hangs, clienttest.Hangs, clienttest.Gives(200, foundOne)}}
		c := s.Client(t, cardgateway.Config{AttemptTimeout: 7 * time.Second})
		begun := time.Now()
		if _, err := c.GetTransaction(t.Context(), "1"); err != nil || len(s.Times()) != 3 {
			t.Errorf("got %v after %d attempts", err, len(s.Times()))
		}
		if took := time.Since(begun); took < 14*time.Second || took > 15*time.Second {
			t.Errorf("took %v", took)
		}
		s2 := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Hangs}}
		_, err := s2.Client(t, cardgateway.Config{AttemptTimeout: 7 * time.Second}).GetTransaction(t.Context(), "1")
		var timeout net.Error
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &timeout) && !strings.Contains(err.Error(), "within 7s") {
			t.Errorf("got %v", err)
		}
	})
}
