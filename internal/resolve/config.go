package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// Config says what is looked for, in rows of type T.
type Config[T any] struct {
	SentAt time.Time     // a time before it was sent, and close to it
	Wait   time.Duration // how long to ask, counted from the start of Run; zero means DefaultWait; at least one search is made
	Seen   bool          // the gateway has shown it before: it is never absent

	// Search asks for one page, counted from 1, of the rows between two times, which are at most a month apart. An error
	// means that the gateway could not be asked.
	Search func(ctx context.Context, start, end time.Time, page int) (*Page[T], error)
	// Row says what a row means.
	Row func(*T) Row
	// NotFinal says why declined rows, one or more, are not the end. It returns nil if they are.
	NotFinal func(declined []T) error
}

// Page is one page of a search.
type Page[T any] struct {
	Rows       []T
	Total      int  // rows of the whole search, as announced
	Unreadable bool // there were rows that could not be read
}

// Row is what a row says about what is looked for.
type Row struct {
	ID        string     // tells rows apart
	Generated bool       // the ID is put together from other members, since the gateway gave none: rows can share it
	At        civil.Time // what is later is shown of several
	Code      int
	State     verdict.State
	Ours      bool // it has the ids that were sent
	Expected  bool // it is not ours, but the search asks for it too
	Agrees    bool // it repeats whatever else was sent
}

// How long Run asks, and which days it searches.
const (
	DefaultWait = 2 * time.Minute
	Before      = 13 * time.Hour // before SentAt: UTC-12, and an hour of difference between clocks
	MaxPages    = 50             // of one search, beside the first of each month; more only if the gateway's filter does not work
	MaxMonths   = 24             // that are searched, one at a time

	after   = 15 * time.Hour  // after now: UTC+14, and an hour of difference between clocks
	overlap = 2 * time.Second // of neighbouring ranges: whether a bound is inclusive is not shown
)

// Why an outcome stays unknown. ErrMayTryAgain is for the caller's NotFinal.
var (
	ErrDoubtful = errors.New("the search is inconclusive: it returned unreadable rows or those of other transactions, " +
		"rows that contradict each other, or not what it returned before")
	ErrOtherAmount = errors.New("the gateway has this id with another amount or currency, or without them")
	ErrMayTryAgain = errors.New("declined so far: the cardholder can try another card on the hosted page")

	errSeenBefore = errors.New("the gateway has shown this id before, but does not tell its outcome")
	errOtherCode  = errors.New("the gateway has this id with a code that does not tell the outcome")
	errLongAgo    = errors.New("SentAt is too long ago: the search did not reach the present")
)
