package main

import (
	"cmp"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

type getCommand struct {
	ID          string          `arg:"" optional:"" help:"The payment's uniqueId: the gateway's id, digits only."`
	Transaction string          `placeholder:"ID" help:"Search by your transactionId instead. Several payments can have it, such as attempts with two cards."`
	Last        period.Duration `default:"30d" placeholder:"DURATION" help:"With --transaction: how far to search back, such as 36h or 7d; default 30d."`
	detailsFlags
}

// Help is shown below the flags.
func (*getCommand) Help() string {
	return `The exit code is 1 if the gateway does not know the payment, and 0 for a declined payment.

Examples:
  cardgateway get 1234567890
  cardgateway get --transaction t-1002 --last 7d
  cardgateway get 1234567890 --format jsonl`
}

// Run shows a payment.
func (g *getCommand) Run(c *call) error {
	if (g.ID == "") == (g.Transaction == "") {
		return exit.Fail(exit.Failed, "specify the payment: its uniqueId as the argument, or your transactionId with --transaction")
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	var found []cardgateway.Transaction
	if g.ID != "" {
		if err := c.checkUniqueID(g.ID); err != nil {
			return err
		}
		t, err := client.GetTransaction(c.ctx, g.ID)
		if err != nil {
			return err
		}
		found = append(found, *t)
	} else if found, err = g.search(c, client); err != nil {
		return err
	}
	return show(c, tabular.PaymentColumns(client.Location(), client.Paid), found, g.Format)
}

// checkUniqueID rejects an id that cannot be the gateway's of a payment. The client refuses an empty one.
func (c *call) checkUniqueID(id string) error {
	return checkGatewayID("uniqueId", id, "run: "+c.commandLine("get", "--transaction="+id))
}

// checkGatewayID rejects an id that the gateway cannot have given: nothing would be found. Often it is the user's own, for which there is
// something else to be done.
func checkGatewayID(what, id, ifOwn string) error {
	if id == "" || ascii.IsDigits(id) {
		return nil
	}
	return exit.Fail(exit.Failed, "%s: %q is not an id of the gateway, which consists of digits; if it is your own id, %s", what, id, ifOwn)
}

// search finds all payments with the transactionId.
func (g *getCommand) search(c *call, client *cardgateway.Client) (found []cardgateway.Transaction, err error) {
	now := c.now()
	from := now.Add(-time.Duration(g.Last))
	payments := idSearch[cardgateway.Transaction]{
		page: func(from, to time.Time, n int) (*cardgateway.Page[cardgateway.Transaction], error) {
			return client.SearchOrders(c.ctx, cardgateway.OrderQuery{TransactionID: g.Transaction, Start: from, End: to}, cardgateway.PageRequest{CurrPage: n})
		},
		matches: func(t *cardgateway.Transaction) bool { return t.TransactionID == g.Transaction },
		key:     func(t *cardgateway.Transaction) string { return t.UniqueID },
	}
	found, err = payments.all(from, now)
	if err == nil && len(found) == 0 {
		return nil, exit.Fail(exit.Negative, "the gateway has no payment with this transactionId since %s; search further back with --last",
			terminal.Wall(from.In(client.Location())))
	}
	return found, err
}

// detailsFlags are the flags of commands that show a few rows.
type detailsFlags struct {
	Format string `enum:",details,table,csv,jsonl" default:"" placeholder:"FORMAT" help:"details, table, csv or jsonl; default details."`
}

// show prints rows.
func show[T any](c *call, columns []tabular.Column[T], rows []T, format string) error {
	w := tabular.NewWriter(cmp.Or(format, tabular.Details), columns, false, c.out)
	for i := range rows {
		if err := w.Write(&rows[i]); err != nil {
			return exit.CannotWrite("result", err)
		}
	}
	return exit.CannotWrite("result", w.Flush())
}
