package sandbox

import (
	"time"
)

// pay carries out one of the five payment operations.
func (g *Gateway) pay(c *call) reply {
	o := &order{payment: c.pay, op: c.op, created: time.Now()}
	if c.op == OpTokenPayment {
		source := g.ledger.tokens[c.pathParam]
		if source == nil {
			return g.refuse(codeNotFound, "tokenization: unknown token")
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
	g.ledger.addOrder(o)
	switch {
	case g.blocked(o, c.orderPaid):
		g.finish(o, false, alreadyPaid)
	case c.op == OpSubscription || c.op == OpTokenPayment:
		g.useCard(o)
	default:
		g.openPage(o, stageCard)
	}
	return jsonReply(g.format(c.base).appendResult(newObject(), o, false).end())
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

// useCard does what the order's card does.
func (g *Gateway) useCard(o *order) {
	o.stage = stageProcessing
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
