package cardgateway

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// TokenCipher encrypts tokens before you store them, with AES-256-GCM. Anyone who has a token and your credentials can charge the
// card, so a stolen database or backup must not contain tokens: keep the key elsewhere. If you have a key service or a vault that
// encrypts, use that with Token.Reveal and NewToken instead. The methods are safe for concurrent use.
type TokenCipher struct {
	newest func() tokenKey // funcs, so that no key can be printed
	find   func(id string) (tokenKey, bool)
}

// tokenKey is a key with the id that its texts begin with.
type tokenKey struct {
	id   string
	aead cipher.AEAD
}

const (
	minCipherKey = 32 // bytes
	keyIDLength  = 6  // bytes, 8 characters
)

// NewTokenCipher takes a random key of at least 32 bytes that is used for nothing else. Losing it means losing the tokens: every
// cardholder would have to enter the card again.
//
// Decrypt reads texts of all keys, Encrypt uses the first. To rotate the key, add the new one as older in every process, then pass it as
// key and the previous one as older. Once each stored text has been decrypted and encrypted again, leave out the previous one. The
// error is a *ValidationError that does not contain the key.
func NewTokenCipher(key []byte, older ...[]byte) (*TokenCipher, error) {
	var v violations
	all := append([][]byte{key}, older...)
	for _, k := range all {
		v.AddIf(len(k) < minCipherKey, "key", RuleLength, "has %d bytes, at least %d are required", len(k), minCipherKey)
	}
	if err := v.err("NewTokenCipher"); err != nil {
		return nil, err
	}
	keys := make([]tokenKey, len(all))
	for i, k := range all {
		var err error
		if keys[i], err = newTokenKey(k); err != nil {
			return nil, fmt.Errorf("cardgateway: NewTokenCipher: %w", err)
		}
	}
	return &TokenCipher{
		newest: func() tokenKey { return keys[0] },
		find: func(id string) (tokenKey, bool) {
			for _, k := range keys {
				if k.id == id {
					return k, true
				}
			}
			return tokenKey{}, false
		},
	}, nil
}

// newTokenKey derives the key for AES and its id. The id reveals nothing about the key.
func newTokenKey(key []byte) (k tokenKey, err error) {
	derived, err := hkdf.Key(sha256.New, key, nil, "cardgateway token key", 32)
	if err != nil {
		return k, err
	}
	id, err := hkdf.Key(sha256.New, key, nil, "cardgateway token key id", keyIDLength)
	if err != nil {
		return k, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return k, err
	}
	k.id = tokenEncoding.EncodeToString(id)
	k.aead, err = cipher.NewGCMWithRandomNonce(block)
	return k, err
}

// tokenTextV1 begins each text of Encrypt. The id of the key, a dot, and nonce, ciphertext and tag in base64 follow.
const tokenTextV1 = "v1."

var tokenEncoding = base64.RawURLEncoding.Strict() // one text for the same bytes

// Encrypt returns a text to store, in ASCII and without spaces: some 50 characters and four thirds of the token's length. It is
// another one with each call, so it cannot be searched for. The first 11 characters depend on the key only: they show which rows
// still have an older key.
//
// The text belongs to id, which must not be empty: the key of the row in which you store it, such as the customer's or the card's. It
// can be decrypted with this id only, so nobody who can write to the database can give one customer the card of another. The error is
// a *ValidationError without the token.
func (c *TokenCipher) Encrypt(t Token, id string) (string, error) {
	var v violations
	v.Require("token", !t.IsZero(), required)
	v.Require("id", id != "", required)
	v.Require("cipher", c.isMade(), required)
	if err := v.err("TokenCipher.Encrypt"); err != nil {
		return "", err
	}
	k := c.newest()
	sealed := k.aead.Seal(nil, nil, []byte(t.Reveal()), []byte(id))
	return tokenTextV1 + k.id + "." + tokenEncoding.EncodeToString(sealed), nil
}

// Reasons why a text cannot be decrypted.
var (
	errNoTokenText   = errors.New("cardgateway: TokenCipher.Decrypt: this is not a text of Encrypt")
	errNoTokenKey    = errors.New("cardgateway: TokenCipher.Decrypt: the text was encrypted with a key that NewTokenCipher was not given")
	errOtherTokenRow = errors.New("cardgateway: TokenCipher.Decrypt: the text belongs to another id, or has been changed")
)

// Decrypt returns the token of a text that Encrypt returned for the same id. The error quotes neither. It says whether the
// text is none of Encrypt, its key was not given, or it belongs to another id.
func (c *TokenCipher) Decrypt(text, id string) (Token, error) {
	if !c.isMade() {
		return Token{}, errNoTokenKey
	}
	text, ok := strings.CutPrefix(text, tokenTextV1)
	keyID, encoded, found := strings.Cut(text, ".")
	sealed, err := tokenEncoding.DecodeString(encoded)
	if !ok || !found || err != nil {
		return Token{}, errNoTokenText
	}
	k, ok := c.find(keyID)
	if !ok {
		return Token{}, errNoTokenKey
	}
	opened, err := k.aead.Open(nil, nil, sealed, []byte(id))
	if err != nil {
		return Token{}, errOtherTokenRow
	}
	return NewToken(string(opened)), nil
}

func (c *TokenCipher) isMade() bool { return c != nil && c.newest != nil }
