package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/internal/baseurl"
)

// compareFlags select what is compared.
type compareFlags struct {
	period.Period `group:"Period, in the gateway's time zone; default: what your list covers:"`
	listsFlags    `group:"Your lists; default: those that were read last:"`
	Grace         string `section:"" default:"48h" placeholder:"DURATION" help:"A row that has no counterpart is unchecked if it is this near to a limit of the period; default 48h, 0 for never."`
	Known         string `section:"" placeholder:"FILE" file:"read" help:"CSV file of accepted differences, with the columns class, id, reason and, if they must not change, kind and value."`
}

const compareHelp = `Your list is a CSV file (separator , ; | or TAB) or a query of your database. It stays in the database of --db until you
read another one. If it has a column order, several successful payments of one order are paid_twice. If your customers pay in parts,
name the column with the total of the order, too: --columns order_total=NAME. Payments up to that total are parts of it.

The default period is what your list covers. Nothing outside the copy of the gateway is compared. A row so near a limit of the
period, your list or the copy that its counterpart may be outside is unchecked: export a list that reaches further than the period
on both sides, by more than --grace. Rows that are not final are timing, which is not an error. The report of a whole month keeps its
totals and what is unchecked or timing. The next months say what has become of it, and what has changed since: write the reports of the
months one after the other.

A payment that the gateway marks as a test is test_payment, which is not an error either: no money moved. With --test-payments it is
compared as others are.

A transaction id that was charged again, the same amount at least 20 hours later, is a later_charge if your list does not have it: a
subscription is charged so. List later charges with the transaction id of the first. If the id is no subscription, it was charged twice.

The exit code is 0 if everything ties out, 1 if there are differences that are neither timing, test_payment nor known, if rows are
unchecked or left out, such as refunds without a list of refunds, or if most rows do not tie out, and 2 if the comparison was not
possible or nothing was compared.`

// reconciliation is one run of match or report.
type reconciliation struct {
	call    *call
	flags   *compareFlags
	books   *books.Books
	info    books.Info
	options match.Options
	notes   []string

	otherApps       books.OtherApps
	isDemonstration bool
}

// openAndImport opens the database, reads the lists in the flags into it, and determines what is compared.
func (c *call) openAndImport(f *compareFlags) (r *reconciliation, err error) {
	set, err := c.load()
	if err != nil {
		return nil, err
	}
	b, err := c.openBooks(set, false)
	if err != nil {
		return nil, err
	}
	if err = c.checkCopy(set, b); err == nil {
		r, err = c.importAndPrepare(f, b, set.TestPayments)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return r, nil
}

// checkCopy rejects a database that is not for the gateway, the app and the zone of the settings, as far as these are set.
func (c *call) checkCopy(set *settings.Settings, b *books.Books) error {
	zone := set.Location
	if set.Get("zone").Value == "" {
		zone = nil
	}
	if err := b.CheckCopy(c.ctx, baseurl.Normal(set.Get("base-url").Value), set.Get("app-id").Value, zone); err != nil {
		return booksError("", err)
	}
	return nil
}

// validate finds what is wrong with the flags, whatever the database and the lists contain. It returns where the lists are read from, and
// what the flags set of the options.
func (f *compareFlags) validate(c *call, zone *time.Location) (sources []books.ListSource, o match.Options, err error) {
	if f.Period.IsSet() {
		if _, _, err = f.Period.Bounds(c.now(), zone); err != nil {
			return nil, o, err
		}
	}
	if o.Grace, err = parseGrace(f.Grace); err != nil {
		return nil, o, err
	}
	if o.Known, err = f.readKnown(); err != nil {
		return nil, o, err
	}
	sources, err = f.sources(c)
	return sources, o, err
}

// importAndPrepare is openAndImport with an open database.
func (c *call) importAndPrepare(f *compareFlags, b *books.Books, testPayments bool) (*reconciliation, error) {
	if c.getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a comparison keeps little of what it reads: by default, it would collect garbage a third of the time
	}
	whole, err := c.copySpan(b)
	if err != nil {
		return nil, err
	}
	sources, o, err := f.validate(c, whole.From.Location())
	if err != nil {
		return nil, err
	}
	if err := c.importLists(b, sources); err != nil { // after the other inputs: it replaces the lists that were read before
		return nil, err
	}
	o.Copy, o.Now, o.TestPayments = whole, c.now(), testPayments
	return c.newReconciliation(f, b, o)
}

func (f *compareFlags) readKnown() (known match.Known, err error) {
	if f.Known == "" {
		return known, nil
	}
	text, err := files.ReadBounded(f.Known, 64<<20)
	if err == nil {
		known, err = match.ReadKnown(strings.NewReader(text))
	}
	if err != nil {
		return known, exit.Fail(exit.Failed, "--known %s: %s", f.Known, err)
	}
	return known, nil
}

// copySpan returns the range in which the copy of the gateway is complete.
func (c *call) copySpan(b *books.Books) (match.Span, error) {
	info, err := b.Info(c.ctx)
	if err != nil {
		return match.Span{}, booksError("db: ", err)
	}
	if info.Zone == nil || !info.Since.Before(info.CompleteUpTo) {
		return match.Span{}, exit.Fail(exit.Failed, "the database has no copy of the gateway yet; create one: %s", c.commandLine("reconcile", "sync"))
	}
	return match.Span{From: info.Since.In(info.Zone), To: info.CompleteUpTo.In(info.Zone)}, nil
}

// newReconciliation completes the options from the flags and the lists in the database, which it only reads.
func (c *call) newReconciliation(f *compareFlags, b *books.Books, o match.Options) (_ *reconciliation, err error) {
	r := &reconciliation{call: c, flags: f, books: b, options: o}
	if r.info, err = b.Info(c.ctx); err != nil {
		return nil, booksError("db: ", err)
	}
	if r.info.PaymentList.ReadAt.IsZero() {
		return nil, exit.Fail(exit.Failed, "there is no list of your payments to compare with: set --list, or --list-dsn and --list-query")
	}
	if r.options.Payments, err = r.list(books.Payment, r.info.PaymentList); err != nil {
		return nil, err
	}
	if r.options.Refunds, err = r.list(books.Refund, r.info.RefundList); err != nil {
		return nil, err
	}
	r.noteReadBefore()
	if err := r.findPeriod(); err != nil {
		return nil, err
	}
	if err := r.noteMonths(); err != nil {
		return nil, err
	}
	if r.otherApps, err = b.OtherApps(c.ctx, r.options.Period.From, r.options.Period.To); err != nil {
		return nil, booksError("db: ", err)
	}
	if r.otherApps != (books.OtherApps{}) {
		r.note("Not compared, because they are of other apps: %s. To compare them, set --any-app.", otherApps(r.otherApps))
	}
	return r, nil
}

// list returns whether a list was read, and the period that it covers.
func (r *reconciliation) list(kind books.Kind, info books.ListInfo) (match.List, error) {
	if info.ReadAt.IsZero() {
		return match.List{}, nil
	}
	first, last, err := r.books.ListSpan(r.call.ctx, kind)
	if err != nil {
		return match.List{}, booksError("db: ", err)
	}
	list := match.List{Read: true, SHA256: info.SHA256}
	if !first.IsZero() {
		list.Span = match.Span{From: first, To: last.Add(time.Second)}
	}
	return list, nil
}

func parseGrace(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	grace, err := period.Parse(text)
	if err != nil {
		return 0, exit.Fail(exit.Failed, "--grace: %q is not a duration; write 48h, 7d or 0", text)
	}
	return grace, nil
}

// findPeriod sets the period: that of the flags, or else what the list covers, limited to the copy.
func (r *reconciliation) findPeriod() error {
	zone := r.options.Copy.From.Location()
	asked := match.Span{}
	var err error
	if r.flags.Period.IsSet() {
		if asked.From, asked.To, err = r.flags.Period.Bounds(r.options.Now, zone); err != nil {
			return err
		}
		list := r.options.Payments.Span
		if refunds := r.options.Refunds.Span; !refunds.IsZero() && !refunds.Overlaps(asked) {
			r.note("Your list of refunds has none in the period: it covers %s to %s.", terminal.Wall(refunds.From), terminal.Wall(refunds.To))
		}
		isOther := !list.IsZero() && !list.Overlaps(asked) // the list of another month, which was read last
		if isMonth(asked) && !asked.To.After(r.options.Copy.To) && (!isOther || r.options.Refunds.Span.Overlaps(asked)) {
			r.options.Month, r.options.Payments.IsOther = asked, isOther
		}
	} else {
		if asked = r.options.Payments.Span; asked.IsZero() {
			return exit.Fail(exit.Failed,
				"your list has no times, and none of its payments is in the copy (%s to %s), so its period is unknown: set it with --month or --from",
				terminal.Wall(r.options.Copy.From), terminal.Wall(r.options.Copy.To))
		}
		asked = match.Span{From: asked.From.In(zone), To: asked.To.In(zone)}
	}
	r.options.Period = asked
	if r.options.Period.From.Before(r.options.Copy.From) {
		r.options.Period.From = r.options.Copy.From
		r.note("The copy of the gateway begins at %s: nothing earlier is compared.", terminal.Wall(r.options.Copy.From))
	}
	if r.options.Period.To.After(r.options.Copy.To) {
		r.options.Period.To = r.options.Copy.To
		switch {
		case isMonth(asked) && !asked.To.After(r.options.Now): // it would be green, and not be kept
			return exit.Fail(exit.Failed, "the month is over at %s, but the copy of the gateway is complete up to %s: update it with cardgateway reconcile sync",
				terminal.Wall(asked.To), terminal.Wall(r.options.Copy.To))
		case isMonth(asked):
			r.note("This month is not over: it is compared up to %s. Compare it again when it is, to close it.", terminal.Wall(r.options.Copy.To))
		case asked.To.Sub(r.options.Copy.To) > time.Hour:
			r.note("The copy of the gateway is complete up to %s: nothing later is compared.", terminal.Wall(r.options.Copy.To))
		}
	}
	if !r.options.Period.From.Before(r.options.Period.To) {
		remedy := "update it with cardgateway reconcile sync"
		switch {
		case !asked.To.After(r.options.Copy.From):
			remedy = "create another one that begins earlier, in another database with --db"
		case asked.From.After(r.options.Now):
			remedy = "this period has not begun"
		}
		return exit.Fail(exit.Failed, "the copy of the gateway, from %s to %s, contains nothing from %s to %s; %s",
			terminal.Wall(r.options.Copy.From), terminal.Wall(r.options.Copy.To), terminal.Wall(asked.From), terminal.Wall(asked.To), remedy)
	}
	r.noteList()
	return nil
}

// isMonth reports whether a range is a calendar month in its own zone.
func isMonth(s match.Span) bool {
	first := time.Date(s.From.Year(), s.From.Month(), 1, 0, 0, 0, 0, time.UTC)
	zone := s.From.Location()
	return s.From.Equal(period.StartOfDay(first, zone)) && s.To.Equal(period.StartOfDay(first.AddDate(0, 1, 0), zone))
}

// noteMonths adds notes if the months were not compared one after the other.
func (r *reconciliation) noteMonths() error {
	if r.options.Month.IsZero() {
		return nil
	}
	months, err := r.books.Months(r.call.ctx, books.Payment)
	if err != nil {
		return booksError("db: ", err)
	}
	from, to := r.options.Month.From, r.options.Month.To
	var before, after []books.Month
	for _, m := range months {
		switch {
		case m.From.Before(from):
			before = append(before, m)
		case !m.From.Before(to):
			after = append(after, m)
		}
	}
	const layout = "January 2006"
	if n := len(before); n > 0 && !before[n-1].To.Equal(from) {
		r.note("The last month that was compared before this one is %s: what was open at the end of the months between them is not known. "+
			"Compare them, and then this one again.",
			before[n-1].From.Format(layout))
	}
	if len(after) > 0 {
		r.note("%s was compared before this month: compare it again, so that it says what has become of what is open at the end of this one.",
			after[0].From.Format(layout))
	}
	return nil
}

// noteReadBefore adds a note if only one of the lists is in the flags, and the other is one that was read before.
func (r *reconciliation) noteReadBefore() {
	note := func(of string, list books.ListInfo) {
		if !list.ReadAt.IsZero() {
			r.note("Your list of %s is the one that was read at %s: %s.", of, terminal.Wall(list.ReadAt.In(r.options.Copy.From.Location())), terminal.Clean(list.Name))
		}
	}
	f := r.flags
	switch payments, refunds := f.List+f.ListQuery != "", f.RefundList+f.RefundQuery != ""; {
	case payments && !refunds:
		note("refunds", r.info.RefundList)
	case refunds && !payments:
		note("payments", r.info.PaymentList)
	}
}

// noteList adds a note if the list does not cover the period.
func (r *reconciliation) noteList() {
	list, period := r.options.Payments.Span, r.options.Period
	switch {
	case list.IsZero():
	case !list.Overlaps(period):
		r.note("Your list has no payment in the period: it covers %s to %s.", terminal.Wall(list.From), terminal.Wall(list.To))
	case period.To.Sub(list.To) > r.options.Grace:
		r.note("The last payment in your list was made at %s, but the period ends at %s. Is the list complete?", terminal.Wall(list.To.Add(-time.Second)),
			terminal.Wall(period.To))
	case list.From.Sub(period.From) > r.options.Grace:
		r.note("The first payment in your list was made at %s, but the period begins at %s. Is the list complete?", terminal.Wall(list.From),
			terminal.Wall(period.From))
	}
}

// note says something, which the page says, too.
func (r *reconciliation) note(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	r.notes = append(r.notes, note)
	r.call.say("%s", note)
}
