package sandbox

import (
	"errors"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
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
		switch same := r.uniqueID == request.uniqueID && money.Thousandths(r.amount) == money.Thousandths(amount); {
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
	if o.code != codes.Success || o.op == OpTokenCreate {
		return nil, errors.New("sandbox: the transaction has moved no money")
	}
	left := money.Thousandths(o.amount) - g.ledger.refunded[o.uniqueID] - g.ledger.refundedByGenerated(o.uniqueID)
	if amount == "" {
		amount = money.Of(left, o.currency)
	}
	wanted := money.Thousandths(amount)
	switch {
	case wanted <= 0:
		return nil, errors.New("sandbox: the refund amount is not above zero")
	case wanted > left:
		return nil, errors.New("sandbox: the refund amount is greater than the transaction amount")
	}
	g.ledger.refunded[o.uniqueID] += wanted
	r := &refund{
		uniqueID: o.uniqueID, transactionID: o.transactionID, merchantRefundID: request.merchantRefundID,
		amount: amount, currency: o.currency, remark: request.remark, code: codes.RefundRequested, requested: time.Now(),
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
		if r.merchantRefundID == refundTransactionID && r.code == codes.RefundRequested {
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
		if i, ok := b.find(query{uniqueID: uniqueID}); ok && b.orders != nil && !b.At(i).After(time.Now()) && b.refund(i).code != codes.RefundFailed {
			sum += money.Thousandths(b.refund(i).amount)
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
		o := jsonobject.New().Number("code", codes.Duplicate).Text("message", "duplicate refundTransactionId").
			Text("refundTransactionId", c.pay.refundRequest).Number("timestamp", time.Now().UnixMilli())
		return g.statusFor(codes.Duplicate, jsonReply(o.End()))
	case err != nil:
		reason := strings.TrimPrefix(err.Error(), "sandbox: ")
		o := jsonobject.New().Number("code", codes.RefundFailed).Text("message", reason)
		return jsonReply(o.Number("timestamp", time.Now().UnixMilli()).End())
	}
	b := jsonobject.New().Number("code", codes.RefundRequested).Text("message", codes.Message(codes.RefundRequested))
	b = b.Text("refundTransactionId", r.merchantRefundID).Text("uniqueId", r.uniqueID)
	b = b.Text("refundUniqueId", r.refundUniqueID).Text("refundCurrency", r.currency).Text("refundAmount", r.amount)
	b = b.WallTime("refundRequestAt", r.requested, g.opts.Location)
	if !r.completed.IsZero() {
		b = b.WallTime("refundAt", r.completed, g.opts.Location)
	}
	return jsonReply(b.Number("timestamp", time.Now().UnixMilli()).End())
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
