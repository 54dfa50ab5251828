// Package mask hides secrets in what the sandbox keeps and shows: bodies, paths and queries of requests, URLs, tokens, card numbers.
package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

const (
	maxKept = 8 << 10  // of one body, in the request log
	MaxBody = 64 << 10 // a longer body is not parsed
)

// Body returns a JSON body for the log: without secrets, and cut at maxKept. A body that is not JSON is not kept,
// because the location of secrets in it is unknown.
func Body(body []byte) string {
	switch {
	case len(body) == 0:
		return ""
	case len(body) > MaxBody:
		return fmt.Sprintf("(%d bytes, not kept)", len(body))
	case !json.Valid(body):
		return fmt.Sprintf("(%d bytes that are not JSON, not kept)", len(body))
	}
	return Cut(maskJSON(body))
}

// Cut cuts a text at maxKept and appends a note.
func Cut(text []byte) string {
	if len(text) <= maxKept {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text[:maxKept]), "\uFFFD") + fmt.Sprintf(" … (cut, %d bytes in all)", len(text))
}

// secretNames returns the names of members with secret values, in lower case and without separators.
func secretNames() []string {
	return []string{
		"card", "cards", "cardnumber", "cardno", "cardholder", "creditcard", "pan", "cvv", "cvv2", "cvc", "cvc2", "csc", "securitycode",
		"password", "secret", "secretkey", "token", "tokenization", "cardtoken", "paymenttoken", "accesstoken",
	}
}

func isSecretName(name string) bool {
	if strings.ContainsAny(name, "_- ") {
		name = strings.NewReplacer("_", "", "-", "", " ", "").Replace(name)
	}
	return slices.ContainsFunc(secretNames(), func(secret string) bool { return strings.EqualFold(name, secret) })
}

// maskJSON replaces the values of secret members, everything in an object or array under a secret name, and secrets in
// URLs. The rest of the text is unchanged. The body must be valid JSON.
func maskJSON(body []byte) []byte {
	m := masker{out: make([]byte, 0, len(body)+64)}
	for i := 0; i < len(body); {
		switch c := body[i]; c {
		case '{', '[':
			m.open = append(m.open, container{object: c == '{', secret: m.secret()})
			m.key = c == '{'
		case '}', ']':
			m.open = m.open[:len(m.open)-1]
		case ',':
			m.key = len(m.open) > 0 && m.open[len(m.open)-1].object
		case ':':
			m.key = false
		case ' ', '\t', '\r', '\n':
		default:
			end := i + scalarLength(body[i:])
			m.scalar(body[i:end])
			i = end
			continue
		}
		m.out = append(m.out, body[i])
		i++
	}
	return m.out
}

// masker is the state of maskJSON between two JSON tokens.
type masker struct {
	out  []byte
	open []container // the enclosing objects and arrays
	name string      // of the last key
	key  bool        // the next string is a key
}

type container struct{ object, secret bool }

// secret reports whether the next value must be hidden.
func (m *masker) secret() bool {
	if len(m.open) == 0 {
		return false
	}
	around := m.open[len(m.open)-1]
	return around.secret || around.object && isSecretName(m.name)
}

// scalar appends a string, a number or a literal, masked if necessary.
func (m *masker) scalar(text []byte) {
	value := string(text)
	if text[0] == '"' {
		value = value[1 : len(value)-1]
		if strings.Contains(value, `\`) {
			_ = json.Unmarshal(text, &value) // it is valid JSON
		}
	}
	switch {
	case m.key:
		m.name = value
		m.out = append(m.out, text...)
	case text[0] == 'n': // null
		m.out = append(m.out, text...)
	case m.secret():
		m.out = jsonobject.AppendText(m.out, maskedValue(m.name, value))
	case text[0] == '"' && hasSuffixFold(m.name, "url"):
		m.out = jsonobject.AppendText(m.out, URL(value))
	case LooksLikeCard(value) && !hasSuffixFold(m.name, "id"):
		m.out = jsonobject.AppendText(m.out, "***")
	default:
		m.out = append(m.out, text...)
	}
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// LooksLikeCard reports whether a text is only 12 to 19 digits, possibly grouped: probably a card number in the wrong
// place.
func LooksLikeCard(text string) bool {
	digits := 0
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c != ' ' && c != '-':
			return false
		}
	}
	return digits >= 12 && digits <= 19
}

// scalarLength returns the length of the string, number or literal at the beginning of valid JSON.
func scalarLength(text []byte) int {
	if text[0] != '"' {
		if end := bytes.IndexAny(text, ",]} \t\r\n"); end > 0 {
			return end
		}
		return len(text)
	}
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// maskedValue returns a card number with the digits that the gateway itself shows, an expiry date unchanged, and anything
// else as "***".
func maskedValue(name, text string) string {
	digits := strings.ReplaceAll(text, " ", "")
	switch {
	case strings.EqualFold(name, "cardNumber") && money.IsDigits(digits) && len(digits) >= 12 && len(digits) <= 19:
		return Number(digits)
	case (strings.EqualFold(name, "expiredMonth") || strings.EqualFold(name, "expiredYear")) && money.IsDigits(text) && len(text) == 2:
		return text
	}
	return "***"
}

// Token returns the last four characters of a token, which are enough to distinguish two tokens.
func Token(token string) string {
	if len(token) < 12 {
		return "***"
	}
	return "***" + token[len(token)-4:]
}

// Path masks elements that look like tokens in a path that does not belong to an operation.
func Path(path string) string {
	elements := strings.Split(path, "/")
	for i, e := range elements {
		if looksLikeToken(e) {
			elements[i] = Token(e)
		}
	}
	return strings.Join(elements, "/")
}

func looksLikeToken(text string) bool { return strings.HasPrefix(text, "tok") && len(text) > 20 }

// Query hides in a query what maskJSON hides in a body. No query of the interface contains a secret, but a program may
// be wrong.
func Query(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		plainName, wrongName := url.QueryUnescape(name)
		plain, wrongValue := url.QueryUnescape(value)
		switch {
		case wrongName != nil, looksLikeToken(plainName), LooksLikeCard(plainName):
			pairs[i] = "***"
		case wrongValue != nil, isSecretName(plainName), looksLikeToken(plain), LooksLikeCard(plain) && !hasSuffixFold(plainName, "id"):
			pairs[i] = name + "=***"
		}
	}
	return strings.Join(pairs, "&")
}

// URL hides user information and query values, which may be the only protection of a notification URL.
func URL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "***"
	}
	if u.User != nil {
		u.User = url.User("***")
	}
	if u.RawQuery != "" {
		u.RawQuery = "***"
	}
	u.Fragment = ""
	return u.String()
}

// Number shows the first six and last four of at least twelve digits.
func Number(number string) string {
	return number[:6] + strings.Repeat("*", len(number)-10) + number[len(number)-4:]
}
