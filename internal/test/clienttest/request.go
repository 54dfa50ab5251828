package clienttest

import (
	"context"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

// BaseURL is the address of a gateway that does not exist: a transport responds instead.
const BaseURL = "https://gateway.test/base"

// Secrets that the tests send. The token has characters that are escaped in a path.
const (
	CardNumber = "4111111111111111"
	CVV        = "973"
	Token      = "tk/9f8e+7d6c5b4a=x"
	Merchant   = "merchant-77"
	SecretKey  = "key-f00dfacecafe"
	BasicValue = "bWVyY2hhbnQtNzc6a2V5LWYwMGRmYWNlY2FmZQ==" // of both, with HTTP Basic authentication
)

// Amount is the amount of the requests of this package.
var Amount = decimal.RequireFromString("12.50")

// NewCard returns a card that is valid except for the two given values.
func NewCard(number, cvv string) cardgateway.Card {
	return cardgateway.Card{
		CardNumber: cardgateway.NewCardNumber(number), CVV: cardgateway.NewCVV(cvv),
		ExpiredMonth: "12", ExpiredYear: "39", Cardholder: "Ada Example",
	}
}

func products() []cardgateway.ProductInfo {
	return []cardgateway.ProductInfo{{ProductName: "Candles", SKU: "123-456"}}
}

// TokenPaymentRequest returns a valid request with that transactionId.
func TokenPaymentRequest(id string) cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID: id, Currency: "USD", Amount: Amount, TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify", ProductInfos: products(),
	}
}

// SubscriptionRequest returns a valid request with that transactionId.
func SubscriptionRequest(id string, card cardgateway.Card) cardgateway.SubscriptionRequest {
	return cardgateway.SubscriptionRequest{
		TransactionID: id, OrderID: "order-" + id, Currency: "USD", Amount: Amount, TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify", ProductInfos: products(),
		BillingAddress: cardgateway.Address{Country: "US"}, Card: card,
		Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3},
	}
}

// PaymentOperation calls one payment operation with a valid request.
type PaymentOperation struct {
	Name string
	Call func(ctx context.Context, c *cardgateway.Client, id string) (*cardgateway.Transaction, error)
}

// PaymentOperations has all five. Those that send a secret come first.
var PaymentOperations = []PaymentOperation{
	{"TokenPayment", func(ctx context.Context, c *cardgateway.Client, id string) (*cardgateway.Transaction, error) {
		return c.TokenPayment(ctx, cardgateway.NewToken(Token), TokenPaymentRequest(id))
	}},
	{"CreateSubscription", func(ctx context.Context, c *cardgateway.Client, id string) (*cardgateway.Transaction, error) {
		return c.CreateSubscription(ctx, SubscriptionRequest(id, NewCard(CardNumber, CVV)))
	}},
	{"CreateTokenOrder", func(ctx context.Context, c *cardgateway.Client, id string) (*cardgateway.Transaction, error) {
		return c.CreateTokenOrder(ctx, cardgateway.TokenOrderRequest{
			TransactionID: id, OrderID: "order-" + id, Currency: "USD", Amount: Amount, TransactionIP: "203.0.113.7",
			CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify",
			ProductInfos: products(), BillingAddress: cardgateway.Address{Country: "US"},
		})
	}},
	{"CreateCheckout", func(ctx context.Context, c *cardgateway.Client, id string) (*cardgateway.Transaction, error) {
		return c.CreateCheckout(ctx, cardgateway.CheckoutRequest{
			TransactionID: id, OrderID: "order-" + id, Currency: "USD", Amount: Amount, TransactionIP: "203.0.113.7",
			CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify",
			ProductInfos: products(), BillingAddress: cardgateway.Address{Country: "US"},
		})
	}},
	{"CreateCheckoutSubscription", func(ctx context.Context, c *cardgateway.Client, id string) (*cardgateway.Transaction, error) {
		return c.CreateCheckoutSubscription(ctx, cardgateway.CheckoutSubscriptionRequest{
			TransactionID: id, OrderID: "order-" + id, Currency: "USD", Amount: Amount, TransactionIP: "203.0.113.7",
			CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify",
			ProductInfos: products(), BillingAddress: cardgateway.Address{Country: "US"},
			Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3},
		})
	}},
}

// PayByToken makes a valid token payment.
func PayByToken(ctx context.Context, c *cardgateway.Client, id string) (*cardgateway.Transaction, error) {
	return PaymentOperations[0].Call(ctx, c, id)
}

// NewClient returns a client of app 1, unless cfg names another. Its retries have almost no pause.
func NewClient(t testing.TB, cfg cardgateway.Config) *cardgateway.Client {
	t.Helper()
	if cfg.AppID == "" {
		cfg.AppID = "1"
	}
	if cfg.Retry.MinWait == 0 {
		cfg.Retry.MinWait = time.Nanosecond
	}
	c, err := cardgateway.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}
