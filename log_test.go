package cardgateway

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestLog(t *testing.T) {
	failed := errors.New("reset")
	call := func(op Operation, info CallInfo) func(*slog.Logger) {
		return func(l *slog.Logger) { info.log(t.Context(), l, &op, false) }
	}
	attempt := func(info AttemptInfo) func(*slog.Logger) {
		return func(l *slog.Logger) { info.log(t.Context(), l) }
	}
	for _, tt := range []struct {
		name  string
		write func(*slog.Logger)
		level slog.Level
		want  string
	}{
		{"a call", call(Operation{Name: "TokenPayment", TransactionID: "t-1"}, CallInfo{
			Outcome: "approved", Code: 100, HTTPStatus: 200, RequestID: "a-1", Attempts: 1, Duration: time.Second,
		}), slog.LevelInfo,
			`level=INFO msg="cardgateway call" operation=TokenPayment outcome=approved transactionId=t-1 code=100 status=200 requestId=a-1 attempts=1 duration=1s`},
		{"a call without a response", call(Operation{Name: "TokenPayment"}, CallInfo{Outcome: "not_sent", Attempts: 3, Err: failed}), slog.LevelInfo,
			`level=INFO msg="cardgateway call" operation=TokenPayment outcome=not_sent attempts=3 duration=0s error=reset`},
		{"a call below the level", call(Operation{}, CallInfo{}), slog.LevelWarn, ""},
		{"an attempt", attempt(AttemptInfo{Operation: Operation{Name: "GetTransaction", Method: "GET", PathTemplate: "/o"}, Number: 2, HTTPStatus: 200, RequestID: "a-1"}), slog.LevelDebug,
			`level=DEBUG msg="cardgateway attempt" operation=GetTransaction method=GET path=/o attempt=2 duration=0s status=200 requestId=a-1`},
		{"an attempt of a query that failed", attempt(AttemptInfo{Operation: Operation{Name: "GetTransaction"}, Number: 1, Err: failed}), slog.LevelDebug,
			`level=DEBUG msg="cardgateway attempt" operation=GetTransaction method="" path="" attempt=1 duration=0s error=reset`},
		{"an attempt of a payment that failed", attempt(AttemptInfo{
			Operation: Operation{Name: "TokenPayment", TransactionID: "t-1", Payment: true}, Number: 1, Err: failed, Sent: true,
		}), slog.LevelDebug,
			`level=DEBUG msg="cardgateway attempt" operation=TokenPayment method="" path="" attempt=1 duration=0s transactionId=t-1 error=reset sent=true`},
		{"an attempt of a payment", attempt(AttemptInfo{Operation: Operation{Name: "TokenPayment", Payment: true}, Number: 1, Sent: true}), slog.LevelDebug,
			`level=DEBUG msg="cardgateway attempt" operation=TokenPayment method="" path="" attempt=1 duration=0s`},
		{"an attempt below the level", attempt(AttemptInfo{}), slog.LevelInfo, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: tt.level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}))
			tt.write(logger)
			if got := strings.TrimSpace(out.String()); got != tt.want {
				t.Errorf("%s: got %s\nwant %s", tt.name, got, tt.want)
			}
		})
	}
}
