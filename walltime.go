package cardgateway

import (
	"cmp"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// WallTime is a date and time of day without a zone, as the gateway writes it: the interface names no zone for its
// `YYYY-MM-DD HH:MM:SS` texts. Use In to convert it to an instant in a zone. The zero value means "not given".
// Values can be compared with ==.
type WallTime struct {
	time civil.Time
	set  bool
}

var errWallTime = errors.New("cardgateway: a wall time is YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, without a zone")

// ParseWallTime reads `YYYY-MM-DD HH:MM:SS`, also with a T between the two, or `YYYY-MM-DD` as the start of that day. A
// fraction of a second is dropped. The empty text is the zero WallTime. The error does not quote its input.
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
	t, ok := civil.Parse(s)
	if !ok {
		return WallTime{}, false
	}
	return wallTime(t), true
}

func wallTime(t civil.Time) WallTime { return WallTime{time: t, set: true} }

// civil returns the time, or civil.None for the zero WallTime.
func (w WallTime) civil() civil.Time {
	if !w.set {
		return civil.None
	}
	return w.time
}

// In returns the instant at which a clock in loc shows w. For a time that a clock change repeats it returns one of
// the two instants, and for a time that a clock change skips, the same as time.Date.
func (w WallTime) In(loc *time.Location) time.Time {
	if !w.set {
		return time.Time{}
	}
	return w.time.In(loc)
}

// IsZero reports whether no time was given.
func (w WallTime) IsZero() bool { return !w.set }

// Compare returns -1, 0 or +1 as w is before, equal to or after other on the same clock.
func (w WallTime) Compare(other WallTime) int { return cmp.Compare(w.time, other.time) }

// String returns `YYYY-MM-DD HH:MM:SS`, or the empty text for the zero WallTime.
func (w WallTime) String() string {
	if !w.set {
		return ""
	}
	return w.time.String()
}

// MarshalText returns what String does.
func (w WallTime) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads what ParseWallTime does.
func (w *WallTime) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWallTime(string(text))
	return err
}
