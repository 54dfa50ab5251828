package journal

import (
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go"
)

// Shop is whose payments an entry belongs to. A transactionId is unique within a shop only: two shops that keep their
// payments in one database may use the same ids.
type Shop struct {
	Gateway string            // Options.Gateway, or the client's base URL in its normal form
	AppID   cardgateway.AppID // the client's
}

// String returns the shop in one text, which no other shop has.
func (s Shop) String() string { return s.Gateway + " " + string(s.AppID) }

// Key names an entry.
type Key struct {
	Shop          Shop
	TransactionID string
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
