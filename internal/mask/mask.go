// Package mask masks card numbers: alone, and anywhere in a text.
package mask

import (
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/escape"
)

// All replaces a text of which nothing may be shown.
const All = "***"

// MinRun is the number of consecutive digits that may be a card number. Twelve, which the rarest cards have, is also
// the length of reference numbers that merchants need to read.
const MinRun = 13

// CardNumber shows the first six and the last four of 13 digits or more, and only the last four of 8 to 12, which is what
// the card schemes allow. Of anything else it shows nothing.
func CardNumber(digits []byte) string {
	n := len(digits)
	switch {
	case n < 8 || !ascii.IsDigits(digits):
		return All
	case n < MinRun:
		return strings.Repeat("*", n-4) + string(digits[n-4:])
	default:
		return string(digits[:6]) + strings.Repeat("*", n-10) + string(digits[n-4:])
	}
}

// Digits returns text with every run of 13 or more digits masked as a card number would be. One space or hyphen between
// two digits does not end a run.
func Digits(text string) string {
	return numbers(text, func(at int) (length int, hide bool) {
		length, digits := digitRun(text[at:])
		return length, digits >= MinRun
	})
}

// numbers returns text with its numbers masked. Of the one that begins with the digit at an index, find returns the length, with
// separators, and whether to hide it.
func numbers(text string, find func(at int) (length int, hide bool)) string {
	if ascii.CountDigits(text) < MinRun {
		return text
	}
	var out []byte // nil until something is masked
	copied := 0
	for i := 0; i < len(text); {
		if !ascii.IsDigit(text[i]) {
			i++
			continue
		}
		length, hide := find(i)
		if hide {
			out = append(append(out, text[copied:i]...), CardNumber(OnlyDigits(text[i:i+length]))...)
			copied = i + length
		}
		i += length
	}
	if out == nil {
		return text
	}
	return string(append(out, text[copied:]...))
}

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
	const minCard = 12
	if len(text) <= minCard || strings.IndexByte(text, ' ') < 0 && strings.IndexByte(text, '-') < 0 || ascii.CountDigits(text) < minCard {
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

// CardData returns a text of the gateway, or of an error, with everything masked that could be a card number or a CVV.
func CardData(text string) string {
	return decoded(text, func(text string) string { return Cards(Digits(cvvs(text))) })
}

// Numbers returns a text in which the CVVs are masked with everything else masked that could be a card number.
func Numbers(text string) string {
	return decoded(text, func(text string) string { return Cards(Digits(text)) })
}

// Kept returns another text with every card number and CVV masked. Other long numbers stay: most are ids.
func Kept(text string) string {
	return decoded(text, func(text string) string { return Cards(cvvs(text)) })
}

// decoded masks a text. If there is something to mask in what its escapes mean, nothing of it is shown: digits of an escape beside those
// of a card number can be taken for another one.
func decoded(text string, masked func(string) string) string {
	found, escaped := look(text)
	if !found {
		return text
	}
	if escaped && escape.Hides(text, func(plain string) bool { return masked(plain) != plain }) {
		return All
	}
	return masked(text)
}

// MayHaveCardData is a quick check whether CardData could change a text.
func MayHaveCardData(text string) bool {
	found, _ := look(text)
	return found
}

// look reports also whether a text may have escapes.
func look(text string) (found, escaped bool) {
	digits, special := escape.Count(text)
	if special > 0 {
		return digits >= minCVV || escape.HasOtherDigits(text), true
	}
	return digits >= MinRun || digits >= minCVV && mayNameCVV(text), false
}
