package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Order is one thing that a customer buys: a payment with a card, or with a stored one.
type Order struct {
	ID     string
	Token  bool // paid by TokenPayment; otherwise by CreateSubscription
	Card   sandbox.Outcome
	Amount string
}

// Orders returns n orders. One in ten is declined by its issuer, one in twenty stays in processing for a while, one in four
// is paid with a token.
func Orders(seed uint64, n int) []Order {
	chance := rand.New(rand.NewPCG(seed, 1))
	all := make([]Order, n)
	for i := range all {
		o := Order{ID: fmt.Sprintf("pay-%d-%06d", seed, i), Token: chance.IntN(4) == 0, Amount: fmt.Sprintf("%d.%02d", 1+i%90, i%100)}
		switch d := chance.IntN(20); {
		case d < 2:
			o.Card = sandbox.Declined
		case d == 2 && !o.Token:
			o.Card = sandbox.Pending
		default:
			o.Card = sandbox.Approved
		}
		all[i] = o
	}
	return all
}

const (
	shopURL = "https://shop.example/return"
	shopIP  = "192.0.2.1"
)

var products = []cardgateway.ProductInfo{{ProductName: "Candle", SKU: "c-1", Quantity: 1}}

func (o *Order) subscription() cardgateway.SubscriptionRequest {
	card := sandbox.TestCard(o.Card)
	return cardgateway.SubscriptionRequest{
		TransactionID: o.ID, OrderID: "order-" + o.ID, Currency: "USD", Amount: decimal.RequireFromString(o.Amount),
		TransactionIP: shopIP, CallbackURL: shopURL, NotificationURL: shopURL, ProductInfos: products,
		BillingAddress: cardgateway.Address{Country: "US", FirstName: "Ada", LastName: "Example"},
		Card: cardgateway.Card{
			CardNumber: cardgateway.NewCardNumber(card.Number), CVV: cardgateway.NewCVV(card.CVV),
			ExpiredMonth: card.Month, ExpiredYear: card.Year, Cardholder: card.Cardholder,
		},
		Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3},
	}
}

func (o *Order) tokenPayment() cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID: o.ID, Currency: "USD", Amount: decimal.RequireFromString(o.Amount), TransactionIP: shopIP,
		CallbackURL: shopURL, NotificationURL: shopURL, ProductInfos: products,
	}
}

// payer is a client or a journal.
type payer interface {
	TokenPayment(context.Context, cardgateway.Token, cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error)
	CreateSubscription(context.Context, cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error)
	CreateRefund(context.Context, cardgateway.RefundRequest) (*cardgateway.Refund, error)
}

// pay makes the payment. The token counts only if the order is paid by one.
func (o *Order) pay(ctx context.Context, p payer, token string) (*cardgateway.Transaction, error) {
	if o.Token {
		return p.TokenPayment(ctx, cardgateway.NewToken(token), o.tokenPayment())
	}
	return p.CreateSubscription(ctx, o.subscription())
}

func (o *Order) id() string { return o.ID }

func (o *Order) submit(ctx context.Context, by payer, tokens map[sandbox.Outcome]string) (Verdict, error) {
	t, err := o.pay(ctx, by, tokens[o.Card])
	return verdictOf(t, err), err
}

func (o *Order) resolve(ctx context.Context, c *cardgateway.Client, lost error) Verdict {
	r := o.tokenPayment()
	q := cardgateway.ResolveQuery{TransactionID: o.ID, Amount: r.Amount, Currency: r.Currency, SentAt: time.Now().Add(-time.Hour), Wait: 1}
	if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](lost); ok {
		q = unknown.Query()
		q.Wait = 5 * patience // late deliveries are over by then
	}
	return verdictOf(c.Resolve(ctx, q))
}

func (o *Order) moved(g *sandbox.Gateway) int { return g.Executed(o.ID) }

func (o *Order) wire(tokens map[sandbox.Outcome]string) (path string, body []byte) {
	m := fmt.Appendf(nil, `{"transactionId":%q,"currency":"USD","amount":%q,"transactionIp":%q,"appId":7,"callbackUrl":%q,"notificationUrl":%q,`+
		`"productInfos":[{"productName":"Candle","sku":"c-1","quantity":1}]`, o.ID, o.Amount, shopIP, shopURL, shopURL)
	if o.Token {
		return "/checkout/tokenization/payment/" + tokens[o.Card], append(m, '}')
	}
	card := sandbox.TestCard(o.Card)
	rest, _ := json.Marshal(map[string]any{ // only strings and numbers
		"orderId": "order-" + o.ID, "billingAddress": map[string]string{"country": "US"},
		"extension": map[string]any{"subscriptionCycle": "WEEK", "subscriptionPeriod": 3},
		"card": map[string]string{
			"cardNumber": card.Number, "cvv": card.CVV, "expiredMonth": card.Month,
			"expiredYear": card.Year, "cardholder": card.Cardholder,
		},
	})
	return "/api/subscription", append(append(m, ','), rest[1:]...)
}

func (o *Order) answered(code int) Verdict {
	switch code {
	case 100:
		return Paid
	case 101:
		return Declined
	case 102, 301:
		return Pending
	}
	return Unknown
}

// approvePending lets the gateway approve what stays in processing.
func approvePending(g *sandbox.Gateway, orders []Order) {
	for i := range orders {
		if orders[i].Card == sandbox.Pending {
			_ = g.Settle(orders[i].ID, true) // an error: it has not arrived, or is final
		}
	}
}

// storedCards returns a token for one card of each outcome that orders with a token have.
func storedCards(g *sandbox.Gateway) map[sandbox.Outcome]string {
	return map[sandbox.Outcome]string{sandbox.Approved: g.NewToken(sandbox.Approved), sandbox.Declined: g.NewToken(sandbox.Declined)}
}

// direct returns a client of a gateway, without a network between them.
func direct(g *sandbox.Gateway) (*cardgateway.Client, error) {
	return cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: g.RoundTripper()},
	})
}
