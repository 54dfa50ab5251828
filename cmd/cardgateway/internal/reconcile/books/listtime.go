package books

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// timeLayout is a way in which a list writes times.
type timeLayout struct {
	layout string                    // of package time
	means  func(time.Time) timeRange // the first and the last time that a text can mean
}

var isoLayouts = []timeLayout{{time.DateTime, bothTimes}, {time.RFC3339, oneTime}, {time.DateOnly, wholeDay}, {"2006-01-02T15:04:05", bothTimes},
	{"2006-01-02 15:04", bothTimes}, {"2006-01-02T15:04", bothTimes}, {"2006-01-02 15:04:05Z07:00", oneTime}, {"2006-01-02 15:04:05Z07", oneTime}}

var (
	datesPattern = regexp.MustCompile(`^(YYYY|YY|MM|DD)([./-]?)(YYYY|YY|MM|DD)([./-]?)(YYYY|YY|MM|DD)(?:( |T|, )hh:mm(?::ss)?)?$`)
	dateParts    = strings.NewReplacer("YYYY", "2006", "YY", "06", "MM", "1", "DD", "2") // 1 and 2 accept a leading zero
)

// timeLayouts returns the layouts of a list: those of Dates, with and without seconds and time of day, and those of ISO 8601.
func (s *ListSource) timeLayouts() ([]timeLayout, error) {
	if s.Dates == "" {
		return isoLayouts, nil
	}
	parts := datesPattern.FindStringSubmatch(s.Dates)
	if parts == nil || parts[1][0] == parts[3][0] || parts[1][0] == parts[5][0] || parts[3][0] == parts[5][0] {
		return nil, &Refused{s.Names.Dates, fmt.Sprintf("%q is not a way to write dates; write DD.MM.YYYY, MM/DD/YYYY or \"DD.MM.YYYY hh:mm:ss\"", s.Dates)}
	}
	date, between := dateParts.Replace(strings.Join(parts[1:6], "")), parts[6]
	if between == "" {
		between = " "
	}
	own := []timeLayout{{date + between + "15:04:05", bothTimes}, {date + between + "15:04", bothTimes}, {date, wholeDay}}
	return append(own, isoLayouts...), nil
}

// readTime returns the first and the last time that a text can mean. Both are zero for no text.
func (l *lineReader) readTime(text string) (timeRange, error) {
	if text == "" {
		return timeRange{}, nil
	}
	for _, way := range l.layouts {
		if at, err := time.ParseInLocation(way.layout, text, l.Zone); err == nil && at.Year() > 0 {
			return way.means(at), nil
		}
	}
	return timeRange{}, fmt.Errorf("is not a time; write 2026-11-22 08:30:00 or 2026-11-22T08:30:00Z, say how your list writes dates with %[1]s, "+
		"such as %[1]s DD.MM.YYYY, or ignore the column with %[2]s at=", l.Names.Dates, l.Names.Columns)
}

func oneTime(at time.Time) timeRange  { return timeRange{at, at} }
func wholeDay(at time.Time) timeRange { return timeRange{at, at.AddDate(0, 0, 1).Add(-time.Second)} }

// bothTimes returns the two times with the wall clock of a time, which differ in the hour after clocks were set back.
func bothTimes(at time.Time) timeRange {
	both := timeRange{at, at}
	_, offset := at.Zone()
	start, end := at.ZoneBounds()
	if !start.IsZero() {
		_, before := start.Add(-1).Zone()
		if earlier := at.Add(time.Duration(offset-before) * time.Second); earlier.Before(start) {
			both.start = earlier
		}
	}
	if !end.IsZero() {
		_, after := end.Zone()
		if later := at.Add(time.Duration(offset-after) * time.Second); !later.Before(end) {
			both.end = later
		}
	}
	return both
}
