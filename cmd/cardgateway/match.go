package main

import (
	"cmp"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/report"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
)

type matchCommand struct {
	compareFlags
	tabular.Flags
	Sum bool `help:"Print only the totals."`
}

// Help is shown below the flags.
func (*matchCommand) Help() string {
	return compareHelp + `

Differences go to stdout, everything else to stderr. To mark differences as known, fill in the reason in rows of the CSV output,
and pass them with --known.

Examples:
  cardgateway reconcile match --db books.db --month last --list paid.csv
  cardgateway reconcile match --db books.db --last 7d --list-dsn shop.db --list-query payments --format csv >differences.csv`
}

// Run compares and prints the differences.
func (k *matchCommand) Run(c *call) (err error) {
	m, err := c.openAndImport(&k.compareFlags)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, m.books.Close()) }()
	rows := tabular.NewWriter(c.rowFormat(k.Format, k.Sum), report.Columns(m.options.Copy.From.Location(), m.options.Now), false, c.out)
	m.options.Found = func(d *match.Difference) error { return exit.CannotWrite("rows", rows.Write(d)) }
	summary, err := m.run()
	if err := cmp.Or(err, exit.CannotWrite("rows", rows.Flush())); err != nil {
		return err
	}
	return m.ended(summary)
}
