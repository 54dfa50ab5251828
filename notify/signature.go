package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
)

// SignatureSHA256 returns a check of a notification's sign member, for Options.Verify. The interface shows no signature;
// this is the rule that gateways which speak it publish: the values of all members but sign, in the order of their names,
// the secret key behind them, and of that text the SHA-256 in hexadecimal. A text counts without its quotes, a number or a
// truth value as it was sent; what is empty, null, an object or an array is left out. Letter case of sign does not matter.
// The secret key is published to be the one of cardgateway.BasicAuth.
//
// The rule covers values without names and joins them without separators, and knows no time: who has seen one notification
// can repeat it and can move characters between neighbours. It keeps strangers from causing queries; it is no reason to
// believe a payload.
//
// The check fails for a notification without sign, and always if secretKey is empty.
func SignatureSHA256(secretKey string) func(*Notification) error {
	key := []byte(secretKey)
	return func(n *Notification) error {
		if len(key) == 0 {
			return errNoSecretKey
		}
		p := n.covered()
		if p.sign == "" {
			return errNoSignature
		}
		sign, err := hex.DecodeString(p.sign)
		if err != nil { // it would quote the payload
			return errSignature
		}
		hash := sha256.New()
		for _, m := range p.members {
			hash.Write([]byte(m.text))
		}
		hash.Write(key)
		if !hmac.Equal(sign, hash.Sum(nil)) { // in constant time
			return errSignature
		}
		return nil
	}
}

// AnySignature returns a check that passes if one of the given ones does: the way to change a secret key without refusing
// what was signed with the old one. Without any it always fails.
func AnySignature(verify ...func(*Notification) error) func(*Notification) error {
	verify = slices.Clone(verify)
	return func(n *Notification) error {
		err := errNoVerifier
		for _, v := range verify {
			if err = v(n); err == nil {
				return nil
			}
		}
		return err
	}
}

var (
	errNoSecretKey = errors.New("notify: the secret key for notifications is empty")
	errNoSignature = errors.New("notify: the notification is not signed")
	errSignature   = errors.New("notify: the notification's signature does not match")
	errNoVerifier  = errors.New("notify: no way to check the notification's signature was given")
)
