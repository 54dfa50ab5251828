package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Refunds makes n payments, and returns a refund of each. One in ten exceeds the amount that was paid.
func Refunds(g *sandbox.Gateway, seed uint64, n int) ([]Refund, error) {
	client, err := direct(g)
	if err != nil {
		return nil, err
	}
	all, failed := make([]Refund, n), make([]error, n)
	each(n, 8, func(i int) {
		o := Order{ID: fmt.Sprintf("pay-%d-%06d", seed, i), Card: sandbox.Approved, Amount: fmt.Sprint(refundedPayment)}
		t, err := o.pay(background, client, "")
		if err != nil {
			failed[i] = err
			return
		}
		all[i] = Refund{ID: fmt.Sprintf("back-%d-%06d", seed, i), UniqueID: t.UniqueID, Amount: fmt.Sprintf("%d.%02d", 1+i%90, i%100)}
		if draw(seed, all[i].ID, 'a', 0).IntN(10) == 0 {
			all[i].Amount = tooMuch
		}
	})
	return all, errors.Join(failed...)
}

func (r *Refund) request() cardgateway.RefundRequest {
	return cardgateway.RefundRequest{UniqueID: r.UniqueID, RefundTransactionID: r.ID, Amount: decimal.RequireFromString(r.Amount)}
}

// wire returns the request as a program without this client would send it.
func (r *Refund) wire() (path string, body []byte) {
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

func (d *clientDesign) PayBack(ctx context.Context, r *Refund) Verdict {
	got, err := d.client.CreateRefund(ctx, r.request())
	if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
		q := unknown.Query()
		q.Wait = 5 * patience // late deliveries are over by then
		got, err = d.client.ResolveRefund(ctx, q)
	}
	return refundVerdict(got, err)
}

// SettleRefunds queries again, like Settle.
func (d *clientDesign) SettleRefunds(ctx context.Context, refunds []Refund, verdicts []Verdict) {
	settle(verdicts, func(i int) Verdict {
		req := refunds[i].request()
		return refundVerdict(d.client.ResolveRefund(ctx, cardgateway.ResolveRefundQuery{
			UniqueID: req.UniqueID, RefundTransactionID: req.RefundTransactionID, Amount: req.Amount,
			SentAt: time.Now().Add(-time.Hour), Wait: 1,
		}))
	})
}

func (d *journalDesign) PayBack(ctx context.Context, r *Refund) Verdict {
	return refundVerdict(d.shop.CreateRefund(ctx, r.request()))
}

// SettleRefunds recovers, like Settle.
func (d *journalDesign) SettleRefunds(ctx context.Context, refunds []Refund, verdicts []Verdict) {
	d.recover(ctx, func(i int) string { return refunds[i].ID }, verdicts)
}

// PayBack treats an accepted refund as made: these designs do not query its outcome.
func (p *peer) PayBack(ctx context.Context, r *Refund) Verdict {
	path, body := r.wire()
	switch p.post(ctx, path, body) {
	case 110, 111:
		return Paid
	case 112:
		return Declined
	}
	return Unknown
}

// SettleRefunds does nothing.
func (p *peer) SettleRefunds(context.Context, []Refund, []Verdict) {}

// PrintRefunds writes rows of refunds as a table. Forgotten are refunds that were made and reported as absent or unknown.
func PrintRefunds(w io.Writer, rows []*Row) {
	var cells [][]any
	for _, r := range rows {
		cells = append(cells, []any{r.gateway(), r.Design, int(r.Posts), r.Twice, r.Wrong, r.Forgotten(), r.UnknownNot, r.StillPending})
	}
	printTable(w, "Gateway|Design|Requests|Refunded twice|Wrong|Lost|Unknown, not refunded|Left pending", cells)
}
