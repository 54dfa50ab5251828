package main

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

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
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // not over the key that another process has made meanwhile
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(hex.EncodeToString(key) + "\n")
		return key, errors.Join(err, f.Close())
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
