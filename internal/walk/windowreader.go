package walk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/random"
	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// windowReader reads one window until it is known to be complete. Pages may be cut off, empty, repeated, or contain rows
// with other times. The total that the gateway announces decides: a window is complete once as many distinct rows were
// read.
//
// A new total means that rows were added or removed, so that rows read before may no longer exist. Each change of the total
// therefore begins a new generation, and only rows read in the current generation count. Older ones are yielded all the
// same.
type windowReader[T any] struct {
	source     *Source[T]
	from, to   civil.Time // bounds of the query
	size       int        // rows per request
	maxSize    int        // that may be requested
	splitAbove int        // a window that announces more rows than this, and than a page, is split
	narrowable bool       // it is long enough to be split
	uncapped   int        // totals up to this one are no limit of the gateway; see checkCap

	state      windowState
	rows       []*row[T] // distinct rows of all generations, in the order received
	total      int       // rows announced by the last response
	granted    int       // rows per page: size, or less if the gateway returns less
	guessed    bool      // granted is the length of two short pages, not announced by the gateway
	requests   int
	clockAhead time.Duration // see Page
	rounds     int           // times that all pages were requested

	byID                 map[uint64]*row[T]
	repeats              []*row[T] // rows of this round with the id of another row of the same response
	generation           int
	distinct             int // rows of this generation
	inside               int // those of them with a time between the bounds, or without a time
	distinctAtRoundStart int
	stableRounds         int // rounds of this generation with as many rows as announced, and no new one
	lastFruitful         int // the last page with a new row
	lastPage             int // rows of the last response
	previousPage         int // rows of the response before that
	largestPage          int // rows of the largest response
}

type windowState int

const (
	incomplete windowState = iota // also after maxRounds
	complete                      // as many rows as announced were read
	overflowed                    // it has too many rows and must be split
)

// maxRounds limits how many times a window is read again. If the order of rows within a second changes with every response,
// a round returns some 63 of 100 rows that were not read before: after twenty rounds, about one row in a hundred million is
// missing.
const maxRounds = 20

// How many times, and with which pauses at most, a window must return the same rows; see acceptIfStable.
const (
	minStableRounds = 5
	maxRoundPause   = 500 * time.Millisecond
)

// Limits for one window, whatever the gateway announces: the pages of a round, and the rows in memory until the window is
// complete. No shop has so many in the few seconds of the shortest window.
const (
	maxPages  = 1000
	maxBarren = 10 // consecutive pages without a new row: a few can be empty by accident
	maxRows   = 100_000
)

// run reads until the window is complete, or must be split, or has been read maxRounds times. After an error, rows has
// those of the pages before it.
func (r *windowReader[T]) run(ctx context.Context) error {
	defer func() { r.byID = nil }() // the rows remain in memory for longer
	for r.rounds = 1; ; r.rounds++ {
		r.distinctAtRoundStart = r.distinct
		for page := 1; page == 1 || page <= r.pages(); page++ {
			if ended, err := r.readPage(ctx, page); ended || err != nil {
				return err
			}
		}
		r.acceptIfStable()
		if r.state == complete || r.rounds == maxRounds {
			return nil
		}
		r.guessPageSize()
		if r.stableRounds > 0 {
			_ = retry.Sleep(ctx, time.Duration(random.Float64()*float64(maxRoundPause))) // fetch returns the error of ctx
		}
	}
}

// readPage reads a page of a round, and reports whether the reading ends with it: the window is complete or must be split, or
// it remains incomplete, because it has too many rows or its total is capped.
func (r *windowReader[T]) readPage(ctx context.Context, page int) (ended bool, err error) {
	if err = r.fetch(ctx, page); err != nil {
		return false, err
	}
	if page == 1 && r.isDense() {
		if err = r.enlargePage(ctx); err != nil {
			return false, err
		}
	}
	if page == 1 && r.rounds == 1 {
		if ended, err = r.checkCap(ctx); ended || err != nil { // its total is capped
			return ended, err
		}
	}
	r.completeIfCounted()
	if page == 1 && r.state == incomplete {
		r.splitIfTooMany()
	}
	return r.state != incomplete || len(r.rows)+len(r.repeats) > maxRows, nil
}

// pages returns how many pages a round has: not many more than have returned rows, whatever the gateway announces.
func (r *windowReader[T]) pages() int {
	return min((r.total+r.granted-1)/r.granted, r.lastFruitful+maxBarren, maxPages)
}

// fetch reads one page.
func (r *windowReader[T]) fetch(ctx context.Context, page int) error {
	r.requests++
	p, err := r.source.Fetch(ctx, r.from, r.to, page, r.size)
	if err != nil {
		return err
	}
	r.clockAhead = max(r.clockAhead, p.ClockAhead)
	if page == 1 {
		r.repeats = nil
	}
	known := len(r.rows)
	r.addPage(p, page)
	if len(r.rows) > known {
		r.lastFruitful = max(r.lastFruitful, page)
	}
	return nil
}

// rows returns the number of rows, readable or not.
func (p *Page[T]) rows() int { return len(p.Rows) + len(p.Unreadable) }

func (r *windowReader[T]) addPage(p *Page[T], number int) {
	if 0 < p.Size && p.Size < r.granted {
		r.granted = p.Size
	}
	if p.Total > p.rows() {
		r.uncapped = max(r.uncapped, p.Total-1)
	}
	if p.Total != r.total {
		r.total = p.Total
		r.generation++
		r.inside, r.distinct, r.distinctAtRoundStart, r.stableRounds = 0, 0, 0, 0
	}
	r.previousPage, r.lastPage = r.lastPage, p.rows()
	r.largestPage = max(r.largestPage, r.lastPage)
	if r.byID == nil {
		r.byID = make(map[uint64]*row[T], p.rows())
	}
	r.rows = slices.Grow(r.rows, p.rows())
	rows := make([]row[T], p.rows()) // one allocation for all
	for i := range p.Rows {
		rows[i] = row[T]{value: &p.Rows[i], id: hashID(r.source.ID(&p.Rows[i])), times: r.source.Times(&p.Rows[i])}
		if r.addRow(&rows[i]) {
			continue
		}
		rows[i].unreadable = &RowError{From: r.from, To: r.to, Page: number, Row: i + 1, Member: "data", Reason: "has the id of another row of the page"}
		r.source.Name(&p.Rows[i], rows[i].unreadable)
		r.repeats = append(r.repeats, &rows[i])
	}
	for i := range p.Unreadable {
		bad, fresh := &p.Unreadable[i], &rows[len(p.Rows)+i]
		*fresh = row[T]{unreadable: &bad.Name, id: hashID("unreadable " + bad.Key), times: bad.Times} // never the id of a row that can be read
		r.addRow(fresh)
	}
}

// addRow counts a row. If it is new it is stored. It reports false if another row of the same response has its id.
func (r *windowReader[T]) addRow(fresh *row[T]) bool {
	seen, ok := r.byID[fresh.id]
	if !ok {
		seen = fresh
		r.byID[seen.id] = seen
		r.rows = append(r.rows, seen)
	}
	isRepeat := ok && seen.request == r.requests
	seen.request = r.requests
	if ok && seen.generation == r.generation {
		return !isRepeat
	}
	seen.generation = r.generation
	r.distinct++
	if seen.within(r.from, r.to) {
		r.inside++
	}
	return true
}

// completeIfCounted completes the window if as many rows with times between the bounds were read as announced. Additional rows
// with other times do not match this query and are dropped.
func (r *windowReader[T]) completeIfCounted() {
	if r.inside != r.total {
		return
	}
	if r.distinct > r.inside {
		r.rows = slices.DeleteFunc(r.rows, func(row *row[T]) bool {
			return row.generation == r.generation && !row.within(r.from, r.to)
		})
	}
	r.state = complete
}

// acceptIfStable ends a round in which completeIfCounted did not complete the window. It completes the window if the rows can
// be accepted, although some have times outside the bounds, or the id of another row of their response.
//
// The count can be right with such rows for one of two reasons. Either the gateway selects rows by another time than the
// one in the response: then these rows are right, and every response returns the same ones. Or each of them replaces a row
// that should have been returned: a fault that another response at another time is unlikely to repeat exactly. So once
// there are as many distinct rows as announced, further rounds follow after pauses of random length, so that a periodic
// fault affects other requests. After minStableRounds without a new row, the first reason is assumed.
//
// It is the same with rows that have the id of another row of their response: a gateway lists one twice, or two under one id. All but
// the first are reported, because nobody knows what they stand for.
func (r *windowReader[T]) acceptIfStable() {
	if r.distinct+len(r.repeats) != r.total || r.distinctAtRoundStart != r.distinct {
		return
	}
	if r.stableRounds++; r.stableRounds < minStableRounds {
		return
	}
	r.state = complete
	copies := make(map[uint64]int)
	for _, row := range r.repeats {
		copies[row.id]++
		row.id = hashID(fmt.Sprintf("copy %d of %d", copies[row.id], row.id))
		r.addRow(row)
	}
}

// guessPageSize detects that the gateway returns fewer rows than requested without announcing it: the last two pages, or
// the one page that should contain all rows twice, were short by the same number.
func (r *windowReader[T]) guessPageSize() {
	if 0 < r.lastPage && r.lastPage == r.previousPage && r.lastPage < min(r.total, r.granted) {
		r.granted, r.guessed = r.lastPage, true
	}
}

// checkCap has a window split if its page is full, or has a round number of rows, and exactly as many as announced: a gateway may
// announce, and return, at most so many rows, however many there are. Their parts, and the count of the block, then tell. Of a
// window that cannot be split, it requests a second page; if there is one, the window remains incomplete.
func (r *windowReader[T]) checkCap(ctx context.Context) (ended bool, err error) {
	if n := r.lastPage; n != r.total || n <= r.uncapped || n != r.granted && n%10 != 0 {
		return false, nil
	}
	if r.isSplittable() {
		r.state = overflowed
		return true, nil
	}
	r.requests++
	p, err := r.source.Fetch(ctx, r.from, r.to, 2, r.size)
	switch {
	case err != nil && r.source.Fault(err).Kind == Refused: // no such page
		return false, nil
	case err != nil:
		return false, err
	case p.rows() == 0:
		return false, nil
	}
	r.total += p.rows() // at least
	return true, nil
}

// splitIfTooMany has a window split that announces too many rows.
func (r *windowReader[T]) splitIfTooMany() {
	if r.isSplittable() && r.total > r.granted && r.total > r.splitAbove {
		r.state = overflowed
	}
}

// isSplittable reports whether parts of the window may have fewer rows. If most of its rows are outside of it, the gateway may select by
// the day, and all parts would have the same rows.
func (r *windowReader[T]) isSplittable() bool {
	return r.narrowable && (2*r.inside >= r.distinct || r.total > maxRows/2)
}

// isDense reports whether the window has more rows than a page, cannot be split, and could be read with larger pages.
func (r *windowReader[T]) isDense() bool {
	return !r.isSplittable() && r.total > r.granted && r.granted == r.size && r.size < r.maxSize
}

// enlargePage requests the largest page size, and continues with the previous one if the gateway refuses it.
func (r *windowReader[T]) enlargePage(ctx context.Context) error {
	size, granted := r.size, r.granted
	r.size, r.granted = r.maxSize, r.maxSize
	err := r.fetch(ctx, 1)
	if err != nil {
		if kind := r.source.Fault(err).Kind; kind == Refused || kind == TooLarge {
			r.size, r.granted = size, granted
			return nil
		}
	}
	return err
}

// times yields the times of the rows that are between the bounds.
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
