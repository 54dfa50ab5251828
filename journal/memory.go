package journal

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"
)

// MemoryStore is a Store for tests. It is not durable: when the process ends it loses everything, including which payments
// may have been sent.
type MemoryStore struct {
	mu      sync.Mutex
	entries map[Key]*Entry
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return &MemoryStore{entries: make(map[Key]*Entry)} }

// Begin implements Store.
func (s *MemoryStore) Begin(ctx context.Context, in Intent) (Entry, bool, error) {
	if err := needContext(ctx, "Begin"); err != nil {
		return Entry{}, false, err
	}
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[in.Key()]; e != nil {
		return e.snapshot(), false, nil
	}
	e := newEntry(in)
	s.entries[in.Key()] = &e
	return e, true, nil
}

// Get implements Store.
func (s *MemoryStore) Get(ctx context.Context, key Key) (got Entry, err error) {
	err = s.with(ctx, "Get", key, func(e *Entry) error {
		got = e.snapshot()
		return nil
	})
	return got, err
}

// Record implements Store.
func (s *MemoryStore) Record(ctx context.Context, key Key, version int, ev Evidence) error {
	return s.with(ctx, "Record", key, func(e *Entry) error { return e.record(version, ev) })
}

// Ack implements Store.
func (s *MemoryStore) Ack(ctx context.Context, key Key, version int) error {
	return s.with(ctx, "Ack", key, func(e *Entry) error { return e.ack(version) })
}

func (s *MemoryStore) with(ctx context.Context, method string, key Key, do func(*Entry) error) error {
	if err := needContext(ctx, method); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil {
		return ErrNoEntry
	}
	return do(e)
}

// Unacked implements Store.
func (s *MemoryStore) Unacked(ctx context.Context, shop Shop) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := needContext(ctx, "Unacked"); err != nil {
			yield(Entry{}, err)
			return
		}
		for _, key := range s.keys(shop) {
			e, err := s.Get(ctx, key) // fails if the entry was forgotten meanwhile, or ctx ended
			if err == nil && e.Unacked() && !yield(e, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Entry{}, err)
		}
	}
}

// keys returns the keys of a shop's entries, oldest first.
func (s *MemoryStore) keys(shop Shop) []Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Entry
	for key, e := range s.entries {
		if key.Shop == shop {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *Entry) int { return byAge(*a, *b) })
	keys := make([]Key, len(all))
	for i, e := range all {
		keys[i] = e.Key()
	}
	return keys
}

// Forget deletes acknowledged payments and refunds of which everything was recorded before the given time, as
// Store.Forget of package sqlstore does.
func (s *MemoryStore) Forget(ctx context.Context, before time.Time) (n int64, err error) {
	if err := needContext(ctx, "Forget"); err != nil {
		return 0, err
	}
	if err := CheckForget(before); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.entries {
		if e.MayForget(before) {
			delete(s.entries, key)
			n++
		}
	}
	return n, nil
}
