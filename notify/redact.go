package notify

import (
	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/redact"
)

// A gateway can repeat a token in other members, both of the notification and of its own responses. Code that prints those
// must not print the token.

func secretsOf(token cardgateway.Token) (s redact.Secrets) {
	s.Add(token.Reveal(), redact.MinText)
	return s
}

// redactClaims replaces the token wherever else it occurs in the payload, except in the uniqueId, which is needed for the
// query, and the transactionId, which the merchant chose and which is compared with the gateway's.
func redactClaims(c *Claims, token cardgateway.Token) {
	s := secretsOf(token)
	for _, id := range []*string{
		(*string)(&c.TransactionType), &c.RefundUniqueID, &c.MerchantRefundID, &c.TransactionCurrency, &c.RefundCurrency,
		&c.ChargebackCurrency, (*string)(&c.TransactionCardNumber),
	} {
		s.Redact(id, redact.MinID)
	}
	for _, text := range []*string{&c.Message, &c.TransactionMessage, &c.BillDescription, &c.RefundMessage} {
		s.Redact(text, redact.MinText)
	}
	s.RedactMembers(c.Extra, redact.MinText)
}

// redactFacts replaces the token in the texts of what the gateway confirmed. A short token could match any word there, so
// only a long one is replaced.
func redactFacts(n *Notification) {
	if n.Token.IsZero() {
		return
	}
	s := secretsOf(n.Token)
	t := n.Transaction
	texts := []*string{
		&t.Message, &t.BillDescription, &t.TransactionMessage, (*string)(&t.TransactionMethod), (*string)(&t.TransactionType),
		&t.TransactionCurrency, (*string)(&t.TransactionCardNumber),
	}
	if a := t.BillingAddress; a != nil {
		texts = append(texts, &a.FirstName, &a.LastName, &a.Country, &a.Email, &a.City, &a.Address, &a.Phone, &a.State, &a.ZipCode)
		s.RedactAnyMembers(a.Extra, redact.MinID)
	}
	s.RedactMembers(t.Extra, redact.MinID)
	if raw := t.Raw; raw != nil { // only read by people: a word that matches by chance does no harm
		raw.Body, raw.RequestIDs = s.Mask(raw.Body), s.RequestIDs(raw.RequestIDs)
	}
	if r := n.Refund; r != nil {
		texts = append(texts, &r.Message, &r.RefundCurrency)
		s.RedactMembers(r.Extra, redact.MinID)
	}
	for _, text := range texts {
		s.Redact(text, redact.MinID)
	}
}
