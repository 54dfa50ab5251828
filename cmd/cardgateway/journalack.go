package main

import (
	"errors"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
	"github.com/cardgateway/cardgateway-go/journal"
)

type journalAck struct {
	ID     string            `arg:"" help:"Your id: the transactionId of a payment, or with --refund the refundTransactionId of a refund."`
	Refund bool              `help:"The id belongs to a refund."`
	State  shopjournal.State `required:"" placeholder:"WORD" help:"The state in your own database. If the journal has another state, nothing is acknowledged."`
	journalFlags
}

// Help is shown below the flags.
func (*journalAck) Help() string {
	return `Acknowledges an outcome manually, if the shop's program cannot: its outcome is then not reported again. An entry that is pending,
refused or presumed absent is no longer queried either.

The exit code is 0 if the entry is acknowledged, and 1 if the journal has no such entry, or has it in another state or without an
outcome.

Example:
  cardgateway journal ack t-1002 --state succeeded`
}

// Run acknowledges an entry.
func (a *journalAck) Run(c *call) (err error) {
	state := journal.State(a.State)
	j, err := a.open(c, journal.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	id := journal.ID{Text: a.ID, Refund: a.Refund}
	kind := shopjournal.Kind(id)
	e, err := j.Get(c.ctx, id)
	switch {
	case errors.Is(err, journal.ErrNoEntry):
		hint := ""
		if _, err := j.Get(c.ctx, journal.ID{Text: a.ID, Refund: !a.Refund}); err == nil {
			hint = "; it has a refund with this id: add --refund"
			if a.Refund {
				hint = "; it has a payment with this id: omit --refund"
			}
		}
		return exit.Fail(exit.Negative, "the journal of %s, app %s has no %s %q%s", j.Shop().Gateway, j.Shop().AppID, kind, a.ID, hint)
	case err != nil:
		return shopjournal.Failed(c.ctx, "nothing was acknowledged", err)
	case e.State() != state:
		return exit.Fail(exit.Negative, "nothing was acknowledged: the %s is %v (%s)", kind, e.State(), shopjournal.Why(&e))
	case !e.Unacked():
		c.say("it was acknowledged before")
		return nil
	case state == journal.Unknown:
		return exit.Fail(exit.Negative, "nothing was acknowledged: the %s has no outcome yet; see %s", kind, a.show(c))
	}
	err = j.Store.Ack(c.ctx, e.Key(), e.Version())
	switch {
	case errors.Is(err, journal.ErrChanged):
		return exit.Fail(exit.Negative, "nothing was acknowledged: the entry has changed; see %s", a.show(c))
	case err != nil:
		return shopjournal.Failed(c.ctx, "it is not certain that it was acknowledged", err)
	}
	c.say("acknowledged: %s %s, %v", kind, a.ID, state)
	switch state {
	case journal.Pending, journal.Refused, journal.PresumedAbsent:
		c.say("the gateway is no longer queried for it")
	}
	return nil
}

// show returns the command that shows the entry.
func (a *journalAck) show(c *call) string {
	return shell.CommandFor("journal show", []string{a.ID}, a.forCommand(c)...)
}
