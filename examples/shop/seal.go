package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cardgateway/cardgateway-go"
)

// Seal encrypts tokens before they are stored: anyone with a token and the merchant's credentials can charge the card, so a
// stolen backup must not contain any. A shop with a key service or a vault uses that instead.
type Seal struct{ aead cipher.AEAD }

// NewSeal derives the key for tokens from the shop's key.
func NewSeal(key []byte) (*Seal, error) {
	derived, err := derive(key, "shop: tokens")
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Seal{aead}, err
}

// Close encrypts the token of a card. It can be opened for that card only.
func (s *Seal) Close(cardID string, t cardgateway.Token) string {
	return base64.RawStdEncoding.EncodeToString(s.aead.Seal(nil, nil, []byte(t.Reveal()), []byte(cardID)))
}

// Open decrypts the token of a card.
func (s *Seal) Open(cardID, sealed string) (cardgateway.Token, error) {
	b, err := base64.RawStdEncoding.DecodeString(sealed)
	if err == nil {
		b, err = s.aead.Open(nil, nil, b, []byte(cardID))
	}
	if err != nil {
		return cardgateway.Token{}, errors.New("the token cannot be opened with this key")
	}
	return cardgateway.NewToken(string(b)), nil
}

const keyLength = 32

// derive derives a key for one purpose from the shop's key.
func derive(key []byte, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, key, nil, purpose, keyLength)
}

// LoadKey reads the shop's key from a file, and creates a random one if there is no such file. If name is empty, it returns
// a random key that is not stored.
func LoadKey(file string) ([]byte, error) {
	key := make([]byte, keyLength)
	_, _ = rand.Read(key) // never fails
	if file == "" {
		return key, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return key, os.WriteFile(file, []byte(hex.EncodeToString(key)+"\n"), 0o600)
	}
	if err != nil {
		return nil, err
	}
	key, err = hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyLength { // not wrapped: the error of hex would quote the key
		return nil, fmt.Errorf("%s does not hold %d bytes as hexadecimal digits", file, keyLength)
	}
	return key, nil
}
