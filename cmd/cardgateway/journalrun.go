package main

import (
	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/journal"
)

type journalRun struct {
	journalFlags
	patienceFlag
	tabular.Flags
}

// Help is shown below the flags.
func (*journalRun) Help() string {
	return `Queries the gateway for every payment and refund without an outcome, records the results, and prints the entries. It sends no
payment and no refund, and acknowledges nothing: the shop's program, or journal ack, acknowledges the outcomes. It can run at the
same time as the shop's program.

The exit code is 0 if everything is acknowledged, and 1 if something is not. An alert can tell apart: 2 if the gateway or the journal
could not be asked, 4 if there is a conflict, and 5 if an outcome has been unknown for an hour longer than --absent-after.`
}

// Run queries every entry once.
func (r *journalRun) Run(c *call) (err error) {
	var info journal.RecoverInfo
	j, err := r.open(c, journal.Options{
		AbsentAfter: r.AbsentAfter, Observe: func(_ context.Context, i journal.RecoverInfo) { info = i },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	all := func(*journal.Entry) bool { return true }
	_, _, err = c.printEntries(j, j.Recover(c.ctx), all, c.rowFormat(r.Format, false), "not every entry was queried")
	return r.result(c, &info, err)
}

// overdueAfter is how much longer than --absent-after an outcome may be unknown: by then a query has found it, or has presumed it absent.
const overdueAfter = time.Hour

// result reports what is not acknowledged, as a message and as the exit code.
func (r *journalRun) result(c *call, i *journal.RecoverInfo, failed error) error {
	switch {
	case c.ctx.Err() != nil:
		return exit.Fail(exit.Interrupted, "interrupted; the results so far are recorded")
	case failed != nil:
		return failed
	}
	c.say("not acknowledged: %d with an outcome, %d without one, %d in conflict", i.Settled,
		i.Open+i.Pending+i.PresumedAbsent+i.Refused, i.Conflicts)
	switch {
	case i.Unanswered > 0:
		return exit.Fail(exit.Failed, "entries for which the query failed: %d; the last error: %s", i.Unanswered, exit.Explain(i.LastError).Text)
	case i.Conflicts > 0:
		return exit.Fail(exit.Conflict, "entries in conflict, which a person must look at: %d", i.Conflicts)
	case !i.OldestOpen.IsZero() && time.Since(i.OldestOpen) > r.AbsentAfter+overdueAfter:
		return exit.Fail(exit.Overdue, "an outcome has been unknown since %s: ask the gateway's support", i.OldestOpen.UTC().Format(time.RFC3339))
	case i.Unreadable > 0: // it stays so, and must not hide the others
		return exit.Fail(exit.Failed, "entries that cannot be read: %d", i.Unreadable)
	case i.Reported > 0:
		return exit.Fail(exit.Negative, "")
	}
	return nil
}
