package cardgateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// roundTripFunc is a RoundTripper made of a function.
type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering returns the same response to every request, after it has read the request's body.
func answering(status int, body string) roundTripFunc {
	return func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// TestCallsAreLogged: one line for each call states its outcome, at a level that fits the outcome. The queries of a walk
// and of Resolve have a lower level.
func TestCallsAreLogged(t *testing.T) {
	approved := `{"code":100,"uniqueId":"1","transactionId":"t-1","transactionAmount":"12.50","transactionCurrency":"USD"}`
	unreachable := roundTripFunc(func(*http.Request) (*http.Response, error) { return nil, errors.New("unreachable") })
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
		transport roundTripFunc
		call      func(context.Context, *cardgateway.Client)
		want      string
	}{
		{"approved", answering(200, approved), pay, "INFO TokenPayment approved transactionId=t-1 code=100 status=200 attempts=1"},
		{
			"processing", answering(200, strings.Replace(approved, "100", "102", 1)), pay,
			"INFO TokenPayment processing transactionId=t-1 code=102 status=200 attempts=1",
		},
		{"declined", answering(200, strings.Replace(approved, "100", "101", 1)), pay, "INFO TokenPayment declined transactionId=t-1 code=101 status=200 attempts=1"},
		{"refused", answering(401, ""), pay, "WARN TokenPayment refused transactionId=t-1 status=401 attempts=1 error"},
		{"unknown", answering(500, ""), pay, "WARN TokenPayment outcome_unknown transactionId=t-1 status=500 attempts=1 error"},
		{"not sent", unreachable, pay, "INFO TokenPayment not_sent transactionId=t-1 attempts=3 error"},
		{"invalid", unreachable, func(ctx context.Context, c *cardgateway.Client) {
			_, _ = c.TokenPayment(ctx, cardgateway.NewToken("a-token"), cardgateway.TokenPaymentRequest{})
		}, ""},
		{"found", answering(200, approved), func(ctx context.Context, c *cardgateway.Client) { _, _ = c.GetTransaction(ctx, "1") },
			"INFO GetTransaction ok uniqueId=1 code=100 status=200 attempts=1"},
		{"not found", answering(404, ""), func(ctx context.Context, c *cardgateway.Client) { _, _ = c.GetTransaction(ctx, "1") }, ""},
		{"wrong credentials", answering(401, ""), func(ctx context.Context, c *cardgateway.Client) { _, _ = c.GetTransaction(ctx, "1") },
			"INFO GetTransaction query_failed uniqueId=1 status=401 attempts=1 error"},
		{"search for one", answering(200, page()), func(ctx context.Context, c *cardgateway.Client) {
			now := time.Now()
			_, _ = c.SearchOrders(ctx, cardgateway.OrderQuery{TransactionID: "t-9", Start: now, End: now}, cardgateway.PageRequest{})
		}, "INFO SearchOrders ok transactionId=t-9 code=121 status=200 attempts=1"},
		{"walk for one", answering(200, page()), func(ctx context.Context, c *cardgateway.Client) {
			now := time.Now()
			for range c.Orders(ctx, cardgateway.OrderQuery{UniqueID: "1", TransactionID: "t-9", Start: now.Add(-time.Hour), End: now}) {
				t.Error("got a row")
			}
		}, "INFO OrderWalk ok transactionId=t-9 uniqueId=1"},
		{"resolved", answering(200, page(orderRow(100, "1", ""))), resolve, "INFO Resolve approved transactionId=t-1 code=100"},
		{"not resolved", answering(503, ""), resolve, "WARN Resolve outcome_unknown transactionId=t-1 error"},
		{"paid twice", answering(200, page(orderRow(100, "1", ""), orderRow(100, "2", ""))), resolve, "WARN Resolve conflict transactionId=t-1 error"},
		{"not known", answering(200, page()), resolve, ""},
		{"refund", answering(200, `{"code":111,"uniqueId":"1","refundTransactionId":"r-1","refundUniqueId":"2"}`),
			func(ctx context.Context, c *cardgateway.Client) {
				_, _ = c.CreateRefund(ctx, cardgateway.RefundRequest{UniqueID: "1", RefundTransactionID: "r-1", Amount: decimal.NewFromInt(1)})
			}, "INFO CreateRefund approved refundTransactionId=r-1 uniqueId=1 code=111 status=200 attempts=1"},
		{"search for a refund", answering(200, page()), func(ctx context.Context, c *cardgateway.Client) {
			now := time.Now()
			_, _ = c.SearchRefunds(ctx, cardgateway.RefundQuery{UniqueID: "1", RefundTransactionID: "r-1", Start: now, End: now}, cardgateway.PageRequest{})
		}, "INFO SearchRefunds ok refundTransactionId=r-1 uniqueId=1 code=121 status=200 attempts=1"},
		{"walk for a refund", answering(200, page()), func(ctx context.Context, c *cardgateway.Client) {
			now := time.Now()
			q := cardgateway.RefundQuery{UniqueID: "1", RefundTransactionID: "r-1", TransactionID: "t-1", Start: now.Add(-time.Hour), End: now}
			for range c.Refunds(ctx, q) {
				t.Error("got a row")
			}
		}, "INFO RefundWalk ok transactionId=t-1 refundTransactionId=r-1 uniqueId=1"},
		{"resolved refund", answering(503, ""), func(ctx context.Context, c *cardgateway.Client) {
			_, _ = c.ResolveRefund(ctx, cardgateway.ResolveRefundQuery{
				UniqueID: "1", RefundTransactionID: "r-1", Amount: decimal.NewFromInt(1), SentAt: time.Now(), Wait: 1,
			})
		}, "WARN ResolveRefund outcome_unknown refundTransactionId=r-1 uniqueId=1 error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines lineLog
				c, err := cardgateway.New(cardgateway.Config{
					BaseURL: "https://gateway.example", AppID: "1", Logger: slog.New(&lines), HTTPClient: &http.Client{Transport: tt.transport},
				})
				if err != nil {
					t.Fatal(err)
				}
				tt.call(t.Context(), c)
				if diff := cmp.Diff(tt.want, strings.Join(lines, "\n")); diff != "" {
					t.Errorf("log (-want +got):\n%s", diff)
				}
			})
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
			HTTPClient: &http.Client{Transport: answering(200, page(orderRow(100, "1", "")))},
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

// lineLog keeps what is logged at info level and above, in short.
type lineLog []string

func (*lineLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (l *lineLog) Handle(_ context.Context, record slog.Record) error {
	line := record.Level.String()
	record.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "operation", "outcome":
			line += " " + a.Value.String()
		case "error":
			line += " error" // its text is tested elsewhere
		case "duration":
		default:
			line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		}
		return true
	})
	*l = append(*l, line)
	return nil
}

func (l *lineLog) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *lineLog) WithGroup(string) slog.Handler { return l }
