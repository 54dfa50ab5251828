package amount

import (
	"testing"

	"github.com/shopspring/decimal"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ amount, currency, text, forPeople string }{
		{"12.5", "USD", "12.50", "12.50"},
		{"1000", "JPY", "1000", "1,000"},
		{"1000.00", "JPY", "1000", "1,000"},
		{"0.125", "EUR", "0.125", "0.125"},
		{"1.5", "KWD", "1.500", "1.500"},
		{"-1234567.8", "EUR", "-1234567.80", "\u22121,234,567.80"},
		{"-100", "EUR", "-100.00", "\u2212100.00"},
		{"7", "", "7.00", "7.00"},
		{"0", "JPY", "0", "0"},
	} {
		t.Run(test.amount, func(t *testing.T) {
			d := decimal.RequireFromString(test.amount)
			if got := Text(d, test.currency); got != test.text {
				t.Errorf("%s %s: got %q, want %q", test.amount, test.currency, got, test.text)
			}
			if got := ForPeople(d, test.currency); got != test.forPeople {
				t.Errorf("%s %s: got %q for people, want %q", test.amount, test.currency, got, test.forPeople)
			}
			if got := Scaled(d, test.currency); !got.Equal(d) || got.StringFixed(max(0, -got.Exponent())) != test.text {
				t.Errorf("%s %s: got %v scaled", test.amount, test.currency, got)
			}
		})
	}
}
