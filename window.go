package cardgateway

import (
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

func wallTimeOf(t time.Time, loc *time.Location) WallTime { return wallTime(civil.Of(t, loc)) }

func nextMonth(w WallTime) WallTime { return wallTime(w.civil().NextMonth()) }

func (w WallTime) asUTC() time.Time { return w.civil().UTC() }

// span is a stretch of the gateway's wall clock: the seconds from from on, up to and without to. They are counted as
// in WallTime.
type span struct{ from, to int64 }

func (s span) seconds() int64           { return s.to - s.from }
func (s span) has(second int64) bool    { return s.from <= second && second < s.to }
func wallSecond(seconds int64) WallTime { return WallTime{seconds: seconds, set: true} }

// narrowest is the shortest core of a window, in seconds. A second that holds a burst of rows is then seen by one
// window, or two, rather than by a window for each second around it.
const narrowest = 4

// overhang is how far a query reaches beyond its window's core on both sides, in seconds. Whether a bound is inclusive
// is not shown: with an overhang of one, the seconds of the core are found either way, and neighbours overlap by two.
const overhang = 1

// calendar does the arithmetic of windows on the gateway's wall clock.
type calendar struct {
	loc    *time.Location
	widest int64 // longest query in seconds; zero means one calendar month
}

// cover returns the wall-clock seconds that a clock shows from start up to end. When the clock is set back between
// the two, texts before that of start, or after that of end, belong to it as well: the walk gives the superset.
func (c calendar) cover(start, end time.Time) span {
	const farthest = 48 * time.Hour // more than any clock is ever set back
	s := span{wallTimeOf(start, c.loc).seconds, wallTimeOf(civil.CeilSecond(end), c.loc).seconds}
	for t := start.In(c.loc); ; {
		_, change := t.ZoneBounds()
		if change.IsZero() || !change.Before(end) || change.Sub(start) > farthest {
			break
		}
		s.from = min(s.from, wallTimeOf(change, c.loc).seconds)
		t = change
	}
	for t := end.In(c.loc); ; {
		change, _ := t.Add(-1).ZoneBounds()
		if change.IsZero() || !change.After(start) || end.Sub(change) > farthest {
			break
		}
		s.to = max(s.to, wallTimeOf(change.Add(-time.Second), c.loc).seconds+1)
		t = change
	}
	return s
}

// query returns the bounds that find every row of a core, whether or not they are inclusive.
func (c calendar) query(core span) (from, to WallTime) {
	return wallSecond(c.back(core.from - overhang)), wallSecond(c.forward(core.to + overhang))
}

// furthest returns where a core that begins at from ends at the latest, so that its query stays within a month, or
// within what the walk's options or the gateway allow.
func (c calendar) furthest(from int64) int64 {
	first := wallSecond(c.back(from - overhang))
	limit := nextMonth(first).seconds
	if c.widest > 0 {
		limit = min(limit, first.seconds+c.widest)
	}
	return max(c.back(limit)-overhang, c.forward(from), from+1)
}

// back returns second, or if a clock change skips it, the last second that the clock shows before.
func (c calendar) back(second int64) int64 {
	if change, skipped := c.skip(second); skipped {
		return wallTimeOf(change.Add(-time.Second), c.loc).seconds
	}
	return second
}

// forward returns second, or if a clock change skips it, the first second that the clock shows after.
func (c calendar) forward(second int64) int64 {
	if change, skipped := c.skip(second); skipped {
		return wallTimeOf(change, c.loc).seconds
	}
	return second
}

// skip reports whether a clock change skips a wall-clock second, and when that change is.
func (c calendar) skip(second int64) (change time.Time, skipped bool) {
	t := wallSecond(second).In(c.loc)
	if wallTimeOf(t, c.loc).seconds == second {
		return time.Time{}, false
	}
	start, end := t.ZoneBounds() // package time takes one of the two offsets around the change
	for _, change := range []time.Time{start, end} {
		if !change.IsZero() && wallTimeOf(change.Add(-time.Second), c.loc).seconds < second && second < wallTimeOf(change, c.loc).seconds {
			return change, true
		}
	}
	return time.Time{}, false
}

// earliest returns the first instant at which the clock shows second or, where that is skipped, more.
func (c calendar) earliest(second int64) time.Time {
	if change, skipped := c.skip(second); skipped {
		return change
	}
	t := wallSecond(second).In(c.loc)
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return t
	}
	_, before := start.Add(-time.Second).Zone()
	if repeated := time.Unix(second-int64(before), 0).In(c.loc); repeated.Before(start) {
		return repeated
	}
	return t
}
