package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Refund is a refund to make. Its verdicts are those of payments: Paid means refunded, Pending accepted, Declined finally
// declined.
type Refund struct {
	ID       string
	UniqueID string // of the payment, whose amount is enough for five times the refund
	Amount   string
}

const (
	refundedPayment = 500
	tooMuch         = "501.00" // which the gateway declines
)

// refunds makes n payments, and returns a refund of each. One in ten exceeds the amount that was paid.
func refunds(g *sandbox.Gateway, seed uint64, n int) ([]movement, error) {
	client, err := direct(g)
	if err != nil {
		return nil, err
	}
	all, failed := make([]movement, n), make([]error, n)
	each(n, 8, func(i int) {
		o := Order{ID: fmt.Sprintf("pay-%d-%06d", seed, i), Card: sandbox.Approved, Amount: fmt.Sprint(refundedPayment)}
		t, err := o.pay(background, client, "")
		if err != nil {
			failed[i] = err
			return
		}
		r := &Refund{ID: fmt.Sprintf("back-%d-%06d", seed, i), UniqueID: t.UniqueID, Amount: fmt.Sprintf("%d.%02d", 1+i%90, i%100)}
		if draw(seed, r.ID, 'a', 0).IntN(10) == 0 {
			r.Amount = tooMuch
		}
		all[i] = r
	})
	return all, errors.Join(failed...)
}

func (r *Refund) request() cardgateway.RefundRequest {
	return cardgateway.RefundRequest{UniqueID: r.UniqueID, RefundTransactionID: r.ID, Amount: decimal.RequireFromString(r.Amount)}
}

func (r *Refund) id() string { return r.ID }

func (r *Refund) submit(ctx context.Context, by payer, _ map[sandbox.Outcome]string) (Verdict, error) {
	got, err := by.CreateRefund(ctx, r.request())
	return refundVerdict(got, err), err
}

func (r *Refund) resolve(ctx context.Context, c *cardgateway.Client, lost error) Verdict {
	q := cardgateway.ResolveRefundQuery{
		UniqueID: r.UniqueID, RefundTransactionID: r.ID, Amount: r.request().Amount, SentAt: time.Now().Add(-time.Hour), Wait: 1,
	}
	if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](lost); ok {
		q = unknown.Query()
		q.Wait = 5 * patience // late deliveries are over by then
	}
	return refundVerdict(c.ResolveRefund(ctx, q))
}

func (r *Refund) moved(g *sandbox.Gateway) int { return g.Refunded(r.ID) }

func (r *Refund) wire(map[sandbox.Outcome]string) (path string, body []byte) {
	return "/api/refund", fmt.Appendf(nil, `{"uniqueId":%q,"refundTransactionId":%q,"amount":%q}`, r.UniqueID, r.ID, r.Amount)
}

// refundVerdict reads the result of CreateRefund, of ResolveRefund, or of an entry of the journal.
func refundVerdict(r *cardgateway.Refund, err error) Verdict {
	if err != nil {
		return verdictOf(nil, err)
	}
	if r.Refunded() {
		return Paid
	}
	return Pending
}

// answered treats an accepted refund as made: a program without this client does not query its outcome.
func (r *Refund) answered(code int) Verdict {
	switch code {
	case 110, 111:
		return Paid
	case 112:
		return Declined
	}
	return Unknown
}
