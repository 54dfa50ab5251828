package sandbox

import (
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// Settle ends a transaction that is at 102, for example one with a Pending card, and sends its notification. It reports
// whether there was such a transaction.
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

// settleDue settles everything that is due. The caller holds g.mu.
func (g *Gateway) settleDue() {
	for {
		d, ok := g.ledger.nextDue(time.Now())
		switch {
		case !ok:
			return
		case d.refund != nil:
			g.completeRefund(d.refund, true)
		case d.order.stage == stageProcessing:
			g.settle(d.order, d.order.card.outcome != Declined)
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

// settleLater keeps d in processing for the given time. Zero means until the caller unlocks g.mu.
func (g *Gateway) settleLater(d due, after time.Duration) {
	d.at = time.Now().Add(after)
	g.ledger.wait(d)
	if after > 0 {
		g.later(after, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.settleDue()
		})
	}
}

// finish makes a transaction final, moves the money of an approved one, and notifies the merchant.
func (g *Gateway) finish(o *order, approved bool, reason string) {
	o.stage, o.code, o.text = stageFinal, codes.Failed, reason
	if approved {
		o.code, o.text = codes.Success, "Approved"
		if o.op == OpTokenCreate {
			o.token = "tok" + rand.Text()
			g.ledger.tokens[o.token] = o
		} else {
			g.ledger.executed[o.transactionID]++
			g.ledger.moves = append(g.ledger.moves, Move{TransactionID: o.transactionID, UniqueID: o.uniqueID, At: time.Now()})
			g.ledger.paidOrders[o.orderID] = o.orderID != ""
		}
	}
	o.record(strings.ToLower(o.text))
	g.notifyOrder(o)
}

// CloseOrder ends a transaction that is waiting for its cardholder or in processing, with the published code 103 (order
// closed), and sends its notification. It reports whether there was such a transaction.
func (g *Gateway) CloseOrder(transactionID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	for _, o := range g.ledger.byTransaction[transactionID] {
		if o.stage != stageFinal {
			g.closeOrder(o)
			return true
		}
	}
	return false
}

func (g *Gateway) closeOrder(o *order) {
	o.stage, o.code, o.text = stageFinal, codes.Closed, "Closed"
	o.record("closed")
	g.notifyOrder(o)
}

// completeRefund ends an accepted refund; if approved, the money is refunded. The caller holds g.mu.
func (g *Gateway) completeRefund(r *refund, approved bool) {
	if r.code != codes.RefundRequested {
		return
	}
	r.completed = time.Now()
	if approved {
		r.code = codes.Refunded
		g.ledger.givenBack[r.merchantRefundID]++
		g.ledger.moves = append(g.ledger.moves, Move{RefundTransactionID: r.merchantRefundID, UniqueID: r.refundUniqueID, At: time.Now()})
	} else {
		r.code = codes.RefundFailed
		g.ledger.refunded[r.uniqueID] -= money.Thousandths(r.amount)
	}
	if o := g.ledger.find(r.uniqueID); o != nil {
		o.record(strings.ToLower(codes.Message(r.code)) + ": " + r.amount)
		g.notifyRefund(o, r)
	}
}

// Executed returns how many times money was moved for a transactionId: 0 for a declined, open or unknown transaction, 1 for
// a charged one, and more only if Options.Duplicates allows repetitions. Creating a token moves no money.
func (g *Gateway) Executed(transactionID string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	return g.ledger.executed[transactionID]
}

// Token returns the token that a token order has created, or "" if there is none yet. A merchant gets it with the
// notification.
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

// blocked reports whether the order already has its one success. With DuplicatesPerOrder it uses the state at the time the
// request arrived, which is the race condition that this option simulates.
func (g *Gateway) blocked(o *order, paidOnArrival bool) bool {
	switch {
	case o.op == OpTokenCreate || o.orderID == "" || g.opts.Duplicates == DuplicatesExecuted:
		return false
	case g.opts.Duplicates == DuplicatesPerOrder:
		return paidOnArrival
	}
	return g.ledger.paidOrders[o.orderID]
}

// alreadyPaid is the transactionMessage of a payment whose order already has a success.
const alreadyPaid = "Order already paid"

// Notify sends the notification of every final transaction with that transactionId again, like a gateway that did not
// receive the merchant's response.
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
