package cardgateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// reading is one window being read until it is known to be whole. The gateway's answers may be cut, short, repeated or
// hold rows of other times; the total that they announce is the measure.
type reading[T any] struct {
	source     *source[T]
	from, to   WallTime // as asked, both included
	size       int      // rows asked for at once
	splitAbove int      // a window that announces more than this, and than a page, is left for narrower ones
	narrowable bool     // it is wide enough to be narrowed

	total   int  // rows announced by the last answer
	granted int  // rows in a page: size, or less if the gateway gives less
	guessed bool // granted is what two short pages had in common, not what the gateway says
	rounds  int  // times that all pages were asked for
	asked   int  // requests
	rows    []*row[T]
	state   readingState

	byID     map[uint64]*row[T]
	epoch    int // counts the changes of total; only rows seen since the last one count
	inside   int // distinct rows of this epoch whose time is between the bounds, or not said
	all      int // distinct rows of this epoch
	atStart  int // all, when the round began
	same     int // rounds that showed all there is in total and nothing new
	lastPage int // rows of the last answer
	previous int // and of the one before
	most     int // and of the largest
}

type readingState int

const (
	readingPart    readingState = iota // not at rest after maxRounds
	readingWhole                       // everything announced was seen
	readingTooMany                     // to be narrowed
)

// maxRounds bounds how often a window is read again. When the order of rows within a second changes with every
// request, a round shows some 63 of 100 rows that were not seen before: twenty leave one row in a hundred million.
const maxRounds = 20

// What makes a reading believe rows that lie outside its bounds; see confirm.
const (
	sameRounds   = 5
	longestDoubt = 500 * time.Millisecond
)

// What bounds one window, whatever the gateway announces: the pages of a round, and the rows that are held until the
// window is at rest. So many of one second, or a few, are no shop's.
const (
	maxPages = 1000
	maxRows  = 100_000
)

// source is where the rows of a walk come from.
type source[T any] struct {
	// fetch asks for one page of the rows between two wall-clock times. An error may come with the page: the page's
	// other rows are good.
	fetch func(ctx context.Context, from, to WallTime, page, size int) (*Page[T], error)
	id    func(*T) string
	times func(*T) [2]WallTime // when it happened; a row has one time, or two of which either may count
}

// row is a row with what the walk needs to know of it.
type row[T any] struct {
	value *T
	id    uint64
	times [2]WallTime
	epoch int
}

// hashID makes 64 bits of an id: what a walk remembers of a row. The hash must be the same in another process, since
// checkpoints hold some.
func hashID(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// within reports whether one of the row's times is between two others, both included, or none is said.
func (r *row[T]) within(from, to WallTime) bool {
	said := false
	for _, t := range r.times {
		if !t.IsZero() {
			said = true
			if from.Compare(t) <= 0 && t.Compare(to) <= 0 {
				return true
			}
		}
	}
	return !said
}

// run asks until the window is whole, or is to be narrowed, or does not come to rest. On an error, rows are those
// that could be read.
func (r *reading[T]) run(ctx context.Context) error {
	defer func() { r.byID = nil }() // the rows stay in hand for longer
	for r.rounds = 1; ; r.rounds++ {
		r.atStart = r.all
		for page := 1; page == 1 || page <= r.pages(); page++ {
			err := r.ask(ctx, page)
			if err == nil && page == 1 && r.isDense() && r.size < maxPageSize {
				err = r.widen(ctx)
			}
			if err != nil || r.settle() || page == 1 && r.overflow() || len(r.rows) > maxRows {
				return err
			}
		}
		if r.confirm() || r.rounds == maxRounds {
			return nil
		}
		if r.same > 0 { // at another moment, so that a fault that comes in turn meets other requests; ask sees ctx
			_ = retry.Sleep(ctx, time.Duration(rand.Float64()*float64(longestDoubt)))
		}
	}
}

// pages returns how many pages a round has.
func (r *reading[T]) pages() int {
	return min((r.total+r.granted-1)/r.granted, maxPages)
}

// ask reads one page.
func (r *reading[T]) ask(ctx context.Context, page int) error {
	r.asked++
	p, err := r.source.fetch(ctx, r.from, r.to, page, r.size)
	if p != nil {
		r.take(p)
	}
	return err
}

func (r *reading[T]) take(p *Page[T]) {
	if 0 < p.PageSize && p.PageSize < r.granted {
		r.granted = p.PageSize
	}
	if p.TotalCount != r.total {
		r.total = p.TotalCount
		r.epoch++
		r.inside, r.all, r.atStart, r.same = 0, 0, 0, 0
	}
	r.previous, r.lastPage = r.lastPage, len(p.Data)
	r.most = max(r.most, r.lastPage)
	if r.byID == nil {
		r.byID = make(map[uint64]*row[T], len(p.Data))
	}
	r.rows = slices.Grow(r.rows, len(p.Data))
	rows := make([]row[T], len(p.Data))
	for i := range p.Data {
		r.add(&p.Data[i], &rows[i])
	}
}

// add notes a row of an answer, in fresh if it was not seen before.
func (r *reading[T]) add(value *T, fresh *row[T]) {
	id := hashID(r.source.id(value))
	known, ok := r.byID[id]
	if !ok {
		*fresh = row[T]{value: value, id: id, times: r.source.times(value)}
		known = fresh
		r.byID[id] = known
		r.rows = append(r.rows, known)
	} else if known.epoch == r.epoch {
		return
	}
	known.epoch = r.epoch
	r.all++
	if known.within(r.from, r.to) {
		r.inside++
	}
}

// settle ends the reading if all that the gateway announces was seen, and reports whether it did. Rows that came on top
// of that belong to no answer to this question and are dropped.
func (r *reading[T]) settle() bool {
	if r.inside != r.total {
		return false
	}
	if r.all > r.inside {
		announced := r.rows[:0]
		for _, row := range r.rows {
			if row.epoch < r.epoch || row.within(r.from, r.to) {
				announced = append(announced, row)
			}
		}
		r.rows = announced
	}
	r.state = readingWhole
	return true
}

// confirm ends a round, and the reading if that is confirmed, and reports whether it is. When the rows make up the
// total only together with some that lie outside the bounds, either the gateway counts by another time than it shows,
// or those stand in place of missing ones: sameRounds more rounds that show the very same rows, at random moments,
// decide for the former. When a page was short twice in the same way, that is its size.
func (r *reading[T]) confirm() bool {
	if r.all == r.total && r.atStart == r.all {
		if r.same++; r.same == sameRounds {
			r.state = readingWhole
			return true
		}
	}
	if r.pages() == 1 && 0 < r.lastPage && r.lastPage == r.previous && r.lastPage < r.total {
		r.granted, r.guessed = r.lastPage, true
	}
	return false
}

// overflow ends the reading of a window that is to be narrowed, and reports whether it did.
func (r *reading[T]) overflow() bool {
	if !r.narrowable || r.total <= r.granted || r.total <= r.splitAbove {
		return false
	}
	r.state = readingTooMany
	return true
}

// shown returns a second up to which, or if the newest rows come first from which on, the first page shows all rows,
// if its rows are in the order of time. It is one without rows, since whether a bound is inclusive is not known.
func (r *reading[T]) shown() (bound int64, newestFirst, ok bool) {
	if r.asked != 1 || len(r.rows) != r.granted || r.inside != len(r.rows) {
		return 0, false, false
	}
	newestFirst = r.rows[0].times[0].Compare(r.rows[len(r.rows)-1].times[0]) > 0
	for i, row := range r.rows {
		if row.times[0].IsZero() || !row.times[1].IsZero() { // with two times, who knows by which it was found
			return 0, false, false
		}
		step := row.times[0].seconds - r.rows[max(i-1, 0)].times[0].seconds
		if step != 0 && newestFirst != (step < 0) {
			return 0, false, false
		}
		if step > 1 || step < -1 {
			ok = true
			if bound = row.times[0].seconds - 1; newestFirst {
				bound = row.times[0].seconds + 1
			}
		}
	}
	return bound, newestFirst, ok
}

// only returns the reading as if it had asked for a narrower window, which it shows whole.
func (r *reading[T]) only(from, to WallTime) reading[T] {
	part := reading[T]{from: from, to: to, rounds: 1, epoch: r.epoch, state: readingWhole}
	for _, row := range r.rows {
		if row.within(from, to) {
			part.rows = append(part.rows, row)
		}
	}
	part.total, part.inside, part.all = len(part.rows), len(part.rows), len(part.rows)
	return part
}

// isDense reports whether the window holds more than a page and cannot be narrowed.
func (r *reading[T]) isDense() bool {
	return !r.narrowable && r.total > r.granted && r.granted == r.size
}

// widen asks for the largest page there is, and goes on as before if the gateway refuses that.
func (r *reading[T]) widen(ctx context.Context) error {
	size, granted := r.size, r.granted
	r.size, r.granted = maxPageSize, maxPageSize
	err := r.ask(ctx, 1)
	if isRefused(err) {
		r.size, r.granted = size, granted
		return nil
	}
	return err
}

// seconds yields when the rows happened, as far as they say.
func (r *reading[T]) seconds(yield func(int64) bool) {
	for _, row := range r.rows {
		for _, t := range row.times {
			if !t.IsZero() && r.from.Compare(t) <= 0 && t.Compare(r.to) <= 0 {
				if !yield(t.seconds) {
					return
				}
				break
			}
		}
	}
}

// counted returns the ids that make up the total.
func (r *reading[T]) counted() []uint64 {
	ids := make([]uint64, 0, r.total)
	for _, row := range r.rows {
		if row.epoch == r.epoch {
			ids = append(ids, row.id)
		}
	}
	return ids
}
