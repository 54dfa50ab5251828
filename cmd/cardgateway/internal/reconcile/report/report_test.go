package report

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
)

var zone = time.FixedZone("UTC+8", 8*3600)

func date(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, zone) }

// TestRows keeps the largest of every class and currency, and adds up what it leaves out.
func TestRows(t *testing.T) {
	rows := &shownRows{most: 2}
	add := func(class match.Class, currency string, values ...int64) {
		for i, v := range values {
			rows.add(&match.Difference{Class: class, Currency: currency, ID: fmt.Sprint(i), Value: decimal.NewFromInt(v)})
		}
	}
	add(match.ClassAmount, "EUR", 3, 9, 1, 7, 5, 8)
	add(match.ClassAmount, "JPY", 100)
	add(match.ClassMissingHere, "EUR", 2, 4, 6)
	var got []string
	for _, g := range rows.groups {
		shown, rest := rows.shown(g)
		line := fmt.Sprintf("%s %s:", g.class, g.currency)
		for _, d := range shown {
			line += " " + d.Value.String()
		}
		got = append(got, fmt.Sprintf("%s, %d more of %v", line, g.rows-len(shown), rest))
	}
	want := []string{"amount EUR: 9 8, 4 more of 16", "amount JPY: 100, 0 more of 0", "missing_here EUR: 6 4, 1 more of 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	rows.most = 0
	if shown, rest := rows.shown(rows.groups[0]); len(shown) != 0 || rest.IntPart() != 33 {
		t.Errorf("got %d rows and %v although none may be shown", len(shown), rest)
	}
}

// TestColumns: the value of a line that cannot be read is empty, not zero; rows without a time leave nothing between the others, and an id is
// shown whatever it is.
func TestColumns(t *testing.T) {
	var out strings.Builder
	rows := tabular.NewWriter(tabular.CSV, Columns(zone, date(11, 1)), false, &out)
	if err := errors.Join(
		rows.Write(&match.Difference{Class: match.ClassUnreadable, Kind: books.Payment, ID: "line 7"}),
		rows.Write(&match.Difference{Class: match.ClassListedTwice, Kind: books.Payment, Books: []books.Line{{ID: "<nil>"}, {ID: "x", At: date(10, 5)}}}),
		rows.Flush(),
	); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nunreadable,payment,line 7,,,,", ",2026-10-05T00:00:00+08:00,", ",<nil>; x,"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want in it %q", out.String(), want)
		}
	}
}

func TestRangeText(t *testing.T) {
	for _, test := range []struct {
		from, to time.Time
		want     string
	}{
		{date(10, 1), date(11, 1), "October 2026"},
		{date(10, 5), date(10, 6), "5 October 2026"},
		{date(1, 1), date(1, 1).AddDate(1, 0, 0), "2026"},
		{date(10, 5), date(11, 1), "5 October 2026 to 31 October 2026"},
		{date(10, 5), date(10, 6).Add(time.Hour).UTC(), "2026-10-05 00:00:00 to 2026-10-06 01:00:00"},
	} {
		v := &view{Options: &match.Options{Period: match.Span{From: test.from, To: test.to}}}
		if got := v.Range(); got != test.want {
			t.Errorf("%v to %v: got %q, want %q", test.from, test.to, got, test.want)
		}
	}
}

// TestDays adds up by the day of the zone, keeps currencies apart, and takes months where days would be too many.
func TestDays(t *testing.T) {
	period := match.Span{From: date(10, 1), To: date(10, 4)}
	days := newDaily(period)
	add := func(kind books.Kind, state, currency string, amount int64, at time.Time) {
		days.add(kind, &books.Row{State: state, Currency: currency, Amount: decimal.NewFromInt(amount), At: at})
	}
	add(books.Payment, "approved", "EUR", 5, date(10, 1))
	add(books.Payment, "approved", "EUR", 6, date(10, 2).Add(-time.Second).UTC()) // still the first
	add(books.Payment, "declined", "EUR", 7, date(10, 3))
	add(books.Payment, "processing", "EUR", 7, date(10, 3))
	add(books.Refund, "approved", "EUR", 2, date(10, 3))
	add(books.Refund, "processing", "EUR", 2, date(10, 3))
	add(books.Payment, "approved", "JPY", 800, date(10, 2))
	add(books.Payment, "approved", "", 1, date(10, 2))
	var got []string
	for _, currency := range slices.Sorted(maps.Keys(days.currencies)) {
		bars, starts, unit := days.series(currency)
		for i, b := range bars {
			got = append(got, fmt.Sprintf("%s %s %s: %d+%d, %v, back %v", currency, unit, starts[i].Format("2 Jan"), b.approved, b.declined, b.value, b.refunded))
		}
	}
	want := []string{
		"EUR day 1 Oct: 2+0, 11, back 0", "EUR day 2 Oct: 0+0, 0, back 0", "EUR day 3 Oct: 0+1, 0, back 2",
		"JPY day 1 Oct: 0+0, 0, back 0", "JPY day 2 Oct: 1+0, 800, back 0", "JPY day 3 Oct: 0+0, 0, back 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
	days.period.To = date(10, 1).AddDate(3, 0, 0)
	if bars, _, unit := days.series("EUR"); unit != "month" || len(bars) != 36 || bars[0].approved != 2 {
		t.Errorf("of three years: got %d bars of a %s, %d in the first", len(bars), unit, bars[0].approved)
	}
}

func TestChart(t *testing.T) {
	starts := []time.Time{date(10, 1), date(10, 2), date(10, 3), date(10, 4)}
	bars := newChart("Value", "value", []float64{0, 30, 0, 75}, starts, false, short)
	if n := strings.Count(bars.Path, "z"); n != 2 || bars.Lines[2].Text != "80" || bars.Lines[2].At != chartTop {
		t.Errorf("got %d bars below %s: %+v", n, bars.Lines[2].Text, bars)
	}
	line := newChart("Rate", "rate", []float64{1, math.NaN(), 0.5, 0.25}, starts, true, percentText)
	if m, l := strings.Count(line.Path, "M"), strings.Count(line.Path, "L"); m != 2 || l != 1 || line.Lines[2].Text != "100%" {
		t.Errorf("got %d begins and %d lines, want 2 and 1: %s", m, l, line.Path)
	}
	for _, values := range [][]float64{nil, {0}, {math.NaN()}} {
		if c := newChart("None", "value", values, starts[:len(values)], false, short); strings.Contains(c.Path, "NaN") || c.Lines[0].At != chartBottom {
			t.Errorf("%v: got %+v", values, c)
		}
	}
}

func TestShort(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 2.5: "2.5", 5000: "5000", 25_000: "25 k", 1_500_000: "1.5 m", 2e9: "2 bn"} {
		if got := short(value); got != want {
			t.Errorf("%v: got %q, want %q", value, got, want)
		}
	}
}

// TestVerdict: a page is green only if something was compared, nothing differs, nothing was left out, and most ties out.
func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		name string
		s    match.Summary
		want string
	}{
		{"more than half, the others are carried forward", match.Summary{Compared: 40, TiedOut: 21}, "fine"},
		{"half", match.Summary{Compared: 40, TiedOut: 20}, "differs"},
		{"some were not checked", match.Summary{Compared: 40, TiedOut: 36, Classes: []match.Count{{Class: match.ClassUnchecked, Rows: 4}}}, "differs"},
		{"refunds without a list", match.Summary{Compared: 40, TiedOut: 40, RefundsLeftOut: 1}, "differs"},
		{"a line of 2062", match.Summary{Compared: 40, TiedOut: 40, InFuture: 1}, "differs"},
		{"a copy of a part of the month", match.Summary{Compared: 40, TiedOut: 40, IsPart: true}, "differs"},
		{"too many to keep", match.Summary{Compared: 40, TiedOut: 40, NotKept: 1}, "differs"},
		{"an earlier month has changed", match.Summary{Compared: 40, TiedOut: 40, Changed: []match.Changed{{Difference: &match.Difference{}}}}, "differs"},
		{"known changes", match.Summary{Compared: 40, TiedOut: 40, Changed: slices.Repeat([]match.Changed{{Difference: &match.Difference{Known: true}}}, 2)}, "fine"},
		{"nothing", match.Summary{}, "empty"},
	} {
		v := &view{Page: &Page{Summary: &test.s}, Options: &match.Options{}}
		v.verdict()
		if v.Verdict != test.want || strings.Contains(fmt.Sprint(v.Sentences), "payment or refunds") {
			t.Errorf("%s: got %s, %q, %q, want %s", test.name, v.Verdict, v.Result, v.Sentences, test.want)
		}
	}
}
