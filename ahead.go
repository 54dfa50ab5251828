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
	expected float64     // rows, when it was cut
	reading  reading[T]  // of a window
	first    bool        // its answer was the first one of the walk
	rest     span        // what remains to be read of the core after a first page that was full
	page     *reading[T] // that page
	total    int         // of a count
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
	windows  int  // cut out of it so far
}

// inParts reports whether the month is settled and took more than one answer.
func (m *month) inParts() bool { return m.settled && (m.restored || m.windows > 1) }

// head waits for the first step and takes it off the queue. It returns nil at the end of the range. Unless the step
// has an error, it is a window that was read, whole or not at rest, or a count, or the closing of a month that needs
// none.
func (a *ahead[T]) head(ctx context.Context) *step[T] {
	for {
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

// fill starts as many steps as may be under way. Twice that number may be in hand, so that one window that takes
// longer does not leave the others idle. Before the first answer it asks for one window only.
func (a *ahead[T]) fill(ctx context.Context) {
	inHand := 0
	for i := 0; inHand < 2*a.prefetch; {
		if i == len(a.queue) && !a.openMonth() {
			return
		}
		s, free := a.queue[i], a.asked < a.prefetch && (a.density.known || a.asked == 0)
		switch {
		case s.tooMany():
			a.narrow(i)
		case s.state == done && s.err != nil:
			return // what is behind it is not needed
		case s.state != waiting:
			inHand++
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
			s.kind = count
		default:
			a.start(ctx, s)
		}
	}
}

// openMonth puts the next month at the end of the queue. What may still change is a month of its own.
func (a *ahead[T]) openMonth() bool {
	if a.next >= a.whole.to {
		return false
	}
	m := &month{core: span{a.next, min(a.calendar.furthest(a.next), a.whole.to)}}
	if a.next < a.settled {
		m.core.to = min(m.core.to, a.settled)
		m.settled = true
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
	core := a.density.cut(room, a.pages.capacity())
	a.queue = slices.Insert(a.queue, i, a.window(rest.month, core, a.density.expect(core)))
	if rest.core.from = core.to; rest.core.seconds() == 0 {
		a.queue = slices.Delete(a.queue, i+1, i+2)
	}
}

// narrow puts narrower windows in the place of the one at i. The first answer of a walk says how dense rows are: the
// window is cut anew as its hours become known. Where a page holds nearly all of its window, and its rows are in the
// order of time, only the rest is asked for: the two together must make up the total.
func (a *ahead[T]) narrow(i int) {
	s := a.queue[i]
	s.month.windows--
	total := s.reading.total
	if s.page != nil {
		total = s.page.total
	} else if rest, ok := s.reading.rest(s.core); ok && !s.first {
		a.queue[i] = a.window(s.month, s.core, s.expected)
		a.queue[i].rest, a.queue[i].page = rest, &s.reading
		s.month.windows++ // it is read in two parts
		return
	}
	if s.first {
		a.queue[i] = &step[T]{kind: stretch, month: s.month, core: s.core}
		return
	}
	parts := a.density.split(s.core, total, a.pages.capacity())
	steps := make([]*step[T], len(parts))
	for n, core := range parts {
		steps[n] = a.window(s.month, core, float64(total)/float64(len(parts)))
	}
	a.queue = slices.Replace(a.queue, i, i+1, steps...)
}

func (a *ahead[T]) window(m *month, core span, expected float64) *step[T] {
	m.windows++
	return &step[T]{kind: window, month: m, core: core, expected: expected}
}

// start lets a goroutine work on a step.
func (a *ahead[T]) start(ctx context.Context, s *step[T]) {
	s.state = asked
	a.asked++
	from, to := a.calendar.query(s.core)
	if s.page != nil {
		from, to = a.calendar.query(s.rest)
	}
	s.reading = reading[T]{
		source: &a.source, from: from, to: to, size: a.pages.size, granted: a.pages.granted,
		splitAbove: a.pages.splitAbove, narrowable: s.core.seconds() >= 2*narrowest,
		byID: make(map[uint64]*row[T]),
	}
	go func() {
		if s.kind == count {
			s.err = s.reading.ask(ctx, 1)
			s.total = s.reading.total
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
	switch {
	case s.page != nil:
		s.reading.join(s.page)
	case !a.density.known:
		s.first = true
		a.density.start(s.core, s.reading.total)
	default:
		a.density.compare(s.core, s.expected, s.reading.total, a.pages.capacity())
	}
	if s.reading.state == readingWhole {
		a.density.learn(s.core, s.reading.seconds)
	}
}

// adapt asks for less where the gateway refused a window: first for smaller pages, then for at most 28 days, which is
// a month in every reading of the word.
func (a *ahead[T]) adapt(s *step[T]) {
	const month = 28 * 24 * hour
	if s.kind != window || !isRefused(s.err) {
		return
	}
	switch from, to := s.reading.from.seconds, s.reading.to.seconds; {
	case a.pages.refused():
	case to-from > month:
		a.calendar.widest = month
		a.pages.again()
	default:
		return
	}
	s.month.windows--
	*s = step[T]{kind: stretch, month: s.month, core: s.core}
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
