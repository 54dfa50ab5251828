// Package redact keeps secrets out of texts, of JSON members and of errors: the card number and the token of a call, and
// the credentials in its headers.
package redact

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/percent"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// How long a secret must be to be looked for. A shorter one would be found where it is not meant.
const (
	MinText = 4  // in a text
	MinID   = 12 // in an identifier, which must not be harmed by chance
)

// Secrets are looked for in texts, each in the forms in which it can appear there.
type Secrets [][]byte

// Add adds a secret of at least minLength bytes, also as it looks with its digits masked and as an error quotes it.
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

// AddCardNumber adds a card number. Its masked form may be shown. The digits are not copied: who wipes them wipes them
// here too.
func (s *Secrets) AddCardNumber(digits []byte) {
	if len(digits) >= MinText {
		*s = append(*s, digits)
	}
}

// in reports whether one secret of at least minLength bytes is in a text. Most secrets are longer than the text.
func in(text string, secret []byte, minLength int) bool {
	return minLength <= len(secret) && len(secret) <= len(text) && strings.Contains(text, string(secret))
}

// in reports whether a secret is in a text as it stands, or one as long as a card number with spaces or hyphens between its
// digits.
func (s Secrets) in(text string, minLength int) bool {
	return s.inPlain(text, minLength) || s.inGroups(text, minLength)
}

func (s Secrets) inPlain(text string, minLength int) bool {
	return slices.ContainsFunc(s, func(secret []byte) bool { return in(text, secret, minLength) })
}

func (s Secrets) inGroups(text string, minLength int) bool {
	joined := mask.JoinDigits(text)
	return len(joined) < len(text) && s.inPlain(joined, max(minLength, MinID))
}

// Find reports whether a secret of at least minLength bytes is in a text: as it stands, in groups of digits, or behind
// escapes of URLs, of JSON and of both, once and twice.
func (s Secrets) Find(text string, minLength int) bool {
	if len(s) == 0 {
		return false
	}
	return s.in(text, minLength) || s.inEscaped(text, minLength, maxEscapes)
}

// hasEither reports whether one of two bytes is in a text. strings.ContainsAny takes longer.
func hasEither(text string, a, b byte) bool {
	return strings.IndexByte(text, a) >= 0 || strings.IndexByte(text, b) >= 0
}

// maxEscapes is how many times a text is taken to be escaped: a URL in JSON that is in JSON, say.
const maxEscapes = 2

// inEscaped tries every order of escapes, each of JSON, of URLs, or of both: a secret may itself look escaped, so that to take
// away one escape too many would hide it.
func (s Secrets) inEscaped(text string, minLength, escapes int) bool {
	if escapes == 0 || !hasEither(text, '%', '\\') {
		return false
	}
	unescaped := wire.Unescape(text)
	for _, plain := range []string{unescaped, percent.Decode(text), percent.Decode(unescaped)} {
		if plain != text && (s.in(plain, minLength) || s.inEscaped(plain, minLength, escapes-1)) {
			return true
		}
	}
	return false
}

// Redact replaces the secrets of at least minLength bytes in a text, or all of it where they stand behind escapes. In one that
// stands in groups of digits, the digits are masked.
func (s Secrets) Redact(text *string, minLength int) {
	fits := false // one of them into the text: behind escapes it would be longer
	var found [][]byte
	for _, secret := range s {
		fits = fits || minLength <= len(secret) && len(secret) <= len(*text)
		if in(*text, secret, minLength) {
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
		*text = strings.ReplaceAll(*text, string(secret), mask.All)
	}
	grouped := s.inGroups(*text, minLength)
	if grouped {
		*text = mask.Digits(*text)
	}
	if (grouped || len(found) > 0) && s.in(*text, minLength) || s.inEscaped(*text, minLength, maxEscapes) {
		*text = mask.All
	}
}

// RedactMembers replaces the members whose name or value has a secret, however the value writes it.
func (s Secrets) RedactMembers(members map[string]json.RawMessage, minLength int) {
	if len(s) == 0 {
		return
	}
	for name, value := range members {
		shown := name
		s.Redact(&shown, minLength)
		if shown != name || s.Find(wire.Unescape(value), minLength) {
			delete(members, name)
			members[shown] = WithheldValue()
		}
	}
}

// RedactAnyMembers does so with members of any value, of which those that a response gave are JSON.
func (s Secrets) RedactAnyMembers(members map[string]any, minLength int) {
	for name, value := range members {
		if raw, ok := value.(json.RawMessage); ok && s.Find(wire.Unescape(raw), minLength) {
			members[name] = WithheldValue()
		}
	}
}

// MaskMembers replaces the members that have a card number.
func MaskMembers(members map[string]json.RawMessage) {
	for name, value := range members {
		if mask.HasCardNumber(wire.Unescape(value)) {
			members[name] = WithheldValue()
		}
	}
}

// WithheldValue is the JSON that stands for a value which may not be shown.
func WithheldValue() json.RawMessage { return json.RawMessage(`"` + mask.All + `"`) }
