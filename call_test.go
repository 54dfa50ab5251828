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
		responses    []scripted
		waits, asked int
		err          error
	}{
		{"waited for before each attempt", 10, []scripted{resets, resets, gives(200, foundOne)}, 3, 3, nil},
		{"refuses the third attempt", 2, []scripted{resets}, 3, 2, errLimited},
		{"refuses at once", 0, []scripted{resets}, 1, 0, errLimited},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := script{responses: tt.responses}, limiter{letThrough: tt.letThrough}
				_, err := s.client(t, cardgateway.Config{Limiter: &l}).GetTransaction(t.Context(), "1")
				if !errors.Is(err, tt.err) || l.waits != tt.waits || len(s.times()) != tt.asked {
					t.Errorf("limiter, %s: got %v after %d waits and %d attempts", tt.name, err, l.waits, len(s.times()))
				}
			})
		})
	}
	s, l := script{responses: []scripted{resets}}, limiter{}
	if _, err := clienttest.PayByToken(
		t.Context(), s.client(t, cardgateway.Config{Limiter: &l}), "t-1",
	); !errors.Is(err, cardgateway.ErrNotSent) || !errors.Is(err, errLimited) || l.waits != 1 {
		t.Errorf("a payment that the limiter refuses: got %v after %d waits", err, l.waits)
	}
	hooked := 0
	c := s.client(t, cardgateway.Config{Authenticate: func(*http.Request, []byte) error { hooked++; return errReset }})
	_, err := c.GetTransaction(t.Context(), "1")
	_, payErr := clienttest.PayByToken(t.Context(), c, "t-1")
	if !errors.Is(err, errReset) || !errors.Is(payErr, cardgateway.ErrNotSent) || !cardgateway.SafeToRetry(payErr) || hooked != 2 || len(s.times()) != 0 {
		t.Errorf("a hook that refuses: got %v and %v after %d calls of it and %d attempts", err, payErr, hooked, len(s.times()))
	}
	for _, basic := range []func(*http.Request, []byte) error{
		cardgateway.BasicAuth("", clienttest.SecretKey), cardgateway.BasicAuth(clienttest.Merchant, ""), cardgateway.BasicAuth("a:b", clienttest.SecretKey),
	} {
		_, err := clienttest.PayByToken(t.Context(), s.client(t, cardgateway.Config{Authenticate: basic}), "t-1")
		if !errors.Is(
			err, cardgateway.ErrInvalidRequest,
		) || cardgateway.SafeToRetry(err) || strings.Contains(err.Error(), clienttest.SecretKey) || len(s.times()) != 0 {
			t.Errorf("BasicAuth that cannot be right: got %v after %d attempts", err, len(s.times()))
		}
		if _, err := s.client(t, cardgateway.Config{Authenticate: basic}).GetTransaction(
			t.Context(), "1",
		); !errors.Is(err, cardgateway.ErrInvalidRequest) || len(s.times()) != 0 {
			t.Errorf("BasicAuth that cannot be right, a query: got %v after %d attempts", err, len(s.times()))
		}
	}
}

// TestUnsentPaymentsAreRepeated: at most twice, after pauses, and never once the body may have been read.
func TestUnsentPaymentsAreRepeated(t *testing.T) {
	reads := func(r *http.Request) (*http.Response, error) {
		_, _ = r.Body.Read(make([]byte, 1))
		return nil, errReset
	}
	paid := func(r *http.Request) (*http.Response, error) {
		return clienttest.Respond(r, 200, clienttest.ResponseFor("t-1", cardgateway.CodeSuccess, ""))
	}
	for _, tt := range []struct {
		name      string
		responses []scripted
		policy    cardgateway.RetryPolicy
		asked     int
		outcome   string
	}{
		{"not sent, then paid", []scripted{resets, paid}, cardgateway.RetryPolicy{}, 2, "paid"},
		{"not sent twice, then paid", []scripted{resets, resets, paid}, cardgateway.RetryPolicy{MaxAttempts: 9}, 3, "paid"},
		{"never sent", []scripted{resets}, cardgateway.RetryPolicy{MaxAttempts: 9}, 3, "not sent"},
		{"never sent, one attempt", []scripted{resets}, cardgateway.RetryPolicy{MaxAttempts: 1}, 1, "not sent"},
		{"one byte read", []scripted{reads, paid}, cardgateway.RetryPolicy{}, 1, "unknown"},
		{"not sent, then one byte read", []scripted{resets, reads, paid}, cardgateway.RetryPolicy{}, 2, "unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := script{responses: tt.responses}
				tx, err := clienttest.PayByToken(t.Context(), s.client(t, cardgateway.Config{Retry: tt.policy}), "t-1")
				if got := clienttest.Outcome(tx, err); got != tt.outcome || len(s.times()) != tt.asked {
					t.Errorf("%s: got %q (%v) after %d attempts, want %q after %d", tt.name, got, err, len(s.times()), tt.outcome, tt.asked)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // the pause between them ends with the context
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := script{responses: []scripted{resets}}
		_, err := clienttest.PayByToken(ctx, s.client(t, cardgateway.Config{Retry: cardgateway.RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour}}), "t-1")
		if !errors.Is(err, cardgateway.ErrNotSent) || ctx.Err() != nil && len(s.times()) != 1 {
			t.Errorf("got %v after %d attempts", err, len(s.times()))
		}
	})
}

// TestMisdirected: the error for a response that is not from the gateway says what to check.
func TestMisdirected(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		hint   bool
	}{
		{404, "404 page not found", true}, {405, "", true}, {301, "", true}, {302, "<html>", true},
		{200, "<!DOCTYPE html>", true}, {200, "\ufeff <html>", true}, {403, "<html>", true}, {200, "", false}, {403, "", false}, {502, "<html>", false},
		{404, `{"code":500}`, false}, {404, `{"message":"no such app"}`, false}, {401, "", false}, {429, "", false}, {400, `{"code":400,"message":"no"}`, false},
	} {
		s := script{responses: []scripted{gives(tt.status, tt.body)}}
		c := s.client(t, cardgateway.Config{Retry: cardgateway.RetryPolicy{MaxAttempts: 1}})
		_, payErr := clienttest.PayByToken(t.Context(), c, "t-1")
		_, queryErr := c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: time.Unix(0, 0), End: time.Unix(1, 0)}, cardgateway.PageRequest{})
		for _, err := range []error{payErr, queryErr} {
			if strings.Contains(err.Error(), "is Config.BaseURL right?") != tt.hint {
				t.Errorf("HTTP %d with %q: got %v", tt.status, tt.body, err)
			}
		}
	}
	for _, body := range []string{"Client sent an HTTP request to an HTTPS server.\n", "<title>400 The plain HTTP request was sent to HTTPS port</title>"} {
		s := script{responses: []scripted{gives(400, body)}}
		if _, err := clienttest.PayByToken(
			t.Context(), s.client(t, cardgateway.Config{}), "t-1",
		); !errors.Is(err, cardgateway.ErrRefused) || !strings.Contains(err.Error(), "begin with https?") {
			t.Errorf("plain http to a TLS port: got %v", err)
		}
	}
	s := script{responses: []scripted{gives(404, "")}}
	if _, err := s.client(t, cardgateway.Config{}).GetTransaction(t.Context(), "1"); strings.Contains(err.Error(), "BaseURL") {
		t.Errorf("no such transaction: got %v", err)
	}
}

// TestAttemptsAreLogged: each attempt has one line, which says for a failed payment whether it may have been sent.
func TestAttemptsAreLogged(t *testing.T) {
	broken := clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return nil, errReset
	})
	unsent := clienttest.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, errReset })
	approving := clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		return clienttest.Respond(r, 200, clienttest.ResponseFor("t-1", cardgateway.CodeSuccess, ""))
	})
	pay := func(c *cardgateway.Client) { _, _ = clienttest.PayByToken(t.Context(), c, "t-1") }
	ask := func(c *cardgateway.Client) { _, _ = c.GetTransaction(t.Context(), "1") }
	for _, tt := range []struct {
		name      string
		transport clienttest.RoundTrip
		call      func(*cardgateway.Client)
		want      string
	}{
		{"payment", approving, pay, "operation=TokenPayment method=POST path=/checkout/tokenization/payment/{tokenization} attempt=1 transactionId=t-1 status=200"},
		{
			"payment that failed", broken, pay,
			`operation=TokenPayment method=POST path=/checkout/tokenization/payment/{tokenization} attempt=1 transactionId=t-1 error="connection reset" sent=true`,
		},
		{
			"payment that failed before it was sent", unsent, pay,
			`operation=TokenPayment method=POST path=/checkout/tokenization/payment/{tokenization} attempt=1 transactionId=t-1 error="connection reset" sent=false`,
		},
		{"query", approving, ask, "operation=GetTransaction method=GET path=/search/order/{uniqueId} attempt=1 uniqueId=1 status=200"},
		{"query that failed", broken, ask, `operation=GetTransaction method=GET path=/search/order/{uniqueId} attempt=1 uniqueId=1 error="connection reset"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var logs strings.Builder
			logger := slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{
				Level: slog.LevelDebug,
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
			attempt, _, _ := strings.Cut(logs.String(), "level=INFO")
			attempt, _, _ = strings.Cut(attempt, "level=WARN")
			if want := `level=DEBUG msg="cardgateway attempt" ` + tt.want + "\n"; attempt != want {
				t.Errorf("got  %swant %s", attempt, want)
			}
		})
	}
}

// TestPaymentObserved: the observer receives what the caller receives, and what the last response contained.
func TestPaymentObserved(t *testing.T) {
	for _, tt := range []struct {
		name             string
		responses        []scripted
		attempts, status int
		code             cardgateway.Code
		outcome          string
	}{
		{"paid", []scripted{gives(200, clienttest.ResponseFor("t-1", 100, ""))}, 1, 200, 100, "paid"},
		{"declined", []scripted{gives(200, clienttest.ResponseFor("t-1", 101, ""))}, 1, 200, 101, "declined"},
		{"refused", []scripted{gives(400, `{"code":500}`)}, 1, 400, 500, "refused"},
		{"unknown", []scripted{gives(200, clienttest.ResponseFor("other", 100, ""))}, 1, 200, 100, "unknown"},
		{"unreadable", []scripted{gives(200, "<html>")}, 1, 200, 0, "unknown"},
		{"not sent, then paid", []scripted{resets, gives(200, clienttest.ResponseFor("t-1", 100, ""))}, 2, 200, 100, "paid"},
		{"never sent", []scripted{resets}, 3, 0, 0, "not sent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := script{responses: tt.responses}
				var seen cardgateway.Operation
				var info cardgateway.CallInfo
				c := s.client(t, cardgateway.Config{Observe: func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
					seen = op
					return ctx, func(i cardgateway.CallInfo) { info = i }
				}})
				tx, err := clienttest.PayByToken(t.Context(), c, "t-1")
				if got := clienttest.Outcome(tx, err); got != tt.outcome || info.Err != err {
					t.Errorf("%s: got %q, observed %v, want %q", tt.name, got, info.Err, tt.outcome)
				}
				if info.Attempts != tt.attempts || info.HTTPStatus != tt.status || info.Code != tt.code {
					t.Errorf("%s: observed %d attempts, HTTP %d, code %d, want %d, %d, %d",
						tt.name, info.Attempts, info.HTTPStatus, info.Code, tt.attempts, tt.status, tt.code)
				}
				if seen.Name != "TokenPayment" || !seen.Payment || seen.TransactionID != "t-1" {
					t.Errorf("%s: observed %+v", tt.name, seen)
				}
			})
		})
	}
}
