package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

const (
	cardholderIP = "203.0.113.7"
	callback     = "https://shop.example/thanks"
)

// tokenOrder stores the cardholder's card: the token arrives in a notification.
func (m *merchant) tokenOrder(ctx context.Context) (string, error) {
	var err error
	m.token, err = m.storeCard(ctx, "store", sandbox.Approved)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("card entered on the hosted page; the token arrived in a notification and prints as %v", m.token), nil
}

func (m *merchant) storeCard(ctx context.Context, name string, card sandbox.Outcome) (cardgateway.Token, error) {
	notify, err := m.urls.URL(name, time.Now().Add(24*time.Hour))
	if err != nil {
		return cardgateway.Token{}, err
	}
	order, err := m.client.CreateTokenOrder(ctx, cardgateway.TokenOrderRequest{
		TransactionID: name, OrderID: name, Currency: "USD", Amount: price, TransactionIP: cardholderIP,
		CallbackURL: callback, NotificationURL: notify, ProductInfos: products(),
		BillingAddress: cardgateway.Address{FirstName: "Ada", LastName: "Gross", Country: "US"},
	})
	if err != nil {
		return cardgateway.Token{}, err
	}
	n, err := m.finishOnPage(ctx, order, card)
	if err != nil {
		return cardgateway.Token{}, err
	}
	return n.Token, nil
}

func (m *merchant) tokenPayment(name string) cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID: name, Currency: "USD", Amount: price, TransactionIP: cardholderIP,
		CallbackURL: callback, NotificationURL: m.notify, ProductInfos: products(),
	}
}

// payWithToken charges the stored card. The response says "processing"; the outcome arrives in a notification.
func (m *merchant) payWithToken(ctx context.Context) (string, error) {
	accepted, err := m.client.TokenPayment(ctx, m.token, m.tokenPayment("pay"))
	if err != nil {
		return "", err
	}
	n, err := m.await(ctx, "pay")
	if err != nil {
		return "", err
	}
	m.paid = n.Transaction
	return fmt.Sprintf("%v, then %v", accepted.State(), describe(n.Transaction)), nil
}

// payDeclined charges a card that the issuer declines: a normal event, and final.
func (m *merchant) payDeclined(ctx context.Context) (string, error) {
	token, err := m.storeCard(ctx, "store-declined", sandbox.Declined)
	if err != nil {
		return "", err
	}
	_, err = m.client.TokenPayment(ctx, token, m.tokenPayment("pay-declined"))
	declined, ok := errors.AsType[*cardgateway.DeclinedError](err)
	if !ok {
		return "", fmt.Errorf("a declined card returned %w", err)
	}
	return fmt.Sprintf("declined: %q; safe to retry: %v", declined.Transaction.TransactionMessage, cardgateway.SafeToRetry(err)), nil
}

// loseResponse makes the gateway charge the card and reset the connection before it responds. The payment is not sent
// again: its outcome is queried.
func (m *merchant) loseResponse(ctx context.Context) (string, error) {
	m.sandbox.Inject(sandbox.Fault{TransactionID: "pay-lost", Reply: sandbox.ReplyReset})
	_, err := m.client.TokenPayment(ctx, m.token, m.tokenPayment("pay-lost"))
	unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
	if !ok {
		return "", fmt.Errorf("a lost response returned %w", err)
	}
	found, err := m.client.Resolve(ctx, unknown.Query())
	if err != nil {
		return "", err
	}
	charged := m.sandbox.Executed("pay-lost")
	return fmt.Sprintf("outcome unknown, resolved: %v; times charged: %d", describe(found), charged), nil
}

// checkout redirects the cardholder to the hosted page to pay there.
func (m *merchant) checkout(ctx context.Context) (string, error) {
	opened, err := m.client.CreateCheckout(ctx, cardgateway.CheckoutRequest{
		TransactionID: "checkout", OrderID: "checkout", Currency: "USD", Amount: price,
		TransactionIP: cardholderIP, CallbackURL: callback, NotificationURL: m.notify,
		ProductInfos: products(), BillingAddress: cardgateway.Address{Country: "US"},
	})
	if err != nil {
		return "", err
	}
	return m.payOnPage(ctx, opened)
}

// payOnPage has the cardholder pay on the hosted page.
func (m *merchant) payOnPage(ctx context.Context, opened *cardgateway.Transaction) (string, error) {
	n, err := m.finishOnPage(ctx, opened, sandbox.Approved)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v, then %v", opened.State(), describe(n.Transaction)), nil
}

var threeWeeks = cardgateway.SubscriptionExtension{
	SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3, SubscriptionDescription: "Candles, weekly",
}

// subscribe charges a card that the merchant holds. Prefer the redirect: then the merchant handles no card number.
func (m *merchant) subscribe(ctx context.Context) (string, error) {
	card := cardgateway.Card{
		CardNumber: cardgateway.NewCardNumber("4300000000000000"), CVV: cardgateway.NewCVV("123"),
		ExpiredMonth: "12", ExpiredYear: "39", Cardholder: "Ada Gross",
	}
	defer card.Wipe()
	t, err := m.client.CreateSubscription(ctx, cardgateway.SubscriptionRequest{
		TransactionID: "subscription", OrderID: "subscription", Currency: "USD", Amount: price,
		TransactionIP: cardholderIP, CallbackURL: callback, NotificationURL: m.notify,
		ProductInfos: products(), BillingAddress: cardgateway.Address{Country: "US"}, Card: card, Extension: threeWeeks,
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v, weekly, with %v", describe(t), card), nil
}

func (m *merchant) checkoutSubscription(ctx context.Context) (string, error) {
	opened, err := m.client.CreateCheckoutSubscription(ctx, cardgateway.CheckoutSubscriptionRequest{
		TransactionID: "weekly", OrderID: "weekly", Currency: "USD", Amount: price,
		TransactionIP: cardholderIP, CallbackURL: callback, NotificationURL: m.notify,
		ProductInfos: products(), BillingAddress: cardgateway.Address{Country: "US"}, Extension: threeWeeks,
	})
	if err != nil {
		return "", err
	}
	return m.payOnPage(ctx, opened)
}

// refund refunds a part. The interface does not document how to create refunds; this is how gateways publish it.
func (m *merchant) refund(ctx context.Context) (string, error) {
	refund, err := m.client.CreateRefund(ctx, cardgateway.RefundRequest{
		UniqueID: m.paid.UniqueID, RefundTransactionID: "refund", Amount: decimal.RequireFromString("2.50"), Remark: "as agreed",
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v: %s %s of the token payment", refund.State(), refund.RefundAmount.StringFixed(2), refund.RefundCurrency), nil
}

func (m *merchant) listOrders(ctx context.Context) (string, error) {
	orders, states := 0, map[cardgateway.State]int{}
	for order, err := range m.client.Orders(ctx, cardgateway.OrderQuery{Start: time.Now().AddDate(0, -1, 0), End: time.Now()}) {
		if err != nil {
			return "", err
		}
		orders++
		states[order.State()]++
	}
	return fmt.Sprintf("%d orders: %d approved, %d declined, %d others", orders,
		states[cardgateway.StateApproved], states[cardgateway.StateDeclined],
		orders-states[cardgateway.StateApproved]-states[cardgateway.StateDeclined]), nil
}

func (m *merchant) listRefunds(ctx context.Context) (string, error) {
	refunds, sum := 0, decimal.Decimal{}
	for refund, err := range m.client.Refunds(ctx, cardgateway.RefundQuery{Start: time.Now().AddDate(0, -1, 0), End: time.Now()}) {
		if err != nil {
			return "", err
		}
		refunds++
		sum = sum.Add(refund.RefundAmount)
	}
	return fmt.Sprintf("refunds: %d, together %s", refunds, sum.StringFixed(2)), nil
}

func describe(t *cardgateway.Transaction) string {
	return fmt.Sprintf("%v: %s %s from %s", t.State(), t.TransactionAmount.StringFixed(2), t.TransactionCurrency, t.TransactionCardNumber)
}
