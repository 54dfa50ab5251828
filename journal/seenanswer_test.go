package journal_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// answersOnce is a gateway that responds to payments and refunds, and whose searches return nothing.
type answersOnce struct {
	status int
	body   string
}

func (g answersOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		return clienttest.Respond(r, g.status, g.body)
	}
	return clienttest.Respond(r, http.StatusOK, clienttest.Page())
}

// TestAnsweredIsNeverAbsent: if the response to the call itself contained the payment, it is never presumed absent, even
// if that response cannot be trusted.
func TestAnsweredIsNeverAbsent(t *testing.T) {
	payment := `{"code":100,"uniqueId":"1","transactionId":"a","transactionAmount":"12.50","transactionCurrency":"USD"}`
	refund := `{"code":110,"uniqueId":"77","refundTransactionId":"a","refundUniqueId":"9","refundAmount":"12.50"}`
	for _, tt := range []struct {
		name     string
		status   int
		old, new string // what is replaced in the response
		want     string
	}{
		{"another amount", 200, "12.50", "12.51", "unknown"},
		{"a code that says nothing, with an id of the gateway's", 200, "10", "77", "unknown"},
		{"with HTTP 500", 500, "", "", "unknown"},
		{"another id", 200, `"a"`, `"b"`, "presumed absent"},
		{"no id", 200, `d":"a"`, `d":""`, "presumed absent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for kind, body := range map[string]string{"payment": payment, "refund": refund} {
				inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
					s.network = answersOnce{tt.status, strings.Replace(body, tt.old, tt.new, 1)}
					var err error
					if kind == "payment" {
						_, err = s.TokenPayment(t.Context(), cardgateway.NewToken("a-token"), clienttest.TokenPaymentRequest("a"))
					} else {
						_, err = s.CreateRefund(t.Context(), cardgateway.RefundRequest{
							UniqueID: "77", RefundTransactionID: "a", Amount: clienttest.Amount,
						})
					}
					seen := false
					if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok {
						seen = unknown.Seen
					}
					if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
						seen = unknown.Seen
					}
					if !errors.Is(err, cardgateway.ErrOutcomeUnknown) || seen != (tt.want == "unknown") {
						t.Fatalf("%s, %s: got %v, seen %t", tt.name, kind, err, seen)
					}
					if got := s.toldInTheEnd(); got != tt.want {
						t.Errorf("%s, %s: got %q, want %q", tt.name, kind, got, tt.want)
					}
				})
			}
		})
	}
}
