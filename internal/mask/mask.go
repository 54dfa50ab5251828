// Package mask masks card numbers: alone, and anywhere in a text.
package mask

import (
	"regexp"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// All replaces a text of which nothing may be shown.
const All = "***"

// ShortestRun is the number of consecutive digits that may be a card number. Twelve, which the rarest cards have, is also
// the length of reference numbers that merchants need to read.
const ShortestRun = 13

// CardNumber shows the first six and the last four of 13 digits or more, and only the last four of 8 to 12, which is what
// the card schemes allow. Of anything else it shows nothing.
func CardNumber(digits []byte) string {
	n := len(digits)
	switch {
	case n < 8 || !ascii.IsDigits(digits):
		return All
	case n < ShortestRun:
		return strings.Repeat("*", n-4) + string(digits[n-4:])
	default:
		return string(digits[:6]) + strings.Repeat("*", n-10) + string(digits[n-4:])
	}
}

// Digits returns text with every run of 13 or more digits masked as a card number would be. One space or hyphen between
// two digits does not end a run.
func Digits(text string) string {
	if ascii.CountDigits(text) < ShortestRun {
		return text
	}
	var out []byte // nil until something is masked
	for i := 0; i < len(text); {
		length, digits := digitRun(text[i:])
		if digits < ShortestRun {
			length = max(length, 1)
			if out != nil {
				out = append(out, text[i:i+length]...)
			}
			i += length
			continue
		}
		if out == nil {
			out = append(make([]byte, 0, len(text)), text[:i]...)
		}
		out = append(out, CardNumber(OnlyDigits(text[i:i+length]))...)
		i += length
	}
	if out == nil {
		return text
	}
	return string(out)
}

// HasCardNumber reports whether Digits would change text.
func HasCardNumber(text string) bool { return Digits(text) != text }

// digitRun returns the length, with separators, of the run of digits at the start of text, and the number of digits.
func digitRun(text string) (length, digits int) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case ascii.IsDigit(c):
			digits++
			length = i + 1
		case (c == ' ' || c == '-') && digits > 0 && i == length:
			// a separator counts only if a digit follows it
		default:
			return length, digits
		}
	}
	return length, digits
}

// JoinDigits returns text without single spaces and hyphens between two digits, as in a card number written in groups. A
// text with fewer digits than the shortest card number is returned unchanged.
func JoinDigits(text string) string {
	const shortestCard = 12
	if len(text) <= shortestCard || strings.IndexByte(text, ' ') < 0 && strings.IndexByte(text, '-') < 0 || ascii.CountDigits(text) < shortestCard {
		return text
	}
	joined := make([]byte, 0, len(text))
	for i := range len(text) {
		separates := (text[i] == ' ' || text[i] == '-') && i > 0 && i+1 < len(text) && ascii.IsDigit(text[i-1]) && ascii.IsDigit(text[i+1])
		if !separates {
			joined = append(joined, text[i])
		}
	}
	return string(joined)
}

// OnlyDigits returns the digits of text.
func OnlyDigits(text string) []byte {
	digits := make([]byte, 0, len(text))
	for i := range len(text) {
		if ascii.IsDigit(text[i]) {
			digits = append(digits, text[i])
		}
	}
	return digits
}

// cvv finds a CVV that is quoted as a member, also of JSON in JSON. Three or four digits alone would be found everywhere.
var cvv = regexp.MustCompile(`((?:[Cc]vv|CVV)[\\"' :=]{1,12})[0-9]{3,4}`)

// CVV returns text with every CVV that is quoted as a member masked.
func CVV(text string) string {
	if !MayHaveCVV(text) {
		return text
	}
	return cvv.ReplaceAllString(text, "${1}"+All)
}

// MayHaveCVV is a quick check, because nearly no text has one.
func MayHaveCVV[T []byte | string](text T) bool {
	for i := 1; i < len(text); i++ {
		if text[i] == text[i-1] && (text[i] == 'v' || text[i] == 'V') {
			return true
		}
	}
	return false
}

// MayHaveCardData is a quick check whether CardData could change a text.
func MayHaveCardData(text []byte) bool {
	n := ascii.CountDigits(text)
	return n >= ShortestRun || n >= 3 && MayHaveCVV(text)
}

// CardData returns text with every card number, and every CVV that is quoted as a member, masked.
func CardData(text string) string { return CVV(Digits(text)) }
