package check_test

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

func TestGoField(t *testing.T) {
	for _, tt := range []struct{ field, rule, want string }{
		{"", "", ""},
		{"amount", check.RuleRequired, "Amount"},
		{"transactionId", check.RuleLength, "TransactionID"},
		{"transactionIp", check.RuleFormat, "TransactionIP"},
		{"callbackUrl", check.RuleFormat, "CallbackURL"},
		{"appId", check.RuleFormat, "AppID"},
		{"sku", check.RuleFormat, "SKU"},
		{"card.cvv", check.RuleFormat, "Card.CVV"},
		{"productInfos", check.RuleRequired, "ProductInfos"},
		{"productInfos[12].price", check.RuleFormat, "ProductInfos[12].Price"},
		{"startDate", check.RuleRequired, "Start"},
		{"endingDate", check.RuleRange, "End"},
		{"token", check.RuleRequired, "token"},
		{"ctx", check.RuleRequired, "ctx"},
		{"SentAt", check.RuleRange, "SentAt"},
		{"currPage", check.RuleReserved, "CurrPage"},
		{"country", check.RuleReserved, "Extra"},
		{"billingAddress.country", check.RuleReserved, "BillingAddress.Extra"},
		{"productInfos[0].cvv", check.RuleReserved, "ProductInfos[0].Extra"},
	} {
		t.Run(tt.field, func(t *testing.T) {
			if got := check.GoField(tt.field, tt.rule); got != tt.want {
				t.Errorf("%q, %s: got %q, want %q", tt.field, tt.rule, got, tt.want)
			}
		})
	}
}
