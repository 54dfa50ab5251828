package cardgateway_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

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

// TestATestPaymentIsNoProof: joined with a proof of "not sent", a test payment forbids another call as any other outcome does.
func TestATestPaymentIsNoProof(t *testing.T) {
	err := errors.Join(&cardgateway.NotSentError{Cause: io.EOF}, fmt.Errorf("later: %w", &cardgateway.TestPaymentError{Op: "Resolve", TransactionID: "t-1"}))
	if cardgateway.SafeToRetry(err) || errors.Is(&cardgateway.TestPaymentError{}, cardgateway.ErrDeclined) {
		t.Errorf("%v may be made again", err)
	}
}
