package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// thing is a payment or a refund, with everything that happened to it.
type thing struct {
	Thing
	w        *world
	id       string
	shop     *shop
	uniqueID string // of a refund: the payment's, from its first call on

	disguise       string // of its rows
	disguisedUntil time.Time
	hiddenUntil    time.Time // the end of the last disguise that hides a row
	shownTooLate   bool      // a row was hidden for longer than the library waits for it
	foreignRows    bool      // searches for it could show rows of others
	cameBack       bool      // a refund that the gateway has shown as refunded and then as failed

	renewed      []string        // transactionIds of the gateway's own, of later charges
	renewedTwice bool            // a later charge with the transactionId was made twice
	confirmed    map[string]bool // uniqueIds of successes that were confirmed to the journal

	// What left and arrived.
	whole     int          // complete requests that left
	unrefused int          // of them, those that were not answered by a refusal
	sentAt    time.Time    // the last of them
	firstAt   time.Time    // the first of them
	doubled   bool         // by the network
	lost      error        // of the last call, if its outcome is unknown and nothing left since
	seen      time.Time    // when a call that was not disturbed was shown it first
	calls     atomic.Int32 // of its payment method, which are under way: they tell their callers what they record

	tokenURL     string // where the gateway sends the token of this token order
	tokenExpires time.Time
	token        cardgateway.Token // of this token order, once it has arrived
	parcels      int               // tracking numbers that were sent

	books

	entry   journal.Entry // as the oracle last saw it; zero: there was none
	damaged bool          // the entry cannot be read for a while
	bare    bool          // it is paid without a journal
	frozen  bool          // the journal has lost part of it by a restore, or it was forgotten: it is not called any more

	lockedUntil time.Time // the row of the entry
}

// isLocked reports whether somebody holds the row of the entry, so that nothing can be recorded.
func (t *thing) isLocked() bool { return time.Now().Before(t.lockedUntil) }

func (t *thing) hasEntry() bool { return t.entry.Begun.Sender != "" }

const opRefund = "CreateRefund"

func (t *thing) isRefund() bool { return t.Op == opRefund }

func (t *thing) isHosted() bool {
	return t.Op == "CreateCheckout" || t.Op == "CreateCheckoutSubscription" || t.Op == "CreateTokenOrder"
}

func (t *thing) isSubscription() bool {
	return t.Op == "CreateSubscription" || t.Op == "CreateCheckoutSubscription"
}

func (t *thing) name() string {
	if t.isRefund() {
		return "refund " + t.id
	}
	return "payment " + t.id
}

func (w *world) addThing(i int, config Thing) {
	t := &thing{Thing: config, w: w, id: cmp.Or(config.ID, fmt.Sprintf("p-%d", i)), shop: w.shops[config.Shop%len(w.shops)]}
	t.Op, t.Amount = cmp.Or(config.Op, "CreateSubscription"), cmp.Or(config.Amount, "10.00")
	for t.shop.byID[t.journalID()] != nil {
		t.id += "'"
	}
	t.shop.byID[t.journalID()] = t
	w.things = append(w.things, t)
}

// key returns the key of the entry.
func (t *thing) key() journal.Key { return journal.Key{Shop: t.shop.inJournal(), ID: t.journalID()} }

// journalID returns the name of the entry in the journal of its shop.
func (t *thing) journalID() journal.ID {
	return journal.ID{Text: t.id, Refund: t.isRefund()}
}

// rowsOfID returns what the gateway has with the thing's id.
func (t *thing) rowsOfID() []sandbox.Row {
	if t.isRefund() {
		return t.shop.gateway.sandbox.RefundRows(t.id)
	}
	return t.shop.gateway.sandbox.Rows(t.id)
}

// rows returns what the gateway has, with later charges that have an id of the gateway's own.
func (t *thing) rows() []sandbox.Row {
	rows := t.rowsOfID()
	for _, id := range t.renewed {
		rows = append(rows, t.shop.gateway.sandbox.Rows(id)...)
	}
	return rows
}

// isTwiceIn reports whether more than one of the rows with the thing's id is a success: later charges of a subscription are none, and two of them
// are never closer together than six days, unless the gateway has charged twice.
func (t *thing) isTwiceIn(isShown func(sandbox.Row) bool) bool {
	var before time.Time
	for _, r := range t.rowsOfID() {
		if r.Code != 100 && r.Code != 111 || r.UniqueID == "" || !isShown(r) {
			continue
		}
		if !before.IsZero() && !(t.isSubscription() && r.At.Sub(before) > 6*day) {
			return true
		}
		before = r.At
	}
	return false
}

// disguisedAs returns how the rows are disguised now.
func (t *thing) disguisedAs() string {
	if time.Now().Before(t.disguisedUntil) {
		return t.disguise
	}
	return ""
}

// setDisguise disguises the rows for a while.
func (t *thing) setDisguise(how string, length time.Duration) {
	now := time.Now()
	if t.isRowHidden(now) && t.hiddenUntil.After(now) {
		t.hiddenUntil = now
	}
	t.disguise, t.disguisedUntil = how, now.Add(length)
	if how == "hidden" || how == "first hidden" || how == "displaced" && t.isRefund() {
		t.hiddenUntil = t.disguisedUntil
	}
}

// isRowHidden reports whether a search that ended at a time may have shown nothing of a row: not even that there is one that
// cannot be read, or that the answer is not only about this payment.
func (t *thing) isRowHidden(at time.Time) bool {
	lag := t.shop.gateway.config.Lag
	at = at.Add(-t.w.clocks)
	late := func(r sandbox.Row) bool { return at.Sub(r.At) < lag+time.Minute }
	return at.Before(t.hiddenUntil.Add(5*time.Minute)) || lag > 0 && slices.ContainsFunc(t.rows(), late)
}

// successes returns how often the gateway did it. A token order moves no money.
func (t *thing) successes() int {
	switch {
	case t.isRefund():
		return t.shop.gateway.sandbox.Refunded(t.id)
	case t.Op != "CreateTokenOrder":
		return t.shop.gateway.sandbox.Executed(t.id)
	}
	return len(t.approvedRows())
}

// approvedRows returns the rows with code 100.
func (t *thing) approvedRows() []sandbox.Row {
	return slices.DeleteFunc(t.rows(), func(r sandbox.Row) bool { return r.Code != 100 })
}

func (t *thing) amount() decimal.Decimal { return decimal.RequireFromString(t.Amount) }

const (
	shopURL = "https://shop.example/return"
	shopIP  = "192.0.2.1"
)

var products = []cardgateway.ProductInfo{{ProductName: "Candle", SKU: "c-1", Quantity: 1}}

// pay makes the payment or the refund with this amount.
func (t *thing) pay(c *call, how payer, amount decimal.Decimal) (result, error) {
	ctx, cancel := c.context()
	defer cancel()
	order, address := "o-"+t.id, cardgateway.Address{Country: "US", FirstName: "Ada"}
	switch t.Op {
	case opRefund:
		r, err := how.CreateRefund(ctx, cardgateway.RefundRequest{UniqueID: t.uniqueID, RefundTransactionID: t.id, Amount: amount})
		return result{refund: r}, err
	case "TokenPayment":
		p, err := how.TokenPayment(ctx, t.cardToken(), cardgateway.TokenPaymentRequest{
			TransactionID: t.id, Currency: "USD", Amount: amount, TransactionIP: shopIP, CallbackURL: shopURL,
			NotificationURL: t.notificationURL(), ProductInfos: products,
		})
		return result{payment: p}, err
	case "CreateTokenOrder":
		p, err := how.CreateTokenOrder(ctx, cardgateway.TokenOrderRequest{
			TransactionID: t.id, OrderID: order, Currency: "USD", Amount: amount, TransactionIP: shopIP, CallbackURL: shopURL,
			NotificationURL: t.notificationURL(), ProductInfos: products, BillingAddress: address,
		})
		return result{payment: p}, err
	case "CreateCheckout":
		p, err := how.CreateCheckout(ctx, cardgateway.CheckoutRequest{
			TransactionID: t.id, OrderID: order, Currency: "USD", Amount: amount, TransactionIP: shopIP, CallbackURL: shopURL,
			NotificationURL: t.notificationURL(), ProductInfos: products, BillingAddress: address,
		})
		return result{payment: p}, err
	case "CreateCheckoutSubscription":
		p, err := how.CreateCheckoutSubscription(ctx, cardgateway.CheckoutSubscriptionRequest{
			TransactionID: t.id, OrderID: order, Currency: "USD", Amount: amount, TransactionIP: shopIP, CallbackURL: shopURL,
			NotificationURL: t.notificationURL(), ProductInfos: products, BillingAddress: address,
			Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3},
		})
		return result{payment: p}, err
	}
	card := sandbox.TestCard(t.Card)
	p, err := how.CreateSubscription(ctx, cardgateway.SubscriptionRequest{
		TransactionID: t.id, OrderID: order, Currency: "USD", Amount: amount, TransactionIP: shopIP, CallbackURL: shopURL,
		NotificationURL: t.notificationURL(), ProductInfos: products, BillingAddress: address,
		Card: cardgateway.Card{
			CardNumber: cardgateway.NewCardNumber(card.Number), CVV: cardgateway.NewCVV(card.CVV),
			ExpiredMonth: card.Month, ExpiredYear: card.Year, Cardholder: card.Cardholder,
		},
		Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3},
	})
	return result{payment: p}, err
}
