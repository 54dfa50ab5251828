package shopjournal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/shopspring/decimal"
)

// Describe writes all that is known of an entry, and what comes next. An error of out is not reported: it must be one that keeps
// it, such as a bufio.Writer. The zone is that of the gateway.
func Describe(out io.Writer, e *journal.Entry, patience Patience, zone *time.Location, now time.Time) {
	d := describing{out, e, patience, zone, now}
	d.print()
}

// describing puts an entry into words.
type describing struct {
	out      io.Writer
	entry    *journal.Entry
	patience Patience
	zone     *time.Location
	now      time.Time
}

func (d *describing) print() {
	e := d.entry
	line := func(name, format string, args ...any) {
		if text := terminal.Clean(fmt.Sprintf(format, args...)); text != "" {
			fmt.Fprintf(d.out, "%-13s %s\n", name, text)
		}
	}
	in := &e.Begun
	if in.RefundTransactionID != "" {
		line("refund", "%s of %s, of payment %s", in.RefundTransactionID, money(in.Amount, Currency(e)), in.UniqueID)
	} else {
		line("payment", "%s of %s", in.TransactionID, money(in.Amount, in.Currency))
		line("order", "%s", in.OrderID)
		line("unique id", "%s", uniqueIDOf(e))
	}
	line("shop", "%s, app %s", in.Shop.Gateway, in.Shop.AppID)
	line("operation", "%s", in.Operation)
	line("begun", "%s, %v ago", d.wall(in.At), d.now.Sub(in.At).Round(time.Second))
	line("state", "%s: %s", State(e), Why(e))
	line("acknowledged", "%s", acknowledgedText(e))
	fmt.Fprintln(d.out)
	line(d.wall(in.At), "  submitted; written down before anything was sent")
	for i := range e.Evidence {
		line(d.wall(e.Evidence[i].At), "  %s", evidenceText(&e.Evidence[i]))
	}
	fmt.Fprintln(d.out)
	line("next", "%s", d.next())
}

func (d *describing) wall(t time.Time) string { return terminal.Wall(t.In(d.zone)) }

// money writes an amount with its currency, if that is known.
func money(d decimal.Decimal, currency string) string {
	return strings.TrimSpace(amount.Plain(d) + " " + currency)
}

func acknowledgedText(e *journal.Entry) string {
	switch {
	case !e.Unacked():
		return "yes"
	case e.Acked < 0:
		return "no"
	}
	return fmt.Sprintf("not all: %d of %d lines below", e.Acked, len(e.Evidence))
}

// evidenceText says what one piece of evidence says.
func evidenceText(ev *journal.Evidence) string {
	switch ev.Source {
	case journal.SourceSubmission:
		return "submitted again: " + money(ev.Submission.Amount, ev.Submission.Currency)
	case journal.SourceAnswer:
		return "its call ended: " + saidText(ev)
	}
	return "the gateway was asked: " + saidText(ev)
}

func saidText(ev *journal.Evidence) string {
	text := ev.State.String()
	switch {
	case ev.State == journal.Refused:
		text += ", " + refusalText(ev.HTTPStatus, ev.Code)
	case ev.Invalid:
		text += ", it violated a limit"
	case ev.Seen:
		text += ", it shows the id and nothing certain"
	case ev.State == journal.PresumedAbsent:
		text += ", it did not know it"
	}
	if t := ev.Transaction; t != nil {
		text += fmt.Sprintf(", code %d, unique id %s, %s at %s", t.Code, t.UniqueID, money(t.TransactionAmount, t.TransactionCurrency), t.TransactionAt)
	}
	if r := ev.Refund; r != nil {
		text += fmt.Sprintf(", code %d, refund unique id %s, %s at %s", r.Code, r.RefundUniqueID, money(r.RefundAmount, r.RefundCurrency), r.RefundRequestAt)
	}
	return text
}

// next says what the library does with the entry, and what people can do.
func (d *describing) next() string {
	e := d.entry
	words := []string{"journal", "ack", idOf(e), "--state", asWord(State(e))}
	if Kind(e) == "refund" {
		words = append(words, "--refund")
	}
	ack := terminal.CommandLine(words...)
	if !e.Unacked() {
		return "nothing; what a notification or a walk shows later can be added by Confirm"
	}
	if e.Conflict() {
		return "a person looks at it in the gateway's back office, and most likely gives money back; it is told until it is acknowledged: " + ack
	}
	at := e.Intent().At
	switch e.State() {
	case journal.Unknown:
		if isSeen(e) {
			return "every Recover (cardgateway journal run) asks the gateway; it is never presumed absent, since the gateway has shown it"
		}
		return "every Recover (cardgateway journal run) asks the gateway; if that does not know it after " + d.wall(at.Add(d.patience.AbsentAfter)) +
			", it is presumed absent. Until then never send it again"
	case journal.Pending:
		if isHosted(e.Begun.Operation) && d.patience.AbandonAfter > 0 {
			return "every Recover asks the gateway how it ends; if the cardholder has not come by " + d.wall(at.Add(d.patience.AbandonAfter)) +
				", it is abandoned"
		}
		return "every Recover asks the gateway how it ends"
	case journal.Refused:
		return "every Recover asks whether the gateway has it after all. To send it again, correct what was refused and use AfterRefusal; to leave it: " + ack
	case journal.PresumedAbsent:
		return "every Recover asks again, ever more rarely; a success that comes after all is a conflict. When it is too late for that: " + ack
	}
	return "it is told to the shop's program until that acknowledges it; if the books have it: " + ack
}

// isHosted reports whether a payment of this operation is made on the gateway's page.
func isHosted(operation string) bool {
	return operation == "CreateTokenOrder" || operation == "CreateCheckout" || operation == "CreateCheckoutSubscription"
}
