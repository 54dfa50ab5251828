package journal

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Run calls Recover at once and then at the given interval, until ctx ends, and returns the error of ctx. It calls tell for
// every payment and refund that has something to report. Once tell returns nil, Run acknowledges an entry that has an
// outcome (NotSent, Abandoned, Declined, Succeeded, or a conflict). So tell should store the entry's Outcome in your own
// database, and must be idempotent. An entry without an outcome (Unknown, Pending, Refused, PresumedAbsent) is reported
// once, and again only when more is known. If tell returns an error, the next Recover reports the entry again.
//
// A failure of the store, or an entry that cannot be read, is logged and does not end Run. If every is zero, it means a
// minute. Only one process of a shop should call Run.
func (j *Journal) Run(ctx context.Context, every time.Duration, tell func(context.Context, Entry) error) error {
	if err := needContext(ctx, "Run"); err != nil {
		return err
	}
	if tell == nil {
		return errors.New("journal: Run needs a function to call")
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

// runOne reports one payment or refund.
func (j *Journal) runOne(ctx context.Context, e *Entry, tell func(context.Context, Entry) error) {
	final := e.project().final()
	if !final && j.memory.get(e.ID()).stored { // of this version: memory.returned clears it for another one
		return
	}
	failed := tell(ctx, *e)
	switch {
	case failed == nil && final: // exactly this version, whatever was recorded or returned to other callers meanwhile
		failed = j.ack(ctx, e)
	case failed == nil:
		j.memory.setStored(e)
	}
	if failed != nil && ctx.Err() == nil && !errors.Is(failed, ErrChanged) && !errors.Is(failed, ErrNoEntry) {
		j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: reporting a payment or refund",
			slog.String(e.Begun.ID.member(), e.ID().Text), slog.Any("error", failed))
	}
}

// final reports whether there is an outcome that Run acknowledges once it has been reported and stored.
func (p *projection) final() bool {
	switch p.state {
	case NotSent, Abandoned, Declined, Succeeded:
		return true
	}
	return p.conflict
}
