package walk

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// windowReader reads one window until it is known to be complete. Pages may be cut, empty, repeated, or hold rows of
// other times; the total that the gateway announces is the measure: a window is complete once as many distinct rows were
// seen.
//
// A new total means that rows came or went, so that what was seen before may be gone. Each change of the total therefore
// begins a new generation, and only rows seen in the current generation count. Older ones are yielded all the same.
type windowReader[T any] struct {
	source      *Source[T]
	from, to    civil.Time // bounds of the query
	size        int        // rows asked for at once
	largestSize int        // that may be asked for
	splitAbove  int        // a window that announces more rows than this, and than a page, is narrowed
	narrowable  bool       // it is long enough for that
	mayBeCapped bool       // the gateway has never announced more rows than it gave; see checkCap

	state    windowState
	rows     []*row[T] // distinct rows of all generations, in the order in which they came
	total    int       // rows announced by the last response
	granted  int       // rows in a page: size, or less if the gateway gives less
	guessed  bool      // granted is what two short pages had in common, not what the gateway says
	requests int
	rounds   int // times that all pages were asked for

	byID                 map[uint64]*row[T]
	generation           int
	distinct             int // rows of this generation
	inside               int // those of them whose time is between the bounds, or not stated
	distinctAtRoundStart int
	stableRounds         int // rounds of this generation that showed as many rows as announced, and none that was new
	lastFruitful         int // the last page that brought a row that was not known
	lastPage             int // rows of the last response
	previousPage         int // and of the one before
	largestPage          int // and of the largest
}

type windowState int

const (
	incomplete windowState = iota // also after maxRounds
	complete                      // everything announced was seen
	overflowed                    // it has too many rows and is to be narrowed
)

// maxRounds bounds how often a window is read again. Where the order of rows within a second changes with every
// response, a round shows some 63 of 100 rows that were not seen before: after twenty rounds, one row in a hundred
// million is still missing.
const maxRounds = 20

// How often, and how long apart at most, a window must show the same rows to be believed; see confirm.
const (
	enoughStableRounds = 5
	maxPause           = 500 * time.Millisecond
)

// Bounds of one window, whatever the gateway announces: the pages of a round, and the rows that are held until the window
// is complete. No shop has so many in the few seconds of the narrowest window.
const (
	maxPages  = 1000
	maxBarren = 10 // pages in a row that bring nothing new: a few can be empty by accident
	maxRows   = 100_000
)

// run asks until the window is complete, or is to be narrowed, or has been read maxRounds times. After an error, rows has
// those that could be read.
func (r *windowReader[T]) run(ctx context.Context) error {
	defer func() { r.byID = nil }() // the rows are held for longer
	for r.rounds = 1; ; r.rounds++ {
		r.distinctAtRoundStart = r.distinct
		for page := 1; page == 1 || page <= r.pages(); page++ {
			err := r.fetch(ctx, page)
			if err == nil && page == 1 && r.isDense() {
				err = r.enlargePage(ctx)
			}
			if err == nil && page == 1 && r.rounds == 1 && r.mayBeCapped {
				if capped, err := r.checkCap(ctx); capped || err != nil {
					return err
				}
			}
			if err != nil || r.finish() || page == 1 && r.overflow() || len(r.rows) > maxRows {
				return err
			}
		}
		if r.confirm() || r.rounds == maxRounds {
			return nil
		}
		r.guessPageSize()
		if r.stableRounds > 0 {
			_ = retry.Sleep(ctx, time.Duration(rand.Float64()*float64(maxPause))) // fetch sees the end of ctx
		}
	}
}

// pages returns how many pages a round has: not many more than have brought rows, whatever the gateway announces.
func (r *windowReader[T]) pages() int {
	return min((r.total+r.granted-1)/r.granted, r.lastFruitful+maxBarren, maxPages)
}

// fetch reads one page.
func (r *windowReader[T]) fetch(ctx context.Context, page int) error {
	r.requests++
	p, err := r.source.Fetch(ctx, r.from, r.to, page, r.size)
	if p != nil {
		known := len(r.rows)
		r.addPage(p)
		if len(r.rows) > known {
			r.lastFruitful = max(r.lastFruitful, page)
		}
	}
	return err
}

func (r *windowReader[T]) addPage(p *Page[T]) {
	if 0 < p.Size && p.Size < r.granted {
		r.granted = p.Size
	}
	r.mayBeCapped = r.mayBeCapped && p.Total <= len(p.Rows)
	if p.Total != r.total {
		r.total = p.Total
		r.generation++
		r.inside, r.distinct, r.distinctAtRoundStart, r.stableRounds = 0, 0, 0, 0
	}
	r.previousPage, r.lastPage = r.lastPage, len(p.Rows)
	r.largestPage = max(r.largestPage, r.lastPage)
	if r.byID == nil {
		r.byID = make(map[uint64]*row[T], len(p.Rows))
	}
	r.rows = slices.Grow(r.rows, len(p.Rows))
	rows := make([]row[T], len(p.Rows)) // one allocation for all
	for i := range p.Rows {
		r.addRow(&p.Rows[i], &rows[i])
	}
}

// addRow counts a row, and keeps it, in fresh, if it was not seen before.
func (r *windowReader[T]) addRow(value *T, fresh *row[T]) {
	id := hashID(r.source.ID(value))
	seen, ok := r.byID[id]
	if !ok {
		*fresh = row[T]{value: value, id: id, times: r.source.Times(value)}
		seen = fresh
		r.byID[id] = seen
		r.rows = append(r.rows, seen)
	} else if seen.generation == r.generation {
		return
	}
	seen.generation = r.generation
	r.distinct++
	if seen.within(r.from, r.to) {
		r.inside++
	}
}

// finish ends the reading if as many rows with times between the bounds were seen as announced, and reports whether it
// did. Rows of other times that came on top of these belong to no response to this query and are dropped.
func (r *windowReader[T]) finish() bool {
	if r.inside != r.total {
		return false
	}
	if r.distinct > r.inside {
		r.rows = slices.DeleteFunc(r.rows, func(row *row[T]) bool {
			return row.generation == r.generation && !row.within(r.from, r.to)
		})
	}
	r.state = complete
	return true
}

// confirm ends a round in which finish did not end the reading. It reports whether the rows that were seen can be believed
// to be all, although some have times outside the bounds.
//
// With such rows the count is right for one of two reasons. Either the gateway selects rows by another time than the one
// it shows: then the rows are the right ones, and every response shows the same. Or each of them is in the place of a row
// that the response should have had: a fault, which another response at another time hardly repeats exactly. So once the
// distinct rows are as many as announced, further rounds follow after pauses of random length, so that a fault which
// strikes periodically meets other requests. After enoughStableRounds without one new row, the first reason is taken.
func (r *windowReader[T]) confirm() bool {
	if r.distinct != r.total || r.distinctAtRoundStart != r.distinct {
		return false
	}
	if r.stableRounds++; r.stableRounds < enoughStableRounds {
		return false
	}
	r.state = complete
	return true
}

// guessPageSize notices that the gateway gives fewer rows than asked for and does not say so: the last two pages, or the one page
// that should hold all rows twice, were short by the same number.
func (r *windowReader[T]) guessPageSize() {
	if 0 < r.lastPage && r.lastPage == r.previousPage && r.lastPage < min(r.total, r.granted) {
		r.granted, r.guessed = r.lastPage, true
	}
}

// checkCap looks behind a first page that is full and holds exactly what is announced: a gateway may announce no more rows
// than a page can hold, however many there are. If it does, the window is narrowed, or ends incomplete.
func (r *windowReader[T]) checkCap(ctx context.Context) (capped bool, err error) {
	if r.lastPage != r.total || r.lastPage != r.granted {
		return false, nil
	}
	r.requests++
	p, err := r.source.Fetch(ctx, r.from, r.to, 2, r.size)
	switch {
	case p == nil && r.source.IsRefused(err): // no such page
		return false, nil
	case p == nil:
		return false, err
	case len(p.Rows) == 0:
		return false, nil
	}
	r.total += len(p.Rows) // at least
	if r.narrowable {
		r.state = overflowed
	}
	return true, nil
}

// overflow ends the reading of a window that is to be narrowed, and reports whether it did.
func (r *windowReader[T]) overflow() bool {
	if !r.narrowable || r.total <= r.granted || r.total <= r.splitAbove {
		return false
	}
	r.state = overflowed
	return true
}

// isDense reports whether the window holds more than a page, cannot be narrowed, and could be read with larger pages.
func (r *windowReader[T]) isDense() bool {
	return !r.narrowable && r.total > r.granted && r.granted == r.size && r.size < r.largestSize
}

// enlargePage asks for the largest page there is, and goes on as before if the gateway refuses that.
func (r *windowReader[T]) enlargePage(ctx context.Context) error {
	size, granted := r.size, r.granted
	r.size, r.granted = r.largestSize, r.largestSize
	err := r.fetch(ctx, 1)
	if err != nil && r.source.IsRefused(err) {
		r.size, r.granted = size, granted
		return nil
	}
	return err
}

// times yields when the rows happened, as far as they state it and between the bounds.
func (r *windowReader[T]) times(yield func(civil.Time) bool) {
	for _, row := range r.rows {
		for _, at := range row.times {
			if r.from <= at && at <= r.to {
				if !yield(at) {
					return
				}
				break
			}
		}
	}
}

// countedIDs returns the ids of the rows that make up the total.
func (r *windowReader[T]) countedIDs() []uint64 {
	ids := make([]uint64, 0, r.total)
	for _, row := range r.rows {
		if row.generation == r.generation {
			ids = append(ids, row.id)
		}
	}
	return ids
}
