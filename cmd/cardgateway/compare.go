package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// compareFlags say what is compared with what.
type compareFlags struct {
	period.Period `group:"Period, in the zone of the gateway; what your list covers if none is given:"`
	listsFlags    `group:"Your lists; those that were read last if none is given:"`
	Grace         string `default:"48h" placeholder:"DURATION" help:"How near to the edge of what is compared a row may lack its counterpart: 48h; 0 for not at all."`
	Known         string `placeholder:"FILE" help:"CSV file of differences that may stay: class, id, reason, and value if it may not change."`
}

const compareHelp = `Your list is a CSV file (separator , ; | or TAB, UTF-8) or a query of your database. It is kept in the database with the copy of
the gateway until another one is read. With a column order, several successful payments of one order are paid_twice: leave it
out with --columns order= where customers pay in parts.

A period is compared as far as the copy of the gateway reaches. Without one, the period is what the list covers. What is near
an edge or still in processing is timing, and no error.

Ends with 0 if everything ties out, 1 if there are differences that are neither timing nor known, 2 if it could not find out.`

// comparison is one run of match or report.
type comparison struct {
	*call
	flags *compareFlags
	books *books.Books
	info  books.Info
	match.Options
	notes []string

	isDemonstration bool
}

// openCompared opens the books, reads the lists that are given, and finds the period.
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

// compared is openCompared of books that are open.
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
		return nil, exit.Fail(exit.NoAnswer, "the database has no copy of the gateway yet; make one: %s",
			terminal.CommandLine(append([]string{"reconcile", "sync"}, c.settings.AsFlags()...)...))
	}
	if err := f.listsFlags.read(c, b); err != nil {
		return nil, err
	}
	if m.info, err = b.Info(c.ctx); err != nil {
		return nil, booksError("db: ", err)
	}
	if m.info.Payments.ReadAt.IsZero() {
		return nil, exit.Fail(exit.NoAnswer, "there is no list of your payments to compare with: give --list, or --list-dsn and --list-query")
	}
	if m.Grace, err = parseGrace(f.Grace); err != nil {
		return nil, err
	}
	m.Now = c.now()
	m.Copy = match.Span{From: info.Since.In(info.Zone), To: info.CompleteUpTo.In(info.Zone)}
	if m.Payments, err = m.list(books.PaymentList, m.info.Payments); err != nil {
		return nil, err
	}
	if m.Refunds, err = m.list(books.RefundList, m.info.ListedRefunds); err != nil {
		return nil, err
	}
	return m, m.findPeriod()
}

func (m *comparison) readKnown() error {
	if m.flags.Known == "" {
		return nil
	}
	text, err := files.ReadBounded(m.flags.Known, 64<<20)
	if err == nil {
		m.Known, err = match.ReadKnown(strings.NewReader(text))
	}
	if err != nil {
		return exit.Fail(exit.NoAnswer, "--known %s: %s", terminal.Clean(m.flags.Known), terminal.Clean(err.Error()))
	}
	return nil
}

// list says what there is of a list.
func (m *comparison) list(kind string, info books.ListInfo) (match.List, error) {
	if info.ReadAt.IsZero() {
		return match.List{}, nil
	}
	first, last, err := m.books.ListSpan(m.ctx, kind)
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
		return 0, exit.Fail(exit.NoAnswer, "--grace: %q is no duration; write 48h, 7d or 0", terminal.Clean(text))
	}
	return grace, nil
}

// findPeriod finds the period: that of the flags, or what the list covers, as far as the copy reaches.
func (m *comparison) findPeriod() error {
	zone := m.Copy.From.Location()
	asked := match.Span{}
	var err error
	if m.flags.Period.IsSet() {
		if asked.From, asked.To, err = m.flags.Period.Bounds(m.Now, zone); err != nil {
			return err
		}
		m.noteList(asked)
	} else {
		if asked = m.Payments.Span; asked.IsZero() {
			if asked, err = match.Covered(m.ctx, m.books, m.Copy); err != nil {
				return booksError("db: ", err)
			}
		}
		if asked.IsZero() {
			return exit.Fail(exit.NoAnswer, "your list has no times, and names no payment of the copy (%s to %s), so its period is not known: give one with --month or --from",
				terminal.Wall(m.Copy.From), terminal.Wall(m.Copy.To))
		}
		asked = match.Span{From: asked.From.In(zone), To: asked.To.In(zone)}
	}
	m.Period = asked
	if m.Period.From.Before(m.Copy.From) {
		m.Period.From = m.Copy.From
		m.note("The copy of the gateway begins at %s: nothing before is compared.", terminal.Wall(m.Copy.From))
	}
	if m.Period.To.After(m.Copy.To) {
		m.Period.To = m.Copy.To
		if asked.To.Sub(m.Copy.To) > time.Hour {
			m.note("The copy of the gateway is complete up to %s: nothing after is compared.", terminal.Wall(m.Copy.To))
		}
	}
	if !m.Period.From.Before(m.Period.To) {
		return exit.Fail(exit.NoAnswer, "the copy of the gateway, from %s to %s, has nothing of %s to %s; bring it up to date with cardgateway reconcile sync",
			terminal.Wall(m.Copy.From), terminal.Wall(m.Copy.To), terminal.Wall(asked.From), terminal.Wall(asked.To))
	}
	return nil
}

// noteList says where a list does not reach as far as the period that was asked for.
func (m *comparison) noteList(asked match.Span) {
	list := m.Payments.Span
	end := period.Earlier(asked.To, m.Copy.To)
	switch {
	case list.IsZero():
	case !list.From.Before(asked.To) || !list.To.After(asked.From):
		m.note("Your list has no payment in the period: it goes from %s to %s.", terminal.Wall(list.From), terminal.Wall(list.To))
	case end.Sub(list.To) > m.Grace:
		m.note("The last payment of your list is of %s, and the period ends at %s. Is the list whole?", terminal.Wall(list.To.Add(-time.Second)), terminal.Wall(end))
	case list.From.Sub(asked.From) > m.Grace && list.From.Sub(m.Copy.From) > m.Grace:
		m.note("The first payment of your list is of %s, and the period begins at %s. Is the list whole?", terminal.Wall(list.From), terminal.Wall(asked.From))
	}
}

func (m *comparison) note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// run compares, and says on stderr what was found.
func (m *comparison) run() (*match.Summary, error) {
	for _, note := range m.notes {
		m.say("%s", note)
	}
	summary, err := match.Run(m.ctx, m.books, m.Options)
	if err != nil {
		var own *exit.Failure
		if errors.As(err, &own) {
			return nil, err
		}
		return nil, booksError("comparing: ", err)
	}
	m.metrics = append(m.metrics, comparisonMetrics(summary)...)
	if !m.settings.Quiet {
		if err := m.print(summary); err != nil {
			return nil, exit.CannotWrite("summary", err)
		}
	}
	return summary, nil
}

// print writes the classes and the bridges.
func (m *comparison) print(s *match.Summary) error {
	m.tell("%s to %s: %s of %s rows tie out", terminal.Wall(m.Period.From), terminal.Wall(m.Period.To), terminal.Thousands(s.TiedOut), terminal.Thousands(s.Compared))
	if s.Elsewhere > 0 {
		m.tell("%s lines of other periods were not compared", terminal.Thousands(s.Elsewhere))
	}
	if n := len(s.Unused); n > 0 {
		m.tell("%s: marks that fit no difference: %d, the first in line %d", terminal.Clean(m.flags.Known), n, s.Unused[0].Line)
	}
	if len(s.Classes) > 0 {
		t := tabular.PlainTable()
		t.AppendHeader(table.Row{"rows", "class", "value", "", "oldest", "known"})
		t.SetColumnConfigs(numbersRight(1, 3, 6))
		for _, c := range s.Classes {
			row := table.Row{terminal.Thousands(c.Rows), string(c.Class), "", terminal.Clean(c.Currency), "", ""}
			if c.Currency != "" {
				row[2] = amount.Text(c.Value, c.Currency)
			}
			if !c.Oldest.IsZero() {
				row[4] = c.Oldest.In(m.Period.From.Location()).Format(time.DateOnly)
			}
			if c.Known > 0 {
				row[5] = terminal.Thousands(c.Known)
			}
			t.AppendRow(row)
		}
		if err := tabular.Render(t, m.err); err != nil {
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
	return tabular.Render(t, m.err)
}

func numbersRight(columns ...int) (configs []table.ColumnConfig) {
	for _, n := range columns {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return configs
}

// ended says with the exit code what was found.
func (m *comparison) ended(s *match.Summary) error {
	for i := range s.Bridges {
		if b := &s.Bridges[i]; !b.LeftOver().IsZero() {
			return exit.Fail(exit.NoAnswer, "the comparison contradicts itself: %s in %s leave %s over", b.Kind, terminal.Clean(b.Currency), amount.Plain(b.LeftOver()))
		}
	}
	if n := s.Differences(); n > 0 {
		return exit.Fail(exit.No, "differences: %s", terminal.Thousands(n))
	}
	return nil
}
