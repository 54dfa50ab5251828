// Package period parses times and time ranges.
package period

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// Period is the time range of a list.
type Period struct {
	Day   string   `placeholder:"DAY" help:"A day: 2026-11-21, today or yesterday."`
	Month string   `placeholder:"MONTH" help:"A month: 2026-10, this or last."`
	From  string   `placeholder:"TIME" help:"Start: 2026-11-01, \"2026-11-01 08:30:00\" or RFC 3339."`
	To    string   `placeholder:"TIME" help:"End, exclusive; default now."`
	Last  Duration `placeholder:"DURATION" help:"The period up to now: 36h, 90m or 7d."`
}

// IsSet reports whether a range is set.
func (p *Period) IsSet() bool { return *p != Period{} }

// Bounds returns the range in whole seconds, in the given time zone.
func (p *Period) Bounds(now time.Time, zone *time.Location) (start, end time.Time, err error) {
	now = now.In(zone).Truncate(time.Second)
	ways := 0
	for _, given := range []bool{p.Day != "", p.Month != "", p.From != "" || p.To != "", p.Last != 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return start, end, exit.Fail(exit.Failed, "the time range is missing: set --day, --month, --from and --to, or --last")
	case ways > 1:
		return start, end, exit.Fail(exit.Failed, "there is more than one time range: set only one of --day, --month, --from with --to, --last")
	case p.Day != "":
		date, err := p.day(now)
		return StartOfDay(date, zone), StartOfDay(date.AddDate(0, 0, 1), zone), err
	case p.Month != "":
		date, err := p.month(now)
		return StartOfDay(date, zone), StartOfDay(date.AddDate(0, 1, 0), zone), err
	case p.Last != 0:
		return now.Add(-time.Duration(p.Last)), now, nil
	case p.From == "":
		return start, end, exit.Fail(exit.Failed, "--to requires --from")
	}
	if start, err = ParseTime("--from", p.From, zone); err != nil {
		return start, end, err
	}
	end = now
	if p.To != "" {
		if end, err = ParseTime("--to", p.To, zone); err != nil {
			return start, end, err
		}
	}
	if !start.Before(end) {
		return start, end, exit.Fail(exit.Failed, "the range is empty: it begins at %s and ends at %s", terminal.Wall(start), terminal.Wall(end))
	}
	return start, end, nil
}

// StartOfDay returns the first instant of a date in a zone. The date is midnight in UTC. The day begins at another time where clocks
// are changed at midnight, so that midnight does not exist there.
func StartOfDay(date time.Time, zone *time.Location) time.Time {
	at := date.Add(-36 * time.Hour).In(zone) // before the date, in every zone
	for {
		_, offset := at.Zone()
		_, end := at.ZoneBounds() // the offset does not change from at to end
		midnight := date.Add(-time.Duration(offset) * time.Second).In(zone)
		switch {
		case midnight.Before(at):
			return at
		case end.IsZero(), midnight.Before(end):
			return midnight
		}
		at = end
	}
}

// day returns the date of --day, as midnight in UTC.
func (p *Period) day(now time.Time) (time.Time, error) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch p.Day {
	case "today":
		return today, nil
	case "yesterday":
		return today.AddDate(0, 0, -1), nil
	}
	day, err := time.Parse(time.DateOnly, p.Day)
	if err != nil {
		return day, exit.Fail(exit.Failed, "--day: %q is not a day; write 2026-11-21, today or yesterday", p.Day)
	}
	return day, nil
}

// month returns the first date of --month, as midnight in UTC.
func (p *Period) month(now time.Time) (time.Time, error) {
	this := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	switch p.Month {
	case "this":
		return this, nil
	case "last":
		return this.AddDate(0, -1, 0), nil
	}
	month, err := time.Parse("2006-01", p.Month)
	if err != nil {
		return month, exit.Fail(exit.Failed, "--month: %q is not a month; write 2026-10, this or last", p.Month)
	}
	return month, nil
}

// Duration is the value of a flag: see Parse. Zero means that the flag is not set.
type Duration time.Duration

// UnmarshalText parses the value.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return fmt.Errorf("%q is %w; write 36h, 90m or 7d", text, err)
	}
	*d = Duration(parsed)
	return nil
}

// Parse parses a Go duration, or a number of days such as 7d. It is above zero.
func Parse(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok && strings.Trim(days, "0123456789.") == "" {
		d, err = time.ParseDuration(days + "h")
		d *= 24
	}
	if d = d.Truncate(time.Second); err != nil || d <= 0 {
		return 0, errors.New("not a duration above zero")
	}
	return d, nil
}

// ParseTime parses a time in a time zone, or one with its own offset.
func ParseTime(flag, text string, zone *time.Location) (time.Time, error) {
	if date, err := time.Parse(time.DateOnly, text); err == nil {
		return StartOfDay(date, zone), nil
	}
	for _, layout := range []string{time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, exit.Fail(exit.Failed, "%s: %q is not a time; write 2026-11-01, \"2026-11-01 08:30:00\" or 2026-11-01T08:30:00Z", flag, text)
	}
	return t.In(zone), nil
}
