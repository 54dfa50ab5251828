package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
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
	Event          string `enum:"approved,declined,refunded,refund-refused,chargeback" default:"approved" help:"approved, declined, refunded, refund-refused or chargeback."`
	WithToken      bool   `help:"Add a made-up token."`
	Transaction    string `default:"t-test" placeholder:"ID" help:"Your transactionId."`
	UniqueID       string `default:"1867098610731065345" placeholder:"DIGITS" help:"The gateway's id of the payment."`
	RefundID       string `default:"r-test" placeholder:"ID" help:"Your id of the refund."`
	RefundUniqueID string `default:"1867098723574620161" placeholder:"ID" help:"The gateway's id of the refund."`
	Amount         string `default:"12.50" placeholder:"AMOUNT" help:"The amount."`
	Currency       string `default:"EUR" placeholder:"CODE" help:"The currency."`
	WrongSignature bool   `help:"Sign with a different key. The handler must reject it."`
	Repeat         int    `default:"1" placeholder:"N" help:"Send the same notification N times, one after the other; at most 1,000."`
}

// Help is shown below the flags.
func (*notifyCommand) Help() string {
	return `Creates a notification of a test payment, signs it with the secret key as the gateway does, sends it to a handler, and prints the
response. A handler that confirms by a query, as package notify does, accepts it only if the gateway knows the ids: make a payment
in the sandbox, and use its ids with --unique-id and --transaction.

The exit code is 0 if the handler accepted it (200) each time, 1 for any other response, and 2 if there was no response.

Examples:
  cardgateway notify http://localhost:8080/notify --unique-id 1600000000000002994 --transaction t-1002
  cardgateway notify http://localhost:8080/notify --wrong-signature
  cardgateway notify http://localhost:8080/notify --event refunded --repeat 3`
}

// Run sends the notification.
func (n *notifyCommand) Run(c *call) error {
	set, err := c.load()
	if err != nil {
		return err
	}
	s, err := newNotificationSender(c, set)
	if err != nil {
		return err
	}
	forwarder, err := relay.NewForwarder("URL", n.URL, s.timeout)
	if err != nil {
		return err
	}
	appID := set.Get("app-id").Value
	if err := n.check(appID); err != nil {
		return err
	}
	key, note := s.secretKey, "signed"
	if n.WrongSignature {
		key, note = rand.Text(), "wrong signature"
	}
	e := relay.Event{Kind: "payment", State: n.Event, UniqueID: n.UniqueID, Amount: n.Amount, Currency: n.Currency}
	kind, code := n.kind()
	switch kind {
	case "Refund":
		e.Kind, e.State, e.MerchantRefundID = "refund", strings.TrimPrefix(n.Event, "refund-"), n.RefundID
	case "Chargeback":
		e.Kind, e.State = "chargeback", "claimed"
	default:
		e.TransactionID = n.Transaction
	}
	token := ""
	if n.WithToken {
		token = "tok-test-" + rand.Text()
		note += ", with a made-up token"
	}
	r, err := sandbox.NotificationRequest(n.URL, key, n.members(kind, code, appID, token))
	if err != nil {
		return exit.Fail(exit.Failed, "the notification cannot be created: %s", err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	s.hidden = relay.Hide(s.secretKey, cardgateway.NewToken(token))
	for i := range n.Repeat {
		line := relay.EventLine{Delivery: relay.Name(i + 1), Event: e, Note: note}
		if i > 0 {
			line.Note += ", the same again"
		}
		if err := s.send(c.ctx, forwarder, line, r.Header, body); err != nil {
			return err
		}
	}
	if n.WrongSignature && s.taken > 0 {
		c.tell("THE HANDLER ACCEPTED A NOTIFICATION WITH A WRONG SIGNATURE: does it verify signatures?")
	}
	return s.result()
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
	case n.Repeat < 1 || n.Repeat > 1000:
		return exit.Fail(exit.Failed, "--repeat must be 1 to 1,000")
	}
	return nil
}

// kind returns the transactionType of the event, and its result code, or zero if it has none.
func (n *notifyCommand) kind() (kind string, code cardgateway.Code) {
	switch n.Event {
	case "declined":
		return "Sale", cardgateway.CodeFailed
	case "refunded":
		return "Refund", cardgateway.CodeRefundSuccess
	case "refund-refused":
		return "Refund", cardgateway.CodeRefundFailed
	case "chargeback": // the published example begins without a code
		return "Chargeback", 0
	}
	return "Sale", cardgateway.CodeSuccess
}

// members returns the members of the published example of the kind. Empty texts are left out.
func (n *notifyCommand) members(kind string, code cardgateway.Code, appID, token string) map[string]any {
	members := map[string]any{"isTest": true, "uniqueId": n.UniqueID, "transactionType": kind, "timestamp": time.Now().UnixMilli()}
	if appID != "" {
		members["appId"] = json.Number(appID)
	}
	if token != "" {
		members["token"] = token
	}
	if code != 0 {
		members["code"] = int(code)
	}
	switch kind {
	case "Refund":
		members["message"], members["refundMessage"] = "Refund successful", "Refund successful"
		if code != cardgateway.CodeRefundSuccess {
			members["message"], members["refundMessage"] = "Refund failed", "Refund failed"
		}
		members["refundCurrency"], members["refundAmount"] = n.Currency, n.Amount
		members["refundUniqueId"], members["merchantRefundId"] = n.RefundUniqueID, n.RefundID
	case "Chargeback":
		members["chargebackCurrency"], members["chargebackAmount"] = n.Currency, n.Amount
	default:
		members["transactionId"] = n.Transaction
		members["transactionCurrency"], members["transactionAmount"] = n.Currency, n.Amount
		members["billDescription"], members["transactionCardNumber"] = "sandbox.example", "430000******0000"
	}
	return members
}

// notificationSender sends signed notifications to a handler, one after the other, and prints its responses.
type notificationSender struct {
	timeout   time.Duration
	lines     *relay.Printer
	secretKey string
	hidden    relay.Hidden

	sent, taken, unreachable int
}

// newNotificationSender creates a sender from the settings secret, zone and timeout. It needs no gateway.
func newNotificationSender(c *call, set *settings.Settings) (*notificationSender, error) {
	secret := set.Get(settings.Secret).Value
	if secret == "" {
		return nil, exit.Fail(exit.Failed, "the secret key is missing, which signs notifications: set %s, or use --secret-file",
			settings.Variable(settings.Secret))
	}
	timeout, err := set.Timeout()
	if err != nil {
		return nil, err
	}
	zone, err := set.Location()
	if err != nil {
		return nil, err
	}
	return &notificationSender{
		timeout: timeout, secretKey: secret, hidden: relay.Hide(secret, cardgateway.Token{}),
		lines: &relay.Printer{Zone: zone, Body: relay.MaxBody, Out: c.out},
	}, nil
}

// send sends one notification, and prints a line for it and one for the response.
func (s *notificationSender) send(ctx context.Context, to *relay.Forwarder, line relay.EventLine, header http.Header, body []byte) error {
	line.At = time.Now()
	s.lines.Event(line)
	a := to.Send(ctx, header, "", body)
	if ctx.Err() != nil {
		return exit.Fail(exit.Interrupted, "interrupted; %d were sent", s.sent)
	}
	s.sent++
	if a.IsTaken() {
		s.taken++
	}
	if a.Err != nil {
		s.unreachable++
	}
	s.lines.Answer(relay.NewAnswerLine(line.Delivery, to.Shown, a, s.hidden))
	if err := s.lines.Failure(); err != nil {
		return exit.CannotWrite("lines", err)
	}
	return nil
}

// result returns an error if a notification was not accepted.
func (s *notificationSender) result() error {
	switch {
	case s.unreachable > 0:
		return exit.Fail(exit.Failed, "no response: %d of %d", s.unreachable, s.sent)
	case s.taken < s.sent:
		return exit.Fail(exit.Negative, "not accepted: %d of %d", s.sent-s.taken, s.sent)
	}
	return nil
}
