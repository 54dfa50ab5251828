package notify

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/cardgateway/cardgateway-go/internal/bounded"
)

// Deduper remembers which events have been handled, so that a repeated notification is not handled again: gateways repeat
// one until the response is HTTP 200, published as up to four times in the 30 minutes after the first failure.
//
// MemoryDeduper serves one process. If several processes receive notifications, they need a Deduper in a database: see
// sqlstore.Deduper.
//
// An implementation must let a claim lapse after some minutes, because a process can crash before it ends the claim, and
// remember handled events for at least an hour. Keys are at most 255 ASCII characters, made of ids and codes, never of card
// data, of a token or of a hash of one. The handler calls a Deduper only for events that the gateway has confirmed. The
// methods must be safe for concurrent use.
type Deduper interface {
	// Claim requests the right to handle the event with this key. After ClaimFresh the handler calls Handled or Release.
	Claim(ctx context.Context, key string) (ClaimResult, error)
	// Handled ends a claim: the event has been handled, and is not handled again.
	Handled(ctx context.Context, key string) error
	// Release ends a claim: the event has not been handled, and can be claimed again.
	Release(ctx context.Context, key string) error
}

// ClaimResult says whether an event must be handled.
type ClaimResult int

// The results of a claim.
const (
	ClaimBusy    ClaimResult = iota // another caller is handling it: the handler responds with 503, and the gateway repeats the notification
	ClaimFresh                      // the caller must handle it
	ClaimHandled                    // it has been handled
)

// MemoryDeduper is a Deduper for one process. It remembers the most recently handled events, in bounded memory, and forgets
// them when the process ends. Create one with NewMemoryDeduper.
type MemoryDeduper struct {
	mu      sync.Mutex
	busy    map[hashKey]struct{}
	handled bounded.Map[hashKey, struct{}]
}

// hashKey represents a key of any length in a fixed number of bytes.
type hashKey [sha256.Size]byte

func newHashKey(key string) hashKey { return sha256.Sum256([]byte(key)) }

// defaultRemembered is more than the notifications of 30 minutes at 30 per second.
const defaultRemembered = 1 << 16

// NewMemoryDeduper returns a MemoryDeduper for the last n events, some 100 bytes each. If n is zero or less, it remembers
// 65,536 events.
func NewMemoryDeduper(n int) *MemoryDeduper {
	if n <= 0 {
		n = defaultRemembered
	}
	return &MemoryDeduper{busy: map[hashKey]struct{}{}, handled: bounded.Map[hashKey, struct{}]{Limit: n}}
}

// Claim implements Deduper. It returns no error.
func (d *MemoryDeduper) Claim(_ context.Context, key string) (ClaimResult, error) {
	k := newHashKey(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, handled := d.handled.Get(k); handled {
		return ClaimHandled, nil
	}
	if _, busy := d.busy[k]; busy {
		return ClaimBusy, nil
	}
	d.busy[k] = struct{}{}
	return ClaimFresh, nil
}

// Handled implements Deduper. It returns no error.
func (d *MemoryDeduper) Handled(_ context.Context, key string) error {
	k := newHashKey(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, k)
	d.handled.Put(k, struct{}{})
	return nil
}

// Release implements Deduper. It returns no error.
func (d *MemoryDeduper) Release(_ context.Context, key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, newHashKey(key))
	return nil
}

func (d *MemoryDeduper) isHandled(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, handled := d.handled.Get(newHashKey(key))
	return handled
}
