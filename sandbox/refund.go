package sandbox

import (
	"errors"
	"strings"
	"time"
)

// Refund refunds money and returns the refundUniqueId. An empty amount means all that has not been refunded, an empty
// merchantRefundID means a generated one. It has the same effect as POST /api/refund.
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

// refundRequest is the request of a merchant. An empty amount means all that has not been refunded.
type refundRequest struct{ uniqueID, amount, merchantRefundID, remark string }

// errDuplicateRefund is the only error of refund that has a code of its own.
var errDuplicateRefund = errors.New("sandbox: duplicate refundTransactionId")

// refund carries out a request, or returns the refund that an earlier identical request made. The caller holds g.mu.
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
		return nil, errors.New("sandbox: the transaction has moved no money")
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

// repeatedRefund returns the refund that already has this refundTransactionId, or nil.
func (l *ledger) repeatedRefund(merchantRefundID string) *refund {
	q := query{refundTransactionID: merchantRefundID}
	for _, s := range l.matchingRefunds(q) {
		if refunds, ok := s.(refundList); ok && merchantRefundID != "" {
			return refunds[0]
		}
	}
	return nil
}

// SettleRefund ends a refund that is at 110: if approved, with 111, otherwise with 112, and no money is refunded. It
// reports whether there was such a refund. The refund is identified by its refundTransactionId.
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

// Refunded returns how many times money was refunded for a refundTransactionId. Use it to check tests that lose the
// responses of refunds. It is more than 1 only with RefundDuplicatesExecuted.
func (g *Gateway) Refunded(refundTransactionID string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	return g.ledger.givenBack[refundTransactionID]
}

// refundedByGenerated returns what the generated refunds of a seeded order have refunded so far.
func (l *ledger) refundedByGenerated(uniqueID string) (sum int64) {
	for _, b := range l.generatedRefunds {
		if i, ok := b.find(query{uniqueID: uniqueID}); ok && b.orders != nil && !b.At(i).After(time.Now()) && b.refund(i).code != codeRefundFailed {
			sum += thousandths(b.refund(i).amount)
		}
	}
	return sum
}

// createRefund is the published POST /api/refund. Its response has code 110 (request accepted); the row has code 111 once
// the money is refunded.
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

// Chargeback sends the notification of a chargeback of the whole amount. Nothing else changes, because the interface
// returns no chargebacks.
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
