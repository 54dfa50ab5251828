// Package amount writes amounts with the decimals of their currency.
package amount

import (
	"strings"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/iso4217"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// Text writes an amount with the decimals of its currency, or more if it has them: 12.50, 1000. A currency that is not
// known has two.
func Text(d decimal.Decimal, currency string) string { return d.StringFixed(decimals(d, currency)) }

// Scaled is an amount with the decimals of Text.
func Scaled(d decimal.Decimal, currency string) decimal.Decimal {
	return d.Round(decimals(d, currency))
}

// decimals returns the number of decimals of Text.
func decimals(d decimal.Decimal, currency string) int32 {
	n := int32(2)
	if of, ok := iso4217.Decimals(currency); ok {
		n = int32(of)
	}
	for n < -d.Exponent() && !d.Equal(d.Truncate(n)) {
		n++
	}
	return n
}

// ForPeople is Text with a comma for every three digits and the sign for minus: −1,234.50.
func ForPeople(d decimal.Decimal, currency string) string {
	digits, fraction, hasFraction := strings.Cut(Text(d, currency), ".")
	digits, isNegative := strings.CutPrefix(digits, "-")
	digits = Thousands(digits)
	if isNegative {
		digits = "\u2212" + digits
	}
	if hasFraction {
		digits += "." + fraction
	}
	return digits
}

// Thousands puts a comma before every three digits of a whole number.
func Thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Plain writes an amount with the decimals that the gateway sent.
func Plain(d decimal.Decimal) string { return string(wire.AppendDecimal(nil, d)) }

// Exact keeps the decimals of an amount in JSON: 12.50 comes back as 12.50.
type Exact struct{ decimal.Decimal }

// MarshalJSON writes the amount as a text.
func (e Exact) MarshalJSON() ([]byte, error) { return []byte(`"` + Plain(e.Decimal) + `"`), nil }

// InJSON is an amount with the decimals of its currency, for JSON.
func InJSON(d decimal.Decimal, currency string) Exact { return Exact{Scaled(d, currency)} }
