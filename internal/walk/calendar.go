package walk

import (
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// span is a range of the gateway's wall-clock time, including from and excluding to.
type span struct{ from, to civil.Time }

func (s span) seconds() int64         { return int64(s.to - s.from) }
func (s span) has(at civil.Time) bool { return s.from <= at && at < s.to }

// padding is the number of seconds by which a query is longer than its window on both sides. It is unknown whether the
// gateway includes the bounds of a query; with a padding of one, every second of the window is included either way. The
// queries of adjacent windows then overlap by two seconds, so that some rows are returned twice.
const padding = 1

// minWindow is the shortest window, in seconds. With shorter ones, each second around a burst of rows would be a window,
// and the burst would be in the overlap of several.
const minWindow = 4

// calendar does the arithmetic of windows on the gateway's wall clock.
type calendar struct {
	loc      *time.Location
	maxQuery int64 // seconds that a query may span; zero means one calendar month
}

// maxSetBack is more than any clock is set back at once, so changes further away make no difference.
const maxSetBack = 48 * time.Hour

// cover returns all wall-clock times that the clock shows from the instant start until the instant end.
//
// These are not always the times between those of start and end. If the clock is set back between the two, an hour is shown
// twice: the times just after the change can be earlier than the time of start, and those just before it later than the
// time of end. A query from the time of start to the time of end would not find rows with such times. The span that
// contains them all may also have rows from outside the range: within a repeated hour, a wall-clock time is ambiguous. The
// walk then yields too many rows rather than too few.
func (c calendar) cover(start, end time.Time) span {
	end = civil.CeilSecond(end)
	s := span{civil.Of(start, c.loc), civil.Of(end, c.loc)}
	for t := start.In(c.loc); ; {
		_, change := t.ZoneBounds()
		if change.IsZero() || !change.Before(end) || change.Sub(start) > maxSetBack {
			break
		}
		s.from = min(s.from, civil.Of(change, c.loc)) // the first time after the change
		t = change
	}
	for t := end.In(c.loc); ; { // the change may be at end: what it shows again was shown before end
		change, _ := t.ZoneBounds()
		if change.IsZero() || !change.After(start) || end.Sub(change) > maxSetBack {
			break
		}
		s.to = max(s.to, civil.Of(change.Add(-time.Second), c.loc)+1) // the last time before the change is in the span
		t = change.Add(-1)
	}
	return s
}

// Cover returns the bounds of all wall-clock times that a clock in loc shows from start until end; see calendar.cover.
func Cover(start, end time.Time, loc *time.Location) (from, to civil.Time) {
	s := calendar{loc: loc}.cover(start, end)
	return s.from, s.to
}

// query returns the bounds with which a query finds every row of a window, whether or not the gateway includes them.
func (c calendar) query(window span) (from, to civil.Time) {
	return c.queryFrom(window.from), c.atOrAfter(window.to + padding)
}

// maxEnd returns the latest end of a window that begins at from, such that its query spans no more than a month, or than
// the walk's options or the gateway allow.
func (c calendar) maxEnd(from civil.Time) civil.Time {
	first := c.queryFrom(from)
	last := first.NextMonth()
	if c.maxQuery > 0 {
		last = min(last, first+civil.Time(c.maxQuery))
	}
	return max(c.atOrBefore(last)-padding, c.atOrAfter(from), from+1)
}

// isTooLong reports whether a window is longer than one query may be.
func (c calendar) isTooLong(window span) bool { return window.to > c.maxEnd(window.from) }

// queryFrom returns the time with which the query of a window begins.
func (c calendar) queryFrom(from civil.Time) civil.Time { return c.atOrBefore(from - padding) }

// atOrBefore returns at, or if a clock change skips it, the last time that the clock shows before the change.
func (c calendar) atOrBefore(at civil.Time) civil.Time {
	if change, skipped := c.skippedBy(at); skipped {
		return civil.Of(change.Add(-time.Second), c.loc)
	}
	return at
}

// atOrAfter returns at, or if a clock change skips it, the first time that the clock shows after the change.
func (c calendar) atOrAfter(at civil.Time) civil.Time {
	if change, skipped := c.skippedBy(at); skipped {
		return civil.Of(change, c.loc)
	}
	return at
}

// gap returns the first stretch of a span that a clock change skips; it is empty if there is none. Windows of skipped time would all
// have the same query.
func (c calendar) gap(s span) span {
	for t := s.from.In(c.loc).Add(-maxSetBack); ; {
		_, change := t.ZoneBounds()
		if change.IsZero() {
			return span{s.to, s.to}
		}
		last, first := civil.Of(change.Add(-time.Second), c.loc), civil.Of(change, c.loc)
		if min(last+1, first) >= s.to {
			return span{s.to, s.to}
		}
		if skipped := (span{max(last+1, s.from), min(first, s.to)}); skipped.seconds() > 0 {
			return skipped
		}
		t = change
	}
}

// shownSeconds returns how many seconds of a span the clock shows.
func (c calendar) shownSeconds(s span) int64 { return s.seconds() - c.gap(s).seconds() }

// skippedBy returns the clock change that skips a wall-clock time, if any.
func (c calendar) skippedBy(at civil.Time) (change time.Time, skipped bool) {
	t := at.In(c.loc)
	if civil.Of(t, c.loc) == at {
		return time.Time{}, false
	}
	start, end := t.ZoneBounds() // package time uses one of the two offsets around the change
	for _, change := range []time.Time{start, end} {
		if !change.IsZero() && civil.Of(change.Add(-time.Second), c.loc) < at && at < civil.Of(change, c.loc) {
			return change, true
		}
	}
	return time.Time{}, false
}

// earliest returns the first instant at which the clock shows at or, if that is skipped, a later time.
func (c calendar) earliest(at civil.Time) time.Time {
	if change, skipped := c.skippedBy(at); skipped {
		return change
	}
	t := at.In(c.loc)
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return t
	}
	_, before := start.Add(-time.Second).Zone()
	if shownBefore := time.Unix(int64(at)-int64(before), 0).In(c.loc); shownBefore.Before(start) {
		return shownBefore // and repeated after the change
	}
	return t
}
