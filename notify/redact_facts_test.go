package notify

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
)

// TestRedactFacts puts the token into every text that the gateway can confirm, and checks where it stays.
func TestRedactFacts(t *testing.T) {
	const token = "tok-0123456789abcdef"
	n := &Notification{
		Token:       cardgateway.NewToken(token),
		Transaction: &cardgateway.Transaction{BillingAddress: new(cardgateway.Address)},
		Refund:      new(cardgateway.Refund),
	}
	raw := json.RawMessage(`{"a":["` + token + `"]}`)
	n.Transaction.Extra = map[string]json.RawMessage{"a": raw}
	n.Transaction.BillingAddress.Extra = map[string]any{"a": raw}
	n.Refund.Extra = map[string]json.RawMessage{"a": raw}
	facts := map[string]reflect.Value{
		"Transaction": reflect.ValueOf(n.Transaction).Elem(), "Address": reflect.ValueOf(n.Transaction.BillingAddress).Elem(),
		"Refund": reflect.ValueOf(n.Refund).Elem(),
	}
	for _, v := range facts {
		for _, value := range v.Fields() {
			if value.Kind() == reflect.String {
				value.SetString("made of " + token)
			}
		}
	}
	n.Transaction.Raw = &cardgateway.RawResponse{
		Body: `{"message":"made of ` + token + `"}`, RequestIDs: http.Header{"X-Request-Id": {token}},
	}
	redactFacts(n)
	var kept []string
	for name, v := range facts {
		for field, value := range v.Fields() {
			if value.Kind() == reflect.String && strings.Contains(value.String(), token) {
				kept = append(kept, name+"."+field.Name)
			}
		}
	}
	slices.Sort(kept)
	want := []string{ // ids, which are compared, and members with a fixed format
		"Refund.AppID", "Refund.MerchantRefundID", "Refund.RefundUniqueID", "Refund.UniqueID",
		"Transaction.AppID", "Transaction.RedirectURL", "Transaction.TransactionID", "Transaction.UniqueID",
	}
	if !slices.Equal(kept, want) {
		t.Errorf("members that keep the token: got %v, want %v", kept, want)
	}
	extras, err := json.Marshal([]any{n.Transaction.Extra, n.Transaction.BillingAddress.Extra, n.Refund.Extra})
	if err != nil || strings.Contains(string(extras), token) {
		t.Errorf("further members: got %s, %v", extras, err)
	}
	response := cardgateway.RawResponse{Body: `{"message":"made of ***"}`, RequestIDs: http.Header{"X-Request-Id": {"***"}}}
	if diff := cmp.Diff(response, *n.Transaction.Raw); diff != "" {
		t.Errorf("the response (-want +got):\n%s", diff)
	}
}
