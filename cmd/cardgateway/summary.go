package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/report"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/jedib0t/go-pretty/v6/table"
)

// run compares, and prints a summary on stderr.
func (r *reconciliation) run() (*match.Summary, error) {
	summary, err := match.Run(r.call.ctx, r.books, r.options)
	if err != nil {
		if _, ok := errors.AsType[*exit.Failure](err); ok {
			return nil, err
		}
		return nil, booksError("comparing: ", err)
	}
	if list := r.options.Payments.Span; summary.Rows(match.ClassUnchecked) > 0 && !list.IsZero() {
		r.note("Your list covers %s to %s, and the copy of the gateway %s to %s.", terminal.Wall(list.From.In(r.options.Copy.From.Location())),
			terminal.Wall(list.To.In(r.options.Copy.From.Location())), terminal.Wall(r.options.Copy.From), terminal.Wall(r.options.Copy.To))
	}
	for _, cause := range summary.Causes {
		r.note("%s", cause)
	}
	if s := summary; s.OwnChanges > 0 {
		text := ""
		for _, t := range s.ChangedTotals {
			if t.Month.Equal(r.options.Month.From) {
				text += fmt.Sprintf("; %ss %s then, %s now", t.Kind, amount.Text(t.Was, t.Currency)+" "+terminal.Clean(t.Currency), amount.Text(t.Now, t.Currency))
			}
		}
		r.note("This month was compared before, and %s payments or refunds of it have changed since%s. See cardgateway reconcile changes.",
			terminal.Thousands(s.OwnChanges), text)
	}
	if first := summary.ListUsed; !first.IsZero() {
		r.note("The same list was compared before, with the period that begins at %s. Its lines without a time may count in both.", terminal.Wall(first))
	}
	if !r.call.settings.Quiet {
		if err := r.print(summary); err != nil {
			return nil, exit.CannotWrite("summary", err)
		}
	}
	return summary, nil
}

// print prints the differences by class, and the totals of both sides.
func (r *reconciliation) print(s *match.Summary) error {
	tell := func(is bool, format string, args ...any) {
		if is {
			r.call.tell(format, args...)
		}
	}
	tell(true, "%s to %s: %s of %s rows tie out", terminal.Wall(r.options.Period.From), terminal.Wall(r.options.Period.To), terminal.Thousands(s.TiedOut),
		terminal.Thousands(s.Compared))
	tell(s.Newer > 0, "lines that are newer than the copy and were not compared: %s", terminal.Thousands(s.Newer))
	tell(r.info.RefundList.ReadAt.IsZero() && s.RefundsLeftOut == 0, "refunds were not compared: there is no list of them; set --refund-list or --refund-query")
	tell(s.Elsewhere > 0, "%s lines of other periods were not compared", terminal.Thousands(s.Elsewhere))
	tell(len(s.Changed) > 0, "changed since it was compared: %s payments or refunds of earlier months", terminal.Thousands(len(s.Changed)))
	tell(len(s.Earlier) > 0, "open from earlier months: %s", report.EarlierText(s))
	tell(s.Kept > 0, "open at the end of this month: %s", terminal.Thousands(s.Kept))
	if n := len(s.Unused); n > 0 {
		r.call.tell("%s: entries that match no difference: %d, the first in line %d", r.flags.Known, n, s.Unused[0])
	}
	if lines := r.options.Known.NoReason; len(lines) > 0 {
		r.call.tell("%s: rows without a reason, which have no effect: %d, the first in line %d", r.flags.Known, len(lines), lines[0])
	}
	if len(s.Classes) > 0 {
		t := tabular.PlainTable(1, 4, 7)
		t.AppendHeader(table.Row{"differences", "class", "of", "value", "", "oldest", "known"})
		for _, c := range s.Classes {
			row := table.Row{terminal.Thousands(c.Rows), string(c.Class), string(c.Kind) + "s", "", terminal.Clean(c.Currency), "", ""}
			if c.Currency != "" {
				row[3] = amount.Text(c.Value, c.Currency)
			}
			if !c.Oldest.IsZero() {
				row[5] = c.Oldest.In(r.options.Period.From.Location()).Format(time.DateOnly)
			}
			if c.Known > 0 {
				row[6] = terminal.Thousands(c.Known)
			}
			t.AppendRow(row)
		}
		if err := tabular.Render(t, r.call.err); err != nil {
			return err
		}
	}
	t := tabular.PlainTable(3, 4, 5, 6)
	t.AppendHeader(table.Row{"", "", "your books", "differences", "gateway", "left over"})
	for i := range s.Bridges {
		b := &s.Bridges[i]
		t.AppendRow(table.Row{string(b.Kind) + "s", terminal.Clean(b.Currency), amount.Text(b.Books, b.Currency),
			amount.Text(b.Gateway.Sub(b.Books), b.Currency), amount.Text(b.Gateway, b.Currency), amount.Text(b.LeftOver(), b.Currency)})
	}
	if len(s.Bridges) == 0 {
		return nil
	}
	return tabular.Render(t, r.call.err)
}

// ended returns an error whose exit code is that of the result, or nil.
func (r *reconciliation) ended(s *match.Summary) error {
	for i := range s.Bridges {
		if b := &s.Bridges[i]; !b.LeftOver().IsZero() {
			return exit.Fail(exit.Failed, "the comparison is inconsistent: %s in %s: %s left over", b.Kind, b.Currency, amount.Plain(b.LeftOver()))
		}
	}
	var found []string
	if n := s.Differences(); n > 0 {
		found = append(found, "differences: "+terminal.Thousands(n))
	}
	found = append(found, report.LeftOut(s)...)
	if n := s.Unchecked(); n > 0 {
		found = append(found, "not checked: "+report.NotChecked(n, r.options.Grace))
	}
	switch {
	case len(found) > 0:
		return exit.Fail(exit.Negative, "%s", strings.Join(found, "; "))
	case s.Compared == 0 && s.Known() == 0:
		return exit.Fail(exit.Failed, "nothing was compared: neither the gateway nor your list has a payment or a refund in the period")
	}
	return nil
}
