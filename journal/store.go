package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// Store stores entries. Package journaltest has a test suite that every implementation should pass.
//
// The methods must be safe for concurrent use and, if several processes share the store, for use by all of them. What a
// method has written must be durable when it returns without an error. After an error it may or may not have been written.
//
// The version of an entry is the length of its Evidence. Record and Ack take the version that their caller has read, as
// an optimistic lock: they change nothing if the entry has another version.
//
// For an entry that exists but cannot be read, every method that has to read it returns an *EntryError.
//
// A Key identifies a payment or a refund: store entries under the whole Key, or under the texts of its Shop and ID.
//
// Intent and Evidence have a JSON form, which keeps every member.
//
// A Journal gives each call a context with a deadline, which ends a moment before the Journal stops waiting: a store that observes
// it can say why it could not do more.
type Store interface {
	// Begin creates the entry of an intent and reports true, or returns the existing entry with this key, acknowledged or
	// not. Of any number of concurrent callers, exactly one creates it. If an intent with the same Sender is repeated after
	// an error, it may report true as long as the entry has no evidence.
	Begin(ctx context.Context, in Intent) (Entry, bool, error)
	// Get returns an entry, or ErrNoEntry.
	Get(ctx context.Context, key Key) (Entry, error)
	// Record appends evidence to an entry with this version; if it has another version, it returns ErrChanged. For an
	// unknown key it returns ErrNoEntry. If a submission with the same Sender is repeated after an error, it may return nil as long as that
	// is the latest evidence.
	Record(ctx context.Context, key Key, version int, ev Evidence) error
	// Ack acknowledges an entry with this version; if it has another version, it returns ErrChanged. If everything is
	// already acknowledged it does nothing, whatever the version. For an unknown key it returns ErrNoEntry.
	Ack(ctx context.Context, key Key, version int) error
	// Unacked yields every entry of a shop that is not acknowledged, oldest first: at least those that existed when
	// the loop began, each as it was within the last second. The store may be used within the loop. An entry that cannot
	// be read is yielded as an *EntryError; any other error ends the loop.
	Unacked(ctx context.Context, shop Shop) iter.Seq2[Entry, error]
}

// A Store can also have a method to delete old entries. Package journaltest tests one with this signature:
//
//	Forget(ctx context.Context, before time.Time) (int64, error)
//
// It must return the error of CheckForget, and delete only entries with Entry.MayForget. With a method
//
//	Shops(ctx context.Context) ([]Shop, error)
//
// that returns the shops which have entries, Run can warn of a shop that has another name than before.

// EntryError says that an entry exists but cannot be read: it was damaged, or written by a newer version of this
// package. Other entries are not affected. No payment is sent for it, because it may have been sent before.
type EntryError struct {
	Key   Key
	Cause error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("journal: the entry of %s of %q cannot be read: %v", e.Key.ID.describe(), e.Key.Shop, e.Cause)
}

// Unwrap returns the cause.
func (e *EntryError) Unwrap() error { return e.Cause }

// CheckForget returns an error for a time within the last 24 hours: a store must not forget what a running job may still repeat.
func CheckForget(before time.Time) error {
	if time.Since(before) < 24*time.Hour {
		return errors.New("journal: Forget takes a time at least 24 hours ago: a forgotten transactionId can be paid again")
	}
	return nil
}

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
		begun := newEntry(in)
		s.entries[in.Key()] = &begun
		e, created = begun, true
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
	return s.with(ctx, "Record", key, func(e *Entry) error { return e.record(version, ev) })
}

// Ack implements Store.
func (s *MemoryStore) Ack(ctx context.Context, key Key, version int) error {
	return s.with(ctx, "Ack", key, func(e *Entry) error { return e.ack(version) })
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
