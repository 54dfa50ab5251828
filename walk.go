package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// walker gives the rows that its ahead reads, each once, and settles every month before it goes on.
type walker[T any] struct {
	ahead   ahead[T]
	ledger  ledger
	start   time.Time // of the caller's range
	end     time.Time
	yield   func(*T, error) bool
	state   *walkState
	changed func(upTo int64) // called when a window or a month is done

	from, to WallTime // the caller's range on the wall clock, both included
}

// walkState is what the caller can ask a walk for at any time.
type walkState struct {
	requests   atomic.Int64
	mu         sync.Mutex
	report     WalkReport
	checkpoint Checkpoint
}

func (s *walkState) update(change func(*WalkReport, *Checkpoint)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.report, &s.checkpoint)
}

// maxRecounts bounds how often a month is read again where its total differs from the rows that were read.
const maxRecounts = 8

// errStopped says that the caller wants no more rows.
var errStopped = errors.New("stopped")

// run walks the whole range.
func (w *walker[T]) run(ctx context.Context) error {
	for {
		s := w.ahead.head(ctx)
		if s == nil {
			return nil
		}
		if err := w.take(ctx, s); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// take deals with one step.
func (w *walker[T]) take(ctx context.Context, s *step[T]) error {
	if s.kind == window {
		p, err := w.give(s)
		if err != nil {
			return err
		}
		w.ledger.note(p)
		w.windowDone(s)
		return nil
	}
	if s.kind == count && (s.err != nil || s.reading.total != w.ledger.count()) {
		if err := w.settle(ctx, s.month); err != nil {
			return err
		}
	}
	w.monthDone(s.month)
	return nil
}

// give yields the rows of a window that were not given before, and returns what the ledger needs to know of it.
func (w *walker[T]) give(s *step[T]) (part, error) {
	r := &s.reading
	comesAgain := w.ahead.calendar.back(s.core.to - overhang) // its month may yet end there
	for _, row := range r.rows {
		if !w.ledger.isNew(row.id) {
			w.state.update(func(report *WalkReport, _ *Checkpoint) { report.Duplicates++ })
			continue
		}
		if !row.within(w.from, w.to) {
			continue
		}
		w.state.update(func(report *WalkReport, _ *Checkpoint) { report.RowsSeen++ })
		if !w.yield(row.value, nil) {
			return part{}, errStopped
		}
		if until := row.until(); until >= comesAgain {
			w.ledger.keep(row.id, until)
		}
	}
	w.state.update(func(report *WalkReport, _ *Checkpoint) { report.Reread += r.rounds - 1 })
	if s.err != nil { // what it says of pages and rows is no use without the window
		return part{}, fmt.Errorf("cardgateway: window from %v to %v: %w", r.from, r.to, s.err)
	}
	if r.state != readingWhole {
		return part{}, &UnsettledError{Start: r.from, End: r.to, Announced: r.total, Seen: r.all, Rounds: r.rounds}
	}
	w.state.update(func(report *WalkReport, _ *Checkpoint) {
		report.Windows++
		report.RowsAnnounced += r.total
	})
	return part{core: s.core, ids: r.counted(), doubtful: s.kept || r.all > r.inside}, nil
}

// until returns the last second that the row says, or forever.
func (r *row[T]) until() int64 {
	last := int64(math.MinInt64)
	for _, t := range r.times {
		if !t.IsZero() {
			last = max(last, t.seconds)
		}
	}
	if last == math.MinInt64 {
		return forever
	}
	return last
}

// windowDone moves the checkpoint to the end of a window. What may still change does not move it.
func (w *walker[T]) windowDone(s *step[T]) {
	if s.month.settled {
		next := w.ahead.calendar.back(s.core.to - overhang)
		var edge []uint64
		for _, row := range s.reading.rows {
			if row.until() >= next {
				edge = append(edge, row.id)
			}
		}
		w.state.update(func(_ *WalkReport, c *Checkpoint) {
			c.next, c.counted, c.edge = s.core.to, w.ledger.count(), edge
		})
	}
	w.changed(s.core.to)
}

// monthDone closes a month that was read whole and, unless its rows may still change, is complete.
func (w *walker[T]) monthDone(m *month) {
	w.ledger.close(w.ahead.calendar.back(m.core.to - overhang))
	if m.settled {
		upTo := w.end
		if m.core.to < w.ahead.whole.to {
			upTo = later(w.start, w.ahead.calendar.earliest(m.core.to))
		}
		w.state.update(func(report *WalkReport, c *Checkpoint) {
			report.CompleteUpTo, c.completeUpTo = upTo, upTo
			c.month, c.next, c.counted = m.core.to, m.core.to, 0
		})
	}
	w.changed(m.core.to)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// settle brings a month to rest whose total differs from the rows that were read: rows came in, or went, behind the
// reader.
func (w *walker[T]) settle(ctx context.Context, m *month) error {
	m.doubtful = true
	total := 0
	for range maxRecounts {
		same, counted, err := w.verify(ctx, m, 0, len(w.ledger.parts))
		if err != nil || same {
			return err
		}
		total = counted
	}
	from, to := w.ahead.calendar.query(m.core)
	return &UnsettledError{Start: from, End: to, Announced: total, Seen: w.ledger.count(), Rounds: maxRecounts}
}

// verify counts parts i to j-1 again. Where they differ it descends to the part that does, and reads that anew.
func (w *walker[T]) verify(ctx context.Context, m *month, i, j int) (same bool, total int, err error) {
	parts := w.ledger.parts
	core := span{parts[i].core.from, parts[j-1].core.to}
	refused := w.ahead.tooLong(core)
	if !refused {
		total, err = w.count(ctx, m, core)
		refused = isRefused(err)
	}
	// A range that is too long for the gateway is counted in two, and one that a checkpoint has kept is read anew.
	divisible := j-i > 1 || parts[i].restored
	switch {
	case err != nil && !(refused && divisible):
		return false, 0, err
	case !refused && total == w.ledger.distinct(i, j):
		return true, total, nil
	case j-i == 1:
		return false, total, w.readAgain(ctx, m, i)
	}
	mid := (i + j) / 2
	right, _, err := w.verify(ctx, m, mid, j) // first, since reading anew changes the number of parts
	if err != nil {
		return false, total, err
	}
	left, _, err := w.verify(ctx, m, i, mid)
	if err != nil || !left || !right || refused {
		return refused && left && right, total, err
	}
	return false, total, w.readDoubtful(ctx, m)
}

// readDoubtful reads the parts anew that count rows of other times. One row in two such parts, each time in place of
// another, makes both halves of a month look right.
func (w *walker[T]) readDoubtful(ctx context.Context, m *month) error {
	for i := len(w.ledger.parts) - 1; i >= 0; i-- {
		if w.ledger.parts[i].doubtful {
			if err := w.readAgain(ctx, m, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// count asks how many rows the gateway has of a stretch.
func (w *walker[T]) count(ctx context.Context, m *month, core span) (int, error) {
	w.ahead.push(&step[T]{kind: count, month: m, core: core})
	s := w.ahead.head(ctx)
	if s.reading.total > 0 || s.err == nil { // rows that cannot be read were counted nevertheless
		return s.reading.total, nil
	}
	return 0, s.err
}

// readAgain reads part i anew and gives what was not given before.
func (w *walker[T]) readAgain(ctx context.Context, m *month, i int) error {
	core := w.ledger.parts[i].core
	w.ahead.push(&step[T]{kind: stretch, month: m, core: core})
	var by []part
	for from := core.from; from < core.to; {
		s := w.ahead.head(ctx)
		p, err := w.give(s)
		if err != nil {
			return err
		}
		w.state.update(func(report *WalkReport, _ *Checkpoint) { report.Reread++ })
		w.ledger.include(p) // or its neighbour gives the rows between them again
		by = append(by, p)
		from = s.core.to
	}
	w.ledger.replace(i, by)
	return nil
}

// resume begins where a checkpoint ends. One that lies beyond what is complete now begins at its month.
func (w *walker[T]) resume(c Checkpoint) {
	a := &w.ahead
	m := &month{settled: true, core: span{c.month, min(a.calendar.furthest(c.month), a.whole.to, a.settled)}}
	a.next = c.month
	if c.next > m.core.to {
		c.next, c.counted, c.edge = c.month, 0, nil
	}
	w.ledger.restore(span{c.month, c.next}, c.counted, c.edge)
	if m.restored = c.next > c.month; m.restored {
		a.enqueue(m, span{c.next, m.core.to})
	}
	w.state.update(func(report *WalkReport, current *Checkpoint) {
		*current, report.CompleteUpTo = c, c.completeUpTo
	})
}
