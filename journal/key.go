package journal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/baseurl"
)

// Shop identifies the shop to which an entry belongs. A transactionId, and a refundTransactionId, is unique only within a
// shop: two shops that share a database may use the same ids.
type Shop struct {
	Gateway string            // Options.Gateway, or else the client's base URL, in its normal form
	AppID   cardgateway.AppID // the client's
}

// String returns a text that is unique to the shop.
func (s Shop) String() string { return s.Gateway + " " + string(s.AppID) }

// ID names a payment or a refund of a shop. A payment and a refund with the same text are two entries.
type ID struct {
	Text   string // the transactionId of a payment, the refundTransactionId of a refund
	Refund bool
}

// PaymentID returns the ID of a payment.
func PaymentID(transactionID string) ID { return ID{Text: transactionID} }

// RefundID returns the ID of a refund.
func RefundID(refundTransactionID string) ID { return ID{Text: refundTransactionID, Refund: true} }

// String returns a text that is unique to the ID within a shop, for stores and logs: for a refund "refund " and the
// refundTransactionId, for a payment the transactionId. A transactionId that begins like that of a refund has "payment " before it.
func (id ID) String() string {
	switch {
	case id.Refund:
		return refundPrefix + id.Text
	case strings.HasPrefix(id.Text, refundPrefix), strings.HasPrefix(id.Text, paymentPrefix):
		return paymentPrefix + id.Text
	}
	return id.Text
}

const (
	refundPrefix  = "refund "
	paymentPrefix = "payment "
)

// ParseID reads what ID.String wrote.
func ParseID(text string) ID {
	if refundTransactionID, ok := strings.CutPrefix(text, refundPrefix); ok {
		return RefundID(refundTransactionID)
	}
	return PaymentID(strings.TrimPrefix(text, paymentPrefix))
}

// member returns the interface's name of the id.
func (id ID) member() string {
	if id.Refund {
		return "refundTransactionId"
	}
	return "transactionId"
}

// describe returns the kind of the entry and its id, for messages.
func (id ID) describe() string {
	if id.Refund {
		return fmt.Sprintf("refund %q", id.Text)
	}
	return fmt.Sprintf("transaction %q", id.Text)
}

// Key identifies an entry in a store that several shops can share.
type Key struct {
	Shop Shop
	ID   ID
}

// shopOf returns the shop of a client. Gateway is Options.Gateway.
func shopOf(client *cardgateway.Client, gateway string) Shop {
	return Shop{Gateway: cmp.Or(baseurl.Normal(gateway), client.BaseURL()), AppID: client.AppID()}
}
