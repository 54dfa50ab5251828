package walk

import (
	"slices"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// planner decides which windows to ask for, and learns from what they held.
type planner[T any] struct {
	calendar calendar
	density  density
	pages    pageSize

	whole      span       // what the walk is to read
	next       civil.Time // where the next month begins
	finalUntil civil.Time // rows before this no longer change

	// Before the first response nothing is known of the density, and the windows are whole months: probes. Several go out
	// at once. Where one of these fails, the gateway may be refusing parallel requests rather than the window, so that from
	// then on there is one probe at a time until one is answered.
	probes       int
	serialProbes bool
}

// monthFrom returns the month that begins at from. Rows that are final and rows that may still change are not in one month.
func (p *planner[T]) monthFrom(from civil.Time) span {
	end := min(p.calendar.maxEnd(from), p.whole.to)
	if from < p.finalUntil {
		end = min(end, p.finalUntil)
	}
	return span{from, end}
}

// openMonth returns the next month, or nil at the end of the range.
func (p *planner[T]) openMonth() *month {
	if p.next >= p.whole.to {
		return nil
	}
	return &month{span: p.monthFrom(p.next), final: p.next < p.finalUntil}
}

// cut takes a window off the front of a range, which is left with the rest.
func (p *planner[T]) cut(r *step[T]) *step[T] {
	longest := span{r.span.from, min(r.span.to, p.calendar.maxEnd(r.span.from))}
	scale := p.scale(r)
	s := p.density.cut(longest, p.pages.capacity(), scale)
	expected := scale * p.density.expect(s)
	r.span.from, r.expected = s.to, r.expected-expected
	return newWindow[T](r.month, s, expected)
}

// scale returns how the rows of a range compare with what the density predicts for it, where a response has said how many
// it has.
func (p *planner[T]) scale(r *step[T]) float64 {
	const most = 4
	if r.expected <= 0 || !p.density.isSteady() {
		return 1
	}
	predicted := p.density.expect(r.span)
	if predicted <= 0 {
		return 1
	}
	return min(r.expected/predicted, most)
}

// isWasteful reports whether one more window for the rest of a month would be filled too little, so that the month had
// better end before it. A month of n windows takes n+1 queries, the last one being its count. One window more pays only if
// it is filled by more than 1-1/n: of a shop whose months have a few rows more than a page, each month takes one query if it
// is ended early, and three otherwise.
func (p *planner[T]) isWasteful(rest *step[T]) bool {
	n := float64(rest.month.windows + 1)
	return rest.month.final && p.density.expect(rest.span) <= (1-1/n)*p.density.fit(p.pages.capacity())
}

// narrow returns what takes the place of a window that has more rows than a page. Its first page, which said so, may have
// shown one end of the window completely: that end becomes a window that needs no query. The rest is divided so that each
// part should fit a page, or if the window was a probe becomes a range again, to be cut once more is known of the density.
func (p *planner[T]) narrow(s *step[T]) []*step[T] {
	s.month.windows--
	end, rest := p.keepShownEnd(s)
	if end == nil {
		return p.divide(s, rest, s.reader.total)
	}
	steps := p.divide(s, rest, s.reader.total-end.reader.total)
	if end.span.from < rest.from {
		return slices.Insert(steps, 0, end)
	}
	return append(steps, end)
}

// keepShownEnd makes a window of the end of s that its first page has shown completely, or returns nil. It also returns
// what is left of s. Whether the page had every row of that end is checked when the month is counted, and therefore not
// relied on in a month that is not counted, or was found wrong before.
func (p *planner[T]) keepShownEnd(s *step[T]) (end *step[T], rest span) {
	boundary, newestFirst, ok := s.reader.shownEnd()
	if !ok || !s.month.final || s.month.uncertain || p.calendar.isSkipped(boundary) {
		return nil, s.span
	}
	// The padding of both queries ends at the boundary.
	shown, rest := span{s.span.from, boundary - padding}, span{boundary - padding, s.span.to}
	if newestFirst {
		shown, rest = span{boundary + padding, s.span.to}, span{s.span.from, boundary + padding}
	}
	if min(shown.seconds(), rest.seconds()) < minWindow {
		return nil, s.span
	}
	end = newWindow[T](s.month, shown, 0)
	end.fromFirstPage, end.state, end.reader = true, done, s.reader.restrictedTo(p.calendar.query(shown))
	p.density.learn(shown, end.reader.times)
	return end, rest
}

// divide returns the steps that read the rest of a window that was too long, in which total rows are to be expected.
func (p *planner[T]) divide(s *step[T], rest span, total int) []*step[T] {
	if s.probe {
		return []*step[T]{{kind: uncutRange, month: s.month, span: rest, expected: float64(total)}}
	}
	parts := []span{rest}
	if rest == s.span || total > p.pages.capacity()*9/10 {
		parts = p.density.split(rest, total, p.pages.capacity())
	}
	steps := make([]*step[T], len(parts))
	for i, part := range parts {
		steps[i] = newWindow[T](s.month, part, float64(total)/float64(len(parts)))
	}
	return steps
}

// learn learns from a window that was answered.
func (p *planner[T]) learn(s *step[T]) {
	p.pages.learn(s.reader.granted, s.reader.guessed, s.reader.largestPage)
	p.pages.mayBeCapped = p.pages.mayBeCapped && s.reader.mayBeCapped
	if s.probe {
		p.density.start(s.span, s.reader.total)
	} else {
		p.density.compare(s.expected, s.reader.total)
	}
	if s.reader.state == complete {
		p.density.learn(s.span, s.reader.times)
	}
}

// adapt makes a window that failed a range again, if there is another way to read it: one probe at a time, smaller pages, or
// windows of at most 28 days, which is a month in every reading of the word. Otherwise the failure stays, and ends the walk.
func (p *planner[T]) adapt(s *step[T], refused bool) {
	const shortestMonth = 28 * 24 * hour
	switch {
	case s.kind == window && s.probe && !s.onlyProbe && p.probes > 1:
		p.serialProbes = true // it is not known which of the probes the gateway minds
	case s.kind != window || !refused:
		return
	case p.pages.shrink():
	case s.reader.to-s.reader.from > shortestMonth:
		p.calendar.maxQuery = shortestMonth
		p.pages.restart()
	default:
		return
	}
	s.uncut(0)
}
