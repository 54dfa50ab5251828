package journal

import (
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/percent"
)

// secrets are what a payment must not leave in a store. The client masks them in texts of the gateway, and those are
// not kept anyway; what remains are the ids and the address to which the cardholder is sent.
type secrets struct {
	token  cardgateway.Token
	number cardgateway.CardNumber
	code   cardgateway.CVV
}

// removeFrom empties every kept text in which a secret is found.
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

// foundIn looks for the secrets in a text as it stands and as a URL would be decoded, once and twice.
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
	return s.hasCode(once) || s.hasCode(twice) // not the text as it stands: the digits of its escapes are no code
}

// separators are what can stand between the groups of a card number.
var separators = strings.NewReplacer(" ", "", "-", "", "+", "", ".", "", "_", "", "/", "", ",", "")

// hasCode looks for the verification code among the numbers of a text.
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

// hasNumber looks for the card number, which nothing reveals, by comparing every run of digits that is long enough.
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
