package walk

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// Config says what a walk reads, and how.
type Config[T any] struct {
	Source     Source[T]
	Start, End time.Time      // the range: End is exclusive, and an End in the future means now
	Location   *time.Location // of the gateway's wall clock

	PageSize    int           // rows per request; zero means as many as the gateway returns
	MaxPageSize int           // that may be requested
	Prefetch    int           // concurrent requests
	Window      time.Duration // longest range of one query; zero means one calendar month
	SplitAbove  int           // a window that announces more rows than this, and than a page, is split
	Lag         time.Duration // rows younger than this may be incomplete
	Outage      time.Duration // how long a gateway that has responded before may be down

	Resume   *Checkpoint    // of an earlier walk of the same rows; nil means from the beginning
	Progress func(Progress) // called between windows, by Run; may be nil
}

// Walk is one pass over the rows of a range.
type Walk[T any] struct {
	config Config[T]
	shared sharedState
}

// New prepares a walk. It sends nothing.
func New[T any](c Config[T]) *Walk[T] {
	w := &Walk[T]{config: c}
	if c.Resume != nil {
		checkpoint := *c.Resume
		w.shared.checkpoint = &checkpoint
	}
	return w
}

// Run yields every row of the range once, until yield returns false; then it returns ErrStopped. It is called once.
func (w *Walk[T]) Run(ctx context.Context, yield func(*T) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	walker := w.newWalker(time.Now(), yield)
	defer walker.ahead.stop()
	defer cancel()
	return walker.run(ctx)
}

// Checkpoint returns the position of the walk: the end of the last window of which the caller has received every row and
// gone on to the next. A walk that was neither begun nor resumed has none.
func (w *Walk[T]) Checkpoint() (c Checkpoint, ok bool) {
	w.shared.mu.Lock()
	defer w.shared.mu.Unlock()
	if w.shared.checkpoint == nil {
		return Checkpoint{}, false
	}
	return *w.shared.checkpoint, true
}

// Report returns what the walk has done so far.
func (w *Walk[T]) Report() Report {
	w.shared.mu.Lock()
	defer w.shared.mu.Unlock()
	report := w.shared.report
	report.Requests = int(w.shared.requests.Load())
	return report
}

// newWalker creates the walker of a walk that begins now.
func (w *Walk[T]) newWalker(now time.Time, yield func(*T) bool) *walker[T] {
	c := &w.config
	end := c.End
	if end.After(now) {
		end = later(c.Start, now)
	}
	cal := calendar{loc: c.Location, maxQuery: int64(c.Window / time.Second)}
	whole := span{cal.cover(c.Start, c.End).from, cal.cover(c.Start, end).to} // from does not depend on when the walk begins
	finalAt := func(clockAhead time.Duration) civil.Time {
		mark := now.Add(-c.Lag - clockAhead)
		if !mark.Before(end) {
			return whole.to
		}
		mark = later(c.Start, mark)
		return cal.cover(mark, mark.Add(maxSetBack)).from // the clock may be about to show some times once more
	}
	plan := &planner[T]{
		calendar: cal, density: newDensity(), pages: newPageSize(c.PageSize, c.MaxPageSize, c.SplitAbove),
		whole: whole, next: whole.from, finalUntil: finalAt(0), finalAt: finalAt,
	}
	walker := &walker[T]{
		plan: plan,
		ahead: prefetcher[T]{
			plan: plan, source: w.patientSource(), limit: c.Prefetch, maxPageSize: c.MaxPageSize,
			results: make(chan *step[T], c.Prefetch),
		},
		seen: newSeenRows(), shared: &w.shared, yield: yield,
		start: c.Start, end: end,
	}
	walker.progress = func(upTo civil.Time) {
		if c.Progress != nil {
			r := w.Report()
			c.Progress(Progress{
				Windows: r.Windows, Requests: r.Requests, Rows: r.RowsSeen, CompleteUpTo: r.CompleteUpTo,
				Fraction: float64(upTo-whole.from) / float64(whole.seconds()),
			})
		}
	}
	from, ok := w.Checkpoint()
	if !ok {
		from = Checkpoint{Block: whole.from, Next: whole.from, CompleteUpTo: c.Start}
	}
	walker.resume(from)
	return walker
}

// patientSource returns the source with every query repeated for a while if the gateway has responded before and is down now.
// Every attempt is counted.
func (w *Walk[T]) patientSource() Source[T] {
	s := w.config.Source
	var answered atomic.Bool
	patient := s
	patient.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*Page[T], error) {
		var limit time.Duration
		if answered.Load() {
			limit = w.config.Outage
		}
		p, err := retryWhileDown(ctx, &s, limit, func() (*Page[T], error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			w.shared.requests.Add(1)
			return s.Fetch(ctx, from, to, page, size)
		})
		if p != nil {
			answered.Store(true)
		}
		return p, err
	}
	return patient
}
