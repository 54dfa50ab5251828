package sandbox

import (
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// ledger is the state of the gateway, and how it changes. Gateway.mu guards it.
type ledger struct {
	opts        *Options
	notices     *notices
	settleAfter func(time.Duration) // calls settleDue after that time

	contents
	issued int // number of uniqueIds issued so far
}

// contents is what Reset removes.
type contents struct {
	orders        orderList // by time
	refunds       refundList
	byUniqueID    map[string]*order
	byTransaction map[string][]*order
	byOrder       map[string][]*order
	tokens        map[string]*order         // the token order that each token came from
	pages         map[string]*order         // by the unguessable id in the page's URL
	due           []due                     // settles by itself, the next one first
	executed      map[string]int            // successful charges by transactionId
	paidOrders    map[string]bool           // orderIds with a success
	refunded      map[string]int64          // in thousandths, by uniqueId
	givenBack     map[string]int            // completed refunds by refundTransactionId
	tracking      map[string]TrackingNumber // by uniqueId
	moves         []Move                    // of money, in their order
	seeded        generated.Data
}

func newLedger(opts *Options, n *notices, settleAfter func(time.Duration)) ledger {
	l := ledger{opts: opts, notices: n, settleAfter: settleAfter}
	l.reset()
	return l
}

func (l *ledger) reset() {
	l.contents = contents{
		byUniqueID:    make(map[string]*order),
		byTransaction: make(map[string][]*order),
		byOrder:       make(map[string][]*order),
		tokens:        make(map[string]*order),
		pages:         make(map[string]*order),
		executed:      make(map[string]int),
		paidOrders:    make(map[string]bool),
		refunded:      make(map[string]int64),
		givenBack:     make(map[string]int),
		tracking:      make(map[string]TrackingNumber),
	}
}

// order is one transaction.
type order struct {
	payment
	op       Operation
	uniqueID string
	created  time.Time
	code     int
	text     string // transactionMessage
	is3d     bool
	stage    stage
	page     string          // id of its hosted page, if it has one
	canRetry bool            // declined on a hosted page, and the cardholder may try another card
	token    string          // created by a completed token order
	events   []console.Event // for the dashboard
	seeded   bool            // computed, and not stored: it never changes
	renewal  bool            // a later charge of a subscription
}

func (o *order) record(text string) {
	o.events = append(o.events, console.Event{At: time.Now(), Text: text})
}

// stage is what a transaction is waiting for.
type stage int

const (
	stageFinal      stage = iota
	stageCard             // the cardholder has to enter a card
	stage3D               // the cardholder has to authenticate
	stageProcessing       // at 102
)

// awaits reports whether the cardholder is awaited on the page of that stage.
func (o *order) awaits(s stage) bool { return o.stage == s || s == stageCard && o.canRetry }

// kind is the transactionType of results and notifications.
func (o *order) kind() string {
	if o.op == OpCreateTokenOrder || o.op == OpTokenPayment {
		return "Tokenization"
	}
	return "Sale"
}

// shownMethod is the payment method of a result: CreditCard once a card is known, otherwise the requested one.
func (o *order) shownMethod() string {
	switch {
	case o.card.masked != "":
		return "CreditCard"
	case o.method != "":
		return o.method
	}
	return "Default"
}

// Paths of the hosted pages. The element after them is the unguessable id of the page.
const (
	cardPagePath   = "/hosted/card/"
	threeDPagePath = "/hosted/3d/"
)

func (o *order) pagePath() string {
	if o.stage == stage3D {
		return threeDPagePath + o.page
	}
	return cardPagePath + o.page
}

// next returns the URL to which the cardholder is sent next.
func (o *order) next() string {
	if o.stage == stage3D || o.canRetry {
		return o.pagePath()
	}
	return o.callbackURL
}

// movedMoney reports whether the order has charged its card. Creating a token moves no money.
func (o *order) movedMoney() bool { return o.code == codes.Success && o.op != OpCreateTokenOrder }

// isRenewable reports whether the order is an approved charge of a subscription.
func (o *order) isRenewable() bool {
	return o.movedMoney() && (o.op == OpCreateSubscription || o.op == OpCreateCheckoutSubscription)
}

// seededOrder returns a generated order as one of the gateway.
func seededOrder(g generated.Order) order {
	return order{
		seeded: true, op: OpCreateCheckout, uniqueID: g.UniqueID, created: g.At, code: g.Code, text: g.Text,
		payment: payment{
			transactionID: g.TransactionID, orderID: g.OrderID, appID: g.AppID, amount: g.Amount, currency: g.Currency,
			card: card{masked: "430000******0000"},
			billing: address{
				firstName: "Ada", lastName: "Example", country: "US", email: "ada@shop.example",
				city: "Springfield", address: "1 Sample Street", phone: "15550100", zipCode: "01101",
			},
		},
	}
}

// refund is one refund record.
type refund struct {
	refundUniqueID, uniqueID, transactionID string
	merchantRefundID, amount, currency      string
	remark                                  string
	code                                    int       // 110, 111 or 112
	requested, completed                    time.Time // completed is zero at 110
	seeded                                  bool      // computed, and not stored: it never changes
}

func seededRefund(g generated.Refund) *refund {
	return &refund{
		seeded: true, refundUniqueID: g.RefundUniqueID, uniqueID: g.UniqueID, transactionID: g.TransactionID,
		merchantRefundID: g.RefundTransactionID, amount: g.Amount, currency: g.Currency,
		code: g.Code, requested: g.Requested, completed: g.Completed,
	}
}

// Prefixes of the ids of stored rows. Those of generated ones begin with 16 and 17.
const (
	prefixOrder   = "18"
	prefixRefund  = "19"
	prefixRenewal = "15" // of the transactionId of a later charge
)

// issue returns a new id: digits only, as wide as the published ones.
func (l *ledger) issue(prefix string) string {
	l.issued++
	return fmt.Sprintf("%s%017d", prefix, l.issued)
}

func (l *ledger) addOrder(o *order) {
	o.uniqueID = l.issue(prefixOrder)
	l.byUniqueID[o.uniqueID] = o
	l.byTransaction[o.transactionID] = append(l.byTransaction[o.transactionID], o)
	if o.orderID != "" {
		l.byOrder[o.orderID] = append(l.byOrder[o.orderID], o)
	}
	at := len(l.orders)
	for at > 0 && l.orders[at-1].created.After(o.created) {
		at-- // only after ArriveInRange or a clock that was set back
	}
	l.orders = slices.Insert(l.orders, at, o)
}

func (l *ledger) addRefund(r *refund) {
	r.refundUniqueID = l.issue(prefixRefund)
	at := len(l.refunds)
	for at > 0 && l.refunds[at-1].requested.After(r.requested) {
		at--
	}
	l.refunds = slices.Insert(l.refunds, at, r)
}

// find returns the order with that uniqueId, stored or seeded, or nil.
func (l *ledger) find(uniqueID string) *order {
	if o := l.byUniqueID[uniqueID]; o != nil {
		return o
	}
	if found, ok := l.seeded.Order(uniqueID); ok && !found.At.After(time.Now()) { // it is found from its time on
		o := seededOrder(found)
		return &o
	}
	return nil
}

// left returns how much of an order can still be refunded, in thousandths.
func (l *ledger) left(o *order) int64 { return money.Thousandths(o.amount) - l.refundedOf(o.uniqueID) }

// refundedOf returns how much of an order is refunded, or will be, in thousandths.
func (l *ledger) refundedOf(uniqueID string) int64 {
	return l.contents.refunded[uniqueID] + l.seeded.Refunded(uniqueID)
}

// due is a transaction or a refund in processing that settles by itself.
type due struct {
	at     time.Time
	order  *order  // or
	refund *refund // the other one is nil
}

// settleLater keeps d in processing for the given time. Zero means until the next call of settleDue.
func (l *ledger) settleLater(d due, after time.Duration) {
	d.at = time.Now().Add(after)
	at := len(l.due)
	for at > 0 && l.due[at-1].at.After(d.at) {
		at--
	}
	l.due = slices.Insert(l.due, at, d)
	if after > 0 {
		l.settleAfter(after)
	}
}

// settleDue settles everything that is due.
func (l *ledger) settleDue() {
	for len(l.due) > 0 && !l.due[0].at.After(time.Now()) {
		d := l.due[0]
		l.due[0] = due{} // releases the order
		l.due = l.due[1:]
		switch {
		case d.refund != nil:
			l.completeRefund(d.refund, true)
		case d.order.stage == stageProcessing:
			l.settle(d.order, d.order.card.outcome != Declined)
		}
	}
}
