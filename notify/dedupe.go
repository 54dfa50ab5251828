package notify

import (
	"context"
	"sync"
)

// Deduper remembers which events have been handled, so that a repeated notification is not handled again: gateways
// send one again until it is answered with HTTP 200, published as up to five times within 30 minutes.
//
// MemoryDeduper serves one process. Where several receive notifications, share a table, here in Postgres:
//
//	CREATE TABLE notified (key text PRIMARY KEY, claimed timestamptz NOT NULL, handled bool NOT NULL)
//	-- Claim: a row is changed, fresh; else SELECT handled: handled or busy. A process can die in between,
//	-- so a claim lapses.
//	INSERT INTO notified VALUES ($1, now(), false) ON CONFLICT (key) DO UPDATE SET claimed = now()
//	  WHERE NOT notified.handled AND notified.claimed < now() - interval '5 minutes'
//	-- Done: handled, or not.
//	UPDATE notified SET handled = true WHERE key = $1
//	DELETE FROM notified WHERE key = $1 AND NOT handled
//
// Keep what is handled for at least an hour. Keys are at most 255 characters of ASCII, made of ids and codes, never of
// card data, of a token or of a hash of one. The handler asks a Deduper only about what the gateway has confirmed.
type Deduper interface {
	// Claim asks for the right to handle the event with this key. After ClaimFresh the handler calls Done.
	Claim(ctx context.Context, key string) (ClaimResult, error)
	// Done ends a claim that was fresh. If handled, the event is not handled again; if not, it is free to be claimed again.
	Done(ctx context.Context, key string, handled bool) error
}

// ClaimResult says whether an event is to be handled.
type ClaimResult int

// The results of a claim.
const (
	ClaimBusy    ClaimResult = iota // somebody is handling it: it is refused for now, and comes again if that fails
	ClaimFresh                      // the caller is to handle it
	ClaimHandled                    // it has been handled
)

// MemoryDeduper is a Deduper for one process. It remembers the last events that were handled, in bounded memory, and
// forgets them when the process ends. NewMemoryDeduper makes it.
type MemoryDeduper struct {
	mu      sync.Mutex
	busy    map[hashKey]struct{}
	handled boundedMap[struct{}]
}

// defaultRemembered is more than the notifications that come in 30 minutes at 30 a second.
const defaultRemembered = 1 << 16

// NewMemoryDeduper returns a MemoryDeduper for the last n events, some 100 bytes each; zero or less means 65,536.
func NewMemoryDeduper(n int) *MemoryDeduper {
	if n <= 0 {
		n = defaultRemembered
	}
	return &MemoryDeduper{busy: map[hashKey]struct{}{}, handled: newBoundedMap[struct{}](n)}
}

// Claim never fails.
func (d *MemoryDeduper) Claim(_ context.Context, key string) (ClaimResult, error) {
	k := newHashKey(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, handled := d.handled.get(k); handled {
		return ClaimHandled, nil
	}
	if _, busy := d.busy[k]; busy {
		return ClaimBusy, nil
	}
	d.busy[k] = struct{}{}
	return ClaimFresh, nil
}

// Done never fails.
func (d *MemoryDeduper) Done(_ context.Context, key string, handled bool) error {
	k := newHashKey(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, k)
	if handled {
		d.handled.put(k, struct{}{})
	}
	return nil
}

func (d *MemoryDeduper) isHandled(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, handled := d.handled.get(newHashKey(key))
	return handled
}
