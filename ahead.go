package cardgateway

import (
	"context"
	"slices"
)

// ahead reads ahead of a walk. It decides which windows to read, has up to prefetch of them read at once, and hands
// them out in the order of time. Its state belongs to the one goroutine that calls it; each goroutine that it starts
// works on one step, which it then sends back.
type ahead[T any] struct {
	source   source[T]
	calendar calendar
	density  density
	pages    pageSize
	prefetch int

	whole   span  // what the walk is to read
	next    int64 // where the next month begins
	settled int64 // rows before this second no longer change
	blind   int   // questions asked before anything was known of the density
	careful bool  // one of several such questions has failed: until one is answered, one at a time

	queue []*step[T] // what has not been handed out, in the order of time
	asked int        // steps that goroutines work on
	ready chan *step[T]
}

func newAhead[T any](source source[T], cal calendar, whole span, settled int64, o WalkOptions) ahead[T] {
	return ahead[T]{
		source: source, calendar: cal, density: newDensity(), pages: newPageSize(o.PageSize, o.SplitAbove),
		prefetch: o.Prefetch, whole: whole, next: whole.from, settled: settled, ready: make(chan *step[T], o.Prefetch),
	}
}

// step is one thing to do.
type step[T any] struct {
	kind     stepKind
	state    stepState
	month    *month
	core     span
	expected float64    // rows of a window, when it was cut; of a stretch, where an answer has said how many it has
	reading  reading[T] // of a window
	blind    bool       // asked for before anything was known of the density
	alone    bool       // and with no other question beside it
	kept     bool       // read from the first page of a wider window
	err      error
}

type stepKind int

const (
	stretch stepKind = iota // to be cut into windows
	window                  // to be read whole
	closing                 // of a month, once its windows have been read; becomes a count where one is needed
	count                   // of all rows
)

type stepState int

const (
	waiting stepState = iota
	asked
	done
)

// month is what one query may span, and what is counted once more after its windows were read one after another.
type month struct {
	core     span
	settled  bool // its rows no longer change
	restored bool // a part of it was read before the checkpoint
	doubtful bool // its count differed from what was read
	windows  int  // cut out of it so far
}

// inParts reports whether the month is settled and took more than one answer.
func (m *month) inParts() bool { return m.settled && (m.restored || m.windows > 1) }

// head waits for the first step and takes it off the queue. It returns nil at the end of the range. Unless the step
// has an error, it is a window that was read, whole or not at rest, or a count, or the closing of a month that needs
// none.
func (a *ahead[T]) head(ctx context.Context) *step[T] {
	for {
		for len(a.ready) > 0 { // all that has come in, so that nothing idles while the caller takes rows
			a.receive()
		}
		a.fill(ctx)
		if len(a.queue) == 0 {
			return nil
		}
		if s := a.queue[0]; s.state == done && !s.tooMany() {
			a.queue = slices.Delete(a.queue, 0, 1)
			return s
		}
		a.receive()
	}
}

// push puts a step in front of all others.
func (a *ahead[T]) push(s *step[T]) { a.queue = slices.Insert(a.queue, 0, s) }

// fill starts as many steps as may be under way. Twice as many windows may be in hand, so that one that takes longer
// does not leave the others idle; a count holds no rows. Before the first answer, windows are whole months.
func (a *ahead[T]) fill(ctx context.Context) {
	inHand := 0
	for i := 0; inHand < 2*a.prefetch; {
		if i == len(a.queue) && !a.openMonth() {
			return
		}
		s, free := a.queue[i], a.asked < a.prefetch && (a.density.known || !a.careful || a.asked == 0)
		switch {
		case s.tooMany():
			a.narrow(i)
		case s.state == done && s.err != nil:
			return // what is behind it is not needed
		case s.state != waiting:
			if s.kind == window {
				inHand++
			}
			i++
		case s.kind == closing && !a.isRead(i):
			i++
		case s.kind == closing && !s.month.inParts():
			s.state = done
		case !free:
			return
		case s.kind == stretch:
			a.cut(i)
		case s.kind == closing:
			s.kind, s.core = count, s.month.core
		case s.kind == window && a.tooLong(s.core): // a later part of a month can be longer than a month may be
			s.recut(s.expected)
		default:
			a.start(ctx, s)
		}
	}
}

// tooLong reports whether a core is longer than one query may be.
func (a *ahead[T]) tooLong(core span) bool { return core.to > a.calendar.furthest(core.from) }

// openMonth puts the next month at the end of the queue. What may still change is a month of its own. The last two are
// equally long: months lose two seconds each to their overlap, which would leave a day or two for a last one.
func (a *ahead[T]) openMonth() bool {
	if a.next >= a.whole.to {
		return false
	}
	m := &month{core: span{a.next, min(a.calendar.furthest(a.next), a.whole.to)}}
	if a.next < a.settled {
		m.core.to = min(m.core.to, a.settled)
		m.settled = true
		half := a.next + (a.settled-a.next)/2
		if half < m.core.to && m.core.to < a.settled && a.settled <= a.calendar.furthest(half) {
			m.core.to = half
		}
	}
	a.enqueue(m, m.core)
	return true
}

// enqueue adds what remains of a month.
func (a *ahead[T]) enqueue(m *month, remains span) {
	if remains.seconds() > 0 {
		a.queue = append(a.queue, &step[T]{kind: stretch, month: m, core: remains})
	}
	a.queue = append(a.queue, &step[T]{kind: closing, month: m, core: m.core})
	a.next = m.core.to
}

// isRead reports whether all windows of the month before step i have been read.
func (a *ahead[T]) isRead(i int) bool {
	for _, s := range a.queue[:i] {
		if s.month == a.queue[i].month && s.state != done {
			return false
		}
	}
	return true
}

// cut takes a window off the front of the stretch at i.
func (a *ahead[T]) cut(i int) {
	rest := a.queue[i]
	room := span{rest.core.from, min(rest.core.to, a.calendar.furthest(rest.core.from))}
	level := a.level(rest)
	core := a.density.cut(room, a.pages.capacity(), level)
	expected := level * a.density.expect(core)
	rest.core.from, rest.expected = core.to, rest.expected-expected
	a.queue = slices.Insert(a.queue, i, a.window(rest.month, core, expected))
	if rest.core.seconds() == 0 || a.endMonth(i+1) {
		a.queue = slices.Delete(a.queue, i+1, i+2)
	}
}

// level returns how the rows of a stretch compare with what the rates predict, where an answer has said how many it has.
func (a *ahead[T]) level(rest *step[T]) float64 {
	if rest.expected <= 0 || !a.density.steady() {
		return 1
	}
	usual := a.density.expect(rest.core)
	if usual <= 0 {
		return 1
	}
	return min(rest.expected/usual, surprise)
}

// endMonth ends the newest month in front of the stretch at i, if that is all that remains of it and would fill too
// little of one more window, and reports whether it did; the next month begins with it. A month of n windows takes n+1
// queries, so that the last one pays if it is filled by more than 1-1/n.
func (a *ahead[T]) endMonth(i int) bool {
	rest := a.queue[i]
	m := rest.month
	if last := i == len(a.queue)-2 && a.queue[i+1].kind == closing && a.queue[i+1].month == m; !last || !m.settled {
		return false
	}
	n := float64(m.windows + 1)
	if a.density.expect(rest.core) > (1-1/n)*a.density.fit(a.pages.capacity()) {
		return false
	}
	m.core.to, a.next = rest.core.from, rest.core.from
	return true
}

// narrow puts narrower windows in the place of the one at i. Where its first page shows an end of the core whole, that
// is one of them. A window that was asked for blindly is cut anew, now that the hours become known.
func (a *ahead[T]) narrow(i int) {
	s := a.queue[i]
	s.month.windows--
	kept, left := a.keep(s)
	if kept == nil {
		a.queue = slices.Replace(a.queue, i, i+1, a.rest(s, left, s.reading.total)...)
		return
	}
	steps := a.rest(s, left, s.reading.total-kept.reading.total)
	if kept.core.from < left.from {
		steps = slices.Insert(steps, 0, kept)
	} else {
		steps = append(steps, kept)
	}
	a.queue = slices.Replace(a.queue, i, i+1, steps...)
}

// keep makes a window that has been read of what the first page of a wider one shows whole, and returns what is left
// of it. Whether the page told the truth is found out when the month is counted.
func (a *ahead[T]) keep(s *step[T]) (kept *step[T], left span) {
	bound, newestFirst, ok := s.reading.shown()
	if _, skipped := a.calendar.skip(bound); !ok || skipped || !s.month.settled || s.month.doubtful {
		return nil, s.core
	}
	core, left := span{s.core.from, bound - overhang}, span{bound - overhang, s.core.to}
	if newestFirst {
		core, left = span{bound + overhang, s.core.to}, span{s.core.from, bound + overhang}
	}
	if min(core.seconds(), left.seconds()) < narrowest {
		return nil, s.core
	}
	kept = a.window(s.month, core, 0)
	kept.kept, kept.state, kept.reading = true, done, s.reading.only(a.calendar.query(core))
	a.density.learn(core, kept.reading.seconds)
	return kept, left
}

// rest returns the steps that read what is left of a window that was too wide, in which total rows are to be expected.
func (a *ahead[T]) rest(s *step[T], left span, total int) []*step[T] {
	if s.blind {
		return []*step[T]{{kind: stretch, month: s.month, core: left, expected: float64(total)}}
	}
	parts := []span{left}
	if left == s.core || total > a.pages.capacity()*9/10 {
		parts = a.density.split(left, total, a.pages.capacity())
	}
	steps := make([]*step[T], len(parts))
	for n, core := range parts {
		steps[n] = a.window(s.month, core, float64(total)/float64(len(parts)))
	}
	return steps
}

func (a *ahead[T]) window(m *month, core span, expected float64) *step[T] {
	m.windows++
	return &step[T]{kind: window, month: m, core: core, expected: expected}
}

// fewRows is what a count asks for, of which only the total is of interest: the size of the published examples.
const fewRows = 10

// start lets a goroutine work on a step.
func (a *ahead[T]) start(ctx context.Context, s *step[T]) {
	s.state = asked
	a.asked++
	if s.blind, s.alone = !a.density.known, a.careful; s.blind {
		a.blind++
	}
	from, to := a.calendar.query(s.core)
	s.reading = reading[T]{
		source: &a.source, from: from, to: to, size: a.pages.size, granted: a.pages.granted,
		splitAbove: a.pages.splitAbove, narrowable: s.core.seconds() >= 2*narrowest,
	}
	go func() {
		if s.kind == count {
			s.reading.size = min(fewRows, s.reading.size)
			s.err = s.reading.ask(ctx, 1)
		} else {
			s.err = s.reading.run(ctx)
		}
		a.ready <- s
	}()
}

// receive waits for a goroutine to finish and learns from what it found.
func (a *ahead[T]) receive() {
	s := <-a.ready
	a.asked--
	s.state = done
	switch {
	case s.err != nil:
		a.adapt(s)
	case s.kind == window:
		a.learn(s)
	}
}

func (a *ahead[T]) learn(s *step[T]) {
	a.pages.learn(s.reading.granted, s.reading.guessed, s.reading.most)
	if s.blind {
		a.density.start(s.core, s.reading.total)
	} else {
		a.density.compare(s.core, s.expected, s.reading.total, a.pages.capacity())
	}
	if s.reading.state == readingWhole {
		a.density.learn(s.core, s.reading.seconds)
	}
}

// adapt asks for less where the gateway refused a window: first for smaller pages, then for at most 28 days, which is
// a month in every reading of the word. Of several windows that were asked for blindly, none that failed decides: they
// are asked for again one after another.
func (a *ahead[T]) adapt(s *step[T]) {
	const shortestMonth = 28 * 24 * hour
	switch from, to := s.reading.from.seconds, s.reading.to.seconds; {
	case s.kind == window && s.blind && !s.alone && a.blind > 1:
		a.careful = true
	case s.kind != window || !isRefused(s.err):
		return
	case a.pages.refused():
	case to-from > shortestMonth:
		a.calendar.widest = shortestMonth
		a.pages.again()
	default:
		return
	}
	s.recut(0)
}

// recut makes a window a stretch again, in which so many rows are known to be, or zero.
func (s *step[T]) recut(expected float64) {
	s.month.windows--
	*s = step[T]{kind: stretch, month: s.month, core: s.core, expected: expected}
}

// stop waits for the goroutines, whose context has ended.
func (a *ahead[T]) stop() {
	for ; a.asked > 0; a.asked-- {
		<-a.ready
	}
	a.queue = nil
}

func (s *step[T]) tooMany() bool {
	return s.kind == window && s.state == done && s.err == nil && s.reading.state == readingTooMany
}
