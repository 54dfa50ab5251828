package escape

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// Length returns the length of the JSON escape that b starts with, or 0 if it starts with none.
func Length(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, n := codePoint(b); n == 6 && b[2] != '{' {
			return n
		}
	}
	return 0
}

// JSON returns text with every escape of JSON, and of programming languages, decoded. A backslash that starts no escape is kept.
func JSON[T ascii.Text](text T) string { return jsonWith(text, letters) }

// letters are what the escapes \b, \f, \n, \r and \t stand for.
const letters = "\b\f\n\r\t"

func jsonWith[T ascii.Text](text T, letters string) string {
	if !strings.Contains(string(text), `\`) {
		return string(text)
	}
	plain, _ := appendPlain(nil, []byte(text), letters)
	return string(plain)
}

// AppendJSON appends the text of a JSON string with content raw. It reports false if there is half a surrogate pair, which becomes
// the replacement character.
func AppendJSON(buf, raw []byte) (text []byte, complete bool) { return appendPlain(buf, raw, letters) }

func appendPlain(buf, raw []byte, letters string) (text []byte, complete bool) {
	complete = true
	for i := 0; i < len(raw); {
		if raw[i] != '\\' || i+1 == len(raw) {
			buf = append(buf, raw[i])
			i++
			continue
		}
		r, n := codePoint(raw[i:])
		letter := strings.IndexByte("bfnrt", raw[i+1])
		switch {
		case n > 0 && utf16.IsSurrogate(r):
			low, more := codePoint(raw[i+n:])
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				complete, more = false, 0
			}
			n += more
		case n > 0:
		case letter >= 0:
			r, n = rune(letters[letter]), 2
		case strings.IndexByte(`"'/\`, raw[i+1]) >= 0:
			r, n = rune(raw[i+1]), 2
		default:
			r, n = '\\', 1
		}
		buf = utf8.AppendRune(buf, r)
		i += n
	}
	return buf, complete
}

// codePoint reads the escape with which b starts if it has a number, and returns its length, or 0: \uXXXX, \u{X} or \xXX.
func codePoint(b []byte) (r rune, length int) {
	switch {
	case len(b) < 4 || b[0] != '\\':
		return 0, 0
	case b[1] == 'x':
		return number(b[2:4], 4)
	case b[1] == 'u' && b[2] == '{':
		if end := bytes.IndexByte(b[:min(len(b), 10)], '}'); end > 0 {
			return number(b[3:end], end+1)
		}
	case b[1] == 'u' && len(b) >= 6:
		return number(b[2:6], 6)
	}
	return 0, 0
}

func number(digits []byte, length int) (r rune, _ int) {
	n, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil {
		return 0, 0
	}
	return rune(n), length
}
