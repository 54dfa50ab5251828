// Package civil has wall-clock times without a zone, in whole seconds.
package civil

import (
	"math"
	"time"
)

// Time is a wall-clock time, as the number of seconds since 1970-01-01 00:00:00 on the same clock. It equals the Unix time
// of the same date and time of day in UTC. Times of one clock can be compared and subtracted; across a clock change, the
// difference is not the elapsed time.
type Time int64

// None means that there is no time. It is before every other Time, and Parse never returns it for a valid text.
const None Time = math.MinInt64

// Of returns what a clock in loc shows at the instant t, without fractions of a second.
func Of(t time.Time, loc *time.Location) Time {
	_, offset := t.In(loc).Zone()
	return Time(t.Unix() + int64(offset))
}

// Parse reads `YYYY-MM-DD HH:MM:SS`, or `YYYY-MM-DD` as the start of that day. A T may separate the two, and a fraction of a
// second is dropped. It accepts nothing else: no hour of one digit, and no zone, which may not be that of the clock.
func Parse[T ~string | ~[]byte](s T) (Time, bool) {
	const day, second, longest = len(time.DateOnly), len(time.DateTime), len("2006-01-02 15:04:05.999999999")
	text := append(make([]byte, 0, longest+1), s[:min(len(s), longest+1)]...)
	if len(text) == day {
		text = append(text, " 00:00:00"...)
	}
	if len(text) < second || len(text) > longest || len(text) > second && text[second] != '.' {
		return None, false
	}
	if text[day] == ' ' {
		text[day] = 'T'
	}
	var t time.Time
	if err := t.UnmarshalText(append(text, 'Z')); err != nil { // RFC 3339, which package time reads faster than any layout
		return None, false
	}
	return Time(t.Unix()), true
}

// UTC returns the instant at which a clock in UTC shows t.
func (t Time) UTC() time.Time { return time.Unix(int64(t), 0).UTC() }

// In returns an instant at which a clock in loc shows t. If a clock change repeats t, it is one of the two; if it skips t,
// it is the result of time.Date.
func (t Time) In(loc *time.Location) time.Time {
	u := t.UTC()
	return time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), 0, loc)
}

// String returns `YYYY-MM-DD HH:MM:SS`.
func (t Time) String() string { return t.UTC().Format(time.DateTime) }

// NextMonth returns the same time of day one calendar month later, on the last day of that month if it has no such day: 31
// January is followed by 28 or 29 February, not by 3 March.
func (t Time) NextMonth() Time {
	u := t.UTC()
	next := u.AddDate(0, 1, 0)
	if next.Day() != u.Day() { // normalized into the following month: go back to the end of the one before
		next = next.AddDate(0, 0, -next.Day())
	}
	return Time(next.Unix())
}

// CeilSecond rounds an instant up to a whole second.
func CeilSecond(t time.Time) time.Time { return t.Add(time.Second - 1).Truncate(time.Second) }
