package cardgateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// The life of a refund whose response is lost: it is looked for and not sent again, the gateway notifies that the money has
// been given back, and the nightly walk shows it once more.
func ExampleClient_CreateRefund() {
	ctx := context.Background()
	server, err := sandbox.Start(sandbox.Options{
		SecretKey:         "test-secret",
		RefundDuplicates:  sandbox.RefundDuplicatesExecuted, // a refund that is sent twice is paid twice
		RefundSettleAfter: -1,                               // accepted refunds wait for SettleRefund
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: "123456"})
	if err != nil {
		fmt.Println(err)
		return
	}

	// Where the gateway sends its notifications.
	refunded := make(chan *cardgateway.Refund, 1)
	shop := httptest.NewServer(notify.NewHandler(client, notify.Options{Verify: notify.SignatureSHA256("test-secret")},
		func(_ context.Context, n *notify.Notification) error {
			if n.Refund != nil { // as the gateway confirms it; nil if the notification is about something else
				refunded <- n.Refund
			}
			return nil
		}))
	defer shop.Close()

	// A payment of 12.50, with a card that is stored at the gateway.
	payment := tokenPayment("t-1010")
	payment.NotificationURL = shop.URL
	paid, err := client.TokenPayment(ctx, cardgateway.NewToken(server.NewToken(sandbox.Approved)), payment)
	if err != nil {
		fmt.Println(err)
		return
	}

	// 5.00 are given back. The gateway accepts that, and its response is lost.
	server.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Reply: sandbox.ReplyReset})
	_, err = client.CreateRefund(ctx, cardgateway.RefundRequest{
		UniqueID:            paid.UniqueID,
		RefundTransactionID: "r-1010", // stored before the call, and used for nothing else
		Amount:              decimal.RequireFromString("5.00"),
		Remark:              "one candle was broken",
	})
	unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err)
	fmt.Println("called:   outcome unknown", ok)

	// Do not send it again: query its outcome.
	query := unknown.Query()
	query.Wait = time.Millisecond // two minutes by default, in which an accepted refund may come to its end
	refund, err := client.ResolveRefund(ctx, query)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("resolved:", refund.Code)

	// Later the gateway makes the refund, and sends a notification.
	if err := server.SettleRefund("r-1010", true); err != nil {
		fmt.Println(err)
		return
	}
	refund = <-refunded
	fmt.Println("notified:", refund.Code, refund.MerchantRefundID, refund.RefundAmount.StringFixed(2))

	// The nightly walk over all refunds.
	for row, err := range client.Refunds(ctx, cardgateway.RefundQuery{Start: time.Now().Add(-24 * time.Hour), End: time.Now()}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("walked:  ", row.Code, row.MerchantRefundID, row.RefundAmount.StringFixed(2))
	}
	fmt.Println("money was given back", server.Refunded("r-1010"), "time")
	// Output:
	// called:   outcome unknown true
	// resolved: 110 (refund request successful)
	// notified: 111 (refund successful) r-1010 5.00
	// walked:   111 (refund successful) r-1010 5.00
	// money was given back 1 time
}
