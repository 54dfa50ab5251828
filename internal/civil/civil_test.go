package civil_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// at parses a valid time.
func at(t *testing.T, text string) civil.Time {
	t.Helper()
	c, ok := civil.Parse(text)
	if !ok {
		t.Fatalf("%q is not a time", text)
	}
	return c
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "2026", "2026-02-29", "2026-02-30", "2100-02-29", "2026-04-31", "2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32",
		"2026-01-01 24:00:00", "2026-01-01 00:60:00", "2026-01-01 00:00:60", "2026-01-01t00:00:00", "2026/01/01", "2026-01/01",
		"2026-01-01 1:00:00", "2026-01-01  1:00:00", "2026-01-01 00-00:00", "2026-01-01 00:00-00", "2026-01-01 00:00:00.", "2026-01-01 00:00:00,0",
		"2026-01-01 00:00:00.0000000000", "2026-01-01 00:00:00.0Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+08:00", "2026-01-01 00:00:00 ",
		"2026-01-01 00:00:00.-1", "2026-01-01T", "2026-01-01 00:00", "+026-01-01",
		"2026-01-0:", "2026-01-0/", "２０２６-01",
	} {
		if got, ok := civil.Parse(text); ok || got != civil.None {
			t.Errorf("%q: got %v, %t, want None, false", text, got, ok)
		}
		if _, ok := civil.Parse([]byte(text)); ok {
			t.Errorf("%q as bytes: got true, want false", text)
		}
	}
}

// TestParseTolerates: a T, and a fraction of a second, which is dropped.
func TestParseTolerates(t *testing.T) {
	for _, text := range []string{
		"2026-10-05T10:00:00", "2026-10-05 10:00:00.0", "2026-10-05 10:00:00.999999999", "2026-10-05T10:00:00.123",
	} {
		if got := at(t, text).String(); got != "2026-10-05 10:00:00" {
			t.Errorf("%q: got %s", text, got)
		}
	}
}

// FuzzParse compares with package time, which is more tolerant: a text counts as valid if package time formats it the same
// way again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"2026-02-28 23:59:59", "2024-02-29", "2023-02-29", "0000-00-00 00:00:00", "9999-12-31 24:00:00", "2026-01-01T00:00:00", "2026-01-01  1:00:00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole := regexp.MustCompile(`^(.{10})T(.{8}(\.[0-9]{1,9})?)$`).ReplaceAllString(text, "$1 $2")
		whole = regexp.MustCompile(`^(.{19})\.[0-9]{1,9}$`).ReplaceAllString(whole, "$1")
		layout := time.DateTime
		if len(text) == len(time.DateOnly) {
			layout = time.DateOnly
		}
		want, err := time.Parse(layout, whole)
		valid := err == nil && want.Format(layout) == whole
		got, ok := civil.Parse(text)
		if ok != valid || ok && !got.UTC().Equal(want) {
			t.Errorf("%q: got %v (%v), package time %v (%v)", text, got, ok, want, err)
		}
		if back, again := civil.Parse([]byte(got.String())); ok && (!again || back != got) {
			t.Errorf("%q comes back as %v (%v)", text, back, again)
		}
	})
}

func TestIn(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skipf("no zone data: %v", err)
	}
	for _, tt := range []struct{ name, text, utc string }{
		{"winter", "2026-01-15 12:00:00", "2026-01-15 17:00:00"},
		{"summer", "2026-07-15 12:00:00", "2026-07-15 16:00:00"},
		{"skipped", "2026-03-08 02:30:00", "2026-03-08 06:30:00"}, // what package time makes of it
		{"repeated", "2026-11-01 01:30:00", "2026-11-01 05:30:00"},
		{"before the epoch", "1969-12-31 23:59:59", "1970-01-01 04:59:59"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := at(t, tt.text).In(newYork).UTC().Format(time.DateTime); got != tt.utc {
				t.Errorf("%s, %s: got %s UTC, want %s", tt.name, tt.text, got, tt.utc)
			}
		})
	}
	for _, tt := range []struct{ utc, want string }{
		{"2026-03-08 06:59:59", "2026-03-08 01:59:59"},
		{"2026-03-08 07:00:00", "2026-03-08 03:00:00"},
		{"1960-06-01 00:00:00", "1960-05-31 20:00:00"},
	} {
		t.Run(tt.utc, func(t *testing.T) {
			instant := at(t, tt.utc).UTC().Add(999 * time.Millisecond)
			if got := civil.Of(instant, newYork).String(); got != tt.want {
				t.Errorf("a clock in New York at %s UTC: got %s, want %s", tt.utc, got, tt.want)
			}
		})
	}
}

func TestNextMonth(t *testing.T) {
	for _, tt := range []struct{ from, want string }{
		{"2026-01-01 00:00:00", "2026-02-01 00:00:00"},
		{"2026-01-28 23:59:59", "2026-02-28 23:59:59"},
		{"2026-01-29 01:02:03", "2026-02-28 01:02:03"},
		{"2026-01-31 23:59:59", "2026-02-28 23:59:59"},
		{"2024-01-31 00:00:00", "2024-02-29 00:00:00"},
		{"2026-02-28 12:00:00", "2026-03-28 12:00:00"},
		{"2026-03-31 12:00:00", "2026-04-30 12:00:00"},
		{"2026-12-31 12:00:00", "2027-01-31 12:00:00"},
		{"1968-01-31 06:00:00", "1968-02-29 06:00:00"},
	} {
		t.Run(tt.from, func(t *testing.T) {
			if got := at(t, tt.from).NextMonth().String(); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.from, got, tt.want)
			}
		})
	}
}

func TestCeilSecond(t *testing.T) {
	second := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, tt := range []struct {
		nanosecond int
		want       time.Time
	}{{0, second}, {1, second.Add(time.Second)}, {999_999_999, second.Add(time.Second)}} {
		if got := civil.CeilSecond(second.Add(time.Duration(tt.nanosecond))); !got.Equal(tt.want) {
			t.Errorf("%d ns: got %v, want %v", tt.nanosecond, got, tt.want)
		}
	}
}
