package journal

import (
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go"
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

// foundIn looks for the secrets in a text as it stands and as a URL would be decoded.
func (s *secrets) foundIn(text string) bool {
	if text == "" {
		return false
	}
	plain, err := url.QueryUnescape(text)
	if err != nil {
		plain = text
	}
	if token := s.token.Reveal(); token != "" && (strings.Contains(text, token) || strings.Contains(plain, token)) {
		return true
	}
	return s.hasNumber(text) || s.hasNumber(plain) || s.hasNumber(separators.Replace(plain)) || s.hasCode(plain)
}

// separators are what stands between the groups of a card number.
var separators = strings.NewReplacer(" ", "", "-", "", "+", "", ".", "", "_", "")

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
	if s.number.IsZero() {
		return false
	}
	for from := range len(text) {
		for n := 0; n < longest && from+n < len(text) && '0' <= text[from+n] && text[from+n] <= '9'; n++ {
			if n+1 >= shortest && s.number.Equal(cardgateway.NewCardNumber(text[from:from+n+1])) {
				return true
			}
		}
	}
	return false
}
