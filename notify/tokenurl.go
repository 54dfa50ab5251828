package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/check"
)

// TokenURLs makes a notification URL for each token order that nobody can guess, and recognizes it. A token arrives
// only by notification ("Token payment") and no query confirms it, so that whoever knows a notification URL could
// bring a token of his own. A URL of its own for each order, known to the merchant and the gateway alone, leaves him
// none: it carries a keyed hash of the transactionId and the time at which it expires.
//
// This is a mitigation and not authentication. Serve it over https, keep the query of these URLs out of access logs
// and the requests that carry them out of print, and let every process that receives notifications have the same key.
// The methods may be used by any number of goroutines.
type TokenURLs struct {
	base *url.URL
	tags func(message []byte) [][]byte // one for each key, the newest first; a func so that nothing prints a key
}

const (
	minURLKey        = 32     // bytes
	bindingParam     = "bind" // carries the expiry and the tag
	expiryLength     = 5      // bytes of Unix seconds: enough for 34,000 years
	tagLength        = 16     // bytes of HMAC-SHA256: 128 bits
	maxURL           = 255    // characters of notificationUrl
	maxTransactionID = 128    // characters of transactionId
)

// NewTokenURLs takes the URL at which the merchant's handler is reached from outside, http or https, and a random key of
// at least 32 bytes that is used for nothing else. To change the key, make the new one key and give
// the old one behind it for as long as URLs made with it may be used.
//
// The URLs add 34 characters to base, and must not have more than the 255 of notificationUrl. The error is a
// *cardgateway.ValidationError that does not show the key.
func NewTokenURLs(base string, key []byte, older ...[]byte) (*TokenURLs, error) {
	var v violations
	u, err := url.Parse(base)
	if v.Require("base", base != "", check.Required) {
		if err == nil {
			base = u.String() // escaped, as URL writes it
		}
		v.WebURL("base", base, maxURL-len("?"+bindingParam+"=")-base64.RawURLEncoding.EncodedLen(expiryLength+tagLength))
	}
	keys := [][]byte{slices.Clone(key)}
	for _, k := range older {
		keys = append(keys, slices.Clone(k))
	}
	for _, k := range keys {
		if len(k) < minURLKey {
			v.Add("key", cardgateway.RuleLength, "has %d bytes, at least %d are required", len(k), minURLKey)
		}
	}
	if err == nil && (u.Fragment != "" || u.Query().Has(bindingParam)) {
		v.Add("base", cardgateway.RuleFormat, "must have neither a fragment nor a parameter named %s", bindingParam)
	}
	if err := v.err("notify.NewTokenURLs"); err != nil {
		return nil, err
	}
	return &TokenURLs{base: u, tags: func(message []byte) [][]byte {
		tags := make([][]byte, len(keys))
		for i, k := range keys {
			mac := hmac.New(sha256.New, k)
			mac.Write(message)
			tags[i] = mac.Sum(nil)[:tagLength]
		}
		return tags
	}}, nil
}

// URL returns the NotificationURL for the CreateTokenOrder of this transactionId, at most 128 characters. The token
// is accepted there until expires, in whole seconds: allow for the cardholder's time on the hosted page and for the
// repetitions of the notification, say a day. The error is a *cardgateway.ValidationError.
func (t *TokenURLs) URL(transactionID string, expires time.Time) (string, error) {
	var v violations
	v.Require("transactionId", transactionID != "", check.Required)
	v.Text("transactionId", transactionID, maxTransactionID)
	if !expires.After(time.Now()) {
		v.Add("expires", cardgateway.RuleRange, "must be in the future")
	} else if expires.Unix() >= 1<<(8*expiryLength) {
		v.Add("expires", cardgateway.RuleRange, "is too far in the future")
	}
	if err := v.err("notify.TokenURLs.URL"); err != nil {
		return "", err
	}
	binding := appendExpiry(nil, expires.Unix())
	binding = append(binding, t.tags(boundMessage(binding, transactionID))[0]...)
	u := *t.base
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += bindingParam + "=" + base64.RawURLEncoding.EncodeToString(binding)
	return u.String(), nil
}

// Check reports with an error that u, the URL of a request as the server sees it, was not made by URL for this
// transactionId, or has expired. The handler does this for every token; call it only where the handler does not fit,
// and with the transactionId that GetTransaction confirmed. Only the query of u counts, so that proxies may change the
// rest.
func (t *TokenURLs) Check(u *url.URL, transactionID string) error {
	bindings := u.Query()[bindingParam]
	if len(bindings) != 1 {
		return errUnbound
	}
	binding, err := base64.RawURLEncoding.DecodeString(bindings[0])
	if err != nil || len(binding) != expiryLength+tagLength {
		return errUnbound
	}
	expiry, tag := binding[:expiryLength], binding[expiryLength:]
	matches := false
	for _, want := range t.tags(boundMessage(expiry, transactionID)) {
		matches = hmac.Equal(tag, want) || matches // in constant time
	}
	switch {
	case !matches:
		return errUnbound
	case time.Now().Unix() >= readExpiry(expiry):
		return errExpired
	}
	return nil
}

var (
	errUnbound = errors.New("notify: the URL was not made for the token of this transaction")
	errExpired = errors.New("notify: the URL for the token of this transaction has expired")
)

func appendExpiry(buf []byte, seconds int64) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(seconds))
	return append(buf, b[8-expiryLength:]...)
}

func readExpiry(b []byte) int64 {
	var n int64
	for _, c := range b {
		n = n<<8 | int64(c)
	}
	return n
}

// boundMessage is what is hashed: a purpose, the expiry of fixed length, and the transactionId to the end.
func boundMessage(expiry []byte, transactionID string) []byte {
	return slices.Concat([]byte("cardgateway token URL\x00"), expiry, []byte(transactionID))
}

// violations collects every violation of one call, by the rules that the client has for the same member.
type violations struct{ check.Violations }

func (v *violations) err(op string) error {
	if v.Len() == 0 {
		return nil
	}
	invalid := &cardgateway.ValidationError{Op: op}
	for _, p := range v.Problems() {
		invalid.Problems = append(invalid.Problems, cardgateway.Problem(p))
	}
	return invalid
}
