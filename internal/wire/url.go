package wire

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// IsWebURL reports whether s is an absolute http or https URL without user info, which is safe to pass to a browser or a
// server.
func IsWebURL(s string) bool {
	if isCommonURL(s) {
		return true
	}
	if strings.Contains(s, " ") || !ascii.IsPrintable(s) && strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

// isCommonURL is a quick check that accepts most URLs: https, with characters that need no parsing.
func isCommonURL(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok || rest == "" || !ascii.IsAlphanumeric(rest[0]) {
		return false
	}
	for i := range len(rest) {
		switch c := rest[i]; {
		case isUnreserved(c), c == '/', c == '?', c == '=', c == '&':
		default:
			return false
		}
	}
	return true
}

// EscapePathElement escapes everything except unreserved characters. It returns nil if nothing has to be escaped.
func EscapePathElement(element []byte) (escaped []byte) {
	const hex = "0123456789ABCDEF"
	for i, c := range element {
		if isUnreserved(c) {
			if escaped != nil {
				escaped = append(escaped, c)
			}
			continue
		}
		if escaped == nil {
			escaped = append(make([]byte, 0, 3*len(element)), element[:i]...)
		}
		escaped = append(escaped, '%', hex[c>>4], hex[c&15])
	}
	return escaped
}

// isUnreserved follows RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return ascii.IsAlphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~'
}
