package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/progress"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
)

type syncCommand struct {
	From       string        `placeholder:"TIME" help:"Where a new copy begins: 2026-01-01, \"2026-01-01 08:30:00\" or RFC 3339. Required for the first run."`
	Again      string        `placeholder:"DURATION" help:"Read this much of the past again, such as 90d. By default every run reads 48h again, and one run a day 28d."`
	AcceptGone bool          `help:"Delete all rows that the gateway no longer returns, however many they are."`
	LogEvery   time.Duration `default:"10s" help:"Without a terminal: interval of the progress lines on stderr."`

	isPartOfRun bool // of reconcile run, which updates the copy first
}

// Help is shown below the flags.
func (*syncCommand) Help() string {
	return `Copies orders and refunds to the database of --db, a SQLite file or postgres://user@host/database. The names of its tables begin
with cardgateway_. Later runs continue where the last one ended. A run can be interrupted with Ctrl-C, or killed, at any time.

Every run reads the last 48 hours again, and one run a day the last 28 days. Rows that appear late or have changed are copied, and
changes are recorded. Rows that the gateway no longer returns are deleted and recorded; if they are more than 5 and more than 1 %,
nothing is deleted and the exit code is 1. Older payments that are not final are queried once a day, until they are 180 days old.

Examples:
  cardgateway reconcile sync --db books.db --from 2026-01-01
  cardgateway reconcile sync --db postgres://books@db.example/shop
  cardgateway reconcile sync --db books.db --again 90d`
}

// Run updates the copy.
func (s *syncCommand) Run(c *call) error {
	set, client, err := c.configure(nil)
	if err != nil {
		return err
	}
	options := books.SyncOptions{Client: client, AcceptGone: s.AcceptGone, Now: c.now}
	if options.From, options.Again, err = s.times("--from", client.Location()); err != nil {
		return err
	}
	b, err := c.openBooks(set, s.From != "")
	if err != nil {
		return err
	}
	err = s.sync(c, b, options)
	if closed := b.Close(); err == nil && closed != nil {
		err = booksError("db: ", closed)
	}
	return err
}

func (s *syncCommand) times(fromFlag string, zone *time.Location) (from time.Time, again time.Duration, err error) {
	if s.LogEvery <= 0 {
		return from, 0, exit.Fail(exit.Failed, "--log-every must be greater than 0; use --quiet to print no progress")
	}
	if s.From != "" {
		if from, err = period.ParseTime(fromFlag, s.From, zone); err != nil {
			return from, 0, err
		}
	}
	if s.Again != "" {
		again, err = period.ParseLast(s.Again)
	}
	return from, again, err
}

// sync updates the copy, shows the progress, and prints what the copy contains.
func (s *syncCommand) sync(c *call, b *books.Books, options books.SyncOptions) error {
	shown := new(progress.Progress)
	options.Begin = func(what string, from time.Time) {
		shown.Stop()
		shown = progress.New(what, from.In(options.Client.Location()), c.err, s.LogEvery, c.settings.Quiet)
	}
	options.Progress = func(p cardgateway.Progress) { shown.Update(p) }
	report, err := b.Sync(c.ctx, options)
	shown.Stop()
	if err != nil {
		return s.ended(c, report, err)
	}
	info, err := b.Info(c.ctx)
	if err != nil {
		return booksError("db: ", err)
	}
	counts, err := b.Count(c.ctx)
	if err != nil {
		return booksError("db: ", err)
	}
	c.metrics = append(c.metrics, copyMetrics(report, info, counts.OpenOrders)...)
	if _, err := fmt.Fprintf(c.out, "%s orders, %s refunds, complete from %s to %s\n", terminal.Thousands(counts.Orders), terminal.Thousands(counts.Refunds),
		terminal.Wall(info.Since), terminal.Wall(info.CompleteUpTo)); err != nil {
		return exit.CannotWrite("result", err)
	}
	c.say("read %s rows: %s late, %s changed, %s gone; %s orders are not final", terminal.Thousands(report.Read), terminal.Thousands(report.Late),
		terminal.Thousands(report.Changed), terminal.Thousands(report.Gone), terminal.Thousands(counts.OpenOrders))
	if n := counts.Other; n != (books.OtherApps{}) {
		c.say("of other apps, and left out of match and report: %s", otherApps(n))
	}
	return nil
}

// otherApps says how many rows are of other apps.
func otherApps(n books.OtherApps) string {
	return fmt.Sprintf("payments %s, refunds %s", terminal.Thousands(n.Orders), terminal.Thousands(n.Refunds))
}

// ended prints what is saved and how to continue, and returns the error.
func (s *syncCommand) ended(c *call, report books.SyncReport, err error) error {
	goOn := shell.CommandLine(append([]string{"reconcile", "sync"}, c.settings.AsFlags()...)...)
	if gone, ok := errors.AsType[*books.GoneError](err); ok {
		c.tell("none of these rows was deleted. If they are really gone, run: %s --again %dh --accept-gone", goOn, int(c.now().Sub(gone.From).Hours())+1)
		return booksError("", err)
	}
	if refused, ok := errors.AsType[*books.Refused](err); ok {
		return booksError("", refused)
	}
	if s.isPartOfRun {
		goOn = "the same command again"
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
