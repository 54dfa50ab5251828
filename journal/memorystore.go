package journal

import (
	"cmp"
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
	leases  map[Shop]memoryLease
}

type memoryLease struct {
	holder string
	until  time.Time
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore {
	return &MemoryStore{entries: make(map[Key]*Entry), leases: make(map[Shop]memoryLease)}
}

// Begin implements Store.
func (s *MemoryStore) Begin(ctx context.Context, in Intent) (e Entry, created bool, err error) {
	err = s.locked(ctx, "Begin", func() error {
		if existing := s.entries[in.Key()]; existing != nil {
			e = existing.snapshot()
			return nil
		}
		e, created = Entry{Begun: in, Acked: -1}, true
		s.entries[in.Key()] = new(e)
		return nil
	})
	return e, created, err
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
	return s.with(ctx, "Record", key, func(e *Entry) error {
		if e.Version() != version {
			return ErrChanged
		}
		e.Evidence = append(e.Evidence, ev)
		return nil
	})
}

// Ack implements Store.
func (s *MemoryStore) Ack(ctx context.Context, key Key, version int) error {
	return s.with(ctx, "Ack", key, func(e *Entry) error {
		switch {
		case !e.Unacked():
			return nil
		case e.Version() != version:
			return ErrChanged
		}
		e.Acked = version
		return nil
	})
}

func (s *MemoryStore) with(ctx context.Context, method string, key Key, do func(*Entry) error) error {
	return s.locked(ctx, method, func() error {
		e := s.entries[key]
		if e == nil {
			return ErrNoEntry
		}
		return do(e)
	})
}

// locked calls do with the store locked, unless ctx has ended.
func (s *MemoryStore) locked(ctx context.Context, method string, do func() error) error {
	if err := needContext(ctx, method); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return do()
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

// Shops returns the shops that have entries.
func (s *MemoryStore) Shops(ctx context.Context) (shops []Shop, err error) {
	err = s.locked(ctx, "Shops", func() error {
		for key := range s.entries {
			if !slices.Contains(shops, key.Shop) {
				shops = append(shops, key.Shop)
			}
		}
		slices.SortFunc(shops, func(a, b Shop) int { return cmp.Compare(a.String(), b.String()) })
		return nil
	})
	return shops, err
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
	slices.SortFunc(all, func(a, b *Entry) int { return cmp.Or(a.Begun.At.Compare(b.Begun.At), byText(a.ID(), b.ID())) })
	keys := make([]Key, len(all))
	for i, e := range all {
		keys[i] = e.Key()
	}
	return keys
}

// Forget deletes acknowledged payments and refunds of which everything was recorded before the given time, as
// Store.Forget of package sqlstore does.
func (s *MemoryStore) Forget(ctx context.Context, before time.Time) (n int64, err error) {
	err = s.locked(ctx, "Forget", func() error {
		if err := CheckForget(before); err != nil {
			return err
		}
		for key, e := range s.entries {
			if e.MayForget(before) {
				delete(s.entries, key)
				n++
			}
		}
		return nil
	})
	return n, err
}

// Lease implements LeaseStore.
func (s *MemoryStore) Lease(ctx context.Context, shop Shop, holder string, length time.Duration) (leasedTo string, err error) {
	err = s.withLease(ctx, "Lease", shop, func(l *memoryLease) {
		if now := time.Now(); l.holder == holder || !now.Before(l.until) || l.until.Sub(now) > 2*time.Minute {
			l.holder, l.until = holder, now.Add(length)
		}
		leasedTo = l.holder
	})
	return leasedTo, err
}

// Release implements LeaseStore.
func (s *MemoryStore) Release(ctx context.Context, shop Shop, holder string) error {
	return s.withLease(ctx, "Release", shop, func(l *memoryLease) {
		if l.holder == holder {
			l.until = time.Time{}
		}
	})
}

func (s *MemoryStore) withLease(ctx context.Context, method string, shop Shop, do func(*memoryLease)) error {
	return s.locked(ctx, method, func() error {
		l := s.leases[shop]
		do(&l)
		s.leases[shop] = l
		return nil
	})
}
