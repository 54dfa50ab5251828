package payments

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/shopspring/decimal"
)

// Order is a purchase, paid by one of its attempts.
type Order struct {
	ID       string // the orderId of all attempts
	Customer string
	Amount   decimal.Decimal
	Created  time.Time
	Terms
	Attempt         // the one that has paid the order, not refunded if possible, or else the last one
	OnPageOnly bool // see Next
	AllRefunds []Refund
}

// Terms are what each payment of an order says besides its amount.
type Terms struct {
	Currency string
	Products []cardgateway.ProductInfo
	Billing  cardgateway.Address
	Secure   bool                              // require 3D authentication
	Repeats  cardgateway.SubscriptionExtension // for a subscription
}

// Attempt is one attempt to pay an order.
type Attempt struct {
	ID      string // the transactionId
	Number  int    // from 1
	Kind    Kind
	CardID  string // of the stored card, for KindToken
	Payment        // what is known of it
	Refunds []Refund
}

// Kind is how an attempt pays.
type Kind string

// The ways to pay.
const (
	KindHosted     Kind = "hosted"      // on the gateway's page
	KindToken      Kind = "token"       // with a stored card
	KindWeekly     Kind = "weekly"      // a subscription, on the gateway's page
	KindWeeklyCard Kind = "weekly-card" // a subscription, with a card that was typed into the shop
)

// ErrNotFound means that there is no such order, or card, of this customer.
var ErrNotFound = errors.New("payments: not found")

// ErrExists means that there is an order, or a card, with this id, because a form was sent twice.
var ErrExists = errors.New("payments: a form was sent twice")

// Place stores an order with its first attempt. Its caller stores what else belongs to it in the same transaction.
func (s *Service) Place(ctx context.Context, tx *sql.Tx, o *Order) error {
	o.Created, o.Attempt = time.Now(), Attempt{Kind: o.Kind, CardID: o.CardID}
	terms, err := json.Marshal(o.Terms)
	if err != nil {
		return err
	}
	added, err := changed(tx.ExecContext(ctx, `INSERT INTO orders (id, customer, amount, terms, created) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`, o.ID, o.Customer, o.Amount.String(), string(terms), o.Created.UnixMicro()))
	if err == nil && !added {
		return ErrExists
	}
	if err == nil {
		_, err = addAttempt(ctx, tx, o)
	}
	return err
}

// MayPay reports whether the customer may submit the attempt, also again: it is proved that nothing was sent, or nothing is known, and then the
// journal decides. A card that was typed into the shop is not stored.
func (o Order) MayPay() bool {
	return (o.State == Open || o.State == Unsent) && o.Kind != KindWeeklyCard
}

// MayPayOtherwise reports whether Next is possible: the last attempt has ended without a payment, or the gateway has refused a stored card, as it
// does with one that it no longer knows.
func (o Order) MayPayOtherwise() bool {
	ended := o.State == Declined || o.State == Closed || o.State == Tested
	return ended && (o.Kind == KindHosted || o.Kind == KindToken) || o.State == Refused && o.Kind == KindToken
}

// Next begins the next attempt, on the gateway's page or with a stored card, or gives a refused attempt another card. It reports false if that is
// not possible: an attempt is open or has paid, or a form that was sent twice has begun it already. No two attempts are open at once, but for one
// thing: a page that has declined a card may still take another one. Then the next attempt is on the page too. Its orderId is the same, and of those
// the gateway allows one successful payment; a payment with a stored card has no orderId.
func (s *Service) Next(ctx context.Context, o *Order, kind Kind, cardID string) (bool, error) {
	if !o.MayPayOtherwise() || kind == KindHosted && o.State == Refused {
		return false, nil
	}
	if o.State == Refused {
		o.CardID = cardID
		return changed(s.DB.ExecContext(ctx, `UPDATE attempts SET card_id = $1 WHERE id = $2 AND state = 'refused'`, cardID, o.Attempt.ID))
	}
	o.Attempt = Attempt{Number: o.Number, Kind: kind, CardID: cardID}
	return addAttempt(ctx, s.DB, o)
}

// addAttempt stores the next attempt of an order, if all before have ended. Of those who do it at once, one stores it: all choose the same id.
func addAttempt(ctx context.Context, db Querier, o *Order) (bool, error) {
	o.Number++
	o.Attempt.ID, o.Payment = o.ID, Payment{State: Open, Version: -1}
	if o.Number > 1 {
		o.Attempt.ID = fmt.Sprintf("%s-%d", o.ID, o.Number)
	}
	return changed(db.ExecContext(ctx, `INSERT INTO attempts (id, order_id, number, kind, card_id, state, version)
		SELECT $1, id, CAST($2 AS INTEGER), $3, $4, 'open', -1 FROM orders WHERE id = $5 AND NOT EXISTS (SELECT 1 FROM attempts
		WHERE order_id = orders.id AND (state NOT IN ('declined', 'closed', 'tested') OR $3 = 'token' AND kind = 'hosted' AND state = 'declined'))
		ON CONFLICT DO NOTHING`, o.Attempt.ID, o.Number, o.Kind, o.CardID, o.ID))
}

// Visitor is what the gateway requires to know of the customer.
type Visitor struct {
	IP string
	cardgateway.Browser
}

// Pay submits an attempt, and stores the outcome. It may be called again: the journal submits a transactionId again only if it is proved that
// nothing was sent, and otherwise returns what is known. The card is that of KindWeeklyCard.
func (s *Service) Pay(ctx context.Context, o *Order, v Visitor, card cardgateway.Card) error {
	ctx, cancel := patient(ctx)
	defer cancel()
	var token cardgateway.Token
	if o.Kind == KindToken {
		var err error
		if token, err = s.token(ctx, o.Customer, o.CardID); err != nil { // it was removed
			return err
		}
	}
	_, err := s.submit(ctx, o, v, token, card)
	return s.storeAfter(ctx, journal.PaymentID(o.Attempt.ID), err)
}

// PayTimeout limits a payment, with the repetitions of requests that were not sent.
const PayTimeout = 45 * time.Second

// patient returns a context for a call, which goes on if the customer closes the page: its outcome would be unknown.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), PayTimeout)
}

// submit makes the one call that fits the attempt.
func (s *Service) submit(ctx context.Context, o *Order, v Visitor, token cardgateway.Token, card cardgateway.Card) (*cardgateway.Transaction, error) {
	id, back, notice := o.Attempt.ID, s.URL+"/orders/"+o.ID, s.URL+NotificationPath
	switch o.Kind {
	case KindHosted:
		return s.Journal.CreateCheckout(ctx, cardgateway.CheckoutRequest{
			TransactionID: id, OrderID: o.ID, Currency: o.Currency, Amount: o.Amount, TransactionIP: v.IP, CallbackURL: back, NotificationURL: notice,
			ProductInfos: o.Products, BillingAddress: o.Billing, Secure: o.Secure, Browser: &v.Browser,
		})
	case KindToken:
		pay := s.Journal.TokenPayment
		if o.State == Refused { // with another card
			pay = s.Journal.AfterRefusal().TokenPayment
		}
		return pay(ctx, token, cardgateway.TokenPaymentRequest{
			TransactionID: id, Currency: o.Currency, Amount: o.Amount, TransactionIP: v.IP, CallbackURL: back, NotificationURL: notice,
			ProductInfos: o.Products, Secure: o.Secure,
		})
	case KindWeekly:
		return s.Journal.CreateCheckoutSubscription(ctx, cardgateway.CheckoutSubscriptionRequest{
			TransactionID: id, OrderID: o.ID, Currency: o.Currency, Amount: o.Amount, TransactionIP: v.IP, CallbackURL: back, NotificationURL: notice,
			ProductInfos: o.Products, BillingAddress: o.Billing, Extension: o.Repeats,
		})
	}
	return s.Journal.CreateSubscription(ctx, cardgateway.SubscriptionRequest{
		TransactionID: id, OrderID: o.ID, Currency: o.Currency, Amount: o.Amount, TransactionIP: v.IP, CallbackURL: back, NotificationURL: notice,
		ProductInfos: o.Products, BillingAddress: o.Billing, Card: card, Extension: o.Repeats,
	})
}

// Order returns an order, or ErrNotFound.
func (s *Service) Order(ctx context.Context, id string) (Order, error) {
	return one(s.orders(ctx, `o.id = $1`, id))
}

// Orders returns the last orders of a customer, or of all if that is empty, the newest first.
func (s *Service) Orders(ctx context.Context, customer string) ([]Order, error) {
	return s.orders(ctx, `(o.customer = $1 OR $1 = '')`, customer)
}

func (s *Service) orders(ctx context.Context, where string, arg string) ([]Order, error) {
	all, err := Collect(ctx, s.DB, func(scan func(...any) error) (o Order, err error) {
		var terms []byte
		var created int64
		if err := scan(&o.ID, &o.Customer, &o.Amount, &terms, &created, &o.Attempt.ID, &o.Number, &o.Kind, &o.CardID,
			&o.State, &o.Reason, &o.UniqueID, &o.Digits, &o.RedirectURL, &o.Version, &o.OnPageOnly); err != nil {
			return o, err
		}
		o.Created = time.UnixMicro(created)
		return o, json.Unmarshal(terms, &o.Terms)
	}, `SELECT o.id, o.customer, o.amount, o.terms, o.created, a.id, a.number, a.kind, a.card_id,
		a.state, a.reason, a.unique_id, a.digits, a.redirect_url, a.version,
		EXISTS (SELECT 1 FROM attempts WHERE order_id = o.id AND kind = 'hosted' AND state = 'declined')
		FROM orders o JOIN attempts a ON a.id = (SELECT id FROM attempts WHERE order_id = o.id
			ORDER BY CASE WHEN state NOT IN ('paid', 'conflict') THEN 2
			WHEN EXISTS (SELECT 1 FROM refunds WHERE attempt_id = attempts.id AND state = 'refunded') THEN 1 ELSE 0 END, number DESC LIMIT 1)
		WHERE `+where+` ORDER BY o.created DESC, o.id LIMIT 100`, arg)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	oldest := all[len(all)-1]
	refunds, err := s.refunds(ctx, where+` AND o.created >= $2 ORDER BY r.created, r.id`, arg, oldest.Created.UnixMicro())
	for _, r := range refunds {
		if i := slices.IndexFunc(all, func(o Order) bool { return o.ID == r.OrderID }); i >= 0 {
			all[i].AllRefunds = append(all[i].AllRefunds, r)
			if r.AttemptID == all[i].Attempt.ID {
				all[i].Refunds = append(all[i].Refunds, r)
			}
		}
	}
	return all, err
}

// Attempts returns the ids of an order's attempts, the first one first.
func (s *Service) Attempts(ctx context.Context, orderID string) ([]string, error) {
	return Collect(ctx, s.DB, column[string], `SELECT id FROM attempts WHERE order_id = $1 ORDER BY number`, orderID)
}
