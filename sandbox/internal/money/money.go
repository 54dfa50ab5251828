// Package money calculates with the amounts of the interface, which are decimal texts, and writes them for people.
package money

import (
	"strconv"
	"strings"
)

// Thousandths reads an amount of at most 12 digits before the decimal point, not counting leading zeros, and 3 after it. It
// returns 0 for anything else.
func Thousandths(amount string) int64 {
	whole, decimals, point := strings.Cut(amount, ".")
	whole = strings.TrimLeft(whole, "0")
	if len(decimals) > 3 || point && decimals == "" || len(whole) > 12 {
		return 0
	}
	digits := whole + (decimals + "000")[:3]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !IsDigits(digits) {
		return 0
	}
	return n
}

// Of is the inverse of Thousandths, with the decimals of the currency, and more only if needed.
func Of(thousandths int64, currency string) string {
	decimals := 3
	for decimals > Decimals(currency) && thousandths%10 == 0 {
		thousandths /= 10
		decimals--
	}
	return WithDecimals(strconv.FormatInt(thousandths, 10), decimals)
}

// Decimals returns the number of decimals of a currency in ISO 4217.
func Decimals(currency string) int {
	switch currency {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	}
	return 2
}

// WithDecimals inserts the decimal point into a number of minor units.
func WithDecimals(units string, decimals int) string {
	if decimals == 0 {
		return units
	}
	for len(units) <= decimals {
		units = "0" + units
	}
	return units[:len(units)-decimals] + "." + units[len(units)-decimals:]
}

// Shown formats an amount for display: with all decimals of its currency, and more if it has more.
func Shown(amount, currency string) string {
	whole, decimals, _ := strings.Cut(amount, ".")
	for len(decimals) < Decimals(currency) {
		decimals += "0"
	}
	if decimals == "" {
		return whole + " " + currency
	}
	return whole + "." + decimals + " " + currency
}

// IsDigits reports whether s is one or more digits.
func IsDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
