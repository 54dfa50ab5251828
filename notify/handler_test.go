package notify_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jarcoal/httpmock"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
	"github.com/cardgateway/cardgateway-go/notify"
)

const approved = `{"code":100,"transactionType":"Sale","uniqueId":"987654321","transactionId":"order-1","transactionAmount":"999.00"}`

// Texts of the errors of notifications that are not confirmed.
const (
	notShown     = "the gateway does not confirm yet what the notification claims"
	contradicted = "the notification names another transactionId than the gateway"
	notOneOrder  = "the gateway did not return exactly one transaction with the notification's transactionId"
	notOneRefund = "the gateway did not return exactly one refund with the notification's ids"
)

// confirmedCode is the code of the refund if the notification is about one, otherwise that of the transaction.
func confirmedCode(n *notify.Notification) cardgateway.Code {
	if n.Refund != nil {
		return n.Refund.Code
	}
	return n.Transaction.Code
}

// TestHandlerConfirms delivers one notification per case and checks what the merchant's function gets.
func TestHandlerConfirms(t *testing.T) {
	const (
		order  = `{"code":100,"uniqueId":"987654321","transactionId":"order-1","transactionAmount":"20.00"}`
		refund = `{"code":111,"uniqueId":"987654321","refundUniqueId":"55","merchantRefundId":"r-1","refundAmount":"5.00"}`
	)
	tests := []struct {
		name, body, order, refunds, orders string
		status                             int
		is                                 error            // the error, if it is one of the client's
		says                               string           // otherwise, part of its text
		wantCode                           cardgateway.Code // of the transaction, or of the refund if there is one; zero if not handled
		queries                            int
	}{
		{name: "approved", body: approved, order: order, status: 200, wantCode: 100, queries: 1},
		{
			name: "claimed approved, shown as declined", body: approved,
			order:  `{"code":101,"uniqueId":"987654321","transactionId":"order-1"}`,
			status: 503, says: notShown, queries: 1,
		},
		{
			name: "claimed approved, in fact closed", body: approved,
			order:  `{"code":103,"uniqueId":"987654321","transactionId":"order-1"}`,
			status: 200, wantCode: 103, queries: 1,
		},
		{
			name: "claimed approved, still in processing", body: approved,
			order:  `{"code":102,"uniqueId":"987654321","transactionId":"order-1"}`,
			status: 503, says: notShown, queries: 1,
		},
		{
			name: "claimed to be in processing, in fact approved", body: strings.Replace(approved, "100", "102", 1), order: order,
			status: 200, wantCode: 100, queries: 1,
		},
		{
			name: "claimed to be in processing, and it is", body: strings.Replace(approved, "100", "102", 1),
			order:  `{"code":102,"uniqueId":"987654321","transactionId":"order-1"}`,
			status: 200, wantCode: 102, queries: 1,
		},
		{
			name: "not known to the gateway", body: approved, order: `{"code":404,"message":"not found"}`,
			status: 503, is: cardgateway.ErrNotFound, queries: 1,
		},
		{
			name: "a response about another transaction", body: approved, order: `{"code":100,"uniqueId":"1","transactionId":"order-1"}`,
			status: 503, is: cardgateway.ErrQueryFailed, queries: 1,
		},
		{
			name: "a payment of another app", body: approved, order: strings.Replace(order, "{", `{"appId":78,`, 1),
			status: 503, is: verdict.ErrOtherApp, queries: 1,
		},
		{
			name: "a payment of this app, as text", body: approved, order: strings.Replace(order, "{", `{"appId":"77",`, 1),
			status: 200, wantCode: 100, queries: 1,
		},
		{
			name: "a payment of another app, with this app claimed", body: strings.Replace(approved, "{", `{"appId":77,`, 1),
			order:  strings.Replace(order, "{", `{"appId":78,`, 1),
			status: 503, is: verdict.ErrOtherApp, queries: 1,
		},
		{
			name: "a refund of a payment of another app", body: refunded, order: strings.Replace(order, "{", `{"appId":78,`, 1), refunds: refund,
			status: 503, is: verdict.ErrOtherApp, queries: 1,
		},
		{
			name: "a refund of another app", body: refunded, order: order, refunds: strings.Replace(refund, "{", `{"appId":78,`, 1),
			status: 503, is: verdict.ErrOtherApp, queries: 2,
		},
		{
			name: "a refund of which another app has one with the same ids", body: refunded, order: order,
			refunds: strings.Replace(refund, "{", `{"appId":78,`, 1) + `,` + refund, status: 200, wantCode: 111, queries: 2,
		},
		{
			name: "by the merchant's id, which only another app has", body: `{"code":100,"transactionId":"order-1"}`,
			orders: strings.Replace(order, "{", `{"appId":78,`, 1), status: 503, is: verdict.ErrOtherApp, queries: 1,
		},
		{
			name: "by the merchant's id, which another app has too", body: `{"code":100,"transactionId":"order-1"}`,
			orders: strings.Replace(order, `{"code":100,"uniqueId":"987654321"`, `{"appId":78,"code":101,"uniqueId":"2"`, 1) + `,` + order,
			status: 200, wantCode: 100, queries: 1,
		},
		{
			name: "another transactionId than the gateway's", body: strings.Replace(approved, "order-1", "order-2", 1), order: order,
			status: 409, says: contradicted, queries: 1,
		},
		{
			name: "a form's other members do not matter", body: `{"uniqueId":987654321}`, order: order,
			status: 200, wantCode: 100, queries: 1,
		},
		{
			name: "by the merchant's id alone", body: `{"code":100,"transactionType":"Sale","transactionId":"order-1"}`,
			orders: `{"code":101,"uniqueId":"1","transactionId":"other"},` + order, status: 200, wantCode: 100, queries: 1,
		},
		{
			name: "by the merchant's id, which the gateway does not know", body: `{"code":100,"transactionId":"order-1"}`,
			orders: `{"code":100,"uniqueId":"1","transactionId":"other"}`, status: 503, says: notOneOrder, queries: 1,
		},
		{
			name: "without a code, still in processing", body: `{"uniqueId":"987654321","status":"SUCCESS"}`,
			order:  `{"code":102,"uniqueId":"987654321","transactionId":"order-1"}`,
			status: 503, says: notShown, queries: 1,
		},
		{
			name: "by the merchant's id, of which there is nothing", body: `{"code":100,"transactionId":"order-1"}`,
			orders: " ", status: 503, is: cardgateway.ErrNotFound, queries: 1,
		},
		{
			name: "by the merchant's id, which has two transactions", body: `{"code":100,"transactionId":"order-1"}`,
			orders: order + `,` + strings.Replace(order, "987654321", "2", 1), status: 503, says: notOneOrder, queries: 1,
		},
		{
			name: "by the merchant's id, with an unreadable row", body: `{"code":100,"transactionId":"order-1"}`,
			orders: order + `,7`, status: 503, is: cardgateway.ErrQueryFailed, queries: 1,
		},
		{name: "refunded", body: refunded, order: order, refunds: refund, status: 200, wantCode: 111, queries: 2},
		{
			name: "refunded, among other rows", body: refunded, order: order,
			refunds: strings.Replace(refund, `"55"`, `"56"`, 1) + `,` + refund, status: 200, wantCode: 111, queries: 2,
		},
		{
			name: "claimed refunded, only applied for", body: refunded, order: order, refunds: strings.Replace(refund, "111", "110", 1),
			status: 503, says: notShown, queries: 2,
		},
		{
			name: "claimed refunded, in fact failed", body: refunded, order: order, refunds: strings.Replace(refund, "111", "112", 1),
			status: 200, wantCode: 112, queries: 2,
		},
		{name: "a refund that the gateway does not know", body: refunded, order: order, status: 503, says: notOneRefund, queries: 2},
		{
			name: "a refund of another transaction", body: refunded, order: order, refunds: strings.Replace(refund, "987654321", "1", 1),
			status: 503, says: notOneRefund, queries: 2,
		},
		{
			name: "a refund with another id of the merchant", body: refunded, order: order, refunds: strings.Replace(refund, "r-1", "r-2", 1),
			status: 503, says: notOneRefund, queries: 2,
		},
		{
			name: "a refund without ids, of which there are two", body: `{"code":111,"transactionType":"Refund","uniqueId":"987654321"}`,
			order: order, refunds: refund + `,` + strings.Replace(refund, `"55"`, `"56"`, 1), status: 503, says: notOneRefund, queries: 2,
		},
		{
			name: "a chargeback", body: `{"transactionType":"Chargeback","uniqueId":"987654321","chargebackAmount":"11.00"}`, order: order,
			status: 200, wantCode: 100, queries: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, notify.Options{})
			s.knows("987654321", tt.order)
			s.refunds(tt.refunds)
			s.orders(tt.orders)
			handled := 0
			if tt.wantCode != 0 {
				handled = 1
			}
			s.expect(t, s.post("", tt.body), tt.status, handled)
			if err := s.infos[0].Err; tt.is != nil && !errors.Is(err, tt.is) || tt.is == nil && !says(err, tt.says) {
				t.Errorf("error: got %v, want %v%s", err, tt.is, tt.says)
			}
			if handled > 0 && confirmedCode(&s.handled[0]) != tt.wantCode {
				t.Errorf("confirmed: got %v, want %v", confirmedCode(&s.handled[0]), tt.wantCode)
			}
			if n := s.gateway.GetTotalCallCount(); n != tt.queries {
				t.Errorf("queries: got %d, want %d", n, tt.queries)
			}
			parsed := mustParse(t, tt.body)
			err := notify.Confirm(t.Context(), newClient(t, s.gateway), parsed)
			if tt.is != nil && !errors.Is(err, tt.is) || tt.is == nil && !says(err, tt.says) {
				t.Errorf("Confirm: got error %v, want %v%s", err, tt.is, tt.says)
			}
			if handled > 0 && confirmedCode(parsed) != tt.wantCode {
				t.Errorf("Confirm: got %v, want %v", confirmedCode(parsed), tt.wantCode)
			}
		})
	}
}

// TestHandlerAsksOnce lets the gateway fail: there is a single attempt, because the notification will be repeated.
func TestHandlerAsksOnce(t *testing.T) {
	s := newShop(t, notify.Options{})
	s.gateway.RegisterResponder("GET", gatewayURL+"/search/order/987654321", httpmock.NewStringResponder(500, ``))
	s.expect(t, s.post("", approved), 503, 0)
	if n := s.gateway.GetTotalCallCount(); n != 1 {
		t.Errorf("queries: got %d, want 1", n)
	}
}

// TestHandlerSearchRange checks the range in which a refund is searched: in UTC, wide enough for every zone, and never more
// than a month.
func TestHandlerSearchRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which begins at 2000-01-01 00:00:00 UTC
		s := newShop(t, notify.Options{})
		time.Sleep(61*24*time.Hour + time.Millisecond) // to March, after the shortest month that a range can span
		var asked url.Values
		s.gateway.RegisterResponder("GET", gatewayURL+"/search/list/refund", func(r *http.Request) (*http.Response, error) {
			asked = r.URL.Query()
			return httpmock.NewStringResponse(200, `{"code":121,"data":[]}`), nil
		})
		s.expect(t, s.post("", refunded), 503, 0)
		want := url.Values{
			"uniqueId": {"987654321"}, "refundUniqueId": {"55"}, "refundTransactionId": {"r-1"},
			"startDate": {"2000-02-04 00:00:00"}, "endingDate": {"2000-03-02 15:00:01"},
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("query (-want +sent):\n%s", diff)
		}
	})
}

// TestConfirmNeedsAnID: without one there is nothing to query.
func TestConfirmNeedsAnID(t *testing.T) {
	n := mustParse(t, `{"code":100,"transactionType":"Sale"}`)
	if err := notify.Confirm(t.Context(), newClient(t, nil), n); !says(err, "names no transaction") {
		t.Errorf("got %v", err)
	}
}

// TestHandlerOwnErrors: for an error of the merchant's function, the response never blames the sender.
func TestHandlerOwnErrors(t *testing.T) {
	s := newShop(t, notify.Options{})
	for i, media := range []string{"", "application/json"} {
		_, s.fail = notify.Parse(nil, media)
		s.expect(t, s.post("", approved), 503, i+1)
	}
}

const refunded = `{"code":111,"transactionType":"Refund","uniqueId":"987654321","refundUniqueId":"55","merchantRefundId":"r-1","refundAmount":"999.00"}`

func TestHandlerRefuses(t *testing.T) {
	s := newShop(t, notify.Options{})
	tests := []struct {
		name, method, media, body string
		length                    int64
		want                      int
	}{
		{"GET", "GET", "application/json", ``, 0, 405},
		{"PUT", "PUT", "application/json", approved, -1, 405},
		{"no media type, no JSON", "POST", "", "100", -1, 415},
		{"another media type, no JSON", "POST", "text/xml", "<code>100</code>", -1, 415},
		{"announced too large", "POST", "application/json", approved, 64<<10 + 1, 413},
		{"too large", "POST", "application/json", approved + strings.Repeat(" ", 64<<10), -1, 413},
		{"no JSON", "POST", "application/json", "code=100", -1, 400},
		{"two members of one name", "POST", "application/json", `{"uniqueId":"987654321","uniqueId":"1"}`, -1, 400},
		{"nothing to ask about", "POST", "application/json", `{"code":100,"transactionType":"Sale"}`, -1, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "/notify", strings.NewReader(tt.body))
			r.Header.Set("Content-Type", tt.media)
			r.ContentLength = tt.length
			w := s.serve(r)
			s.expect(t, w, tt.want, 0)
			if got := w.Header().Get("Allow"); (got == "POST") != (tt.want == 405) {
				t.Errorf("Allow: got %q", got)
			}
		})
	}
	if n := s.gateway.GetTotalCallCount(); n != 0 {
		t.Errorf("queries: got %d, want 0", n)
	}
}

func TestHandlerRefusesUnreadableBodies(t *testing.T) {
	s := newShop(t, notify.Options{})
	cut := httptest.NewRequest("POST", "/notify", io.MultiReader(strings.NewReader(approved), iotest.ErrReader(errors.New("connection lost"))))
	cut.Header.Set("Content-Type", "application/json")
	s.expect(t, s.serve(cut), 400, 0)
	compressed := httptest.NewRequest("POST", "/notify", strings.NewReader("\x1f\x8b\x08"))
	compressed.Header.Set("Content-Type", "application/json")
	compressed.Header.Set("Content-Encoding", "gzip")
	s.expect(t, s.serve(compressed), 415, 0)
	none := httptest.NewRequest("POST", "/notify", nil)
	none.Header.Set("Content-Type", "application/json")
	none.Body = nil
	s.expect(t, s.serve(none), 400, 0)
	named := httptest.NewRequest("POST", "/notify", strings.NewReader(approved)) // readable, whatever its headers say
	named.Header.Set("Content-Encoding", "UTF-8")
	s.expect(t, s.serve(named), 200, 1)
}

// TestHandlerWarns: a failure of the merchant's function or of the Deduper is logged above debug level each time, because a genuine
// notification may be lost; a rejection that may come from a wrong setting once, and nothing else that anybody can cause.
func TestHandlerWarns(t *testing.T) {
	token := strings.Replace(approved, "{", `{"token":"`+secretToken+`",`, 1)
	for _, tt := range []struct {
		name, body, want string
		status           int
		opts             notify.Options
		gateway          string // answers, if not as usual
		fail             any    // the error of the merchant's function, or what it panics with
		lines            int    // of three notifications
	}{
		{name: "the function fails", body: approved, want: "database is down", status: 503, fail: errors.New("database is down"), lines: 3},
		{name: "the function panics", body: approved, want: "a function of the merchant panicked", fail: "a fault", lines: 3},
		{
			name: "the Deduper fails", body: approved, want: errNoTable.Error(), status: 503, lines: 3,
			opts: notify.Options{Deduper: &scriptedDeduper{claimErr: errNoTable}},
		},
		{
			name: "no secret key", body: approved, want: "the secret key for notifications is empty", status: 403, lines: 1,
			opts: notify.Options{Verify: notify.SignatureSHA256("")},
		},
		{name: "no TokenURLs", body: token, want: "Options.TokenURLs is not set", status: 403, lines: 1},
		{
			name: "a wrong signature", body: approved, want: "Verify refused the notification", status: 403, lines: 1,
			opts: notify.Options{Verify: notify.SignatureSHA256("another key")},
		},
		{
			name: "wrong credentials", body: approved, want: "the gateway does not accept the client's credentials", status: 503, lines: 1,
			gateway: `{"code":401,"message":"no"}`,
		},
		{
			name: "another app", body: approved, want: "states another appId", status: 503, lines: 1,
			gateway: `{"code":100,"uniqueId":"987654321","transactionId":"order-1","appId":78}`,
		},
		{name: "no transaction", body: approved, status: 503, gateway: `{"code":404}`},
		{name: "no notification", body: "hello", status: 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			logs := new(bytes.Buffer)
			tt.opts.Logger = slog.New(slog.NewTextHandler(logs, nil))
			s := newShop(t, tt.opts)
			if tt.gateway != "" {
				s.knows("987654321", tt.gateway)
			}
			s.handle = func(context.Context, *notify.Notification) error {
				if err, ok := tt.fail.(error); ok {
					return err
				}
				panic(tt.fail)
			}
			for range 3 {
				func() {
					defer func() {
						if got := recover(); (got != nil) != (tt.name == "the function panics") {
							t.Errorf("the handler panics with %v", got)
						}
					}()
					s.expect(t, s.post("", tt.body), tt.status, 0)
				}()
			}
			if got := strings.Count(logs.String(), "level=WARN"); got != tt.lines || strings.Count(logs.String(), "\n") != got || !strings.Contains(logs.String(), tt.want) {
				t.Errorf("got %q, want %q in %d lines", logs, tt.want, tt.lines)
			}
		})
	}
}

// TestHandlerNeeds: NewHandler panics without a client or a function.
func TestHandlerNeeds(t *testing.T) {
	client := newClient(t, nil)
	handle := func(context.Context, *notify.Notification) error { return nil }
	for _, tt := range []struct {
		name   string
		client *cardgateway.Client
		handle func(context.Context, *notify.Notification) error
	}{{"a function", client, nil}, {"a client", nil, handle}} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a handler without it was made")
				}
			}()
			notify.NewHandler(tt.client, notify.Options{}, tt.handle)
		})
	}
}

// TestHandlerWithoutALimit: the largest QueriesPerSecond means no limit.
func TestHandlerWithoutALimit(t *testing.T) {
	s := newShop(t, notify.Options{QueriesPerSecond: math.MaxInt})
	s.expect(t, s.post("", approved), 200, 1)
}
