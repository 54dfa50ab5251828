package journal

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

func TestRecordable(t *testing.T) {
	amount := func(text string) decimal.Decimal { return decimal.RequireFromString(text) }
	good := Intent{ID: PaymentID("a"), OrderID: "o", Currency: "USD", Amount: amount("12.50")}
	for name, c := range map[string]struct {
		change func(*Intent)
		want   bool
	}{
		"as it is":            {func(*Intent) {}, true},
		"no id":               {func(in *Intent) { in.ID.Text = "" }, false},
		"a control character": {func(in *Intent) { in.ID.Text = "a\n" }, false},
		"no UTF-8":            {func(in *Intent) { in.Currency = "\xff" }, false},
		"128 characters":      {func(in *Intent) { in.OrderID = strings.Repeat("ü", 128) }, true},
		"129 characters":      {func(in *Intent) { in.OrderID = strings.Repeat("x", 129) }, false},
		"3 decimals":          {func(in *Intent) { in.Amount = amount("0.001") }, true},
		"4 decimals":          {func(in *Intent) { in.Amount = amount("0.0001") }, false},
		"12 digits":           {func(in *Intent) { in.Amount = amount("999999999.999") }, true},
		"13 digits":           {func(in *Intent) { in.Amount = amount("9999999999.999") }, false},
		"exponent 12":         {func(in *Intent) { in.Amount = decimal.New(1, 12) }, true},
		"exponent 13":         {func(in *Intent) { in.Amount = decimal.New(1, 13) }, false},
	} {
		in := good
		c.change(&in)
		if got := in.recordable(); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}
