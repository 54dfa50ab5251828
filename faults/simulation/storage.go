package simulation

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// medium is where the journals of all shops are: what survives a process.
type medium interface {
	open(p *process) handle // a process's own connection
	read() journal.Store    // for the oracle
	forget(ctx context.Context, before time.Time) (int64, error)
	replace() error // with an empty one, for a restore
	damage(t *thing, repair bool) bool
	eachFile(func(name string, b []byte))
	end()
}

// handle is a process's store.
type handle interface {
	journal.Store
	close()
	kill()
}

// memory is a medium in memory.
type memory struct{ store *journal.MemoryStore }

func (m *memory) open(p *process) handle {
	if planted != nil {
		return &memoryHandle{contacts{p, planted(m.store)}}
	}
	return &memoryHandle{contacts{p, m.store}}
}
func (m *memory) read() journal.Store { return m.store }
func (m *memory) forget(ctx context.Context, before time.Time) (int64, error) {
	return m.store.Forget(ctx, before)
}
func (m *memory) damage(*thing, bool) bool { return false }

func (m *memory) replace() error {
	m.store = journal.NewMemoryStore()
	return nil
}
func (m *memory) eachFile(func(string, []byte)) {}

func (m *memory) end() {}

// planted changes the stores of processes, for tests of the oracle.
var planted func(journal.Store) journal.Store

type memoryHandle struct{ contacts }

func (memoryHandle) close() {}
func (memoryHandle) kill()  {}

var errStore = errors.New("the database failed")

// contacts is a store whose every call is a contact with the outside. The clock of the process may be off: what
// it writes is shifted to the world's time, and what it reads to its own.
type contacts struct {
	p     *process
	store journal.Store
}

// disturbed makes one call of the store, unless it is to fail.
func disturbed[T any](s *contacts, ctx context.Context, what func() string, do func(context.Context) (T, error)) (got T, err error) {
	c := s.p.callOf(ctx)
	c.contact(true, what)
	how := ""
	c.mu.Lock()
	c.stored++
	if c.step != nil && c.step.Store == "outage" && c.stored >= max(c.step.StoreAt, 1) { // from then on
		how, c.troubled = "before", true
	} else if c.step != nil && c.step.Store == "full" { // it can be read, and takes no more evidence
		if c.stored >= c.step.StoreAt && strings.HasPrefix(what(), "Record ") {
			how, c.troubled = "before", true
		}
	} else if c.step != nil && c.step.Store != "" && c.stored == max(c.step.StoreAt, 1) {
		how, c.troubled = c.step.Store, true
	}
	c.mu.Unlock()
	if how == "before" {
		s.p.w.tell("%s: the store fails before %s", s.p.name(), what())
		return got, errStore
	}
	if how == "late" { // it hangs, and does it when nobody waits any more
		time.AfterFunc(20*time.Second, func() {
			if !s.p.w.isOver() && !s.p.isDead() {
				_, _ = do(context.WithoutCancel(ctx)) // its caller has gone
			}
		})
	}
	if how == "hang" || how == "late" {
		s.p.w.tell("%s: the store hangs in %s", s.p.name(), what())
		timer := time.NewTimer(10 * time.Minute)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return got, context.Cause(ctx)
		case <-timer.C:
			return got, errStore
		}
	}
	got, err = do(ctx)
	if how == "after" {
		s.p.w.tell("%s: the store fails after %s", s.p.name(), what())
		err = errStore
	}
	c.contact(false, nil)
	return got, err
}

func (s *contacts) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	type begun struct {
		e  journal.Entry
		is bool
	}
	s.p.w.searchIntent(&in)
	b, err := disturbed(s, ctx, func() string { return "Begin " + in.ID.String() },
		func(ctx context.Context) (begun, error) {
			e, is, err := s.store.Begin(ctx, s.written(in))
			s.p.w.touch(in.Key())
			return begun{e, is}, err
		})
	return s.given(b.e), b.is, err
}

func (s *contacts) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	e, err := disturbed(s, ctx, func() string { return "Get " + key.ID.String() }, func(ctx context.Context) (journal.Entry, error) {
		return s.store.Get(ctx, key)
	})
	return s.given(e), err
}

func (s *contacts) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	s.p.w.searchEvidence(&ev)
	_, err := disturbed(s, ctx, func() string { return "Record " + key.ID.String() }, func(ctx context.Context) (struct{}, error) {
		err := s.store.Record(ctx, key, version, s.writtenEvidence(ev))
		s.p.w.touch(key)
		return struct{}{}, err
	})
	return err
}

func (s *contacts) Ack(ctx context.Context, key journal.Key, version int) error {
	_, err := disturbed(s, ctx, func() string { return "Ack " + key.ID.String() }, func(ctx context.Context) (struct{}, error) {
		err := s.store.Ack(ctx, key, version)
		s.p.w.touch(key)
		return struct{}{}, err
	})
	return err
}

func (s *contacts) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if _, err := disturbed(s, ctx, func() string { return "Unacked" }, func(context.Context) (struct{}, error) {
			return struct{}{}, nil
		}); err != nil {
			yield(journal.Entry{}, err)
			return
		}
		for e, err := range s.store.Unacked(ctx, shop) {
			if !yield(s.given(e), err) {
				return
			}
		}
	}
}
