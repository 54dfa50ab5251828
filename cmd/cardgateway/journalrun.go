package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/metrics"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/journal"
)

type journalRun struct {
	journalFlags
	shopjournal.Patience
	tabular.Flags
	Every time.Duration `placeholder:"DURATION" help:"Do it again and again, until Ctrl-C, with this pause: 1m. Once if not given."`
}

// Help is shown below the flags.
func (*journalRun) Help() string {
	return `Asks the gateway about every payment and refund without an outcome, records what it says, and prints what each comes to. It
sends no payment and no refund, and acknowledges nothing: outcomes wait for the shop's program, or for journal ack. It may run
beside the shop's program. Ends with 0 if nothing is left, 1 if something is, 2 if the gateway could not be asked about all, or
the journal failed.

Examples:
  cardgateway journal run
  cardgateway journal run --every 1m --metrics-file /var/lib/prometheus/node-exporter/cardgateway-journal.prom`
}

// Run settles what can be settled.
func (r *journalRun) Run(c *call) (err error) {
	if err := r.Check(); err != nil {
		return err
	}
	if r.Every < 0 {
		return exit.Fail(exit.NoAnswer, "--every must be above zero")
	}
	j, err := r.open(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	s := &settling{journalRun: r, call: c, shop: j, told: map[journal.Key]string{}}
	s.journal = journal.New(j.Client, j.Store, journal.Options{
		Gateway: r.Gateway, AbsentAfter: r.AbsentAfter, AbandonAfter: r.AbandonAfter,
		Observe: func(_ context.Context, info journal.RecoverInfo) { s.info = info },
	})
	if r.Every == 0 {
		return s.round()
	}
	for {
		begun := time.Now()
		err := s.round()
		if c.ctx.Err() != nil {
			return err
		}
		// A round that failed does not end the others: the database or the gateway may come back.
		if err := c.writeMetrics("journal run", begun, exit.Report(c.err, err)); err != nil {
			exit.Report(c.err, err)
		}
		select {
		case <-c.ctx.Done():
			return exit.Fail(exit.Interrupted, "interrupted; what the gateway said is recorded")
		case <-time.After(r.Every):
		}
	}
}

// settling is one run.
type settling struct {
	*journalRun
	*call
	shop    *shopjournal.Journal
	journal *journal.Journal
	info    journal.RecoverInfo // of the last round
	told    map[journal.Key]string
	headed  bool
}

// round asks about everything once. It prints what is new since the round before.
func (s *settling) round() error {
	flags := s.Flags
	flags.NoHeader = flags.NoHeader || s.headed
	rows, err := newEntryRows(s.call, &flags, false, s.shop.Zone)
	if err != nil {
		return err
	}
	s.headed, rows.onlyNew = true, s.Every > 0
	var failed error
	still := map[journal.Key]string{}
	for e, err := range s.journal.Recover(s.ctx) {
		if _, ok := errors.AsType[*journal.EntryError](err); ok {
			s.tell("an entry cannot be read: %s", shopjournal.ErrorText(err))
			continue
		}
		if failed = err; failed != nil {
			break
		}
		text := fmt.Sprint(len(e.Evidence), shopjournal.Why(&e))
		still[e.Key()] = text
		if s.told[e.Key()] == text {
			continue
		}
		if err := rows.write(&e); err != nil {
			return err
		}
	}
	if failed == nil {
		s.told = still
	}
	if err := rows.end(s.call); err != nil {
		return err
	}
	return s.result(failed)
}

// result says what is left, to people and as metrics.
func (s *settling) result(failed error) error {
	i := &s.info
	switch {
	case s.ctx.Err() != nil:
		return exit.Fail(exit.Interrupted, "interrupted; what the gateway said is recorded")
	case failed != nil:
		s.metrics = nil
		return shopjournal.Failed(s.ctx, "not everything was asked about", failed)
	}
	s.metrics = journalMetrics(i)
	s.say("with an outcome that waits to be acknowledged: %d; without one: %d; in conflict: %d", i.Settled,
		i.Open+i.Pending+i.PresumedAbsent+i.Refused, i.Conflicts)
	switch {
	case i.Unanswered > 0:
		return exit.Fail(exit.NoAnswer, "the gateway could not be asked about %d; the last time: %s", i.Unanswered, exit.Explain(i.LastError).Text)
	case i.Unreadable > 0:
		return exit.Fail(exit.NoAnswer, "entries that cannot be read: %d", i.Unreadable)
	case i.Told > 0:
		return exit.Fail(exit.No, "")
	}
	return nil
}

// journalMetrics are what a round has found. The time of the oldest is there only if there is one.
func journalMetrics(i *journal.RecoverInfo) []metrics.Metric {
	var all []metrics.Metric
	for state, n := range map[string]int{
		"unknown": i.Open, "pending": i.Pending, "presumed absent": i.PresumedAbsent, "refused": i.Refused, shopjournal.Conflict: i.Conflicts,
		"settled": i.Settled,
	} {
		all = append(all, metrics.Metric{
			Name: "cardgateway_journal_entries", Help: "Payments and refunds that are not acknowledged; settled ones have an outcome.",
			Labels: []metrics.Label{{Name: "state", Value: state}}, Value: float64(n),
		})
	}
	all = append(all,
		metrics.Metric{Name: "cardgateway_journal_unanswered", Help: "Payments and refunds about which the gateway was last asked in vain.", Value: float64(i.Unanswered)},
		metrics.Metric{Name: "cardgateway_journal_unreadable", Help: "Entries that cannot be read.", Value: float64(i.Unreadable)},
	)
	if !i.OldestOpen.IsZero() {
		all = append(all, metrics.Metric{
			Name: "cardgateway_journal_oldest_unknown_timestamp_seconds", Help: "When the oldest payment or refund of unknown outcome was submitted.",
			Value: float64(i.OldestOpen.UnixMilli()) / 1e3,
		})
	}
	return all
}
