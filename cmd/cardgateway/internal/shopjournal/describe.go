package shopjournal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/shopspring/decimal"
)

// Describe writes everything that is known about an entry, and what the journal does next. The client has the time zone of the
// times, and the lifetime of the hosted page; flags are those of the commands that are named. It does not return errors of out: use a
// writer that keeps them, such as a bufio.Writer.
func Describe(out io.Writer, e *journal.Entry, absentAfter time.Duration, client *cardgateway.Client, now time.Time, flags []string) {
	line := func(name, format string, args ...any) {
		if text := terminal.Clean(fmt.Sprintf(format, args...)); text != "" {
			fmt.Fprintf(out, "%-13s %s\n", name, text)
		}
	}
	in := e.Intent() // the first one can have been invalid
	if in.ID.Refund {
		line("refund", "%s of %s, of payment %s", in.ID.Text, money(in.Amount, Currency(e)), in.UniqueID)
	} else {
		line("payment", "%s of %s", in.ID.Text, money(in.Amount, in.Currency))
		line("order", "%s", in.OrderID)
		line("unique id", "%s", uniqueIDOf(e))
	}
	line("shop", "%s, app %s", in.Shop.Gateway, in.Shop.AppID)
	line("operation", "%s", in.Operation)
	line("begun", "%s, %v ago", wall(e.Begun.At, client), now.Sub(e.Begun.At).Round(time.Second))
	line("state", "%v: %s", e.State(), Why(e))
	line("acknowledged", "%s", acknowledgedText(e))
	fmt.Fprintln(out)
	line(wall(e.Begun.At, client), "  submitted; recorded before anything was sent")
	for i := range e.Evidence {
		line(wall(e.Evidence[i].At, client), "  %s", evidenceText(&e.Evidence[i]))
	}
	fmt.Fprintln(out)
	line("next", "%s", next(e, absentAfter, client, flags))
}

func wall(t time.Time, client *cardgateway.Client) string {
	return terminal.Wall(t.In(client.Location()))
}

// money formats an amount with its currency, if that is known.
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
	return fmt.Sprintf("partly: %d of %d lines below", e.Acked, len(e.Evidence))
}

// evidenceText describes one piece of evidence.
func evidenceText(ev *journal.Evidence) string {
	switch ev.Source {
	case journal.SourceSubmission:
		return "submitted again: " + money(ev.Submission.Amount, ev.Submission.Currency)
	case journal.SourceAnswer:
		return "the call ended: " + saidText(ev)
	}
	return "query: " + saidText(ev)
}

func saidText(ev *journal.Evidence) string {
	text := ev.State.String()
	switch {
	case ev.State == journal.Refused:
		text += ", " + refusalText(ev.HTTPStatus, ev.Code)
	case ev.Invalid:
		text += ", invalid request"
	case ev.Seen:
		text += ", the gateway knows the id, but the outcome is not certain"
	case ev.State == journal.PresumedAbsent:
		text += ", not known to the gateway"
	}
	if t := ev.Transaction; t != nil {
		text += fmt.Sprintf(", code %d, unique id %s, %s at %s", t.Code, t.UniqueID, money(t.TransactionAmount, t.TransactionCurrency), t.TransactionAt)
	}
	if r := ev.Refund; r != nil {
		text += fmt.Sprintf(", code %d, refund unique id %s, %s at %s", r.Code, r.RefundUniqueID, money(r.RefundAmount, r.RefundCurrency), r.RefundRequestAt)
	}
	return text
}

// next describes what the journal does with the entry, and what the operator can do.
func next(e *journal.Entry, absentAfter time.Duration, client *cardgateway.Client, flags []string) string {
	own := []string{"--state", asWord(e.State())}
	if e.ID().Refund {
		own = append(own, "--refund")
	}
	ack := shell.CommandFor("journal ack", []string{e.ID().Text}, append(own, flags...)...)
	if !e.Unacked() {
		return "nothing; Confirm can add what a notification or a walk shows later"
	}
	at := e.Intent().At
	switch e.State() {
	case journal.Conflicting:
		return "review it in the gateway's back office; most likely a refund is needed. It is reported until it is acknowledged: " + ack
	case journal.Unknown:
		if isSeen(e) {
			return "every Recover (cardgateway journal run) queries the gateway; it is never presumed absent, because the gateway knows the id"
		}
		return "every Recover (cardgateway journal run) queries the gateway; if it is not known there after " + wall(at.Add(absentAfter), client) +
			", it is presumed absent. Until then do not send it again"
	case journal.Pending:
		if in := e.Intent(); in.OnHostedPage() {
			return "every Recover queries the gateway for the outcome; if the cardholder has not finished by " + wall(at.Add(client.HostedPageLifetime()), client) +
				", it is abandoned, or declined if a card was"
		}
		return "every Recover queries the gateway for the outcome"
	case journal.Refused:
		return "every Recover queries whether the gateway knows it after all. To send it again, correct the request and use AfterRefusal; to end the queries: " + ack
	case journal.PresumedAbsent:
		return "every Recover queries again, less and less often; a success that appears after all is a conflict. To end the queries: " + ack
	}
	return "it is reported to the shop's program until that acknowledges it; if the outcome is in the shop's database: " + ack
}
