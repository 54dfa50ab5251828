package walks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// oddRow is a row of an order query as JSON, without its uniqueId, its transactionId and its time.
type oddRow struct {
	name, members string
	reason        string // why it cannot be read; empty if it can
}

var oddRows = []oddRow{
	{"usual", `"transactionAmount":"12.50"`, ""},
	{"line break in an address", "\"billingAddress\":{\"address\":\"1 Main St\n2nd floor\"}", ""},
	{"tab in an unknown member", "\"remark\":\"a\tb\"", ""},
	{"zeros", `"transactionAmount":"19.5000"`, ""},
	{"zeros of a number", `"transactionAmount":19.500000`, ""},
	{"isTest 1", `"isTest":1`, ""},
	{"isTest Y", `"isTest":"Y"`, ""},
	{"isTest 0", `"isTest":"0"`, ""},
	{"repeated member", `"message":"a","message":"b"`, "data repeats a member"},
	{"repeated member of an address", `"billingAddress":{"city":"a","city":"a"}`, "data repeats a member"},
	{"four decimals", `"transactionAmount":"19.5001"`, "transactionAmount is not an amount of at most 12 digits and 3 decimals"},
	{"isTest 2", `"isTest":2`, "isTest is neither true nor false"},
	{"isTest maybe", `"isTest":"maybe"`, "isTest is neither true nor false"},
	{"nested too deeply", `"remark":` + strings.Repeat("[", 40) + strings.Repeat("]", 40), "data is nested too deeply"},
	{"not a number", `"transactionAmount":NaN`, "data is not one whole JSON value"},
	{"comma too many", `"message":"a",`, "data is not one whole JSON value"},
	{"backslash", `"message":"C:\dir"`, "data is not one whole JSON value"},
}

// oddGateway returns one order a day from start on, of each kind of oddRows, and counts the queries.
type oddGateway struct {
	start   time.Time
	queries int
}

func (g *oddGateway) at(i int) string { return g.start.AddDate(0, 0, i).Format(time.DateTime) }

func (g *oddGateway) RoundTrip(r *http.Request) (*http.Response, error) {
	g.queries++
	q := r.URL.Query()
	var rows []string
	for i, row := range oddRows {
		if at := g.at(i); q.Get("startDate") <= at && at <= q.Get("endingDate") {
			rows = append(rows, fmt.Sprintf(`{"code":100,"uniqueId":"%d","transactionId":"t-%d","transactionAt":%q,"timestamp":%d,%s}`,
				i+1, i, at, g.queries, row.members))
		}
	}
	return clienttest.Respond(r, 200, fmt.Sprintf(`{"code":121,"totalCount":%d,"pageSize":999,"data":[%s]}`, len(rows), strings.Join(rows, ",")))
}

// TestOddRows: a row that cannot be read costs the walk only that row, and no time. It is named at the end, and in a checkpoint.
func TestOddRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(1999, 1, 1, 12, 0, 0, 0, time.UTC)
		g := &oddGateway{start: start}
		c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, Location: time.UTC, HTTPClient: &http.Client{Transport: g}})
		begun, end := time.Now(), start.AddDate(0, 2, 0)
		for _, prefetch := range []int{1, 4} {
			w := c.OrderWalk(cardgateway.OrderQuery{Start: start, End: end}, cardgateway.WalkOptions{Window: 3 * 24 * time.Hour, Prefetch: prefetch})
			got, err := oddWalk(w)
			var want []string
			reasons := map[string]string{}
			for i, row := range oddRows {
				if row.reason == "" {
					want = append(want, fmt.Sprint(i+1))
				} else {
					reasons[fmt.Sprint("t-", i)] = row.reason
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			unreadable, ok := errors.AsType[*cardgateway.UnreadableRowsError](err)
			if !ok || !errors.Is(err, cardgateway.ErrUnreadableRows) || unreadable.Count != len(reasons) {
				t.Fatalf("got %v, want %d unreadable rows", err, len(reasons))
			}
			named := map[string]string{}
			for _, row := range unreadable.Rows {
				named[row.TransactionID] = row.Member + " " + row.Reason
			}
			// What follows a mistake of syntax in a row is not read, but its ids come before it.
			if diff := cmp.Diff(reasons, named); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if r := w.Report(); !r.CompleteUpTo.Equal(end) || r.RowsSeen != len(want) || !reflect.DeepEqual(r.Unreadable, unreadable) {
				t.Errorf("got the report %+v", r)
			}
			var resume cardgateway.Checkpoint
			if stored, err := json.Marshal(w.Checkpoint()); err != nil || json.Unmarshal(stored, &resume) != nil {
				t.Fatal(err)
			}
			w = c.OrderWalk(cardgateway.OrderQuery{}, cardgateway.WalkOptions{Resume: resume})
			if rows, err := oddWalk(w); len(rows) > 0 || !reflect.DeepEqual(w.Report().Unreadable, unreadable) || !errors.Is(err, cardgateway.ErrUnreadableRows) {
				t.Errorf("resumed at the end: got the rows %q, %v", rows, err)
			}
		}
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("waited for %v, as in an outage", waited)
		}
	})
}

func oddWalk(w *cardgateway.Walk[cardgateway.Transaction]) (ids []string, err error) {
	for row, failed := range w.All(context.Background()) {
		if failed != nil {
			return ids, failed
		}
		ids = append(ids, row.UniqueID)
	}
	return ids, nil
}

// TestUnreadableTimes: a row whose time cannot be read is not in every range.
func TestUnreadableTimes(t *testing.T) {
	for at, want := range map[string]string{
		`"2026-10-05 10:00:00"`: "2026-10-05 10:00:00", `"2026-10-05 10:00:00.0"`: "2026-10-05 10:00:00", `"2026-10-05T10:00:00.123"`: "2026-10-05 10:00:00",
		`""`: "", "null": "", `"0000-00-00 00:00:00"`: "", `"0001-01-01 00:00:00"`: "", `"1899-12-30"`: "", `"1970-01-01 08:00:00"`: "", `"9999-12-31 23:59:59"`: "",
		`"2026-10-05T10:00:00Z"`: "unreadable", `"2026-10-05 10:00:00+08:00"`: "unreadable", `"05.10.2026 10:00"`: "unreadable", "1791194400000": "unreadable",
		"{}": "unreadable", "true": "unreadable",
	} {
		for _, path := range []string{"order", "refund"} {
			t.Run(path+" "+at, func(t *testing.T) {
				member := map[string]string{"order": "transactionAt", "refund": "refundRequestAt"}[path]
				s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, clienttest.Page(`{"uniqueId":"1","`+member+`":`+at+`}`))}}
				c, end := s.Client(t, cardgateway.Config{}), time.Now()
				var got string
				var err error
				if path == "order" {
					var page *cardgateway.Page[cardgateway.Transaction]
					if page, err = c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: end.Add(-time.Hour), End: end}, cardgateway.PageRequest{}); len(page.Data) > 0 {
						got = page.Data[0].TransactionAt.String()
					}
				} else {
					var page *cardgateway.Page[cardgateway.Refund]
					if page, err = c.SearchRefunds(t.Context(), cardgateway.RefundQuery{Start: end.Add(-time.Hour), End: end}, cardgateway.PageRequest{}); len(page.Data) > 0 {
						got = page.Data[0].RefundRequestAt.String()
					}
				}
				if bad, ok := errors.AsType[*cardgateway.RowError](err); ok && bad.Member == member && bad.UniqueID == "1" {
					got = "unreadable"
				} else if err != nil {
					t.Error(err)
				}
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
}

// TestLargePages: a page that is too large to be read is asked for with fewer rows, at once, also late in a walk.
func TestLargePages(t *testing.T) {
	for _, from := range []int{0, 40} { // the first day whose row is large
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Date(1999, 1, 1, 12, 0, 0, 0, time.UTC)
				receipt := strings.Repeat("x", 300_000)
				s := clienttest.Script{Responses: []clienttest.Scripted{func(r *http.Request) (*http.Response, error) {
					q := r.URL.Query()
					var rows []string
					for day := range 90 {
						if at := start.AddDate(0, 0, day).Format(time.DateTime); q.Get("startDate") <= at && at <= q.Get("endingDate") {
							rows = append(rows, fmt.Sprintf(`{"uniqueId":"%d","transactionAt":%q,"receipt":%q}`, day, at, receipt[:300_000*min(1, day/max(1, from))]))
						}
					}
					total, size, page := len(rows), 999, 1
					_, _ = fmt.Sscan(q.Get("pageSize")+" "+q.Get("currPage"), &size, &page)
					rows = rows[min(total, (page-1)*size):min(total, page*size)]
					return clienttest.Respond(r, 200, fmt.Sprintf(`{"code":121,"totalCount":%d,"pageSize":%d,"data":[%s]}`, total, size, strings.Join(rows, ",")))
				}}}
				c, begun := s.Client(t, cardgateway.Config{Location: time.UTC, Retry: cardgateway.RetryPolicy{MaxAttempts: 2}}), time.Now()
				w := c.OrderWalk(cardgateway.OrderQuery{Start: start, End: start.AddDate(0, 0, 90)}, cardgateway.WalkOptions{Prefetch: 1})
				if got, err := oddWalk(w); err != nil || len(got) != 90 || time.Since(begun) > 10*time.Second {
					t.Errorf("got %d rows, %v after %v", len(got), err, time.Since(begun))
				}
			})
		})
	}
}

// TestUnreadablePages: a page that is JSON and cannot be read ends a walk at once, and one that is not JSON is an outage.
func TestUnreadablePages(t *testing.T) {
	for page, isOutage := range map[string]bool{
		"<html>": true, `{"code":121,"totalCount":3`: true, "[]": true, "": true,
		`{"code":121,"totalCount":"x","data":[]}`: false, `{"code":121}`: false, `{"code":121,"totalCount":1,"data":{}}`: false,
		`{"code":121,"totalCount":1,"totalCount":2,"data":[]}`:                         false,
		`{"code":121,"totalCount":1000,"data":[` + strings.Repeat("{},", 999) + `{}]}`: false,
	} {
		t.Run(fmt.Sprintf("%.50s", page), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, clienttest.Page()), clienttest.Gives(200, page)}}
				c, begun := s.Client(t, cardgateway.Config{}), time.Now()
				w := c.OrderWalk(cardgateway.OrderQuery{Start: begun.AddDate(0, -3, 0), End: begun}, cardgateway.WalkOptions{Prefetch: 1})
				_, err := oddWalk(w)
				if waited := time.Since(begun); !errors.Is(err, cardgateway.ErrQueryFailed) || (waited > time.Minute) != isOutage {
					t.Errorf("got %v after %v, outage %t", err, waited, isOutage)
				}
			})
		})
	}
}
