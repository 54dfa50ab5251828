package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/progress"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/internal/iso4217"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
	"github.com/shopspring/decimal"
)

type refundCommand struct {
	UniqueID string `arg:"" help:"The gateway's id of the payment."`
	Amount   string `xor:"amount" placeholder:"AMOUNT" help:"Amount to refund, in the currency of the payment, such as 12.50."`
	All      bool   `xor:"amount" help:"Refund the remaining amount, instead of --amount."`
	RefundID string `placeholder:"ID" help:"Your id of the refund, which must not have been used before, for any payment. Required with --yes; default: a random id, which is shown."`
	Remark   string `placeholder:"TEXT" help:"Remark that is sent to the gateway."`
	Yes      bool   `help:"Do not ask for confirmation, for scripts."`
	detailsFlags
}

// Help is shown below the flags.
func (*refundCommand) Help() string {
	return `Shows the payment and its earlier refunds, asks you to confirm, and sends the refund once. It rejects more than the remaining
amount, also if that changes before you confirm, and a refund id that an earlier refund of this payment has. It does not look at the
refunds of other payments.

The exit code is 0 if the refund was made, 1 if it was declined or refused, or you did not confirm, 2 if nothing was refunded, and 3 if it was
sent and its outcome is not final: the gateway has accepted it and can still decline it, which is usual, or the outcome is unknown.
Do not refund again after 3, but run the command that is printed.

Examples:
  cardgateway refund 1234567890 --amount 12.50
  cardgateway refund 1234567890 --all --refund-id r-1002 --yes`
}

// plan is a refund before it is sent, with its payment.
type plan struct {
	payment *cardgateway.Transaction
	before  []cardgateway.Refund
	left    decimal.Decimal // what is neither refunded nor accepted before
	request cardgateway.RefundRequest
}

// Run refunds a payment.
func (r *refundCommand) Run(c *call) error {
	if r.Amount == "" && !r.All {
		return exit.Fail(exit.Failed, "the amount is missing: set --amount 12.50, or --all")
	}
	if r.Yes && r.RefundID == "" {
		return exit.Fail(exit.Failed, "--yes requires --refund-id: without it, a script that runs twice would refund twice, with two ids")
	}
	if err := c.checkUniqueID(r.UniqueID); err != nil {
		return err
	}
	var back decimal.Decimal
	if r.Amount != "" {
		var err error
		if back, err = parseAmount(r.Amount); err != nil {
			return err
		}
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	p, err := r.plan(c.ctx, client, back, c.now())
	if err != nil {
		return err
	}
	p.print(c.err, client)
	if !r.Yes {
		if err := c.confirm(p.request.Amount); err != nil {
			return err
		}
		confirmed := p // what others have refunded while the question waited counts too
		r.RefundID = p.request.RefundTransactionID
		if p, err = r.plan(c.ctx, client, back, c.now()); err != nil {
			return err
		}
		if !p.left.Equal(confirmed.left) {
			return exit.Fail(exit.Negative, "nothing was sent: meanwhile the remaining amount is %s, no longer %s", amount.Plain(p.left), amount.Plain(confirmed.left))
		}
	}
	return r.send(c, client, p)
}

// plan queries the payment and its refunds. Back is the value of --amount. It sends no refund.
func (r *refundCommand) plan(ctx context.Context, client *cardgateway.Client, back decimal.Decimal, now time.Time) (*plan, error) {
	payment, err := client.GetTransaction(ctx, r.UniqueID)
	if err != nil {
		return nil, err
	}
	if payment.Code == cardgateway.CodeSuccess && payment.IsTest && !client.Paid(payment) {
		return nil, exit.Fail(exit.Negative, "nothing was sent: the payment is marked as a test, so it is not paid (in a test system, set --test-payments)")
	}
	if !client.Paid(payment) {
		return nil, exit.Fail(exit.Negative, "nothing was sent: the payment is not approved, it is %s", payment.State())
	}
	// The clock of a machine that was suspended, or of a restored one, can be behind by days: what the gateway shows is not in the future.
	for _, shown := range []time.Time{payment.TransactionAt.In(client.Location()), payment.Timestamp} {
		switch behind := shown.Sub(now).Round(time.Minute); {
		case behind > 48*time.Hour:
			return nil, exit.Fail(exit.Failed, "nothing was sent: this machine's clock is %v behind the gateway's, so earlier refunds are not found; set it", behind)
		case behind > 0:
			now = shown
		}
	}
	p := &plan{payment: payment, left: payment.TransactionAmount}
	from := payment.TransactionAt.In(client.Location()).AddDate(0, 0, -1)
	if payment.TransactionAt.IsZero() {
		from = now.AddDate(-1, 0, 0)
	}
	refunds := idSearch[cardgateway.Refund]{
		page: func(from, to time.Time, n int) (*cardgateway.Page[cardgateway.Refund], error) {
			return client.SearchRefunds(ctx, cardgateway.RefundQuery{UniqueID: r.UniqueID, Start: from, End: to}, cardgateway.PageRequest{CurrPage: n})
		},
		matches: func(f *cardgateway.Refund) bool { return f.UniqueID == r.UniqueID || f.UniqueID == "" },
		key: func(f *cardgateway.Refund) string {
			if f.RefundUniqueID == "" {
				return ""
			}
			return f.MerchantRefundID + " " + f.RefundUniqueID // two refunds can have the same id
		},
	}
	if p.before, err = refunds.all(from, now); err != nil {
		return nil, err
	}
	for _, f := range p.before {
		isAlike := resolve.RefundAlike(r.RefundID, f.MerchantRefundID, f.Extra)
		isChanged := f.State() != cardgateway.StateDeclined && f.RefundAmount.Equal(back) && isAlike
		if r.RefundID != "" && (f.MerchantRefundID == r.RefundID || isChanged) {
			return nil, exit.Fail(exit.Negative, "nothing was sent: the gateway already has a refund %s of this payment: %s %s, %s",
				shell.Quote(f.MerchantRefundID), amount.Plain(f.RefundAmount), f.RefundCurrency, tabular.RefundState(&f))
		}
		if f.State() != cardgateway.StateDeclined {
			if !f.RefundAmount.IsPositive() || f.RefundCurrency != "" && f.RefundCurrency != payment.TransactionCurrency {
				return nil, exit.Fail(exit.Negative, "nothing was sent: it is not known how much of the payment an earlier refund has returned: %s",
					shell.Quote(cmp.Or(f.MerchantRefundID, f.RefundUniqueID)))
			}
			p.left = p.left.Sub(f.RefundAmount)
		}
	}
	p.request = cardgateway.RefundRequest{
		UniqueID: r.UniqueID, RefundTransactionID: cmp.Or(r.RefundID, "refund-"+rand.Text()), Amount: p.left, Remark: r.Remark,
	}
	if !r.All {
		p.request.Amount = back
		if err := checkRefundAmount(p.request.Amount, payment); err != nil {
			return nil, err
		}
	}
	if !p.left.IsPositive() || p.request.Amount.GreaterThan(p.left) {
		return nil, exit.Fail(exit.Negative, "nothing was sent: of %s %s, %s was refunded before; %s can still be refunded", amount.Plain(payment.TransactionAmount),
			payment.TransactionCurrency, amount.Plain(payment.TransactionAmount.Sub(p.left)), amount.Plain(p.left))
	}
	return p, nil
}

// checkRefundAmount rejects an amount that is not positive, or has more decimals than the currency, and the amount of the payment.
func checkRefundAmount(back decimal.Decimal, payment *cardgateway.Transaction) error {
	if !back.IsPositive() {
		return exit.Fail(exit.Failed, "nothing was sent: --amount: must be above zero")
	}
	decimals, known := iso4217.Decimals(payment.TransactionCurrency)
	decimals = max(decimals, -int(payment.TransactionAmount.Exponent()))
	if known && !back.Equal(back.Truncate(int32(decimals))) {
		return exit.Fail(exit.Failed, "nothing was sent: --amount: %s has more than the %d decimals of %s", amount.Plain(back), decimals,
			payment.TransactionCurrency)
	}
	return nil
}

// print prints the payment, its earlier refunds, and the refund to be sent.
func (p *plan) print(w io.Writer, client *cardgateway.Client) {
	t, currency := p.payment, terminal.Clean(p.payment.TransactionCurrency)
	test := ""
	if t.IsTest {
		test = ", a test payment"
	}
	fmt.Fprintf(w, "gateway      %s, app %s\n", client.BaseURL(), client.AppID())
	fmt.Fprintf(w, "payment      %s (%s) of %s, card %s%s\n", terminal.Clean(t.UniqueID), terminal.Clean(t.TransactionID), t.TransactionAt,
		terminal.Clean(string(t.TransactionCardNumber)), test)
	fmt.Fprintf(w, "paid         %s %s\n", amount.Plain(t.TransactionAmount), currency)
	for _, f := range p.before {
		fmt.Fprintf(w, "refund       %s %s, %s, of %s (%s)\n", amount.Plain(f.RefundAmount), terminal.Clean(f.RefundCurrency), tabular.RefundState(&f),
			f.RefundRequestAt, terminal.Clean(f.MerchantRefundID))
	}
	fmt.Fprintf(w, "remaining    %s %s\n", amount.Plain(p.left), currency)
	fmt.Fprintf(w, "TO REFUND    %s %s with refund id %s\n", amount.Plain(p.request.Amount), currency, terminal.Clean(p.request.RefundTransactionID))
}

// confirm asks the user to type the amount to refund. Without a terminal it returns an error.
func (c *call) confirm(back decimal.Decimal) error {
	if !progress.IsTerminal(c.in) {
		return exit.Fail(exit.Failed, "nothing was sent: there is no terminal to confirm on; in a script, use --yes and --refund-id")
	}
	fmt.Fprintf(c.err, "Type the amount to confirm the refund, anything else to cancel: ")
	line, typed := make(chan string, 1), ""
	go func() {
		text, _ := bufio.NewReader(io.LimitReader(c.in, 1<<10)).ReadString('\n') // after an error, the text is not the amount
		line <- strings.TrimSpace(text)
	}()
	select {
	case <-c.ctx.Done():
	case typed = <-line:
	}
	if err := c.interrupted(); err != nil { // Ctrl-C wins if both happened
		return err
	}
	if typed != amount.Plain(back) {
		return exit.Fail(exit.Negative, "nothing was sent: you did not type %s", amount.Plain(back))
	}
	return nil
}

// interrupted returns the error for Ctrl-C before the refund is sent, or nil.
func (c *call) interrupted() error {
	if c.ctx.Err() != nil {
		return exit.Fail(exit.Interrupted, "interrupted; nothing was sent")
	}
	return nil
}

// send sends the refund once, and reports its outcome. Ctrl-C does not interrupt it, because the outcome would be unknown.
func (r *refundCommand) send(c *call, client *cardgateway.Client, p *plan) (err error) {
	resolve := func(sentAt time.Time, seen bool) string {
		sent := resolveFlags{Amount: amount.Plain(p.request.Amount), SentAt: sentAt.In(client.Location()).Format(time.RFC3339), Seen: seen}
		return sent.command(c, "resolve refund", []string{p.request.UniqueID, p.request.RefundTransactionID})
	}
	c.tell("sending the refund once. If this program ends without another message, run: %s", resolve(c.now(), false))
	if err := c.interrupted(); err != nil {
		return err
	}
	// From here on, nothing may end the program with 2, which means that no refund was made, or before the outcome is told: Go
	// exits with 2 after a fatal error and after a panic in another goroutine, unless they abort, and is ended by a closed stdout. After a
	// second Ctrl-C, a shell would report 130, which says that it can be run again.
	debug.SetTraceback("crash")
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGTERM, os.Interrupt)
	defer func() {
		if recover() != nil {
			err = exit.Fail(exit.Unknown, "the program failed after the refund may have been sent. Do not refund again. Run: %s", resolve(c.now(), false))
		}
	}()
	refund, err := client.CreateRefund(context.WithoutCancel(c.ctx), p.request)
	if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
		return exit.Fail(exit.Unknown, "SENT, AND THE OUTCOME IS UNKNOWN. Do not refund again. Run: %s\ncardgateway: %s",
			resolve(unknown.SentAt, unknown.Seen), exit.Explain(err).Text)
	}
	if refund != nil {
		if shown := show(c, tabular.RefundColumns(client.Location()), []cardgateway.Refund{*refund}, r.Format); shown != nil {
			c.tell("%v", shown) // the outcome is more important
		}
	}
	switch {
	case err == nil && refund.Refunded():
		c.say("refunded")
		return nil
	case err == nil:
		return exit.Fail(exit.Unknown, "accepted, not final yet: the gateway can still decline it. Do not refund again; run later: %s", resolve(c.now(), true))
	case errors.Is(err, cardgateway.ErrDeclined):
		return exit.Fail(exit.Negative, "the gateway declined the refund: %s", exit.Explain(err).Text)
	case errors.Is(err, cardgateway.ErrNotSent):
		return exit.Fail(exit.Failed, "nothing was sent; you can run the same command again: %s", exit.Explain(err).Text)
	}
	return notTaken(err)
}

// notTaken returns the error of a refund that was not processed. If the gateway refused it, the exit code is exit.Negative; wrong
// credentials and failed connections are exit.Failed.
func notTaken(err error) error {
	failed := exit.Explain(err)
	refused, ok := errors.AsType[*cardgateway.RefusedError](err)
	if ok && refused.Code != 0 && refused.Code != cardgateway.CodeUnauthorized {
		return exit.Fail(exit.Negative, "the gateway refused the refund: %s", failed.Text)
	}
	return exit.Fail(failed.Code, "nothing was refunded: %s", failed.Text)
}
