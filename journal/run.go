package journal

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"
)

// Run recovers at once and then regularly, until ctx ends, whose error it returns: it gives tell every payment and refund that has
// something to tell, and acknowledges what has an outcome (NotSent, Abandoned, Declined, Succeeded, or a conflict) once
// tell has returned nil for it. So tell writes the entry's Outcome into the merchant's own books, where a repetition must
// do no harm. What has no outcome yet (Unknown, Pending, Refused, PresumedAbsent) is told once and then again only when
// more is known; if tell returns an error, all is told again by the next Recover.
//
// A failure of the store, or an entry that cannot be read, is logged and does not end Run. Every zero means a minute. One
// process of a shop should do it.
func (j *Journal) Run(ctx context.Context, every time.Duration, tell func(context.Context, Entry) error) error {
	if tell == nil {
		return errors.New("journal: Run needs somebody to tell")
	}
	if every <= 0 {
		every = time.Minute
	}
	for {
		for e, err := range j.Recover(ctx) {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: recovering", slog.Any("error", err))
			default:
				j.runOne(ctx, &e, tell)
			}
		}
		if !sleep(ctx, every) {
			return ctx.Err()
		}
	}
}

// runOne tells one payment.
func (j *Journal) runOne(ctx context.Context, e *Entry, tell func(context.Context, Entry) error) {
	last, _ := j.reported.get(e.Key())
	known := e.project()
	final := known.final()
	if last.settled && !final { // and what is told is of no other version: see reports.set
		return
	}
	failed := tell(ctx, *e)
	if failed == nil {
		j.reported.setSettled(e)
		if final { // this, whatever others have been told meanwhile
			failed = j.ackReport(ctx, e.Key(), report{e.Intent(), e.version(), known.state, true})
		}
	}
	if failed != nil && ctx.Err() == nil && !errors.Is(failed, ErrChanged) && !errors.Is(failed, ErrNoEntry) {
		j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: telling a payment or refund",
			slog.String(e.Begun.idMember(), cmp.Or(e.TransactionID(), e.RefundTransactionID())), slog.Any("error", failed))
	}
}

// final reports whether a payment has come to its end, so that it need not be told again once the merchant's books have it.
func (p *projection) final() bool {
	switch p.state {
	case NotSent, Abandoned, Declined, Succeeded:
		return true
	}
	return p.conflict
}
