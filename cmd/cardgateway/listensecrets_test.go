package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestListenPrintsNoSecret: a token, card numbers and the secret key are in nothing that is printed, whatever a
// program answers, while the program itself gets them.
func TestListenPrintsNoSecret(t *testing.T) {
	server := notifyingGateway(t)
	env := environment(server.URL)
	client := clientOf(t, server, "7")
	urls, err := notify.NewTokenURLs("https://shop.example/notify", []byte("a key for a test, of more than 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	const card = "4300000000000000"
	var token string
	handler := notify.NewHandler(client, notify.Options{Verify: notify.SignatureSHA256(secretKey), TokenURLs: urls},
		func(_ context.Context, n *notify.Notification) error {
			token = n.Token.Reveal()
			return nil
		})
	shop := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		status := httptest.NewRecorder()
		handler.ServeHTTP(status, r)
		w.Header().Set("Location", "/"+token)
		w.WriteHeader(status.Code)
		_, _ = io.WriteString(w, token+" of card "+card+", key "+secretKey+strings.Repeat("x", 140)+token)
	})
	l := listen(t, env, "--forward-to", shop.URL, "--verbose")
	id := "order-1"
	bound, err := urls.URL(id, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	_, binding, _ := strings.Cut(bound, "?")
	order, err := client.CreateTokenOrder(t.Context(), cardgateway.TokenOrderRequest{
		TransactionID: id, OrderID: id, Currency: "EUR", Amount: decimal.RequireFromString("12.50"), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: l.url + "/n?" + binding,
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candles"}}, BillingAddress: cardgateway.Address{Country: "US"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.EnterCard(order.RedirectURL, sandbox.TestCard(sandbox.Approved)); err != nil {
		t.Fatal(err)
	}
	succeeds(t, server.Flush(t.Context()))
	r := l.end(t)
	r.want(t, exit.OK, "received 1: forwarded 1")
	if made, err := server.Token(id); err != nil || token != made {
		t.Fatalf("the program did not get the token: %v", err)
	}
	wantWords(t, r.out, "with a token")
	lacks(t, r.out+r.err, token[:8], token[3:], secretKey[:8], card, strings.TrimPrefix(binding, "bind="))
}
