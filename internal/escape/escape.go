// Package escape undoes the escapes of texts: of JSON for whoever reads it, and all of them for searches. It never fails.
package escape

import (
	"html"
	"strings"
)

// Hides reports whether found is true of what a text means without its escapes, also of those within escapes. All kinds are undone at
// once. Escapes of line breaks are spaces, so that found sees them between two digits.
func Hides(text string, found func(text string) bool) bool {
	return hides(text, 4, found, undoAll)
}

func undoAll(text string) string {
	return html.UnescapeString(Percent(jsonWith(withoutZeros(narrow(text)), "     ")))
}

// HidesExactly does the same for a text that may itself look escaped: removing one escape too many would hide it, so that every way in
// which a text may be escaped is tried.
func HidesExactly(text string, found func(text string) bool) bool {
	return hides(text, 3, found, JSON[string], Percent, html.UnescapeString, withoutZeros, narrow)
}

// hides undoes escapes within each other, so many.
func hides(text string, rounds int, found func(string) bool, ways ...func(string) string) bool {
	has := func(c byte) bool { return strings.IndexByte(text, c) >= 0 }
	mayHaveOne := has('\\') || has('%') || has(0) || has('&') && has(';') || MayBeWide(text)
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

// MayBeWide is a quick check whether a text may have digits of full width, as people type them in Japanese and Chinese.
func MayBeWide(text string) bool { return strings.IndexByte(text, "０"[0]) >= 0 }

// narrow replaces digits of full width.
func narrow(text string) string { return wideDigits.Replace(text) }

var wideDigits = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9")
