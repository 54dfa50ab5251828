package cardgateway_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

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
				c := app111(t, answering(200, clienttest.ResponseFor("t-1", code, member)), anyAppID)
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
			c := app111(t, answering(200, refundRow(code, "9", member)), anyAppID)
			r, err := c.CreateRefund(t.Context(), refundRequest())
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
				c := app111(t, answering(200, page(orderRow(code, "1", member))), anyAppID)
				tx, err := c.Resolve(t.Context(), paymentSentNow())
				if got := clienttest.Outcome(tx, err); other != (got == "unknown") || other && !strings.Contains(err.Error(), "appId") {
					t.Errorf("Resolve, code %d: got %q (%v), other app: want %t", code, got, err, other)
				}
			})
		}
		for _, code := range []int{110, 111, 112} {
			synctest.Test(t, func(t *testing.T) {
				c := app111(t, answering(200, page(refundRow(code, "9", member))), anyAppID)
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
	synctest.Test(t, func(t *testing.T) {
		c := app111(t, answering(200, page(orderRow(100, "1", `,"appId":222`), orderRow(100, "2", `,"appId":111`))), false)
		if tx, err := c.Resolve(t.Context(), paymentSentNow()); err != nil || tx.UniqueID != "2" {
			t.Errorf("got %+v, %v, want the payment with uniqueId 2", tx, err)
		}
	})
}

// TestOtherAppInQueries: GetTransaction, which confirms, fails for another app's transaction; searches and walks return the
// rows of all apps, and IsOtherApp tells them apart.
func TestOtherAppInQueries(t *testing.T) {
	eachStatedApp(t, func(t *testing.T, member string, other, anyAppID bool) {
		c := app111(t, answering(200, orderRow(100, "1", member)), anyAppID)
		tx, err := c.GetTransaction(t.Context(), "1")
		if other != errors.Is(err, cardgateway.ErrQueryFailed) || other && !strings.Contains(err.Error(), "appId") || !other && err != nil {
			t.Errorf("GetTransaction: got %+v, %v, other app: want %t", tx, err, other)
		}
		if tx != nil && c.IsOtherApp(tx) {
			t.Errorf("IsOtherApp of what GetTransaction returned: got true")
		}
		c = app111(t, answering(200, page(orderRow(100, "1", member))), anyAppID)
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
