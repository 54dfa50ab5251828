package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// SignatureSHA256 returns a check of a notification's sign member, for Options.Verify. The interface documents no
// signature; this is the rule published by gateways that implement it: concatenate the values of all members except sign,
// sorted by name, append the secret key, and compute the SHA-256 in hexadecimal. Strings count without their quotes,
// numbers and booleans as sent; values that are empty, null, objects or arrays are left out. The case of sign does not
// matter. Published is that the secret key is the same as for cardgateway.BasicAuth.
//
// The signature covers values without names, joined without separators, and contains no timestamp: anyone who has seen one
// notification can replay it, and can move characters between neighbouring values. It prevents strangers from causing
// queries; it does not make a payload trustworthy.
//
// The check fails for a notification without sign, and always if secretKey is empty or has white space at its ends.
func SignatureSHA256(secretKey string) func(*Notification) error {
	key := []byte(secretKey)
	return func(n *Notification) error {
		if len(key) == 0 || strings.TrimSpace(secretKey) != secretKey {
			return errNoSecretKey
		}
		p := n.covered()
		if p.sign == "" {
			return errNoSignature
		}
		sign, err := hex.DecodeString(p.sign)
		if err != nil { // not wrapped: it would quote the payload
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

// AnySignature returns a check that passes if any of the given checks passes. Use it to change a secret key without
// rejecting notifications signed with the old one. Without any check it always fails.
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
	errNoSecretKey = errors.New("notify: the secret key for notifications is empty, or has white space at its ends")
	errNoSignature = errors.New("notify: the notification is not signed")
	errSignature   = errors.New("notify: the notification's signature does not match")
	errNoVerifier  = errors.New("notify: AnySignature was called without a check")
)
