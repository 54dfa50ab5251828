package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

const (
	maxKept   = 8 << 10  // of one body, in the log of requests
	maxMasked = 64 << 10 // a longer body is not read at all
)

// maskBody is a JSON body as the log keeps it: without secrets, and cut at maxKept. A body that is not JSON is not
// kept, since nothing says where its secrets are.
func maskBody(body []byte) string {
	switch {
	case len(body) == 0:
		return ""
	case len(body) > maxMasked:
		return fmt.Sprintf("(%d bytes, not kept)", len(body))
	case mayHoldSecret(body):
		masked, err := maskJSON(body)
		if err != nil {
			return fmt.Sprintf("(%d bytes that are not JSON, not kept)", len(body))
		}
		body = masked
	case !json.Valid(body):
		return fmt.Sprintf("(%d bytes that are not JSON, not kept)", len(body))
	}
	return cutText(body)
}

// cutText cuts a text at maxKept and says so.
func cutText(text []byte) string {
	if len(text) <= maxKept {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text[:maxKept]), "\uFFFD") + fmt.Sprintf(" … (cut, %d bytes in all)", len(text))
}

// secretNames are members whose values nobody needs to see, in lower case and without separators.
func secretNames() []string {
	return []string{"card", "cardnumber", "cvv", "cvc", "pan", "password", "secret", "secretkey", "securitycode", "token", "tokenization"}
}

func isSecretName(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	return slices.Contains(secretNames(), plain)
}

// mayHoldSecret reports whether a body names a secret, as far as plain text shows: most bodies do not, and need no
// second look. An escape can hide a name.
func mayHoldSecret(body []byte) bool {
	lower := bytes.ToLower(body)
	return bytes.ContainsAny(lower, `\`) || slices.ContainsFunc([]string{"card", "cv", "pan", "pass", "sec", "tok", "url"}, func(part string) bool {
		return bytes.Contains(lower, []byte(part))
	})
}

// maskJSON replaces the values of secret members, and of everything in an object that is one, and leaves the rest as
// it is.
func maskJSON(body []byte) ([]byte, error) {
	m := masker{body: body, decoder: json.NewDecoder(bytes.NewReader(body))}
	m.decoder.UseNumber()
	if err := m.value("", false); err != nil {
		return nil, err
	}
	return append(m.masked, body[m.copied:]...), nil
}

type masker struct {
	body    []byte
	decoder *json.Decoder
	masked  []byte
	copied  int // bytes of body that are in masked
}

// value reads one value. The name is that of its member, and secret that of an object around it.
func (m *masker) value(name string, secret bool) error {
	before := int(m.decoder.InputOffset())
	token, err := m.decoder.Token()
	if err != nil {
		return err
	}
	if delim, ok := token.(json.Delim); ok {
		for m.decoder.More() {
			memberName := name
			if delim == '{' {
				key, err := m.decoder.Token()
				if err != nil {
					return err
				}
				memberName, _ = key.(string)
			}
			if err := m.value(memberName, secret || isSecretName(memberName)); err != nil {
				return err
			}
		}
		_, err = m.decoder.Token()
		return err
	}
	text, shown := fmt.Sprint(token), ""
	switch {
	case token == nil:
		return nil
	case secret:
		shown = maskedValue(name, text)
	case strings.HasSuffix(strings.ToLower(name), "url") && maskURL(text) != text:
		shown = maskURL(text)
	default:
		return nil
	}
	start := before + bytes.IndexFunc(m.body[before:], func(r rune) bool { return !strings.ContainsRune(" \t\r\n:,", r) })
	m.masked = append(m.masked, m.body[m.copied:start]...)
	m.masked = appendText(m.masked, shown)
	m.copied = int(m.decoder.InputOffset())
	return nil
}

// maskedValue shows of a card number what the gateway itself shows, and of an expiry date all.
func maskedValue(name, text string) string {
	digits := strings.ReplaceAll(text, " ", "")
	switch {
	case strings.EqualFold(name, "cardNumber") && isDigits(digits) && len(digits) >= 12 && len(digits) <= 19:
		return maskNumber(digits)
	case (strings.EqualFold(name, "expiredMonth") || strings.EqualFold(name, "expiredYear")) && isDigits(text) && len(text) == 2:
		return text
	}
	return "***"
}

// maskToken shows the end of a token, by which two of them can be told apart.
func maskToken(token string) string {
	if len(token) < 12 {
		return "***"
	}
	return "***" + token[len(token)-4:]
}

// maskPath hides what looks like a token in a path that is none of the gateway's.
func maskPath(path string) string {
	elements := strings.Split(path, "/")
	for i, e := range elements {
		if strings.HasPrefix(e, "tok") && len(e) > 20 {
			elements[i] = maskToken(e)
		}
	}
	return strings.Join(elements, "/")
}

// maskURL hides the values of a query and user information, which can be all that guards a notification URL.
func maskURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "***"
	}
	if u.User != nil {
		u.User = url.User("***")
	}
	shown, _, hasQuery := strings.Cut(u.String(), "?")
	if hasQuery {
		return shown + "?***"
	}
	shown, _, _ = strings.Cut(shown, "#")
	return shown
}
