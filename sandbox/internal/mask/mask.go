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
	m := masker{Decoder: json.NewDecoder(bytes.NewReader(body)), body: body}
	m.UseNumber()
	m.value("", false)
	return append(m.out, body[m.copied:]...)
}

type masker struct {
	*json.Decoder
	body   []byte
	out    []byte
	copied int // bytes of body that are in out, or are masked there
}

// value masks the next value, which has a name, or is in an array that has it.
func (m *masker) value(name string, secret bool) {
	before := m.InputOffset()
	token, _ := m.Token() // it is valid JSON
	if bracket, ok := token.(json.Delim); ok {
		for m.More() {
			if bracket == '{' {
				key, _ := m.Token()
				name, _ = key.(string)
			}
			m.value(name, secret || bracket == '{' && isSecretName(name))
		}
		_, _ = m.Token() // the closing bracket
		return
	}
	text, isText := token.(string)
	if !isText {
		text = fmt.Sprint(token)
	}
	switch {
	case token == nil:
		return
	case secret:
		text = maskedValue(name, text)
	case isText && hasSuffixFold(name, "url"):
		text = URL(text)
	case LooksLikeCard(text) && !hasSuffixFold(name, "id"):
		text = "***"
	default:
		return
	}
	end := int(m.InputOffset())
	start := end - len(bytes.TrimLeft(m.body[before:end], ":, \t\r\n"))
	m.out = jsonobject.AppendText(append(m.out, m.body[m.copied:start]...), text)
	m.copied = end
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
