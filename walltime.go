package cardgateway

import (
	"cmp"
	"errors"
	"time"
)

// WallTime is a date and time of day without a zone, as the gateway writes it: the interface names no zone for its
// `YYYY-MM-DD HH:MM:SS` texts. It becomes an instant only when the caller names a zone. The zero value is "not
// said". Values can be compared with ==.
type WallTime struct {
	// seconds since 1970-01-01 00:00:00 of the same wall clock, which is the Unix time of the text read as UTC
	seconds int64
	set     bool
}

var errWallTime = errors.New("cardgateway: a wall time is YYYY-MM-DD or YYYY-MM-DD HH:MM:SS")

// ParseWallTime reads `YYYY-MM-DD HH:MM:SS`, or `YYYY-MM-DD` as the start of that day. The empty text is the zero
// WallTime. The error does not quote its input.
func ParseWallTime(s string) (WallTime, error) {
	if s == "" {
		return WallTime{}, nil
	}
	w, ok := parseWallTime(s)
	if !ok {
		return WallTime{}, errWallTime
	}
	return w, nil
}

func parseWallTime[T ~string | ~[]byte](s T) (WallTime, bool) {
	dateOnly := len(s) == len("2006-01-02")
	if !dateOnly && (len(s) != len(time.DateTime) || s[10] != ' ' || s[13] != ':' || s[16] != ':') {
		return WallTime{}, false
	}
	if s[4] != '-' || s[7] != '-' {
		return WallTime{}, false
	}
	century, ok1 := twoDigits(s, 0)
	year, ok2 := twoDigits(s, 2)
	month, ok3 := twoDigits(s, 5)
	day, ok4 := twoDigits(s, 8)
	year += century * 100
	if !ok1 || !ok2 || !ok3 || !ok4 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return WallTime{}, false
	}
	var clock int
	if !dateOnly {
		h, ok1 := twoDigits(s, 11)
		m, ok2 := twoDigits(s, 14)
		sec, ok3 := twoDigits(s, 17)
		if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || sec > 59 {
			return WallTime{}, false
		}
		clock = h*3600 + m*60 + sec
	}
	return WallTime{seconds: daysSinceEpoch(year, month, day)*86400 + int64(clock), set: true}, true
}

func twoDigits[T ~string | ~[]byte](s T, at int) (int, bool) {
	return int(s[at]-'0')*10 + int(s[at+1]-'0'), isDigit(s[at]) && isDigit(s[at+1])
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSinceEpoch counts days of the proleptic Gregorian calendar from 1970-01-01. Years are counted from March, so
// that the leap day is the last of its year.
func daysSinceEpoch(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	y := int64(year)
	return 365*y + floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400) + int64((153*(month-3)+2)/5+day-1) - 719468
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// wallTimeOf reads the clock on the wall in loc at the instant t, in whole seconds.
func wallTimeOf(t time.Time, loc *time.Location) WallTime {
	_, offset := t.In(loc).Zone()
	return WallTime{seconds: t.Unix() + int64(offset), set: true}
}

// asUTC is the text read as UTC: the form in which calendar arithmetic on a wall clock has no gaps.
func (w WallTime) asUTC() time.Time { return time.Unix(w.seconds, 0).UTC() }

// In returns the instant at which a clock in loc shows w. Of a time that a clock change repeats it returns one of
// the two instants, and for a time that a clock change skips the instant that package time's Date gives.
func (w WallTime) In(loc *time.Location) time.Time {
	if !w.set {
		return time.Time{}
	}
	u := w.asUTC()
	return time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), 0, loc)
}

// IsZero reports whether no time was said.
func (w WallTime) IsZero() bool { return !w.set }

// Compare returns -1, 0 or +1 as w is before, equal to or after other on the same clock.
func (w WallTime) Compare(other WallTime) int {
	return cmp.Compare(w.seconds, other.seconds)
}

// String returns `YYYY-MM-DD HH:MM:SS`, or the empty text for the zero WallTime.
func (w WallTime) String() string {
	if !w.set {
		return ""
	}
	return w.asUTC().Format(time.DateTime)
}

// MarshalText returns what String does.
func (w WallTime) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads what ParseWallTime does.
func (w *WallTime) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWallTime(string(text))
	return err
}
