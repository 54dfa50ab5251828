// Package terminal formats texts, counts and times for people, and escapes what a terminal would obey.
package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
)

// Clean makes outside text safe for a terminal: control characters, and those that change the text direction, are escaped. A JSON
// text keeps its meaning.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if !strings.ContainsFunc(s, isUnsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isUnsafe(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// OneLine joins the lines of an error, such as joined errors and those of some databases.
func OneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "; ")
}

// Cut truncates a text to a number of bytes, and marks it as truncated.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.ToValidUTF8(s[:limit], "\ufffd") + "…"
}

// Thousands formats a count with a comma before every three digits.
func Thousands(n int) string { return amount.Thousands(strconv.Itoa(n)) }

// Wall formats a time as the gateway does.
func Wall(t time.Time) string { return t.Format(time.DateTime) }

// Duration writes a duration without the units at its end that are zero, such as 48h, 1h30m or 30m.
func Duration(d time.Duration) string {
	text := d.String()
	for _, zero := range []struct{ end, unit string }{{"m0s", "0s"}, {"h0m", "0m"}} {
		if strings.HasSuffix(text, zero.end) {
			text = strings.TrimSuffix(text, zero.unit)
		}
	}
	return text
}
