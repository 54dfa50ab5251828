package books

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// timeLayout is a way in which a list writes times.
type timeLayout struct {
	layout string                    // of package time, for a text of plainTime
	means  func(time.Time) timeRange // the first and the last time that a text can mean
}

// Dates that can mean only one day, as plainTime writes them.
var certainDates = []string{"2006-1-2", "2006/1/2", "2006.1.2", "2 Jan 2006", "2 Jan 06", "Jan 2 2006", "2006 Jan 2"}

var (
	datesPattern = regexp.MustCompile(`^(YYYY|YY|MM|DD)([./-]?)(YYYY|YY|MM|DD)([./-]?)(YYYY|YY|MM|DD)(?:(?: |T|, )hh:mm(?::ss)?(?: ?[AP]M)?)?$`)
	dateParts    = strings.NewReplacer("YYYY", "2006", "YY", "06", "MM", "1", "DD", "2") // 1 and 2 accept a leading zero
)

// timeLayouts returns the layouts of a list: dates as in Dates, and those that can mean only one day; each alone, and with a time of day
// with and without seconds, AM or PM, and an offset.
func (s *ListSource) timeLayouts() (all []timeLayout, err error) {
	dates := certainDates
	if s.Dates != "" {
		parts := datesPattern.FindStringSubmatch(s.Dates)
		if parts == nil || parts[1][0] == parts[3][0] || parts[1][0] == parts[5][0] || parts[3][0] == parts[5][0] ||
			parts[1] == "YYYY" && parts[3] == "DD" { // 2026-05-04 can mean only one day, also in the list of refunds or in a workbook
			return nil, &Refused{"--dates", fmt.Sprintf("%q is not a way to write dates; write DD.MM.YYYY, MM/DD/YYYY or \"DD.MM.YYYY hh:mm:ss\"", s.Dates)}
		}
		dates = append([]string{dateParts.Replace(strings.Join(parts[1:6], ""))}, certainDates...)
	}
	for _, clock := range []string{" 15:04:05", " 15:04", " 3:04:05 PM", " 3:04 PM"} {
		for _, date := range dates {
			all = append(all, timeLayout{date + clock, bothTimes}, timeLayout{date + clock + "Z07:00", oneTime})
		}
	}
	for _, date := range dates {
		all = append(all, timeLayout{date, wholeDay})
	}
	return all, nil
}

// readTime returns the first and the last time that a text can mean. Both are zero for no text. No two layouts accept one text.
func (l *lineReader) readTime(text string) (timeRange, error) {
	if text == "" {
		return timeRange{}, nil
	}
	if !strings.Contains(text, ":") && serialPattern.MatchString(text) { // the first condition is much faster, and nearly all times pass it
		days, _ := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64) // it is a number
		text = serialText(days)
	}
	usual := text // as plainTime writes what most lists have, but much faster
	if date := len(time.DateOnly); len(text) > date && text[date] == 'T' {
		usual = text[:date] + " " + text[date+1:]
	}
	if at, err := time.ParseInLocation(l.layouts[0].layout, usual, l.Zone); err == nil && at.Year() > 0 {
		return l.layouts[0].means(at), nil
	}
	if plain, ok := plainTime(text); ok {
		for i, way := range l.layouts {
			if at, err := time.ParseInLocation(way.layout, plain, l.Zone); err == nil && at.Year() > 0 {
				l.layouts[0], l.layouts[i] = l.layouts[i], l.layouts[0] // most likely that of the next line
				return way.means(at), nil
			}
		}
	}
	return timeRange{}, fmt.Errorf("is not a time; write 2026-11-22 08:30:00 or 2026-11-22T08:30:00Z, say how your list writes dates with --dates, "+
		"such as --dates DD.MM.YYYY, or ignore the column with %s at=", l.ColumnsFlag)
}

// serialPattern is the number of days since 1899-12-30, as spreadsheets have it, from the year 1982 on.
var serialPattern = regexp.MustCompile(`^[3-6][0-9]{4}([.,][0-9]{1,15})?$`)

var (
	timeWords = strings.NewReplacer("a.m.", "am", "p.m.", "pm")
	dayDots   = regexp.MustCompile(`([0-9]\.) +([0-9])`)
	offset    = regexp.MustCompile(`^(.*[0-9]:[0-9]{2}.*?) *([+-][0-9]{2}):?([0-9]{2})?$`)
)

// The words in times, by their first three letters, as plainTime writes them: months in English and German, the signs of dates in Chinese
// and Japanese, and what means nothing. A word that is not here makes a text unreadable.
var wordsInTimes = map[string]string{
	"jan": " Jan ", "feb": " Feb ", "mar": " Mar ", "mär": " Mar ", "mrz": " Mar ", "apr": " Apr ", "may": " May ", "mai": " May ", "jun": " Jun ",
	"jul": " Jul ", "aug": " Aug ", "sep": " Sep ", "oct": " Oct ", "okt": " Oct ", "nov": " Nov ", "dec": " Dec ", "dez": " Dec ",
	"mon": "", "tue": "", "wed": "", "thu": "", "fri": "", "sat": "", "sun": "", "st": "", "nd": "", "rd": "", "th": "", "at": "", "um": "", "uhr": "",
	"年": "-", "月": "-", "日": "", "t": " ", "am": " AM", "pm": " PM", "z": "Z", "utc": "Z", "gmt": "Z",
}

// plainTime writes a time so that its layout has one blank between its parts, months of three letters, and no blank before an offset.
// It is false for a text with a word that it does not know.
func plainTime(text string) (plain string, ok bool) {
	if len(text) > 100 {
		return "", false
	}
	text = dayDots.ReplaceAllString(timeWords.Replace(strings.ToLower(text)), "$1$2")
	var b strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if unicode.IsLetter(r) {
			if size = strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) }); size < 0 {
				size = len(rest)
			}
			letters := []rune(rest[:size])
			word, known := wordsInTimes[string(letters[:min(3, len(letters))])]
			if !known || strings.HasPrefix(rest, "marras") { // November in Finnish
				return "", false
			}
			rest = rest[size:]
			if strings.HasSuffix(word, " ") { // 2-Oct-2026, 2. Oct. 2026
				so := strings.TrimRight(b.String(), " .-/")
				b.Reset()
				b.WriteString(so)
				rest = strings.TrimLeft(rest, " .-/,")
			}
			b.WriteString(word)
			continue
		}
		rest = rest[size:]
		if r == ',' && (rest == "" || rest[0] < '0' || rest[0] > '9') || unicode.IsSpace(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	plain = strings.Join(strings.Fields(b.String()), " ")
	plain = strings.Replace(plain, " Z", "Z", 1)
	if parts := offset.FindStringSubmatch(plain); parts != nil {
		minutes := parts[3]
		if minutes == "" {
			minutes = "00"
		}
		plain = strings.TrimSuffix(strings.TrimSpace(parts[1]), "Z") + parts[2] + ":" + minutes
	}
	return plain, true
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
