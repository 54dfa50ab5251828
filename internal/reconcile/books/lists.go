package books

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// The merchant's lists.
const (
	PaymentList = "payments"
	RefundList  = "refunds"
)

// ListedPayments returns the merchant's list of payments, sorted by TransactionID (its bytes) and Line.
func (b *Books) ListedPayments(ctx context.Context) iter.Seq2[ListedPayment, error] {
	return b.listedPayments(ctx, `ORDER BY transaction_id, line`)
}

func (b *Books) listedPayments(ctx context.Context, rest string) iter.Seq2[ListedPayment, error] {
	zone, err := b.zone(ctx)
	if err != nil {
		return failed[ListedPayment](err)
	}
	return stream(ctx, b, func(scan func(...any) error) (p ListedPayment, err error) {
		var amount, other string
		var at int64
		if err = scan(&p.Line, &p.TransactionID, &amount, &p.Currency, &p.State, &p.Order, &at, &other); err != nil {
			return p, err
		}
		p.At = fromMicro(at, zone)
		if p.Amount, err = readAmount(amount); err == nil {
			err = json.Unmarshal([]byte(other), &p.Other)
		}
		return p, err
	}, `SELECT line, transaction_id, amount, currency, state, order_id, at, other FROM cardgateway_listed_payments `+rest)
}

// ListedRefunds returns the merchant's list of refunds, sorted by RefundID (its bytes) and Line.
func (b *Books) ListedRefunds(ctx context.Context) iter.Seq2[ListedRefund, error] {
	zone, err := b.zone(ctx)
	if err != nil {
		return failed[ListedRefund](err)
	}
	return stream(ctx, b, func(scan func(...any) error) (r ListedRefund, err error) {
		var amount, other string
		var at int64
		if err = scan(&r.Line, &r.RefundID, &r.TransactionID, &amount, &r.Currency, &at, &other); err != nil {
			return r, err
		}
		r.At = fromMicro(at, zone)
		if r.Amount, err = readAmount(amount); err == nil {
			err = json.Unmarshal([]byte(other), &r.Other)
		}
		return r, err
	}, `SELECT line, refund_id, transaction_id, amount, currency, at, other FROM cardgateway_listed_refunds ORDER BY refund_id, line`)
}

// Unreadables returns the lines of both lists that could not be parsed, sorted by list and line.
func (b *Books) Unreadables(ctx context.Context) iter.Seq2[Unreadable, error] {
	return stream(ctx, b, func(scan func(...any) error) (u Unreadable, err error) {
		err = scan(&u.List, &u.Line, &u.ID, &u.Column, &u.Why)
		return u, err
	}, `SELECT kind, line, id, column_name, why FROM cardgateway_unreadable ORDER BY kind, line`)
}

// zone returns the gateway's zone, or UTC in new books.
func (b *Books) zone(ctx context.Context) (*time.Location, error) {
	copied, ok, err := b.readCopy(ctx)
	if err != nil || !ok {
		return time.UTC, b.inWords(err)
	}
	return copied.zone, nil
}
