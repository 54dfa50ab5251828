package cardgateway_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fmt"
	"log/slog"
	"net/http"
	"testing/synctest"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

type facts = cardgateway.Facts

// TestStatesConvert: each state keeps its meaning when it is converted to that of package verdict.
func TestStatesConvert(t *testing.T) {
	for state, want := range map[cardgateway.State]verdict.State{
		cardgateway.StateUnknown: verdict.Unclear, cardgateway.StateApproved: verdict.Approved, cardgateway.StateDeclined: verdict.Declined,
		cardgateway.StateProcessing: verdict.Processing, cardgateway.StateRedirect: verdict.Redirect,
	} {
		t.Run(state.String(), func(t *testing.T) {
			if got := verdict.State(state); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
}

// The decision about a payment's outcome is a pure function of what was observed: each row is one observation.

func TestClassify(t *testing.T) {
	asked := cardgateway.ResolveQuery{TransactionID: "t-1", OrderID: "o-1", Amount: clienttest.Amount, Currency: "USD", SentAt: time.Unix(1, 0)}
	ours := func(code cardgateway.Code) string { return clienttest.ResponseFor("t-1", code, "") }
	with := func(old, new string) string { return strings.Replace(ours(cardgateway.CodeSuccess), old, new, 1) }
	failed := errors.New("connection reset")
	tests := []struct {
		name string
		seen facts
		want string
	}{
		{"refused here", facts{Unsent: true, Local: failed}, "not sent"},
		{"context over", facts{Unsent: true, Local: context.Canceled}, "not sent"},
		{"failed with the body unread", facts{Unsent: true, Err: failed}, "not sent"},
		{"failed with the body read", facts{Err: failed}, "unknown"},
		{"failed while reading a good response", facts{Status: 200, Err: failed, Body: []byte(ours(100))}, "unknown"},
		{"failed while reading a refusal", facts{Status: 401, Err: failed}, "unknown"},
		{"unavailable before the body", facts{Status: 503, Unsent: true}, "not sent"},
		{"redirect before the body", facts{Status: 307, Unsent: true}, "not sent"},
		{"refused before the body", facts{Status: 401, Unsent: true}, "refused"},

		{"approved", facts{Status: 200, Body: []byte(ours(100))}, "paid"},
		{"declined", facts{Status: 200, Body: []byte(ours(101))}, "declined"},
		{"processing", facts{Status: 200, Body: []byte(ours(102))}, "processing"},
		{"closed", facts{Status: 200, Body: []byte(ours(103))}, "declined"},
		{"redirect", facts{Status: 200, Body: []byte(ours(301))}, "redirect"},
		{"amount not said", facts{Status: 200, Body: []byte(with(`"transactionAmount":"12.50",`, ""))}, "paid"},
		{"amount null", facts{Status: 200, Body: []byte(with(`"12.50"`, "null"))}, "paid"},
		{"amount as a number", facts{Status: 200, Body: []byte(with(`"12.50"`, "12.5"))}, "paid"},
		{"currency not said", facts{Status: 200, Body: []byte(with(`"transactionCurrency":"USD",`, ""))}, "paid"},
		{"uniqueId not said", facts{Status: 200, Body: []byte(with(`"uniqueId":"2018062815300001",`, ""))}, "paid"},
		{"code in two spellings", facts{Status: 200, Body: []byte(with(`"code":100`, `"code":100,"Code":101`))}, "unknown"},
		{"code in capitals, before it", facts{Status: 200, Body: []byte(with(`"code":100`, `"CODE":101,"code":100`))}, "unknown"},
		{"transactionId in two spellings", facts{Status: 200, Body: []byte(with(`"code":100`, `"code":100,"TransactionID":"t-2"`))}, "unknown"},
		{"amount in two spellings", facts{Status: 200, Body: []byte(with(`"code":100`, `"code":100,"TransactionAmount":"99.00"`))}, "unknown"},
		{"a decline with another code in capitals", facts{Status: 200, Body: []byte(strings.Replace(ours(101), `"code":101`, `"code":101,"Code":100`, 1))}, "unknown"},
		{"another spelling of what is not essential", facts{Status: 200, Body: []byte(with(`"code":100`, `"code":100,"Message":"OK"`))}, "paid"},
		{"code as text", facts{Status: 200, Body: []byte(with("100", `"100"`))}, "paid"},
		{"no redirect address", facts{Status: 200, Body: []byte(strings.Replace(ours(301), "https://pay.example/p", "", 1))}, "unknown"},
		{"script as redirect address", facts{Status: 200, Body: []byte(strings.Replace(ours(301), "https://pay.example/p", "javascript:alert(1)", 1))}, "unknown"},
		{"user info in the redirect address", facts{Status: 200, Body: []byte(strings.Replace(ours(301), "pay.example", "a:b@pay.example", 1))}, "unknown"},
		{"bad redirect address beside a success", facts{Status: 200, Body: []byte(with("https://pay.example/p", "//pay"))}, "unknown"},

		{"other transactionId", facts{Status: 200, Body: []byte(clienttest.ResponseFor("t-2", 100, ""))}, "unknown"},
		{"transactionId in capitals", facts{Status: 200, Body: []byte(clienttest.ResponseFor("T-1", 100, ""))}, "unknown"},
		{"transactionId with a space", facts{Status: 200, Body: []byte(clienttest.ResponseFor("t-1 ", 100, ""))}, "unknown"},
		{"transactionId with a zero behind it", facts{Status: 200, Body: []byte(with(`"t-1"`, `"t-1\u0000"`))}, "unknown"},
		{"other transactionId, declined", facts{Status: 200, Body: []byte(clienttest.ResponseFor("t-2", 101, ""))}, "unknown"},
		{"other transactionId, refused", facts{Status: 200, Body: []byte(`{"code":400,"transactionId":"t-2"}`)}, "unknown"},
		{"no transactionId", facts{Status: 200, Body: []byte(with(`"transactionId":"t-1",`, ""))}, "unknown"},
		{"null transactionId", facts{Status: 200, Body: []byte(with(`"t-1"`, "null"))}, "unknown"},
		{"other amount", facts{Status: 200, Body: []byte(with("12.50", "12.51"))}, "unknown"},
		{"negative amount", facts{Status: 200, Body: []byte(with("12.50", "-12.50"))}, "unknown"},
		{"amount zero", facts{Status: 200, Body: []byte(with("12.50", "0"))}, "unknown"},
		{"amount with an exponent", facts{Status: 200, Body: []byte(with(`"12.50"`, "1.25e1"))}, "unknown"},
		{"other currency", facts{Status: 200, Body: []byte(with("USD", "EUR"))}, "unknown"},
		{"currency in small letters", facts{Status: 200, Body: []byte(with("USD", "usd"))}, "unknown"},
		{"declined with another amount", facts{Status: 200, Body: []byte(strings.Replace(ours(101), "12.50", "1", 1))}, "unknown"},

		{"bare decline", facts{Status: 200, Body: []byte(`{"code":101,"message":"transaction failed"}`)}, "declined"},
		{"bare decline with a reason", facts{Status: 200, Body: []byte(`{"code":101,"transactionMessage":"no funds","timestamp":1}`)}, "declined"},
		{"bare decline with an amount", facts{Status: 200, Body: []byte(`{"code":101,"transactionAmount":"12.50"}`)}, "unknown"},
		{"bare decline with a currency", facts{Status: 200, Body: []byte(`{"code":101,"transactionCurrency":"USD"}`)}, "unknown"},
		{"bare decline with a card", facts{Status: 200, Body: []byte(`{"code":101,"transactionCardNumber":"411111******1111"}`)}, "unknown"},
		{"bare decline with a uniqueId", facts{Status: 200, Body: []byte(`{"code":101,"uniqueId":"1"}`)}, "unknown"},
		{"bare decline with an address", facts{Status: 200, Body: []byte(`{"code":101,"redirectUrl":"https://pay.example"}`)}, "unknown"},
		{"bare success", facts{Status: 200, Body: []byte(`{"code":100}`)}, "unknown"},
		{"bare processing", facts{Status: 200, Body: []byte(`{"code":102}`)}, "unknown"},

		{"merchant inactive", facts{Status: 200, Body: []byte(`{"code":201}`)}, "refused"},
		{"request failed", facts{Status: 200, Body: []byte(`{"code":400}`)}, "refused"},
		{"unauthorized", facts{Status: 200, Body: []byte(`{"code":401}`)}, "refused"},
		{"not found", facts{Status: 200, Body: []byte(`{"code":404}`)}, "refused"},
		{"parameter error", facts{Status: 200, Body: []byte(`{"code":500,"transactionId":"t-1"}`)}, "refused"},
		{"refusal with a uniqueId", facts{Status: 200, Body: []byte(`{"code":400,"uniqueId":"1","transactionId":"t-1"}`)}, "unknown"},
		{"repeated transactionId", facts{Status: 200, Body: []byte(`{"code":501,"transactionId":"t-1"}`)}, "unknown"},
		{"system error", facts{Status: 200, Body: []byte(`{"code":999}`)}, "unknown"},
		{"refund code", facts{Status: 200, Body: []byte(ours(111))}, "unknown"},
		{"search code", facts{Status: 200, Body: []byte(ours(121))}, "unknown"},
		{"unlisted code", facts{Status: 200, Body: []byte(ours(777))}, "unknown"},
		{"no code", facts{Status: 200, Body: []byte(`{"transactionId":"t-1"}`)}, "unknown"},
		{"null code", facts{Status: 200, Body: []byte(with("100", "null"))}, "unknown"},
		{"code zero", facts{Status: 200, Body: []byte(with("100", "0"))}, "unknown"},
		{"code with a point", facts{Status: 200, Body: []byte(with("100", "100.0"))}, "unknown"},

		{"empty", facts{Status: 200}, "unknown"},
		{"null", facts{Status: 200, Body: []byte("null")}, "unknown"},
		{"list", facts{Status: 200, Body: []byte("[" + ours(100) + "]")}, "unknown"},
		{"page", facts{Status: 200, Body: []byte("<html>")}, "unknown"},
		{"two values", facts{Status: 200, Body: []byte(ours(101) + ours(100))}, "unknown"},
		{"cut", facts{Status: 200, Body: []byte(ours(100)[:50])}, "unknown"},

		{"400 with a refusal", facts{Status: 400, Body: []byte(`{"code":400}`)}, "refused"},
		{"400 with an unreadable uniqueId", facts{Status: 400, Body: []byte(`{"code":400,"uniqueId":"a"}`)}, "unknown"},
		{"400 with a refusal that names it", facts{Status: 400, Body: []byte(`{"code":400,"transactionId":"t-1"}`)}, "refused"},
		{"400 that names it", facts{Status: 400, Body: []byte(`{"transactionId":"t-1"}`)}, "unknown"},
		{"429", facts{Status: 429, RetryAfter: time.Second}, "refused"},
		{"429 as code too", facts{Status: 429, RetryAfter: time.Second, Body: []byte(`{"code":429,"message":"slow down"}`)}, "refused"},
		{"415 as code too", facts{Status: 415, Body: []byte(`{"code":415}`)}, "refused"},
		{"415 with the code of another status", facts{Status: 415, Body: []byte(`{"code":429}`)}, "unknown"},
		{"429 as code too, with a uniqueId", facts{Status: 429, Body: []byte(`{"code":429,"uniqueId":"1"}`)}, "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tx, err := cardgateway.Classify(asked, tt.seen)
			if got := clienttest.Outcome(tx, err); got != tt.want {
				t.Fatalf("got %q (%v), want %q", got, err, tt.want)
			}
			if (tx == nil) != (tt.want == "unknown" || tt.want == "refused" || tt.want == "not sent") {
				t.Errorf("transaction: got %v", tx)
			}
			if cardgateway.SafeToRetry(err) != (tt.want == "not sent") {
				t.Errorf("SafeToRetry: got %v", cardgateway.SafeToRetry(err))
			}
			clienttest.CheckOneSentinel(t, err)
			if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok {
				q := unknown.Query()
				if q.TransactionID != "t-1" || q.OrderID != "o-1" || !q.Amount.Equal(clienttest.Amount) || q.Currency != "USD" || !q.SentAt.Equal(asked.SentAt) {
					t.Errorf("Query: got %+v", q)
				}
			}
			if refused, ok := errors.AsType[*cardgateway.RefusedError](err); ok && (refused.HTTPStatus != tt.seen.Status || refused.RetryAfter != tt.seen.RetryAfter) {
				t.Errorf("RefusedError: got %+v", refused)
			}
		})
	}
	t.Logf("%d observations", len(tests))
}

// TestRefusalStatuses: of all statuses without a body, these say that nothing was processed, and no other.
func TestRefusalStatuses(t *testing.T) {
	asked := cardgateway.ResolveQuery{TransactionID: "t-1", Amount: clienttest.Amount, Currency: "USD"}
	refused := []int{400, 401, 403, 404, 405, 413, 415, 422, 429}
	for status := 100; status <= 600; status++ {
		want := "unknown"
		if slices.Contains(refused, status) {
			want = "refused"
		}
		if got := clienttest.Outcome(cardgateway.Classify(asked, facts{Status: status})); got != want {
			t.Errorf("HTTP %d: got %q, want %q", status, got, want)
		}
	}
}

// TestUnknownSaysWhy: the cause of an unknown outcome in words, for a person who has to look.
func TestUnknownSaysWhy(t *testing.T) {
	asked := cardgateway.ResolveQuery{TransactionID: "t-1", Amount: clienttest.Amount, Currency: "USD"}
	for _, tt := range []struct {
		status     int
		body, want string
	}{
		{200, clienttest.ResponseFor("t-2", 100, ""), "the response is about another transaction"},
		{200, `{"code":100}`, "the response does not say which transaction it is about"},
		{200, `{"code":301,"transactionId":"t-1"}`, "the response asks for a redirect and has no redirectUrl"},
		{200, `{"code":301,"transactionId":"t-1","redirectUrl":"//pay"}`, "the response's redirectUrl is not an absolute http or https URL without user info"},
		{200, `{"code":777,"transactionId":"t-1"}`, "the response has code 777, which does not tell the outcome"},
		{200, `{"code":100,"transactionId":[]}`, "the response's transactionId is not a text of at most 255 characters"},
		{200, `{"code":100,"uniqueId":"a"}`, "the response's uniqueId is not a number of at most 128 digits"},
		{200, `{"code":100,"transactionAmount":"1e9"}`, "the response's transactionAmount is not an amount of at most 12 digits and 3 decimals"},
		{200, `{"code":true}`, "the response's code cannot be read"},
		{200, `<html>`, "the response is not a JSON object; it does not look like a response of the gateway: is Config.BaseURL right?"},
		{200, `{"code":100`, "the response is not one whole JSON value"},
		{400, `{"code":100}`, "HTTP 400 with a response that is no refusal"},
		{503, "", "HTTP 503"},
		{302, "", "HTTP 302, a redirect, which is not followed; is Config.BaseURL right?"},
	} {
		_, err := cardgateway.Classify(asked, facts{Status: tt.status, Body: []byte(tt.body)})
		unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
		if !ok || unknown.Cause.Error() != tt.want {
			t.Errorf("HTTP %d with %s: got %v, want the cause %q", tt.status, tt.body, err, tt.want)
		}
	}
}

// TestTestPayments: an approval with isTest is paid only for a client with Config.TestPayments, whatever returns it, and one whose
// isTest cannot be read for no client. Other states do not depend on it.
func TestTestPayments(t *testing.T) {
	for _, tt := range []struct {
		code           cardgateway.Code
		isTest         string
		live, ofSystem string // outcomes without and with TestPayments
	}{
		{100, ``, "paid", "paid"},
		{100, `,"isTest":false`, "paid", "paid"},
		{100, `,"isTest":null`, "paid", "paid"},
		{100, `,"isTest":true`, "test", "paid"},
		{100, `,"isTest":"true"`, "test", "paid"},
		{100, `,"isTest":"TRUE"`, "test", "paid"},
		{100, `,"isTest":"perhaps"`, "unknown", "unknown"},
		{100, `,"isTest":{"value":false}`, "unknown", "unknown"},
		{100, `,"isTest":[]`, "unknown", "unknown"},
		{100, `,"is_test":true,"isTest":false`, "test", "paid"},
		{100, `,"isTest":false,"IS-TEST":1`, "test", "paid"},
		{100, `,"is test":true`, "test", "paid"},
		{100, `,"isTest ":"yes"`, "test", "paid"},
		{100, `,"Is.Test":"perhaps"`, "unknown", "unknown"},
		{100, `,"Istest":false`, "paid", "paid"},
		{100, `,"istest":[]`, "unknown", "unknown"},
		{101, `,"istest":[]`, "declined", "declined"},
		{101, `,"isTest":true`, "declined", "declined"},
		{101, `,"isTest":[]`, "declined", "declined"},
		{102, `,"isTest":true`, "processing", "processing"},
		{102, `,"isTest":[]`, "processing", "processing"},
		{301, `,"isTest":true`, "redirect", "redirect"},
		{301, `,"isTest":[]`, "redirect", "redirect"},
	} {
		for _, isSystem := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d%s of a test system %t", tt.code, tt.isTest, isSystem), func(t *testing.T) {
				want := tt.live
				if isSystem {
					want = tt.ofSystem
				}
				row := clienttest.ResponseFor("t-1", tt.code, tt.isTest)
				var log strings.Builder
				c := clienttest.NewClient(t, cardgateway.Config{
					BaseURL: clienttest.BaseURL, TestPayments: isSystem, Logger: slog.New(slog.NewTextHandler(&log, nil)),
					HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
						if strings.Contains(r.URL.Path, "/search/list") {
							return clienttest.Respond(r, 200, clienttest.Page(row))
						}
						return clienttest.Respond(r, 200, row)
					})},
				})
				paid, err := clienttest.PayByToken(t.Context(), c, "t-1")
				check := func(what string, got *cardgateway.Transaction, err error) {
					t.Helper()
					if outcome := clienttest.Outcome(got, err); outcome != want {
						t.Errorf("%s: got %s, want %s: %v", what, outcome, want, err)
					}
					clienttest.CheckOneSentinel(t, err)
					if test, ok := errors.AsType[*cardgateway.TestPaymentError](err); ok != (want == "test") || ok && (test.Transaction != got || test.TransactionID != "t-1") {
						t.Errorf("%s: got the error %#v", what, test)
					}
					if cardgateway.SafeToRetry(err) {
						t.Errorf("%s: may be made again", what)
					}
				}
				check("a call", paid, err)
				if isTest := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "outcome=test_payment"); isTest != (want == "test") {
					t.Errorf("got the log %s", log.String())
				}
				synctest.Test(t, func(t *testing.T) {
					resolved, err := c.Resolve(t.Context(), cardgateway.ResolveQuery{
						TransactionID: "t-1", Amount: decimal.RequireFromString("12.50"), Currency: "USD", SentAt: time.Now(),
					})
					check("Resolve", resolved, err)
				})
				got, err := c.GetTransaction(t.Context(), "2018062815300001")
				if want == "unknown" && errors.Is(err, cardgateway.ErrQueryFailed) {
					return
				}
				if err != nil || c.Paid(got) != (want == "paid") || got.Paid() != (tt.live == "paid") || got.State() == cardgateway.StateUnknown {
					t.Errorf("GetTransaction: got %+v, %v", got, err)
				}
			})
		}
	}
}
