package main

import (
	"errors"
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
	State []string `placeholder:"WORD" help:"Only entries in these states, separated by commas."`
	Older string   `placeholder:"DURATION" help:"Only entries at least this old, such as 1h or 2d. Entries younger than a minute may be in flight."`
	Sum   bool     `help:"Print only the totals."`
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
	var states []journal.State
	for _, word := range l.State {
		state, err := shopjournal.ParseState(word)
		if err != nil {
			return err
		}
		states = append(states, state)
	}
	before := c.now().Add(time.Second)
	if l.Older != "" {
		age, err := period.ParseLast("--older", l.Older)
		if err != nil {
			return err
		}
		before = c.now().Add(-age)
	}
	j, err := l.open(c, journal.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	wanted := func(e *journal.Entry) bool {
		return e.Begun.At.Before(before) && (len(states) == 0 || slices.Contains(states, e.State()))
	}
	return l.list(c, j, wanted)
}

// list prints the wanted entries, oldest first.
func (l *journalList) list(c *call, j *shopjournal.Journal, wanted func(*journal.Entry) bool) error {
	rows := newEntryRows(c, c.rowFormat(l.Format, l.Sum), j.Client.Location())
	var failed error
	unreadable := 0
	for e, err := range j.Unacked(c.ctx) {
		if _, ok := errors.AsType[*journal.EntryError](err); ok {
			unreadable++
			c.tell("an entry cannot be read: %s", shopjournal.ErrorText(err))
			continue
		}
		if failed = err; failed != nil {
			break
		}
		if wanted(&e) {
			if err := rows.write(&e); err != nil {
				return err
			}
		}
	}
	if err := rows.end(c); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return shopjournal.Failed(c.ctx, "the list is not complete", failed)
	case unreadable > 0:
		return exit.Fail(exit.Failed, "entries that cannot be read: %d", unreadable)
	case rows.sums.Rows() > 0:
		return exit.Fail(exit.Negative, "")
	}
	return nil
}

// entryRows prints entries and their totals.
type entryRows struct {
	writer tabular.Writer[journal.Entry]
	format string
	sums   tabular.Sums
}

func newEntryRows(c *call, format string, zone *time.Location) *entryRows {
	return &entryRows{writer: tabular.NewWriter(format, shopjournal.Columns(zone), false, c.out), format: format}
}

func (r *entryRows) write(e *journal.Entry) error {
	amount := e.Intent().Amount
	r.sums.Add(shopjournal.Currency(e), shopjournal.Kind(e.ID())+" "+e.State().String(), amount)
	if err := r.writer.Write(e); err != nil {
		return exit.CannotWrite("rows", err)
	}
	return nil
}

// end prints the remaining rows, and the totals.
func (r *entryRows) end(c *call) error {
	if err := r.writer.Flush(); err != nil {
		return exit.CannotWrite("rows", err)
	}
	return c.printSums(r.sums, r.format)
}
