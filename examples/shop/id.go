package main

import (
	"crypto/rand"
	"strings"
)

// newID returns an id for an order or a card, which is also the orderId of its payments, and the transactionId of the first: unique
// and unguessable.
func newID(kind string) string { return kind + "-" + rand.Text()[:16] }

// isID reports whether an id has the form of those of newID.
func isID(kind, id string) bool {
	text, ok := strings.CutPrefix(id, kind+"-")
	return ok && isRandom(text, 16)
}

// isRandom reports whether a text could be the first characters of rand.Text.
func isRandom(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
