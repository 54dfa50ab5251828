package cardgateway_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// open starts a sandbox and a client for it; the examples need no account.
func open() (*cardgateway.Client, *sandbox.Server) {
	server, err := sandbox.Start(sandbox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: "123456", TestPayments: true})
	if err != nil {
		log.Fatal(err)
	}
	return client, server
}

func candles() []cardgateway.ProductInfo {
	return []cardgateway.ProductInfo{{ProductName: "Candles", SKU: "123-456", Quantity: 1, Price: decimal.RequireFromString("12.50")}}
}

func tokenPayment(id string) cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID:   id,
		Currency:        "USD",
		Amount:          decimal.RequireFromString("12.50"),
		TransactionIP:   "203.0.113.7",
		CallbackURL:     "https://shop.example/orders/" + id,
		NotificationURL: "https://shop.example/notifications/" + id,
		ProductInfos:    candles(),
	}
}

// storeCard acts as a cardholder who enters a card on the hosted page, and returns its token.
func storeCard(client *cardgateway.Client, server *sandbox.Server, id string, card sandbox.Outcome) cardgateway.Token {
	t, err := client.CreateTokenOrder(context.Background(), cardgateway.TokenOrderRequest{
		TransactionID: id, OrderID: id, Currency: "USD", Amount: decimal.RequireFromString("12.50"),
		TransactionIP: "203.0.113.7", CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: candles(), BillingAddress: cardgateway.Address{Country: "US"},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := server.EnterCard(t.RedirectURL, sandbox.TestCard(card)); err != nil {
		log.Fatal(err)
	}
	token, err := server.Token(id)
	if err != nil {
		log.Fatal(err)
	}
	return cardgateway.NewToken(token)
}

// A checkout, from the request to the paid order. The sandbox takes the place of the gateway and of the cardholder.
func Example() {
	server, err := sandbox.Start(sandbox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: "123456", TestPayments: true}) // its payments are tests
	if err != nil {
		log.Fatal(err)
	}

	order, err := client.CreateCheckout(context.Background(), cardgateway.CheckoutRequest{
		TransactionID:   "t-1000",
		OrderID:         "o-1000",
		Currency:        "USD",
		Amount:          decimal.RequireFromString("12.50"),
		TransactionIP:   "203.0.113.7",
		CallbackURL:     "https://shop.example/orders/1000",
		NotificationURL: "https://shop.example/notifications",
		ProductInfos:    []cardgateway.ProductInfo{{ProductName: "Candles", Quantity: 1, Price: decimal.RequireFromString("12.50")}},
		BillingAddress:  cardgateway.Address{Country: "US"},
	})
	if err != nil {
		log.Fatal(err) // see the example of outcomes
	}
	fmt.Println(order.State()) // redirect the cardholder to order.RedirectURL

	if _, err := server.EnterCard(order.RedirectURL, sandbox.TestCard(sandbox.Approved)); err != nil {
		log.Fatal(err)
	}
	paid, err := client.GetTransaction(context.Background(), order.UniqueID) // after the notification, which package notify receives
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(paid.State(), client.Paid(paid))
	// Output:
	// redirect
	// approved true
}

// What to do after each outcome of a payment.
func Example_outcomes() {
	client, server := open()
	defer server.Close()
	approved, declined := storeCard(client, server, "stored-1", sandbox.Approved), storeCard(client, server, "stored-2", sandbox.Declined)
	server.Inject(sandbox.Fault{TransactionID: "t-3", Reply: sandbox.ReplyReset}) // its response is lost

	pay := func(token cardgateway.Token, id string) string {
		payment, err := client.TokenPayment(context.Background(), token, tokenPayment(id))
		switch {
		case err == nil && client.Paid(payment):
			return "ship the order"
		case err == nil && payment.State() == cardgateway.StateRedirect:
			return "redirect the cardholder to payment.RedirectURL"
		case err == nil:
			return "in processing: the outcome comes later"
		case cardgateway.SafeToRetry(err):
			return "nothing was sent: call again with the same id"
		case errors.Is(err, cardgateway.ErrDeclined):
			return "declined: offer to pay with another card, under a new id"
		case errors.Is(err, cardgateway.ErrOutcomeUnknown):
			return "it may be paid: resolve it, and do not call again"
		case errors.Is(err, cardgateway.ErrTestPayment):
			return "approved as a test: it is not paid"
		case errors.Is(err, cardgateway.ErrInvalidRequest), errors.Is(err, cardgateway.ErrRefused):
			return "not processed: correct the request or the configuration"
		}
		return err.Error() // there is no other outcome
	}
	fmt.Println(pay(approved, "t-1"))
	fmt.Println(pay(declined, "t-2"))
	fmt.Println(pay(approved, "t-3"))
	fmt.Println(pay(approved, ""))
	// Output:
	// in processing: the outcome comes later
	// declined: offer to pay with another card, under a new id
	// it may be paid: resolve it, and do not call again
	// not processed: correct the request or the configuration
}

func ExampleNew() {
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL:      "https://gateway.example",
		AppID:        "123456",
		Authenticate: cardgateway.BasicAuth("merchant", "secret key"), // as published; from the environment or a vault
		Logger:       slog.Default(),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.BaseURL(), client.AppID())

	_, err = cardgateway.New(cardgateway.Config{BaseURL: "http://gateway.example", AppID: "shop"})
	fmt.Println(err)
	// Output:
	// https://gateway.example 123456
	// cardgateway: New: invalid request: BaseURL must be https, or http to a loopback host; AppID must be 1 to 32 digits
}

func ExampleClient_CreateTokenOrder() {
	client, server := open()
	defer server.Close()

	order, err := client.CreateTokenOrder(context.Background(), cardgateway.TokenOrderRequest{
		TransactionID:   "t-1001",
		OrderID:         "o-1001",
		Currency:        "USD",
		Amount:          decimal.RequireFromString("12.50"),
		TransactionIP:   "203.0.113.7",
		CallbackURL:     "https://shop.example/orders/1001",
		NotificationURL: "https://shop.example/notifications/1001",
		ProductInfos:    candles(),
		BillingAddress:  cardgateway.Address{Country: "US"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(order.State(), order.RedirectURL != "") // redirect the cardholder there
	// Output: redirect true
}

func ExampleClient_TokenPayment() {
	client, server := open()
	defer server.Close()
	token := storeCard(client, server, "store", sandbox.Approved)

	payment, err := client.TokenPayment(context.Background(), token, tokenPayment("t-1002"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.State()) // the outcome is known later

	later, err := client.GetTransaction(context.Background(), payment.UniqueID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(later.State(), client.Paid(later), later.TransactionAmount.StringFixed(2), later.TransactionCardNumber)
	// Output:
	// processing
	// approved true 12.50 430000******0000
}

func ExampleClient_TokenPayment_declined() {
	client, server := open()
	defer server.Close()
	token := storeCard(client, server, "store", sandbox.Declined)

	_, err := client.TokenPayment(context.Background(), token, tokenPayment("t-1003"))
	if declined, ok := errors.AsType[*cardgateway.DeclinedError](err); ok {
		fmt.Println(declined.Transaction.TransactionMessage)
	}
	fmt.Println(cardgateway.SafeToRetry(err))
	// Output:
	// Declined
	// false
}

func ExampleClient_Resolve() {
	client, server := open()
	defer server.Close()
	token := storeCard(client, server, "store", sandbox.Approved)

	// The gateway charges the card, and its response is lost.
	server.Inject(sandbox.Fault{TransactionID: "t-1004", Reply: sandbox.ReplyReset})
	_, err := client.TokenPayment(context.Background(), token, tokenPayment("t-1004"))

	unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
	if !ok {
		fmt.Println(err)
		return
	}
	settled, err := client.Resolve(context.Background(), unknown.Query())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(settled.State(), "and charged", server.Executed("t-1004"), "time")
	// Output: approved and charged 1 time
}

func ExampleClient_CreateSubscription() {
	client, server := open()
	defer server.Close()

	card := cardgateway.Card{
		CardNumber:   cardgateway.NewCardNumber("4300000000000000"),
		CVV:          cardgateway.NewCVV("123"),
		ExpiredMonth: "12", ExpiredYear: "35",
		Cardholder: "Ada Gross",
	}
	defer card.Wipe()
	subscription, err := client.CreateSubscription(context.Background(), cardgateway.SubscriptionRequest{
		TransactionID:   "t-1005",
		OrderID:         "o-1005",
		Currency:        "USD",
		Amount:          decimal.RequireFromString("12.50"),
		TransactionIP:   "203.0.113.7",
		CallbackURL:     "https://shop.example/orders/1005",
		NotificationURL: "https://shop.example/notifications/1005",
		ProductInfos:    candles(),
		BillingAddress:  cardgateway.Address{Country: "US"},
		Card:            card,
		Extension:       cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(subscription.State(), card)
	// Output: approved card 430000******0000
}

func ExampleClient_CreateCheckout() {
	client, server := open()
	defer server.Close()

	checkout, err := client.CreateCheckout(context.Background(), cardgateway.CheckoutRequest{
		TransactionID:   "t-1006",
		OrderID:         "o-1006",
		Currency:        "USD",
		Amount:          decimal.RequireFromString("12.50"),
		TransactionIP:   "203.0.113.7",
		CallbackURL:     "https://shop.example/orders/1006",
		NotificationURL: "https://shop.example/notifications/1006",
		ProductInfos:    candles(),
		BillingAddress:  cardgateway.Address{Country: "US"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(checkout.State(), checkout.RedirectURL != "")
	// Output: redirect true
}

func ExampleClient_CreateCheckoutSubscription() {
	client, server := open()
	defer server.Close()

	checkout, err := client.CreateCheckoutSubscription(context.Background(), cardgateway.CheckoutSubscriptionRequest{
		TransactionID:   "t-1007",
		OrderID:         "o-1007",
		Currency:        "USD",
		Amount:          decimal.RequireFromString("12.50"),
		TransactionIP:   "203.0.113.7",
		CallbackURL:     "https://shop.example/orders/1007",
		NotificationURL: "https://shop.example/notifications/1007",
		ProductInfos:    candles(),
		BillingAddress:  cardgateway.Address{Country: "US"},
		Extension:       cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleMonth, SubscriptionPeriod: 12},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(checkout.State(), checkout.RedirectURL != "")
	// Output: redirect true
}

func ExampleClient_SearchOrders() {
	client, server := open()
	defer server.Close()
	now := time.Now()
	server.Gateway.Seed(50, now.AddDate(0, 0, -7), now)

	page, err := client.SearchOrders(context.Background(), cardgateway.OrderQuery{
		Start: now.AddDate(0, 0, -7), End: now,
	}, cardgateway.PageRequest{PageSize: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("page %d of %d: %d of %d orders\n", page.CurrPage, page.TotalPage, len(page.Data), page.TotalCount)
	// Output: page 1 of 3: 20 of 50 orders
}

func ExampleClient_GetTransaction() {
	client, server := open()
	defer server.Close()

	_, err := client.GetTransaction(context.Background(), "1867098610731065345")
	fmt.Println(errors.Is(err, cardgateway.ErrNotFound))
	// Output: true
}

func ExampleClient_SearchRefunds() {
	client, server := open()
	defer server.Close()
	token := storeCard(client, server, "store", sandbox.Approved)
	payment, err := client.TokenPayment(context.Background(), token, tokenPayment("t-1008"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := server.Gateway.Refund(payment.UniqueID, "2.50", "r-1008"); err != nil {
		fmt.Println(err)
		return
	}

	page, err := client.SearchRefunds(context.Background(), cardgateway.RefundQuery{
		RefundTransactionID: "r-1008", Start: time.Now().Add(-time.Hour), End: time.Now().Add(time.Hour),
	}, cardgateway.PageRequest{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, refund := range page.Data {
		fmt.Println(refund.Code, refund.RefundAmount.StringFixed(2), refund.RefundCurrency)
	}
	// Output: 111 (refund successful) 2.50 USD
}

func ExampleValidationError() {
	client, server := open()
	defer server.Close()

	req := tokenPayment("t-1009")
	req.Currency, req.Amount = "usd", decimal.RequireFromString("12.5001")
	_, err := client.TokenPayment(context.Background(), cardgateway.NewToken("tok"), req)
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		for _, p := range invalid.Problems {
			fmt.Println(p.Field, p.Message)
		}
	}
	// Output:
	// currency must be 3 capital letters
	// amount has 4 decimals, at most 3 are allowed
}

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
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: "123456", TestPayments: true})
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
