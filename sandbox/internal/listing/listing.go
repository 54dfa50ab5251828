// Package listing merges rows of several series into one list in the order of their wall-clock times, and returns pages of
// it. It compares whole wall-clock seconds, like a database that stores local times: if the clocks of a zone are set back,
// rows of two different hours have the same wall-clock times and are mixed. A listing stores no rows, so a page of many
// millions costs no more than a page of a hundred.
package listing

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// Series is a list of rows in order of time.
type Series interface {
	Len() int
	At(i int) time.Time // not before row i-1
}

// RowRef refers to row I of a series.
type RowRef struct {
	Series Series
	I      int
}

// Tie selects the order of the rows of one second: it returns which of the n rows of that wall-clock second is at position
// p. For every second it must be a permutation.
type Tie func(wall int64, n, p int) int

// Listing is the rows of any number of series whose wall-clock second is in a range. Create one with New.
type Listing struct {
	runs     []zoneRun
	from, to int64
}

// New returns a listing without rows. The bounds are wall-clock seconds, counted as if they were UTC, and inclusive.
func New(from, to int64) *Listing {
	return &Listing{from: from, to: to}
}

const day = 24 * 60 * 60

// Add adds those of the first n rows of a series that are in the range.
func (l *Listing) Add(series Series, n int, loc *time.Location) {
	const widest = 2 * day // more than the offset of any zone
	for at := l.from - widest; at <= l.to+widest; {
		t := time.Unix(at, 0).In(loc)
		_, offset := t.Zone()
		_, change := t.ZoneBounds()
		end := l.to + widest + 1
		if !change.IsZero() {
			end = min(end, change.Unix())
		}
		part := zoneRun{series: series, hi: n}
		part.lo = part.find(max(at, l.from-int64(offset)))
		part.hi = part.find(min(end, l.to-int64(offset)+1))
		part.offset = int64(offset)
		if part.lo < part.hi {
			l.runs = append(l.runs, part)
		}
		at = end
	}
}

// Total returns the number of rows.
func (l *Listing) Total() int {
	n := 0
	for _, r := range l.runs {
		n += r.hi - r.lo
	}
	return n
}

// Page returns rows a to b-1. Row 0 is the newest row of the listing, or the oldest if oldestFirst is set. Rows that do not
// exist are left out.
func (l *Listing) Page(a, b int, oldestFirst bool, tie Tie) []RowRef {
	total := l.Total()
	b = min(b, total)
	if a >= b {
		return nil
	}
	if oldestFirst {
		return l.slice(a, b, tie)
	}
	refs := l.slice(total-b, total-a, tie)
	slices.Reverse(refs)
	return refs
}

// FirstAt returns the index of the first row of a series at or after a second of Unix time, or its length.
func FirstAt(series Series, second int64) int {
	return zoneRun{series: series, hi: series.Len()}.find(second)
}

// zoneRun is rows lo to hi-1 of a series, for which the zone's offset is the same, so that they are also in the order of
// their wall-clock times. A range that contains a clock change has several.
type zoneRun struct {
	series Series
	lo, hi int
	offset int64 // seconds east of UTC
}

func (r zoneRun) wall(i int) int64 { return r.series.At(i).Unix() + r.offset }

// find returns the first row of the run at or after a wall-clock second, or hi.
func (r zoneRun) find(wall int64) int {
	return r.lo + sort.Search(r.hi-r.lo, func(n int) bool { return r.wall(r.lo+n) >= wall })
}

// before counts the rows before a wall-clock second.
func (l *Listing) before(wall int64) int {
	n := 0
	for _, r := range l.runs {
		n += r.find(wall) - r.lo
	}
	return n
}

// slice returns rows a to b-1 in order of time, oldest first: it finds the second of row a and merges the runs from there.
func (l *Listing) slice(a, b int, tie Tie) []RowRef {
	refs := make([]RowRef, 0, b-a)
	// The second of row a is the last one with at most a rows before it.
	wall := l.to - int64(sort.Search(int(l.to-l.from), func(n int) bool { return l.before(l.to-int64(n)) <= a }))
	skip := a - l.before(wall)
	cursors := make([]cursor, 0, len(l.runs))
	for _, r := range l.runs {
		if i := r.find(wall); i < r.hi {
			cursors = append(cursors, cursor{zoneRun: r, i: i, second: r.wall(i)})
		}
	}
	var groups []group
	for len(refs) < b-a {
		second := slices.MinFunc(cursors, func(a, b cursor) int { return cmp.Compare(a.second, b.second) }).second
		groups = groups[:0]
		n := 0
		for c := range cursors {
			if g := cursors[c].advance(second); g.n > 0 {
				groups = append(groups, g)
				n += g.n
			}
		}
		cursors = slices.DeleteFunc(cursors, func(c cursor) bool { return c.i == c.hi })
		for p := skip; p < n && len(refs) < b-a; p++ {
			refs = append(refs, nth(groups, tie(second, n, p)))
		}
		skip = 0
	}
	return refs
}

// cursor is a position in a run.
type cursor struct {
	zoneRun
	i      int
	second int64 // wall-clock second of row i
}

// group is the rows of one series in one second.
type group struct {
	series   Series
	first, n int
}

// advance moves the cursor past the rows of a second and returns them.
func (c *cursor) advance(second int64) group {
	g := group{series: c.series, first: c.i}
	for c.second == second && c.i < c.hi {
		if c.i-g.first < 8 { // enough for nearly every second; for more rows, a binary search finds the end
			c.i++
		} else {
			rest := zoneRun{series: c.series, lo: c.i, hi: c.hi, offset: c.offset}
			c.i = rest.find(second + 1)
		}
		if c.i < c.hi {
			c.second = c.wall(c.i)
		}
	}
	g.n = c.i - g.first
	return g
}

// nth returns row p of the groups, counted through all of them.
func nth(groups []group, p int) RowRef {
	for _, g := range groups {
		if p < g.n {
			return RowRef{Series: g.series, I: g.first + p}
		}
		p -= g.n
	}
	panic("listing: a Tie is not a permutation")
}
