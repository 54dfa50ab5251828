package sandbox

import (
	"crypto/rand"
	"strings"
	"time"
)

// execute carries out a call that no fault keeps from being carried out.
func (g *Gateway) execute(c *call) reply {
	if len(c.problems) > 0 {
		return g.refuse(codeParameterError, strings.Join(c.problems, "; "))
	}
	switch c.op {
	case OpSearchOrders, OpSearchRefunds:
		return g.search(c)
	case OpGetOrder:
		return g.getOrder(c)
	case OpRefund:
		return g.createRefund(c)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	rep := g.pay(c)
	g.settleDue() // what SettleAfter zero has just put there
	return rep
}

// pay carries out one of the five payment operations.
func (g *Gateway) pay(c *call) reply {
	o := &order{payment: c.pay, op: c.op, created: time.Now()}
	if c.op == OpTokenPayment {
		source := g.ledger.tokens[c.arg]
		if source == nil {
			return g.refuse(codeNotFound, "tokenization: unknown token")
		}
		o.card, o.billing = source.card, source.billing
		if o.appID == "" {
			o.appID = source.appID
		}
	}
	if len(g.ledger.byTransaction[o.transactionID]) > 0 {
		if rep, refused := g.refuseDuplicate(o); refused {
			return rep
		}
	}
	g.ledger.addOrder(o)
	switch {
	case g.blocked(o, c.orderPaid):
		g.finish(o, false, alreadyPaid)
	case c.op == OpSubscription || c.op == OpTokenPayment:
		g.useCard(o)
	default:
		g.openPage(o, stageCard)
	}
	return jsonReply(g.appendResult(newObject(), o, c.base, false).end())
}

// refuseDuplicate answers a transactionId that was seen before, unless the options let it pass.
func (g *Gateway) refuseDuplicate(o *order) (_ reply, refused bool) {
	code := codeDuplicate
	switch g.opts.Duplicates {
	case DuplicatesRefused:
	case DuplicatesDeclined:
		code = codeFailed
	default:
		return reply{}, false
	}
	obj := newObject().number("code", int64(code)).text("message", codeMessage(code)).
		text("transactionId", o.transactionID).text("transactionMessage", "Duplicate transactionId").
		number("timestamp", time.Now().UnixMilli())
	return g.statusFor(code, jsonReply(obj.end())), true
}

// alreadyPaid is the transactionMessage of a payment whose order has its one success.
const alreadyPaid = "Order already paid"

// blocked reports whether the order has its one success already. DuplicatesPerOrder goes by what was so when
// the request arrived, which is the race that it offers.
func (g *Gateway) blocked(o *order, paidOnArrival bool) bool {
	switch {
	case o.op == OpTokenCreate || o.orderID == "" || g.opts.Duplicates == DuplicatesExecuted:
		return false
	case g.opts.Duplicates == DuplicatesPerOrder:
		return paidOnArrival
	}
	return g.ledger.paidOrders[o.orderID]
}

// useCard does what the order's card does.
func (g *Gateway) useCard(o *order) {
	o.stage = stageBank
	if o.op == OpTokenCreate { // a token can be made of any card; what it does shows when it is paid with
		if o.secure {
			g.openPage(o, stage3D)
			return
		}
		g.finish(o, true, "")
		return
	}
	outcome := o.card.outcome
	switch {
	case outcome == Pending:
		o.code, o.text = codeProcessing, "Pending"
	case outcome == Declined && (o.op != OpTokenPayment || !g.opts.DeclineLater):
		g.finish(o, false, "Declined")
	case outcome == Challenged || outcome == Approved && o.secure:
		g.openPage(o, stage3D)
	case o.op == OpTokenPayment:
		g.settleLater(o)
	default:
		g.finish(o, true, "")
	}
}

// settleLater leaves a token payment at 102, as the interface shows its answer.
func (g *Gateway) settleLater(o *order) {
	o.code, o.text = codeProcessing, "success."
	if g.opts.SettleAfter < 0 {
		return
	}
	o.settleAt = time.Now().Add(g.opts.SettleAfter)
	g.ledger.waiting = append(g.ledger.waiting, o)
	if g.opts.SettleAfter > 0 {
		g.later(g.opts.SettleAfter, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.settleDue()
		})
	}
}

// settleDue finishes what has been at 102 for long enough. The caller holds g.mu.
func (g *Gateway) settleDue() {
	now := time.Now()
	for len(g.ledger.waiting) > 0 && !g.ledger.waiting[0].settleAt.After(now) {
		o := g.ledger.waiting[0]
		g.ledger.waiting = g.ledger.waiting[1:]
		if o.stage == stageBank {
			g.settle(o, o.card.outcome != Declined)
		}
	}
}

func (g *Gateway) settle(o *order, approved bool) {
	reason := "Declined"
	if approved && g.blocked(o, false) {
		approved, reason = false, alreadyPaid
	}
	g.finish(o, approved, reason)
}

// Settle ends a transaction that is at 102, for example one of a Pending card, and sends its notification. It
// reports whether there was one.
func (g *Gateway) Settle(transactionID string, approved bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	for _, o := range g.ledger.byTransaction[transactionID] {
		if o.stage == stageBank {
			g.settle(o, approved)
			return true
		}
	}
	return false
}

// openPage sends the cardholder to the hosted card page or to the 3D page.
func (g *Gateway) openPage(o *order, s stage) {
	o.stage, o.code, o.text = s, codeRedirect, "Redirect"
	if o.page == "" {
		o.page = rand.Text()
		g.ledger.pages[o.page] = o
	}
}

// finish makes a transaction final, moves the money of an approved one, and notifies the merchant.
func (g *Gateway) finish(o *order, approved bool, reason string) {
	o.stage, o.code, o.text = stageFinal, codeFailed, reason
	if approved {
		o.code, o.text = codeSuccess, "Approved"
		if o.op == OpTokenCreate {
			o.token = "tok" + rand.Text()
			g.ledger.tokens[o.token] = o
		} else {
			g.ledger.executed[o.transactionID]++
			g.ledger.paidOrders[o.orderID] = o.orderID != ""
		}
	}
	g.notifyOrder(o)
}

// Token returns the token that the hosted page of that token order has made, or "" if there is none yet. A merchant
// learns it from the notification.
func (g *Gateway) Token(transactionID string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.ledger.byTransaction[transactionID] {
		if o.token != "" {
			return o.token
		}
	}
	return ""
}
