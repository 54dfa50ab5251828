package main

import (
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/metrics"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/match"
)

// copyMetrics returns the metrics of a sync, and of the copy.
func copyMetrics(report books.SyncReport, info books.Info, openOrders int) []metrics.Metric {
	gauge := func(name, help string, value float64) metrics.Metric {
		return metrics.Metric{Name: "cardgateway_reconcile_copy_" + name, Help: help, Value: value}
	}
	rows := func(what string, n int) metrics.Metric {
		m := gauge("rows", "Rows of the last sync, by kind: read, late, changed, gone.", float64(n))
		m.Labels = []metrics.Label{{Name: "what", Value: what}}
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
	differ, known := map[match.Class]int{}, 0
	for _, c := range s.Classes {
		differ[c.Class] += c.Rows
		known += c.Known
	}
	all := []metrics.Metric{
		{Name: "cardgateway_reconcile_compared", Help: "Payments and refunds compared in the period.", Value: float64(s.Compared)},
		{Name: "cardgateway_reconcile_tied_out", Help: "Payments and refunds in the period on which both sides agree.", Value: float64(s.TiedOut)},
		{Name: "cardgateway_reconcile_known", Help: "Differences that are marked as known.", Value: float64(known)},
	}
	for _, c := range match.Classes {
		all = append(all, metrics.Metric{
			Name: "cardgateway_reconcile_differences", Help: "Differences that are not marked as known, by class; timing and test_payment are no errors.",
			Labels: []metrics.Label{{Name: "class", Value: string(c.Class)}}, Value: float64(differ[c.Class]),
		})
	}
	return all
}
