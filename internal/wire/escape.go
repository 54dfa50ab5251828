package wire

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// escapeLength returns the length of the escape that b starts with, or 0 if it starts with none.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads the escape \uXXXX that b starts with.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case ascii.IsDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendUnescaped appends the text of a JSON string with content raw. A backslash that starts no escape is kept. It reports
// false if there is half a surrogate pair, which becomes the replacement character.
func appendUnescaped(buf, raw []byte) (text []byte, complete bool) {
	complete = true
	for i := 0; i < len(raw); {
		switch {
		case raw[i] != '\\' || escapeLength(raw[i:]) == 0:
			buf = append(buf, raw[i])
			i++
			continue
		case raw[i+1] != 'u':
			buf = append(buf, unescape(raw[i+1]))
			i += 2
			continue
		}
		r, _ := hex4(raw[i:])
		i += 6
		if utf16.IsSurrogate(r) {
			low, ok := hex4(raw[i:])
			if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
				i += 6
			} else {
				r, complete = utf8.RuneError, false
			}
		}
		buf = utf8.AppendRune(buf, r)
	}
	return buf, complete
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // a quote, a backslash or a slash
}

// Unescape returns text with every JSON escape decoded, for searches in any text. It never fails.
func Unescape[T ascii.Text](text T) string {
	if !strings.Contains(string(text), `\`) {
		return string(text)
	}
	plain, _ := appendUnescaped(nil, []byte(text))
	return string(plain)
}

// escapeControls returns a copy of JSON in which the control characters of strings are escaped.
func escapeControls(raw []byte) []byte {
	plain := make([]byte, 0, len(raw))
	var inString, escaped bool
	for _, c := range raw {
		if inString && c < ' ' {
			plain = fmt.Appendf(plain, `\u%04x`, c)
			continue
		}
		if c == '"' && !escaped {
			inString = !inString
		}
		escaped = c == '\\' && !escaped
		plain = append(plain, c)
	}
	return plain
}
