package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

const (
	maxCardDigits  = 19 // digits
	usualGroup     = 4  // digits; shorter ones are in times and dates, too
	maxGap         = 3  // characters between two groups of digits
	maxPhoneDigits = 15 // digits, after a plus
	minOtherCard   = 16 // digits of a card that begins with another digit than 3 to 6
)

// Cards returns text with every card number masked: 13 to 19 digits with the check digit of cards, in one piece, or in groups with
// blanks, dashes or other marks between them. Zeros before it are not a part of it.
func Cards(text string) string {
	return numbers(text, func(at int) (length int, hide bool) {
		group := text[at : at+groupLength(text[at:])]
		if digits := strings.TrimLeft(group, "0"); len(digits) >= usualGroup && len(digits) < len(group) {
			return len(group) - len(digits), false
		}
		length = cardLength(text[at:])
		isPhone := at > 0 && text[at-1] == '+' && (at == 1 || text[at-2] == '"' || text[at-2] == ' ')
		if length == 0 || isPhone && ascii.CountDigits(text[at:at+length]) <= maxPhoneDigits {
			return len(group), false
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

// gapLength returns the length of the separators with which text begins, or 0 if no digit follows. Any marks separate usual groups. Some
// programs write a long number as 4,111,111,111,111,111.
func gapLength(text string, digitsBefore int) (n int) {
	c, size := utf8.DecodeRuneInString(text)
	if digitsBefore < usualGroup && strings.ContainsRune(",.'’", c) && groupLength(text[size:]) == len("111") {
		return size
	}
	for range maxGap {
		c, size := utf8.DecodeRuneInString(text[n:])
		separates := unicode.IsSpace(c) || strings.ContainsRune("-+_\u2212", c) || c > unicode.MaxASCII && unicode.In(c, unicode.Pd, unicode.Cf) // a minus sign
		if !separates && (digitsBefore < usualGroup || unicode.IsLetter(c) || unicode.IsNumber(c)) {
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
