package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/metrics"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/database"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/match"
)

// reconcileCommand groups the commands that use a copy of the gateway's data.
type reconcileCommand struct {
	Sync   syncCommand   `cmd:"" help:"Update a copy of the gateway's orders and refunds."`
	Match  matchCommand  `cmd:"" help:"Compare your list of payments with the copy, and list the differences."`
	Report reportCommand `cmd:"" help:"Compare, and write a report for finance as HTML, CSV and JSON."`
	Run    runCommand    `cmd:"" help:"Run sync, match and report, for cron. --demo shows a demonstration."`
}

// openBooks opens the database of the settings. Close it after use. A missing file is created only if isNew is set, because
// its name may be mistyped.
func (c *call) openBooks(set *settings.Settings, isNew bool) (*books.Books, error) {
	db := set.Get(settings.Database)
	switch {
	case db.Value == "":
		return nil, exit.Fail(exit.Failed, "db is missing: set --db, %s, or db in %s, to the path of a SQLite file or postgres://user@host/database",
			settings.Variable(settings.Database), set.FileName())
	case db.Value == c.settings.DB && database.HasPassword(db.Value):
		return nil, exit.Fail(exit.Failed, "db (flag --db) contains a password, which every user of this machine could read: set %s, PGPASSWORD, "+
			"or db in %s", settings.Variable(settings.Database), set.FileName())
	case !isNew && database.IsMissing(db.Value):
		return nil, exit.Fail(exit.Failed, "db (%s): there is no file %s; to create a new copy there, run reconcile sync with --from, "+
			"or reconcile run with --since", db.From, db.Value)
	}
	anyApp, err := set.AnyApp()
	if err != nil {
		return nil, err
	}
	b, err := books.Open(c.ctx, db.Value)
	if err != nil {
		return nil, booksError(fmt.Sprintf("db (%s): ", db.From), err)
	}
	b.AnyApp = anyApp
	return b, nil
}

// booksError converts an error of the database, or of the gateway's client, to one of this program.
func booksError(before string, err error) error {
	if errors.Is(err, context.Canceled) {
		return exit.Fail(exit.Interrupted, "interrupted")
	}
	code := exit.Failed
	if _, gone := errors.AsType[*books.GoneError](err); gone {
		code = exit.Negative
	}
	return exit.Fail(code, "%s", before+exit.Explain(err).Text)
}

// copyMetrics returns the metrics of a sync, and of the copy.
func copyMetrics(report books.SyncReport, info books.Info, openOrders int) []metrics.Metric {
	gauge := func(name, help string, value float64) metrics.Metric {
		return metrics.Metric{Name: "cardgateway_reconcile_copy_" + name, Help: help, Value: value}
	}
	rows := func(what string, n int) metrics.Metric {
		m := gauge("rows", "Rows of the last sync, by kind: read, late, changed, gone.", float64(n))
		m.Label = metrics.Label{Name: "what", Value: what}
		return m
	}
	return []metrics.Metric{
		rows("read", report.Read), rows("late", report.Late), rows("changed", report.Changed), rows("gone", report.Gone),
		gauge("complete_timestamp_seconds", "Up to when the copy of the gateway is complete.", float64(info.CompleteUpTo.UnixMilli())/1e3),
		gauge("open_orders", "Orders in the copy that are not final.", float64(openOrders)),
	}
}

// comparisonMetrics returns the metrics of a comparison, with the differences by class.
func comparisonMetrics(s *match.Summary) []metrics.Metric {
	all := []metrics.Metric{
		{Name: "cardgateway_reconcile_compared", Help: "Payments and refunds compared in the period.", Value: float64(s.Compared)},
		{Name: "cardgateway_reconcile_tied_out", Help: "Payments and refunds in the period on which both sides agree.", Value: float64(s.TiedOut)},
		{Name: "cardgateway_reconcile_known", Help: "Differences that are marked as known.", Value: float64(s.Known())},
	}
	for _, c := range match.Classes {
		all = append(all, metrics.Metric{
			Name: "cardgateway_reconcile_differences", Help: "Differences that are not marked as known, by class; timing and test_payment are no errors.",
			Label: metrics.Label{Name: "class", Value: string(c.Class)}, Value: float64(s.Rows(c.Class)),
		})
	}
	return all
}
