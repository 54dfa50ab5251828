package sandbox

import (
	"crypto/rand"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// pay carries out one of the five payment operations.
func (g *Gateway) pay(c *call) reply {
	o := &order{payment: c.pay, op: c.op, created: time.Now()}
	if c.op == OpTokenPayment {
		source := g.ledger.tokens[c.pathParam]
		if source == nil {
			return g.refuse(codes.NotFound, "tokenization: unknown token")
		}
		o.card, o.billing = source.card, source.billing
		if o.appID == "" {
			o.appID = source.appID
		}
	}
	if len(g.ledger.byTransaction[o.transactionID]) > 0 {
		if reply, refused := g.refuseDuplicate(o); refused {
			return reply
		}
	}
	o.record("created by " + string(o.op))
	g.ledger.addOrder(o)
	switch {
	case g.blocked(o, c.orderPaid):
		g.finish(o, false, alreadyPaid)
	case c.op == OpSubscription || c.op == OpTokenPayment:
		g.useCard(o)
	default:
		g.openPage(o, stageCard)
	}
	return jsonReply(g.format(c.base).appendResult(jsonobject.New(), o, false).End())
}

// refuseDuplicate refuses a transactionId that was seen before, unless the options allow it.
func (g *Gateway) refuseDuplicate(o *order) (_ reply, refused bool) {
	code := codes.Duplicate
	switch g.opts.Duplicates {
	case DuplicatesRefused:
	case DuplicatesDeclined:
		code = codes.Failed
	default:
		return reply{}, false
	}
	obj := jsonobject.New().Number("code", int64(code)).Text("message", codes.Message(code)).
		Text("transactionId", o.transactionID).Text("transactionMessage", "Duplicate transactionId").
		Number("timestamp", time.Now().UnixMilli())
	return g.statusFor(code, jsonReply(obj.End())), true
}

// useCard carries out the behaviour of the order's card.
func (g *Gateway) useCard(o *order) {
	o.stage = stageProcessing
	outcome := o.card.outcome
	switch {
	case o.op == OpTokenCreate && !g.opts.TokenOrderUsesCard: // the card decides the outcome of payments with the token
		if o.secure {
			g.openPage(o, stage3D)
		} else {
			g.finish(o, true, "")
		}
	case outcome == Challenged, o.secure && (outcome == Approved || g.opts.SecureForEveryCard):
		g.openPage(o, stage3D)
	default:
		g.charge(o)
	}
}

// charge carries out the behaviour of the card after any authentication.
func (g *Gateway) charge(o *order) {
	o.stage = stageProcessing
	switch outcome := o.card.outcome; {
	case outcome == Pending:
		o.code, o.text = codes.Processing, "Pending"
		o.record("in processing")
		if g.opts.SettlePendingAfter > 0 {
			g.settleLater(due{order: o}, g.opts.SettlePendingAfter)
		}
	case o.op == OpTokenPayment && !o.is3d && (outcome == Approved || g.opts.DeclineLater):
		o.code, o.text = codes.Processing, "success." // as the interface shows its response
		o.record("in processing")
		if g.opts.SettleAfter >= 0 {
			g.settleLater(due{order: o}, g.opts.SettleAfter)
		}
	case outcome == Declined:
		g.finish(o, false, "Declined")
		o.canRetry = g.opts.HostedRetry && o.page != ""
	default:
		g.finish(o, true, "")
	}
}

// authenticate ends the 3D authentication of an order.
func (g *Gateway) authenticate(o *order, approve bool) {
	o.is3d = true
	switch {
	case !approve:
		g.finish(o, false, "3D authentication failed")
		o.canRetry = g.opts.HostedRetry && o.op != OpSubscription && o.op != OpTokenPayment
	case g.blocked(o, g.ledger.paidOrders[o.orderID]):
		g.finish(o, false, alreadyPaid)
	case o.op == OpTokenCreate && !g.opts.TokenOrderUsesCard:
		g.finish(o, true, "")
	default:
		o.record("authenticated")
		g.charge(o)
	}
}

// openPage sends the cardholder to the hosted card page or to the 3D page.
func (g *Gateway) openPage(o *order, s stage) {
	o.stage, o.code, o.text = s, codes.Redirect, "Redirect"
	o.record(map[stage]string{stageCard: "waiting for a card", stage3D: "waiting for 3D authentication"}[s])
	if o.page == "" {
		o.page = rand.Text()
		g.ledger.pages[o.page] = o
	}
}

// retry returns the next transaction of a hosted page whose last card was declined.
func (g *Gateway) retry(o *order) *order {
	next := &order{payment: o.payment, op: o.op, created: time.Now(), page: o.page}
	next.card = card{}
	o.canRetry = false
	g.ledger.addOrder(next)
	g.ledger.pages[o.page] = next
	g.openPage(next, stageCard)
	return next
}
