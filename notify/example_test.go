package notify_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/notify"
)

// newGateway returns a substitute for a gateway that knows one transaction, of 20.00 USD.
func newGateway() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"code":100,"uniqueId":"987654321","transactionId":"order-1","transactionAmount":"20.00","transactionCurrency":"USD"}`)
	}))
}

// deliver sends a notification as a gateway does.
func deliver(h http.Handler, target, body string) {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println("status", w.Code)
}

// The merchant's function sees each event once, with the transaction as the gateway confirms it: the amount of the
// payload, which is wrong here, does not matter.
func ExampleNewHandler() {
	gateway := newGateway()
	defer gateway.Close()
	client, err := cardgateway.New(cardgateway.Config{BaseURL: gateway.URL, AppID: "77"})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/gateway/notify", notify.NewHandler(client,
		notify.Options{Verify: notify.SignatureSHA256("test-secret")},
		func(ctx context.Context, n *notify.Notification) error {
			switch {
			case n.Refund != nil:
				fmt.Println("refund", n.Refund.RefundUniqueID, "is", n.Refund.Code)
			case n.Claimed.Kind == notify.KindChargeback:
				fmt.Println("have a look at", n.Transaction.TransactionID)
			case client.Paid(n.Transaction):
				fmt.Println(n.Transaction.TransactionID, "is paid:", n.Transaction.TransactionAmount.StringFixed(2))
			default:
				fmt.Println(n.Transaction.TransactionID, "is", n.Transaction.State())
			}
			return nil // or an error of the merchant's database: then the gateway repeats the notification
		}))

	const body = `{"code":100,"uniqueId":"987654321","transactionType":"Sale","transactionAmount":"1.00","sign":"%s"}`
	const sign = "501418f46cb035987e0c05f8637b45b0ffc2467a8d7ae50aebca6bb6fd68d800"
	deliver(mux, "/gateway/notify", fmt.Sprintf(body, sign))
	deliver(mux, "/gateway/notify", fmt.Sprintf(body, sign)) // a repetition
	deliver(mux, "/gateway/notify", fmt.Sprintf(body, "forged"))
	// Output:
	// order-1 is paid: 20.00
	// status 200
	// status 200
	// status 403
}

// To rotate a key, accept both for a while.
func ExampleSignatureSHA256() {
	verify := notify.AnySignature(
		notify.SignatureSHA256("the new key"),
		notify.SignatureSHA256("test-secret"),
	)
	n, err := notify.Parse([]byte(`{"code":100,"appId":77,"uniqueId":"987654321",`+
		`"transactionType":"Sale","transactionCurrency":"USD","transactionAmount":"20.00",`+
		`"transactionId":"WG-SIGN-TEST","timestamp":1756180000,`+
		`"sign":"1ecd74d78d8df6914bc553587967fe0662f6e1e4f726e2cff849940b0d3c9286"}`), "application/json")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verify(n))
	fmt.Println(notify.SignatureSHA256("another key")(n))
	// Output:
	// <nil>
	// notify: the notification's signature does not match
}

// The token of an order is accepted only at the URL of that order.
func ExampleTokenURLs() {
	urls, err := notify.NewTokenURLs("https://shop.example/gateway/notify", []byte("32 random bytes, kept like a password"))
	if err != nil {
		fmt.Println(err)
		return
	}
	notificationURL, err := urls.URL("order-1", time.Now().Add(24*time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	// Set TokenOrderRequest.NotificationURL to it, and notify.Options.TokenURLs to urls.
	u, err := url.Parse(notificationURL)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u.Path, len(notificationURL))
	fmt.Println(urls.Check(u, "order-1"))
	fmt.Println(urls.Check(u, "order-2"))
	// Output:
	// /gateway/notify 73
	// <nil>
	// notify: the URL was not created for the token of this transaction
}

// Tokens are passed on only if they came to their own URL, and only one for each order.
func ExampleOptions_tokens() {
	gateway := newGateway()
	defer gateway.Close()
	client, err := cardgateway.New(cardgateway.Config{BaseURL: gateway.URL, AppID: "77"})
	if err != nil {
		fmt.Println(err)
		return
	}
	urls, err := notify.NewTokenURLs("https://shop.example/gateway/notify", []byte("32 random bytes, kept like a password"))
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := notify.NewHandler(client, notify.Options{TokenURLs: urls},
		func(ctx context.Context, n *notify.Notification) error {
			if !n.Token.IsZero() {
				fmt.Println("token", n.Token, "of", n.Transaction.TransactionID) // it prints masked; Reveal is for storing it
			}
			return nil
		})
	notificationURL, err := urls.URL("order-1", time.Now().Add(24*time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	const body = `{"code":100,"uniqueId":"987654321","transactionType":"Tokenization","transactionId":"order-1","token":"%s"}`
	deliver(handler, "https://shop.example/gateway/notify", fmt.Sprintf(body, "tok-forged"))
	deliver(handler, notificationURL, fmt.Sprintf(body, "tok-1"))
	deliver(handler, notificationURL, fmt.Sprintf(body, "tok-other"))
	// Output:
	// status 403
	// token *** of order-1
	// status 200
	// status 409
}
