package sandbox

import (
	"strconv"
	"strings"
)

// thousandths reads an amount of at most 12 digits before the decimal point, not counting leading zeros, and 3 after it. It
// returns 0 for anything else.
func thousandths(amount string) int64 {
	whole, decimals, point := strings.Cut(amount, ".")
	whole = strings.TrimLeft(whole, "0")
	if len(decimals) > 3 || point && decimals == "" || len(whole) > 12 {
		return 0
	}
	digits := whole + (decimals + "000")[:3]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !isDigits(digits) {
		return 0
	}
	return n
}

// amountOf is the inverse of thousandths, with the decimals of the currency, and more only if needed.
func amountOf(thousandths int64, currency string) string {
	decimals := 3
	for decimals > decimalsOf(currency) && thousandths%10 == 0 {
		thousandths /= 10
		decimals--
	}
	return withDecimals(strconv.FormatInt(thousandths, 10), decimals)
}

// decimalsOf returns the number of decimals of a currency in ISO 4217.
func decimalsOf(currency string) int {
	switch currency {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	}
	return 2
}

// withDecimals inserts the decimal point into a number of minor units.
func withDecimals(units string, decimals int) string {
	if decimals == 0 {
		return units
	}
	for len(units) <= decimals {
		units = "0" + units
	}
	return units[:len(units)-decimals] + "." + units[len(units)-decimals:]
}

// shownAmount formats an amount for display: with all decimals of its currency, and more if it has more.
func shownAmount(amount, currency string) string {
	whole, decimals, _ := strings.Cut(amount, ".")
	for len(decimals) < decimalsOf(currency) {
		decimals += "0"
	}
	if decimals == "" {
		return whole + " " + currency
	}
	return whole + "." + decimals + " " + currency
}
