package notify_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// counting counts requests.
type counting struct {
	http.RoundTripper
	n *int
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	*c.n++
	return c.RoundTripper.RoundTrip(r)
}

// TestSlowRefund: a gateway that finds refunds by the time of their request still confirms one that completes weeks later, up
// to the limit in the documentation. A refund that does not exist costs no more queries than that.
func TestSlowRefund(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name      string
		after     time.Duration // the payment, the refund is requested
		completes time.Duration // after its request
		id        string        // claimed
		status    int
		queries   int
	}{
		{"at once", 0, time.Minute, "r", 200, 2},
		{"at once, of an old payment", 90 * day, time.Minute, "r", 200, 2},
		{"after 26 days", 0, 26 * day, "r", 200, 2},
		{"after 28 days", 0, 28 * day, "r", 200, 3},
		{"after 53 days, of an old payment", 90 * day, 53 * day, "r", 200, 3},
		{"after 55 days", 0, 55 * day, "r", 503, 3},
		{"one that does not exist, of a young payment", 0, time.Minute, "x", 503, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gateway := sandbox.New(sandbox.Options{RefundSettleAfter: tt.completes, NoNotifications: true})
				defer gateway.Close()
				queries := 0
				entry := sandbox.TestCard(sandbox.Approved)
				client := newClient(t, counting{gateway.RoundTripper(), &queries})
				paid, err := client.CreateSubscription(t.Context(), clienttest.SubscriptionRequest("a", clienttest.NewCard(entry.Number, entry.CVV)))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(tt.after)
				if _, err := client.CreateRefund(
					t.Context(), cardgateway.RefundRequest{UniqueID: paid.UniqueID, RefundTransactionID: "r", Amount: decimal.New(1, 0)},
				); err != nil {
					t.Fatal(err)
				}
				time.Sleep(tt.completes + time.Minute)
				queries = 0
				s := newShop(t, notify.Options{})
				s.Handler = notify.NewHandler(client, notify.Options{}, func(_ context.Context, n *notify.Notification) error {
					s.handled = append(s.handled, *n)
					return nil
				})
				w := s.post("", fmt.Sprintf(`{"transactionType":"Refund","code":111,"uniqueId":%q,"transactionId":"a","merchantRefundId":%q}`, paid.UniqueID, tt.id))
				if w.Code != tt.status || queries != tt.queries {
					t.Errorf("status %d with %d queries, want %d with %d", w.Code, queries, tt.status, tt.queries)
				}
				if tt.status == 200 && (len(s.handled) != 1 || s.handled[0].Refund == nil || !s.handled[0].Refund.Refunded()) {
					t.Errorf("handled %+v, want one refund", s.handled)
				}
			})
		})
	}
}
