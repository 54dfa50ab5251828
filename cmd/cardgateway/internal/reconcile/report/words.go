package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/shopspring/decimal"
)

// inRefunds is the part of a title that distinguishes the refunds of a class that payments have, too.
func inRefunds(c match.Class, kind books.Kind) string {
	if kind == books.Payment || strings.HasPrefix(string(c), "refund_") {
		return ""
	}
	return ", refunds"
}

func wereNotChecked(n int) string {
	if n == 1 {
		return "1 row was not checked"
	}
	return terminal.Thousands(n) + " rows were not checked"
}

// NotChecked says what n rows of class match.Unchecked mean, and what to do.
func NotChecked(n int, grace time.Duration) string {
	return plural(n, "row") + " near a limit of the period, your list or the copy, without a counterpart; export a list that begins more than " +
		terminal.Duration(grace) + " before the period and ends more than " + terminal.Duration(grace) + " after it, update the copy, and compare again"
}

// EarlierText says what has become of what was open at the end of earlier months.
func EarlierText(s *match.Summary) string {
	settled, open, differences := s.EarlierNow()
	return fmt.Sprintf("%s settled, %s still open, %s now", terminal.Thousands(settled), terminal.Thousands(open), plural(differences, "difference"))
}

// LeftOut says why a comparison without differences does not show that both sides agree: one sentence for each reason.
func LeftOut(s *match.Summary) (why []string) {
	for _, left := range []struct {
		n         int
		what, why string
	}{
		{s.RefundsLeftOut, "refund", "of the gateway not compared, because there is no list of refunds: set --refund-list or --refund-query"},
		{s.InFuture, "line", "of your list dated in the future, and not compared: correct the date"},
		{s.NotKept, "row", "not kept, because too many do not tie out; is your list complete?"},
		{s.OwnChanges, "row", "of this month changed since it was compared, which counts as it was then; write its report with --force to replace it"},
	} {
		if left.n > 0 {
			why = append(why, plural(left.n, left.what)+" "+left.why)
		}
	}
	if s.IsPart {
		why = append(why, "the start of the month was not compared, because the copy of the gateway begins later: create another one that begins earlier")
	}
	if !s.MostTieOut() {
		why = append(why, "most rows do not tie out")
	}
	return why
}

// ReadFrom says which columns of a list were read.
func ReadFrom(as books.ReadAs) string {
	var all []string
	for _, c := range as.Columns {
		all = append(all, fmt.Sprintf("%s from %q", c.Column, c.Title))
	}
	return strings.Join(all, ", ")
}

// ReadAs says how the amounts, times and states of a list were read, or returns "" if there is nothing to say.
func ReadAs(as books.ReadAs) string {
	all := named([][2]string{{"letters as ", as.Encoding}, {"amounts as ", as.Amounts}, {"times without a zone in ", as.Zone}, {"dates as ", as.Dates}})
	for _, w := range as.States {
		all = append(all, fmt.Sprintf("%s = %s (%s)", cmp.Or(w.Word, "no state"), w.State, plural(w.Lines, "line")))
	}
	if as.Totals > 0 {
		all = append(all, "left out: "+plural(as.Totals, "line")+" of totals or titles, or without an id and an amount")
	}
	return strings.Join(all, ", ")
}

// named returns the texts that are not empty, each after its name.
func named(texts [][2]string) (all []string) {
	for _, text := range texts {
		if text[1] != "" {
			all = append(all, text[0]+text[1])
		}
	}
	return all
}

func signed(d decimal.Decimal, currency string) string {
	if d.IsPositive() {
		return "+" + amount.ForPeople(d, currency)
	}
	return amount.ForPeople(d, currency)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return terminal.Thousands(n) + " " + what + "s"
}

func ageText(age time.Duration) string {
	if age < 0 {
		return "unknown"
	}
	return plural(int(age/(24*time.Hour)), "day")
}

// Range formats the period, such as "October 2026".
func (v *view) Range() string {
	from, to := v.Period.From, v.Period.To.In(v.Period.From.Location())
	beginsDay := func(t time.Time) bool { return t.Add(-1).Day() != t.Day() } // not midnight, which some days do not have
	if !beginsDay(from) || !beginsDay(to) {
		return v.Clock(from) + " to " + v.Clock(to)
	}
	from, to = dateOf(from), dateOf(to)
	switch {
	case from.Day() == 1 && from.AddDate(0, 1, 0).Equal(to):
		return from.Format("January 2006")
	case from.Day() == 1 && from.Month() == 1 && from.AddDate(1, 0, 0).Equal(to):
		return from.Format("2006")
	case from.AddDate(0, 0, 1).Equal(to):
		return from.Format("2 January 2006")
	}
	return from.Format("2 January 2006") + " to " + to.AddDate(0, 0, -1).Format("2 January 2006")
}

// Day formats a date, or returns "" for none.
func (v *view) Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(v.Period.From.Location()).Format(time.DateOnly)
}

// Month formats the month of a time.
func (v *view) Month(t time.Time) string {
	return t.In(v.Period.From.Location()).Format("January 2006")
}
