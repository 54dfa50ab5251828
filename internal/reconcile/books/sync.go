package books

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// Sync updates the copy. Every run reads the last 48 hours again, and one run a day the last 28 days, to find late and changed
// rows; changes are recorded. Older rows that are open (processing, redirect, unknown) are queried once a day until they are
// 180 days old. Rows in the range that is read again, but no longer returned by the gateway, are deleted and recorded. If
// these are more than five and more than 1 %, nothing is deleted, and Sync returns a *GoneError.
//
// Each batch is saved together with its checkpoint, so that the next Sync can continue even if the process is killed. When ctx
// ends, the rows that were read are saved first. The error is a *Refused, a *GoneError, or one of the walks or the database.
func (b *Books) Sync(ctx context.Context, o SyncOptions) (SyncReport, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Begin == nil {
		o.Begin = func(string, time.Time) {}
	}
	if o.Progress == nil {
		o.Progress = func(cardgateway.Progress) {}
	}
	copied, err := b.begin(ctx, copyOf{gateway: o.Client.BaseURL(), app: string(o.Client.AppID()), zone: o.Client.Location(), since: o.From}, o.Now())
	if err != nil {
		return SyncReport{}, b.inWords(err)
	}
	s := &syncer{Books: b, SyncOptions: o, copied: copied}
	orders := rows[cardgateway.Transaction]{
		table: &ordersTable,
		open:  openOrders,
		walk: func(start, end time.Time, w cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Transaction] {
			return o.Client.OrderWalk(cardgateway.OrderQuery{Start: start, End: end}, w)
		},
		record: func(o *cardgateway.Transaction, zone *time.Location, walk int64) record {
			return orderRecord(o, cardgateway.AppID(copied.app), zone, walk)
		},
	}
	refunds := rows[cardgateway.Refund]{
		table: &refundsTable,
		open:  `state IN ('processing', 'unknown')`,
		walk: func(start, end time.Time, w cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Refund] {
			return o.Client.RefundWalk(cardgateway.RefundQuery{Start: start, End: end}, w)
		},
		record: refundRecord,
	}
	err = syncRows(ctx, s, orders)
	if err == nil || isOfGateway(err) && ctx.Err() == nil { // refunds may still succeed
		err = errors.Join(err, syncRows(ctx, s, refunds))
	}
	if err != nil {
		return s.report, b.inWords(err)
	}
	err = b.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE cardgateway_copy SET synced = $1`, micro(o.Now()))
		return err
	})
	return s.report, b.inWords(err)
}

func isOfGateway(err error) bool {
	_, gone := errors.AsType[*GoneError](err)
	return gone || errors.Is(err, cardgateway.ErrQueryFailed) || errors.Is(err, cardgateway.ErrUnsettled)
}

// syncRows completes an interrupted walk, if there is one, walks over the range that is read again up to now, and queries
// older open rows.
func syncRows[T any](ctx context.Context, s *syncer, r rows[T]) error {
	at, err := s.position(ctx, r.table.kind)
	if err != nil {
		return fmt.Errorf("%s: %w", r.table.kind, err)
	}
	if at.underWay() {
		if at, err = walkRows(ctx, s, r, at); err != nil {
			return err
		}
	}
	now := s.Now()
	if !now.After(at.complete) {
		return &Refused{fmt.Sprintf("the %s are complete up to %s, but the clock of this machine says %s: it is wrong, or was wrong in an earlier run",
			r.table.kind, at.complete.In(s.copied.zone).Format(time.DateTime), now.In(s.copied.zone).Format(time.DateTime))}
	}
	again := max(rereadAlways, s.Again)
	if isDue(at.deep, now) {
		again = max(rereadDaily, again)
	}
	at.start = at.complete.Add(-again).Truncate(time.Second)
	if at.start.Before(s.copied.since) {
		at.start = s.copied.since
	}
	at.begun, at.until, at.checkpoint = now, now.Truncate(time.Second).Add(time.Second), cardgateway.Checkpoint{}
	at.number++
	start := at.start
	if at, err = walkRows(ctx, s, r, at); err != nil {
		return err
	}
	return askAgain(ctx, s, r, at, start)
}

// walkRows walks from the position. Each batch is saved together with its checkpoint. Rows that are read twice after the
// process was killed are saved twice, under the same id.
func walkRows[T any](ctx context.Context, s *syncer, r rows[T], at position) (position, error) {
	s.Begin(r.table.kind, at.start)
	walk := r.walk(at.start, at.until, cardgateway.WalkOptions{Resume: at.checkpoint, Progress: s.Progress})
	batch, saved := make([]record, 0, batchSize), time.Now()
	keep := func() error {
		at.checkpoint = walk.Checkpoint()
		err := s.keep(ctx, r.table, batch, at.complete, func(ctx context.Context, tx *sql.Tx) error {
			return savePosition(ctx, tx, r.table.kind, at)
		})
		clear(batch)
		batch, saved = batch[:0], time.Now()
		return err
	}
	for row, err := range walk.All(ctx) {
		if err != nil {
			return at, errors.Join(fmt.Errorf("%s: %w", r.table.kind, err), keep())
		}
		batch = append(batch, r.record(row, s.copied.zone, at.number))
		if len(batch) < batchSize && time.Since(saved) < batchTime {
			continue
		}
		if err := keep(); err != nil {
			return at, err
		}
	}
	if err := keep(); err != nil {
		return at, err
	}
	return finishWalk(ctx, s, r, at, walk.Report().CompleteUpTo)
}

// finishWalk deletes the rows that the walk did not return, and moves the position to its end.
func finishWalk[T any](ctx context.Context, s *syncer, r rows[T], at position, complete time.Time) (position, error) {
	ctx = context.WithoutCancel(ctx)
	start, dropped := at.start, 0
	at.start, at.checkpoint = at.until, cardgateway.Checkpoint{}
	var gone *GoneError
	err := s.change(ctx, func(tx *sql.Tx) error {
		if err := s.dropUnnamed(ctx, tx, r.table); err != nil {
			return err
		}
		var err error
		dropped, err = s.dropGone(ctx, tx, r.table, micro(start), micro(complete), at.number, s.AcceptGone, s.Now())
		if err != nil && !errors.As(err, &gone) {
			return err
		}
		if gone == nil && (!start.After(at.begun.Add(-rereadDaily)) || !start.After(s.copied.since)) {
			at.deep = at.begun
		}
		if complete.After(at.complete) {
			at.complete = complete
		}
		return savePosition(ctx, tx, r.table.kind, at)
	})
	if err == nil {
		s.report.Gone += dropped
	}
	if err == nil && gone != nil {
		err = gone
	}
	return at, err
}
