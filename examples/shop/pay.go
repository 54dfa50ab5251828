package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

const (
	attemptTimeout = 20 * time.Second
	payTimeout     = 45 * time.Second // for one payment, including repetitions of attempts that were not sent
)

// newID returns an id for an order or a card, which is also the orderId of its payments, and the transactionId of the first: unique
// and unguessable.
func newID(kind string) string { return kind + "-" + rand.Text()[:16] }

// isID reports whether an id has the form of those of newID.
func isID(kind, id string) bool {
	text, ok := strings.CutPrefix(id, kind+"-")
	return ok && isRandom(text, 16)
}

// isRandom reports whether a text could be the first characters of rand.Text.
func isRandom(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// pay submits an attempt to pay an order, and stores the outcome. It may be called again for the same attempt: the journal submits a
// transactionId again only if it is proved that nothing was sent the first time, and otherwise returns what is known.
//
// A payment is not canceled when the customer closes the page: its outcome would then be unknown.
func (s *Shop) pay(ctx context.Context, o *Order, v Visitor, m means) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), payTimeout)
	defer cancel()
	_, err := s.submit(ctx, o, v, m)
	return s.storeAfter(ctx, journal.PaymentID(o.Attempt.ID), err)
}

// storeAfter stores the outcome of a payment or a refund after a call for it, which returned err.
func (s *Shop) storeAfter(ctx context.Context, id journal.ID, err error) error {
	failed := s.storeLatest(ctx, id)
	if errors.Is(failed, journal.ErrNoEntry) { // the call could not record anything, and so it sent nothing
		return err
	}
	return failed
}

// means is what an order is paid with, if not on the gateway's page.
type means struct {
	token cardgateway.Token // for KindToken
	card  cardgateway.Card  // for KindWeeklyCard
}

// submit makes the one payment call that fits the attempt.
func (s *Shop) submit(ctx context.Context, o *Order, v Visitor, m means) (*cardgateway.Transaction, error) {
	secure := o.Amount.GreaterThanOrEqual(secureFrom)
	browser := &cardgateway.Browser{UserAgent: v.UserAgent, Referer: v.Referer}
	switch o.Kind {
	case KindHosted:
		return s.payments.CreateCheckout(ctx, cardgateway.CheckoutRequest{
			TransactionID: o.Attempt.ID, OrderID: o.ID, Currency: currency, Amount: o.Amount, TransactionIP: v.IP,
			CallbackURL: s.orderURL(o.ID), NotificationURL: s.url + notificationPath, ProductInfos: s.products(o.Lines),
			BillingAddress: o.Buyer.address(), Secure: secure, Browser: browser,
		})
	case KindToken:
		pay := s.payments.TokenPayment
		if o.State == Refused { // with another card
			pay = s.payments.AfterRefusal().TokenPayment
		}
		return pay(ctx, m.token, cardgateway.TokenPaymentRequest{
			TransactionID: o.Attempt.ID, Currency: currency, Amount: o.Amount, TransactionIP: v.IP,
			CallbackURL: s.orderURL(o.ID), NotificationURL: s.url + notificationPath, ProductInfos: s.products(o.Lines),
			Secure: secure,
		})
	case KindWeekly:
		return s.payments.CreateCheckoutSubscription(ctx, cardgateway.CheckoutSubscriptionRequest{
			TransactionID: o.Attempt.ID, OrderID: o.ID, Currency: currency, Amount: o.Amount, TransactionIP: v.IP,
			CallbackURL: s.orderURL(o.ID), NotificationURL: s.url + notificationPath, ProductInfos: s.products(o.Lines),
			BillingAddress: o.Buyer.address(), Extension: everyWeek(),
		})
	case KindWeeklyCard:
		return s.payments.CreateSubscription(ctx, cardgateway.SubscriptionRequest{
			TransactionID: o.Attempt.ID, OrderID: o.ID, Currency: currency, Amount: o.Amount, TransactionIP: v.IP,
			CallbackURL: s.orderURL(o.ID), NotificationURL: s.url + notificationPath, ProductInfos: s.products(o.Lines),
			BillingAddress: o.Buyer.address(), Card: m.card, Extension: everyWeek(),
		})
	}
	return nil, fmt.Errorf("no way to pay is called %q", o.Kind)
}

// token returns the token of a customer's stored card. It is decrypted only here, for the call.
func (s *Shop) token(ctx context.Context, customer, cardID string) (cardgateway.Token, error) {
	c, err := s.store.Card(ctx, cardID)
	if err != nil {
		return cardgateway.Token{}, err
	}
	if c.Customer != customer || c.State != CardReady {
		return cardgateway.Token{}, errNoCard
	}
	return s.cipher.Decrypt(c.Encrypted, c.ID)
}

// storeToken starts a token order: the cardholder enters the card on the gateway's page, and the token is sent to a URL
// that nobody else can guess. The interface requires an amount here, too, and does not say what it is for.
func (s *Shop) storeToken(ctx context.Context, c *StoredCard, v Visitor) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), payTimeout)
	defer cancel()
	notify, err := s.tokens.URL(c.ID, time.Now().Add(24*time.Hour))
	if err != nil {
		return err
	}
	one := Product{SKU: "card", Name: "Saving a card", Price: price("1.00")}
	_, err = s.payments.CreateTokenOrder(ctx, cardgateway.TokenOrderRequest{
		TransactionID: c.ID, OrderID: c.ID, Currency: currency, Amount: one.Price, TransactionIP: v.IP,
		CallbackURL: s.url + "/cards", NotificationURL: notify, ProductInfos: s.products(Lines{{one, 1}}),
		BillingAddress: cardgateway.Address{Country: countries[0].Code},
	})
	return s.storeAfter(ctx, journal.PaymentID(c.ID), err)
}

func (s *Shop) orderURL(id string) string { return s.url + "/orders/" + id }

func (s *Shop) products(lines Lines) []cardgateway.ProductInfo {
	infos := make([]cardgateway.ProductInfo, len(lines))
	for i, l := range lines {
		infos[i] = cardgateway.ProductInfo{
			ProductName: l.Name, SKU: l.SKU, ProductLink: s.url + "/", Currency: currency, Price: l.Price, Quantity: l.Quantity,
		}
	}
	return infos
}

func (b Buyer) address() cardgateway.Address {
	return cardgateway.Address{FirstName: b.FirstName, LastName: b.LastName, Email: b.Email, Country: b.Country}
}

func everyWeek() cardgateway.SubscriptionExtension {
	return cardgateway.SubscriptionExtension{
		SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: weeks, SubscriptionDescription: weekly.Name,
	}
}
