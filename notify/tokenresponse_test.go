package notify_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/notify"
)

// TestTokenInResponses: the gateway repeats the token in its responses to the queries. It stays in the ids, which are compared, and
// in the redirect URL; it is in nothing else that the merchant gets, in no error, no log line, and not in what the client observes.
func TestTokenInResponses(t *testing.T) {
	const (
		order = `{"code":100,"uniqueId":"7","transactionId":"T","message":"T","billDescription":"T","transactionMessage":"T",` +
			`"transactionMethod":"T","transactionType":"T","transactionCurrency":"T","transactionCardNumber":"T","other":["T"],"T":1,` +
			`"billingAddress":{"firstName":"T","lastName":"T","country":"T","email":"T","city":"T","address":"T","phone":"T","state":"T","zipCode":"T","other":"T"}}`
		refund = `{"code":121,"message":"T","totalCount":1,"data":[{"code":111,"uniqueId":"7","refundUniqueId":"8","merchantRefundId":"T",` +
			`"message":"T","refundCurrency":"T","other":{"T":"T"}}]}`
	)
	for _, tt := range []struct {
		name, order, refunds string
		fails                bool
	}{
		{"a payment", order, "", false},
		{"a refund", order, refund, false},
		{"an error", `{"code":999,"message":"token T is not stored yet"}`, "", true},
		{"an error of a refund", order, `{"code":999,"message":"token T is not stored yet"}`, true},
		{"no JSON", "<T>", "", true},
		{"a row that cannot be read", order, strings.Replace(refund, `"uniqueId":"7"`, `"uniqueId":["T"]`, 1), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, token := range []string{"tok-0123456789abcdef", `tok-"\/ü+ 123456789`} {
				var told bytes.Buffer
				c := clienttest.NewClient(t, cardgateway.Config{
					BaseURL: clienttest.BaseURL, KeepResponses: true, Logger: slog.New(slog.NewJSONHandler(&told, &slog.HandlerOptions{Level: slog.LevelDebug})),
					Observe: func(ctx context.Context, _ cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
						fmt.Fprintf(&told, "%v %+v\n", ctx, ctx)
						return ctx, func(info cardgateway.CallInfo) { fmt.Fprintf(&told, "%+v %v\n", info, info.Err) }
					},
					HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
						body := tt.order
						if strings.Contains(r.URL.Path, "refund") {
							body = tt.refunds
						}
						body = strings.ReplaceAll(body, "T", strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(token))
						return &http.Response{
							StatusCode: http.StatusOK, Header: http.Header{"X-Request-Id": {token}}, Request: r, Body: io.NopCloser(strings.NewReader(body)),
						}, nil
					})},
				})
				n := &notify.Notification{Token: cardgateway.NewToken(token), Claimed: notify.Claims{UniqueID: "7", TransactionID: token}}
				if tt.refunds != "" {
					n.Claimed.Kind, n.Claimed.RefundUniqueID = notify.KindRefund, "8"
				}
				err := notify.Confirm(t.Context(), c, n)
				if (err != nil) != tt.fails {
					t.Fatalf("got %v", err)
				}
				fmt.Fprintf(&told, "%v %+v\n", err, err)
				if failed, ok := err.(*cardgateway.QueryError); ok {
					fmt.Fprintf(&told, "%+v %+v\n", *failed, failed.Raw)
				}
				if p := n.Transaction; p != nil {
					kept := *p
					kept.TransactionID = ""
					fmt.Fprintf(&told, "%+v %+v %+v %s\n", kept, kept.Raw, kept.BillingAddress, kept.Extra)
				}
				if r := n.Refund; r != nil {
					kept := *r
					kept.RefundUniqueID, kept.MerchantRefundID = "", ""
					fmt.Fprintf(&told, "%+v %s\n", kept, kept.Extra)
				}
				if text := told.String(); strings.Contains(text, token) || strings.Contains(text, "123456789") {
					t.Errorf("the token is in %s", text)
				}
			}
		})
	}
}
