package leaks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// The texts of a gateway's responses are searched before they are kept: the call's own secrets are removed in every
// form, other card numbers are masked in errors, and identifiers stay whole.

// TestCardsInKeptResults: in a payment or a refund that an error keeps, card numbers are masked in every member.
func TestCardsInKeptResults(t *testing.T) {
	const otherCard = "4539000000000001"
	const pan = `,"pan":"` + otherCard + `"`
	resolve := func(ctx context.Context, c *cardgateway.Client) (any, error) {
		return c.Resolve(ctx, cardgateway.ResolveQuery{TransactionID: "t-1", Amount: clienttest.Amount, Currency: "USD", SentAt: time.Now()})
	}
	refund := func(ctx context.Context, c *cardgateway.Client) (any, error) {
		return c.CreateRefund(ctx, clienttest.RefundRequest())
	}
	resolveRefund := func(ctx context.Context, c *cardgateway.Client) (any, error) {
		return c.ResolveRefund(ctx, cardgateway.ResolveRefundQuery{
			UniqueID: "77", RefundTransactionID: "r-1", Amount: clienttest.Amount, SentAt: time.Now(),
		})
	}
	for _, tt := range []struct {
		name, body string
		call       func(context.Context, *cardgateway.Client) (any, error)
		want       error
	}{
		{"two payments", clienttest.Page(clienttest.OrderRow(100, "1", pan), clienttest.OrderRow(100, "2", pan)), resolve, cardgateway.ErrConflict},
		{"a declined payment", clienttest.Page(clienttest.OrderRow(101, "1", pan)), resolve, cardgateway.ErrDeclined},
		{"a declined refund", clienttest.RefundRow(112, "9", pan), refund, cardgateway.ErrDeclined},
		{"an unknown refund", clienttest.RefundRow(777, "9", pan), refund, cardgateway.ErrOutcomeUnknown},
		{"two refunds", clienttest.Page(clienttest.RefundRow(111, "8", pan), clienttest.RefundRow(111, "9", pan)), resolveRefund, cardgateway.ErrConflict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.Answering(200, tt.body)}})
				result, err := tt.call(t.Context(), c)
				if !errors.Is(err, tt.want) {
					t.Fatalf("%s: got %v, want %v", tt.name, err, tt.want)
				}
				seen := clienttest.DeepPrint([]any{result, err}, false)
				if strings.Contains(seen, otherCard) || !strings.Contains(seen, "***") {
					t.Errorf("%s: want the card masked, got %s", tt.name, seen)
				}
			})
		})
	}
}

// TestSecretsInEveryMember: secrets that the gateway repeats are hidden in every member. The card number that was sent
// is also hidden in groups of digits.
func TestSecretsInEveryMember(t *testing.T) {
	members := []string{
		"message", "transactionMessage", "billDescription", "transactionMethod", "transactionType", "transactionCardNumber",
		"TransactionCardNumber", "is3d", "isTest", "transactionAt", "timestamp", "appId", "uniqueId", "transactionCurrency", "unknown",
	}
	places := []string{`%q:%q`, `%q:[%q]`, `%q:{"a":%q}`, `"billingAddress":{%q:%q}`, `"billingAddress":{"address":%[2]q,%[1]q:1}`}
	byToken := clienttest.PaymentOperations[0]
	byCard := clienttest.PaymentOperations[1]
	responses := 0
	for _, secret := range []struct {
		text string
		sent clienttest.PaymentOperation
	}{
		{clienttest.Token, byToken}, {strings.ToUpper(clienttest.Token), byToken}, {strings.ToLower(clienttest.Token), byToken},
		{clienttest.SecretKey, byToken}, {clienttest.BasicValue, byToken}, {clienttest.CardNumber, byCard},
		{"4111 1111 1111 1111", byCard}, {"4111-1111-1111-1111", byCard},
	} {
		t.Run(secret.text, func(t *testing.T) {
			for _, name := range members {
				for _, place := range places {
					member := fmt.Sprintf(place, name, secret.text)
					for _, code := range []cardgateway.Code{cardgateway.CodeSuccess, cardgateway.CodeFailed, cardgateway.CodeParameterError, cardgateway.CodeSystemError} {
						c := clienttest.NewClient(t, cardgateway.Config{
							BaseURL: clienttest.BaseURL, KeepResponses: true, Authenticate: cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey),
							HTTPClient: &http.Client{Transport: clienttest.Answering(200, fmt.Sprintf(`{"code":%d,"transactionId":"t-1",%s}`, code, member))},
						})
						tx, err := secret.sent.Call(t.Context(), c, "t-1")
						marshaled, _ := json.Marshal([]any{tx, err})
						seen := fmt.Sprintf("%+v %v %s %s", tx, err, marshaled, clienttest.DeepPrint([]any{tx, err}, false))
						if strings.Contains(seen, secret.text) {
							t.Errorf("%s, code %d: shows %q", member, code, secret.text)
						}
						responses++
					}
				}
			}
		})
	}
	t.Logf("%d responses", responses)
}

// chance matches pointers and times, which can contain the digits of a code by chance.
var chance = regexp.MustCompile(`0x[0-9a-f]+|"SentAt":"[^"]*"`)

// TestTokensLikeMasks: a token that stands in no response can appear where a card number is masked.
func TestTokensLikeMasks(t *testing.T) {
	for token, message := range map[string]string{
		"411111******1111": "card 4111111111111111", "no 123456": "no 12-34 56 7890123456",
	} {
		t.Run(token, func(t *testing.T) {
			c := clienttest.NewClient(t,
				cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					return clienttest.Respond(r, 200, fmt.Sprintf(`{"code":100,"transactionId":"t-1","message":%q}`, message))
				})}})
			tx, err := c.TokenPayment(t.Context(), cardgateway.NewToken(token), clienttest.TokenPaymentRequest("t-1"))
			if err != nil || tx.Message == "" || strings.Contains(tx.Message, token) {
				t.Errorf("token %s: got %v and message %q", token, err, tx.Message)
			}
		})
	}
}

// TestIdentifiersStayWhole: secrets that happen to be a part of an identifier do not harm it, and do not show by harm.
func TestIdentifiersStayWhole(t *testing.T) {
	const id, unique = "order-1234-8765", "201806281234530000"
	for _, code := range []string{"123", "1234", "2018", "8765", "3000"} {
		c := clienttest.NewClient(t,
			cardgateway.Config{BaseURL: clienttest.BaseURL, AppID: "1234",
				HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					return clienttest.Respond(
						r, 200, fmt.Sprintf(`{"code":101,"transactionId":%q,"uniqueId":%q,"appId":1234,"transactionCardNumber":"411111******1234"}`, id, unique),
					)
				})}})
		for _, token := range []bool{false, true} {
			tx, err := c.CreateSubscription(t.Context(), clienttest.SubscriptionRequest(id, clienttest.NewCard(clienttest.CardNumber, code)))
			if token {
				tx, err = c.TokenPayment(t.Context(), cardgateway.NewToken(code+"0"), clienttest.TokenPaymentRequest(id))
			}
			if !errors.Is(
				err, cardgateway.ErrDeclined,
			) || tx.UniqueID != unique || tx.TransactionID != id || tx.AppID != "1234" || tx.TransactionCardNumber.Last4() != "1234" {
				t.Errorf("code %s, token %v: got %+v", code, token, tx)
			}
			if want := fmt.Sprintf("%q", id); !strings.Contains(err.Error(), want) {
				t.Errorf("code %s: %v, want %s in it", code, err, want)
			}
		}
	}
}

// TestNumbersInBrokenResponses: net/http quotes what it cannot read of a response, which may be any card number.
func TestNumbersInBrokenResponses(t *testing.T) {
	for _, line := range []string{"card 4539000000000001 refused", "4539 0000 0000 0001", "X: a\r\n 4539-0000-0000-0001"} {
		base := clienttest.ServeRaw(t, func(conn net.Conn) {
			clienttest.RawRequests(conn, func(*http.Request, []byte) bool {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+line+"\r\n\r\n")
				return false
			})
		})
		c := clienttest.NewClient(t, cardgateway.Config{BaseURL: base, Retry: cardgateway.RetryPolicy{MaxAttempts: 1}})
		_, payErr := clienttest.PayByToken(t.Context(), c, "t-1")
		_, queryErr := c.GetTransaction(t.Context(), "1")
		for _, err := range []error{payErr, queryErr} {
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); clienttest.Leaked(text, "4539000000000001", "4539 0000", "4539-0000") != nil {
				t.Errorf("%q: got %s", line, text)
			}
		}
	}
}

// TestClientShowsNoConnection: a printer that is given the client does not get to the connections, whose buffers hold
// the head of the last request.
func TestClientShowsNoConnection(t *testing.T) {
	s := clienttest.ServeBody(t, clienttest.ResponseFor("t-1", cardgateway.CodeSuccess, ""))
	for name, cfg := range map[string]cardgateway.Config{
		"own transport": {}, "given transport": {HTTPClient: &http.Client{Transport: &http.Transport{}}}, "given client": {HTTPClient: &http.Client{}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.BaseURL, cfg.Authenticate = s.URL, cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey)
			c := clienttest.NewClient(t, cfg)
			if _, err := clienttest.PayByToken(t.Context(), c, "t-1"); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(clienttest.DeepPrint(c, false), "http.Transport\n") {
				t.Errorf("%s: a printer gets from the client to its transport", name)
			}
			if text := fmt.Sprintf("%v %+v %#v", c, c, *c); clienttest.Leaked(text, clienttest.Token, clienttest.SecretKey) != nil {
				t.Errorf("%s: the client prints as %s", name, text)
			}
		})
	}
}
