package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/progress"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

type syncCommand struct {
	From string `placeholder:"TIME" help:"Where a new copy begins: 2026-01-01, \"2026-01-01 08:30:00\" or RFC 3339. Required for the first run."`
	syncFlags
	AcceptGone bool `help:"Delete all rows that the gateway no longer returns, however many they are."`
}

// syncFlags are the flags of an update, also of the one with which reconcile run begins.
type syncFlags struct {
	Again period.Duration `placeholder:"DURATION" help:"Read this much of the past again, such as 90d. By default every run reads 48h again, and one run a day 28d."`
	progress.Interval
}

// Help is shown below the flags.
func (*syncCommand) Help() string {
	return `Copies orders and refunds to the database of --db, a SQLite file or postgres://user@host/database. The names of its tables begin
with cardgateway_. Later runs continue where the last one ended. A run can be interrupted with Ctrl-C, or killed, at any time.

Every run reads the last 48 hours again, and one run a day the last 28 days. Rows that appear late or have changed are copied, and
changes are recorded. Rows that the gateway no longer returns are deleted and recorded; if they are more than 5 and more than 1 %,
nothing is deleted and the exit code is 1. If rows cannot be read, all others are copied, and the exit code is 6. Older payments that are not final are queried once a day, until they are 180 days old.

Examples:
  cardgateway reconcile sync --db books.db --from 2026-01-01
  cardgateway reconcile sync --db postgres://books@db.example/shop
  cardgateway reconcile sync --db books.db --again 90d`
}

// Run updates the copy.
func (s *syncCommand) Run(c *call) (err error) {
	set, client, err := c.configure()
	if err != nil {
		return err
	}
	options := books.SyncOptions{Client: client, Now: c.now, Again: time.Duration(s.Again), AcceptGone: s.AcceptGone}
	if s.From != "" {
		if options.From, err = period.ParseTime("--from", s.From, client.Location()); err != nil {
			return err
		}
	}
	b, err := c.openBooks(set, s.From != "")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	return s.sync(c, c.out, b, options, c.commandLine("reconcile", "sync"))
}

// sync updates the copy, shows the progress, and prints what the copy contains. GoOn is the command that continues an update.
func (s *syncFlags) sync(c *call, out io.Writer, b *books.Books, options books.SyncOptions, goOn string) error {
	shown := new(progress.Progress)
	options.Begin = func(what string, from time.Time) {
		shown.Stop()
		shown = progress.New(what, from.In(options.Client.Location()), c.err, s.LogEvery, c.settings.Quiet)
	}
	options.Progress = func(p cardgateway.Progress) { shown.Update(p) }
	report, err := b.Sync(c.ctx, options)
	shown.Stop()
	if err != nil {
		return syncEnded(c, report, err, goOn)
	}
	info, err := b.Info(c.ctx)
	if err != nil {
		return booksError("db: ", err)
	}
	counts, err := b.Count(c.ctx)
	if err != nil {
		return booksError("db: ", err)
	}
	if _, err := fmt.Fprintf(out, "%s orders, %s refunds, complete from %s to %s\n", terminal.Thousands(counts.Orders), terminal.Thousands(counts.Refunds),
		terminal.Wall(info.Since), terminal.Wall(info.CompleteUpTo)); err != nil {
		return exit.CannotWrite("result", err)
	}
	c.say("read %s rows: %s late, %s changed, %s gone; %s orders are not final", terminal.Thousands(report.Read), terminal.Thousands(report.Late),
		terminal.Thousands(report.Changed), terminal.Thousands(report.Gone), terminal.Thousands(counts.OpenOrders))
	if n := counts.Other; n != (books.OtherApps{}) {
		c.say("of other apps, and left out of match and report: %s", otherApps(n))
	}
	if report.WrongZone != nil {
		return exit.Fail(exit.Failed, "rows are missing: %s; set zone, and begin a new copy", report.WrongZone)
	}
	if report.Unreadable != nil {
		return exit.Fail(exit.Unreadable, "the copy is up to date, except for these rows: %s", exit.Explain(report.Unreadable).Text)
	}
	return nil
}

// otherApps says how many rows are of other apps.
func otherApps(n books.OtherApps) string {
	return fmt.Sprintf("payments %s, refunds %s", terminal.Thousands(n.Orders), terminal.Thousands(n.Refunds))
}

// syncEnded prints what is saved and how to continue, and returns the error.
func syncEnded(c *call, report books.SyncReport, err error, goOn string) error {
	if gone, ok := errors.AsType[*books.GoneError](err); ok {
		c.tell("none of these rows was deleted. If they are really gone, run: %s --again %dh --accept-gone", c.commandLine("reconcile", "sync"),
			int(c.now().Sub(gone.From).Hours())+1)
		return booksError("", err)
	}
	if refused, ok := errors.AsType[*books.Refused](err); ok {
		return booksError("", refused)
	}
	if report.Read > 0 {
		c.tell("%s rows of this run are saved. To continue, run: %s", terminal.Thousands(report.Read), goOn)
	} else {
		c.tell("earlier rows are still saved. To continue, run: %s", goOn)
	}
	if errors.Is(err, context.Canceled) {
		return exit.Fail(exit.Interrupted, "interrupted; the copy is not up to date")
	}
	return booksError("the copy is not up to date: ", err)
}
