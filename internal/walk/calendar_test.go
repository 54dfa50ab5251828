package walk

import (
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// FuzzCalendar checks the arithmetic of wall-clock times for any range in any zone.
func FuzzCalendar(f *testing.F) {
	zones := []string{"UTC", "Asia/Singapore", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns", "Africa/Casablanca"}
	var locations []*time.Location
	for _, zone := range zones {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			f.Skipf("no zone data: %v", err)
		}
		locations = append(locations, loc)
	}
	f.Add(int64(1675206000), int64(90*86400), int64(0), uint8(2))  // 31 January
	f.Add(int64(1711846800), int64(7200), int64(3600), uint8(3))   // into summer time
	f.Add(int64(1711846720), int64(7200), int64(3601), uint8(3))   // with windows hardly longer than the skipped time
	f.Add(int64(1698537600), int64(7200), int64(600), uint8(3))    // out of it
	f.Add(int64(1325100000), int64(5*86400), int64(0), uint8(5))   // Apia had no 30 December 2011
	f.Add(int64(1680364800), int64(86400*400), int64(0), uint8(4)) // half an hour
	f.Fuzz(func(t *testing.T, start, length, longest int64, zone uint8) {
		if start < 0 || start > 1<<32 || length <= 0 || length > 500*86400 || longest < 0 || longest > 0 && longest < 60 {
			t.Skip()
		}
		loc := locations[int(zone)%len(locations)]
		c := calendar{loc: loc, maxQuery: min(longest, 90*86400)}
		from, end := time.Unix(start, 0), time.Unix(start+length, 0)
		cover := c.cover(from, end)
		for _, at := range []int64{0, 1, length / 3, length / 2, length - 1} {
			if second := civil.Of(time.Unix(start+at, 0), loc); at < length && !cover.has(second) {
				t.Fatalf("%v to %v does not cover %v", cover.from, cover.to, second)
			}
		}
		shortest := int64(24 * 3600) // a month, or the given limit
		if c.maxQuery > 0 {
			shortest = min(shortest, c.maxQuery/2)
		}
		for next, n := cover.from, 0; next < cover.to && n < 60; n++ {
			window := span{next, min(c.maxEnd(next), cover.to)}
			checkQuery(t, c, window)
			if window.to < cover.to && window.seconds() < shortest-3600 {
				t.Fatalf("a month of %d seconds", window.seconds())
			}
			if last := civil.Of(c.earliest(window.to).Add(-time.Second), loc); last >= window.to {
				t.Fatalf("rows before %v are complete up to after %v", window.to, last)
			}
			next = window.to
		}
	})
}

func checkQuery(t *testing.T, c calendar, window span) {
	t.Helper()
	from, to := c.query(window)
	for _, bound := range []civil.Time{from, to} {
		if civil.Of(bound.In(c.loc), c.loc) != bound {
			t.Fatalf("%v is skipped in %v", bound, c.loc)
		}
	}
	if from > window.from-padding || to < window.to+padding {
		t.Fatalf("%v to %v is too narrow for %v to %v", from, to, window.from, window.to)
	}
	if window.to-c.atOrAfter(window.from) <= 1 { // the minimum, without skipped time, whatever the limit
		return
	}
	if to > from.NextMonth() {
		t.Fatalf("%v to %v is more than a month", from, to)
	}
	if c.maxQuery > 0 && int64(to-from) > c.maxQuery {
		t.Fatalf("%v to %v is more than %d seconds", from, to, c.maxQuery)
	}
}

func TestCalendar(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("no zone data: %v", err)
	}
	c := calendar{loc: berlin}
	at := func(text string) civil.Time {
		c, ok := civil.Parse(text)
		if !ok {
			t.Fatalf("%q is not a time", text)
		}
		return c
	}
	for _, tt := range []struct{ name, from, to, wantFrom, wantTo string }{
		{"padding", "2023-05-05 10:00:00", "2023-05-05 11:00:00", "2023-05-05 09:59:59", "2023-05-05 11:00:01"},
		{"begins after the skipped hour", "2023-03-26 03:00:00", "2023-03-26 04:00:00", "2023-03-26 01:59:59", "2023-03-26 04:00:01"},
		{"cut inside the skipped hour", "2023-03-26 02:30:00", "2023-03-26 02:40:00", "2023-03-26 01:59:59", "2023-03-26 03:00:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, to := c.query(span{at(tt.from), at(tt.to)})
			if from.String() != tt.wantFrom || to.String() != tt.wantTo {
				t.Errorf("%s: got %v to %v, want %s to %s", tt.name, from, to, tt.wantFrom, tt.wantTo)
			}
		})
	}
	for _, tt := range []struct{ name, from, want string }{
		{"31 January", "2023-01-31 00:00:01", "2023-02-27 23:59:59"},
		{"leap year", "2024-01-30 12:00:00", "2024-02-29 11:59:58"},
		{"into the skipped hour", "2023-02-26 02:30:01", "2023-03-26 01:59:58"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.maxEnd(at(tt.from)).String(); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
			}
		})
	}
	// 29 October 2023, 01:30 UTC is the second 02:30 of that night; 02:45 was shown before it, and 02:10 comes after.
	second := time.Date(2023, 10, 29, 1, 30, 0, 0, time.UTC)
	if got := c.cover(second.Add(-time.Hour), second).from.String(); got != "2023-10-29 02:00:00" {
		t.Errorf("range from the first 02:30 begins at %s, want 02:00:00", got)
	}
	change := time.Date(2023, 10, 29, 1, 0, 0, 0, time.UTC)
	for name, end := range map[string]time.Time{
		"the second 02:30": second, "the change": change, "a moment before the change": change.Add(-1), "a second after it": change.Add(time.Second),
	} {
		if got := c.cover(change.Add(-time.Hour), end).to.String(); got != "2023-10-29 03:00:00" {
			t.Errorf("range up to %s ends at %s, want 03:00:00", name, got)
		}
	}
	if got := c.earliest(at("2023-10-29 02:30:00")); !got.Equal(second.Add(-time.Hour)) {
		t.Errorf("02:30 is complete up to %v, want the first of the two", got)
	}
}
