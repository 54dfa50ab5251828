package notify_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestNotificationsOfSandbox lets the sandbox send every kind of notification over a socket, while the merchant's function
// fails the first time for each event.
func TestNotificationsOfSandbox(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	gateway, err := sandbox.Start(sandbox.Options{
		MerchantID: "m", SecretKey: "test-secret", SettleAfter: -1, Notifications: sandbox.Notifications{Scale: 1e-4},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	client := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: gateway.URL, AppID: "77", TestPayments: true, Authenticate: cardgateway.BasicAuth("m", "test-secret"),
	})
	mux := http.NewServeMux()
	shop := httptest.NewServer(mux)
	defer shop.Close()
	urls, err := notify.NewTokenURLs(shop.URL+"/notify", []byte("a key for a test, of more than 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan *notify.Notification, 100)
	var calls atomic.Int64
	mux.Handle("/notify", notify.NewHandler(client,
		notify.Options{Verify: notify.SignatureSHA256("test-secret"), TokenURLs: urls, QueriesPerSecond: 1000},
		func(_ context.Context, n *notify.Notification) error {
			if calls.Add(1)%2 == 1 {
				return errors.New("not this time")
			}
			arrived <- n
			return nil
		}))
	next := func(transactionID string) *notify.Notification {
		t.Helper()
		if err := gateway.Gateway.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case n := <-arrived:
			if n.Transaction.TransactionID != transactionID {
				t.Fatalf("notification: got one about %q, want %q", n.Transaction.TransactionID, transactionID)
			}
			return n
		default:
			t.Fatalf("no notification about %s", transactionID)
			return nil
		}
	}
	products := []cardgateway.ProductInfo{{ProductName: "Candles"}}
	price := decimal.RequireFromString("8.88")

	bound, err := urls.URL("order-1", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	order, err := client.CreateTokenOrder(ctx, cardgateway.TokenOrderRequest{
		TransactionID: "order-1", OrderID: "1", Currency: "USD", Amount: price, TransactionIP: "127.0.0.1",
		CallbackURL: shop.URL, NotificationURL: bound, ProductInfos: products,
		BillingAddress: cardgateway.Address{Country: "US"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.Gateway.EnterCard(order.RedirectURL, sandbox.TestCard(sandbox.Approved)); err != nil {
		t.Fatal(err)
	}
	tokenized := next("order-1")
	if token, err := gateway.Gateway.Token("order-1"); err != nil || tokenized.Token.Reveal() != token || !tokenized.Bound {
		t.Fatalf("token: got another than the gateway's, or unbound: %+v, %v", tokenized, err)
	}

	payment, err := client.TokenPayment(ctx, tokenized.Token, cardgateway.TokenPaymentRequest{
		TransactionID: "payment-1", Currency: "USD", Amount: price, TransactionIP: "127.0.0.1",
		CallbackURL: shop.URL, NotificationURL: shop.URL + "/notify", ProductInfos: products,
	})
	if err != nil {
		t.Fatal(err)
	}
	gateway.Gateway.Settle("payment-1", true)
	if n := next("payment-1"); n.Transaction.State() != cardgateway.StateApproved || n.Claimed.Kind != notify.KindPayment {
		t.Errorf("payment: got %v of %v, want it paid", n.Claimed.Kind, n.Transaction.State())
	}
	if err := gateway.Gateway.Notify("payment-1"); err != nil {
		t.Fatal(err)
	}

	refundID, err := gateway.Gateway.Refund(payment.UniqueID, "1.00", "refund-1")
	if err != nil {
		t.Fatal(err)
	}
	n := next("payment-1")
	if n.Refund == nil || n.Refund.RefundUniqueID != refundID || n.Refund.RefundAmount.StringFixed(2) != "1.00" {
		t.Errorf("refund: got %+v, want %s of 1.00", n.Refund, refundID)
	}
	if err := gateway.Gateway.Chargeback(payment.UniqueID); err != nil {
		t.Fatal(err)
	}
	if n := next("payment-1"); n.Claimed.Kind != notify.KindChargeback || n.Refund != nil {
		t.Errorf("chargeback: got %v", n.Claimed.Kind)
	}
	if len(arrived) != 0 || calls.Load() != 8 {
		t.Errorf("got %d further events and %d calls, want none and 8: twice for each of four", len(arrived), calls.Load())
	}
}
