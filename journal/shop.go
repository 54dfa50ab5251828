package journal

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go"
)

// Shop is whose payments and refunds an entry belongs to. A transactionId is unique within a shop only, and so is a
// refundTransactionId: two shops that keep their payments in one database may use the same ids.
type Shop struct {
	Gateway string            // Options.Gateway, or the client's base URL in its normal form
	AppID   cardgateway.AppID // the client's
}

// String returns the shop in one text, which no other shop has.
func (s Shop) String() string { return s.Gateway + " " + string(s.AppID) }

// Key names an entry: that of a payment by its transactionId, that of a refund by its refundTransactionId. The other id is
// empty. A payment and a refund with equal ids are two entries.
type Key struct {
	Shop                Shop
	TransactionID       string
	RefundTransactionID string
}

// ID returns one text for the id, which no other key of the shop has: the transactionId, or of a refund "refund", a tab and
// the refundTransactionId. A transactionId has no tab, since the client refuses control characters in ids.
func (k Key) ID() string {
	if k.RefundTransactionID == "" {
		return k.TransactionID
	}
	return refundIDs + k.RefundTransactionID
}

// describe names what the key is of.
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

// shopOf returns the shop that a client pays for.
func shopOf(client *cardgateway.Client, gateway string) Shop {
	if gateway == "" {
		gateway = normalURL(client.BaseURL())
	}
	return Shop{Gateway: gateway, AppID: client.AppID()}
}

// normalURL returns one of the spellings of a base URL: RFC 3986, section 6.2.
func normalURL(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u.String()
}
