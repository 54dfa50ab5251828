package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Refund gives money back and returns the refundUniqueId: an empty amount means all that is left, an empty
// merchantRefundID one of the gateway's own choice. The record is found by the refund query at once, with code 111,
// and a notification goes out. The interface does not show how a merchant asks for a refund.
func (g *Gateway) Refund(uniqueID, amount, merchantRefundID string) (refundUniqueID string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	r, err := g.refund(uniqueID, amount, merchantRefundID)
	if err != nil {
		return "", err
	}
	return r.refundUniqueID, nil
}

func (g *Gateway) refund(uniqueID, amount, merchantRefundID string) (*refund, error) {
	o := g.ledger.find(uniqueID)
	if o == nil {
		return nil, errors.New("sandbox: unknown uniqueId")
	}
	if o.code != codeSuccess || o.op == OpTokenCreate {
		return nil, errors.New("sandbox: the transaction moved no money")
	}
	left := thousandths(o.amount) - g.ledger.refunded[o.uniqueID] - g.ledger.refundedByGenerated(o.uniqueID)
	if amount == "" {
		amount = strings.TrimSuffix(fmt.Sprintf("%d.%03d", left/1000, left%1000), "0")
	}
	wanted := thousandths(amount)
	switch {
	case wanted <= 0:
		return nil, errors.New("sandbox: the refund amount is not above zero")
	case wanted > left:
		return nil, errors.New("sandbox: the refund amount is greater than the transaction amount")
	}
	g.ledger.refunded[o.uniqueID] += wanted
	now := time.Now()
	r := &refund{
		uniqueID: o.uniqueID, transactionID: o.transactionID, merchantRefundID: merchantRefundID,
		amount: amount, currency: o.currency, requested: now, completed: now,
	}
	g.ledger.addRefund(r)
	if r.merchantRefundID == "" {
		r.merchantRefundID = "refund-" + r.refundUniqueID
	}
	g.notifyRefund(o, r)
	return r, nil
}

// refundedByGenerated returns what a seeded order's own refund has given back by now.
func (l *ledger) refundedByGenerated(uniqueID string) (sum int64) {
	for _, b := range l.generatedRefunds {
		if i, ok := b.find(query{uniqueID: uniqueID}); ok && b.orders != nil && !b.At(i).After(time.Now()) {
			sum += thousandths(b.refund(i).amount)
		}
	}
	return sum
}

// createRefund is the published POST /api/refund. Its answer says 110, request accepted; the record says 111.
func (g *Gateway) createRefund(c *call) reply {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	r, err := g.refund(c.pay.refundUniqueID, c.pay.amount, c.pay.refundRequest)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "sandbox: ")
		o := newObject().number("code", codeRefundFailed).text("message", reason)
		return jsonReply(o.number("timestamp", time.Now().UnixMilli()).end())
	}
	b := newObject().number("code", codeRefundRequested).text("message", codeMessage(codeRefundRequested))
	b = b.text("refundTransactionId", r.merchantRefundID).text("uniqueId", r.uniqueID)
	b = b.text("refundUniqueId", r.refundUniqueID).text("refundCurrency", r.currency).text("refundAmount", r.amount)
	b = b.wallTime("refundRequestAt", r.requested, g.opts.Location).wallTime("refundAt", r.completed, g.opts.Location)
	return jsonReply(b.number("timestamp", time.Now().UnixMilli()).end())
}

// Chargeback sends the notification of a chargeback of the whole amount. Nothing else changes: the interface
// shows no record of one.
func (g *Gateway) Chargeback(uniqueID string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.ledger.find(uniqueID)
	if o == nil {
		return errors.New("sandbox: unknown uniqueId")
	}
	g.notifyChargeback(o)
	return nil
}
