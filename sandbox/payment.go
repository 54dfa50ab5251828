package sandbox

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

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
	free     bool            // a token order that only stores the card
}

// payment is what the gateway stores of the body of a payment request.
type payment struct {
	transactionID, orderID       string
	appID                        string // digits
	amount, currency             string // amount exactly as received
	method                       string
	callbackURL, notificationURL string
	secure                       bool
	billing                      address
	card                         card
	products                     []console.Product // for the hosted page
}

// address has the members that a result repeats.
type address struct {
	firstName, lastName, country, email, city, address, phone, zipCode string
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

func (o *order) ids() generated.IDs {
	return generated.IDs{UniqueID: o.uniqueID, OrderID: o.orderID, TransactionID: o.transactionID}
}

func (o *order) at() time.Time { return o.created }

func (o *order) appendTo(b jsonobject.Object, f resultFormat) jsonobject.Object {
	return f.appendResult(b, o, true)
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

// movedMoney reports whether the order has charged its card.
func (o *order) movedMoney() bool { return o.code == codes.Success && !o.free }

// isRenewable reports whether the order is an approved charge of a subscription.
func (o *order) isRenewable() bool {
	return o.movedMoney() && (o.op == OpCreateSubscription || o.op == OpCreateCheckoutSubscription)
}

// Paths of the hosted pages. The element after them is the unguessable id of the page.
const (
	cardPagePath   = "/hosted/card/"
	threeDPagePath = "/hosted/3d/"
)

// pagePath returns the path of the page on which the cardholder is awaited, or "".
func (o *order) pagePath() string {
	switch {
	case o.awaits(stage3D):
		return threeDPagePath + o.page
	case o.awaits(stageCard):
		return cardPagePath + o.page
	}
	return ""
}

// pay carries out one of the five payment operations.
func (l *ledger) pay(c *call) reply {
	o := &order{payment: c.pay, op: c.op, created: time.Now(), free: c.op == OpCreateTokenOrder && !l.opts.Cards.TokenOrderCharges}
	if c.op == OpTokenPayment {
		source, known := l.tokens[c.pathParam]
		if !known {
			return l.opts.refusal(codes.NotFound, "tokenization: unknown token")
		}
		o.card, o.billing = source.card, source.billing
		if o.appID == "" {
			o.appID = source.appID
		}
	}
	if len(l.orders.of(generated.IDs{TransactionID: o.transactionID})) > 0 {
		if answer, refused := l.refuseDuplicate(o); refused {
			return answer
		}
	}
	o.record("created by " + string(o.op))
	l.addOrder(o)
	switch {
	case l.blocked(o, c.orderPaid):
		l.finish(o, false, alreadyPaid)
	case c.op.isDirect():
		l.useCard(o)
	default:
		l.openPage(o, stageCard)
	}
	answer := jsonReply(o.code, c.format.appendResult(jsonobject.New(), o, false))
	l.settleDue() // if SettleAfter is zero
	return answer
}

// refuseDuplicate refuses a transactionId that was seen before, unless the options allow it.
func (l *ledger) refuseDuplicate(o *order) (_ reply, refused bool) {
	code := codes.Duplicate
	switch l.opts.Duplicates {
	case DuplicatesRefused:
	case DuplicatesDeclined:
		code = codes.Failed
	default:
		return reply{}, false
	}
	refusal := shortReply(code, codes.Message(code), "transactionId", o.transactionID, "transactionMessage", "Duplicate transactionId")
	return l.opts.statusFor(refusal), true
}

// blocked reports whether the order already has its one success. With DuplicatesPerOrder it uses the state at the time the
// request arrived, which is the race condition that this option simulates.
func (l *ledger) blocked(o *order, paidOnArrival bool) bool {
	switch {
	case o.free || o.orderID == "" || l.opts.Duplicates == DuplicatesExecuted:
		return false
	case l.opts.Duplicates == DuplicatesPerOrder:
		return paidOnArrival
	}
	return l.isPaid(o.orderID)
}

// alreadyPaid is the transactionMessage of a payment whose order already has a success.
const alreadyPaid = "Order already paid"

// openPage sends the cardholder to the hosted card page or to the 3D page.
func (l *ledger) openPage(o *order, s stage) {
	o.stage, o.code, o.text = s, codes.Redirect, "Redirect"
	o.record(map[stage]string{stageCard: "waiting for a card", stage3D: "waiting for 3D authentication"}[s])
	if o.page == "" {
		o.page = rand.Text()
		l.pages[o.page] = o
	}
}

// enterCard uses a card for an order that is waiting for one, or for a new order after a declined one. It returns the order
// that used the card.
func (l *ledger) enterCard(o *order, c card) *order {
	if o.canRetry {
		o = l.retry(o)
	}
	o.card = c
	o.record("card entered")
	if l.blocked(o, l.isPaid(o.orderID)) {
		l.finish(o, false, alreadyPaid)
	} else {
		l.useCard(o)
	}
	return o
}

// retry returns the next transaction of a hosted page whose last card was declined.
func (l *ledger) retry(o *order) *order {
	next := &order{payment: o.payment, op: o.op, created: time.Now(), page: o.page, free: o.free}
	next.card = card{}
	o.canRetry = false
	l.addOrder(next)
	l.pages[o.page] = next
	l.openPage(next, stageCard)
	return next
}

// useCard carries out the behaviour of the order's card.
func (l *ledger) useCard(o *order) {
	outcome := l.outcome(o)
	if outcome == Challenged || o.secure && (outcome == Approved || l.opts.Cards.SecureForEveryCard) {
		l.openPage(o, stage3D)
	} else {
		l.charge(o)
	}
}

// outcome is the behaviour of the order's card.
func (l *ledger) outcome(o *order) Outcome {
	if o.op == OpCreateTokenOrder && !l.opts.Cards.TokenOrderUsesCard {
		return Approved // the card decides the outcome of the payments with the token
	}
	return o.card.outcome
}

// authenticate ends the 3D authentication of an order.
func (l *ledger) authenticate(o *order, approve bool) {
	o.is3d = true
	switch {
	case !approve:
		l.decline(o, "3D authentication failed")
	case l.blocked(o, l.isPaid(o.orderID)):
		l.finish(o, false, alreadyPaid)
	default:
		o.record("authenticated")
		l.charge(o)
	}
}

// charge carries out the behaviour of the card after any authentication.
func (l *ledger) charge(o *order) {
	o.stage = stageProcessing
	switch outcome := l.outcome(o); {
	case outcome == Pending:
		o.code, o.text = codes.Processing, "Pending"
		o.record("in processing")
	case o.op == OpTokenPayment && !o.is3d && (outcome == Approved || l.opts.Cards.DeclineLater):
		o.code, o.text = codes.Processing, "success." // as the interface shows its response
		o.record("in processing")
		if l.opts.SettleAfter >= 0 {
			l.settleLater(due{order: o}, l.opts.SettleAfter)
		}
	case outcome == Declined:
		l.decline(o, "Declined")
	default:
		l.finish(o, true, "")
	}
}

// decline ends a transaction. On a hosted page the cardholder may then try another card, with that option.
func (l *ledger) decline(o *order, reason string) {
	l.finish(o, false, reason)
	o.canRetry = l.opts.Cards.HostedRetry && !o.op.isDirect()
}

// isDirect reports whether the request itself makes the payment; with the others, the cardholder enters a card on the hosted page.
func (o Operation) isDirect() bool { return o == OpCreateSubscription || o == OpTokenPayment }

// due is a transaction or a refund in processing that settles by itself.
type due struct {
	at     time.Time
	order  *order  // or
	refund *refund // the other one is nil
}

// settleLater keeps d in processing for the given time. Zero means until the next call of settleDue.
func (l *ledger) settleLater(d due, after time.Duration) {
	d.at = time.Now().Add(after)
	l.due = insert(l.due, d, func(d due) time.Time { return d.at })
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

// settle ends a transaction in processing.
func (l *ledger) settle(o *order, approved bool) {
	reason := "Declined"
	if approved && l.blocked(o, false) {
		approved, reason = false, alreadyPaid
	}
	l.finish(o, approved, reason)
}

// finish makes a transaction final, moves the money of an approved one, and notifies the merchant.
func (l *ledger) finish(o *order, approved bool, reason string) {
	o.stage, o.code, o.text = stageFinal, codes.Failed, reason
	if approved {
		o.code, o.text = codes.Success, "Approved"
		if o.op == OpCreateTokenOrder {
			o.token = "tok" + rand.Text()
			l.tokens[o.token] = o.payment
		}
		if !o.free {
			l.moves = append(l.moves, Move{TransactionID: o.transactionID, UniqueID: o.uniqueID, At: time.Now()})
		}
	}
	o.record(strings.ToLower(o.text))
	l.notices.payment(o)
}

// renew makes a later charge of a subscription, and returns it.
func (l *ledger) renew(o *order) *order {
	next := &order{payment: o.payment, op: o.op, created: time.Now(), renewal: true}
	if l.opts.RenewalsHaveNewID {
		next.transactionID = l.issue(prefixRenewal)
	}
	next.record("renewed")
	l.addOrder(next)
	l.finish(next, true, "")
	return next
}

// close ends a transaction without an outcome, and notifies the merchant.
func (l *ledger) close(o *order) {
	o.stage, o.code, o.text = stageFinal, codes.Closed, "Closed"
	o.record("closed")
	l.notices.payment(o)
}
