package main

import (
	"strings"
	"time"
)

// period is the time range of a list.
type period struct {
	Day   string `placeholder:"DAY" help:"One day: 2026-11-21, today or yesterday."`
	Month string `placeholder:"MONTH" help:"One month: 2026-10, this or last."`
	From  string `placeholder:"TIME" help:"Begin: 2026-11-01, \"2026-11-01 08:30:00\" or RFC 3339."`
	To    string `placeholder:"TIME" help:"End, which itself is not in the range; now if not given."`
	Last  string `placeholder:"DURATION" help:"The time up to now: 36h, 90m or 7d."`
}

// isSet reports whether a range is given.
func (p *period) isSet() bool { return *p != period{} }

// bounds returns the range in whole seconds, in the zone of the gateway.
func (p *period) bounds(now time.Time, zone *time.Location) (start, end time.Time, err error) {
	now = now.In(zone).Truncate(time.Second)
	ways := 0
	for _, given := range []bool{p.Day != "", p.Month != "", p.From != "" || p.To != "", p.Last != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return start, end, fail(exitNoAnswer, "a time range is missing: --day, --month, --from and --to, or --last")
	case ways > 1:
		return start, end, fail(exitNoAnswer, "there is more than one time range: give one of --day, --month, --from with --to, --last")
	case p.Day != "":
		start, err = p.day(now)
		return start, start.AddDate(0, 0, 1), err
	case p.Month != "":
		start, err = p.month(now)
		return start, start.AddDate(0, 1, 0), err
	case p.Last != "":
		d, err := parseLast(p.Last)
		return now.Add(-d), now, err
	case p.From == "":
		return start, end, fail(exitNoAnswer, "--to needs --from")
	}
	if start, err = parseTime("--from", p.From, zone); err != nil {
		return start, end, err
	}
	end = now
	if p.To != "" {
		if end, err = parseTime("--to", p.To, zone); err != nil {
			return start, end, err
		}
	}
	if !start.Before(end) {
		return start, end, fail(exitNoAnswer, "the range is upside down: it would begin at %s and end at %s", wall(start), wall(end))
	}
	return start, end, nil
}

func (p *period) day(now time.Time) (time.Time, error) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch p.Day {
	case "today":
		return today, nil
	case "yesterday":
		return today.AddDate(0, 0, -1), nil
	}
	day, err := time.ParseInLocation(time.DateOnly, p.Day, now.Location())
	if err != nil {
		return day, fail(exitNoAnswer, "--day: %q is no day; write 2026-11-21, today or yesterday", clean(p.Day))
	}
	return day, nil
}

func (p *period) month(now time.Time) (time.Time, error) {
	this := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	switch p.Month {
	case "this":
		return this, nil
	case "last":
		return this.AddDate(0, -1, 0), nil
	}
	month, err := time.ParseInLocation("2006-01", p.Month, now.Location())
	if err != nil {
		return month, fail(exitNoAnswer, "--month: %q is no month; write 2026-10, this or last", clean(p.Month))
	}
	return month, nil
}

// parseLast reads a duration of Go, or a number of days.
func parseLast(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		d, err = time.ParseDuration(days + "h")
		d *= 24
	}
	if d = d.Truncate(time.Second); err != nil || d <= 0 {
		return 0, fail(exitNoAnswer, "%q is no time to look back; write 36h, 90m or 7d", clean(text))
	}
	return d, nil
}

// parseTime reads a time on the clock of a zone, or one that names its own.
func parseTime(flag, text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fail(exitNoAnswer, "%s: %q is no time; write 2026-11-01, \"2026-11-01 08:30:00\" or 2026-11-01T08:30:00Z", flag, clean(text))
	}
	return t.In(zone), nil
}

// wall writes a time as the gateway does.
func wall(t time.Time) string { return t.Format(time.DateTime) }
