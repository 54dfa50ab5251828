package notify

import (
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// TestSearchRangeIsWithinAMonth tries every hour of some years in a zone with daylight saving time: a search refuses more
// than a month, and the range must contain the gateway's current time in any zone.
func TestSearchRangeIsWithinAMonth(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for now := time.Date(2023, 1, 1, 0, 30, 0, 0, time.UTC); now.Year() < 2025; now = now.Add(time.Hour) {
		start, end := searchRange(now, loc)
		first, last, utc := civil.Of(start, loc), civil.Of(end, loc), civil.Of(now, time.UTC)
		if last > first.NextMonth() {
			t.Fatalf("at %v: got %v to %v, want at most a month", now, first, last)
		}
		if hours := int64(last-utc) / 3600; hours < 14 {
			t.Fatalf("at %v: got %d hours after now, want at least the 14 of UTC+14", now, hours)
		}
	}
}
