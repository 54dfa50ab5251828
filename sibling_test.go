package cardgateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// TestErrorOfAnotherCall: in a group of calls as in golang.org/x/sync/errgroup, the error of the one that fails first is the cause with
// which the context of the others ends. Their own outcome is unknown: they do not match that error, but they match the end of a context.
func TestErrorOfAnotherCall(t *testing.T) {
	for _, cause := range []error{
		&cardgateway.DeclinedError{Op: "TokenPayment", TransactionID: "t-a"},
		&cardgateway.NotSentError{Op: "TokenPayment", ID: "t-a", Cause: io.EOF},
		&cardgateway.RefusedError{Op: "TokenPayment", HTTPStatus: 400},
		&cardgateway.ValidationError{Op: "TokenPayment"},
		cardgateway.ErrNotFound,
	} {
		arrived := make(chan bool, 1)
		srv := clienttest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			arrived <- true
			<-r.Context().Done() // it is being charged
		})
		c := clienttest.NewClient(t, cardgateway.Config{BaseURL: srv.URL})
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
		if !errors.Is(err, cardgateway.ErrOutcomeUnknown) || errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
			t.Errorf("a payment beside %v: got %v", cause, err)
		}
		_, err = c.GetTransaction(group(), "1")
		if !errors.Is(err, cardgateway.ErrQueryFailed) || errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
			t.Errorf("a query beside %v: got %v", cause, err)
		}
	}
}

// TestErrorOfAnotherCallInHooks: a hook that waits returns the cause with which the context has ended. The payment was not sent.
func TestErrorOfAnotherCallInHooks(t *testing.T) {
	wait := func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("limiter: %w", context.Cause(ctx))
	}
	for _, cause := range []error{
		&cardgateway.DeclinedError{Op: "TokenPayment", TransactionID: "t-a"},
		&cardgateway.OutcomeUnknownError{Op: "TokenPayment", TransactionID: "t-a"},
		&cardgateway.ValidationError{Op: "TokenPayment"},
		cardgateway.ErrNotFound,
	} {
		for name, cfg := range map[string]cardgateway.Config{
			"Limiter":      {Limiter: limiterFunc(wait)},
			"Authenticate": {Authenticate: func(r *http.Request, _ []byte) error { return wait(r.Context()) }},
		} {
			cfg.BaseURL = clienttest.BaseURL
			c := clienttest.NewClient(t, cfg)
			group := func() context.Context {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
				return ctx
			}
			_, err := clienttest.PayByToken(group(), c, "t-b")
			clienttest.CheckOneSentinel(t, err)
			if !cardgateway.SafeToRetry(err) || errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s, a payment beside %v: got %v", name, cause, err)
			}
			_, err = c.GetTransaction(group(), "1")
			if !errors.Is(err, cardgateway.ErrQueryFailed) || errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s, a query beside %v: got %v", name, cause, err)
			}
		}
	}
}

// TestCVVInMessages: a gateway repeats the request, with the code of the card, in its messages, or where an HTTP response should be.
func TestCVVInMessages(t *testing.T) {
	const echo = `{\"card\":{\"cardNumber\":\"4111111111111111\",\"cvv\":\"973\"}}`
	for _, body := range []string{
		`{"code":400,"message":"invalid: ` + echo + `"}`, `{"code":101,"transactionId":"t-1","transactionMessage":"` + echo + `"}`,
		`{"code":100,"transactionId":"t-1","transactionAmount":"12.50","transactionCurrency":"USD","billDescription":"` + echo + `"}`,
	} {
		c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: answering(200, body)}})
		tx, err := clienttest.PayByToken(t.Context(), c, "t-1")
		if told := clienttest.DeepPrint([]any{tx, err}, true) + fmt.Sprint(err); strings.Contains(told, "973") {
			t.Errorf("the code is in %s", told)
		}
	}
	base := clienttest.ServeRaw(t, func(conn net.Conn) {
		if _, err := conn.Read(make([]byte, 1<<16)); err == nil {
			_, _ = conn.Write([]byte(`{"error":"bad","cvv":"973"}` + "\n\n"))
		}
	})
	_, err := clienttest.PayByToken(t.Context(), clienttest.NewClient(t, cardgateway.Config{BaseURL: base}), "t-1")
	if err == nil || strings.Contains(err.Error(), "973") {
		t.Errorf("got %v, want an error without the code", err)
	}
}

// limiterFunc is a Limiter.
type limiterFunc func(context.Context) error

func (f limiterFunc) Wait(ctx context.Context) error { return f(ctx) }
