package walk

import (
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// planner decides which windows to query, and learns from their rows.
type planner[T any] struct {
	calendar calendar
	density  density
	pages    pageSize

	whole      span       // the range of the walk
	next       civil.Time // where the next block begins
	finalUntil civil.Time // rows before this no longer change, because they are older than Config.Lag
	finalAt    func(clockAhead time.Duration) civil.Time
}

// blockFrom returns the block that begins at from. A block does not contain both final rows and rows that may still change.
func (p *planner[T]) blockFrom(from civil.Time) span {
	end := min(p.calendar.maxEnd(from), p.whole.to)
	if from < p.finalUntil {
		end = min(end, p.finalUntil)
	}
	return span{from, end}
}

// isFinal reports whether the rows of a block no longer change.
func (p *planner[T]) isFinal(b *block) bool { return b.span.to <= p.finalUntil }

// needsCount reports whether rows may have been added to what was already read of a block: it was read with several
// responses. A block that is not final is not counted, because that is to be expected.
func (p *planner[T]) needsCount(b *block) bool { return p.isFinal(b) && (b.restored || b.windows > 1) }

// openBlock begins the next block. It returns nil at the end of the range.
func (p *planner[T]) openBlock() *block {
	if p.next >= p.whole.to {
		return nil
	}
	b := &block{span: p.blockFrom(p.next)}
	p.next = b.span.to
	return b
}

// cut removes a window from the front of an unread span and returns it.
func (p *planner[T]) cut(r *step[T]) *step[T] {
	maxSpan := span{r.span.from, min(r.span.to, p.calendar.maxEnd(r.span.from))}
	scale := p.scale(r)
	s := p.density.cut(maxSpan, p.pages.capacity(), scale)
	s.to = min(p.calendar.atOrAfter(s.to), maxSpan.to)
	expected := scale * p.density.expect(s)
	r.span.from, r.expected = s.to, r.expected-expected
	return newWindow[T](r.block, s, expected)
}

// scale returns by how much the rows that a probe has announced exceed what the density predicts of an unread span; 1 if none
// has, or if rows occur in bursts, so that their number in a block does not tell how dense they are in a shorter span. So the
// windows of a block end where it ends: with 16 requests in flight, a year of a small shop takes 5 % less time.
func (p *planner[T]) scale(r *step[T]) float64 {
	const maxScale, bursts = 4, 2
	predicted := p.density.expect(r.span)
	if r.expected <= 0 || predicted <= 0 || p.density.dispersion >= bursts {
		return 1
	}
	return min(r.expected/predicted, maxScale)
}

// endBefore ends the newest block before its rest, and lets the next block begin there, if one more window for the rest would
// contain too few rows. It reports whether it did. A block of n windows takes n+1 queries, the last one for its row count.
// One more window pays only if it is filled by more than 1-1/n: in a shop whose blocks have a few rows more than a page, each
// block takes one query if it ends early, and three otherwise.
func (p *planner[T]) endBefore(rest *step[T]) bool {
	n := float64(rest.block.windows + 1)
	if !p.isFinal(rest.block) || p.density.expect(rest.span) > (1-1/n)*p.density.fit(p.pages.capacity()) {
		return false
	}
	rest.block.span.to, p.next = rest.span.from, rest.span.from
	return true
}

// split returns the steps that replace a window with more rows than a page. Its first page may contain one end of the
// window completely: that end becomes a window that needs no query. The rest is divided into windows that should each fit on
// a page or, if the window was a probe, becomes an unread span again, which is cut once more is known about the density.
func (p *planner[T]) split(s *step[T]) []*step[T] {
	s.block.windows--
	end, rest := p.keepShownEnd(s)
	if end == nil {
		return p.stepsFor(rest, s, s.reader.total)
	}
	steps := p.stepsFor(rest, s, s.reader.total-end.reader.total)
	if end.span.from < rest.from {
		return slices.Insert(steps, 0, end)
	}
	return append(steps, end)
}

// keepShownEnd returns a window for the end of s that its first page contains completely, or nil, and the rest of s.
// Whether the page had every row of that end is verified when the block is counted. It is therefore not used in a block
// that is not counted, or whose count was wrong before.
func (p *planner[T]) keepShownEnd(s *step[T]) (end *step[T], rest span) {
	cutSecond, newestFirst, ok := s.reader.shownEnd()
	if _, skipped := p.calendar.skippedBy(cutSecond); !ok || !p.isFinal(s.block) || s.block.uncertain || skipped {
		return nil, s.span
	}
	// The padding of both queries ends at the cut.
	shown, rest := span{s.span.from, cutSecond - padding}, span{cutSecond - padding, s.span.to}
	if newestFirst {
		shown, rest = span{cutSecond + padding, s.span.to}, span{s.span.from, cutSecond + padding}
	}
	if min(shown.seconds(), rest.seconds()) < minWindow {
		return nil, s.span
	}
	end = newWindow[T](s.block, shown, 0)
	end.fromFirstPage, end.state, end.reader = true, done, s.reader.restrictedTo(p.calendar.query(shown))
	p.density.learn(shown, end.reader.times)
	return end, rest
}

// stepsFor returns the steps that read the rest of a window that was too long, with total expected rows.
func (p *planner[T]) stepsFor(rest span, s *step[T], total int) []*step[T] {
	if s.probe && s.reader.total >= p.pages.granted {
		return []*step[T]{{kind: unreadSpan, block: s.block, span: rest, expected: float64(total)}}
	}
	windows := []span{rest}
	if rest == s.span || total > p.pages.capacity()*9/10 {
		windows = p.splitShown(rest, total)
	}
	steps := make([]*step[T], len(windows))
	for i, window := range windows {
		steps[i] = newWindow[T](s.block, window, float64(total)/float64(len(windows)))
	}
	return steps
}

// splitShown divides a span as density.split does, at times that the clock shows.
func (p *planner[T]) splitShown(s span, total int) []span {
	gap := p.calendar.gap(s)
	skipped := civil.Time(gap.seconds())
	windows := p.density.split(span{s.from, s.to - skipped}, total, p.pages.capacity())
	for i := range windows {
		if i > 0 {
			windows[i].from = windows[i-1].to
		}
		if windows[i].to >= gap.from {
			windows[i].to += skipped
		}
	}
	return windows
}

// learn learns from the response to a window.
func (p *planner[T]) learn(s *step[T]) {
	p.finalUntil = min(p.finalUntil, p.finalAt(s.reader.clockAhead))
	p.pages.learn(s.reader.granted, s.reader.guessed, s.reader.largestPage)
	p.pages.uncapped = max(p.pages.uncapped, s.reader.uncapped)
	if s.probe {
		p.density.start(s.span, s.reader.total)
	} else {
		p.density.compare(s.expected, s.reader.total)
	}
	if s.reader.state == complete {
		p.density.learn(s.span, s.reader.times)
	}
}

// adapt turns a refused window back into an unread span if there is another way to read it: smaller pages, or windows of at
// most 28 days, which are a month in every reading of the word. Otherwise the failure remains, and ends the walk.
func (p *planner[T]) adapt(s *step[T]) {
	const minMonth = 28 * 24 * hour
	switch {
	case s.kind != window:
		return
	case s.reader.size > p.pages.size: // smaller pages are asked for already
	case p.pages.shrink():
	case s.reader.to-s.reader.from > minMonth:
		p.calendar.maxQuery = minMonth
		p.pages.restart()
	default:
		return
	}
	s.uncut()
}
