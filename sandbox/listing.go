package sandbox

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// series is a list of rows in the order of their times: the stored orders, the stored refunds, or a book.
type series interface {
	Len() int
	at(i int) time.Time
	uniqueID(i int) string
	appendRow(g *Gateway, o object, base string, i int) object
}

type orderList []*order

func (l orderList) Len() int              { return len(l) }
func (l orderList) at(i int) time.Time    { return l[i].created }
func (l orderList) uniqueID(i int) string { return l[i].uniqueID }
func (l orderList) appendRow(g *Gateway, o object, base string, i int) object {
	return g.appendResult(o, l[i], base, true)
}

type refundList []*refund

func (l refundList) Len() int              { return len(l) }
func (l refundList) at(i int) time.Time    { return l[i].requested }
func (l refundList) uniqueID(i int) string { return l[i].refundUniqueID }
func (l refundList) appendRow(g *Gateway, o object, _ string, i int) object {
	return g.appendRefund(o, l[i])
}

// some is a series of a few rows of another one.
type some struct {
	series
	rows []int
}

func (s some) Len() int              { return len(s.rows) }
func (s some) at(i int) time.Time    { return s.series.at(s.rows[i]) }
func (s some) uniqueID(i int) string { return s.series.uniqueID(s.rows[i]) }
func (s some) appendRow(g *Gateway, o object, base string, i int) object {
	return s.series.appendRow(g, o, base, s.rows[i])
}

// ref is one row.
type ref struct {
	rows series
	i    int
}

// run is a stretch of a series, rows lo to hi-1, over which the zone's distance from UTC is the same, so that its
// rows are also in the order of their wall-clock texts. Searches compare those texts, as a database would; over
// a clock change a range of texts is several runs.
type run struct {
	rows   series
	lo, hi int
	offset int64 // seconds east of UTC
}

func (r run) wall(i int) int64 { return r.rows.at(i).Unix() + r.offset }

// find returns the first row of the run at or after a wall-clock second, or hi.
func (r run) find(wall int64) int {
	return r.lo + sort.Search(r.hi-r.lo, func(n int) bool { return r.wall(r.lo+n) >= wall })
}

// listing is the rows that a search finds: the runs of all series whose wall-clock second is in [from, to].
type listing struct {
	runs     []run
	from, to int64
}

// list collects the rows that a query can see at now.
func (g *Gateway) list(all []series, from, to int64, now time.Time) listing {
	l := listing{from: from, to: to}
	for _, s := range all {
		settled, late := g.visible(s, now)
		l.add(settled, g.opts.Location)
		if late.Len() > 0 {
			l.add(run{rows: late, hi: late.Len()}, g.opts.Location)
		}
	}
	return l
}

// visible splits the rows up to now into those that everybody can see, because they are older than the longest lag,
// and the visible ones among the younger.
func (g *Gateway) visible(s series, now time.Time) (settled run, late some) {
	b := g.opts.Search
	upTo := func(t time.Time) int {
		return sort.Search(s.Len(), func(i int) bool { return s.at(i).Unix() > t.Unix() })
	}
	settled = run{rows: s, hi: upTo(now)}
	late.series = s
	if b.Lag <= 0 {
		return settled, late
	}
	end := settled.hi
	settled.hi = upTo(now.Add(-b.Lag).Add(-time.Second))
	for i := settled.hi; i < end; i++ {
		if g.lagOf(s.uniqueID(i)) <= now.Sub(s.at(i)) {
			late.rows = append(late.rows, i)
		}
	}
	return settled, late
}

// lagOf is how long a row stays hidden.
func (g *Gateway) lagOf(uniqueID string) time.Duration {
	b := g.opts.Search
	if b.Lag <= 0 {
		return 0
	}
	h := mix(g.opts.Seed, hashText(uniqueID), 6)
	if b.LagOneIn > 1 && h%uint64(b.LagOneIn) != 0 {
		return 0
	}
	return time.Duration(mix(h, 0, 0) % uint64(b.Lag+1))
}

func hashText(s string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// add cuts a run at the zone's clock changes and to the listing's range.
func (l *listing) add(r run, loc *time.Location) {
	const widest = 2 * day // further than any zone is from UTC
	for at := l.from - widest; at <= l.to+widest; {
		t := time.Unix(at, 0).In(loc)
		_, offset := t.Zone()
		_, change := t.ZoneBounds()
		end := l.to + widest + 1
		if !change.IsZero() {
			end = min(end, change.Unix())
		}
		part := run{rows: r.rows, lo: r.lo, hi: r.hi}
		part.lo = part.find(max(at, l.from-int64(offset)))
		part.hi = part.find(min(end, l.to-int64(offset)+1))
		part.offset = int64(offset)
		if part.lo < part.hi {
			l.runs = append(l.runs, part)
		}
		at = end
	}
}

func (l listing) total() int {
	n := 0
	for _, r := range l.runs {
		n += r.hi - r.lo
	}
	return n
}

// before counts the rows before a wall-clock second.
func (l listing) before(wall int64) int {
	n := 0
	for _, r := range l.runs {
		n += r.find(wall) - r.lo
	}
	return n
}

// slice returns rows a to b-1 in the order of time, the oldest first. tie reorders the rows of one second: it
// returns which of n rows stands at place p.
func (l listing) slice(a, b int, tie func(wall int64, n, p int) int) []ref {
	if a >= b {
		return nil
	}
	refs := make([]ref, 0, b-a)
	// The second that row a is in: the last one that has no more than a rows before it.
	wall := l.to - int64(sort.Search(int(l.to-l.from), func(n int) bool { return l.before(l.to-int64(n)) <= a }))
	skip := a - l.before(wall)
	cursors := make([]cursor, 0, len(l.runs))
	for _, r := range l.runs {
		if i := r.find(wall); i < r.hi {
			cursors = append(cursors, cursor{run: r, i: i, wall: r.wall(i)})
		}
	}
	var groups []group
	for len(refs) < b-a {
		second := slices.MinFunc(cursors, func(a, b cursor) int { return cmp.Compare(a.wall, b.wall) }).wall
		groups = groups[:0]
		n := 0
		for c := range cursors {
			if g := cursors[c].take(second); g.n > 0 {
				groups = append(groups, g)
				n += g.n
			}
		}
		cursors = slices.DeleteFunc(cursors, func(c cursor) bool { return c.i == c.hi })
		for p := skip; p < n && len(refs) < b-a; p++ {
			refs = append(refs, pick(groups, tie(second, n, p)))
		}
		skip = 0
	}
	return refs
}

// cursor is a place in a run, with the wall-clock second of the row there.
type cursor struct {
	run
	i    int
	wall int64
}

// group is the rows of a series that are in one second.
type group struct {
	rows     series
	first, n int
}

// take moves the cursor behind the rows of a second and returns them.
func (c *cursor) take(second int64) group {
	g := group{rows: c.rows, first: c.i}
	for c.wall == second && c.i < c.hi {
		if c.i-g.first < 8 { // nearly every second ends here
			c.i++
		} else {
			rest := run{rows: c.rows, lo: c.i, hi: c.hi, offset: c.offset}
			c.i = rest.find(second + 1)
		}
		if c.i < c.hi {
			c.wall = c.run.wall(c.i)
		}
	}
	g.n = c.i - g.first
	return g
}

// pick returns the p-th row of the groups.
func pick(groups []group, p int) ref {
	for _, g := range groups {
		if p < g.n {
			return ref{g.rows, g.first + p}
		}
		p -= g.n
	}
	return ref{} // cannot be: p is less than the sum
}

// page returns rows a to b-1 in the order that searches give them.
func (l listing) page(a, b int, oldestFirst bool, tie func(wall int64, n, p int) int) []ref {
	total := l.total()
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
