package otel

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"go.opentelemetry.io/otel/metric"
)

// ObserveJournal returns a value for journal.Options.Observe. It records the gauges JournalWorkingMetric, JournalEntriesMetric,
// JournalUnansweredMetric, JournalUnreadableMetric, JournalFailingMetric and JournalOldestUnknownMetric, and the histogram
// JournalRecoverDurationMetric.
//
// The gauges are those of the last complete Recover of this process, and do not exist before it; a Recover that failed changes none of
// them. While another process works, this one has only JournalWorkingMetric. If several call Recover instead of Run, they report the
// same entries: use their maximum, not their sum. Call ObserveJournal once for each journal. If a process has several, give each
// different Options.Attributes. TracerProvider is not used. The error is one of the meter provider.
func ObserveJournal(o Options) (func(context.Context, journal.RecoverInfo), error) {
	r := &journalRecorder{journal: metric.WithAttributes(o.Attributes...)}
	if err := r.register(o.meter()); err != nil {
		return nil, err
	}
	return r.observe, nil
}

// journalRecorder records what each Recover found.
type journalRecorder struct {
	journal  metric.MeasurementOption            // its attributes
	last     atomic.Pointer[journal.RecoverInfo] // nil means that no gauge is reported
	duration metric.Float64Histogram

	working, entries, unanswered, unreadable, failing metric.Int64ObservableGauge
	oldest                                            metric.Float64ObservableGauge
}

// register creates the metrics. The gauges are observed when metrics are collected, so that the age grows even if Recover
// is no longer called.
func (r *journalRecorder) register(meter metric.Meter) (err error) {
	for _, g := range []struct {
		gauge                   *metric.Int64ObservableGauge
		unit, name, description string
	}{
		{&r.working, "{process}", JournalWorkingMetric, "Whether this process works for the journal, and does not stand by."},
		{&r.entries, "{entry}", JournalEntriesMetric, "Payments and refunds that are not acknowledged."},
		{&r.unanswered, "{entry}", JournalUnansweredMetric, "Payments and refunds for which the last query failed."},
		{&r.unreadable, "{entry}", JournalUnreadableMetric, "Entries of the journal that cannot be read."},
		{&r.failing, "{entry}", JournalFailingMetric, "Payments and refunds that could not be reported or recorded."},
	} {
		if *g.gauge, err = meter.Int64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.description)); err != nil {
			return err
		}
	}
	r.oldest, err = meter.Float64ObservableGauge(JournalOldestUnknownMetric, metric.WithUnit("s"),
		metric.WithDescription("How long ago the oldest payment or refund with an unknown outcome was submitted."))
	if err != nil {
		return err
	}
	r.duration, err = meter.Float64Histogram(JournalRecoverDurationMetric, metric.WithUnit("s"),
		metric.WithDescription("How long a Recover of the journal takes."),
		metric.WithExplicitBucketBoundaries(.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(r.collect, r.working, r.entries, r.unanswered, r.unreadable, r.failing, r.oldest)
	return err
}

func (r *journalRecorder) observe(ctx context.Context, info journal.RecoverInfo) {
	if info.Standby { // there was no Recover
		r.last.Store(&info)
		return
	}
	r.duration.Record(ctx, info.Duration.Seconds(), r.journal, metric.WithAttributes(JournalCompleteKey.Bool(info.Complete)))
	if info.Complete { // the counts of another one are too low
		r.last.Store(&info)
	}
}

// collect reports the gauges.
func (r *journalRecorder) collect(_ context.Context, o metric.Observer) error {
	info := r.last.Load()
	if info == nil {
		return nil
	}
	if info.Standby {
		o.ObserveInt64(r.working, 0, r.journal)
		return nil
	}
	o.ObserveInt64(r.working, 1, r.journal)
	for state, n := range map[string]int{
		"unknown": info.Open, "pending": info.Pending, "presumed_absent": info.PresumedAbsent, "refused": info.Refused,
		"conflict": info.Conflicts, "settled": info.Settled,
	} {
		o.ObserveInt64(r.entries, int64(n), r.journal, metric.WithAttributes(JournalStateKey.String(state)))
	}
	o.ObserveInt64(r.unanswered, int64(info.Unanswered), r.journal)
	o.ObserveInt64(r.unreadable, int64(info.Unreadable), r.journal)
	o.ObserveInt64(r.failing, int64(info.Failing), r.journal)
	var age time.Duration
	if !info.OldestOpen.IsZero() {
		age = max(0, time.Since(info.OldestOpen))
	}
	o.ObserveFloat64(r.oldest, age.Seconds(), r.journal)
	return nil
}
