package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"sync"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/bounded"
	"github.com/cardgateway/cardgateway-go/internal/random"
)

// firstTokens remembers the first token of each transaction, as a hash with a random key that exists only in this process.
// The hash distinguishes a repetition from another token, and is useless to anybody else.
//
// On the hosted page a cardholder whose card was declined can try another one, which has another token. So the token of a
// declined attempt does not count; a token that came with an approval stays.
type firstTokens struct {
	key   [32]byte
	mu    sync.Mutex
	known bounded.Map[hashKey, firstToken]
}

type firstToken struct {
	hash     [sha256.Size]byte
	approved bool // the transaction was approved, according to the gateway, when this token came
	void     bool // the attempt was declined: another token may follow
}

// rememberedTokens is the number of transactions that firstTokens remembers, in some 2 MB.
const rememberedTokens = 10_000

func newFirstTokens() *firstTokens {
	f := &firstTokens{known: bounded.Map[hashKey, firstToken]{Limit: rememberedTokens}}
	random.Fill(f.key[:])
	return f
}

func (f *firstTokens) hash(token cardgateway.Token) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, f.key[:])
	mac.Write([]byte(token.Reveal()))
	mac.Sum(sum[:0])
	return sum
}

// accept records the token of a transaction, with the transaction's confirmed state. It reports false if another one is
// recorded.
func (f *firstTokens) accept(t *cardgateway.Transaction, token cardgateway.Token) bool {
	hash := f.hash(token)
	f.mu.Lock()
	defer f.mu.Unlock()
	first, known := f.first(t.TransactionID)
	if known && !hmac.Equal(first.hash[:], hash[:]) {
		return false
	}
	if t.State() != cardgateway.StateDeclined {
		approved := first.approved || t.State() == cardgateway.StateApproved
		f.known.Put(newHashKey(t.TransactionID), firstToken{hash: hash, approved: approved})
	}
	return true
}

// declined allows the token of another attempt, unless the transaction has been approved.
func (f *firstTokens) declined(transactionID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if first, known := f.first(transactionID); known && !first.approved {
		f.known.Put(newHashKey(transactionID), firstToken{void: true})
	}
}

// compare reports whether a token of the transaction is recorded, and whether it is this one.
func (f *firstTokens) compare(transactionID string, token cardgateway.Token) (known, same bool) {
	hash := f.hash(token)
	f.mu.Lock()
	defer f.mu.Unlock()
	first, known := f.first(transactionID)
	return known, known && hmac.Equal(first.hash[:], hash[:])
}

// first returns the token that counts. The caller holds the lock.
func (f *firstTokens) first(transactionID string) (firstToken, bool) {
	first, known := f.known.Get(newHashKey(transactionID))
	if first.void {
		return firstToken{}, false
	}
	return first, known
}
