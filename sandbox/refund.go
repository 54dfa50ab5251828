package sandbox

import (
	"errors"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// refund is one refund record.
type refund struct {
	refundUniqueID, uniqueID, transactionID string
	merchantRefundID, amount, currency      string
	remark                                  string
	asked                                   string    // amount of the request
	code                                    int       // 110, 111 or 112
	requested, completed                    time.Time // completed is zero at 110
	seeded                                  bool      // computed, and not stored: it never changes
}

func seededRefund(g generated.Refund) *refund {
	return &refund{
		seeded: true, refundUniqueID: g.RefundUniqueID, uniqueID: g.UniqueID, transactionID: g.TransactionID,
		merchantRefundID: g.RefundTransactionID, amount: g.Amount, asked: g.Amount, currency: g.Currency,
		code: g.Code, requested: g.Requested, completed: g.Completed,
	}
}

func (r *refund) ids() generated.IDs {
	return generated.IDs{
		UniqueID: r.uniqueID, TransactionID: r.transactionID, RefundTransactionID: r.merchantRefundID, RefundUniqueID: r.refundUniqueID,
	}
}

func (r *refund) at() time.Time { return r.requested }

// refundRequest is the request of a merchant. An empty amount means all that has not been refunded.
type refundRequest struct{ uniqueID, amount, merchantRefundID, remark string }

// decodeRefund reads the published refund request.
func decodeRefund(body []byte) (request refundRequest, problems []string) {
	d := &decoder{op: OpCreateRefund}
	if m := d.object("body", body); m != nil {
		d.check(m, "", []rule{
			{"uniqueId", d.id(&request.uniqueID), "R"},
			{"amount", d.amount(&request.amount), "R"},
			{"refundTransactionId", d.text(&request.merchantRefundID, 128), "R"},
			{"remark", d.optional(&request.remark, 255), "O"},
		}, 0)
	}
	return request, d.problems
}

// checkRefund checks a refund that no request asks for, by the same rules. Every text may be empty.
func checkRefund(r refundRequest) (problems []string) {
	d := &decoder{op: OpCreateRefund}
	if r.amount != "" {
		d.positive("amount", r.amount)
	}
	d.short("refundTransactionId", r.merchantRefundID, 128)
	d.short("remark", r.remark, 255)
	return d.problems
}

// errDuplicateRefund is the only error of giveBack that has a code of its own.
var errDuplicateRefund = errors.New("duplicate refundTransactionId")

// createRefund is the published POST /api/refund. Its response has code 110 (request accepted); the row has code 111 once
// the money is refunded.
func (l *ledger) createRefund(c *call) reply {
	r, err := l.giveBack(c.refund)
	switch {
	case errors.Is(err, errDuplicateRefund):
		return l.opts.statusFor(shortReply(codes.Duplicate, err.Error(), "refundTransactionId", c.refund.merchantRefundID))
	case err != nil:
		return shortReply(codes.RefundFailed, err.Error())
	}
	return acceptedRefund(r, l.opts.Location)
}

func acceptedRefund(r *refund, zone *time.Location) reply {
	o := appendRefund(appendCode(jsonobject.New(), codes.RefundRequested), "refundTransactionId", r, zone)
	return jsonReply(codes.RefundRequested, o.Number("timestamp", time.Now().UnixMilli()))
}

// giveBack carries out a refund, or returns the refund that an earlier identical request made.
func (l *ledger) giveBack(request refundRequest) (*refund, error) {
	if r := newest(l.refundsOf, generated.IDs{RefundTransactionID: request.merchantRefundID}); r != nil {
		switch same := r.uniqueID == request.uniqueID && money.Thousandths(r.asked) == money.Thousandths(request.amount); {
		case l.opts.RefundDuplicates == RefundDuplicatesExecuted:
		case same && l.opts.RefundDuplicates == RefundDuplicatesRepeated:
			return r, nil
		default:
			return nil, errDuplicateRefund
		}
	}
	o := l.find(request.uniqueID)
	if o == nil {
		return nil, errors.New("unknown uniqueId")
	}
	if !o.movedMoney() {
		return nil, errors.New("the transaction has moved no money")
	}
	back, _ := l.refunded(o)
	left, amount := money.Thousandths(o.amount)-back, request.amount
	if amount == "" {
		amount = money.Of(left, o.currency)
	}
	wanted := money.Thousandths(amount)
	switch {
	case wanted <= 0:
		return nil, errors.New("the refund amount is not above zero")
	case wanted > left:
		return nil, errors.New("the refund amount is greater than the transaction amount")
	}
	r := &refund{
		uniqueID: o.uniqueID, transactionID: o.transactionID, merchantRefundID: request.merchantRefundID,
		amount: amount, asked: request.amount, currency: o.currency, remark: request.remark, code: codes.RefundRequested, requested: time.Now(),
	}
	l.addRefund(r)
	o.record("refund requested: " + amount)
	switch after := l.opts.RefundSettleAfter; {
	case after == 0:
		l.completeRefund(r, true)
	case after > 0:
		l.settleLater(due{refund: r}, after)
	}
	return r, nil
}

// refunded returns how much of an order is refunded, or will be, in thousandths, and whether a refund of it is open.
func (l *ledger) refunded(o *order) (sum int64, open bool) {
	for _, r := range l.refundsOf(generated.IDs{UniqueID: o.uniqueID}) {
		if r.code != codes.RefundFailed {
			sum += money.Thousandths(r.amount)
		}
		open = open || r.code == codes.RefundRequested
	}
	return sum, open
}

// timesRefunded returns how many times money was refunded for a refundTransactionId.
func (l *ledger) timesRefunded(merchantRefundID string) (n int) {
	for _, r := range l.refunds.of(generated.IDs{RefundTransactionID: merchantRefundID}) {
		if r.code == codes.Refunded {
			n++
		}
	}
	return n
}

// completeRefund ends an accepted refund; if approved, the money is refunded.
func (l *ledger) completeRefund(r *refund, approved bool) {
	if r.code != codes.RefundRequested {
		return
	}
	r.completed = time.Now()
	if approved {
		r.code = codes.Refunded
		l.moves = append(l.moves, Move{RefundTransactionID: r.merchantRefundID, UniqueID: r.refundUniqueID, At: time.Now()})
	} else {
		r.code = codes.RefundFailed
	}
	if o := l.find(r.uniqueID); o != nil {
		o.record(strings.ToLower(codes.Message(r.code)) + ": " + r.amount)
		l.notices.refund(o, r)
	}
}

// appendTo writes a refund record as the interface shows it.
func (r *refund) appendTo(b jsonobject.Object, f resultFormat) jsonobject.Object {
	name := "merchantRefundId"
	if f.opts.Responses.RefundTransactionIDInRows {
		name = "refundTransactionId"
	}
	return appendRefund(appendCode(b, r.code).Number("timestamp", time.Now().UnixMilli()), name, r, f.opts.Location)
}

// appendRefund writes what responses and rows say of a refund; they differ in the name of the merchant's id.
func appendRefund(o jsonobject.Object, name string, r *refund, zone *time.Location) jsonobject.Object {
	o = o.Text(name, r.merchantRefundID).Text("uniqueId", r.uniqueID)
	o = o.Text("refundUniqueId", r.refundUniqueID).Text("refundCurrency", r.currency).Text("refundAmount", r.amount)
	o = o.WallTime("refundRequestAt", r.requested, zone)
	if r.completed.IsZero() {
		return o
	}
	return o.WallTime("refundAt", r.completed, zone)
}
