package payments

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// Restore makes the journal of a restored backup complete, before anything is paid: with what the gateway shows since 16 hours before the backup was
// made, in whatever zone its times are. A call with the id of a payment, or of a refund, that was made afterwards would make it again. Attempts and
// refunds have the same ids again, so the buttons then show what is known. The error names all that could not be restored: call it again, or look
// at what it names.
func (s *Service) Restore(ctx context.Context, backup time.Time) (failed error) {
	switch h, err := s.Client.Check(ctx); {
	case err != nil:
		return err
	case h.ClockAhead < -time.Minute:
		return fmt.Errorf("this machine's clock is %v behind that of the gateway: what was paid last would be missing", -h.ClockAhead)
	case h.WrongZone != nil:
		return fmt.Errorf("%v: what was paid last would be missing", h.WrongZone)
	}
	start, end := backup.Add(-16*time.Hour), time.Now()
	for t, err := range s.Client.Orders(ctx, cardgateway.OrderQuery{Start: start, End: end}) {
		if err == nil {
			err = s.Journal.Restore(ctx, t)
		}
		failed = errors.Join(failed, err)
	}
	for r, err := range s.Client.Refunds(ctx, cardgateway.RefundQuery{Start: start, End: end}) {
		if err == nil {
			if err = s.addRefund(ctx, r); strings.Contains(r.MerchantRefundID, "-R") { // the shop's own: the back office may give an id again
				err = errors.Join(err, s.Journal.RestoreRefund(ctx, r))
			}
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// copyRegularly copies the gateway's orders each day and its refunds each minute, until ctx ends. What fails is tried again.
func (s *Service) copyRegularly(ctx context.Context) {
	const all = 100 * 365 * 24 * time.Hour // a walk ends now
	orders := &copying[cardgateway.Transaction]{s, "orders", 24 * time.Hour, func(since time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Transaction] {
		return s.Client.OrderWalk(cardgateway.OrderQuery{Start: since, End: since.Add(all)}, o)
	}, s.confirm, s.storeOrderRow}
	every := cmp.Or(s.RefundsEvery, time.Minute)
	refunds := &copying[cardgateway.Refund]{s, "refunds", every, func(since time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Refund] {
		return s.Client.RefundWalk(cardgateway.RefundQuery{Start: since, End: since.Add(all)}, o)
	}, s.confirmRefund, s.storeRefundRow}
	for ctx.Err() == nil {
		err := errors.Join(orders.copyIfDue(ctx), refunds.copyIfDue(ctx))
		s.alertIf(ctx, err != nil && ctx.Err() == nil, "copying failed: look at it if it fails again", "error", err)
		select {
		case <-time.After(every):
		case <-ctx.Done():
		}
	}
}

// copying copies rows of one kind into the database. The journal learns from them what it does not know yet: a notification can be lost.
type copying[T any] struct {
	*Service
	name    string
	every   time.Duration
	walk    func(since time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[T]
	confirm func(context.Context, *T) error
	store   func(context.Context, *sql.Tx, *T) error
}

// copyIfDue copies what the gateway has since the last copy, and the three days before, because rows change; at first, those of 30 days. One process
// copies: it claims the copy for a quarter of an hour, and again with each batch of rows, which it stores together with the position. Another one
// that finds the claim passed, or too far ahead because a clock was, continues there, and the first one stores nothing more.
func (c *copying[T]) copyIfDue(ctx context.Context) (failed error) {
	const claim, overlap = 15 * time.Minute, 72 * time.Hour
	now := time.Now()
	if _, err := c.DB.ExecContext(ctx, `INSERT INTO copies (name, since) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		c.name, now.AddDate(0, 0, -30).UnixMicro()); err != nil {
		return err
	}
	var since int64
	var position cardgateway.Checkpoint
	due := now.Add(claim).UnixMicro()
	err := c.DB.QueryRowContext(ctx, `UPDATE copies SET due = $1 WHERE name = $2 AND (due < $3 OR due > $4) RETURNING since, position`,
		due, c.name, now.UnixMicro(), now.Add(c.every+4*claim).UnixMicro()).Scan(&since, &position)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // not due, or another process copies
	}
	if err != nil {
		return err
	}
	w := c.walk(time.UnixMicro(since), cardgateway.WalkOptions{Resume: position})
	for batch, err := range w.Batches(ctx, 500) {
		if errors.Is(err, cardgateway.ErrUnreadableRows) { // complete without them: the next copy reads them again
			batch.Last, failed, err = true, errors.Join(failed, err), nil
		}
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, row := range batch.Rows {
			failed = errors.Join(failed, c.confirm(ctx, row))
		}
		position, next := batch.Checkpoint, time.Now().Add(claim).UnixMicro()
		if batch.Last { // complete
			position, next = cardgateway.Checkpoint{}, time.Now().Add(c.every).UnixMicro()
			since = max(since, w.Report().CompleteUpTo.Add(-overlap).UnixMicro())
		}
		if err := c.storeBatch(ctx, batch.Rows, position, since, next, due); err != nil {
			return errors.Join(failed, err)
		}
		due = next
	}
	c.Logger.InfoContext(ctx, "copied", "name", c.name, "completeUpTo", w.Report().CompleteUpTo)
	return failed
}

// storeBatch stores rows and the position after them in one transaction, unless the claim was lost.
func (c *copying[T]) storeBatch(ctx context.Context, rows []*T, position cardgateway.Checkpoint, since, next, due int64) error {
	return c.Transaction(ctx, func(tx *sql.Tx) error {
		kept, err := changed(tx.ExecContext(ctx, `UPDATE copies SET position = $1, since = $2, due = $3 WHERE name = $4 AND due = $5`,
			position, since, next, c.name, due))
		if err == nil && !kept {
			err = fmt.Errorf("another process copies the %s", c.name)
		}
		for _, row := range rows {
			if err == nil {
				err = c.store(ctx, tx, row)
			}
		}
		return err
	})
}

func (s *Service) storeOrderRow(ctx context.Context, tx *sql.Tx, t *cardgateway.Transaction) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO gateway_orders (unique_id, transaction_id, code, amount, currency, at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (unique_id) DO UPDATE SET code = excluded.code, at = excluded.at`,
		t.UniqueID, t.TransactionID, int(t.Code), t.TransactionAmount.String(), t.TransactionCurrency, t.TransactionAt.In(s.Client.Location()).Unix())
	return err
}

func (s *Service) storeRefundRow(ctx context.Context, tx *sql.Tx, r *cardgateway.Refund) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO gateway_refunds (unique_id, of_unique_id, refund_id, code, amount, currency, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (unique_id) DO UPDATE SET code = excluded.code, at = excluded.at`,
		r.RefundUniqueID, r.UniqueID, r.MerchantRefundID, int(r.Code), r.RefundAmount.String(), r.RefundCurrency,
		r.RefundRequestAt.In(s.Client.Location()).Unix())
	return err
}
