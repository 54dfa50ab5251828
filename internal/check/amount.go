package check

import (
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/iso4217"
)

// Limits of a price. The interface has none; these prevent a hostile decimal from filling the memory.
const (
	maxPriceDigits   = 32
	maxPriceDecimals = 16
)

// Amount checks an amount of the interface, a Number(12,3) above zero. It checks the exponent first: only then is the number of
// digits bounded by what the caller has written.
func (v *Violations) Amount(member string, d decimal.Decimal) {
	const digits = 12
	switch exp := int(d.Exponent()); {
	case d.Sign() <= 0:
		v.Add(member, RuleRange, "must be above zero")
	case exp < -maxUnits:
		v.Add(member, RuleFormat, "has %d decimals, at most %d are allowed", -exp, maxUnits)
	case exp > digits || d.NumDigits()+max(exp, 0) > digits:
		v.Add(member, RuleFormat, "has more than %d digits", digits)
	}
}

// WithoutZeros returns an amount that has more decimals than the interface allows without the trailing zeros that its currency
// does not have, or beyond the third if it is not in ISO 4217 or the amount has more than the currency: a column numeric(12,4) has 12.5000.
// Other amounts stay as they are.
func WithoutZeros(d decimal.Decimal, currency string) decimal.Decimal {
	if exp := int(d.Exponent()); exp < -maxUnits && exp >= -maxPriceDecimals {
		units, known := iso4217.Decimals(currency)
		if !known {
			units = maxUnits
		}
		for _, places := range []int{units, maxUnits} {
			if short := d.Truncate(int32(places)); short.Equal(d) {
				return short
			}
		}
	}
	return d
}

// maxUnits is the largest number of decimals of a currency, and of an amount of the interface.
const maxUnits = 3

// Currency checks a code of three capital letters, which must be in ISO 4217 unless any may be given.
func (v *Violations) Currency(member, s string, any bool) {
	if v.UpperCase(member, s, 3) && !any {
		_, known := iso4217.Decimals(s)
		v.AddIf(!known, member, RuleFormat, "is not a currency of ISO 4217")
	}
}

// Decimals checks that an amount has no more decimals than its currency has in ISO 4217, not counting trailing zeros. A
// currency that is not in ISO 4217 is not checked.
func (v *Violations) Decimals(member string, d decimal.Decimal, currency string) {
	if units, known := iso4217.Decimals(currency); known && !d.Equal(d.Truncate(int32(units))) {
		v.Add(member, RuleFormat, "has more than the %d decimals of %s", units, currency)
	}
}

// Price checks that a price can be written without an exponent. The interface has no limits for it.
func (v *Violations) Price(member string, d decimal.Decimal) {
	if exp := int(d.Exponent()); exp < -maxPriceDecimals || exp > maxPriceDigits || d.NumDigits() > maxPriceDigits {
		v.Add(member, RuleFormat, "has more than %d digits or %d decimals", maxPriceDigits, maxPriceDecimals)
	}
}
