package books

import (
	"context"
	"iter"
	"time"
)

// refundIDColumn is the merchant's id of a refund, or the gateway's if there is none.
const refundIDColumn = `CASE WHEN r.merchant_refund_id = '' THEN r.refund_unique_id ELSE r.merchant_refund_id END`

// RefundsByRefundID returns the refunds in [from, to), and those without a time, sorted by MerchantRefundID, or RefundUniqueID
// if it is empty, and At. An empty currency is replaced by that of the payment.
func (b *Books) RefundsByRefundID(ctx context.Context, from, to time.Time) iter.Seq2[Refund, error] {
	return b.refundsOf(ctx, refundsWithCurrency+` WHERE r.at >= $1 AND r.at < $2 OR r.at = 0
		ORDER BY `+refundIDColumn+`, r.at, r.refund_unique_id`, micro(from), micro(to))
}

// FindRefunds returns the refunds of any time with one of these ids. The ids and the order are those of RefundsByRefundID.
func (b *Books) FindRefunds(ctx context.Context, ids ...string) iter.Seq2[Refund, error] {
	return b.refundsOf(ctx, refundsWithCurrency+` WHERE r.merchant_refund_id IN `+in(ids)+`
		OR r.merchant_refund_id = '' AND r.refund_unique_id IN `+in(ids)+`
		ORDER BY `+refundIDColumn+`, r.at, r.refund_unique_id`, list(ids)...)
}

const refundsWithCurrency = `
	SELECT r.refund_unique_id, r.merchant_refund_id, r.unique_id, r.state, r.code, r.amount,
		CASE WHEN r.currency = '' THEN COALESCE(o.currency, '') ELSE r.currency END, r.at
	FROM cardgateway_refunds r LEFT JOIN cardgateway_orders o ON r.currency = '' AND r.unique_id <> '' AND o.id = r.unique_id`

// RepeatedPayments returns the approved orders of any time whose TransactionID is that of several approved orders, sorted by
// TransactionID, At and UniqueID.
func (b *Books) RepeatedPayments(ctx context.Context) iter.Seq2[Order, error] {
	return b.orders(ctx, `WHERE state = 'approved' AND transaction_id IN (
			SELECT transaction_id FROM cardgateway_orders WHERE state = 'approved' AND transaction_id <> ''
			GROUP BY transaction_id HAVING COUNT(*) > 1
		) ORDER BY transaction_id, at, unique_id`)
}

// RepeatedRefunds returns the approved refunds of any time whose id is that of several approved refunds. The ids and the order are
// those of RefundsByRefundID.
func (b *Books) RepeatedRefunds(ctx context.Context) iter.Seq2[Refund, error] {
	return b.refundsOf(ctx, refundsWithCurrency+` WHERE r.state = 'approved' AND `+refundIDColumn+` IN (
			SELECT `+refundIDColumn+` FROM cardgateway_refunds r WHERE r.state = 'approved' AND `+refundIDColumn+` <> ''
			GROUP BY `+refundIDColumn+` HAVING COUNT(*) > 1
		) ORDER BY `+refundIDColumn+`, r.at, r.refund_unique_id`)
}

// RepeatedOrders returns the lines of the list of payments whose Order is in several lines, sorted by Order and Line.
func (b *Books) RepeatedOrders(ctx context.Context) iter.Seq2[ListedPayment, error] {
	return b.listedPayments(ctx, `WHERE order_id IN (
			SELECT order_id FROM cardgateway_listed_payments WHERE order_id <> '' GROUP BY order_id HAVING COUNT(*) > 1
		) ORDER BY order_id, line`)
}

// ListSpan returns the first and the last time in a list. If the list has none, they are those of its approved rows in the copy,
// or zero if there is none either.
func (b *Books) ListSpan(ctx context.Context, list string) (first, last time.Time, err error) {
	zone, err := b.zone(ctx)
	if err != nil {
		return first, last, err
	}
	own, copied := `cardgateway_listed_payments WHERE at <> 0`, `cardgateway_orders WHERE state = 'approved' AND at <> 0
		AND transaction_id IN (SELECT transaction_id FROM cardgateway_listed_payments)`
	if list == RefundList {
		own, copied = `cardgateway_listed_refunds WHERE at <> 0`, `cardgateway_refunds r WHERE r.state = 'approved' AND r.at <> 0
			AND `+refundIDColumn+` IN (SELECT refund_id FROM cardgateway_listed_refunds)`
	}
	var from, to int64
	for _, rows := range []string{own, copied} {
		if from == 0 && err == nil {
			err = b.db.QueryRowContext(ctx, b.compared(`SELECT COALESCE(MIN(at), 0), COALESCE(MAX(at), 0) FROM `+rows)).Scan(&from, &to)
		}
	}
	return fromMicro(from, zone), fromMicro(to, zone), b.inWords(err)
}

// Neighbours returns the times of the last order before from and of the first at or after to; zero if there is none.
func (b *Books) Neighbours(ctx context.Context, from, to time.Time) (before, after time.Time, err error) {
	zone, err := b.zone(ctx)
	if err != nil {
		return before, after, err
	}
	var last, first int64
	err = b.db.QueryRowContext(ctx, b.compared(`SELECT COALESCE((SELECT MAX(at) FROM cardgateway_orders WHERE at < $1), 0),
		COALESCE((SELECT MIN(at) FROM cardgateway_orders WHERE at >= $2), 0)`), micro(from), micro(to)).Scan(&last, &first)
	return fromMicro(last, zone), fromMicro(first, zone), b.inWords(err)
}
