package journal

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go"
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

// String returns a text that is unique to the ID within a shop, for stores: the transactionId, or for a refund "refund", a tab
// and the refundTransactionId. A transactionId has no tab, because the client rejects control characters in ids.
func (id ID) String() string {
	if id.Refund {
		return refundIDs + id.Text
	}
	return id.Text
}

const refundIDs = "refund\t"

// ParseID reads what ID.String wrote.
func ParseID(text string) ID {
	if refundTransactionID, ok := strings.CutPrefix(text, refundIDs); ok {
		return RefundID(refundTransactionID)
	}
	return PaymentID(text)
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
	return Shop{Gateway: normalURL(cmp.Or(gateway, client.BaseURL())), AppID: client.AppID()}
}

// normalURL returns the normal form of a base URL (RFC 3986, section 6.2), without a slash at its end.
func normalURL(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u.String()
}
