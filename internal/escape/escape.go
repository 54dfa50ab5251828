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
	return hides(text, 4, found, undoAll)
}

func undoAll(text string) string {
	return html.UnescapeString(Percent(jsonWith(withoutZeros(Narrow(text)), "     ")))
}

// HidesExactly does the same for a text that may itself look escaped: removing one escape too many would hide it, so that every way in
// which a text may be escaped is tried.
func HidesExactly(text string, found func(text string) bool) bool {
	return hides(text, 3, found, JSON[string], Percent, html.UnescapeString, withoutZeros, Narrow[string])
}

// hides undoes escapes within each other, so many.
func hides(text string, rounds int, found func(string) bool, ways ...func(string) string) bool {
	has := func(c byte) bool { return strings.IndexByte(text, c) >= 0 }
	mayHaveOne := has('\\') || has('%') || has(0) || has('&') && has(';') || HasOtherDigits(text)
	if rounds == 0 || !mayHaveOne {
		return false
	}
	for _, undone := range ways {
		if plain := undone(text); plain != text && (found(plain) || hides(plain, rounds-1, found, ways...)) {
			return true
		}
	}
	return false
}

// withoutZeros undoes UTF-16.
func withoutZeros(text string) string { return strings.ReplaceAll(text, "\x00", "") }

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
