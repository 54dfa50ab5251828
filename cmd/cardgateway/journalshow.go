package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
	"github.com/cardgateway/cardgateway-go/journal"
)

type journalShow struct {
	ID string `arg:"" help:"Your id: the transactionId of a payment, or the refundTransactionId of a refund."`
	journalFlags
	patienceFlag
}

// Help is shown below the flags.
func (*journalShow) Help() string {
	return `Prints what was submitted, all evidence since then with its source, the state, and what the journal does next. If a payment and
a refund have the same id, both are shown. The exit code is 1 if the journal has neither.

Example:
  cardgateway journal show t-1002`
}

// Run shows an entry.
func (s *journalShow) Run(c *call) (err error) {
	j, err := s.open(c, journal.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	entries, err := j.Find(c.ctx, s.ID)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.out)
	for i, e := range entries {
		if i > 0 {
			fmt.Fprintln(out)
		}
		shopjournal.Describe(out, e, s.AbsentAfter, j.Client, c.now(), s.forCommand(c))
	}
	return exit.CannotWrite("entry", out.Flush())
}
