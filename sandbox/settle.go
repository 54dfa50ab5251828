package sandbox

import (
	"crypto/rand"
	"errors"
	"time"
)

// Settle ends a transaction that is at 102, for example one of a Pending card, and sends its notification. It
// reports whether there was one.
func (g *Gateway) Settle(transactionID string, approved bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	for _, o := range g.ledger.byTransaction[transactionID] {
		if o.stage == stageProcessing {
			g.settle(o, approved)
			return true
		}
	}
	return false
}

// settleDue finishes what has been at 102 for long enough. The caller holds g.mu.
func (g *Gateway) settleDue() {
	now := time.Now()
	for len(g.ledger.waiting) > 0 && !g.ledger.waiting[0].settleAt.After(now) {
		o := g.ledger.waiting[0]
		g.ledger.waiting = g.ledger.waiting[1:]
		if o.stage == stageProcessing {
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

// settleLater leaves a token payment at 102, as the interface shows its response.
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

// Executed returns how many times money was moved for a transactionId: 0 for a declined, open or unknown
// transaction, 1 for a charged one, and more only where Options.Duplicates lets a payment be repeated. Creating a
// token moves no money here.
func (g *Gateway) Executed(transactionID string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	return g.ledger.executed[transactionID]
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

// alreadyPaid is the transactionMessage of a payment whose order has its one success.
const alreadyPaid = "Order already paid"

// Notify sends the notification of every final transaction with that transactionId once more, as a gateway does
// that missed the merchant's response.
func (g *Gateway) Notify(transactionID string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	found := false
	for _, o := range g.ledger.byTransaction[transactionID] {
		if o.stage == stageFinal {
			found = true
			g.notifyOrder(o)
		}
	}
	if !found {
		return errors.New("sandbox: no final transaction with that transactionId")
	}
	return nil
}
