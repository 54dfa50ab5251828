package main

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

type runCommand struct {
	compareFlags
	reportFlags
	Demo bool `help:"Show a demonstration: a sandbox on this machine with a year of orders, and lists with errors. Ignores every setting."`
	syncFlags
}

// Help is shown below the flags.
func (*runCommand) Help() string {
	return `Updates the copy of the gateway, compares your list with it, and writes the report, as reconcile sync and reconcile report do.
With --demo it shows a demonstration instead, whatever is configured: a sandbox on this machine with a year of orders, and lists with
errors of nearly every class.

` + compareHelp + `

The copy must exist: create it with reconcile sync --from. The path of the page is printed on stdout. After a demonstration the exit code is 0, although there are differences.

Examples:
  cardgateway reconcile run --demo
  cardgateway reconcile run --db books.db --list paid.csv
  cardgateway reconcile run --month last --as shop --list paid.csv --out october.html`
}

// Run updates the copy, compares, and writes the report.
func (r *runCommand) Run(c *call) (err error) {
	if err := r.reportFlags.check(c); err != nil {
		return err
	}
	if r.Demo {
		return r.demonstrate(c)
	}
	set, client, err := c.configure()
	if err != nil {
		return err
	}
	sources, _, err := r.validate(c, client.Location())
	if err != nil {
		return err
	}
	if err := books.CheckLists(c.ctx, sources...); err != nil { // an update can take hours
		return booksError("", err)
	}
	b, err := c.openBooks(set, false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	unreadable := r.update(c, b, books.SyncOptions{Client: client, Now: c.now, Again: time.Duration(r.Again)})
	if failed, ok := errors.AsType[*exit.Failure](unreadable); ok && failed.Code == exit.Unreadable {
		c.tell("%s", failed.Text) // the other rows are compared
	} else if unreadable != nil {
		if ok && failed.Code == exit.Negative {
			failed.Code = exit.Failed // rows are gone: nothing was compared
		}
		return unreadable
	}
	m, err := c.importAndPrepare(&r.compareFlags, b, set.TestPayments)
	if err != nil {
		return err
	}
	if err := m.report(&r.reportFlags); err != nil || unreadable == nil {
		return err
	}
	return &exit.Failure{Code: exit.Unreadable}
}

// update updates the copy. What it contains is not the result of this command, and goes to stderr.
func (r *runCommand) update(c *call, b *books.Books, options books.SyncOptions) error {
	out := c.err
	if c.settings.Quiet {
		out = io.Discard
	}
	return r.sync(c, out, b, options, "the same command again")
}

// demonstrate reconciles with a gateway in this process. The lists are made from the copy, with errors added.
func (r *runCommand) demonstrate(c *call) (err error) {
	if r.listsFlags.isSet() || r.Known != "" {
		return exit.Fail(exit.Failed, "--demo has its own lists and its own copy: omit --list and the other flags of lists, and --known")
	}
	c.tell("this is a demonstration with a sandbox on this machine. No account, no real money")
	d, err := startDemo(c.now())
	if err != nil {
		return err
	}
	defer d.close()
	b, err := books.Open(c.ctx, filepath.Join(d.dir, "books.db"))
	if err != nil {
		return booksError("", err)
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	options := books.SyncOptions{Client: d.client, From: d.from.Truncate(time.Second), Now: c.now}
	if err := r.update(c, b, options); err != nil {
		return err
	}
	if err := plantLists(c.ctx, b, d.dir); err != nil {
		return err
	}
	r.List, r.RefundList, r.Known = filepath.Join(d.dir, "paid.csv"), filepath.Join(d.dir, "refunds.csv"), filepath.Join(d.dir, "known.csv")
	if !r.Period.IsSet() { // whole days
		midnight := func(t time.Time) string { return t.In(d.client.Location()).Format(time.DateOnly) }
		r.From, r.To = midnight(d.from.AddDate(0, 0, 1)), midnight(d.to)
	}
	r.Out = cmp.Or(r.Out, filepath.Join(d.dir, "report.html"))
	m, err := c.importAndPrepare(&r.compareFlags, b, true)
	if err != nil {
		return err
	}
	m.isDemonstration = true
	if err := m.report(&r.reportFlags); err != nil {
		if failed, ok := errors.AsType[*exit.Failure](err); !ok || failed.Code != exit.Negative {
			return err
		}
	}
	c.tell("demonstration: the report is of a sandbox; the database and the lists are in %s", d.dir)
	return nil
}
