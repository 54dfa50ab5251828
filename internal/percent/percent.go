// Package percent reads percent-escapes for a search: nothing in it fails.
package percent

import "strings"

// Decode returns text with every well-formed percent-escape decoded; all else stays as it stands.
func Decode(text string) string {
	escape := strings.IndexByte(text, '%')
	if escape < 0 {
		return text
	}
	plain := append(make([]byte, 0, len(text)), text[:escape]...)
	for i := escape; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, ok1 := digit(text[i+1])
			low, ok2 := digit(text[i+2])
			if ok1 && ok2 {
				plain = append(plain, high<<4|low)
				i += 2
				continue
			}
		}
		plain = append(plain, text[i])
	}
	return string(plain)
}

func digit(c byte) (value byte, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
