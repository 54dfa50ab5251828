// Package civil has wall-clock times without a zone, in whole seconds.
package civil

import (
	"math"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// Time is a wall-clock time, as the number of seconds since 1970-01-01 00:00:00 on the same clock. It equals the Unix time
// of the same date and time of day in UTC. Times of one clock can be compared and subtracted; across a clock change, the
// difference is not the elapsed time.
type Time int64

// None means that there is no time. It is before every other Time, and Parse never returns it for a valid text.
const None Time = math.MinInt64

// Seconds in a minute, an hour and a day of the clock.
const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// Of returns what a clock in loc shows at the instant t, without fractions of a second.
func Of(t time.Time, loc *time.Location) Time {
	_, offset := t.In(loc).Zone()
	return Time(t.Unix() + int64(offset))
}

// Parse reads `YYYY-MM-DD HH:MM:SS`, or `YYYY-MM-DD` as the start of that day. A T may separate the two, and a fraction of a
// second is dropped. It accepts nothing else: no hour of one digit, and no zone, which may not be that of the clock.
func Parse[T ~string | ~[]byte](s T) (Time, bool) {
	dateOnly := len(s) == len(time.DateOnly)
	if !dateOnly && (len(s) < len(time.DateTime) || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':') {
		return None, false
	}
	if len(s) > len(time.DateTime) && !isFraction(s[len(time.DateTime):]) {
		return None, false
	}
	if s[4] != '-' || s[7] != '-' {
		return None, false
	}
	century, ok1 := twoDigits(s, 0)
	year, ok2 := twoDigits(s, 2)
	month, ok3 := twoDigits(s, 5)
	dayOfMonth, ok4 := twoDigits(s, 8)
	year += century * 100
	if !ok1 || !ok2 || !ok3 || !ok4 || month < 1 || month > 12 || !isDayOf(year, month, dayOfMonth) {
		return None, false
	}
	date := Time(daysSinceEpoch(year, month, dayOfMonth) * day)
	if dateOnly {
		return date, true
	}
	h, ok1 := twoDigits(s, 11)
	m, ok2 := twoDigits(s, 14)
	sec, ok3 := twoDigits(s, 17)
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || sec > 59 {
		return None, false
	}
	return date + Time(h*hour+m*minute+sec), true
}

// isFraction reports whether s is a fraction of a second, in nanoseconds at most.
func isFraction[T ~string | ~[]byte](s T) bool {
	return s[0] == '.' && len(s) <= len(".999999999") && ascii.IsDigits(s[1:])
}

func twoDigits[T ~string | ~[]byte](s T, at int) (int, bool) {
	tens, ones := s[at]-'0', s[at+1]-'0' // bytes below '0' wrap around to large ones
	return int(tens)*10 + int(ones), tens <= 9 && ones <= 9
}

// isDayOf reports whether a month has such a day.
func isDayOf(year, month, dayOfMonth int) bool {
	if dayOfMonth <= 28 {
		return dayOfMonth >= 1
	}
	// Package time normalizes 30 February to 1 or 2 March.
	return time.Date(year, time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC).Day() == dayOfMonth
}

// daysSinceEpoch returns the number of days from 1970-01-01 in the Gregorian calendar. Package time would take as long for
// this as the rest of Parse, which is called for every row of a page. Years are counted from March, so that the leap day is
// the last day of its year, and the number of days before a month is a linear function.
func daysSinceEpoch(year, month, dayOfMonth int) int64 {
	if month < 3 {
		year, month = year-1, month+12
	}
	leapDays := year>>2 - year/100 + year/400
	return int64(365*year + leapDays + (153*month-457)/5 + dayOfMonth - 719469)
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
func CeilSecond(t time.Time) time.Time {
	if t.Nanosecond() == 0 {
		return t
	}
	return t.Add(time.Second - time.Duration(t.Nanosecond()))
}
