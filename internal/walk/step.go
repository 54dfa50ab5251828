package walk

import "github.com/cardgateway/cardgateway-go/internal/goroutine"

// step is a unit of work of a walk. The prefetcher has a queue of them in order of time.
type step[T any] struct {
	kind     stepKind
	state    stepState
	block    *block
	span     span
	expected float64         // rows of a window, when it was cut; of an unread span, if a probe has announced them
	reader   windowReader[T] // of a window or a count
	err      error
	end      goroutine.Ending // of its goroutine

	probe         bool // sent before the density was known
	alone         bool // a probe with no other in flight
	fromFirstPage bool // without a query: the first page of a longer window contains it completely
}

type stepKind int

const (
	unreadSpan stepKind = iota // a span to be cut into windows
	window                     // to be read completely
	blockEnd                   // after the windows of a block; becomes a rowCount if needed
	rowCount                   // query for the number of rows in a span
)

type stepState int

const (
	waiting stepState = iota
	inFlight
	done
)

// block is the span of windows whose rows are counted together. It is at most as long as one query may be: by default a month. If it took
// more than one window, or was resumed, its rows are counted again at the end, unless they may still change.
type block struct {
	span      span
	restored  bool // some of it was read before the checkpoint
	uncertain bool // its count once differed from the rows that were read
	windows   int  // number of its windows
}

func newWindow[T any](b *block, s span, expected float64) *step[T] {
	b.windows++
	return &step[T]{kind: window, block: b, span: s, expected: expected}
}

// uncut turns a window back into an unread span.
func (s *step[T]) uncut() {
	s.block.windows--
	*s = step[T]{kind: unreadSpan, block: s.block, span: s.span}
}

// isOverflowed reports whether the step is a window with more rows than fit on a page.
func (s *step[T]) isOverflowed() bool {
	return s.kind == window && s.state == done && s.err == nil && s.reader.state == overflowed
}
