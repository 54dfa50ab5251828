package journal_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// answersOnce is a gateway that responds to payments and refunds, and whose searches return nothing.
type answersOnce struct {
	status int
	body   string
}

func (g answersOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := g.status, g.body
	if r.Method == http.MethodPost {
		_, _ = io.Copy(io.Discard, r.Body)
	} else {
		status, body = 200, `{"code":121,"totalCount":0,"data":[]}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// TestAnsweredIsNeverAbsent: if the response to the call itself contained the payment, it is never presumed absent, even
// if that response cannot be trusted.
func TestAnsweredIsNeverAbsent(t *testing.T) {
	payment := `{"code":100,"uniqueId":"1","transactionId":"a","transactionAmount":"12.50","transactionCurrency":"USD"}`
	refund := `{"code":110,"uniqueId":"77","refundTransactionId":"a","refundUniqueId":"9","refundAmount":"12.50"}`
	for _, tt := range []struct {
		name     string
		status   int
		old, new string // what is replaced in the response
		want     string
	}{
		{"another amount", 200, "12.50", "12.51", "unknown"},
		{"a code that says nothing, with an id of the gateway's", 200, "10", "77", "unknown"},
		{"with HTTP 500", 500, "", "", "unknown"},
		{"another id", 200, `"a"`, `"b"`, "presumed absent"},
		{"no id", 200, `d":"a"`, `d":""`, "presumed absent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for kind, body := range map[string]string{"payment": payment, "refund": refund} {
				synctest.Test(t, func(t *testing.T) {
					body := strings.Replace(body, tt.old, tt.new, 1)
					client, err := cardgateway.New(cardgateway.Config{
						BaseURL: "https://gateway.example", AppID: "1", HTTPClient: &http.Client{Transport: answersOnce{tt.status, body}},
					})
					if err != nil {
						t.Fatal(err)
					}
					j := journal.New(client, journal.NewMemoryStore(), journal.Options{})
					if kind == "payment" {
						_, err = j.TokenPayment(t.Context(), cardgateway.NewToken("a-token"), cardgateway.TokenPaymentRequest{
							TransactionID: "a", Currency: "USD", Amount: decimal.RequireFromString("12.50"), TransactionIP: "203.0.113.7",
							CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify",
							ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candles"}},
						})
					} else {
						_, err = j.CreateRefund(t.Context(), cardgateway.RefundRequest{
							UniqueID: "77", RefundTransactionID: "a", Amount: decimal.RequireFromString("12.50"),
						})
					}
					seen := false
					if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok {
						seen = unknown.Seen
					}
					if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
						seen = unknown.Seen
					}
					if !errors.Is(err, cardgateway.ErrOutcomeUnknown) || seen != (tt.want == "unknown") {
						t.Fatalf("%s, %s: got %v, seen %t", tt.name, kind, err, seen)
					}
					got := "nothing was told"
					for range 3 {
						time.Sleep(30 * time.Hour)
						for entry, err := range j.Recover(t.Context()) {
							if err != nil {
								t.Fatal(err)
							}
							got = fmt.Sprint(entry.State())
						}
					}
					if got != tt.want {
						t.Errorf("%s, %s: got %q, want %q", tt.name, kind, got, tt.want)
					}
				})
			}
		})
	}
}
