package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

const (
	maxCardDigits  = 19 // digits
	maxGap         = 3  // blanks, dashes, dots and slashes between two groups of digits
	maxPhoneDigits = 15 // digits, after a plus
	minOtherCard   = 16 // digits of a card that begins with another digit than 3 to 6
)

// Cards returns text with every card number masked: 13 to 19 digits with the check digit of cards, in one piece, or in groups with
// blanks, dashes, dots or slashes between them.
func Cards(text string) string {
	return numbers(text, func(at int) (length int, hide bool) {
		length = cardLength(text[at:])
		isPhone := at > 0 && text[at-1] == '+' && (at == 1 || text[at-2] == '"' || text[at-2] == ' ')
		if length == 0 || isPhone && ascii.CountDigits(text[at:at+length]) <= maxPhoneDigits {
			return groupLength(text[at:]), false
		}
		return length, true
	})
}

// cardLength returns the length, with separators, of the card number with which text begins, or 0. It ends with a group.
func cardLength(text string) (length int) {
	digits := make([]byte, 0, 2*maxCardDigits+1) // never more: no allocation
	for at := 0; ; {
		n := groupLength(text[at:])
		if digits = append(digits, text[at:at+min(n, maxCardDigits+1)]...); len(digits) > maxCardDigits {
			return length
		}
		if at += n; isCard(digits) {
			length = at
		}
		gap := gapLength(text[at:], n)
		if gap == 0 {
			return length
		}
		at += gap
	}
}

func groupLength(text string) (n int) {
	for n < len(text) && ascii.IsDigit(text[n]) {
		n++
	}
	return n
}

// gapLength returns the length of the separators with which text begins, or 0 if no digit follows. Dots and slashes separate groups of
// four digits and more: those after fewer are in times and dates.
func gapLength(text string, digitsBefore int) (n int) {
	separators := "+_\u2212" // a minus sign
	if digitsBefore >= 4 {
		separators = "+_\u2212./"
	}
	for range maxGap {
		c, size := utf8.DecodeRuneInString(text[n:])
		if !unicode.IsSpace(c) && !unicode.In(c, unicode.Pd, unicode.Cf) && !strings.ContainsRune(separators, c) {
			break
		}
		n += size
	}
	if n < len(text) && n > 0 && ascii.IsDigit(text[n]) {
		return n
	}
	return 0
}

// isCard reports whether digits have the length, the beginning and the check digit of a card number. No card begins with 0 or 1, as
// times do, nor with 20, as dates do.
func isCard(digits []byte) bool {
	n := len(digits)
	if n < MinRun || n > maxCardDigits || digits[0] < '2' || digits[0] == '7' || digits[0] == '2' && digits[1] == '0' {
		return false
	}
	if n < minOtherCard && (digits[0] < '3' || digits[0] > '6') {
		return false
	}
	sum := 0
	for i, c := range digits {
		d := int(c - '0')
		if (n-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
