package main

import (
	"errors"
	"regexp"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/shopspring/decimal"
)

type resolveCommand struct {
	Payment resolvePayment `cmd:"" help:"Find out what became of a payment."`
	Refund  resolveRefund  `cmd:"" help:"Find out what became of a refund."`
}

// resolveFlags are those of both.
type resolveFlags struct {
	Amount string        `required:"" placeholder:"AMOUNT" help:"The amount that was sent, such as 12.50."`
	SentAt string        `required:"" name:"sent-at" placeholder:"TIME" help:"When it was sent, or shortly before: \"2026-11-22 03:10:00\" or RFC 3339."`
	Wait   time.Duration `default:"2m" help:"How long to ask; once at least."`
	Seen   bool          `help:"The gateway has shown it before: should it not be found now, it is not absent."`
	Format string        `enum:",details,table,csv,jsonl" default:"" placeholder:"FORMAT" help:"details, table, csv or jsonl; details if not given."`
}

type resolvePayment struct {
	Transaction string `arg:"" help:"Your transactionId."`
	Currency    string `required:"" placeholder:"CODE" help:"The currency that was sent, such as EUR."`
	Order       string `placeholder:"ID" help:"Your order id, if one was sent."`
	HostedPage  bool   `name:"hosted-page" help:"The cardholder pays on the gateway's page, and can try another card after a decline."`
	resolveFlags
}

// Help is shown below the flags.
func (*resolvePayment) Help() string {
	return `Asks the gateway again and again, and sends nothing. Ends with 0 if the money was taken, 1 if it was not (declined, or not
known to the gateway) or was taken twice, 3 while that is not certain: then ask again later, and never pay again.

Example:
  cardgateway resolve payment t-1002 --amount 12.50 --currency EUR --sent-at "2026-11-22 03:10:00"`
}

// Run asks for a payment.
func (p *resolvePayment) Run(c *call) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	sent, sentAt, err := p.parse(client)
	if err != nil {
		return err
	}
	found, err := client.Resolve(c.ctx, cardgateway.ResolveQuery{
		TransactionID: p.Transaction, OrderID: p.Order, Amount: sent, Currency: p.Currency, SentAt: sentAt, Wait: p.Wait,
		HostedPage: p.HostedPage, Seen: p.Seen,
	})
	var rows []*cardgateway.Transaction
	if declined, ok := errors.AsType[*cardgateway.DeclinedError](err); ok && declined.Transaction != nil {
		found = declined.Transaction
	}
	if found != nil {
		rows = append(rows, found)
	}
	if conflict, ok := errors.AsType[*cardgateway.ConflictError](err); ok {
		rows = pointers(conflict.Transactions)
	}
	if shown := show(c, tabular.PaymentColumns(client.Location()), rows, p.Format); shown != nil {
		return errors.Join(shown, err)
	}
	if err == nil && found.Paid() {
		c.say("approved: %s %s was taken", amount.Plain(found.TransactionAmount), terminal.Clean(found.TransactionCurrency))
		return nil
	}
	state := ""
	if err == nil {
		state = found.State().String()
	}
	return c.unresolved(err, state, p.again(found != nil || wasSeen(err)))
}

// again is the command that asks once more.
func (p *resolvePayment) again(seen bool) []string {
	words := []string{"resolve", "payment", p.Transaction, "--amount", p.Amount, "--currency", p.Currency, "--sent-at", p.SentAt}
	if p.Order != "" {
		words = append(words, "--order", p.Order)
	}
	if p.HostedPage {
		words = append(words, "--hosted-page")
	}
	if p.Seen || seen {
		words = append(words, "--seen")
	}
	return words
}

type resolveRefund struct {
	UniqueID string `arg:"" name:"unique-id" help:"The gateway's id of the payment."`
	RefundID string `arg:"" name:"refund-id" help:"Your id of the refund."`
	resolveFlags
}

// Help is shown below the flags.
func (*resolveRefund) Help() string {
	return `Asks the gateway again and again, and sends nothing. Ends with 0 if the money was given back, 1 if it was not (refused, or not
known to the gateway) or was given back twice, 3 while that is not certain: then ask again later, and never refund again.

Example:
  cardgateway resolve refund 1234567890 r-1002 --amount 12.50 --sent-at 2026-11-22T03:10:00+08:00`
}

// Run asks for a refund.
func (r *resolveRefund) Run(c *call) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	sent, sentAt, err := r.parse(client)
	if err != nil {
		return err
	}
	found, err := client.ResolveRefund(c.ctx, cardgateway.ResolveRefundQuery{
		UniqueID: r.UniqueID, RefundTransactionID: r.RefundID, Amount: sent, SentAt: sentAt, Wait: r.Wait, Seen: r.Seen,
	})
	var rows []*cardgateway.Refund
	if declined, ok := errors.AsType[*cardgateway.DeclinedError](err); ok && declined.Refund != nil {
		found = declined.Refund
	}
	if found != nil {
		rows = append(rows, found)
	}
	if conflict, ok := errors.AsType[*cardgateway.ConflictError](err); ok {
		rows = pointers(conflict.Refunds)
	}
	if shown := show(c, tabular.RefundColumns(client.Location()), rows, r.Format); shown != nil {
		return errors.Join(shown, err)
	}
	if err == nil && found.Refunded() {
		c.say("refunded: %s %s was given back", amount.Plain(found.RefundAmount), terminal.Clean(found.RefundCurrency))
		return nil
	}
	state := ""
	if err == nil {
		state = tabular.RefundState(found)
	}
	seen := r.Seen || found != nil || wasSeen(err)
	return c.unresolved(err, state, resolveRefundWords(r.UniqueID, r.RefundID, r.Amount, r.SentAt, seen))
}

// wasSeen reports whether the gateway has shown what is asked for in some form.
func wasSeen(err error) bool {
	unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
	return ok && unknown.Seen
}

// resolveRefundWords is the command that settles a refund.
func resolveRefundWords(uniqueID, refundID, amount, sentAt string, seen bool) []string {
	words := []string{"resolve", "refund", uniqueID, refundID, "--amount", amount, "--sent-at", sentAt}
	if seen {
		words = append(words, "--seen")
	}
	return words
}

// unresolved says what it means that a payment or a refund is not made, or not yet. State is that of a row that is not final.
func (c *call) unresolved(err error, state string, again []string) error {
	next := terminal.CommandLine(append(again, c.settings.AsFlags()...)...)
	switch {
	case err == nil:
		return exit.Fail(exit.Unknown, "%s: not final yet. Never send it again; ask later: %s", state, next)
	case errors.Is(err, cardgateway.ErrInvalidRequest):
		return err
	case errors.Is(err, cardgateway.ErrOutcomeUnknown) && c.ctx.Err() != nil:
		return exit.Fail(exit.Interrupted, "interrupted; the outcome is as unknown as before. Ask again: %s", next)
	case errors.Is(err, cardgateway.ErrOutcomeUnknown):
		return exit.Fail(exit.Unknown, "the outcome is unknown. Never send it again; ask later: %s\ncardgateway: %s", next, exit.Explain(err).Text)
	case errors.Is(err, cardgateway.ErrNotFound):
		return exit.Fail(exit.No, "the gateway does not have it. That is no proof, since a request can arrive late: before you take it for "+
			"never sent, ask again in some hours: %s", next)
	case errors.Is(err, cardgateway.ErrConflict):
		return exit.Fail(exit.No, "TWICE: the gateway shows two successes. A person has to look: %s", exit.Explain(err).Text)
	case errors.Is(err, cardgateway.ErrDeclined):
		return exit.Fail(exit.No, "declined for good, no money was moved: %s", exit.Explain(err).Text)
	}
	return err
}

// parse reads what both have.
func (f *resolveFlags) parse(client *cardgateway.Client) (amount decimal.Decimal, sentAt time.Time, err error) {
	if amount, err = parseAmount(f.Amount); err != nil {
		return amount, sentAt, err
	}
	if sentAt, err = period.ParseTime("--sent-at", f.SentAt, client.Location()); err == nil && f.Wait <= 0 {
		err = exit.Fail(exit.NoAnswer, "--wait must be above zero; with 1s it asks once")
	}
	return amount, sentAt, err
}

var amountForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,3})?$`)

// parseAmount reads an amount as people write it. 1e3 and 1,000 are none.
func parseAmount(text string) (decimal.Decimal, error) {
	if !amountForm.MatchString(text) {
		return decimal.Decimal{}, exit.Fail(exit.NoAnswer, "--amount: %q is no amount; write 12.50", terminal.Clean(text))
	}
	return decimal.RequireFromString(text), nil
}

func pointers[T any](rows []T) (all []*T) {
	for i := range rows {
		all = append(all, &rows[i])
	}
	return all
}
