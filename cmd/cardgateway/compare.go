package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/amount"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/files"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/report"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/tabular"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// compareFlags select what is compared.
type compareFlags struct {
	period.Period `group:"Period, in the gateway's time zone; default: what your list covers:"`
	listsFlags    `group:"Your lists; default: those that were read last:"`
	Grace         string `default:"48h" placeholder:"DURATION" help:"A row that has no counterpart is unchecked if it is this near to a limit of the period; default 48h, 0 for never."`
	Known         string `placeholder:"FILE" file:"read" help:"CSV file of accepted differences, with the columns class, id, reason and, if the value must not change, value."`
}

const compareHelp = `Your list is a CSV file (separator , ; | or TAB, UTF-8) or a query of your database. It stays in the database of --db until you
read another one. If it has a column order, several successful payments of one order are paid_twice: if your customers pay in
parts, ignore that column with --columns order=.

The default period is what your list covers. Nothing outside the copy of the gateway is compared. A row so near a limit of the
period, your list or the copy that its counterpart may be outside is unchecked: export a list that reaches further than the period
on both sides, by more than --grace. Rows in processing are timing, which is not an error.

The exit code is 0 if everything ties out, 1 if there are differences that are neither timing nor known, or rows that are
unchecked, and 2 if the comparison was not possible or nothing was compared.`

// comparison is one run of match or report.
type comparison struct {
	call    *call
	flags   *compareFlags
	books   *books.Books
	info    books.Info
	options match.Options
	notes   []string

	otherApps       books.OtherApps
	isDemonstration bool
}

// openCompared opens the database, reads the lists in the flags, and determines the period.
func (c *call) openCompared(f *compareFlags) (_ *comparison, err error) {
	set, err := c.load()
	if err != nil {
		return nil, err
	}
	b, err := c.openBooks(set, false)
	if err != nil {
		return nil, err
	}
	m, err := c.compared(f, b)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return m, nil
}

// compared is openCompared with an open database.
func (c *call) compared(f *compareFlags, b *books.Books) (*comparison, error) {
	m := &comparison{call: c, flags: f, books: b}
	if err := m.readKnown(); err != nil { // before the lists are replaced
		return nil, err
	}
	info, err := b.Info(c.ctx)
	if err != nil {
		return nil, booksError("db: ", err)
	}
	if info.Zone == nil || !info.Since.Before(info.CompleteUpTo) {
		return nil, exit.Fail(exit.Failed, "the database has no copy of the gateway yet; create one: %s",
			shell.CommandLine(append([]string{"reconcile", "sync"}, c.settings.AsFlags()...)...))
	}
	if err := f.listsFlags.read(c, b); err != nil {
		return nil, err
	}
	if m.info, err = b.Info(c.ctx); err != nil {
		return nil, booksError("db: ", err)
	}
	if m.info.PaymentList.ReadAt.IsZero() {
		return nil, exit.Fail(exit.Failed, "there is no list of your payments to compare with: set --list, or --list-dsn and --list-query")
	}
	if m.options.Grace, err = parseGrace(f.Grace); err != nil {
		return nil, err
	}
	m.options.Now = c.now()
	m.options.Copy = match.Span{From: info.Since.In(info.Zone), To: info.CompleteUpTo.In(info.Zone)}
	if m.options.Payments, err = m.list(books.PaymentList, m.info.PaymentList); err != nil {
		return nil, err
	}
	if m.options.Refunds, err = m.list(books.RefundList, m.info.RefundList); err != nil {
		return nil, err
	}
	if err := m.findPeriod(); err != nil {
		return nil, err
	}
	if m.otherApps, err = b.OtherApps(c.ctx, m.options.Period.From, m.options.Period.To); err != nil {
		return nil, booksError("db: ", err)
	}
	if m.otherApps != (books.OtherApps{}) {
		m.note("Not compared, because they are of other apps: %s. To compare them, set --any-app.", otherApps(m.otherApps))
	}
	return m, nil
}

func (m *comparison) readKnown() error {
	if m.flags.Known == "" {
		return nil
	}
	text, err := files.ReadBounded(m.flags.Known, 64<<20)
	if err == nil {
		m.options.Known, err = match.ReadKnown(strings.NewReader(text))
	}
	if err != nil {
		return exit.Fail(exit.Failed, "--known %s: %s", terminal.Clean(m.flags.Known), terminal.Clean(err.Error()))
	}
	return nil
}

// list returns whether a list was read, and the period that it covers.
func (m *comparison) list(kind string, info books.ListInfo) (match.List, error) {
	if info.ReadAt.IsZero() {
		return match.List{}, nil
	}
	first, last, err := m.books.ListSpan(m.call.ctx, kind)
	if err != nil {
		return match.List{}, booksError("db: ", err)
	}
	if first.IsZero() {
		return match.List{Read: true}, nil
	}
	return match.List{Read: true, Span: match.Span{From: first, To: last.Add(time.Second)}}, nil
}

func parseGrace(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	grace, err := period.ParseLast(text)
	if err != nil {
		return 0, exit.Fail(exit.Failed, "--grace: %q is not a duration; write 48h, 7d or 0", terminal.Clean(text))
	}
	return grace, nil
}

// findPeriod sets the period: that of the flags, or else what the list covers, limited to the copy.
func (m *comparison) findPeriod() error {
	zone := m.options.Copy.From.Location()
	asked := match.Span{}
	var err error
	if m.flags.Period.IsSet() {
		if asked.From, asked.To, err = m.flags.Period.Bounds(m.options.Now, zone); err != nil {
			return err
		}
		m.noteList(asked)
	} else {
		if asked = m.options.Payments.Span; asked.IsZero() {
			return exit.Fail(exit.Failed,
				"your list has no times, and none of its payments is in the copy (%s to %s), so its period is unknown: set it with --month or --from",
				terminal.Wall(m.options.Copy.From), terminal.Wall(m.options.Copy.To))
		}
		asked = match.Span{From: asked.From.In(zone), To: asked.To.In(zone)}
	}
	m.options.Period = asked
	if m.options.Period.From.Before(m.options.Copy.From) {
		m.options.Period.From = m.options.Copy.From
		m.note("The copy of the gateway begins at %s: nothing earlier is compared.", terminal.Wall(m.options.Copy.From))
	}
	if m.options.Period.To.After(m.options.Copy.To) {
		m.options.Period.To = m.options.Copy.To
		if asked.To.Sub(m.options.Copy.To) > time.Hour {
			m.note("The copy of the gateway is complete up to %s: nothing later is compared.", terminal.Wall(m.options.Copy.To))
		}
	}
	if !m.options.Period.From.Before(m.options.Period.To) {
		return exit.Fail(exit.Failed, "the copy of the gateway, from %s to %s, contains nothing from %s to %s; update it with cardgateway reconcile sync",
			terminal.Wall(m.options.Copy.From), terminal.Wall(m.options.Copy.To), terminal.Wall(asked.From), terminal.Wall(asked.To))
	}
	return nil
}

// noteList adds a note if the list does not cover the period in the flags.
func (m *comparison) noteList(asked match.Span) {
	list := m.options.Payments.Span
	end := period.Earlier(asked.To, m.options.Copy.To)
	switch {
	case list.IsZero():
	case !list.From.Before(asked.To) || !list.To.After(asked.From):
		m.note("Your list has no payment in the period: it covers %s to %s.", terminal.Wall(list.From), terminal.Wall(list.To))
	case end.Sub(list.To) > m.options.Grace:
		m.note("The last payment in your list was made at %s, but the period ends at %s. Is the list complete?", terminal.Wall(list.To.Add(-time.Second)),
			terminal.Wall(end))
	case list.From.Sub(asked.From) > m.options.Grace && list.From.Sub(m.options.Copy.From) > m.options.Grace:
		m.note("The first payment in your list was made at %s, but the period begins at %s. Is the list complete?", terminal.Wall(list.From),
			terminal.Wall(asked.From))
	}
}

func (m *comparison) note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// run compares, and prints a summary on stderr.
func (m *comparison) run() (*match.Summary, error) {
	for _, note := range m.notes {
		m.call.say("%s", note)
	}
	summary, err := match.Run(m.call.ctx, m.books, m.options)
	if err != nil {
		var own *exit.Failure
		if errors.As(err, &own) {
			return nil, err
		}
		return nil, booksError("comparing: ", err)
	}
	if list := m.options.Payments.Span; summary.Rows(match.Unchecked) > 0 && !list.IsZero() {
		m.note("Your list covers %s to %s, and the copy of the gateway %s to %s.", terminal.Wall(list.From.In(m.options.Copy.From.Location())),
			terminal.Wall(list.To.In(m.options.Copy.From.Location())), terminal.Wall(m.options.Copy.From), terminal.Wall(m.options.Copy.To))
		m.call.say("%s", m.notes[len(m.notes)-1])
	}
	m.call.metrics = append(m.call.metrics, comparisonMetrics(summary)...)
	if !m.call.settings.Quiet {
		if err := m.print(summary); err != nil {
			return nil, exit.CannotWrite("summary", err)
		}
	}
	return summary, nil
}

// print prints the differences by class, and the totals of both sides.
func (m *comparison) print(s *match.Summary) error {
	m.call.tell("%s to %s: %s of %s rows tie out", terminal.Wall(m.options.Period.From), terminal.Wall(m.options.Period.To), terminal.Thousands(s.TiedOut),
		terminal.Thousands(s.Compared))
	if s.Newer > 0 {
		m.call.tell("lines that are newer than the copy and were not compared: %s", terminal.Thousands(s.Newer))
	}
	if m.info.RefundList.ReadAt.IsZero() {
		m.call.tell("refunds were not compared: there is no list of them; set --refund-list or --refund-query")
	}
	if s.Elsewhere > 0 {
		m.call.tell("%s lines of other periods were not compared", terminal.Thousands(s.Elsewhere))
	}
	if n := len(s.Unused); n > 0 {
		m.call.tell("%s: entries that match no difference: %d, the first in line %d", terminal.Clean(m.flags.Known), n, s.Unused[0].Line)
	}
	if len(s.Classes) > 0 {
		t := tabular.PlainTable()
		t.AppendHeader(table.Row{"differences", "class", "of", "value", "", "oldest", "known"})
		t.SetColumnConfigs(numbersRight(1, 4, 7))
		for _, c := range s.Classes {
			row := table.Row{terminal.Thousands(c.Rows), string(c.Class), string(c.Kind) + "s", "", terminal.Clean(c.Currency), "", ""}
			if c.Currency != "" {
				row[3] = amount.Text(c.Value, c.Currency)
			}
			if !c.Oldest.IsZero() {
				row[5] = c.Oldest.In(m.options.Period.From.Location()).Format(time.DateOnly)
			}
			if c.Known > 0 {
				row[6] = terminal.Thousands(c.Known)
			}
			t.AppendRow(row)
		}
		if err := tabular.Render(t, m.call.err); err != nil {
			return err
		}
	}
	t := tabular.PlainTable()
	t.AppendHeader(table.Row{"", "", "your books", "differences", "gateway", "left over"})
	t.SetColumnConfigs(numbersRight(3, 4, 5, 6))
	for i := range s.Bridges {
		b := &s.Bridges[i]
		t.AppendRow(table.Row{string(b.Kind) + "s", terminal.Clean(b.Currency), amount.Text(b.Books, b.Currency),
			amount.Text(b.Gateway.Sub(b.Books), b.Currency), amount.Text(b.Gateway, b.Currency), amount.Text(b.LeftOver(), b.Currency)})
	}
	if len(s.Bridges) == 0 {
		return nil
	}
	return tabular.Render(t, m.call.err)
}

func numbersRight(columns ...int) (configs []table.ColumnConfig) {
	for _, n := range columns {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return configs
}

// ended returns an error whose exit code is that of the result, or nil.
func (m *comparison) ended(s *match.Summary) error {
	for i := range s.Bridges {
		if b := &s.Bridges[i]; !b.LeftOver().IsZero() {
			return exit.Fail(exit.Failed, "the comparison is inconsistent: %s in %s: %s left over", b.Kind, terminal.Clean(b.Currency), amount.Plain(b.LeftOver()))
		}
	}
	var found []string
	if n := s.Differences(); n > 0 {
		found = append(found, "differences: "+terminal.Thousands(n))
	}
	if n := s.Rows(match.Unchecked); n > 0 {
		found = append(found, "not checked: "+report.NotChecked(n, m.options.Grace))
	}
	switch {
	case len(found) > 0:
		return exit.Fail(exit.Negative, "%s", strings.Join(found, "; "))
	case s.Compared == 0 && s.Known() == 0:
		return exit.Fail(exit.Failed, "nothing was compared: neither the gateway nor your list has a payment or a refund in the period")
	}
	return nil
}
