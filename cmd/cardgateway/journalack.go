package main

import (
	"errors"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
)

type journalAck struct {
	ID     string `arg:"" help:"Your id: the transactionId of a payment, or with --refund the refundTransactionId of a refund."`
	Refund bool   `help:"The id is that of a refund."`
	State  string `required:"" placeholder:"WORD" help:"The state that your books have. If the journal knows another one, nothing is done."`
	journalFlags
}

// Help is shown below the flags.
func (*journalAck) Help() string {
	return `Says that the shop's books hold the outcome, which the shop's program does otherwise. It is not told again. What is pending,
refused or presumed absent is not asked about any more, either. Ends with 0 if it is acknowledged, 1 if the journal has no such
entry or knows another state.

Example:
  cardgateway journal ack t-1002 --state succeeded`
}

// Run acknowledges an entry.
func (a *journalAck) Run(c *call) (err error) {
	state, err := shopjournal.ParseState("--state", a.State)
	if err != nil {
		return err
	}
	j, err := a.open(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	key := journal.Key{Shop: j.Shop, TransactionID: a.ID}
	if a.Refund {
		key = journal.Key{Shop: j.Shop, RefundTransactionID: a.ID}
	}
	e, err := j.Store.Get(c.ctx, key)
	switch {
	case errors.Is(err, journal.ErrNoEntry):
		return exit.Fail(exit.No, "the journal of %s, app %s has no %s %q", terminal.Clean(j.Shop.Gateway), terminal.Clean(string(j.Shop.AppID)), a.kind(), terminal.Clean(a.ID))
	case err != nil:
		return shopjournal.Failed(c.ctx, "nothing was acknowledged", err)
	case shopjournal.State(&e) != state:
		return exit.Fail(exit.No, "nothing was acknowledged: the %s is %s (%s)", a.kind(), shopjournal.State(&e), shopjournal.Why(&e))
	case !e.Unacked():
		c.say("it has been acknowledged before")
		return nil
	case state == journal.Unknown.String():
		return exit.Fail(exit.No, "nothing was acknowledged: the %s has no outcome yet; see %s", a.kind(), terminal.CommandLine("journal", "show", a.ID))
	}
	err = j.Store.Ack(c.ctx, key, len(e.Evidence))
	switch {
	case errors.Is(err, journal.ErrChanged):
		return exit.Fail(exit.No, "nothing was acknowledged: more is known by now; see %s", terminal.CommandLine("journal", "show", a.ID))
	case err != nil:
		return shopjournal.Failed(c.ctx, "it is not certain that it was acknowledged", err)
	}
	c.say("acknowledged: %s %s, %s", a.kind(), terminal.Clean(a.ID), state)
	switch e.State() {
	case journal.Pending, journal.Refused, journal.PresumedAbsent:
		c.say("nobody asks the gateway about it any more")
	}
	return nil
}

func (a *journalAck) kind() string {
	if a.Refund {
		return "refund"
	}
	return "payment"
}
