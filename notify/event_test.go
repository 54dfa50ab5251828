package notify_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestEventKeys compares the keys of two notifications.
func TestEventKeys(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"another time", `{"transactionType":"Sale","uniqueId":"1","timestamp":1}`, `{"transactionType":"Sale","uniqueId":"1","timestamp":2}`, true},
		{"another code", `{"transactionType":"Sale","uniqueId":"1","code":100}`, `{"transactionType":"Sale","uniqueId":"1","code":101}`, false},
		{"another transaction", `{"transactionType":"Sale","uniqueId":"1"}`, `{"transactionType":"Sale","uniqueId":"2"}`, false},
		{"another kind", `{"transactionType":"Sale","uniqueId":"1"}`, `{"transactionType":"Refund","uniqueId":"1"}`, false},
		{"with a token", `{"transactionType":"Sale","uniqueId":"1"}`, `{"transactionType":"Sale","uniqueId":"1","token":"a"}`, false},
		{"another token of a kind without facts", `{"uniqueId":"1","token":"a"}`, `{"uniqueId":"1","token":"b"}`, true},
		{"another possible token of a kind without facts", `{"uniqueId":"1","my_token":"a"}`, `{"uniqueId":"1","my_token":"b"}`, true},
		{"another card number of a kind without facts", `{"uniqueId":"1","transactionCardNumber":"4539000000000001"}`, `{"uniqueId":"1"}`, true},
		{"another verification code of a kind without facts", `{"uniqueId":"1","cvv":"973"}`, `{"uniqueId":"1","cvv":"974"}`, true},
		{"another value of a kind without facts", `{"uniqueId":"1","a":"b","c":"d"}`, `{"uniqueId":"1","a":"bc","e":"d"}`, false},
		{
			"ids of refunds, shifted",
			`{"transactionType":"Refund","refundUniqueId":"12","merchantRefundId":"3"}`,
			`{"transactionType":"Refund","refundUniqueId":"1","merchantRefundId":"23"}`, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := mustParse(t, tt.a).ClaimedKey(), mustParse(t, tt.b).ClaimedKey()
			if (a == b) != tt.same {
				t.Errorf("got %q and %q, want them the same: %v", a, b, tt.same)
			}
		})
	}
}

// TestEventKeysAreShort uses the longest ids that are read.
func TestEventKeysAreShort(t *testing.T) {
	for _, kind := range []string{"Sale", "Refund", "Chargeback", "Other"} {
		n := mustParse(t, fmt.Sprintf(`{"transactionType":%q,"uniqueId":%q,"refundUniqueId":%q,"merchantRefundId":%q,"code":999999999,"token":"x"}`,
			kind, strings.Repeat("9", 128), strings.Repeat("8", 128), strings.Repeat("🙂", 255)))
		key := n.ClaimedKey()
		if len(key) > 255 || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%s: got %d bytes, want at most 255 of ASCII: %q", kind, len(key), key)
		}
	}
}
