package journal

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// MemoryStore is a Store for tests and trials. It is not durable: it forgets everything when the process ends, and
// with it what the gateway may have been asked to charge.
type MemoryStore struct {
	mu      sync.Mutex
	entries map[string]*Entry
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return &MemoryStore{entries: make(map[string]*Entry)} }

// Begin implements Store.
func (s *MemoryStore) Begin(ctx context.Context, in Intent) (Entry, bool, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[in.TransactionID]; e != nil {
		return e.snapshot(), false, nil
	}
	e := newEntry(in)
	s.entries[in.TransactionID] = &e
	return e, true, nil
}

// Get implements Store.
func (s *MemoryStore) Get(ctx context.Context, transactionID string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[transactionID]
	if e == nil {
		return Entry{}, ErrNoEntry
	}
	return e.snapshot(), nil
}

// Record implements Store.
func (s *MemoryStore) Record(ctx context.Context, transactionID string, version int, ev Evidence) error {
	return s.change(ctx, transactionID, func(e *Entry) error { return e.record(version, ev) })
}

// Ack implements Store.
func (s *MemoryStore) Ack(ctx context.Context, transactionID string, version int) error {
	return s.change(ctx, transactionID, func(e *Entry) error {
		_, err := e.ack(version)
		return err
	})
}

func (s *MemoryStore) change(ctx context.Context, transactionID string, do func(*Entry) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[transactionID]
	if e == nil {
		return ErrNoEntry
	}
	return do(e)
}

// Unacked implements Store.
func (s *MemoryStore) Unacked(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s.mu.Lock()
		var all []Entry
		for _, e := range s.entries {
			if e.Unacked() {
				all = append(all, e.snapshot())
			}
		}
		s.mu.Unlock()
		slices.SortFunc(all, byAge)
		for _, e := range all {
			if err := ctx.Err(); err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
