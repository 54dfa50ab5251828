// Package zone judges by the gateway's wall-clock times whether a time zone is the gateway's.
package zone

import (
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// Tolerance is how far this machine's clock and the gateway's may be apart.
const Tolerance = 2 * time.Minute

// In seconds: offsets are multiples of step, from UTC-12 to UTC+14.
const (
	step      = 15 * 60
	tolerance = int64(Tolerance / time.Second)
	farWest   = -12 * 60 * 60
	farEast   = 14 * 60 * 60
)

// Finding says what a time proves.
type Finding int

// The findings.
const (
	Unknown Finding = iota
	Right
	Wrong
)

// Judge compares a time at, which the gateway's clock has shown between from and to, with a clock in loc. A zero from means that only
// to is known. If the zone is wrong, likely is the one that agrees with the time, as an offset in seconds: of several, the one with
// the least time after from, or the westernmost if from is zero.
func Judge(at civil.Time, from, to time.Time, loc *time.Location) (f Finding, likely int) {
	// A clock that showed at between from and to has an offset between these two.
	minOffset := int64(at) - to.Unix() - tolerance
	maxOffset := int64(farEast) + tolerance
	begin := to.Add(-24 * time.Hour) // of a clock that has been set back since then
	likely64 := -floor(-minOffset)
	if !from.IsZero() {
		begin, maxOffset = from, int64(at)-from.Unix()+tolerance
		likely64 = min(floor(maxOffset), farEast)
	}
	isExact := !from.IsZero() && maxOffset-minOffset < step
	for _, t := range []time.Time{begin.Add(-Tolerance), to.Add(Tolerance)} {
		if _, offset := t.In(loc).Zone(); minOffset <= int64(offset) && int64(offset) <= maxOffset {
			if isExact {
				return Right, 0
			}
			return Unknown, 0
		}
	}
	if likely64 < max(minOffset, farWest) || likely64 > min(maxOffset, farEast) {
		return Unknown, 0 // no zone explains it
	}
	if _, offset := begin.In(loc).Zone(); !isExact && int64(offset) > maxOffset && (maxOffset-likely64 > 2*tolerance || int64(offset)-likely64 < 60*60) {
		return Unknown, 0 // before from, and in no zone at that moment or within the hour: this machine's clock may have been wrong then
	}
	return Wrong, int(likely64)
}

// floor returns the largest multiple of step that is not above seconds.
func floor(seconds int64) int64 {
	rest := seconds % step
	if rest < 0 {
		rest += step
	}
	return seconds - rest
}

// Ahead returns the bounds of a search that finds every time later than now on a clock in loc, in whatever zone the gateway is.
func Ahead(now time.Time, loc *time.Location) (from, to civil.Time) {
	return civil.Of(now, loc) + step, Latest(now) + 60*60
}

// Latest returns the latest time that a clock in any zone shows now.
func Latest(now time.Time) civil.Time { return civil.Of(now, time.UTC) + farEast }

// Name returns the name of an offset, such as UTC+05:30.
func Name(offset int) string {
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return fmt.Sprintf("UTC%c%02d:%02d", sign, offset/3600, offset/60%60)
}
