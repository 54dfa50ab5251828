package cardgateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"io"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Errors and their texts: each is of exactly one kind, and none contains a URL.

func TestEveryErrorIsOneKind(t *testing.T) {
	declined := &cardgateway.Transaction{Code: cardgateway.CodeFailed, TransactionMessage: "no funds"}
	for _, tt := range []struct {
		err  error
		want error
		text string
	}{
		{&cardgateway.ValidationError{
			Op: "Pay", Problems: []cardgateway.Problem{{"a", cardgateway.RuleRequired, "is required"}, {"b[0].c", cardgateway.RuleLength, "is long"}},
		}, cardgateway.ErrInvalidRequest,
			"cardgateway: Pay: invalid request: a is required; b[0].c is long"},
		{&cardgateway.NotSentError{Op: "Pay", ID: "t\n1", Cause: context.Canceled}, cardgateway.ErrNotSent,
			`cardgateway: Pay: "t\n1" was not sent: context canceled`},
		{&cardgateway.DeclinedError{Op: "Pay", TransactionID: "t", Transaction: declined}, cardgateway.ErrDeclined,
			`cardgateway: Pay: transaction "t" declined: 101 (transaction failed): "no funds"`},
		{&cardgateway.DeclinedError{Op: "Pay", TransactionID: "t"}, cardgateway.ErrDeclined, `cardgateway: Pay: transaction "t" declined`},
		{
			&cardgateway.RefundDeclinedError{
				Op: "Refund", RefundTransactionID: "r", Refund: &cardgateway.Refund{Code: cardgateway.CodeRefundFailed, Message: "no"},
			},
			cardgateway.ErrDeclined, `cardgateway: Refund: refund "r" declined: 112 (refund failed): "no"`,
		},
		{&cardgateway.RefundDeclinedError{Op: "Refund", RefundTransactionID: "r"}, cardgateway.ErrDeclined, `cardgateway: Refund: refund "r" declined`},
		{
			&cardgateway.RefundUnknownError{Op: "Refund", RefundTransactionID: "r", Cause: context.Canceled}, cardgateway.ErrOutcomeUnknown,
			`cardgateway: Refund: outcome of refund "r" unknown: context canceled`,
		},
		{
			&cardgateway.RefundConflictError{RefundTransactionID: "r", Refunds: []cardgateway.Refund{{RefundUniqueID: "1", Code: 111}, {Code: 110}}},
			cardgateway.ErrConflict, `cardgateway: refund "r" has conflicting outcomes: "1" approved, "" processing`,
		},
		{
			&cardgateway.RefusedError{Op: "Pay", HTTPStatus: 400, Code: 777, Message: "no"}, cardgateway.ErrRefused,
			`cardgateway: Pay: refused: HTTP 400, code 777, "no"`,
		},
		{&cardgateway.RefusedError{Op: "Pay", ID: "t", RequestID: "a\n1", HTTPStatus: 429}, cardgateway.ErrRefused, `cardgateway: Pay "t": refused: HTTP 429 (request "a\n1")`},
		{&cardgateway.ValidationError{Op: "Pay", ID: "t", Problems: []cardgateway.Problem{{"startDate", cardgateway.RuleRequired, "is required"}}}, cardgateway.ErrInvalidRequest,
			`cardgateway: Pay "t": invalid request: Start is required`},
		{&cardgateway.QueryError{Op: "Ask", ID: "7", RequestID: "a-1", HTTPStatus: 503}, cardgateway.ErrQueryFailed, `cardgateway: Ask "7": HTTP 503 (request "a-1")`},
		{&cardgateway.RefusedError{Op: "Pay", HTTPStatus: 429}, cardgateway.ErrRefused, "cardgateway: Pay: refused: HTTP 429"},
		{&cardgateway.OutcomeUnknownError{Op: "Pay", TransactionID: "t", Cause: context.DeadlineExceeded}, cardgateway.ErrOutcomeUnknown,
			`cardgateway: Pay: outcome of transaction "t" unknown: context deadline exceeded`},
		{&cardgateway.ConflictError{
			TransactionID: "t", Transactions: []cardgateway.Transaction{{UniqueID: "1", Code: 100}, {UniqueID: "2", Code: 101}},
		}, cardgateway.ErrConflict,
			`cardgateway: transaction "t" has conflicting outcomes: "1" approved, "2" declined`},
		{&cardgateway.ConflictError{TransactionID: "t", Transactions: make([]cardgateway.Transaction, 50_000)}, cardgateway.ErrConflict,
			`cardgateway: transaction "t" has conflicting outcomes: ` + strings.Repeat(`"" unknown, `, 10) + "and 49990 more"},
		{&cardgateway.QueryError{Op: "Ask", HTTPStatus: 503}, cardgateway.ErrQueryFailed, "cardgateway: Ask: HTTP 503"},
		{&cardgateway.QueryError{Op: "Ask", Cause: context.Canceled}, cardgateway.ErrQueryFailed, "cardgateway: Ask: context canceled"},
		{&cardgateway.QueryError{Op: "Ask", HTTPStatus: 200, Code: 404, Cause: cardgateway.ErrNotFound}, cardgateway.ErrNotFound,
			"cardgateway: Ask: HTTP 200, code 404 (not found): cardgateway: not found"},
	} {
		clienttest.CheckOneSentinel(t, tt.err)
		if !errors.Is(tt.err, tt.want) || !errors.Is(fmt.Errorf("wrapped: %w", tt.err), tt.want) {
			t.Errorf("%v: is not %v", tt.err, tt.want)
		}
		if got := tt.err.Error(); got != tt.text {
			t.Errorf("text: got  %s\nwant %s", got, tt.text)
		}
	}
	cut := (&cardgateway.NotSentError{ID: strings.Repeat("é", 500), Cause: context.Canceled}).Error()
	if n := strings.Count(cut, "é"); n != 128 || !strings.Contains(cut, "…") {
		t.Errorf("a long id in an error: got %d characters of it, want 128 and an ellipsis", n)
	}
}

func TestSafeToRetry(t *testing.T) {
	notSent, unknown := &cardgateway.NotSentError{Cause: context.Canceled}, &cardgateway.OutcomeUnknownError{Cause: context.Canceled}
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
		{"joined with another not sent", errors.Join(notSent, &cardgateway.NotSentError{Cause: context.Canceled}), true},
		{"joined with an unknown", errors.Join(notSent, unknown), false},
		{"joined with an unknown before it", errors.Join(unknown, notSent), false},
		{"joined with a decline", errors.Join(notSent, &cardgateway.DeclinedError{Transaction: &cardgateway.Transaction{}}), false},
		{"joined with a refusal", errors.Join(notSent, &cardgateway.RefusedError{}), false},
		{"joined with a test payment", errors.Join(notSent, fmt.Errorf("later: %w", &cardgateway.TestPaymentError{})), false},
		{"joined with a conflict", errors.Join(notSent, &cardgateway.ConflictError{}), false},
		{"two wrapped", fmt.Errorf("%w, then %w", notSent, unknown), false},
		{"caused by an unknown", &cardgateway.NotSentError{Cause: unknown}, false},
		{"the sentinel alone", cardgateway.ErrNotSent, true}, {"the sentinel wrapped", fmt.Errorf("fake: %w", cardgateway.ErrNotSent), true},
		{"the sentinel joined with a decline", errors.Join(cardgateway.ErrNotSent, cardgateway.ErrDeclined), false},
		{"unknown", unknown, false}, {"unknown because not sent", &cardgateway.OutcomeUnknownError{Cause: notSent}, false},
		{"invalid", &cardgateway.ValidationError{}, false}, {"declined", &cardgateway.DeclinedError{Transaction: &cardgateway.Transaction{}}, false},
		{"refused", &cardgateway.RefusedError{}, false}, {"conflict", &cardgateway.ConflictError{}, false}, {"query", &cardgateway.QueryError{}, false},
		{"context", context.Canceled, false}, {"foreign", errors.New("not sent"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cardgateway.SafeToRetry(tt.err); got != tt.want {
				t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
			}
		})
	}
}

// TestTransactionErr: a declined transaction has the error that its own call would have returned, without a card number.
func TestTransactionErr(t *testing.T) {
	for _, tt := range []struct {
		code     cardgateway.Code
		declined bool
	}{{100, false}, {101, true}, {102, false}, {103, true}, {301, false}, {999, false}, {0, false}} {
		tx := &cardgateway.Transaction{
			Code: tt.code, TransactionID: "t-1", TransactionMessage: "no", RedirectURL: "https://pay.example",
			BillingAddress: &cardgateway.Address{City: "4111111111111111"},
			Extra:          map[string]json.RawMessage{"x": json.RawMessage(`"4111111111111111"`), "redirectUrl": json.RawMessage(`"//pay.example"`)},
		}
		err := tx.Err()
		if errors.Is(err, cardgateway.ErrDeclined) != tt.declined || !tt.declined && err != nil {
			t.Errorf("%v: got %v, want declined %t", tt.code, err, tt.declined)
		}
		declined, ok := errors.AsType[*cardgateway.DeclinedError](err)
		if !ok {
			continue
		}
		if declined.TransactionID != "t-1" || declined.Transaction.Code != tt.code || !strings.Contains(err.Error(), `"no"`) {
			t.Errorf("%v: got %v", tt.code, err)
		}
		text := fmt.Sprint(clienttest.DeepPrint(err, false), declined.Transaction.Extra)
		if found := clienttest.Leaked(text, "4111111111111111", "pay.example"); found != nil {
			t.Errorf("%v: the error shows %q: %s", tt.code, found, text)
		}
		if tx.BillingAddress.City != "4111111111111111" || string(tx.Extra["x"]) != `"4111111111111111"` || tx.RedirectURL == "" || len(tx.Extra["redirectUrl"]) < 6 {
			t.Errorf("%v: the transaction itself was changed: %+v", tt.code, tx)
		}
	}
}

// TestErrorOfAnotherCall: in a group of calls as in golang.org/x/sync/errgroup, the error of the one that fails first is the cause with
// which the context of the others ends. Their own outcome is unknown: they do not match that error, but they match the end of a context. A
// hook that waits returns the cause itself, and its payment was not sent.
func TestErrorOfAnotherCall(t *testing.T) {
	arrived := make(chan bool, 1)
	wait := func(ctx context.Context) error {
		arrived <- true
		<-ctx.Done()
		return fmt.Errorf("limiter: %w", context.Cause(ctx))
	}
	srv := clienttest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		_ = wait(r.Context()) // it is being charged
	})
	for _, cause := range []error{
		&cardgateway.DeclinedError{Op: "TokenPayment", TransactionID: "t-a"},
		&cardgateway.NotSentError{Op: "TokenPayment", ID: "t-a", Cause: io.EOF},
		&cardgateway.OutcomeUnknownError{Op: "TokenPayment", TransactionID: "t-a"},
		&cardgateway.RefusedError{Op: "TokenPayment", HTTPStatus: 400},
		&cardgateway.ValidationError{Op: "TokenPayment"},
		cardgateway.ErrNotFound,
	} {
		for name, cfg := range map[string]cardgateway.Config{
			"the gateway":  {},
			"Limiter":      {Limiter: limiterFunc(wait)},
			"Authenticate": {Authenticate: func(r *http.Request, _ []byte) error { return wait(r.Context()) }},
		} {
			want := cardgateway.ErrNotSent
			if name == "the gateway" {
				want = cardgateway.ErrOutcomeUnknown
			}
			cfg.BaseURL = srv.URL
			c := clienttest.NewClient(t, cfg)
			group := func() context.Context {
				ctx, cancel := context.WithCancelCause(t.Context())
				go func() {
					<-arrived
					cancel(cause)
				}()
				return ctx
			}
			_, err := clienttest.PayByToken(group(), c, "t-b")
			clienttest.CheckOneSentinel(t, err)
			if !errors.Is(err, want) || cardgateway.SafeToRetry(err) != (want == cardgateway.ErrNotSent) || errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s, a payment beside %v: got %v", name, cause, err)
			}
			_, err = c.GetTransaction(group(), "1")
			if !errors.Is(err, cardgateway.ErrQueryFailed) || errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s, a query beside %v: got %v", name, cause, err)
			}
		}
	}
}

// limiterFunc is a Limiter.
type limiterFunc func(context.Context) error

func (f limiterFunc) Wait(ctx context.Context) error { return f(ctx) }

// TestErrorsAndLogsNameTheRequest: whatever a call ends with, its error and its log lines have the merchant's id and the request id of the
// response, in which no secret is shown.
func TestErrorsAndLogsNameTheRequest(t *testing.T) {
	pay := func(ctx context.Context, c *cardgateway.Client) error {
		_, err := c.TokenPayment(ctx, cardgateway.NewToken(clienttest.Token), clienttest.TokenPaymentRequest("t-1"))
		return err
	}
	refund := func(ctx context.Context, c *cardgateway.Client) error {
		_, err := c.CreateRefund(ctx, clienttest.RefundRequest())
		return err
	}
	get := func(ctx context.Context, c *cardgateway.Client) error {
		_, err := c.GetTransaction(ctx, "1")
		return err
	}
	for _, tt := range []struct {
		name, id string
		status   int
		body     string
		call     func(context.Context, *cardgateway.Client) error
	}{
		{"declined", "t-1", 200, clienttest.OrderRow(101, "9", ""), pay}, {"a test", "t-1", 200, clienttest.OrderRow(100, "9", `,"isTest":true`), pay},
		{"refused", "t-1", 400, "", pay}, {"unknown", "t-1", 500, "", pay}, {"a refund that is refused", "r-1", 401, "", refund}, {"an unknown one", "r-1", 502, "", refund},
		{"a declined one", "r-1", 200, clienttest.RefundRow(112, "9", ""), refund}, {"a query", "1", 401, "", get}, {"not found", "1", 200, `{"code":404}`, get},
		{"approved", "", 200, clienttest.OrderRow(100, "9", ""), pay},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lines strings.Builder
			observed := ""
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, Logger: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug})),
				Retry: cardgateway.RetryPolicy{MaxAttempts: 1}, ObserveAttempt: func(_ context.Context, a cardgateway.AttemptInfo) { observed = a.RequestID },
				HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					resp, err := clienttest.Respond(r, tt.status, tt.body)
					resp.Header = http.Header{"Traceparent": {"other"}, "X-Request-Id": {"a-1; 4111111111111111; " + clienttest.Token}}
					return resp, err
				})},
			})
			err := tt.call(t.Context(), c)
			if text := fmt.Sprint(err); tt.id != "" && (!strings.Contains(text, `"`+tt.id+`"`) || !strings.Contains(text, `(request "a-1; `)) {
				t.Errorf("got %s", text)
			}
			all := fmt.Sprintf("%s %+v %s", lines.String(), err, observed)
			if got := strings.Count(lines.String(), `requestId="a-1; `); got != 2 || !strings.HasPrefix(observed, "a-1; ") {
				t.Errorf("%d lines have the request id, want that of the attempt and that of the call; observed %q: %s", got, observed, lines.String())
			}
			if leaked := clienttest.Leaked(all, clienttest.CardNumber); len(leaked) > 0 || tt.id == "t-1" && strings.Contains(all, clienttest.Token) {
				t.Errorf("secrets are shown: %s", all)
			}
		})
	}
}

// TestWalkIsNamedAsCalled: the error of a query has the names of the caller's method and of its fields.
func TestWalkIsNamedAsCalled(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL})
	for _, err := range c.Orders(t.Context(), cardgateway.OrderQuery{}) {
		if want := "cardgateway: Orders: invalid request: Start is required; End is required"; fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, err := range c.RefundWalk(cardgateway.RefundQuery{}, cardgateway.WalkOptions{}).All(t.Context()) {
		if want := "cardgateway: RefundWalk: invalid request: Start is required; End is required"; fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestString: a result prints as one line that names it, without personal data and addresses.
func TestString(t *testing.T) {
	at, err := cardgateway.ParseWallTime("2026-11-01 10:00:00")
	if err != nil {
		t.Fatal(err)
	}
	paid := cardgateway.Transaction{
		Code: 100, IsTest: true, UniqueID: "9", TransactionID: "t-1", TransactionAmount: clienttest.Amount, TransactionCurrency: "USD", TransactionAt: at,
		TransactionMessage: "hidden", RedirectURL: "https://hidden", BillingAddress: &cardgateway.Address{LastName: "hidden"}, Extra: map[string]json.RawMessage{"a": []byte("hidden")},
	}
	refund := cardgateway.Refund{Code: 110, UniqueID: "9", RefundUniqueID: "7", MerchantRefundID: "r-\n1", RefundAmount: clienttest.Amount, RefundCurrency: "USD", Message: "hidden"}
	for _, tt := range []struct {
		value any
		want  string
	}{
		{paid, `transaction "t-1" (uniqueId "9"): 100 (successful transaction), 12.5 USD, test, 2026-11-01 10:00:00`},
		{refund, `refund "r-\n1" (refundUniqueId "7") of uniqueId "9": 110 (refund request successful), 12.5 USD`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			pointer := reflect.New(reflect.TypeOf(tt.value))
			pointer.Elem().Set(reflect.ValueOf(tt.value))
			for _, got := range []string{fmt.Sprint(tt.value), fmt.Sprintf("%+v", tt.value), fmt.Sprintf("%s", pointer.Interface()), fmt.Sprint([]any{tt.value})} {
				if strings.Trim(got, "[]") != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			}
		})
	}
}
