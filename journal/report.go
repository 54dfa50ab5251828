package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// reportEnd is how a report has ended: reading the entry, the merchant's function, and the acknowledgement.
type reportEnd struct {
	id   ID
	term context.Context
	err  error
}

const (
	// slowReport is how long a report holds up the others.
	slowReport = 5 * time.Second
	// maxSlow limits how many reports may take longer. They run beside the others.
	maxSlow = 8
)

// reportChanged reports what this process has learned. If it stands by, the one that works finds it in its next list.
func (r *runner) reportChanged(term context.Context) {
	for _, id := range r.j.soon.takeChanged() {
		if term != nil {
			r.reportOne(term, id)
		}
	}
}

// reportOne reports an entry. It waits until the report has returned, or for slowReport: whatever one entry needs, a locked row or a
// function that does not return, holds up the others no longer.
func (r *runner) reportOne(term context.Context, id ID) {
	if _, isRunning := r.reporting[id]; isRunning || len(r.reporting) > maxSlow {
		return
	}
	r.reporting[id] = false
	apart("the function given to Run", func() error { return r.call(term, id) }, func(err error) { r.reports <- reportEnd{id, term, err} })
	begun := time.Now()
	defer func() { r.heldUp += time.Since(begun) }()
	timer := time.NewTimer(slowReport)
	defer timer.Stop()
	for {
		select {
		case end := <-r.reports:
			r.reportEnded(end)
			if end.id == id {
				return
			}
		case <-timer.C:
			r.reporting[id] = true
			r.j.logEntry(term, id, "journal: the others are reported meanwhile", fmt.Errorf("journal: a report has not returned for %v", slowReport))
			return
		}
	}
}

// call calls the merchant's function with an entry as it is now, since the list can be slow, unless the merchant has stored what is known or
// this process has lost its lease. It acknowledges an outcome that was stored: exactly this version, whatever was recorded or returned to
// other callers meanwhile.
func (r *runner) call(term context.Context, id ID) error {
	j := r.j
	e, err := j.get(term, j.key(id))
	if errors.Is(err, ErrNoEntry) { // acknowledged and forgotten meanwhile
		return nil
	} else if err != nil {
		return err
	}
	known, ok := j.toReport(&e)
	if !ok || !j.mayReport(&e, known) || term.Err() != nil || !r.lease.isHeld() {
		return nil
	}
	if err := r.report(term, e); err != nil {
		return err // also if it wraps an error of this package, which says nothing of this entry
	}
	if known.final() { // it is stored, even if the term has ended meanwhile
		err := j.ack(context.WithoutCancel(term), &e)
		if errors.Is(err, ErrChanged) || errors.Is(err, ErrNoEntry) { // more is known, or it was acknowledged and forgotten
			return nil
		} else if err != nil {
			return err
		}
	}
	j.memory.setStored(&e)
	return nil
}

// mayReport reports whether an entry is to be reported now: the merchant has not stored what is known, and a report of it that has failed was
// long enough ago.
func (j *Journal) mayReport(e *Entry, known *projection) bool {
	r := j.memory.get(e.ID())
	return (known.final() || !r.stored) && !r.report.isPausing(j.clock.now()) // of this version: memory.returned clears both for another one
}

// reportEnded remembers that a report has failed.
func (r *runner) reportEnded(end reportEnd) {
	isSlow := r.reporting[end.id]
	delete(r.reporting, end.id)
	switch {
	case end.err != nil && end.term.Err() == nil:
		r.j.memory.update(end.id, func(m *remembered) { m.report.add(r.j.clock.now(), r.every/2) }) // the next list is not before that
		r.j.logEntry(end.term, end.id, "journal: reporting a payment or refund", end.err)
	case isSlow: // more may be known by now
		r.j.soon.change(end.id)
	}
}

// listingFailed logs a failure of the list. That an entry cannot be read is logged with growing pauses.
func (r *runner) listingFailed(term context.Context, err error) {
	bad, ok := errors.AsType[*EntryError](err)
	if ok && r.j.memory.get(bad.Key.ID).record.isPausing(r.j.clock.now()) {
		return
	}
	if ok {
		r.j.memory.update(bad.Key.ID, func(m *remembered) { m.record.add(r.j.clock.now(), r.every/2) })
	}
	r.j.logTrouble(term, "journal: listing", err)
}

// recordFailed remembers and logs that an entry could not be read or written for a query.
func (j *Journal) recordFailed(ctx context.Context, id ID, err error) {
	if ctx.Err() == nil {
		j.memory.update(id, func(m *remembered) { m.record.add(j.clock.now(), firstPause) })
		j.logEntry(ctx, id, "journal: recording what a query has found", err)
	}
}

// logEntry logs an error that is about one entry.
func (j *Journal) logEntry(ctx context.Context, id ID, what string, err error) {
	j.logTrouble(ctx, what, err, slog.String(id.member(), id.Text))
}

// logTrouble logs an error, unless the context has ended.
func (j *Journal) logTrouble(ctx context.Context, what string, err error, more ...slog.Attr) {
	if ctx.Err() == nil {
		j.opts.Logger.LogAttrs(ctx, slog.LevelError, what, append(more, slog.Any("error", err))...)
	}
}

// final reports whether there is an outcome that Run acknowledges once it has been reported and stored. A conflict is for a person to
// acknowledge: until then it is counted, for alerts.
func (p *projection) final() bool {
	switch p.state {
	case NotSent, Abandoned, Declined, Succeeded:
		return !p.conflict
	}
	return false
}
