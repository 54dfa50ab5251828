// Package redact keeps secrets out of texts, of JSON members and of errors: the card number and the token of a call, and
// the credentials in its headers.
package redact

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/escape"
	"github.com/cardgateway/cardgateway-go/internal/mask"
)

// Minimum lengths of secrets to search for. Shorter ones would match by chance.
const (
	MinText = 4  // in a text
	MinID   = 12 // in an identifier, which must not be changed by chance
)

// WithSecret returns a context for queries whose responses may repeat a secret that they do not send.
func WithSecret(ctx context.Context, secret string) context.Context {
	return context.WithValue(ctx, secretKey{}, func() string { return secret }) // printing a context prints texts, and no functions
}

// SecretOf returns the secret of WithSecret, or nothing.
func SecretOf(ctx context.Context) string {
	if secret, ok := ctx.Value(secretKey{}).(func() string); ok {
		return secret()
	}
	return ""
}

type secretKey struct{}

// Secrets are searched for in texts, each in the forms in which it can appear.
type Secrets [][]byte

// Add adds a secret of at least minLength bytes, also with its digits masked and as quoted by an error.
func (s *Secrets) Add(secret string, minLength int) {
	if len(secret) < minLength {
		return
	}
	s.addForm(secret)
	s.addForm(mask.Digits(secret))
	if !ascii.IsPrintable(secret) || strings.ContainsAny(secret, `"\`) {
		quoted := strconv.Quote(secret)
		s.addForm(quoted[1 : len(quoted)-1])
	}
}

func (s *Secrets) addForm(form string) {
	if !slices.ContainsFunc(*s, func(known []byte) bool { return string(known) == form }) {
		*s = append(*s, []byte(form))
	}
}

// AddCardNumber adds a card number. Its masked form may be shown. The digits are not copied: overwriting them overwrites
// them here, too.
func (s *Secrets) AddCardNumber(digits []byte) {
	if len(digits) >= MinText {
		*s = append(*s, digits)
	}
}

// index returns where a secret is in a text, or -1. A long one is also found in capitals or in small letters, as databases write UUIDs.
func index(text string, secret []byte) int {
	sought := string(secret)
	if len(sought) < MinID {
		return strings.Index(text, sought)
	}
	for i := range len(text) - len(sought) + 1 {
		if text[i]|0x20 == sought[0]|0x20 && strings.EqualFold(text[i:i+len(sought)], sought) { // 0x20 makes a letter small
			return i
		}
	}
	return -1
}

// without returns a text with a secret replaced.
func without(text string, secret []byte) string {
	var shown []byte
	for i := index(text, secret); i >= 0; i = index(text, secret) {
		shown = append(append(shown, text[:i]...), mask.All...)
		text = text[i+len(secret):]
	}
	return string(append(shown, text...))
}

// in reports whether a secret is in a text as it is, or, if it is as long as a card number, with spaces or hyphens between
// its digits.
func (s Secrets) in(text string, minLength int) bool {
	return s.inPlain(text, minLength) || s.inGroups(text, minLength)
}

func (s Secrets) inPlain(text string, minLength int) bool {
	return slices.ContainsFunc(s, func(secret []byte) bool { return minLength <= len(secret) && index(text, secret) >= 0 })
}

func (s Secrets) inGroups(text string, minLength int) bool {
	joined := mask.JoinDigits(text)
	return len(joined) < len(text) && s.inPlain(joined, max(minLength, MinID))
}

// Find reports whether a secret of at least minLength bytes is in a text: as it is, in groups of digits, or escaped for
// URLs, for JSON or for HTML, also several times, or in UTF-16.
func (s Secrets) Find(text string, minLength int) bool {
	return len(s) > 0 && (s.in(text, minLength) || s.inEscaped(text, minLength))
}

func (s Secrets) inEscaped(text string, minLength int) bool {
	return escape.HidesExactly(text, func(plain string) bool { return s.in(plain, minLength) })
}

// Redact replaces the secrets of at least minLength bytes in a text, or the whole text if one is escaped. In a secret in
// groups of digits, the digits are masked.
func (s Secrets) Redact(text *string, minLength int) {
	fits := false // one of them could be in the text: escaped, it would be even longer
	var found [][]byte
	for _, secret := range s {
		if len(secret) < minLength || len(secret) > len(*text) {
			continue
		}
		fits = true
		if index(*text, secret) >= 0 {
			found = append(found, secret)
		}
	}
	if !fits {
		return
	}
	if len(found) > 1 {
		slices.SortFunc(found, func(a, b []byte) int { return len(b) - len(a) }) // one can be a part of another
	}
	for _, secret := range found {
		*text = without(*text, secret)
	}
	digits, special := escape.Count(*text) // most texts have nothing to search for in groups, or behind escapes
	grouped := digits >= MinID && s.inGroups(*text, minLength)
	if grouped {
		*text = mask.Digits(*text)
	}
	if (grouped || len(found) > 0) && s.in(*text, minLength) || special > 0 && s.inEscaped(*text, minLength) {
		*text = mask.All
	}
}

// WithheldValue returns the JSON that replaces a value which must not be shown.
func WithheldValue() json.RawMessage { return json.RawMessage(`"` + mask.All + `"`) }
