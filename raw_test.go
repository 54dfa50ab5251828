package cardgateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// TestRawResponses: with KeepResponses, every result and error has the gateway's response, without a secret.
func TestRawResponses(t *testing.T) {
	now := time.Now()
	pay := func(c *cardgateway.Client) (*cardgateway.RawResponse, error) {
		tx, err := clienttest.PayByToken(context.Background(), c, "t-1")
		if tx != nil {
			return tx.Raw, err
		}
		return rawOf(err), err
	}
	get := func(c *cardgateway.Client) (*cardgateway.RawResponse, error) {
		tx, err := c.GetTransaction(context.Background(), "1")
		if tx != nil {
			return tx.Raw, err
		}
		return rawOf(err), err
	}
	search := func(c *cardgateway.Client) (*cardgateway.RawResponse, error) {
		page, err := c.SearchOrders(context.Background(), cardgateway.OrderQuery{Start: now, End: now}, cardgateway.PageRequest{})
		if page != nil {
			return page.Raw, err
		}
		return rawOf(err), err
	}
	refund := func(c *cardgateway.Client) (*cardgateway.RawResponse, error) {
		r, err := c.CreateRefund(context.Background(), refundRequest())
		if r != nil {
			return r.Raw, err
		}
		return rawOf(err), err
	}
	good := `{"code":100,"uniqueId":"1","transactionId":"t-1"}`
	for _, tt := range []struct {
		name   string
		call   func(*cardgateway.Client) (*cardgateway.RawResponse, error)
		status int
		body   string
		want   string // of the body that is kept
	}{
		{"approved", pay, 200, good, good},
		{"declined", pay, 200, `{"code":101}`, `{"code":101}`},
		{"refused", pay, 401, "no", "no"},
		{"unknown", pay, 500, "<html>", "<html>"},
		{"the token", pay, 500, "of " + clienttest.Token, "of ***"},
		{"the token behind escapes", pay, 500, strings.ReplaceAll(clienttest.Token, "/", "%2f"), "***"},
		{"a credential", pay, 500, "key " + clienttest.SecretKey, "key ***"},
		{"a card number", pay, 500, "card 4111 1111 1111 1111.", "card 411111******1111."},
		{"no UTF-8", pay, 500, "\xff", "\uFFFD"},
		{"a transaction", get, 200, good, good},
		{"no transaction", get, 404, `{"code":404}`, `{"code":404}`},
		{"a page", search, 200, page(), page()},
		{"no page", search, 200, `{"code":122}`, `{"code":122}`},
		{"a credential in a page", search, 200, `{"code":121,"totalCount":0,"x":"` + clienttest.SecretKey + `"}`, `{"code":121,"totalCount":0,"x":"***"}`},
		{"a refund", refund, 200, refundRow(110, "9", ""), refundRow(110, "9", "")},
		{"a declined refund", refund, 200, refundRow(112, "9", ""), refundRow(112, "9", "")},
		{"an unknown refund", refund, 500, "<html>", "<html>"},
		{"a long body", pay, 500, strings.Repeat("x", 64<<10+1), strings.Repeat("x", 64<<10)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, keep := range []bool{true, false} {
				c := clienttest.NewClient(t, cardgateway.Config{
					BaseURL: clienttest.BaseURL, KeepResponses: keep, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
					Authenticate: cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey),
					HTTPClient: &http.Client{Transport: roundTripFunc(func(r *http.Request) (*http.Response, error) {
						resp, err := answering(tt.status, tt.body)(r)
						resp.Header = http.Header{"X-Request-Id": {"req-1"}, "Cf-Ray": {"ray-1"}, "Set-Cookie": {"a=b"}, "Traceparent": {clienttest.SecretKey}}
						return resp, err
					})},
				})
				raw, err := tt.call(c)
				if !keep {
					if raw != nil {
						t.Errorf("kept although KeepResponses is not set: %+v", raw)
					}
					continue
				}
				want := &cardgateway.RawResponse{
					HTTPStatus: tt.status, Body: tt.want, Truncated: len(tt.want) == 64<<10,
					RequestIDs: http.Header{"X-Request-Id": {"req-1"}, "Cf-Ray": {"ray-1"}, "Traceparent": {"***"}},
				}
				if diff := cmp.Diff(want, raw); diff != "" {
					t.Errorf("%v: kept (-want +got):\n%.2000s", err, diff)
				}
			}
		})
	}
}

func rawOf(err error) *cardgateway.RawResponse {
	if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok {
		return unknown.Raw
	}
	if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
		return unknown.Raw
	}
	if refused, ok := errors.AsType[*cardgateway.RefusedError](err); ok {
		return refused.Raw
	}
	if failed, ok := errors.AsType[*cardgateway.QueryError](err); ok {
		return failed.Raw
	}
	return nil
}

// TestObserveAttempt: it receives each attempt, with the context of the observed call.
func TestObserveAttempt(t *testing.T) {
	type key struct{}
	attempts := 0
	var got []cardgateway.AttemptInfo
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: clienttest.BaseURL,
		Observe: func(ctx context.Context, _ cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
			return context.WithValue(ctx, key{}, "observed"), nil
		},
		ObserveAttempt: func(ctx context.Context, a cardgateway.AttemptInfo) {
			if ctx.Value(key{}) != "observed" {
				t.Error("the attempt is not observed with the call's context")
			}
			a.Duration = 0
			got = append(got, a)
		},
		HTTPClient: &http.Client{Transport: roundTripFunc(func(r *http.Request) (*http.Response, error) {
			attempts++
			if attempts == 1 {
				return nil, io.ErrUnexpectedEOF // before the body was read
			}
			return answering(200, `{"code":100,"transactionId":"t-1"}`)(r)
		})},
	})
	if _, err := clienttest.PayByToken(t.Context(), c, "t-1"); err != nil {
		t.Fatal(err)
	}
	op := cardgateway.Operation{
		Name: "TokenPayment", Method: "POST", PathTemplate: "/checkout/tokenization/payment/{tokenization}", Payment: true, TransactionID: "t-1",
	}
	want := []cardgateway.AttemptInfo{
		{Operation: op, Number: 1, Err: io.ErrUnexpectedEOF},
		{Operation: op, Number: 2, HTTPStatus: 200, Sent: true},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) || errors.Is(b, a) })); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}
