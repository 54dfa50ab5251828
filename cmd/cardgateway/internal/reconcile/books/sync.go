package books

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// AskFor is the maximum age of payments and refunds that are not final and are queried again.
const AskFor = 180 * 24 * time.Hour

const (
	rereadAlways = 48 * time.Hour      // range that every run reads again
	rereadDaily  = 28 * 24 * time.Hour // range that one run a day reads again
	day          = 24 * time.Hour

	batchSize = 5000            // rows per database transaction
	batchTime = 5 * time.Second // after this time a smaller batch is saved
)

// SyncOptions configure Sync.
type SyncOptions struct {
	Client     *cardgateway.Client
	From       time.Time        // start of new books; may be zero for existing ones
	Again      time.Duration    // range that is read again, if it is longer than that of every run
	AcceptGone bool             // delete rows that the gateway no longer returns, however many
	Now        func() time.Time // nil means time.Now

	// Begin is called before each longer step, with what it reads and the start of its range; Progress is called during
	// it. Both may be nil.
	Begin    func(what string, from time.Time)
	Progress func(cardgateway.Progress)
}

// SyncReport contains the counts of a run of Sync, also after an error.
type SyncReport struct {
	Read    int // rows that the gateway returned
	Changed int // rows that differed from the copy
	Late    int // rows that appeared after their time had been copied
	Gone    int // rows that were deleted, because the gateway no longer returns them

	Unreadable error // names the rows that cannot be read; nil if there are none

	WrongZone *cardgateway.WrongZone // nil unless the copy's zone is wrong: then rows are missing, and it is complete up to no later time
}

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
	copied, err := b.begin(ctx, Info{Gateway: o.Client.BaseURL(), AppID: string(o.Client.AppID()), Zone: o.Client.Location(), Since: o.From}, o.Now())
	if err != nil {
		return SyncReport{}, b.inWords(err)
	}
	s := &syncer{Books: b, SyncOptions: o, copied: copied}
	orders := rows[cardgateway.Transaction]{
		table: &ordersTable,
		walk: func(start, end time.Time, w cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Transaction] {
			return o.Client.OrderWalk(cardgateway.OrderQuery{Start: start, End: end}, w)
		},
		record: func(o *cardgateway.Transaction, zone *time.Location, walk int64) record {
			return orderRecord(o, cardgateway.AppID(copied.AppID), zone, walk)
		},
	}
	refunds := rows[cardgateway.Refund]{
		table: &refundsTable,
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

// syncer is the state of one run.
type syncer struct {
	*Books
	SyncOptions
	copied Info
	report SyncReport
}

// rows describes how to read and store orders or refunds.
type rows[T any] struct {
	table  *table
	walk   func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[T]
	record func(row *T, zone *time.Location, walk int64) record
}

// syncRows completes an interrupted walk, if there is one, walks over the range that is read again up to now, and queries
// older open rows.
func syncRows[T any](ctx context.Context, s *syncer, r rows[T]) error {
	at, err := s.position(ctx, r.table.kind)
	if err != nil {
		return fmt.Errorf("%s: %w", r.table.kind, err)
	}
	if at.start.Before(at.until) { // it was interrupted
		if at, err = walkRows(ctx, s, r, at); err != nil {
			return err
		}
	}
	now := s.Now()
	if !now.After(at.complete) {
		return &Refused{Why: fmt.Sprintf("the %s are complete up to %s, but the clock of this machine says %s: it is wrong, or was wrong in an earlier run",
			r.table.kind, at.complete.In(s.copied.Zone).Format(time.DateTime), now.In(s.copied.Zone).Format(time.DateTime))}
	}
	again := max(rereadAlways, s.Again)
	if isDue(at.deep, now) {
		again = max(rereadDaily, again)
	}
	at.start = at.complete.Add(-again).Truncate(time.Second)
	if at.start.Before(s.copied.Since) {
		at.start = s.copied.Since
	}
	at.begun, at.until, at.checkpoint = now, now.Truncate(time.Second).Add(time.Second), cardgateway.Checkpoint{}
	at.number++
	start := at.start
	if at, err = walkRows(ctx, s, r, at); err != nil {
		return err
	}
	return askAgain(ctx, s, r, at, start)
}

// isDue reports whether a daily task is due: after 23 hours, so that a daily job may run a bit earlier.
func isDue(last, now time.Time) bool { return now.Sub(last) >= day-time.Hour || now.Before(last) }

// walkRows walks from the position, and saves it with each batch. Rows that are read twice after the process was killed are saved
// twice, under the same id.
func walkRows[T any](ctx context.Context, s *syncer, r rows[T], at position) (position, error) {
	s.Begin(r.table.kind, at.start)
	walk := r.walk(at.start, at.until, cardgateway.WalkOptions{Resume: at.checkpoint, Progress: s.Progress})
	err := copyRows(ctx, s, r, at, walk, func(ctx context.Context, tx *sql.Tx) error {
		at.checkpoint = walk.Checkpoint()
		return savePosition(ctx, tx, r.table.kind, at)
	})
	if err != nil {
		return at, fmt.Errorf("%s: %w", r.table.kind, err)
	}
	return finishWalk(ctx, s, r, at, walk.Report())
}

// copyRows saves the rows of a walk in batches, each in one transaction with the changes of with. If the walk fails, the rows that were
// read are saved first.
func copyRows[T any](
	ctx context.Context, s *syncer, r rows[T], at position, walk *cardgateway.Walk[T], with func(context.Context, *sql.Tx) error,
) error {
	batch, saved := make([]record, 0, batchSize), time.Now()
	keep := func() error {
		err := s.keep(ctx, r.table, batch, at.complete, with)
		clear(batch)
		batch, saved = batch[:0], time.Now()
		return err
	}
	for row, err := range walk.All(ctx) {
		if errors.Is(err, cardgateway.ErrUnreadableRows) { // after all others: the walk is complete
			s.report.Unreadable = errors.Join(s.report.Unreadable, err)
			break
		}
		if err != nil {
			return errors.Join(err, keep())
		}
		batch = append(batch, r.record(row, s.copied.Zone, at.number))
		if len(batch) < batchSize && time.Since(saved) < batchTime {
			continue
		}
		if err := keep(); err != nil {
			return err
		}
	}
	return keep()
}

// keep saves a batch in one transaction, together with the changes of with. It does so even after ctx has ended.
func (s *syncer) keep(ctx context.Context, t *table, batch []record, complete time.Time, with func(context.Context, *sql.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	var found changes
	err := s.change(ctx, func(tx *sql.Tx) (err error) {
		if found, err = s.save(ctx, tx, t, batch, micro(complete), s.Now()); err != nil {
			return err
		}
		return with(ctx, tx)
	})
	if err == nil {
		s.report.Read += len(batch)
		s.report.Changed += found.rows
		s.report.Late += found.late
	}
	return err
}

// finishWalk deletes the rows that the walk did not return, and moves the position to its end. If there are rows that cannot be
// read, the next walk is a deep one, which asks for them again.
func finishWalk[T any](ctx context.Context, s *syncer, r rows[T], at position, walked cardgateway.WalkReport) (position, error) {
	ctx = context.WithoutCancel(ctx)
	complete := walked.CompleteUpTo
	s.report.WrongZone = walked.WrongZone
	start, dropped := at.start, 0
	at.start, at.checkpoint = at.until, cardgateway.Checkpoint{}
	var gone *GoneError
	err := s.change(ctx, func(tx *sql.Tx) error {
		if err := s.dropUnnamed(ctx, tx, r.table, s.Now()); err != nil {
			return err
		}
		known, err := s.saveUnread(ctx, tx, r.table, s.copied.Zone, start, at.number, walked.Unreadable)
		if err != nil {
			return err
		}
		if !known {
			start = at.until // nothing is gone for certain
		}
		dropped, err = s.dropGone(ctx, tx, r.table, micro(start), micro(complete), at.number, s.AcceptGone, s.Now())
		if err != nil && !errors.As(err, &gone) {
			return err
		}
		switch {
		case walked.Unreadable != nil:
			at.deep = time.Time{}
		case gone == nil && (!start.After(at.begun.Add(-rereadDaily)) || !start.After(s.copied.Since)):
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
