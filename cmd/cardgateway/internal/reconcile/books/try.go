package books

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Trial says how a list can be read.
type Trial struct {
	Source   ListSource // with the columns and forms that were found
	Columns  []ColumnTitle
	Unread   string  // the titles of other columns
	Unsure   []Doubt // what could be read in two ways, and has to be said
	First    []Line  // at most five, as they are read; their ids can be the gateway's
	Rows     int     // lines that can be read
	Totals   int     // lines of totals, with the titles again, or without an id and an amount
	Problems []Problem
	Words    []string // for states, that are not known; at most 50
	Zone     string   // of the times, if their title says that it is UTC and the source says none
	Encoding string   // of a CSV file that is not UTF-8
}

// Doubt is what a list does not tell.
type Doubt struct {
	Setting string // amounts, dates, list-zone or the name of a column
	Why     string
}

// Problem is why lines cannot be read.
type Problem struct {
	Column, Why string
	Lines       int
	First       int // of these lines
}

// The forms that Try tries, the likeliest first.
var (
	triedAmounts = []string{"", "1,234.50", "1.234,50", "1 234,50", "1'234.50", "1 234.50", "1.234", "1234.500", "1,234.500", "1.234,500"}
	triedDates   = []string{"", "DD.MM.YYYY", "MM/DD/YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "MM.DD.YYYY", "DD.MM.YY", "MM/DD/YY", "DD/MM/YY", "YYYYMMDD"}
)

// Try reads a list to its end to find out how it can be read: its kind unless that is set, its columns, and the forms of its amounts and
// times where the source says none. It keeps nothing.
func Try(ctx context.Context, s ListSource) (*Trial, error) {
	zone := s.Zone
	if zone == nil {
		s.Zone = time.UTC
	}
	var first error
	for _, kind := range []Kind{Payment, Refund} {
		if s.Kind != "" && s.Kind != kind {
			continue
		}
		as := s
		as.Kind = kind
		l, err := as.open(ctx, true)
		if err == nil {
			t, err := l.try(ctx, zone != nil)
			if of := s.refundIDs(ctx, kind); err == nil && of != "" {
				t.Unsure = append(t.Unsure, Doubt{"columns", fmt.Sprintf("it can be a list of payments or, with --columns refund_id=%[1]s, one of refunds: "+
					"it has %[1]q and %[2]q", of, l.titles[0].Title)})
			}
			return t, err
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

// refundIDs returns the title of the ids of refunds in a list that was read as one of payments, which those of refunds name, too.
func (s ListSource) refundIDs(ctx context.Context, as Kind) string {
	if s.Kind != "" || as != Payment {
		return ""
	}
	s.Kind = Refund
	l, err := s.open(ctx, true)
	if err != nil || l.source.close() != nil || !strings.HasSuffix(plainName(l.titles[0].Title), "id") { // others can be amounts
		return ""
	}
	return l.titles[0].Title
}

// reading counts the cells that a form can read, and adds up what it reads, times its line: two dates can be each other's.
type reading struct {
	*lineReader
	form string
	n    int
	sum  decimal.Decimal
}

func (r *reading) add(line int, value decimal.Decimal) {
	r.n, r.sum = r.n+1, r.sum.Add(value.Mul(decimal.NewFromInt(int64(line))))
}

// better returns the form that reads most cells, and another one that reads as many and as something else.
func better(all []*reading) (best, other *reading) {
	for _, r := range all {
		switch {
		case best == nil || r.n > best.n:
			best, other = r, nil
		case r.n == best.n && r.n > 0 && !r.sum.Equal(best.sum) && other == nil:
			other = r
		}
	}
	return best, other
}

func (l *openList) try(ctx context.Context, isZoneSaid bool) (*Trial, error) {
	s := l.ListSource
	readings := func(tried []string, said *string) (all []*reading) {
		if *said != "" {
			tried = []string{*said}
		}
		for _, form := range tried {
			as := *l.lineReader
			*said = form
			as.ListSource = s
			as.form, _ = as.amountForm() // those that are tried, and those that were said, are right
			as.layouts, _ = as.timeLayouts()
			all = append(all, &reading{lineReader: &as, form: form})
		}
		*said = ""
		return all
	}
	amounts, dates := readings(triedAmounts, &s.Amounts), readings(triedDates, &s.Dates)
	at := slices.IndexFunc(l.understood, func(c listColumn) bool { return c.name == "at" })
	state := slices.IndexFunc(l.understood, func(c listColumn) bool { return c.name == "state" })
	words := map[string]bool{}
	t := &Trial{Columns: l.titles, Unsure: l.unsure}
	err := l.each(func(line int, cells []string, bad *Unreadable) error {
		if bad != nil {
			return nil
		}
		currency, _ := l.readCurrency(l.cell(currencyColumn, cells))
		for _, r := range amounts {
			if amount, err := r.parseAmount(l.cell(amountColumn, cells), currency, l.source.isNumber(l.at[amountColumn])); err == nil && fits(amount, currency) {
				r.add(line, amount)
			}
		}
		for _, r := range dates {
			if when, err := r.readTime(l.timeText(at, cells)); err == nil && !when.start.IsZero() {
				r.add(line, decimal.NewFromInt(when.start.Unix()))
			}
		}
		word := l.cell(state, cells)
		if _, err := l.readState(word); err != nil && word != "" && !isSpreadsheetError(word) && len(words) < 50 && len(word) <= 40 {
			words[strings.ToLower(word)] = true
		}
		return nil
	})
	if err = errors.Join(err, l.source.close()); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Flag, err)
	}
	var unread []string
	for i, title := range l.header {
		if title != "" && !slices.Contains(l.at, i) && i != l.clock {
			unread = append(unread, title)
		}
		isOfTime := i == l.at[at] || i == l.clock
		named := zoneInTitle.FindString(title)
		switch {
		case l.at[at] < 0 || isZoneSaid:
		case isOfTime && (strings.EqualFold(named, "UTC") || strings.EqualFold(named, "GMT")):
			t.Zone = "UTC" // in which its times were read
		case isOfTime && named != "", !isOfTime && zoneNames.MatchString(plainName(title)):
			t.Unsure = append(t.Unsure, Doubt{"list-zone", fmt.Sprintf("the column %q names a zone, which the times need (--list-zone)", title)})
		}
	}
	t.Unread = quoted(unread)
	for _, found := range []struct {
		what string
		all  []*reading
		into *string
	}{{"amounts", amounts, &s.Amounts}, {"dates", dates, &s.Dates}} {
		best, other := better(found.all)
		if *found.into = best.form; other != nil {
			t.Unsure = append(t.Unsure, Doubt{found.what, fmt.Sprintf("%s can be %s or %s", found.what, cmp.Or(best.form, "1234.50"), cmp.Or(other.form, "1234.50"))})
		} else if len(found.all) > 1 && strings.HasSuffix(best.form, "500") {
			t.Unsure = append(t.Unsure, Doubt{found.what, "amounts can have three decimals, or be thousands"})
		}
	}
	s.Columns = maps.Collect(maps.All(s.Columns)) // also those that are to be ignored
	for _, c := range l.titles {
		s.Columns[c.Column] = c.Title
	}
	t.Source, t.Words = s, slices.Sorted(maps.Keys(words))
	again, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	err = again.eachRow(func(row *listedLine, bad *Unreadable) error {
		switch {
		case bad != nil:
			i := slices.IndexFunc(t.Problems, func(p Problem) bool { return p.Column == bad.Column && p.Why == bad.Why })
			if i < 0 {
				i = len(t.Problems) // there are few texts
				t.Problems = append(t.Problems, Problem{Column: bad.Column, Why: bad.Why, First: bad.Line})
			}
			t.Problems[i].Lines++
		case row == nil:
			t.Totals++
		default:
			if t.Rows++; len(t.First) < 5 {
				t.First = append(t.First, row.Line)
			}
		}
		return nil
	})
	if err = errors.Join(err, again.source.close()); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Flag, err)
	}
	t.Encoding = again.encoding()
	return t, nil
}
