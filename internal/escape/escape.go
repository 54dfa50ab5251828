// Package escape undoes the escapes of texts: of JSON for whoever reads it, and all of them for searches. It never fails.
package escape

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// Hides reports whether found is true of what a text means without its escapes, also of those within escapes. All kinds are undone at
// once. Escapes of line breaks are spaces, so that found sees them between two digits.
func Hides(text string, found func(text string) bool) bool {
	return hides(text, 4, found, together)
}

// HidesExactly does the same for a text that may itself look escaped: removing one escape too many would hide it, so that every way in
// which a text may be escaped is tried.
func HidesExactly(text string, found func(text string) bool) bool {
	return hides(text, 3, found, apart)
}

// Ways to undo escapes, made once: most texts have none.
var (
	together = []func(string) string{func(text string) string {
		return fromHTML(Percent(jsonWith(withoutZeros(Narrow(text)), "     ")))
	}}
	apart = []func(string) string{JSON[string], Percent, fromHTML, withoutZeros, Narrow[string]}
)

// hides undoes escapes within each other, so many.
func hides(text string, rounds int, found func(string) bool, ways []func(string) string) bool {
	for _, undone := range ways {
		if plain := undone(text); plain != text && (found(plain) || rounds > 1 && hides(plain, rounds-1, found, ways)) {
			return true
		}
	}
	return false
}

// fromHTML undoes references of HTML. Those of digits have a number; names end with a semicolon, other than what follows & in a name or a URL.
func fromHTML(text string) string {
	if !strings.Contains(text, "&#") && strings.IndexByte(text, ';') < 0 {
		return text
	}
	return html.UnescapeString(text)
}

// withoutZeros undoes UTF-16.
func withoutZeros(text string) string { return strings.ReplaceAll(text, "\x00", "") }

// marks are bytes that each kind of escape has, and the zero that a character has in UTF-16. An & alone is in many names.
const marks = "\\%#;\x00"

// counted is what Count adds for each byte: 1 for a digit, 1<<32 for a special one.
var counted = func() (of [256]uint64) {
	for c := range of {
		switch {
		case ascii.IsDigit(byte(c)):
			of[c] = 1
		case c >= utf8.RuneSelf || strings.IndexByte(marks, byte(c)) >= 0:
			of[c] = 1 << 32
		}
	}
	return of
}()

// Count returns how many bytes of a text are digits, and how many are special: a mark, or a part of a character beyond ASCII. Most texts
// have none, so that one look at each byte shows that nothing is escaped, and that all digits are ASCII.
func Count(text string) (digits, special uint32) {
	var sum uint64
	of := &counted // loaded once
	for i := range len(text) {
		sum += of[text[i]]
	}
	return uint32(sum), uint32(sum >> 32)
}

// HasOtherDigits reports whether a text has digits that are not ASCII: of full width, as people type them in Japanese and Chinese, or of
// another script.
func HasOtherDigits[T ascii.Text](text T) bool {
	return !ascii.IsPrintable(text) && strings.ContainsFunc(string(text), func(c rune) bool { return c >= utf8.RuneSelf && unicode.IsDigit(c) })
}

// Narrow replaces digits by those of ASCII.
func Narrow[T ascii.Text](text T) string {
	if !HasOtherDigits(text) {
		return string(text)
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsDigit(c) {
			return c
		}
		above := rune(0) // how far above the zero: digits are encoded in tens, several of which may follow each other
		for unicode.IsDigit(c - above - 1) {
			above++
		}
		return '0' + above%10
	}, string(text))
}
