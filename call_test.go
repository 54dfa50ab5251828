package cardgateway_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"bytes"
	"runtime"
	"slices"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// What a call does around its attempts: it waits for the limiter, calls the hook, repeats an unsent payment, hints at a
// wrong address, and logs each attempt.

// limiter counts, and refuses once it has let enough through.
type limiter struct{ waits, letThrough int }

var errLimited = errors.New("over the limit")

func (l *limiter) Wait(context.Context) error {
	if l.waits++; l.waits > l.letThrough {
		return errLimited
	}
	time.Sleep(time.Second)
	return nil
}

func TestLimiterAndHook(t *testing.T) {
	tests := []struct {
		name         string
		letThrough   int
		responses    []clienttest.Scripted
		waits, asked int
		err          error
	}{
		{"waited for before each attempt", 10, []clienttest.Scripted{clienttest.Resets, clienttest.Resets, clienttest.Gives(200, foundOne)}, 3, 3, nil},
		{"refuses the third attempt", 2, []clienttest.Scripted{clienttest.Resets}, 3, 2, errLimited},
		{"refuses at once", 0, []clienttest.Scripted{clienttest.Resets}, 1, 0, errLimited},
	}
	for _, tt := range tests {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			s, l := clienttest.Script{Responses: tt.responses}, limiter{letThrough: tt.letThrough}
			_, err := s.Client(t, cardgateway.Config{Limiter: &l}).GetTransaction(t.Context(), "1")
			if !errors.Is(err, tt.err) || l.waits != tt.waits || len(s.Times()) != tt.asked {
				t.Errorf("limiter, %s: got %v after %d waits and %d attempts", tt.name, err, l.waits, len(s.Times()))
			}
		})
	}
	s, l := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Resets}}, limiter{}
	if _, err := clienttest.PayByToken(
		t.Context(), s.Client(t, cardgateway.Config{Limiter: &l}), "t-1",
	); !errors.Is(err, cardgateway.ErrNotSent) || !errors.Is(err, errLimited) || l.waits != 1 {
		t.Errorf("a payment that the limiter refuses: got %v after %d waits", err, l.waits)
	}
	hooked := 0
	c := s.Client(t, cardgateway.Config{Authenticate: func(*http.Request, []byte) error { hooked++; return clienttest.ErrReset }})
	_, err := c.GetTransaction(t.Context(), "1")
	_, payErr := clienttest.PayByToken(t.Context(), c, "t-1")
	if !errors.Is(err, clienttest.ErrReset) || !errors.Is(payErr, cardgateway.ErrNotSent) || !cardgateway.SafeToRetry(payErr) || hooked != 2 || len(s.Times()) != 0 {
		t.Errorf("a hook that refuses: got %v and %v after %d calls of it and %d attempts", err, payErr, hooked, len(s.Times()))
	}
	synctest.Test(t, func(t *testing.T) { // a hook's own context does not keep an attempt from its end
		s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Hangs}}
		own := func(r *http.Request, _ []byte) error { *r = *r.WithContext(context.Background()); return nil }
		begun := time.Now()
		_, err := s.Client(t, cardgateway.Config{Authenticate: own, AttemptTimeout: time.Second, Retry: cardgateway.RetryPolicy{MaxAttempts: 1}}).GetTransaction(t.Context(), "1")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("a hook that replaces the context: got %v after %v", err, time.Since(begun))
		}
	})
	for _, invalid := range []func(*http.Request, []byte) error{
		cardgateway.BasicAuth("", clienttest.SecretKey), cardgateway.BasicAuth(clienttest.Merchant, ""), cardgateway.BasicAuth("a:b", clienttest.SecretKey),
	} {
		basic := func(r *http.Request, body []byte) error { return invalid(r, body) } // New does not call it
		_, err := clienttest.PayByToken(t.Context(), s.Client(t, cardgateway.Config{Authenticate: basic}), "t-1")
		if !errors.Is(
			err, cardgateway.ErrInvalidRequest,
		) || cardgateway.SafeToRetry(err) || strings.Contains(err.Error(), clienttest.SecretKey) || len(s.Times()) != 0 {
			t.Errorf("BasicAuth that cannot be right: got %v after %d attempts", err, len(s.Times()))
		}
		if _, err := s.Client(t, cardgateway.Config{Authenticate: basic}).GetTransaction(
			t.Context(), "1",
		); !errors.Is(err, cardgateway.ErrInvalidRequest) || len(s.Times()) != 0 {
			t.Errorf("BasicAuth that cannot be right, a query: got %v after %d attempts", err, len(s.Times()))
		}
	}
}

// TestUnsentPaymentsAreRepeated: at most twice, after pauses, and never once the body may have been read.
func TestUnsentPaymentsAreRepeated(t *testing.T) {
	reads := func(r *http.Request) (*http.Response, error) {
		_, _ = r.Body.Read(make([]byte, 1))
		return nil, clienttest.ErrReset
	}
	paid := func(r *http.Request) (*http.Response, error) {
		return clienttest.Respond(r, 200, clienttest.ResponseFor("t-1", cardgateway.CodeSuccess, ""))
	}
	for _, tt := range []struct {
		name      string
		responses []clienttest.Scripted
		policy    cardgateway.RetryPolicy
		asked     int
		outcome   string
	}{
		{"not sent, then paid", []clienttest.Scripted{clienttest.Resets, paid}, cardgateway.RetryPolicy{}, 2, "paid"},
		{"not sent twice, then paid", []clienttest.Scripted{clienttest.Resets, clienttest.Resets, paid}, cardgateway.RetryPolicy{MaxAttempts: 9}, 3, "paid"},
		{"never sent", []clienttest.Scripted{clienttest.Resets}, cardgateway.RetryPolicy{MaxAttempts: 9}, 3, "not sent"},
		{"never sent, one attempt", []clienttest.Scripted{clienttest.Resets}, cardgateway.RetryPolicy{MaxAttempts: 1}, 1, "not sent"},
		{"one byte read", []clienttest.Scripted{reads, paid}, cardgateway.RetryPolicy{}, 1, "unknown"},
		{"not sent, then one byte read", []clienttest.Scripted{clienttest.Resets, reads, paid}, cardgateway.RetryPolicy{}, 2, "unknown"},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			s := clienttest.Script{Responses: tt.responses}
			tx, err := clienttest.PayByToken(t.Context(), s.Client(t, cardgateway.Config{Retry: tt.policy}), "t-1")
			if got := clienttest.Outcome(tx, err); got != tt.outcome || len(s.Times()) != tt.asked {
				t.Errorf("%s: got %q (%v) after %d attempts, want %q after %d", tt.name, got, err, len(s.Times()), tt.outcome, tt.asked)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // the pause between them ends with the context
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Resets}}
		_, err := clienttest.PayByToken(ctx, s.Client(t, cardgateway.Config{Retry: cardgateway.RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour}}), "t-1")
		if !errors.Is(err, cardgateway.ErrNotSent) || ctx.Err() != nil && len(s.Times()) != 1 {
			t.Errorf("got %v after %d attempts", err, len(s.Times()))
		}
	})
}

// TestMisdirected: the error for a response that is not from the gateway says what to check.
func TestMisdirected(t *testing.T) {
	for _, tt := range []struct { // verdict.Hint has the cases
		status int
		body   string
		hint   bool
	}{{404, "404 page not found", true}, {200, "<!DOCTYPE html>", true}, {302, "", true}, {403, "", false}, {404, `{"code":500}`, false}} {
		s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(tt.status, tt.body)}}
		c := s.Client(t, cardgateway.Config{Retry: cardgateway.RetryPolicy{MaxAttempts: 1}})
		_, payErr := clienttest.PayByToken(t.Context(), c, "t-1")
		_, queryErr := c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: time.Unix(0, 0), End: time.Unix(1, 0)}, cardgateway.PageRequest{})
		for _, err := range []error{payErr, queryErr} {
			if strings.Contains(err.Error(), "is Config.BaseURL right?") != tt.hint {
				t.Errorf("HTTP %d with %q: got %v", tt.status, tt.body, err)
			}
		}
	}
	for second, isFound := range map[string]bool{clienttest.Page(): true, `{"code":404}`: false} { // the search tells a wrong path from an unknown id
		status := map[bool]int{true: 200, false: 404}[isFound]
		s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(404, ""), clienttest.Gives(status, second)}}
		_, err := s.Client(t, cardgateway.Config{}).GetTransaction(t.Context(), "1")
		if strings.Contains(err.Error(), "Config.BaseURL") == isFound || errors.Is(err, cardgateway.ErrNotFound) != isFound {
			t.Errorf("no such transaction, and a search gets %s: got %v", second, err)
		}
	}
}

// TestLog: each attempt has one line, which says for a failed payment whether it may have been sent, and each call has one, at its
// level.
func TestLog(t *testing.T) {
	broken := clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return nil, clienttest.ErrReset
	})
	unsent := clienttest.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, clienttest.ErrReset })
	answering := func(code cardgateway.Code) clienttest.RoundTrip {
		return func(r *http.Request) (*http.Response, error) {
			resp, err := clienttest.Respond(r, 200, clienttest.ResponseFor("t-1", code, ""))
			resp.Header = http.Header{"X-Request-Id": {"a-1"}}
			return resp, err
		}
	}
	pay := func(c *cardgateway.Client) { _, _ = clienttest.PayByToken(t.Context(), c, "t-1") }
	ask := func(c *cardgateway.Client) { _, _ = c.GetTransaction(t.Context(), "2018062815300001") }
	const payment, query = "path=/checkout/tokenization/payment/{tokenization}", "path=/search/order/{uniqueId}"
	for _, tt := range []struct {
		name          string
		transport     clienttest.RoundTrip
		call          func(*cardgateway.Client)
		attempt, line string
	}{
		{"payment", answering(100), pay, "operation=TokenPayment method=POST " + payment + " attempt=1 transactionId=t-1 status=200 requestId=a-1",
			"INFO operation=TokenPayment outcome=approved transactionId=t-1 code=100 status=200 requestId=a-1 attempts=1"},
		{"payment declined", answering(101), pay, "operation=TokenPayment method=POST " + payment + " attempt=1 transactionId=t-1 status=200 requestId=a-1",
			"INFO operation=TokenPayment outcome=declined transactionId=t-1 code=101 status=200 requestId=a-1 attempts=1"},
		{"payment that failed", broken, pay, "operation=TokenPayment method=POST " + payment + ` attempt=1 transactionId=t-1 error="connection reset" sent=true`,
			`WARN operation=TokenPayment outcome=outcome_unknown transactionId=t-1 attempts=1 error="cardgateway: TokenPayment: outcome of transaction \"t-1\" unknown: connection reset"`},
		{"payment that failed before it was sent", unsent, pay, "operation=TokenPayment method=POST " + payment + ` attempt=1 transactionId=t-1 error="connection reset" sent=false`,
			`INFO operation=TokenPayment outcome=not_sent transactionId=t-1 attempts=1 error="cardgateway: TokenPayment: \"t-1\" was not sent: connection reset"`},
		{"query", answering(100), ask, "operation=GetTransaction method=GET " + query + " attempt=1 uniqueId=2018062815300001 status=200 requestId=a-1",
			"INFO operation=GetTransaction outcome=ok uniqueId=2018062815300001 code=100 status=200 requestId=a-1 attempts=1"},
		{"query that failed", broken, ask, "operation=GetTransaction method=GET " + query + ` attempt=1 uniqueId=2018062815300001 error="connection reset"`,
			`INFO operation=GetTransaction outcome=query_failed uniqueId=2018062815300001 attempts=1 error="cardgateway: GetTransaction \"2018062815300001\": connection reset"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			level, line, _ := strings.Cut(tt.line, " ")
			line = "level=" + level + ` msg="cardgateway call" ` + line + "\n"
			for lowest, want := range map[slog.Level]string{
				slog.LevelDebug: `level=DEBUG msg="cardgateway attempt" ` + tt.attempt + "\n" + line, slog.LevelInfo: line,
			} {
				var logs strings.Builder
				logger := slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{
					Level: lowest,
					ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
						if a.Key == slog.TimeKey || a.Key == "duration" {
							return slog.Attr{}
						}
						return a
					},
				}))
				tt.call(clienttest.NewClient(t, cardgateway.Config{
					BaseURL: clienttest.BaseURL, Logger: logger, HTTPClient: &http.Client{Transport: tt.transport}, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
				}))
				if logs.String() != want {
					t.Errorf("got  %swant %s", logs.String(), want)
				}
			}
		})
	}
}

// TestCallsAreLogged: one line for each call states its outcome, at a level that fits the outcome. The queries of a walk
// and of Resolve have a lower level.
func TestCallsAreLogged(t *testing.T) {
	approved := `{"code":100,"uniqueId":"1","transactionId":"t-1","transactionAmount":"12.50","transactionCurrency":"USD"}`
	unreachable := clienttest.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("unreachable") })
	pay := func(ctx context.Context, c *cardgateway.Client) {
		_, _ = c.TokenPayment(ctx, cardgateway.NewToken("a-token"), clienttest.TokenPaymentRequest("t-1"))
	}
	resolve := func(ctx context.Context, c *cardgateway.Client) {
		q := paymentSentNow()
		q.Wait = 1
		_, _ = c.Resolve(ctx, q)
	}
	for _, tt := range []struct {
		name      string
		transport clienttest.RoundTrip
		call      func(context.Context, *cardgateway.Client)
		want      string
	}{
		{
			"processing", clienttest.Answering(200, strings.Replace(approved, "100", "102", 1)), pay,
			"INFO TokenPayment processing transactionId=t-1 code=102 status=200 attempts=1",
		},
		{"refused", clienttest.Answering(401, ""), pay, "WARN TokenPayment refused transactionId=t-1 status=401 attempts=1 error"},
		{"unknown", clienttest.Answering(500, ""), pay, "WARN TokenPayment outcome_unknown transactionId=t-1 status=500 attempts=1 error"},
		{"not sent", unreachable, pay, "INFO TokenPayment not_sent transactionId=t-1 attempts=3 error"},
		{"invalid", unreachable, func(ctx context.Context, c *cardgateway.Client) {
			_, _ = c.TokenPayment(ctx, cardgateway.NewToken("a-token"), cardgateway.TokenPaymentRequest{})
		}, ""},
		{"not found", clienttest.Answering(200, `{"code":404}`), func(ctx context.Context, c *cardgateway.Client) { _, _ = c.GetTransaction(ctx, "1") }, ""},
		{"wrong credentials", clienttest.Answering(401, ""), func(ctx context.Context, c *cardgateway.Client) { _, _ = c.GetTransaction(ctx, "1") },
			"INFO GetTransaction query_failed uniqueId=1 status=401 attempts=1 error"},
		{"search for one", clienttest.Answering(200, clienttest.Page()), func(ctx context.Context, c *cardgateway.Client) {
			now := time.Now()
			_, _ = c.SearchOrders(ctx, cardgateway.OrderQuery{TransactionID: "t-9", Start: now, End: now}, cardgateway.PageRequest{})
		}, "INFO SearchOrders ok transactionId=t-9 code=121 status=200 attempts=1"},
		{"walk for one", clienttest.Answering(200, clienttest.Page()), func(ctx context.Context, c *cardgateway.Client) {
			now := time.Now()
			for range c.Orders(ctx, cardgateway.OrderQuery{UniqueID: "1", TransactionID: "t-9", Start: now.Add(-time.Hour), End: now}) {
				t.Error("got a row")
			}
		}, "INFO OrderWalk ok transactionId=t-9 uniqueId=1"},
		{"resolved", clienttest.Answering(200, clienttest.Page(clienttest.OrderRow(100, "1", ""))), resolve, "INFO Resolve approved transactionId=t-1 code=100"},
		{"not resolved", clienttest.Answering(503, ""), resolve, "WARN Resolve outcome_unknown transactionId=t-1 error"},
		{"paid twice", clienttest.Answering(200, clienttest.Page(clienttest.OrderRow(100, "1", ""), clienttest.OrderRow(100, "2", ""))), resolve, "WARN Resolve conflict transactionId=t-1 error"},
		{"not known", clienttest.Answering(200, clienttest.Page()), resolve, ""},
		{"refund", clienttest.Answering(200, `{"code":111,"uniqueId":"1","refundTransactionId":"r-1","refundUniqueId":"2"}`),
			func(ctx context.Context, c *cardgateway.Client) {
				_, _ = c.CreateRefund(ctx, cardgateway.RefundRequest{UniqueID: "1", RefundTransactionID: "r-1", Amount: decimal.NewFromInt(1)})
			}, "INFO CreateRefund approved refundTransactionId=r-1 uniqueId=1 code=111 status=200 attempts=1"},
		{"search for a refund", clienttest.Answering(200, clienttest.Page()), func(ctx context.Context, c *cardgateway.Client) {
			now := time.Now()
			_, _ = c.SearchRefunds(ctx, cardgateway.RefundQuery{UniqueID: "1", RefundTransactionID: "r-1", Start: now, End: now}, cardgateway.PageRequest{})
		}, "INFO SearchRefunds ok refundTransactionId=r-1 uniqueId=1 code=121 status=200 attempts=1"},
		{"walk for a refund", clienttest.Answering(200, clienttest.Page()), func(ctx context.Context, c *cardgateway.Client) {
			now := time.Now()
			q := cardgateway.RefundQuery{UniqueID: "1", RefundTransactionID: "r-1", TransactionID: "t-1", Start: now.Add(-time.Hour), End: now}
			for range c.Refunds(ctx, q) {
				t.Error("got a row")
			}
		}, "INFO RefundWalk ok transactionId=t-1 refundTransactionId=r-1 uniqueId=1"},
		{"resolved refund", clienttest.Answering(503, ""), func(ctx context.Context, c *cardgateway.Client) {
			_, _ = c.ResolveRefund(ctx, cardgateway.ResolveRefundQuery{
				UniqueID: "1", RefundTransactionID: "r-1", Amount: decimal.NewFromInt(1), SentAt: time.Now(), Wait: 1,
			})
		}, "WARN ResolveRefund outcome_unknown refundTransactionId=r-1 uniqueId=1 error"},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			var lines clienttest.LineLog
			tt.call(t.Context(), clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, Logger: slog.New(&lines), HTTPClient: &http.Client{Transport: tt.transport},
			}))
			if diff := cmp.Diff(tt.want, strings.Join(lines, "\n")); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// spanLog writes the span of each record's context.
type spanLog struct {
	slog.Handler
	lines *[]string
}

type spanKey struct{}

func (l spanLog) Enabled(context.Context, slog.Level) bool { return true }

func (l spanLog) Handle(ctx context.Context, record slog.Record) error {
	*l.lines = append(*l.lines, fmt.Sprintf("%s %v: %s", record.Level, ctx.Value(spanKey{}), record.Message))
	return nil
}

// TestLogContext: the lines of a call, and of its attempts, have the context that Observe returned, so that a handler can add the span.
// The query of a Resolve has its line at debug level, whatever that context is.
func TestLogContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		c := clienttest.NewClient(t, cardgateway.Config{
			BaseURL: clienttest.BaseURL, Logger: slog.New(spanLog{slog.DiscardHandler, &lines}),
			HTTPClient: &http.Client{Transport: clienttest.Answering(200, clienttest.Page(clienttest.OrderRow(100, "1", "")))},
			Observe: func(_ context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
				return context.WithValue(context.Background(), spanKey{}, op.Name), nil
			},
		})
		if _, err := c.Resolve(t.Context(), paymentSentNow()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"DEBUG SearchOrders: cardgateway attempt", "DEBUG SearchOrders: cardgateway call", "INFO Resolve: cardgateway call",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// What hooks, transports and bodies do: a call ends once whatever they do, and their errors are not outcomes.

// faultyBody panics, or never comes to an end.
type faultyBody struct {
	read  func([]byte) (int, error)
	close func() error
}

func (b faultyBody) Read(p []byte) (int, error) { return b.read(p) }
func (b faultyBody) Close() error               { return b.close() }

func nothing() error { return nil }

// response returns a response with a faulty body, after it has read the request.
func (b faultyBody) response(r *http.Request) (*http.Response, error) {
	resp, err := clienttest.Respond(r, 200, "")
	resp.Body, resp.ContentLength = b, -1
	return resp, err
}

// TestPanics: whatever panics, or ends its goroutine, a call has one line in the log and one observation, which say what is known.
func TestPanics(t *testing.T) {
	answer := func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return clienttest.Respond(r, 200, foundOne)
		}
		return clienttest.Respond(r, 200, clienttest.ResponseFor("t-1", 100, ""))
	}
	for _, stops := range []struct {
		name string
		stop func()
	}{{"panics", func() { panic("of a hook") }}, {"ends the goroutine", runtime.Goexit}} {
		stop := stops.stop
		for _, tt := range []struct {
			name    string
			cfg     cardgateway.Config
			respond clienttest.Scripted
			outcome cardgateway.Outcome // of the payment
			line    string              // the line of the log that panics
		}{
			{name: "Limiter", cfg: cardgateway.Config{Limiter: limiterFunc(func(context.Context) error { stop(); return nil })}, outcome: "not_sent"},
			{name: "Authenticate", cfg: cardgateway.Config{Authenticate: func(*http.Request, []byte) error { stop(); return nil }}, outcome: "not_sent"},
			{name: "ObserveAttempt", cfg: cardgateway.Config{ObserveAttempt: func(context.Context, cardgateway.AttemptInfo) { stop() }}, outcome: "approved"},
			{name: "RoundTripper at once", respond: func(*http.Request) (*http.Response, error) { stop(); return nil, nil }, outcome: "not_sent"},
			{name: "RoundTripper that has sent", respond: func(r *http.Request) (*http.Response, error) {
				resp, err := answer(r)
				stop()
				return resp, err
			}, outcome: "outcome_unknown"},
			{name: "body", respond: faultyBody{func([]byte) (int, error) { stop(); return 0, io.EOF }, nothing}.response, outcome: "outcome_unknown"},
			{name: "closed body", respond: faultyBody{func([]byte) (int, error) { return 0, io.EOF }, func() error { stop(); return nil }}.response, outcome: "outcome_unknown"},
			{name: "Observe", cfg: cardgateway.Config{Observe: func(context.Context, cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
				stop()
				return nil, nil
			}}, outcome: "not_sent"},
			{name: "the line of the attempt", outcome: "approved", line: "cardgateway attempt"},
			{name: "the warning of a wrong zone", outcome: "approved", line: "cardgateway zone", respond: func(r *http.Request) (*http.Response, error) {
				late := `,"transactionAt":"` + time.Now().UTC().Add(11*time.Hour).Format(time.DateTime) + `"`
				refund := strings.ReplaceAll(clienttest.RefundRow(111, "9", late), "transactionAt", "refundRequestAt")
				switch {
				case strings.HasSuffix(r.URL.Path, "/refund"):
					return clienttest.Respond(r, 200, refund)
				case strings.HasSuffix(r.URL.Path, "/order/1"):
					return clienttest.Respond(r, 200, clienttest.OrderRow(100, "1", late))
				case r.Method == http.MethodGet:
					return clienttest.Respond(r, 200, clienttest.Page(clienttest.OrderRow(100, "1", late)))
				}
				return clienttest.Respond(r, 200, clienttest.ResponseFor("t-1", 100, late))
			}},
			{name: "the line of the call", outcome: "approved", line: "cardgateway call"},
		} {
			t.Run(tt.name+" "+stops.name, func(t *testing.T) {
				for _, call := range []struct {
					name    string
					outcome cardgateway.Outcome
					do      func(context.Context, *cardgateway.Client)
				}{
					{"TokenPayment", tt.outcome, func(ctx context.Context, c *cardgateway.Client) { _, _ = clienttest.PayByToken(ctx, c, "t-1") }},
					{"GetTransaction", "query_failed", func(ctx context.Context, c *cardgateway.Client) { _, _ = c.GetTransaction(ctx, "1") }},
					{"CreateRefund", "", func(ctx context.Context, c *cardgateway.Client) {
						_, _ = c.CreateRefund(ctx, clienttest.RefundRequest())
					}},
					{"Resolve", "outcome_unknown", func(ctx context.Context, c *cardgateway.Client) { _, _ = c.Resolve(ctx, paymentSentNow()) }},
				} {
					cfg, lines, ends := tt.cfg, map[string]int{}, map[string][]cardgateway.Outcome{}
					cfg.Logger = slog.New(lineFunc(func(r slog.Record) {
						op := ""
						r.Attrs(func(a slog.Attr) bool { op = a.Value.String(); return false })
						if r.Message == "cardgateway call" {
							lines[op]++
						}
						if r.Message == tt.line {
							stop()
						}
					}))
					observe := cfg.Observe
					cfg.Observe = func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
						if observe != nil {
							observe(ctx, op)
						}
						return ctx, func(i cardgateway.CallInfo) { ends[op.Name] = append(ends[op.Name], i.Outcome) }
					}
					s := clienttest.Script{Responses: []clienttest.Scripted{answer}}
					if tt.respond != nil {
						s.Responses[0] = tt.respond
					}
					c, ended := s.Client(t, cfg), make(chan bool)
					go func() {
						defer close(ended)
						defer func() { _ = recover() }()
						call.do(t.Context(), c)
						t.Errorf("%s returned", call.name)
					}()
					<-ended
					want := []cardgateway.Outcome{call.outcome}
					got := ends[call.name]
					if observe != nil {
						want = nil // it has not said how to end
					} else if call.outcome == "" || (tt.line == "cardgateway call" || tt.line == "cardgateway zone") && call.name != "TokenPayment" {
						want = got // how it ends is not the subject
					}
					if lines[call.name] != 1 || !slices.Equal(got, want) || observe == nil && len(got) != 1 {
						t.Errorf("%s: got %d lines and the ends %v, want one line and %v", call.name, lines[call.name], got, want)
					}
				}
			})
		}
	}
}

// lineFunc is a log.
type lineFunc func(slog.Record)

func (lineFunc) Enabled(context.Context, slog.Level) bool             { return true }
func (f lineFunc) Handle(_ context.Context, record slog.Record) error { f(record); return nil }
func (f lineFunc) WithAttrs([]slog.Attr) slog.Handler                 { return f }
func (f lineFunc) WithGroup(string) slog.Handler                      { return f }

// everyError says of each error that it matches, and is found as.
type everyError struct{ err error }

func (everyError) Error() string     { return "every" }
func (everyError) Is(error) bool     { return true }
func (e everyError) As(any) bool     { return true }
func (e everyError) Unwrap() []error { return []error{io.EOF, e.err} }

// TestForeignErrors: what a hook or a transport returns is no outcome, whichever outcome of another call it holds, and however it does.
func TestForeignErrors(t *testing.T) {
	outcomes := []error{
		&cardgateway.DeclinedError{TransactionID: "t-a"}, &cardgateway.RefundDeclinedError{}, &cardgateway.RefusedError{}, &cardgateway.ConflictError{},
		&cardgateway.RefundConflictError{}, &cardgateway.OutcomeUnknownError{TransactionID: "t-a", Cause: io.EOF}, &cardgateway.RefundUnknownError{Cause: io.EOF},
		&cardgateway.NotSentError{Cause: io.EOF}, &cardgateway.QueryError{}, &cardgateway.QueryError{Cause: cardgateway.ErrNotFound},
		&cardgateway.ValidationError{}, &cardgateway.UnsettledError{}, cardgateway.ErrDeclined, cardgateway.ErrWalked,
	}
	for _, outcome := range outcomes {
		for form, err := range map[string]error{
			"itself": outcome, "wrapped": fmt.Errorf("vault: %w", outcome), "joined": errors.Join(errLimited, outcome), "every": everyError{outcome},
		} {
			for hook, cfg := range map[string]cardgateway.Config{
				"Limiter":      {Limiter: limiterFunc(func(context.Context) error { return err })},
				"Authenticate": {Authenticate: func(*http.Request, []byte) error { return err }},
				"unsent":       {},
				"sent":         {},
			} {
				clienttest.RunVirtual(t, fmt.Sprintf("%s, %T %s", hook, outcome, form), func(t *testing.T) {
					s := clienttest.Script{Responses: []clienttest.Scripted{func(r *http.Request) (*http.Response, error) {
						if hook == "sent" && r.Body != nil {
							_, _ = io.Copy(io.Discard, r.Body)
						}
						return nil, err
					}}}
					c, want := s.Client(t, cfg), cardgateway.ErrNotSent
					if hook == "sent" {
						want = cardgateway.ErrOutcomeUnknown
					}
					_, payErr := clienttest.PayByToken(t.Context(), c, "t-b")
					_, queryErr := c.GetTransaction(t.Context(), "1")
					for got, want := range map[error]error{payErr: want, queryErr: cardgateway.ErrQueryFailed} {
						clienttest.CheckOneSentinel(t, got)
						if !errors.Is(got, want) || errors.Is(got, outcome) || cardgateway.SafeToRetry(got) != (want == cardgateway.ErrNotSent) {
							t.Errorf("got %v, want %v and not the other call's", got, want)
						}
						if form == "joined" && !errors.Is(got, errLimited) {
							t.Errorf("%v does not match the hook's own error", got)
						}
					}
					if declined, ok := errors.AsType[*cardgateway.DeclinedError](payErr); ok {
						t.Errorf("errors.As finds %v", declined)
					}
				})
			}
		}
	}
}

// TestFaultyResponses: a body that gives nothing for ever, a response beside an error, and a response to nothing.
func TestFaultyResponses(t *testing.T) {
	closed := 0
	closes := func() error { closed++; return nil }
	for _, tt := range []struct {
		name    string
		respond clienttest.Scripted
		outcome string
		closed  int
	}{
		{"nothing for ever", faultyBody{func([]byte) (int, error) { return 0, nil }, closes}.response, "unknown", 1},
		{"something, then nothing for ever", faultyBody{func() func(p []byte) (int, error) {
			rest := bytes.NewReader([]byte("{"))
			return func(p []byte) (int, error) { n, _ := rest.Read(p); return n, nil }
		}(), closes}.response, "unknown", 1},
		{"beside an error", func(r *http.Request) (*http.Response, error) {
			resp, _ := faultyBody{func([]byte) (int, error) { return 0, io.EOF }, closes}.response(r)
			return resp, clienttest.ErrReset
		}, "unknown", 1},
		{"an approval of nothing", unread(200, clienttest.ResponseFor("t-1", 100, "")), "not sent", 0},
		{"a decline of nothing", unread(200, clienttest.ResponseFor("t-1", 101, "")), "not sent", 0},
		{"text about nothing", unread(200, "hello"), "not sent", 0},
		{"an approval of nothing as a refusal", unread(401, clienttest.ResponseFor("t-1", 100, "")), "not sent", 0},
		{"a failure before it was read", unread(503, ""), "not sent", 0},
		{"a refusal before it was read", unread(401, ""), "refused", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			closed = 0
			s := clienttest.Script{Responses: []clienttest.Scripted{tt.respond}}
			tx, err := clienttest.PayByToken(t.Context(), s.Client(t, cardgateway.Config{}), "t-1")
			if got := clienttest.Outcome(tx, err); got != tt.outcome || closed != tt.closed || len(s.Times()) != 1 {
				t.Errorf("got %s (%v), closed %d times, after %d attempts, want %s and %d", got, err, closed, len(s.Times()), tt.outcome, tt.closed)
			}
		})
	}
}

// unread responds without reading the request.
func unread(status int, body string) clienttest.Scripted {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// endedContext is a context that is not of package context, and has ended with an error of its own.
type endedContext struct {
	context.Context
	err error
}

func (c endedContext) Err() error          { return c.err }
func (endedContext) Done() <-chan struct{} { done := make(chan struct{}); close(done); return done }

// TestContextsOwnError: whatever a context has ended with, the call has its own outcome, and no other.
func TestContextsOwnError(t *testing.T) {
	s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(503, "")}}
	c := s.Client(t, cardgateway.Config{})
	query := cardgateway.ResolveQuery{TransactionID: "t-1", Amount: clienttest.Amount, Currency: "USD", SentAt: time.Now()}
	for _, foreign := range []error{
		&cardgateway.DeclinedError{}, cardgateway.ErrConflict, fmt.Errorf("other: %w", cardgateway.ErrTestPayment), errors.Join(context.Canceled, cardgateway.ErrRefused),
	} {
		ctx := endedContext{context.Background(), foreign}
		_, paid := clienttest.PayByToken(ctx, c, "t-1")
		_, refunded := c.CreateRefund(ctx, clienttest.RefundRequest())
		_, got := c.GetTransaction(ctx, "1")
		_, resolved := c.Resolve(ctx, query)
		var walked error
		for _, walked = range c.Orders(ctx, cardgateway.OrderQuery{Start: time.Unix(1e9, 0), End: time.Unix(1.001e9, 0)}) {
		}
		for name, tt := range map[string]struct{ err, want error }{
			"payment": {paid, cardgateway.ErrNotSent}, "refund": {refunded, cardgateway.ErrNotSent}, "query": {got, cardgateway.ErrQueryFailed},
			"resolve": {resolved, cardgateway.ErrOutcomeUnknown}, "walk": {walked, walked},
		} {
			for _, other := range []error{cardgateway.ErrDeclined, cardgateway.ErrConflict, cardgateway.ErrTestPayment, cardgateway.ErrRefused} {
				if !errors.Is(tt.err, tt.want) || errors.Is(tt.err, other) {
					t.Errorf("%s, ended with %v: got %v, want %v and not %v", name, foreign, tt.err, tt.want, other)
				}
			}
		}
	}
}
