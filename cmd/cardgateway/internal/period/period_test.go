package period

import (
	"strings"
	"testing"
	"time"
)

func TestPeriod(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 29, 22, 30, 0, 5, time.UTC) // in Berlin half past midnight of the 30th; the 29th has 23 hours
	for _, test := range []struct {
		name  string
		given Period
		want  string // start and end in Berlin, or words of the error
	}{
		{"no day", Period{Day: "2026-02-30"}, `--day: "2026-02-30" is not a day`},
		{"a month", Period{Month: "2025-12"}, "2025-12-01T00:00:00+01:00 2026-01-01T00:00:00+01:00"},
		{"this month", Period{Month: "this"}, "2026-03-01T00:00:00+01:00 2026-04-01T00:00:00+02:00"},
		{"last month", Period{Month: "last"}, "2026-02-01T00:00:00+01:00 2026-03-01T00:00:00+01:00"},
		{"no month", Period{Month: "2026-13"}, `--month: "2026-13" is not a month`},
		{"hours", Period{Last: Duration(36 * time.Hour)}, "2026-03-28T11:30:00+01:00 2026-03-30T00:30:00+02:00"},
		{"from and to", Period{From: "2026-03-01", To: "2026-03-02 08:30"}, "2026-03-01T00:00:00+01:00 2026-03-02T08:30:00+01:00"},
		{"from", Period{From: "2026-03-29T22:00:00Z"}, "2026-03-30T00:00:00+02:00 2026-03-30T00:30:00+02:00"},
		{"only to", Period{To: "2026-03-01"}, "--to requires --from"},
		{"no time", Period{From: "yesterday"}, `--from: "yesterday" is not a time`},
		{"no end", Period{From: "2026-03-01", To: "x"}, `--to: "x" is not a time`},
		{"upside down", Period{From: "2026-03-02", To: "2026-03-01"},
			"the range is empty: it begins at 2026-03-02 00:00:00 and ends at 2026-03-01 00:00:00"},
		{"in the future", Period{From: "2026-04-01"}, "the range is empty"},
		{"none", Period{}, "the time range is missing"},
		{"two", Period{Day: "today", Last: 1}, "there is more than one time range"},
	} {
		t.Run(test.name, func(t *testing.T) {
			start, end, err := test.given.Bounds(now, berlin)
			got := start.Format(time.RFC3339) + " " + end.Format(time.RFC3339)
			if err != nil {
				got = err.Error()
			}
			if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"36h": 36 * time.Hour, "2d": 48 * time.Hour, "-1h": 0, "36": 0, "1h7d": 0, "0d": 0, "0.1s": 0} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); time.Duration(d) != want || (err == nil) != (want > 0) {
			t.Errorf("%s: got %v, %v, want %v", text, time.Duration(d), err, want)
		}
	}
}

// TestDaysTile: in every zone, also where clocks are changed at midnight, the days of a year follow each other without a gap and
// without an overlap, every second is in the day of its date, and so are the months.
func TestDaysTile(t *testing.T) {
	for _, name := range []string{
		"UTC", "Europe/Berlin", "Asia/Shanghai", "America/Santiago", "America/Havana", "America/Asuncion", "America/Sao_Paulo", "Africa/Cairo",
		"Asia/Beirut", "Asia/Tehran", "Asia/Amman", "Pacific/Apia", "Australia/Lord_Howe", "Antarctica/Troll", "America/St_Johns",
	} {
		t.Run(name, func(t *testing.T) {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			var end, monthEnd time.Time
			for day := time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2028; day = day.AddDate(0, 0, 1) {
				from, to, err := (&Period{Day: day.Format(time.DateOnly)}).Bounds(day, zone)
				if err != nil || !end.IsZero() && !from.Equal(end) {
					t.Fatalf("%s: from %v to %v, %v, but the day before ends at %v", day.Format(time.DateOnly), from, to, err, end)
				}
				if end = to; !from.Before(to) {
					continue // a date that was left out, at the date line
				}
				for _, at := range []time.Time{from, from.Add(time.Hour), to.Add(-time.Second), to.Add(-time.Hour)} {
					if got := at.In(zone).Format(time.DateOnly); got != day.Format(time.DateOnly) {
						t.Fatalf("%s: from %v to %v contains %v", day.Format(time.DateOnly), from, to, at.In(zone))
					}
				}
				since, until, err := (&Period{From: day.Format(time.DateOnly), To: day.AddDate(0, 0, 1).Format(time.DateOnly)}).Bounds(day, zone)
				if err != nil || !since.Equal(from) || !until.Equal(to) {
					t.Fatalf("%s: with --from and --to from %v to %v, %v, want %v to %v", day.Format(time.DateOnly), since, until, err, from, to)
				}
				for _, now := range []time.Time{from, to.Add(-time.Second)} {
					same, sameEnd, err := (&Period{Day: "today"}).Bounds(now, zone)
					_, yesterday, err2 := (&Period{Day: "yesterday"}).Bounds(now, zone)
					if err != nil || err2 != nil || !same.Equal(from) || !sameEnd.Equal(to) || !yesterday.Equal(from) {
						t.Fatalf("at %v: today is %v to %v, and yesterday ends at %v; want %v to %v", now.In(zone), same, sameEnd, yesterday, from, to)
					}
				}
				if day.Day() != 1 {
					continue
				}
				monthFrom, monthTo, err := (&Period{Month: day.Format("2006-01")}).Bounds(day, zone)
				if err != nil || !monthFrom.Equal(from) || !monthEnd.IsZero() && !monthFrom.Equal(monthEnd) {
					t.Fatalf("%s: from %v, %v; its first day begins at %v, the month before ends at %v", day.Format("2006-01"), monthFrom, err, from, monthEnd)
				}
				monthEnd = monthTo
			}
		})
	}
}
