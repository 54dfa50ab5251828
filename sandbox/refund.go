package sandbox

import (
	"errors"
	"strings"
	"time"
)

// Refund gives money back and returns the refundUniqueId: an empty amount means all that is left, an empty
// merchantRefundID one of the gateway's own choice. It does what POST /api/refund does.
func (g *Gateway) Refund(uniqueID, amount, merchantRefundID string) (refundUniqueID string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	r, err := g.refund(refundRequest{uniqueID: uniqueID, amount: amount, merchantRefundID: merchantRefundID})
	if err != nil {
		return "", err
	}
	return r.refundUniqueID, nil
}

// refundRequest is what a merchant asks for. An empty amount means all that is left.
type refundRequest struct{ uniqueID, amount, merchantRefundID, remark string }

// errDuplicateRefund is the one error of refund that has a code of its own.
var errDuplicateRefund = errors.New("sandbox: duplicate refundTransactionId")

// refund carries a request out, or returns the refund that the same request has made before. The caller holds g.mu.
func (g *Gateway) refund(request refundRequest) (*refund, error) {
	amount := request.amount
	if r := g.ledger.repeatedRefund(request.merchantRefundID); r != nil {
		switch same := r.uniqueID == request.uniqueID && thousandths(r.amount) == thousandths(amount); {
		case g.opts.RefundDuplicates == RefundDuplicatesExecuted:
		case same && g.opts.RefundDuplicates == RefundDuplicatesRepeated:
			return r, nil
		default:
			return nil, errDuplicateRefund
		}
	}
	o := g.ledger.find(request.uniqueID)
	if o == nil {
		return nil, errors.New("sandbox: unknown uniqueId")
	}
	if o.code != codeSuccess || o.op == OpTokenCreate {
		return nil, errors.New("sandbox: the transaction moved no money")
	}
	left := thousandths(o.amount) - g.ledger.refunded[o.uniqueID] - g.ledger.refundedByGenerated(o.uniqueID)
	if amount == "" {
		amount = amountOf(left, o.currency)
	}
	wanted := thousandths(amount)
	switch {
	case wanted <= 0:
		return nil, errors.New("sandbox: the refund amount is not above zero")
	case wanted > left:
		return nil, errors.New("sandbox: the refund amount is greater than the transaction amount")
	}
	g.ledger.refunded[o.uniqueID] += wanted
	r := &refund{
		uniqueID: o.uniqueID, transactionID: o.transactionID, merchantRefundID: request.merchantRefundID,
		amount: amount, currency: o.currency, remark: request.remark, code: codeRefundRequested, requested: time.Now(),
	}
	g.ledger.addRefund(r)
	if r.merchantRefundID == "" {
		r.merchantRefundID = "refund-" + r.refundUniqueID
	}
	o.record("refund requested: " + amount)
	switch after := g.opts.RefundSettleAfter; {
	case after == 0:
		g.completeRefund(r, true)
	case after > 0:
		g.settleLater(due{refund: r}, after)
	}
	return r, nil
}

// repeatedRefund returns the refund that has this refundTransactionId already, if there is one.
func (l *ledger) repeatedRefund(merchantRefundID string) *refund {
	q := query{refundTransactionID: merchantRefundID}
	for _, s := range l.matchingRefunds(q) {
		if refunds, ok := s.(refundList); ok && merchantRefundID != "" {
			return refunds[0]
		}
	}
	return nil
}

// SettleRefund ends a refund that is at 110: with 111, or with 112 and the money kept. It reports whether there was
// one. The refund is named by its refundTransactionId.
func (g *Gateway) SettleRefund(refundTransactionID string, approved bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	for _, r := range g.ledger.refunds {
		if r.merchantRefundID == refundTransactionID && r.code == codeRefundRequested {
			g.completeRefund(r, approved)
			return true
		}
	}
	return false
}

// Refunded returns how many times money was given back for a refundTransactionId: the judge of a test that loses the
// responses of refunds. It is more than 1 only with RefundDuplicatesExecuted.
func (g *Gateway) Refunded(refundTransactionID string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	return g.ledger.givenBack[refundTransactionID]
}

// refundedByGenerated returns what a seeded order's own refund has given back by now.
func (l *ledger) refundedByGenerated(uniqueID string) (sum int64) {
	for _, b := range l.generatedRefunds {
		if i, ok := b.find(query{uniqueID: uniqueID}); ok && b.orders != nil && !b.At(i).After(time.Now()) && b.refund(i).code != codeRefundFailed {
			sum += thousandths(b.refund(i).amount)
		}
	}
	return sum
}

// createRefund is the published POST /api/refund. Its response says 110, request accepted; the record says 111 when
// the money has been given back.
func (g *Gateway) createRefund(c *call) reply {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	r, err := g.refund(refundRequest{
		uniqueID: c.pay.refundUniqueID, amount: c.pay.amount, merchantRefundID: c.pay.refundRequest, remark: c.pay.remark,
	})
	switch {
	case errors.Is(err, errDuplicateRefund):
		o := newObject().number("code", codeDuplicate).text("message", "duplicate refundTransactionId").
			text("refundTransactionId", c.pay.refundRequest).number("timestamp", time.Now().UnixMilli())
		return g.statusFor(codeDuplicate, jsonReply(o.end()))
	case err != nil:
		reason := strings.TrimPrefix(err.Error(), "sandbox: ")
		o := newObject().number("code", codeRefundFailed).text("message", reason)
		return jsonReply(o.number("timestamp", time.Now().UnixMilli()).end())
	}
	b := newObject().number("code", codeRefundRequested).text("message", codeMessage(codeRefundRequested))
	b = b.text("refundTransactionId", r.merchantRefundID).text("uniqueId", r.uniqueID)
	b = b.text("refundUniqueId", r.refundUniqueID).text("refundCurrency", r.currency).text("refundAmount", r.amount)
	b = b.wallTime("refundRequestAt", r.requested, g.opts.Location)
	if !r.completed.IsZero() {
		b = b.wallTime("refundAt", r.completed, g.opts.Location)
	}
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
	o.record("charged back")
	g.notifyChargeback(o)
	return nil
}
