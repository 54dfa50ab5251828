package main

import (
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/shopspring/decimal"
)

type ordersCommand struct {
	listFlags
	State []string `enum:"approved,declined,processing,redirect,unknown" placeholder:"WORD" help:"Only rows in these states, separated by commas."`
	Order string   `placeholder:"ID" help:"Only payments of this order id."`
}

// Help is shown below the flags.
func (*ordersCommand) Help() string {
	return listHelp + `

States: approved, declined, processing, redirect (waits for the cardholder), unknown.

Examples:
  cardgateway orders --last 2h
  cardgateway orders --day yesterday --state declined
  cardgateway orders --month last --format csv --checkpoint october.json >>october.csv`
}

const listHelp = `Rows go to stdout, totals and everything else to stderr. With --checkpoint, you can interrupt the list with Ctrl-C at any time,
and resume it with the same command and >> instead of >; you can then omit the range. The file is removed when the list is
complete.`

// Run lists orders.
func (o *ordersCommand) Run(c *call) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	l := listing[cardgateway.Transaction]{
		call: c, flags: &o.listFlags, client: client, name: "orders", columns: tabular.PaymentColumns(client.Location(), client.Paid),
		states: o.State,
		filter: map[string]string{"order": o.Order, "state": strings.Join(o.State, ",")},
		walk: func(from, to time.Time, opts cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Transaction] {
			return client.OrderWalk(cardgateway.OrderQuery{OrderID: o.Order, Start: from, End: to}, opts)
		},
		matches: func(*cardgateway.Transaction) bool { return true }, // a row has no order id
		money: func(t *cardgateway.Transaction) (string, string, decimal.Decimal) {
			return t.TransactionCurrency, tabular.PaymentState(t, client.Paid), t.TransactionAmount
		},
	}
	return l.run()
}

type refundsCommand struct {
	listFlags
	State          []string `enum:"refunded,accepted,declined,unknown" placeholder:"WORD" help:"Only rows in these states, separated by commas."`
	Payment        string   `placeholder:"ID" help:"Only refunds of the payment with this uniqueId, the gateway's id."`
	Transaction    string   `placeholder:"ID" help:"Only refunds of payments with this transactionId, your id."`
	RefundID       string   `placeholder:"ID" help:"Only the refund with this refundTransactionId, your id."`
	RefundUniqueID string   `placeholder:"ID" help:"Only the refund with this refundUniqueId, the gateway's id."`
}

// Help is shown below the flags.
func (*refundsCommand) Help() string {
	return listHelp + `

States: refunded, accepted (not yet refunded), declined, unknown.

Examples:
  cardgateway refunds --last 7d
  cardgateway refunds --payment 1234567890 --last 90d`
}

// Run lists refunds.
func (r *refundsCommand) Run(c *call) error {
	if err := checkGatewayID("--payment", r.Payment, "use --transaction"); err != nil {
		return err
	}
	if err := checkGatewayID("--refund-unique-id", r.RefundUniqueID, "use --refund-id"); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	l := listing[cardgateway.Refund]{
		call: c, flags: &r.listFlags, client: client, name: "refunds", columns: tabular.RefundColumns(client.Location()),
		states: r.State,
		filter: map[string]string{
			"payment": r.Payment, "transaction": r.Transaction, "refund-id": r.RefundID, "refund-unique-id": r.RefundUniqueID,
			"state": strings.Join(r.State, ","),
		},
		walk: func(from, to time.Time, opts cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Refund] {
			return client.RefundWalk(cardgateway.RefundQuery{
				UniqueID: r.Payment, TransactionID: r.Transaction, RefundTransactionID: r.RefundID, RefundUniqueID: r.RefundUniqueID,
				Start: from, End: to,
			}, opts)
		},
		matches: func(f *cardgateway.Refund) bool {
			return is(r.Payment, f.UniqueID) && is(r.RefundID, f.MerchantRefundID) && is(r.RefundUniqueID, f.RefundUniqueID)
		},
		money: func(f *cardgateway.Refund) (string, string, decimal.Decimal) {
			return f.RefundCurrency, tabular.RefundState(f), f.RefundAmount
		},
	}
	return l.run()
}

// is reports whether an id is the one in the flag, if that is set: some gateways also return rows with other ids.
func is(asked, got string) bool { return asked == "" || asked == got }
