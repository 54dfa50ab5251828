package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/transport"
)

// facts are an attemptResult in short.
type facts struct {
	status     int
	body       []byte
	unsent     bool
	local, err error
	retryAfter time.Duration
}

func (o facts) result() attemptResult {
	return attemptResult{
		Response: transport.Response{Status: o.status, Body: o.body, Unsent: o.unsent, Err: o.err},
		localErr: o.local, retryAfter: o.retryAfter,
	}
}

// The decision about a payment's outcome is a pure function of what was observed: each row is one observation.

func TestClassify(t *testing.T) {
	p := sentPayment{transactionID: "t-1", orderID: "o-1", amount: testAmount, currency: "USD", at: time.Unix(1, 0)}
	ours := func(code Code) string { return answerFor("t-1", code, "") }
	with := func(old, new string) string { return strings.Replace(ours(CodeSuccess), old, new, 1) }
	failed := errors.New("connection reset")
	tests := []struct {
		name string
		seen facts
		want string
	}{
		{"refused here", facts{unsent: true, local: failed}, "not sent"},
		{"context over", facts{unsent: true, local: context.Canceled}, "not sent"},
		{"failed with the body unread", facts{unsent: true, err: failed}, "not sent"},
		{"failed with the body read", facts{err: failed}, "unknown"},
		{"failed while reading a good answer", facts{status: 200, err: failed, body: []byte(ours(100))}, "unknown"},
		{"failed while reading a refusal", facts{status: 401, err: failed}, "unknown"},
		{"unavailable before the body", facts{status: 503, unsent: true}, "not sent"},
		{"redirect before the body", facts{status: 307, unsent: true}, "not sent"},
		{"refused before the body", facts{status: 401, unsent: true}, "refused"},

		{"approved", facts{status: 200, body: []byte(ours(100))}, "paid"},
		{"declined", facts{status: 200, body: []byte(ours(101))}, "declined"},
		{"processing", facts{status: 200, body: []byte(ours(102))}, "processing"},
		{"closed", facts{status: 200, body: []byte(ours(103))}, "declined"},
		{"redirect", facts{status: 200, body: []byte(ours(301))}, "redirect"},
		{"amount not said", facts{status: 200, body: []byte(with(`"transactionAmount":"12.50",`, ""))}, "paid"},
		{"amount null", facts{status: 200, body: []byte(with(`"12.50"`, "null"))}, "paid"},
		{"amount as a number", facts{status: 200, body: []byte(with(`"12.50"`, "12.5"))}, "paid"},
		{"currency not said", facts{status: 200, body: []byte(with(`"transactionCurrency":"USD",`, ""))}, "paid"},
		{"uniqueId not said", facts{status: 200, body: []byte(with(`"uniqueId":"2018062815300001",`, ""))}, "paid"},
		{"code as text", facts{status: 200, body: []byte(with("100", `"100"`))}, "paid"},
		{"no redirect address", facts{status: 200, body: []byte(strings.Replace(ours(301), "https://pay.example/p", "", 1))}, "unknown"},
		{"script as redirect address", facts{status: 200, body: []byte(strings.Replace(ours(301), "https://pay.example/p", "javascript:alert(1)", 1))}, "unknown"},
		{"user info in the redirect address", facts{status: 200, body: []byte(strings.Replace(ours(301), "pay.example", "a:b@pay.example", 1))}, "unknown"},
		{"bad redirect address beside a success", facts{status: 200, body: []byte(with("https://pay.example/p", "//pay"))}, "unknown"},

		{"other transactionId", facts{status: 200, body: []byte(answerFor("t-2", 100, ""))}, "unknown"},
		{"transactionId in capitals", facts{status: 200, body: []byte(answerFor("T-1", 100, ""))}, "unknown"},
		{"transactionId with a space", facts{status: 200, body: []byte(answerFor("t-1 ", 100, ""))}, "unknown"},
		{"transactionId with a zero behind it", facts{status: 200, body: []byte(with(`"t-1"`, `"t-1\u0000"`))}, "unknown"},
		{"other transactionId, declined", facts{status: 200, body: []byte(answerFor("t-2", 101, ""))}, "unknown"},
		{"other transactionId, refused", facts{status: 200, body: []byte(`{"code":400,"transactionId":"t-2"}`)}, "unknown"},
		{"no transactionId", facts{status: 200, body: []byte(with(`"transactionId":"t-1",`, ""))}, "unknown"},
		{"null transactionId", facts{status: 200, body: []byte(with(`"t-1"`, "null"))}, "unknown"},
		{"other amount", facts{status: 200, body: []byte(with("12.50", "12.51"))}, "unknown"},
		{"negative amount", facts{status: 200, body: []byte(with("12.50", "-12.50"))}, "unknown"},
		{"amount zero", facts{status: 200, body: []byte(with("12.50", "0"))}, "unknown"},
		{"amount with an exponent", facts{status: 200, body: []byte(with(`"12.50"`, "1.25e1"))}, "unknown"},
		{"other currency", facts{status: 200, body: []byte(with("USD", "EUR"))}, "unknown"},
		{"currency in small letters", facts{status: 200, body: []byte(with("USD", "usd"))}, "unknown"},
		{"declined with another amount", facts{status: 200, body: []byte(strings.Replace(ours(101), "12.50", "1", 1))}, "unknown"},

		{"bare decline", facts{status: 200, body: []byte(`{"code":101,"message":"transaction failed"}`)}, "declined"},
		{"bare decline with a reason", facts{status: 200, body: []byte(`{"code":101,"transactionMessage":"no funds","timestamp":1}`)}, "declined"},
		{"bare decline with an amount", facts{status: 200, body: []byte(`{"code":101,"transactionAmount":"12.50"}`)}, "unknown"},
		{"bare decline with a currency", facts{status: 200, body: []byte(`{"code":101,"transactionCurrency":"USD"}`)}, "unknown"},
		{"bare decline with a card", facts{status: 200, body: []byte(`{"code":101,"transactionCardNumber":"411111******1111"}`)}, "unknown"},
		{"bare decline with a uniqueId", facts{status: 200, body: []byte(`{"code":101,"uniqueId":"1"}`)}, "unknown"},
		{"bare decline with an address", facts{status: 200, body: []byte(`{"code":101,"redirectUrl":"https://pay.example"}`)}, "unknown"},
		{"bare success", facts{status: 200, body: []byte(`{"code":100}`)}, "unknown"},
		{"bare processing", facts{status: 200, body: []byte(`{"code":102}`)}, "unknown"},

		{"merchant inactive", facts{status: 200, body: []byte(`{"code":201}`)}, "refused"},
		{"request failed", facts{status: 200, body: []byte(`{"code":400}`)}, "refused"},
		{"unauthorized", facts{status: 200, body: []byte(`{"code":401}`)}, "refused"},
		{"not found", facts{status: 200, body: []byte(`{"code":404}`)}, "refused"},
		{"parameter error", facts{status: 200, body: []byte(`{"code":500,"transactionId":"t-1"}`)}, "refused"},
		{"refusal with a uniqueId", facts{status: 200, body: []byte(`{"code":400,"uniqueId":"1","transactionId":"t-1"}`)}, "unknown"},
		{"repeated transactionId", facts{status: 200, body: []byte(`{"code":501,"transactionId":"t-1"}`)}, "unknown"},
		{"system error", facts{status: 200, body: []byte(`{"code":999}`)}, "unknown"},
		{"refund code", facts{status: 200, body: []byte(ours(111))}, "unknown"},
		{"search code", facts{status: 200, body: []byte(ours(121))}, "unknown"},
		{"unlisted code", facts{status: 200, body: []byte(ours(777))}, "unknown"},
		{"no code", facts{status: 200, body: []byte(`{"transactionId":"t-1"}`)}, "unknown"},
		{"null code", facts{status: 200, body: []byte(with("100", "null"))}, "unknown"},
		{"code zero", facts{status: 200, body: []byte(with("100", "0"))}, "unknown"},
		{"code with a point", facts{status: 200, body: []byte(with("100", "100.0"))}, "unknown"},
		{"code with an exponent", facts{status: 200, body: []byte(with("100", "1e2"))}, "unknown"},
		{"code with leading zeros", facts{status: 200, body: []byte(with("100", `"0100"`))}, "unknown"},
		{"code with a sign", facts{status: 200, body: []byte(with("100", `"+100"`))}, "unknown"},
		{"code is true", facts{status: 200, body: []byte(with("100", "true"))}, "unknown"},
		{"code in a list", facts{status: 200, body: []byte(with("100", "[100]"))}, "unknown"},

		{"empty", facts{status: 200}, "unknown"},
		{"null", facts{status: 200, body: []byte("null")}, "unknown"},
		{"list", facts{status: 200, body: []byte("[" + ours(100) + "]")}, "unknown"},
		{"page", facts{status: 200, body: []byte("<html>")}, "unknown"},
		{"two values", facts{status: 200, body: []byte(ours(101) + ours(100))}, "unknown"},
		{"cut", facts{status: 200, body: []byte(ours(100)[:50])}, "unknown"},

		{"created", facts{status: 201, body: []byte(ours(100))}, "unknown"},
		{"moved", facts{status: 302, body: []byte(ours(100))}, "unknown"},
		{"timeout of a server further back", facts{status: 408}, "unknown"},
		{"conflict", facts{status: 409}, "unknown"},
		{"500 with a decline", facts{status: 500, body: []byte(ours(101))}, "unknown"},
		{"500 with a refusal", facts{status: 500, body: []byte(`{"code":400}`)}, "unknown"},
		{"503", facts{status: 503}, "unknown"},
		{"no status", facts{}, "unknown"},

		{"400 with a page", facts{status: 400, body: []byte("<html>")}, "refused"},
		{"400 without a body", facts{status: 400}, "refused"},
		{"400 with a refusal", facts{status: 400, body: []byte(`{"code":400}`)}, "refused"},
		{"400 with a decline", facts{status: 400, body: []byte(`{"code":101,"transactionId":"t-1"}`)}, "refused"},
		{"400 with text of its own", facts{status: 400, body: []byte(`{"error":"x"}`)}, "refused"},
		{"400 with a success", facts{status: 400, body: []byte(`{"code":100}`)}, "unknown"},
		{"400 with processing", facts{status: 400, body: []byte(`{"code":102}`)}, "unknown"},
		{"400 with a redirect", facts{status: 400, body: []byte(`{"code":301}`)}, "unknown"},
		{"400 for a repetition", facts{status: 400, body: []byte(`{"code":501}`)}, "unknown"},
		{"400 with a system error", facts{status: 400, body: []byte(`{"code":999}`)}, "unknown"},
		{"400 with a uniqueId", facts{status: 400, body: []byte(`{"code":400,"uniqueId":"1"}`)}, "unknown"},
		{"400 with an unreadable uniqueId", facts{status: 400, body: []byte(`{"code":400,"uniqueId":"a"}`)}, "unknown"},
		{"400 about another", facts{status: 400, body: []byte(`{"code":400,"transactionId":"t-2"}`)}, "unknown"},
		{"400 with broken JSON", facts{status: 400, body: []byte(`{"code":100,`)}, "unknown"},
		{"400 with a mark before a success", facts{status: 400, body: []byte("\ufeff" + ours(100))}, "unknown"},
		{"400 with a success in a list", facts{status: 400, body: []byte("[" + ours(100) + "]")}, "unknown"},
		{"429", facts{status: 429, retryAfter: time.Second}, "refused"},
		{"429 as code too", facts{status: 429, retryAfter: time.Second, body: []byte(`{"code":429,"message":"slow down"}`)}, "refused"},
		{"415 as code too", facts{status: 415, body: []byte(`{"code":415}`)}, "refused"},
		{"415 with the code of another status", facts{status: 415, body: []byte(`{"code":429}`)}, "unknown"},
		{"429 as code too, with a uniqueId", facts{status: 429, body: []byte(`{"code":429,"uniqueId":"1"}`)}, "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := opTokenPayment
			r := tt.seen.result()
			tx, err := classify(&op, &p, &r)
			if got := outcomeOf(tx, err); got != tt.want {
				t.Fatalf("got %q (%v), want %q", got, err, tt.want)
			}
			if (tx == nil) != (tt.want == "unknown" || tt.want == "refused" || tt.want == "not sent") {
				t.Errorf("transaction: got %v", tx)
			}
			if SafeToRetry(err) != (tt.want == "not sent") {
				t.Errorf("SafeToRetry: got %v", SafeToRetry(err))
			}
			checkOneSentinel(t, err)
			if unknown, ok := errors.AsType[*OutcomeUnknownError](err); ok {
				q := unknown.Query()
				if q.TransactionID != "t-1" || q.OrderID != "o-1" || !q.Amount.Equal(testAmount) || q.Currency != "USD" || !q.SentAt.Equal(p.at) {
					t.Errorf("Query: got %+v", q)
				}
			}
			if refused, ok := errors.AsType[*RefusedError](err); ok && (refused.HTTPStatus != r.Status || refused.RetryAfter != r.retryAfter) {
				t.Errorf("RefusedError: got %+v", refused)
			}
		})
	}
	t.Logf("%d observations", len(tests))
}

var sentinels = []error{
	ErrInvalidRequest, ErrNotSent, ErrDeclined, ErrRefused, ErrOutcomeUnknown, ErrConflict, ErrNotFound, ErrQueryFailed, ErrUnsettled,
}

// checkOneSentinel: every error of an operation is exactly one of the sentinels.
func checkOneSentinel(t *testing.T, err error) {
	t.Helper()
	var is []error
	for _, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			is = append(is, sentinel)
		}
	}
	if err != nil && len(is) != 1 {
		t.Errorf("%v is %v, want exactly one of them", err, is)
	}
}

func TestEveryErrorIsOneKind(t *testing.T) {
	declined := &Transaction{Code: CodeFailed, TransactionMessage: "no funds"}
	for _, tt := range []struct {
		err  error
		want error
		text string
	}{
		{&ValidationError{Op: "Pay", Problems: []Problem{{"a", RuleRequired, "is required"}, {"b[0].c", RuleLength, "is long"}}}, ErrInvalidRequest,
			"cardgateway: Pay: invalid request: a is required; b[0].c is long"},
		{&NotSentError{Op: "Pay", TransactionID: "t\n1", Cause: context.Canceled}, ErrNotSent,
			`cardgateway: Pay: transaction "t\n1" was not sent: context canceled`},
		{&DeclinedError{Op: "Pay", TransactionID: "t", Transaction: declined}, ErrDeclined,
			`cardgateway: Pay: transaction "t" declined: 101 (transaction failed): "no funds"`},
		{&DeclinedError{Op: "Pay", TransactionID: "t"}, ErrDeclined, `cardgateway: Pay: transaction "t" declined`},
		{&RefusedError{Op: "Pay", HTTPStatus: 400, Code: 777, Message: "no"}, ErrRefused, `cardgateway: Pay: refused: HTTP 400, code 777, "no"`},
		{&RefusedError{Op: "Pay", HTTPStatus: 429}, ErrRefused, "cardgateway: Pay: refused: HTTP 429"},
		{&OutcomeUnknownError{Op: "Pay", TransactionID: "t", Cause: context.DeadlineExceeded}, ErrOutcomeUnknown,
			`cardgateway: Pay: outcome of transaction "t" unknown: context deadline exceeded`},
		{&ConflictError{TransactionID: "t", Transactions: []Transaction{{UniqueID: "1", Code: 100}, {UniqueID: "2", Code: 101}}}, ErrConflict,
			`cardgateway: transaction "t" has conflicting outcomes: "1" approved, "2" declined`},
		{&ConflictError{TransactionID: "t", Transactions: make([]Transaction, 50_000)}, ErrConflict,
			`cardgateway: transaction "t" has conflicting outcomes: ` + strings.Repeat(`"" unknown, `, 10) + "and 49990 more"},
		{&QueryError{Op: "Ask", HTTPStatus: 503}, ErrQueryFailed, "cardgateway: Ask: HTTP 503"},
		{&QueryError{Op: "Ask", Cause: context.Canceled}, ErrQueryFailed, "cardgateway: Ask: context canceled"},
		{&QueryError{Op: "Ask", HTTPStatus: 200, Code: 404, Cause: ErrNotFound}, ErrNotFound,
			"cardgateway: Ask: HTTP 200, code 404 (not found): cardgateway: transaction not found"},
	} {
		checkOneSentinel(t, tt.err)
		if !errors.Is(tt.err, tt.want) || !errors.Is(fmt.Errorf("wrapped: %w", tt.err), tt.want) {
			t.Errorf("%v: is not %v", tt.err, tt.want)
		}
		if got := tt.err.Error(); got != tt.text {
			t.Errorf("text: got  %s\nwant %s", got, tt.text)
		}
	}
	cut := (&NotSentError{TransactionID: strings.Repeat("é", 500), Cause: context.Canceled}).Error()
	if n := strings.Count(cut, "é"); n != 128 || !strings.Contains(cut, "…") {
		t.Errorf("a long id in an error: got %d characters of it, want 128 and an ellipsis", n)
	}
}

func TestSafeToRetry(t *testing.T) {
	notSent, unknown := &NotSentError{Cause: context.Canceled}, &OutcomeUnknownError{Cause: context.Canceled}
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"not sent", notSent, true},
		{"wrapped", fmt.Errorf("checkout: %w", notSent), true},
		{"wrapped twice", fmt.Errorf("a: %w", fmt.Errorf("b: %w", notSent)), true},
		{"joined with a foreign error", errors.Join(errors.New("log full"), notSent), true},
		{"joined with another not sent", errors.Join(notSent, &NotSentError{Cause: context.Canceled}), true},
		{"joined with an unknown", errors.Join(notSent, unknown), false},
		{"joined with an unknown before it", errors.Join(unknown, notSent), false},
		{"joined with a decline", errors.Join(notSent, &DeclinedError{Transaction: &Transaction{}}), false},
		{"joined with a refusal", errors.Join(notSent, &RefusedError{}), false},
		{"joined with a conflict", errors.Join(notSent, &ConflictError{}), false},
		{"two wrapped", fmt.Errorf("%w, then %w", notSent, unknown), false},
		{"caused by an unknown", &NotSentError{Cause: unknown}, false},
		{"the sentinel alone", ErrNotSent, true}, {"the sentinel wrapped", fmt.Errorf("fake: %w", ErrNotSent), true},
		{"the sentinel joined with a decline", errors.Join(ErrNotSent, ErrDeclined), false},
		{"unknown", unknown, false}, {"unknown because not sent", &OutcomeUnknownError{Cause: notSent}, false},
		{"invalid", &ValidationError{}, false}, {"declined", &DeclinedError{Transaction: &Transaction{}}, false},
		{"refused", &RefusedError{}, false}, {"conflict", &ConflictError{}, false}, {"query", &QueryError{}, false},
		{"context", context.Canceled, false}, {"foreign", errors.New("not sent"), false},
	}
	for _, tt := range tests {
		if got := SafeToRetry(tt.err); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestErrorsNameNoURL: whatever fails, the text has neither the address nor a path.
func TestErrorsNameNoURL(t *testing.T) {
	c := testClient(t, Config{BaseURL: "http://127.0.0.1:1/base-path"})
	for _, op := range paymentOps {
		_, err := op.call(t.Context(), c, "t-1")
		if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, "http:") || strings.Contains(text, "base-path") || strings.Contains(text, "/checkout") {
			t.Errorf("%s: got %s", op.name, text)
		}
	}
	_, err := c.GetTransaction(t.Context(), "123")
	if text := err.Error(); strings.Contains(text, "http:") || strings.Contains(text, "base-path") {
		t.Errorf("GetTransaction: got %s", text)
	}
}

// TestAnswersShareNothing: answers are read into memory that the next ones use too, and what was read of them stays.
func TestAnswersShareNothing(t *testing.T) {
	long := strings.Repeat("x", 4096)
	extra := fmt.Sprintf(`,"transactionMessage":"first","billingAddress":{"city":"first","more":["first"]},"more":{"first":"%s"}`, long)
	answers := map[string]string{
		"paid":     answerFor("paid", CodeSuccess, extra),
		"declined": answerFor("declined", CodeFailed, extra),
		"refused":  `{"code":400,"message":"first","timestamp":"first"` + extra + `}`,
		"unknown":  answerFor("other", CodeSuccess, extra),
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer, ok := answers[transactionIDIn(body)]
		if !ok {
			answer = `{"` + strings.Repeat("#", 2*len(long)) + `":0}`
		}
		_, _ = io.WriteString(w, answer)
	})
	c := testClient(t, Config{BaseURL: s.URL, Retry: RetryPolicy{MaxAttempts: 1}})
	for id := range answers {
		t.Run(id, func(t *testing.T) {
			got, err := payByToken(t.Context(), c, id)
			before := deepPrint(got, false) + deepPrint(err, false)
			if !strings.Contains(before, "first") {
				t.Fatalf("got %.200s, which holds nothing of the answer", before)
			}
			for range 8 {
				_, _ = payByToken(t.Context(), c, "next")
				_, _ = c.GetTransaction(t.Context(), "1")
			}
			if diff := cmp.Diff(before, deepPrint(got, false)+deepPrint(err, false)); diff != "" {
				t.Errorf("other calls changed what was read (-before +after):\n%s", diff)
			}
		})
	}
}
