package walk

// step is one thing to do for a walk. The prefetcher has a queue of them in the order of time.
type step[T any] struct {
	kind     stepKind
	state    stepState
	month    *month
	span     span
	expected float64         // rows: of a window when it was cut; of a range, zero unless a response has said how many it has
	reader   windowReader[T] // of a window or a count
	err      error

	probe         bool // asked for before anything was known of the density
	onlyProbe     bool // and with no other probe in flight
	fromFirstPage bool // not asked for by itself: the first page of a longer window has shown it completely
}

type stepKind int

const (
	uncutRange stepKind = iota // to be cut into windows
	window                     // to be read completely
	monthEnd                   // after the windows of a month; becomes a count where one is needed
	rowCount                   // how many rows the gateway has in a range
)

type stepState int

const (
	waiting stepState = iota
	inFlight
	done
)

// month is at most what one query may span, and need not be a calendar month. If it took more than one window, or was
// resumed, its rows are counted once more afterwards, unless they may still change.
type month struct {
	span      span
	final     bool // its rows no longer change: it is older than Config.Lag
	restored  bool // a part of it was read before the checkpoint
	uncertain bool // its count has differed from the rows that were read
	windows   int  // cut out of it
	counted   int  // parts of it, when its rows were last counted before its end
}

// needsCount reports whether rows may have arrived in the month behind the reader: it was read with several responses. Of
// a month that is not final this is to be expected, and not counted.
func (m *month) needsCount() bool { return m.final && (m.restored || m.windows > 1) }

func newWindow[T any](m *month, s span, expected float64) *step[T] {
	m.windows++
	return &step[T]{kind: window, month: m, span: s, expected: expected}
}

// uncut makes a window a range again, in which so many rows are known to be, or zero.
func (s *step[T]) uncut(expected float64) {
	s.month.windows--
	*s = step[T]{kind: uncutRange, month: s.month, span: s.span, expected: expected}
}

// isOverflowed reports whether the step is a window that was found to hold more rows than a page.
func (s *step[T]) isOverflowed() bool {
	return s.kind == window && s.state == done && s.err == nil && s.reader.state == overflowed
}
