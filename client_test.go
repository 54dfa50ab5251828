package cardgateway_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"errors"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// TestWithRetry: the copy has its own retry policy, and shares the settings and connections of the original.
func TestWithRetry(t *testing.T) {
	var requests, connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") == "" {
			t.Error("the copy has lost the Authenticate hook")
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	zone := time.FixedZone("elsewhere", 3600)
	original := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: s.URL, Location: zone, HostedPageLifetime: time.Hour, Authenticate: cardgateway.BasicAuth("merchant", "secret"),
		Retry: cardgateway.RetryPolicy{MaxAttempts: 3},
	})
	for _, tt := range []struct {
		name   string
		client *cardgateway.Client
		want   int32
	}{
		{"the original", original, 3},
		{"one attempt", original.WithRetry(cardgateway.RetryPolicy{MaxAttempts: 1}), 1},
		{"zero values mean the defaults", original.WithRetry(cardgateway.RetryPolicy{MinWait: time.Nanosecond}), 4},
		{"negative values do so too", original.WithRetry(cardgateway.RetryPolicy{MaxAttempts: -1, MinWait: time.Nanosecond}), 4},
		{"the original again", original, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			requests.Store(0)
			if _, err := tt.client.GetTransaction(t.Context(), "1"); err == nil {
				t.Errorf("%s: got no error", tt.name)
			}
			if got := requests.Load(); got != tt.want {
				t.Errorf("%s: got %d requests, want %d", tt.name, got, tt.want)
			}
			if tt.client.Location() != zone {
				t.Errorf("%s: got zone %v, want %v", tt.name, tt.client.Location(), zone)
			}
			if tt.client.HostedPageLifetime() != time.Hour {
				t.Errorf("%s: got lifetime %v, want 1h", tt.name, tt.client.HostedPageLifetime())
			}
		})
	}
	if got := connections.Load(); got != 1 {
		t.Errorf("got %d connections, want one for all", got)
	}
}

func TestNewChecksItsConfig(t *testing.T) {
	good := cardgateway.Config{BaseURL: "https://gateway.example", AppID: "1"}
	for _, tt := range []struct {
		name, want string
		change     func(*cardgateway.Config)
	}{
		{"good", "", func(*cardgateway.Config) {}},
		{"empty", "BaseURL required, AppID required", func(c *cardgateway.Config) { *c = cardgateway.Config{} }},
		{"plain http for tests", "", func(c *cardgateway.Config) { c.BaseURL, c.InsecureHTTP = "http://gateway.example", true }},
		{"AppID of 32 digits", "", func(c *cardgateway.Config) { c.AppID = cardgateway.AppID(strings.Repeat("9", 32)) }},
		{"AppID of 33 digits", "AppID format", func(c *cardgateway.Config) { c.AppID = cardgateway.AppID(strings.Repeat("9", 33)) }},
		{"AppID zero", "", func(c *cardgateway.Config) { c.AppID = "0" }},
		{"AppID with leading zero", "AppID format", func(c *cardgateway.Config) { c.AppID = "01" }},
		{"AppID that is JSON", "AppID format", func(c *cardgateway.Config) { c.AppID = `1,"amount":"1"` }},
		{"negative times", "AttemptTimeout range, HostedPageLifetime range, Retry range", func(c *cardgateway.Config) {
			c.AttemptTimeout, c.HostedPageLifetime, c.Retry.MinWait = -1, -1, -1
		}},
		{"times without a unit", "AttemptTimeout range, HostedPageLifetime range", func(c *cardgateway.Config) {
			c.AttemptTimeout, c.HostedPageLifetime = 30, 24
		}},
		{"credentials", "", func(c *cardgateway.Config) { c.Authenticate = cardgateway.BasicAuth("merchant", "key") }},
		{"no credentials", "merchantID required, secretKey required", func(c *cardgateway.Config) { c.Authenticate = cardgateway.BasicAuth("", "") }},
		{"white space in credentials", "merchantID format, secretKey format", func(c *cardgateway.Config) { c.Authenticate = cardgateway.BasicAuth(" m", "key\n") }},
		{"a hook that fails", "", func(c *cardgateway.Config) {
			c.Authenticate = func(*http.Request, []byte) error { panic("New calls it") }
		}},
		{"negative attempts", "Retry range", func(c *cardgateway.Config) { c.Retry.MaxAttempts = -1 }},
		{"all at once", "BaseURL format, AppID format, AttemptTimeout range, Retry range", func(c *cardgateway.Config) {
			*c = cardgateway.Config{BaseURL: "ftp://x", AppID: "x", AttemptTimeout: -1, Retry: cardgateway.RetryPolicy{MaxWait: -1}}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := good
			tt.change(&cfg)
			c, err := cardgateway.New(cfg)
			if got := strings.Join(clienttest.Problems(err), ", "); got != tt.want || (c == nil) != (tt.want != "") {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		})
	}
}

// TestGivenTimes: the timeout of the caller's http.Client applies if the Config sets none, or a longer one.
func TestGivenTimes(t *testing.T) {
	for _, tt := range []struct {
		name                         string
		attempt, client, wantAttempt time.Duration
	}{
		{"neither", 0, 0, 30 * time.Second},
		{"the client's", 0, time.Minute, time.Minute},
		{"the attempt's", time.Minute, 0, time.Minute},
		{"the shorter of both", time.Minute, time.Second, time.Second},
		{"the other shorter", time.Second, time.Minute, time.Second},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			var got time.Duration
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, AttemptTimeout: tt.attempt, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
				HTTPClient: &http.Client{Timeout: tt.client, Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if deadline, ok := r.Context().Deadline(); ok {
						got = time.Until(deadline)
					}
					return clienttest.Respond(r, 200, "{}")
				})},
			})
			_, _ = c.GetTransaction(t.Context(), "1")
			if got != tt.wantAttempt {
				t.Errorf("%s: got %v, want %v", tt.name, got, tt.wantAttempt)
			}
		})
	}
}

// What the client does with data that state another appId than its own.

// statedApps are members of responses to a client of app 111, and whether they state another app.
var statedApps = []struct {
	name, member string
	other        bool
}{
	{"none", "", false},
	{"null", `,"appId":null`, false},
	{"an empty text", `,"appId":""`, false},
	{"a number", `,"appId":111`, false},
	{"a text", `,"appId":"111"`, false},
	{"a text with leading zeros", `,"appId":"00111"`, false},
	{"another number", `,"appId":222`, true},
	{"another text", `,"appId":"222"`, true},
	{"a longer number", `,"appId":1110`, true},
	{"zero", `,"appId":0`, true},
	{"a text of 33 digits", `,"appId":"` + strings.Repeat("0", 30) + `111"`, true},
	{"a fraction", `,"appId":111.0`, true},
	{"an exponent", `,"appId":111e0`, true},
	{"a text with a space", `,"appId":"111 "`, true},
	{"another form", `,"appId":[111]`, true},
}

func app111(t *testing.T, transport http.RoundTripper, anyAppID bool) *cardgateway.Client {
	return clienttest.NewClient(t, cardgateway.Config{
		BaseURL: clienttest.BaseURL, AppID: "111", HTTPClient: &http.Client{Transport: transport}, AnyAppID: anyAppID,
	})
}

// eachStatedApp runs a test for each of statedApps, by default and with AnyAppID.
func eachStatedApp(t *testing.T, test func(t *testing.T, member string, other, anyAppID bool)) {
	for _, tt := range statedApps {
		t.Run(tt.name, func(t *testing.T) { test(t, tt.member, tt.other, false) })
		t.Run(tt.name+", any app", func(t *testing.T) { test(t, tt.member, false, true) })
	}
}

// TestOtherAppInResponse: a response to a payment or a refund that states another app does not tell its outcome, whatever
// its code.
func TestOtherAppInResponse(t *testing.T) {
	eachStatedApp(t, func(t *testing.T, member string, other, anyAppID bool) {
		for _, code := range []cardgateway.Code{100, 101, 400} {
			for _, op := range clienttest.PaymentOperations {
				c := app111(t, clienttest.Answering(200, clienttest.ResponseFor("t-1", code, member)), anyAppID)
				tx, err := op.Call(t.Context(), c, "t-1")
				unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
				if other != (ok && strings.Contains(err.Error(), "appId")) {
					t.Errorf("%s, code %d: got %+v, %v, other app: want %t", op.Name, code, tx, err, other)
				}
				if other && code == 100 && unknown != nil && !unknown.Seen {
					t.Errorf("%s: the gateway has returned the transactionId, and it is not seen", op.Name)
				}
			}
		}
		for _, code := range []int{110, 111, 112} {
			c := app111(t, clienttest.Answering(200, clienttest.RefundRow(code, "9", member)), anyAppID)
			r, err := c.CreateRefund(t.Context(), clienttest.RefundRequest())
			if got := refundOutcome(r, err); other != (got == "unknown") {
				t.Errorf("CreateRefund, code %d: got %q (%v), other app: want %t", code, got, err, other)
			}
		}
	})
}

// TestOtherAppInRows: a row that states another app does not settle a payment or a refund, and does not let it be not found
// as long as it is returned.
func TestOtherAppInRows(t *testing.T) {
	eachStatedApp(t, func(t *testing.T, member string, other, anyAppID bool) {
		for _, code := range []int{100, 101, 102, 301} {
			synctest.Test(t, func(t *testing.T) {
				c := app111(t, clienttest.Answering(200, clienttest.Page(clienttest.OrderRow(code, "1", member))), anyAppID)
				tx, err := c.Resolve(t.Context(), paymentSentNow())
				if got := clienttest.Outcome(tx, err); other != (got == "unknown") || other && !strings.Contains(err.Error(), "appId") {
					t.Errorf("Resolve, code %d: got %q (%v), other app: want %t", code, got, err, other)
				}
			})
		}
		for _, code := range []int{110, 111, 112} {
			synctest.Test(t, func(t *testing.T) {
				c := app111(t, clienttest.Answering(200, clienttest.Page(clienttest.RefundRow(code, "9", member))), anyAppID)
				q := cardgateway.ResolveRefundQuery{
					UniqueID: "77", RefundTransactionID: "r-1", Amount: decimal.RequireFromString("12.50"), SentAt: time.Now(), Wait: 20 * time.Second,
				}
				r, err := c.ResolveRefund(t.Context(), q)
				if got := refundOutcome(r, err); other != (got == "unknown") {
					t.Errorf("ResolveRefund, code %d: got %q (%v), other app: want %t", code, got, err, other)
				}
			})
		}
	})
}

// TestOtherAppBesideOwn: another app's payment with the same transactionId changes nothing about a payment of this app.
func TestOtherAppBesideOwn(t *testing.T) {
	for code, want := range map[int]string{100: "paid", 101: "declined", 102: "processing"} {
		synctest.Test(t, func(t *testing.T) {
			c := app111(t, clienttest.Answering(200, clienttest.Page(clienttest.OrderRow(100, "1", `,"appId":222`), clienttest.OrderRow(code, "2", `,"appId":111`))), false)
			tx, err := c.Resolve(t.Context(), paymentSentNow())
			if got := clienttest.Outcome(tx, err); got != want || tx == nil || tx.UniqueID != "2" {
				t.Errorf("code %d: got %q, %+v, %v, want the payment with uniqueId 2", code, got, tx, err)
			}
		})
	}
}

// TestOtherAppInQueries: GetTransaction, which confirms, fails for another app's transaction; searches and walks return the
// rows of all apps, and IsOtherApp tells them apart.
func TestOtherAppInQueries(t *testing.T) {
	eachStatedApp(t, func(t *testing.T, member string, other, anyAppID bool) {
		c := app111(t, clienttest.Answering(200, clienttest.OrderRow(100, "1", member)), anyAppID)
		tx, err := c.GetTransaction(t.Context(), "1")
		if other != errors.Is(err, cardgateway.ErrQueryFailed) || other && !strings.Contains(err.Error(), "appId") || !other && err != nil {
			t.Errorf("GetTransaction: got %+v, %v, other app: want %t", tx, err, other)
		}
		if tx != nil && c.IsOtherApp(tx) {
			t.Errorf("IsOtherApp of what GetTransaction returned: got true")
		}
		c = app111(t, clienttest.Answering(200, clienttest.Page(clienttest.OrderRow(100, "1", member))), anyAppID)
		start, end := time.Now().Add(-24*time.Hour), time.Now()
		rows := 0
		for tx, err := range c.Orders(t.Context(), cardgateway.OrderQuery{Start: start, End: end}) {
			if rows++; err != nil || c.IsOtherApp(tx) != other {
				t.Errorf("a row of Orders: got %+v, %v, want other app %t", tx, err, other)
			}
		}
		if rows != 1 {
			t.Errorf("got %d rows, want one", rows)
		}
	})
}

// TestOwnAppZero: an appId of zeros is the number zero.
func TestOwnAppZero(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, AppID: "0"})
	for text, other := range map[cardgateway.AppID]bool{"": false, "0": false, "00": false, "1": true, "10": true} {
		t.Run(string(text), func(t *testing.T) {
			if got := c.IsOtherApp(&cardgateway.Transaction{AppID: text}); got != other {
				t.Errorf("%q: got %t, want %t", text, got, other)
			}
		})
	}
}

// TestIsOtherAppAllocates: the comparison is made for every row.
func TestIsOtherAppAllocates(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, AppID: "1862433537316352001"})
	tx := &cardgateway.Transaction{AppID: "01862433537316352001"}
	if n := testing.AllocsPerRun(100, func() { _ = c.IsOtherApp(tx) }); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

// TestCheck: what one or two queries show of the configuration.
func TestCheck(t *testing.T) {
	const own, other, none = `,"appId":1`, `,"appId":2`, ``
	unauthorized := `{"code":401,"message":"Unauthorized"}`
	page := func(ahead time.Duration, members ...string) string {
		var rows []string
		for i, more := range members {
			rows = append(rows, clienttest.OrderRow(100, fmt.Sprint(i+1), more))
		}
		return strings.Replace(clienttest.Page(rows...), `{`, fmt.Sprintf(`{"timestamp":%d,`, time.Now().Add(ahead).UnixMilli()), 1)
	}
	up := cardgateway.Health{Reachable: true, Authorized: true}
	for _, tt := range []struct {
		name   string
		status int // zero means that nothing answers
		body   func() string
		want   cardgateway.Health
		err    error
	}{
		{"rows", 200, func() string { return page(0, own, other, none) }, cardgateway.Health{Reachable: true, Authorized: true, ClockKnown: true, Rows: 3, OtherApps: 1}, nil},
		{"a row that cannot be read", 200, func() string { return page(0, own, `,"isTest":"?"`) }, cardgateway.Health{Reachable: true, Authorized: true, ClockKnown: true, Rows: 1}, nil},
		{"the clock is ahead", 200, func() string { return page(-time.Hour) }, cardgateway.Health{Reachable: true, Authorized: true, ClockKnown: true, ClockAhead: time.Hour}, nil},
		{"the clock is behind", 200, func() string { return page(time.Hour) }, cardgateway.Health{Reachable: true, Authorized: true, ClockKnown: true, ClockAhead: -time.Hour}, nil},
		{"no clock", 200, func() string { return clienttest.Page() }, up, nil},
		{"wrong credentials", 200, func() string { return unauthorized }, cardgateway.Health{Reachable: true}, cardgateway.ErrQueryFailed},
		{"forbidden", 403, func() string { return "" }, cardgateway.Health{Reachable: true}, cardgateway.ErrQueryFailed},
		{"down", 503, func() string { return "" }, cardgateway.Health{Reachable: true}, cardgateway.ErrQueryFailed},
		{"unreachable", 0, nil, cardgateway.Health{}, cardgateway.ErrQueryFailed},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			queries := 0
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
				HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if queries++; tt.status == 0 {
						return nil, errors.New("no route")
					}
					return clienttest.Respond(r, tt.status, tt.body())
				})},
			})
			got, err := c.Check(t.Context())
			if got != tt.want || !errors.Is(err, tt.err) || queries > 2 {
				t.Errorf("got %+v and %v after %d queries, want %+v and %v", got, err, queries, tt.want, tt.err)
			}
		})
	}
}
