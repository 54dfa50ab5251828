package clienttest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cardgateway/cardgateway-go"
)

// Answering returns the same response to every request.
func Answering(status int, body string) RoundTrip {
	return func(r *http.Request) (*http.Response, error) { return Respond(r, status, body) }
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
