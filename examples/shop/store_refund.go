package main

import (
	"context"
	"time"
)

// AddRefund stores a refund before it is made. If there is one with this id, it changes nothing.
func (s *Store) AddRefund(ctx context.Context, r *Refund) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO refunds (id, order_id, amount, created, state, evidence)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
		r.ID, r.OrderID, r.Amount.String(), time.Now().UnixMicro(), r.State, r.Evidence)
	return err
}

// SetRefund stores what is known of a refund, as SetPayment does for a payment.
func (s *Store) SetRefund(ctx context.Context, r Refund) (bool, error) {
	return changed(s.db.ExecContext(ctx, `UPDATE refunds SET state = $1, evidence = $2, made = $3 WHERE id = $4 AND evidence < $2`,
		r.State, r.Evidence, micro(r.Made), r.ID))
}

// SetOfficeRefund stores what is known of a refund that was made in the gateway's back office, if the payment is that of an order.
func (s *Store) SetOfficeRefund(ctx context.Context, r Refund, uniqueID string) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO refunds (id, order_id, amount, created, state, evidence, made)
		SELECT $1, order_id, $2, CAST($3 AS BIGINT), $4, CAST($5 AS INTEGER), CAST($6 AS BIGINT) FROM attempts WHERE unique_id = $7 AND unique_id <> ''
		ON CONFLICT (id) DO UPDATE SET state = $4, evidence = $5, made = $6 WHERE refunds.evidence < $5`,
		r.ID, r.Amount.String(), time.Now().UnixMicro(), r.State, r.Evidence, micro(r.Made), uniqueID)
	return err
}

// micro returns a time as the database has it; the zero time is 0.
func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

const refundColumns = `id, order_id, amount, created, state, evidence, made`

func scanRefund(row scanner) (r Refund, err error) {
	var created, made int64
	err = row.Scan(&r.ID, &r.OrderID, &r.Amount, &created, &r.State, &r.Evidence, &made)
	r.Created = time.UnixMicro(created)
	if made != 0 {
		r.Made = time.UnixMicro(made)
	}
	return r, err
}

// RefundsOf returns a customer's last refunds, the newest first.
func (s *Store) RefundsOf(ctx context.Context, customer string) ([]Refund, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+refundColumns+` FROM refunds
		WHERE order_id IN (SELECT id FROM orders WHERE customer = $1) ORDER BY created DESC, id LIMIT 100`, customer)
	return collect(rows, err, scanRefund)
}

// refundsOfOrder returns the refunds of an order, the oldest first.
func (s *Store) refundsOfOrder(ctx context.Context, id string) ([]Refund, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+refundColumns+` FROM refunds WHERE order_id = $1 ORDER BY created, id`, id)
	return collect(rows, err, scanRefund)
}
