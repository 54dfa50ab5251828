package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/shopspring/decimal"
)

type resolveCommand struct {
	Payment resolvePayment `cmd:"" help:"Find the outcome of a payment."`
	Refund  resolveRefund  `cmd:"" help:"Find the outcome of a refund."`
}

// resolveFlags are the flags of both commands.
type resolveFlags struct {
	Amount    string        `required:"" placeholder:"AMOUNT" help:"The amount that was sent, such as 12.50."`
	SentAt    string        `required:"" placeholder:"TIME" help:"When it was sent, or shortly before: \"2026-11-22 03:10:00\" or RFC 3339."`
	Wait      time.Duration `default:"2m" help:"How long to query; at least once."`
	Seen      bool          `help:"The gateway has returned it before: if it is not found now, its outcome is still unknown."`
	SentAgain bool          `help:"It may have been sent more than once: a decline may be that of a repetition, and is not final."`
	detailsFlags
}

type resolvePayment struct {
	Transaction string `arg:"" help:"Your transactionId."`
	Currency    string `required:"" placeholder:"CODE" help:"The currency that was sent, such as EUR."`
	Order       string `placeholder:"ID" help:"Your order id, if one was sent."`
	HostedPage  bool   `help:"The payment is made on the gateway's hosted page, where the cardholder can try another card after a decline."`
	Cycle       string `name:"subscription-cycle" placeholder:"CYCLE" help:"The subscriptionCycle, if it is a subscription, such as WEEK: charges a cycle apart are not one made twice."`
	resolveFlags
}

// Help is shown below the flags.
func (*resolvePayment) Help() string {
	return `Queries the gateway until the outcome is known or --wait has passed. It sends no payment.

The exit code is 0 if the payment was approved, 1 if it was declined, is not known to the gateway, or was made twice, and 3 if it is
still unknown or in processing: do not pay again, but run the command that is printed later.

Example:
  cardgateway resolve payment t-1002 --amount 12.50 --currency EUR --sent-at "2026-11-22 03:10:00"`
}

// Run resolves a payment.
func (p *resolvePayment) Run(c *call) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	sent, sentAt, err := p.parse(client)
	if err != nil {
		return err
	}
	querying := c.sayQuerying(p.Wait)
	found, err := client.Resolve(c.ctx, cardgateway.ResolveQuery{
		TransactionID: p.Transaction, OrderID: p.Order, Amount: sent, Currency: p.Currency, SentAt: sentAt, Wait: p.Wait,
		HostedPage: p.HostedPage, Seen: p.Seen, SentAgain: p.SentAgain, SubscriptionCycle: cardgateway.SubscriptionCycle(strings.ToUpper(p.Cycle)),
	})
	querying.Stop()
	var rows []cardgateway.Transaction
	if found != nil {
		rows = append(rows, *found)
	}
	if conflict, ok := errors.AsType[*cardgateway.ConflictError](err); ok {
		rows = conflict.Transactions
	}
	if shown := show(c, tabular.PaymentColumns(client.Location(), client.Paid), rows, p.Format); shown != nil {
		return errors.Join(shown, err)
	}
	if err == nil && client.Paid(found) {
		c.say("approved: %s %s was charged", amount.Plain(found.TransactionAmount), found.TransactionCurrency)
		return nil
	}
	state := ""
	if err == nil {
		state = found.State().String()
	}
	p.Seen = p.Seen || found != nil || wasSeen(err)
	return c.unresolved(err, state, p.again(c))
}

// again returns the command that resolves the payment later.
func (p *resolvePayment) again(c *call) string {
	own := []string{"--currency", p.Currency}
	if p.Order != "" {
		own = append(own, "--order="+p.Order) // it can begin with a hyphen
	}
	if p.HostedPage {
		own = append(own, "--hosted-page")
	}
	if p.Cycle != "" {
		own = append(own, "--subscription-cycle="+p.Cycle)
	}
	return p.command(c, "resolve payment", []string{p.Transaction}, own...)
}

type resolveRefund struct {
	UniqueID string `arg:"" help:"The gateway's id of the payment."`
	RefundID string `arg:"" help:"Your id of the refund."`
	resolveFlags
}

// Help is shown below the flags.
func (*resolveRefund) Help() string {
	return `Queries the gateway until the outcome is known or --wait has passed. It sends no refund.

The exit code is 0 if the refund was made, 1 if it was declined, is not known to the gateway, or was made twice, and 3 if it is still
unknown or in processing: do not refund again, but run the command that is printed later.

Example:
  cardgateway resolve refund 1234567890 r-1002 --amount 12.50 --sent-at 2026-11-22T03:10:00+08:00`
}

// Run resolves a refund.
func (r *resolveRefund) Run(c *call) error {
	if err := c.checkUniqueID(r.UniqueID); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	sent, sentAt, err := r.parse(client)
	if err != nil {
		return err
	}
	querying := c.sayQuerying(r.Wait)
	found, err := client.ResolveRefund(c.ctx, cardgateway.ResolveRefundQuery{
		UniqueID: r.UniqueID, RefundTransactionID: r.RefundID, Amount: sent, SentAt: sentAt, Wait: r.Wait, Seen: r.Seen,
		SentAgain: r.SentAgain,
	})
	querying.Stop()
	var rows []cardgateway.Refund
	if found != nil {
		rows = append(rows, *found)
	}
	if conflict, ok := errors.AsType[*cardgateway.RefundConflictError](err); ok {
		rows = conflict.Refunds
	}
	if shown := show(c, tabular.RefundColumns(client.Location()), rows, r.Format); shown != nil {
		return errors.Join(shown, err)
	}
	if err == nil && found.Refunded() {
		c.say("refunded: %s %s", amount.Plain(found.RefundAmount), found.RefundCurrency)
		return nil
	}
	state := ""
	if err == nil {
		state = tabular.RefundState(found)
	}
	r.Seen = r.Seen || found != nil || wasSeen(err)
	return c.unresolved(err, state, r.command(c, "resolve refund", []string{r.UniqueID, r.RefundID}))
}

// sayQuerying says that the outcome is not known yet, if that lasts for some seconds. Stop it when it is.
func (c *call) sayQuerying(wait time.Duration) *time.Timer {
	return time.AfterFunc(3*time.Second, func() { c.say("no outcome yet; the gateway is queried for up to %s", wait) })
}

// wasSeen reports whether the gateway has returned the payment or refund in some form.
func wasSeen(err error) bool {
	if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
		return unknown.Seen
	}
	unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
	return ok && unknown.Seen
}

// command returns the command that resolves ids later, with flags of its own.
func (f *resolveFlags) command(c *call, name string, ids []string, own ...string) string {
	flags := slices.Concat([]string{"--amount", f.Amount, "--sent-at", f.SentAt}, own)
	if f.Seen {
		flags = append(flags, "--seen")
	}
	if f.SentAgain {
		flags = append(flags, "--sent-again")
	}
	return shell.CommandFor(name, ids, append(flags, c.settings.AsFlags()...)...)
}

// resolveNames are the flags for fields of a query that resolves an outcome.
var resolveNames = map[string]string{
	"SentAt": "--sent-at", "amount": "--amount", "currency": "--currency", "orderId": "--order", "refundTransactionId": "the id of the refund",
	"transactionId": "the transactionId",
}

// unresolved returns the error for a payment or refund that was not made, or may not have been. If err is nil, state is that of
// a row that is not final. The command next resolves it later.
func (c *call) unresolved(err error, state, next string) error {
	switch {
	case err == nil:
		return exit.Fail(exit.Unknown, "%s: not final yet. Do not send it again; run later: %s", state, next)
	case errors.Is(err, cardgateway.ErrInvalidRequest):
		return exit.Rename(err, resolveNames)
	case errors.Is(err, cardgateway.ErrOutcomeUnknown) && c.ctx.Err() != nil:
		return exit.Fail(exit.Interrupted, "interrupted; the outcome is still unknown. Run again: %s", next)
	case errors.Is(err, cardgateway.ErrOutcomeUnknown):
		return exit.Fail(exit.Unknown, "the outcome is unknown. Do not send it again; run later: %s\ncardgateway: %s", next, exit.Explain(err).Text)
	case errors.Is(err, cardgateway.ErrNotFound):
		return exit.Fail(exit.Negative, "not known to the gateway. That is no proof that it was not sent, because a request can arrive late. Before you "+
			"treat it as not sent, run again in some hours: %s", next)
	case errors.Is(err, cardgateway.ErrConflict):
		return exit.Fail(exit.Negative, "TWICE: the gateway has two successes. This needs manual review: %s", exit.Explain(err).Text)
	case errors.Is(err, cardgateway.ErrTestPayment):
		return exit.Fail(exit.Negative, "approved as a test, so it is not paid (in a test system, set --test-payments): %s", exit.Explain(err).Text)
	case errors.Is(err, cardgateway.ErrDeclined):
		return exit.Fail(exit.Negative, "declined, no money was moved: %s", exit.Explain(err).Text)
	}
	return err
}

// parse parses the flags of both commands.
func (f *resolveFlags) parse(client *cardgateway.Client) (amount decimal.Decimal, sentAt time.Time, err error) {
	if amount, err = parseAmount(f.Amount); err != nil {
		return amount, sentAt, err
	}
	if sentAt, err = period.ParseTime("--sent-at", f.SentAt, client.Location()); err == nil && f.Wait <= 0 {
		err = exit.Fail(exit.Failed, "--wait must be greater than 0; 1s queries once")
	}
	return amount, sentAt, err
}

var amountForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,3})?$`)

// parseAmount parses a decimal amount. It does not accept 1e3 and 1,000.
func parseAmount(text string) (decimal.Decimal, error) {
	if !amountForm.MatchString(text) {
		return decimal.Decimal{}, exit.Fail(exit.Failed, "--amount: %q is not an amount; write 12.50", text)
	}
	return decimal.RequireFromString(text), nil
}
