package notify

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"sync"

	"github.com/cardgateway/cardgateway-go"
)

// firstTokens remembers the first token of each transaction, as a hash under a key that this process drew at random
// and keeps to itself: enough to tell a repetition from another token, and of no use to anybody else.
type firstTokens struct {
	key   [32]byte
	mu    sync.Mutex
	known boundedMap[[sha256.Size]byte]
}

// rememberedTokens bounds the memory of firstTokens to some 2 MB.
const rememberedTokens = 10_000

func newFirstTokens() *firstTokens {
	f := &firstTokens{known: newBoundedMap[[sha256.Size]byte](rememberedTokens)}
	_, _ = rand.Read(f.key[:]) // never fails
	return f
}

func (f *firstTokens) hash(token cardgateway.Token) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, f.key[:])
	mac.Write([]byte(token.Reveal()))
	mac.Sum(sum[:0])
	return sum
}

// accept keeps a token as the transaction's, and reports false if it has another.
func (f *firstTokens) accept(transactionID string, token cardgateway.Token) bool {
	k, sum := newHashKey(transactionID), f.hash(token)
	f.mu.Lock()
	defer f.mu.Unlock()
	first, known := f.known.get(k)
	if !known {
		f.known.put(k, sum)
	}
	return !known || hmac.Equal(first[:], sum[:])
}

// has reports whether token is known to be the transaction's.
func (f *firstTokens) has(transactionID string, token cardgateway.Token) bool {
	known, same := f.compare(transactionID, token)
	return known && same
}

// hasOther reports whether another token is known to be the transaction's.
func (f *firstTokens) hasOther(transactionID string, token cardgateway.Token) bool {
	known, same := f.compare(transactionID, token)
	return known && !same
}

func (f *firstTokens) compare(transactionID string, token cardgateway.Token) (known, same bool) {
	sum := f.hash(token)
	f.mu.Lock()
	defer f.mu.Unlock()
	first, known := f.known.get(newHashKey(transactionID))
	return known, hmac.Equal(first[:], sum[:])
}
