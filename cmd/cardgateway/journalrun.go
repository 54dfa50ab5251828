package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/journal"
)

type journalRun struct {
	journalFlags
	patienceFlag
	tabular.Flags
	Every time.Duration `placeholder:"DURATION" help:"Repeat after this pause, such as 1m, until Ctrl-C; default: run once."`
}

// Help is shown below the flags.
func (*journalRun) Help() string {
	return `Queries the gateway for every payment and refund without an outcome, records the results, and prints the entries. It sends no
payment and no refund, and acknowledges nothing: the shop's program, or journal ack, acknowledges the outcomes. It can run at the
same time as the shop's program.

The exit code is 0 if everything is acknowledged, and 1 if something is not. An alert can tell apart: 2 if the gateway or the journal
could not be asked, 4 if there is a conflict, and 5 if an outcome has been unknown for an hour longer than --absent-after.

Examples:
  cardgateway journal run
  cardgateway journal run --every 1m`
}

// Run queries the gateway once, or repeatedly with --every.
func (r *journalRun) Run(c *call) (err error) {
	if err := r.check(); err != nil {
		return err
	}
	if r.Every < 0 {
		return exit.Fail(exit.Failed, "--every must not be negative")
	}
	s := &rounds{journalRun: r, call: c, told: map[journal.Key]string{}}
	s.journal, err = r.open(c, journal.Options{
		AbsentAfter: r.AbsentAfter, Observe: func(_ context.Context, info journal.RecoverInfo) { s.info = info },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.journal.Close()) }()
	if r.Every == 0 {
		return s.round()
	}
	for {
		err := s.round()
		if c.ctx.Err() != nil {
			return err
		}
		// Continue after a failed round: the database or the gateway may become available again.
		exit.Report(c.err, err)
		select {
		case <-c.ctx.Done():
			return exit.Fail(exit.Interrupted, "interrupted; the results so far are recorded")
		case <-time.After(r.Every):
		}
	}
}

// overdueAfter is how much longer than --absent-after an outcome may be unknown: by then a query has found it, or has presumed it absent.
const overdueAfter = time.Hour

// rounds is one run of journal run.
type rounds struct {
	*journalRun
	*call
	journal *shopjournal.Journal
	info    journal.RecoverInfo // of the last round
	told    map[journal.Key]string
	headed  bool
}

// round queries every entry once. It prints what is new since the previous round.
func (s *rounds) round() error {
	rows := newEntryRows(s.call, s.rowFormat(s.Format, false), s.headed, s.journal.Client.Location())
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

// result reports what is not acknowledged, as a message and as the exit code.
func (s *rounds) result(failed error) error {
	i := &s.info
	switch {
	case s.ctx.Err() != nil:
		return exit.Fail(exit.Interrupted, "interrupted; the results so far are recorded")
	case failed != nil:
		return shopjournal.Failed(s.ctx, "not every entry was queried", failed)
	}
	s.say("not acknowledged: %d with an outcome, %d without one, %d in conflict", i.Settled,
		i.Open+i.Pending+i.PresumedAbsent+i.Refused, i.Conflicts)
	switch {
	case i.Unanswered > 0:
		return exit.Fail(exit.Failed, "entries for which the query failed: %d; the last error: %s", i.Unanswered, exit.Explain(i.LastError).Text)
	case i.Conflicts > 0:
		return exit.Fail(exit.Conflict, "entries in conflict, which a person must look at: %d", i.Conflicts)
	case !i.OldestOpen.IsZero() && time.Since(i.OldestOpen) > s.AbsentAfter+overdueAfter:
		return exit.Fail(exit.Overdue, "an outcome has been unknown since %s: ask the gateway's support", i.OldestOpen.UTC().Format(time.RFC3339))
	case i.Unreadable > 0: // it stays so, and must not hide the others
		return exit.Fail(exit.Failed, "entries that cannot be read: %d", i.Unreadable)
	case i.Reported > 0:
		return exit.Fail(exit.Negative, "")
	}
	return nil
}
