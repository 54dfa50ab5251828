package main

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/journal"
)

type journalList struct {
	journalFlags
	tabular.Flags
	State []shopjournal.State `placeholder:"WORD" help:"Only entries in these states, separated by commas."`
	Older period.Duration     `placeholder:"DURATION" help:"Only entries at least this old, such as 1h or 2d. Entries younger than a minute may be in flight."`
	Sum   bool                `help:"Print only the totals."`
}

// Help is shown below the flags.
func (*journalList) Help() string {
	return `Lists the payments and refunds that the shop has not acknowledged, oldest first: those without an outcome, and those whose
outcome may not be in the shop's database yet. It does not query the gateway.

The exit code is 0 if there are none, 1 if there are some, and 2 if the journal cannot be read.

States: unknown, not-sent, refused, presumed-absent, pending, abandoned, declined, succeeded, tested, conflict.

Examples:
  cardgateway journal list
  cardgateway journal list --older 1h --state unknown,conflict`
}

// Run lists the entries.
func (l *journalList) Run(c *call) (err error) {
	before := c.now().Add(time.Second)
	if l.Older != 0 {
		before = c.now().Add(-time.Duration(l.Older))
	}
	j, err := l.open(c, journal.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	wanted := func(e *journal.Entry) bool {
		return e.Begun.At.Before(before) && (len(l.State) == 0 || slices.Contains(l.State, shopjournal.State(e.State())))
	}
	shown, unreadable, err := c.printEntries(j, j.Unacked(c.ctx), wanted, c.rowFormat(l.Format, l.Sum), "the list is not complete")
	switch {
	case err != nil:
		return err
	case unreadable > 0:
		return exit.Fail(exit.Failed, "entries that cannot be read: %d", unreadable)
	case shown > 0:
		return exit.Fail(exit.Negative, "")
	}
	return nil
}

// printEntries prints the wanted entries and their totals. It returns how many it has printed, and how many entries cannot be read. If the
// journal fails, what says what that means.
func (c *call) printEntries(j *shopjournal.Journal, entries iter.Seq2[journal.Entry, error], wanted func(*journal.Entry) bool, format, what string) (
	shown, unreadable int, err error) {
	rows := tabular.NewWriter(format, shopjournal.Columns(j.Client.Location()), false, c.out)
	var sums tabular.Sums
	var failed error
	for e, err := range entries {
		if _, ok := errors.AsType[*journal.EntryError](err); ok {
			unreadable++
			c.tell("an entry cannot be read: %s", shopjournal.ErrorText(err))
			continue
		}
		if failed = err; failed != nil {
			break
		}
		if !wanted(&e) {
			continue
		}
		sums.Add(shopjournal.Currency(&e), shopjournal.Kind(e.ID())+" "+e.State().String(), e.Intent().Amount)
		if err := rows.Write(&e); err != nil {
			return 0, 0, exit.CannotWrite("rows", err)
		}
	}
	if err = exit.CannotWrite("rows", rows.Flush()); err == nil {
		err = c.printSums(sums, format)
	}
	if err == nil && failed != nil {
		err = shopjournal.Failed(c.ctx, what, failed)
	}
	return sums.Rows(), unreadable, err
}
