package walk

import (
	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// walker yields the rows that its prefetcher reads, each once, and verifies the row count of every block before it
// continues.
type walker[T any] struct {
	plan     *planner[T] // of the prefetcher
	ahead    prefetcher[T]
	seen     seenRows
	shared   *sharedState
	yield    func(*T) bool
	progress func(upTo civil.Time) // called after each window and each block
	copies   []*RowError           // of the block: rows with the id of one in another window, by whose times no other window has them

	start, end time.Time // the range
}

// maxRecounts limits how many times a block is counted if its total differs from the rows that were read.
const maxRecounts = 8

// ErrStopped says that the caller stopped the loop.
var ErrStopped = errors.New("stopped")

// resume begins at a checkpoint. If that is no longer final, the walk begins at its block.
func (w *walker[T]) resume(c Checkpoint) {
	begun := block{span: w.plan.blockFrom(c.Block), restored: true}
	if c.Next > max(c.Block, min(begun.span.to, w.plan.finalUntil)) {
		c.Next, c.Counted, c.Boundary = c.Block, 0, nil
	}
	w.seen.restore(span{c.Block, c.Next}, c.Counted, c.Boundary)
	w.plan.next = c.Block
	if c.Next > c.Block {
		w.plan.next = begun.span.to
		w.ahead.enqueue(&begun, span{c.Next, begun.span.to})
	}
	w.shared.mu.Lock()
	defer w.shared.mu.Unlock()
	w.shared.checkpoint, w.shared.report.CompleteUpTo, w.shared.report.Unreadable = &c, c.CompleteUpTo, c.Unreadable
}

// run walks over the range.
func (w *walker[T]) run(ctx context.Context) error {
	for {
		s := w.ahead.nextDone(ctx)
		if s == nil {
			return nil
		}
		if err := w.handle(ctx, s); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// handle processes one step.
func (w *walker[T]) handle(ctx context.Context, s *step[T]) error {
	if s.kind == window {
		read, err := w.yieldRows(s, true)
		if err == nil {
			w.seen.add(read)
			w.windowDone(s)
		}
		return err
	}
	if s.kind == rowCount && (s.err != nil || s.reader.total != w.seen.count()) {
		if err := w.recountBlock(ctx, s.block); err != nil {
			return err
		}
	} else if n := s.reader.total; s.kind == rowCount && n != w.plan.pages.granted { // a page is the usual limit, and may just be reached
		w.plan.pages.uncapped = max(w.plan.pages.uncapped, n)
	}
	w.blockDone(s.block)
	return nil
}

// yieldRows yields the rows of a window that were not yielded before, and returns what was read. The first time, it also names
// the rows with the id of one in another window.
func (w *walker[T]) yieldRows(s *step[T], first bool) (readWindow, error) {
	if !w.yieldNew(s, first) {
		return readWindow{}, ErrStopped
	}
	return w.readWindowOf(s)
}

// yieldNew yields the rows of a window that are in the range and were not yielded before, until the caller stops the loop. It
// reports whether the caller goes on.
func (w *walker[T]) yieldNew(s *step[T], first bool) bool {
	// The block may end with this window, and the first query of the next block then begins here. A row with a time from
	// here on can be returned again after the rows of its block were removed.
	nextQuery := w.plan.calendar.queryFrom(s.span.to)
	for i, row := range s.reader.rows {
		if !w.seen.isNew(row.id) {
			w.shared.update(func(report *Report, _ *Checkpoint) { report.Duplicates++ })
			if first && row.unreadable == nil && row.isInside(s.span.from+2*padding, s.span.to-2*padding) {
				name := &RowError{From: s.reader.from, To: s.reader.to, Page: 1, Row: i + 1, Member: "data", Reason: "has the id of another row"}
				w.ahead.source.Name(row.value, name)
				w.copies = append(w.copies, name)
			}
			if row.lastSecond() == forever { // it may be returned in every block
				w.seen.remember(row.id, forever)
			}
			continue
		}
		if !w.isInRange(row) {
			continue
		}
		if row.unreadable != nil {
			w.shared.update(func(report *Report, _ *Checkpoint) { report.Unreadable.add(row.unreadable) })
		} else {
			w.shared.update(func(report *Report, _ *Checkpoint) { report.RowsSeen++ })
			if !w.yield(row.value) {
				return false
			}
		}
		if last := row.lastSecond(); last >= nextQuery {
			w.seen.remember(row.id, last)
		}
	}
	return true
}

// isInRange reports whether the walk yields a row.
func (w *walker[T]) isInRange(r *row[T]) bool { return r.within(w.plan.whole.from, w.plan.whole.to-1) }

// readWindowOf counts a window in the report, and returns it as a part of its block, or why it could not be completed.
func (w *walker[T]) readWindowOf(s *step[T]) (readWindow, error) {
	r := &s.reader
	w.shared.update(func(report *Report, _ *Checkpoint) { report.Reread += r.rounds - 1 })
	if s.err != nil { // the error does not name the window
		return readWindow{}, &WindowError{From: r.from, To: r.to, Err: s.err}
	}
	if r.state != complete {
		return readWindow{}, &UnsettledError{From: r.from, To: r.to, Announced: r.total, Seen: r.distinct, Rounds: r.rounds}
	}
	w.shared.update(func(report *Report, _ *Checkpoint) {
		report.Windows++
		report.RowsAnnounced += r.total
	})
	return readWindow{span: s.span, ids: r.countedIDs(), uncertain: s.fromFirstPage || r.distinct > r.inside}, nil
}

// windowDone moves the checkpoint to the end of a window, unless its rows may still change.
func (w *walker[T]) windowDone(s *step[T]) {
	if w.plan.isFinal(s.block) {
		nextQuery := w.plan.calendar.queryFrom(s.span.to)
		var boundary []uint64 // of rows that were yielded
		for _, row := range s.reader.rows {
			if row.lastSecond() >= nextQuery && w.isInRange(row) {
				boundary = append(boundary, row.id)
			}
		}
		w.shared.update(func(report *Report, c *Checkpoint) {
			c.Next, c.Counted, c.Boundary, c.Unreadable = s.span.to, w.seen.count(), boundary, report.Unreadable
		})
	}
	w.progress(s.span.to)
}

// blockDone ends a block that was read completely. If it is final, the walk is complete up to its end.
func (w *walker[T]) blockDone(b *block) {
	w.seen.endBlock(w.plan.calendar.queryFrom(b.span.to))
	w.copies = nil
	if w.plan.isFinal(b) {
		upTo := w.end
		if b.span.to < w.plan.whole.to {
			upTo = w.plan.calendar.earliest(b.span.to)
		}
		w.advance(upTo)
		w.shared.update(func(report *Report, c *Checkpoint) {
			c.Block, c.Next, c.Counted, c.Unreadable = b.span.to, b.span.to, 0, report.Unreadable
		})
	}
	w.progress(b.span.to)
}

// advance advances CompleteUpTo. What was complete stays so: the checkpoint of another walk may have been further.
func (w *walker[T]) advance(upTo time.Time) {
	w.shared.update(func(report *Report, c *Checkpoint) {
		upTo = later(upTo, later(w.start, report.CompleteUpTo))
		report.CompleteUpTo, c.CompleteUpTo = upTo, upTo
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// recountBlock completes a block whose total differs from the rows that were read, because rows were added or removed in
// windows already read.
func (w *walker[T]) recountBlock(ctx context.Context, b *block) error {
	b.uncertain = true
	announced := 0
	for range maxRecounts {
		same, total, err := w.verify(ctx, b, 0, len(w.seen.windows))
		if err != nil || same {
			return err
		}
		announced = total
	}
	if announced-w.seen.count() == len(w.copies) { // they are rows of their own, and not rows whose times have changed
		w.shared.update(func(report *Report, _ *Checkpoint) {
			for _, name := range w.copies {
				report.Unreadable.add(name)
			}
		})
		return nil
	}
	from, to := w.plan.calendar.query(b.span)
	return &UnsettledError{From: from, To: to, Announced: announced, Seen: w.seen.count(), Rounds: maxRecounts}
}

// verify counts the rows of windows i to j-1 again, and reports whether the total equals the number of rows that were read.
// If it does not, verify bisects the windows, down to those that differ, and reads them again.
func (w *walker[T]) verify(ctx context.Context, b *block, i, j int) (same bool, total int, err error) {
	windows := w.seen.windows
	counted := span{windows[i].span.from, windows[j-1].span.to}
	refused := w.plan.calendar.isTooLong(counted)
	if !refused {
		total, err = w.countRows(ctx, b, counted)
		refused = w.ahead.source.Fault(err).Kind == Refused
	}
	// A span that is too long for the gateway is counted in two halves, and one that was restored from a checkpoint is
	// read again.
	divisible := j-i > 1 || windows[i].restored
	switch {
	case err != nil && !(refused && divisible):
		return false, 0, err
	case !refused && total == w.seen.distinct(i, j):
		return true, total, nil
	case j-i == 1:
		return false, total, w.reread(ctx, b, i)
	}
	mid := (i + j) / 2
	right, _, err := w.verify(ctx, b, mid, j) // first, because reading again changes the number of windows
	if err != nil {
		return false, total, err
	}
	left, _, err := w.verify(ctx, b, i, mid)
	if err != nil || !left || !right || refused {
		return refused && left && right, total, err
	}
	// The halves are right and the whole is not: each half has a wrong row instead of a right one.
	return false, total, w.rereadUncertain(ctx, b)
}

// countRows queries the number of rows in a span.
func (w *walker[T]) countRows(ctx context.Context, b *block, s span) (int, error) {
	w.ahead.pushFront(&step[T]{kind: rowCount, block: b, span: s})
	counted := w.ahead.nextDone(ctx)
	return counted.reader.total, counted.err
}

// rereadUncertain reads all uncertain windows again.
func (w *walker[T]) rereadUncertain(ctx context.Context, b *block) error {
	for i := len(w.seen.windows) - 1; i >= 0; i-- {
		if w.seen.windows[i].uncertain {
			if err := w.reread(ctx, b, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// reread reads window i again and yields rows that were not yielded before.
func (w *walker[T]) reread(ctx context.Context, b *block, i int) error {
	again, isRestored := w.seen.windows[i].span, w.seen.windows[i].restored
	w.ahead.pushFront(&step[T]{kind: unreadSpan, block: b, span: again})
	var by []readWindow
	for from := again.from; from < again.to; {
		s := w.ahead.nextDone(ctx)
		read, err := w.yieldRows(s, isRestored) // it was read by another walk
		if err != nil {
			return err
		}
		w.shared.update(func(report *Report, _ *Checkpoint) { report.Reread++ })
		w.seen.include(read) // otherwise rows of both would be yielded again with the next window
		by = append(by, read)
		from = s.span.to
	}
	w.seen.replace(i, by)
	return nil
}
