// Package amount writes amounts with the decimals of their currency.
package amount

import (
	"strings"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/iso4217"
)

// Text writes an amount with the decimals of its currency, or more if it has them: 12.50, 1000. A currency that is not
// known has two.
func Text(d decimal.Decimal, currency string) string {
	decimals := int32(2)
	if n, ok := iso4217.Decimals(currency); ok {
		decimals = int32(n)
	}
	for decimals < -d.Exponent() && !d.Equal(d.Truncate(decimals)) {
		decimals++
	}
	return d.StringFixed(decimals)
}

// Scaled is an amount with the decimals of Text.
func Scaled(d decimal.Decimal, currency string) decimal.Decimal {
	scaled, err := decimal.NewFromString(Text(d, currency))
	if err != nil { // it was made of a number
		return d
	}
	return scaled
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
