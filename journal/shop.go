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

// Key identifies an entry: a payment by its transactionId, a refund by its refundTransactionId. The other id is
// empty. A payment and a refund with the same id are two entries.
type Key struct {
	Shop                Shop
	TransactionID       string
	RefundTransactionID string
}

// ID returns a text that is unique to the key within the shop: the transactionId, or for a refund "refund", a tab and
// the refundTransactionId. A transactionId has no tab, because the client rejects control characters in ids.
func (k Key) ID() string {
	if k.RefundTransactionID == "" {
		return k.TransactionID
	}
	return refundIDs + k.RefundTransactionID
}

// describe returns the kind of the entry and its id, for messages.
func (k Key) describe() string {
	if k.RefundTransactionID != "" {
		return fmt.Sprintf("refund %q", k.RefundTransactionID)
	}
	return fmt.Sprintf("transaction %q", k.TransactionID)
}

const refundIDs = "refund\t"

// keyOf returns the key with this ID.
func keyOf(shop Shop, id string) Key {
	if refundTransactionID, ok := strings.CutPrefix(id, refundIDs); ok {
		return Key{Shop: shop, RefundTransactionID: refundTransactionID}
	}
	return Key{Shop: shop, TransactionID: id}
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
