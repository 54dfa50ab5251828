package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// Answering returns the same response to every request.
func Answering(status int, body string) RoundTrip {
	return func(r *http.Request) (*http.Response, error) { return Respond(r, status, body) }
}

// Keeping returns a client of a gateway that decodes the body of each request into sent, and always has the same response.
func Keeping(t testing.TB, sent any, response string) *http.Client {
	return &http.Client{Transport: RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			if err := json.NewDecoder(r.Body).Decode(sent); err != nil {
				t.Error(err)
			}
		}
		return Respond(r, 200, response)
	})}
}

// Page is the only page of a search, with these rows.
func Page(rows ...string) string {
	return fmt.Sprintf(`{"code":121,"totalCount":%d,"data":[%s]}`, len(rows), strings.Join(rows, ","))
}

// OrderRow is a payment of Amount as a response or a page has it; more is appended as members.
func OrderRow(code int, uniqueID, more string) string {
	return fmt.Sprintf(`{"transactionId":"t-1","uniqueId":%q,"code":%d,"transactionAmount":"12.50","transactionCurrency":"USD"%s}`, uniqueID, code, more)
}

// RefundRequest returns a valid request.
func RefundRequest() cardgateway.RefundRequest {
	return cardgateway.RefundRequest{UniqueID: "77", RefundTransactionID: "r-1", Amount: Amount}
}

// RefundRow is its refund as a response or a page has it; more is appended as members.
func RefundRow(code int, refundUniqueID, more string) string {
	return fmt.Sprintf(
		`{"code":%d,"message":"text","refundTransactionId":"r-1","uniqueId":"77","refundUniqueId":%q,"refundAmount":"12.50","refundCurrency":"USD"%s}`,
		code, refundUniqueID, more,
	)
}
