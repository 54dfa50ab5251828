package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// pay makes a payment with a stored test card.
func pay(t *testing.T, server *sandbox.Server, id, amount string, o sandbox.Outcome) *cardgateway.Transaction {
	t.Helper()
	return payAndNotify(t, server, id, amount, o, "https://shop.example/n")
}

// payAndNotify makes a payment whose notification goes to a URL.
func payAndNotify(t *testing.T, server *sandbox.Server, id, amount string, o sandbox.Outcome, to string) *cardgateway.Transaction {
	t.Helper()
	r := paymentOf(id, amount, "EUR")
	r.NotificationURL = to
	paid, err := clientOf(t, server, "7").TokenPayment(t.Context(), cardgateway.NewToken(server.NewToken(o)), r)
	if paid == nil {
		t.Fatal(err)
	}
	return paid
}

// clientOf returns a client of one of the gateway's apps.
func clientOf(t *testing.T, server *sandbox.Server, app cardgateway.AppID) *cardgateway.Client {
	t.Helper()
	return clienttest.NewClient(t, cardgateway.Config{
		BaseURL: server.URL, AppID: app, TestPayments: true, Authenticate: cardgateway.BasicAuth("m1", secretKey),
	})
}

func paymentOf(id, amount, currency string) cardgateway.TokenPaymentRequest {
	r := clienttest.TokenPaymentRequest(id)
	r.Amount, r.Currency = decimal.RequireFromString(amount), currency
	return r
}

// paidGateway starts a gateway with a payment t-1 of 12.50 EUR, and returns its settings and the gateway's id of the payment.
func paidGateway(t *testing.T, o sandbox.Options) (server *sandbox.Server, env map[string]string, id string) {
	t.Helper()
	server = gatewayFor(t, o)
	return server, environment(server.URL), pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
}

func TestGet(t *testing.T) {
	_, env, id := paidGateway(t, sandbox.Options{})
	r := tool(t, env, "get", id)
	r.want(t, exit.OK)
	holds(t, r.out, "state                  approved\n", "transactionAmount      12.50\n", "transactionCardNumber  430000******0000\n",
		"uniqueId               "+id+"\n")
	r = tool(t, env, "get", "--transaction", "t-1", "--last", "2h", "--format", "jsonl")
	r.want(t, exit.OK)
	var row struct{ State, TransactionAmount, UniqueID, At string }
	if err := json.Unmarshal([]byte(r.out), &row); err != nil || row.State != "approved" || row.TransactionAmount != "12.50" ||
		row.UniqueID != id || !strings.HasSuffix(row.At, "+08:00") {
		t.Errorf("got %s, %v", r.out, err)
	}
	tool(t, env, "get", "--transaction", "t-2").want(t, exit.Negative, "the gateway has no payment with this transactionId since ")
	tool(t, env, "get", "999").want(t, exit.Negative, "the gateway does not know it")
	tool(t, env, "refund", "", "--amount", "1").want(t, exit.Failed, "uniqueId is required")
	tool(t, env, "get", "abc").want(t, exit.Failed, `uniqueId: "abc" is not an id of the gateway`, "if it is your own id, run: cardgateway get --transaction=abc\n")
	tool(t, env, "get", "abc", "--app-id", "7").want(t, exit.Failed, "run: cardgateway get --transaction=abc --app-id 7\n")
	tool(t, env, "refund", "t-1", "--all").want(t, exit.Failed, "run: cardgateway get --transaction=t-1\n")
	tool(t, env, "resolve", "refund", "t-1", "r-1", "--amount", "1", "--sent-at", "2026-11-22 03:10:00").want(t, exit.Failed,
		"run: cardgateway get --transaction=t-1\n")
	tool(t, env, "get", "--transaction=t-1").want(t, exit.OK)
	tool(t, env, "get").want(t, exit.Failed, "specify the payment")
	tool(t, env, "get", id, "--transaction", "t-1").want(t, exit.Failed, "specify the payment")
	tool(t, env, "get", "--transaction", "t-1", "--last", "soon").want(t, exit.Failed, `--last: "soon" is not a duration`)
}

// TestOtherRows: a gateway that gives other orders too, which no walk can read, changes no answer.
func TestOtherRows(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{Search: sandbox.Search{LeakRows: 3}})
	env := environment(server.URL)
	for _, id := range []string{"t-1", "t-2", "t-3", "t-4", "t-5"} {
		pay(t, server, id, "12.50", sandbox.Approved)
	}
	r := tool(t, env, "get", "--transaction", "t-1", "--format", "jsonl", "--last", "90d")
	r.want(t, exit.OK)
	if strings.Count(r.out, "\n") != 1 || !strings.Contains(r.out, `"transactionId":"t-1"`) {
		t.Errorf("got %s, want one payment", r.out)
	}
	tool(t, env, "get", "--transaction", "t-9").want(t, exit.Negative, "the gateway has no payment with this transactionId")
}
