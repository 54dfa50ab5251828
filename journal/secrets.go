package journal

import (
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/percent"
)

// secrets are the values of a payment that must not be stored. The client masks them in the gateway's texts, which are
// not stored anyway. That leaves the uniqueId, the currency and the redirect URL.
type secrets struct {
	token  cardgateway.Token
	number cardgateway.CardNumber
	code   cardgateway.CVV
}

// removeFrom empties every stored text that contains a secret.
func (s *secrets) removeFrom(t *cardgateway.Transaction) {
	if t == nil {
		return
	}
	for _, text := range []*string{&t.RedirectURL, &t.UniqueID, &t.TransactionCurrency} {
		if s.foundIn(*text) {
			*text = ""
		}
	}
}

// foundIn searches a text for the secrets: as it is, and URL-decoded once and twice.
func (s *secrets) foundIn(text string) bool {
	once := percent.Decode(text)
	twice := percent.Decode(once)
	for _, plain := range []string{text, once, twice, strings.ReplaceAll(twice, "+", " ")} {
		if token := s.token.Reveal(); token != "" && strings.Contains(plain, token) {
			return true
		}
		if s.hasNumber(separators.Replace(plain)) {
			return true
		}
	}
	return s.hasCode(once) || s.hasCode(twice) // not the text as it is: the digits of its escapes are not a code
}

// separators are the characters that can separate the groups of a card number.
var separators = strings.NewReplacer(" ", "", "-", "", "+", "", ".", "", "_", "", "/", "", ",", "")

// hasCode searches the numbers in a text for the verification code.
func (s *secrets) hasCode(text string) bool {
	if s.code.IsZero() {
		return false
	}
	for _, number := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if s.code.Equal(cardgateway.NewCVV(number)) {
			return true
		}
	}
	return false
}

// hasNumber compares every run of 12 to 19 digits in a text with the card number, because a CardNumber does not reveal
// its digits.
func (s *secrets) hasNumber(text string) bool {
	const shortest, longest = 12, 19
	for from := range len(text) {
		for n := 0; n < longest && from+n < len(text) && '0' <= text[from+n] && text[from+n] <= '9'; n++ {
			if n+1 >= shortest && s.number.Equal(cardgateway.NewCardNumber(text[from:from+n+1])) {
				return true
			}
		}
	}
	return false
}
