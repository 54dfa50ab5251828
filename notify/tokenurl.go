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

// TokenURLs creates a notification URL that nobody can guess for each token order, and verifies it. A token arrives only by
// notification ("Token payment") and no query can confirm it, so anyone who knows a notification URL could submit a token
// of their own. A separate URL for each order, known only to the merchant and the gateway, prevents that: it contains its
// expiry time and a keyed hash of that time and the transactionId.
//
// This is a mitigation, not authentication. Serve the URLs over https, keep their query out of access logs, do not print
// the requests that contain them, and use the same key in every process that receives notifications. The methods are safe
// for concurrent use.
type TokenURLs struct {
	base *url.URL
	tags func(message []byte) [][]byte // one for each key, the newest first; a func so that no key can be printed
}

const (
	minURLKey        = 32     // bytes
	bindingParam     = "bind" // holds the expiry and the tag
	expiryLength     = 8      // bytes of Unix seconds
	tagLength        = 16     // bytes of HMAC-SHA256: 128 bits
	maxURL           = 255    // characters of notificationUrl
	maxTransactionID = 128    // characters of transactionId
)

// NewTokenURLs takes the public URL of the merchant's handler, which is https, or http to a loopback host, and a random key of at
// least 32 bytes that is used for nothing else. To rotate the key, pass the new one as key and the previous one as older for as
// long as URLs created with it may be in use.
//
// The URLs are 38 characters longer than base, and are limited to the 255 of notificationUrl. The error is a
// *cardgateway.ValidationError that does not contain the key.
func NewTokenURLs(base string, key []byte, older ...[]byte) (*TokenURLs, error) {
	var v violations
	u, err := url.Parse(base)
	if v.Require("base", base != "", check.Required) {
		if err == nil {
			base = u.String() // escaped, as URL writes it
		}
		v.SecretURL("base", base, maxURL-len("?"+bindingParam+"=")-base64.RawURLEncoding.EncodedLen(expiryLength+tagLength))
	}
	var keys [][]byte
	for _, k := range slices.Concat([][]byte{key}, older) {
		if len(k) < minURLKey {
			v.Add("key", cardgateway.RuleLength, "has %d bytes, at least %d are required", len(k), minURLKey)
		}
		keys = append(keys, slices.Clone(k))
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

// URL returns the NotificationURL for the CreateTokenOrder of this transactionId, at most 128 characters. A token is
// accepted at this URL until expires, in whole seconds: allow for the cardholder's time on the hosted page and for
// repetitions of the notification, say a day. The error is a *cardgateway.ValidationError.
func (t *TokenURLs) URL(transactionID string, expires time.Time) (string, error) {
	var v violations
	v.Require("transactionId", transactionID != "", check.Required)
	v.Text("transactionId", transactionID, maxTransactionID)
	if !expires.After(time.Now()) {
		v.Add("expires", cardgateway.RuleRange, "must be in the future")
	}
	if err := v.err("notify.TokenURLs.URL"); err != nil {
		return "", err
	}
	binding := binary.BigEndian.AppendUint64(nil, uint64(expires.Unix()))
	binding = append(binding, t.tags(boundMessage(binding, transactionID))[0]...)
	u := *t.base
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += bindingParam + "=" + base64.RawURLEncoding.EncodeToString(binding)
	return u.String(), nil
}

// Check returns an error if u, the URL of a request as the server sees it, was not created by URL for this transactionId,
// or has expired. The handler does this for every token; call it only if you do not use the handler, with the transactionId
// confirmed by GetTransaction. Only the query of u counts, because proxies may change the rest.
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
	case time.Now().Unix() >= int64(binary.BigEndian.Uint64(expiry)):
		return errExpired
	}
	return nil
}

var (
	errUnbound = errors.New("notify: the URL was not created for the token of this transaction")
	errExpired = errors.New("notify: the URL for the token of this transaction has expired")
)

// boundMessage returns the hashed message: a purpose, the expiry with its fixed length, and the transactionId.
func boundMessage(expiry []byte, transactionID string) []byte {
	return slices.Concat([]byte("cardgateway token URL\x00"), expiry, []byte(transactionID))
}

// violations collects all violations of one call. It applies the client's rules for the same members.
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
