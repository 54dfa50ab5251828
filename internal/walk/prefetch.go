package walk

import (
	"context"
	"slices"

	"github.com/cardgateway/cardgateway-go/internal/goroutine"
)

// prefetcher reads ahead of a walk. It runs up to limit steps concurrently and returns them in order of time. Its state
// belongs to the one goroutine that calls it; each goroutine that it starts works on one step and sends it back.
type prefetcher[T any] struct {
	plan        *planner[T]
	source      Source[T]
	limit       int
	maxPageSize int // that may be requested

	queue    []*step[T] // steps that were not returned yet, in order of time
	inFlight int
	serial   bool // one of several probes has failed
	results  chan *step[T]
}

// nextDone waits for the first step and removes it from the queue. It returns nil at the end of the range. Unless the step
// has an error, it is a window that was read, completely or not, or a row count, or the end of a block that needs none.
func (p *prefetcher[T]) nextDone(ctx context.Context) *step[T] {
	for {
		for len(p.results) > 0 { // all that have arrived, so that no connection is idle while the caller receives rows
			p.awaitOne()
		}
		p.schedule(ctx)
		if len(p.queue) == 0 {
			return nil
		}
		if s := p.queue[0]; s.state == done && !s.isOverflowed() {
			p.queue = slices.Delete(p.queue, 0, 1)
			return s
		}
		p.awaitOne()
	}
}

// pushFront puts a step before all others.
func (p *prefetcher[T]) pushFront(s *step[T]) { p.queue = slices.Insert(p.queue, 0, s) }

// enqueue adds a block, of which the given span is still unread.
func (p *prefetcher[T]) enqueue(b *block, unread span) {
	if unread.seconds() > 0 {
		p.queue = append(p.queue, &step[T]{kind: unreadSpan, block: b, span: unread})
	}
	p.queue = append(p.queue, &step[T]{kind: blockEnd, block: b})
}

// schedule goes through the queue and starts as many steps as may be in flight. There may be twice as many windows that are
// being read or were read, so that a slow one does not leave the others idle. Row counts are not included, because they
// hold no rows.
func (p *prefetcher[T]) schedule(ctx context.Context) {
	for i, windows := 0, 0; windows < 2*p.limit; i++ {
		if i == len(p.queue) {
			b := p.plan.openBlock()
			if b == nil {
				return
			}
			p.enqueue(b, b.span)
		}
		if s := p.queue[i]; s.isOverflowed() {
			p.queue = slices.Replace(p.queue, i, i+1, p.plan.split(s)...)
		}
		switch s := p.queue[i]; {
		case s.state == done && s.err != nil:
			return // the walk ends at this step
		case s.state != waiting, s.kind == blockEnd && !p.isRead(i): // there is nothing to start
		case s.kind == blockEnd && !p.plan.needsCount(s.block):
			s.state = done
		case !p.mayStart():
			return
		default:
			p.start(ctx, p.prepareStep(i))
		}
		if p.queue[i].kind == window {
			windows++
		}
	}
}

// isRead reports whether all windows of the block before step i were read.
func (p *prefetcher[T]) isRead(i int) bool {
	return !slices.ContainsFunc(p.queue[:i], func(s *step[T]) bool {
		return s.block == p.queue[i].block && s.state != done
	})
}

// mayStart reports whether one more step may be in flight. Before the first response all windows are probes. If one of several
// fails, the gateway may be refusing concurrent requests, so from then on there is one at a time until one gets a response.
func (p *prefetcher[T]) mayStart() bool {
	return p.inFlight == 0 || p.inFlight < p.limit && (p.plan.density.isKnown() || !p.serial)
}

// prepareStep makes the waiting step i of the queue one that can be started, a window or a row count, and returns it. A window
// is cut from an unread span only now, when most is known about the density. What remains of it follows in the queue, or is left
// to the next block.
func (p *prefetcher[T]) prepareStep(i int) *step[T] {
	s := p.queue[i]
	if s.kind == window && p.plan.calendar.isTooLong(s.span) {
		s.uncut() // it is a part of a longer block than the one that begins with it
	}
	switch s.kind {
	case blockEnd:
		s.kind, s.span = rowCount, s.block.span
	case unreadSpan:
		p.queue = slices.Insert(p.queue, i, p.plan.cut(s))
		isLast := i+1 == len(p.queue)-2 && p.queue[i+2].kind == blockEnd && p.queue[i+2].block == s.block
		if s.span.seconds() == 0 || isLast && p.plan.endBefore(s) {
			p.queue = slices.Delete(p.queue, i+1, i+2)
		}
	}
	return p.queue[i]
}

// countPageSize is the page size of a row count, which needs only the total: that of the published examples.
const countPageSize = 10

// start starts a goroutine for a step.
func (p *prefetcher[T]) start(ctx context.Context, s *step[T]) {
	s.state = inFlight
	p.inFlight++
	s.probe, s.alone = !p.plan.density.isKnown(), p.serial
	from, to := p.plan.calendar.query(s.span)
	s.reader = windowReader[T]{
		source: &p.source, from: from, to: to, size: p.plan.pages.size, maxSize: p.maxPageSize, granted: p.plan.pages.granted,
		splitAbove: p.plan.pages.splitAbove, narrowable: p.plan.calendar.shownSeconds(s.span) >= 2*minWindow,
		uncapped: p.plan.pages.uncapped,
	}
	goroutine.Start(func() {
		if s.kind == rowCount {
			s.reader.size = min(countPageSize, s.reader.size)
			s.err = s.reader.fetch(ctx, 1)
		} else {
			s.err = s.reader.run(ctx)
		}
	}, func(end goroutine.Ending) {
		s.end = end
		p.results <- s
	})
}

// awaitOne waits for a step that is in flight, and learns from it.
func (p *prefetcher[T]) awaitOne() {
	s := <-p.results
	p.inFlight--
	s.state = done
	s.end.Rethrow() // a hook of the caller may have panicked, or ended its goroutine, as t.Fatal does
	switch kind := p.source.Fault(s.err).Kind; {
	case s.kind == window && s.probe && !s.alone && (kind == Transient || kind == Refused):
		p.serial = true
		s.uncut()
	case kind == TooLarge:
		p.plan.pages.proven = false
		p.plan.adapt(s)
	case kind == Refused:
		p.plan.adapt(s)
	case s.err == nil && s.kind == window:
		p.plan.learn(s)
	}
}

// stop waits for the goroutines. Their context must have ended.
func (p *prefetcher[T]) stop() {
	for ; p.inFlight > 0; p.inFlight-- {
		<-p.results
	}
}
