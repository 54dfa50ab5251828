package main

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

type notifyCommand struct {
	URL            string `arg:"" help:"URL of the handler."`
	Event          string `enum:"approved,declined,refunded,refund-declined,chargeback" default:"approved" help:"approved, declined, refunded, refund-declined or chargeback."`
	Transaction    string `default:"t-test" placeholder:"ID" help:"Your transactionId."`
	UniqueID       string `default:"1867098610731065345" placeholder:"DIGITS" help:"The gateway's id of the payment."`
	RefundID       string `default:"r-test" placeholder:"ID" help:"Your id of the refund."`
	RefundUniqueID string `default:"1867098723574620161" placeholder:"ID" help:"The gateway's id of the refund."`
	Amount         string `default:"12.50" placeholder:"AMOUNT" help:"The amount."`
	Currency       string `default:"EUR" placeholder:"CODE" help:"The currency."`
	WrongSignature bool   `help:"Sign with a different key. The handler must reject it."`
}

// Help is shown below the flags.
func (*notifyCommand) Help() string {
	return `Creates a notification of a test payment, signs it with the secret key as the gateway does, sends it to a handler, and prints the
response. A handler that confirms by a query, as package notify does, accepts it only if the gateway knows the ids: make a payment
in the sandbox, and use its ids with --unique-id and --transaction.

The exit code is 0 if the handler accepted it (200), 1 for any other response, and 2 if there was no response.

Examples:
  cardgateway notify http://localhost:8080/notify --unique-id 1600000000000002994 --transaction t-1002
  cardgateway notify http://localhost:8080/notify --wrong-signature
  cardgateway notify http://localhost:8080/notify --event refunded`
}

// Run sends the notification, and prints a line for it and one for the response. It needs no gateway.
func (n *notifyCommand) Run(c *call) error {
	set, err := c.load()
	if err != nil {
		return err
	}
	secret, appID := set.Get(settings.Secret).Value, set.Get("app-id").Value
	if secret == "" {
		return exit.Fail(exit.Failed, "the secret key is missing, which signs notifications: set %s, or use --secret-file",
			settings.Variable(settings.Secret))
	}
	forwarder, err := relay.NewForwarder("URL", n.URL, set.Timeout)
	if err != nil {
		return err
	}
	if err := n.check(appID); err != nil {
		return err
	}
	key, note := secret, "signed"
	if n.WrongSignature {
		key, note = rand.Text(), "wrong signature"
	}
	event, members := n.create(appID)
	r, err := sandbox.NotificationRequest(n.URL, key, members)
	if err != nil {
		return exit.Fail(exit.Failed, "the notification cannot be created: %s", err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	lines := &relay.Printer{Zone: set.Location, Body: 2 << 10, Out: c.out}
	hidden := relay.Hide(secret, cardgateway.Token{})
	name := relay.Name(1)
	lines.Event(time.Now(), name, event, note)
	a := forwarder.Send(c.ctx, r.Header, "", body)
	if c.ctx.Err() != nil {
		return exit.Fail(exit.Interrupted, "interrupted")
	}
	line := relay.NewAnswerLine(name, forwarder.Shown, a, hidden)
	lines.Answer(line)
	if err := lines.Failure(); err != nil {
		return exit.CannotWrite("lines", err)
	}
	switch {
	case a.Err != nil:
		return exit.Fail(exit.Failed, "no response")
	case line.Outcome != relay.Forwarded:
		return exit.Fail(exit.Negative, "not accepted")
	case n.WrongSignature:
		c.tell("THE HANDLER ACCEPTED A NOTIFICATION WITH A WRONG SIGNATURE: does it verify signatures?")
	}
	return nil
}

// check checks the flags.
func (n *notifyCommand) check(appID string) error {
	if _, err := parseAmount(n.Amount); err != nil {
		return err
	}
	switch {
	case len(n.Currency) != 3 || !ascii.IsUpper(n.Currency):
		return exit.Fail(exit.Failed, "--currency: %q is not a currency; write EUR", n.Currency)
	case !ascii.IsDigits(n.UniqueID) || len(n.UniqueID) > 32:
		return exit.Fail(exit.Failed, "--unique-id must be 1 to 32 digits")
	case appID != "" && !ascii.IsDigits(appID) || len(appID) > 32:
		return exit.Fail(exit.Failed, "app-id must be at most 32 digits")
	}
	return nil
}

// create returns what the notification is about, and its members, which are those of the published example of its kind.
func (n *notifyCommand) create(appID string) (relay.Event, map[string]any) {
	members := map[string]any{"isTest": true, "uniqueId": n.UniqueID, "timestamp": time.Now().UnixMilli()}
	if appID != "" {
		members["appId"] = json.Number(appID)
	}
	e := relay.Event{Kind: "payment", State: n.Event, UniqueID: n.UniqueID, Amount: n.Amount, Currency: n.Currency}
	switch n.Event {
	case "refunded", "refund-declined":
		e.Kind, e.State, e.MerchantRefundID = "refund", strings.TrimPrefix(n.Event, "refund-"), n.RefundID
		code, message := cardgateway.CodeRefundSuccess, "Refund successful"
		if n.Event == "refund-declined" {
			code, message = cardgateway.CodeRefundFailed, "Refund failed"
		}
		members["transactionType"], members["code"], members["message"], members["refundMessage"] = "Refund", int(code), message, message
		members["refundCurrency"], members["refundAmount"] = n.Currency, n.Amount
		members["refundUniqueId"], members["merchantRefundId"] = n.RefundUniqueID, n.RefundID
	case "chargeback": // the published example begins without a code
		e.Kind, e.State = "chargeback", "claimed"
		members["transactionType"], members["chargebackCurrency"], members["chargebackAmount"] = "Chargeback", n.Currency, n.Amount
	default:
		e.TransactionID = n.Transaction
		code := cardgateway.CodeSuccess
		if n.Event == "declined" {
			code = cardgateway.CodeFailed
		}
		members["transactionType"], members["code"], members["transactionId"] = "Sale", int(code), n.Transaction
		members["transactionCurrency"], members["transactionAmount"] = n.Currency, n.Amount
		members["billDescription"], members["transactionCardNumber"] = "sandbox.example", "430000******0000"
	}
	return e, members
}
