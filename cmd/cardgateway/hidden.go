package main

import (
	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/redact"
)

// hidden are the secrets that must not be in what is printed and recorded: the secret key and, where a notification brings
// one, its token. Card numbers are found by their digits.
type hidden struct{ secrets redact.Secrets }

func newHidden(secretKey string, token cardgateway.Token) (h hidden) {
	h.secrets.Add(secretKey, redact.MinText)
	h.secrets.Add(token.Reveal(), redact.MinText)
	return h
}

// text masks secrets and card numbers. Any 13 digits in a row may be a card number.
func (h hidden) text(s string) string {
	h.secrets.Redact(&s, redact.MinText)
	return mask.Digits(s)
}

// id masks secrets alone: the ids of gateways have as many digits as a card number.
func (h hidden) id(s string) string {
	h.secrets.Redact(&s, redact.MinText)
	return s
}

// has reports whether a secret is in the text.
func (h hidden) has(s string) bool { return h.secrets.Find(s, redact.MinText) }
