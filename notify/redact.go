package notify

import (
	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/redact"
)

// A gateway can repeat a token in other members, both of the notification and of its own responses. Code that prints those
// must not print the token. In responses the client masks it: see confirm.

// redactClaims replaces the token wherever else it occurs in the payload, except in the uniqueId, which is needed for the
// query, and the transactionId, which the merchant chose and which is compared with the gateway's.
func redactClaims(c *Claims, token cardgateway.Token) {
	var masker redact.Masker
	masker.Sent.Add(token.Reveal(), redact.MinText)
	masker.IDs((*string)(&c.TransactionType), &c.RefundUniqueID, &c.MerchantRefundID, &c.TransactionCurrency, &c.RefundCurrency,
		&c.ChargebackCurrency, (*string)(&c.TransactionCardNumber))
	masker.Messages(&c.Message, &c.TransactionMessage, &c.BillDescription, &c.RefundMessage)
	masker.Members(c.Extra)
}
