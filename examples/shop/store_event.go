package main

import (
	"context"
	"time"
)

// AddEvent records that something happened. Of the same event of a payment or a refund, the first and the last time are kept, and how often
// it happened: so their number is limited, however long an outcome is unknown.
func (s *Store) AddEvent(ctx context.Context, id string, what Event, at time.Time) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO order_events (id, what, first_at, last_at, times) VALUES ($1, $2, $3, $3, 1)
		ON CONFLICT (id, what) DO UPDATE SET last_at = $3, times = order_events.times + 1`, id, what, at.UnixMicro())
	return err
}

// Events returns the events of a payment or a refund.
func (s *Store) Events(ctx context.Context, id string) ([]moment, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT what, first_at, last_at, times FROM order_events WHERE id = $1 ORDER BY first_at`, id)
	return collect(rows, err, func(row scanner) (moment, error) {
		var what Event
		var first, last int64
		var times int
		err := row.Scan(&what, &first, &last, &times)
		m := what.moment()
		m.At, m.Last, m.Times = time.UnixMicro(first), time.UnixMicro(last), times
		return m, err
	})
}
