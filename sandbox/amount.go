package sandbox

import (
	"strconv"
	"strings"
)

// thousandths reads an amount of at most three decimals and fifteen digits, or returns 0.
func thousandths(amount string) int64 {
	whole, decimals, point := strings.Cut(amount, ".")
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
