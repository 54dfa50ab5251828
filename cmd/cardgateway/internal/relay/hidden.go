package relay

import (
	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/redact"
)

// Hidden are secrets that must not be printed: the secret key and, if a notification contains one, its token. Card
// numbers are found by their digits.
type Hidden struct{ secrets redact.Secrets }

// Hide hides a key and a token, which may be zero.
func Hide(secretKey string, token cardgateway.Token) (h Hidden) {
	h.secrets.Add(secretKey, redact.MinText)
	h.secrets.Add(token.Reveal(), redact.MinText)
	return h
}

// Text masks secrets, verification codes and card numbers. Any 13 digits in a row may be a card number.
func (h Hidden) Text(s string) string { return h.secrets.Mask(s) }

// id masks only secrets: the ids of gateways have as many digits as a card number.
func (h Hidden) id(s string) string {
	h.secrets.Redact(&s, redact.MinText)
	return s
}
