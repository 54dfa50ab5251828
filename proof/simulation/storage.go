package simulation

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// medium is where the journals of all shops are: what survives a process.
type medium interface {
	open(p *process) *contacts // a process's own connection
	read() administered        // for the oracle, and the administrator
	replace() error            // with an empty one, for a restore
	damage(t *thing, repair bool) bool
	eachFile(func(name string, b []byte))
	end()
}

// administered is a store that no process has between itself and its caller.
type administered interface {
	journal.Store
	Forget(ctx context.Context, before time.Time) (int64, error)
}

// memory is a medium in memory.
type memory struct{ store *journal.MemoryStore }

func (m *memory) open(p *process) *contacts {
	if planted != nil {
		return &contacts{p: p, store: planted(m.store)}
	}
	return &contacts{p: p, store: m.store}
}

func (m *memory) read() administered { return m.store }

func (m *memory) damage(*thing, bool) bool { return false }

func (m *memory) replace() error {
	m.store = journal.NewMemoryStore()
	return nil
}

func (m *memory) eachFile(func(string, []byte)) {}

func (m *memory) end() {}

// planted changes the stores of processes, for tests of the oracle.
var planted func(journal.Store) journal.Store

var errStore = errors.New("the database failed")

// contacts is a process's store, whose every call is a contact with the outside. The clock of the process may be off: what
// it writes is shifted to the world's time, and what it reads to its own.
type contacts struct {
	p     *process
	store journal.Store
	db    *sql.DB // nil in memory
}

func (s *contacts) close() {
	if s.db != nil {
		_ = s.db.Close()
	}
}

// storeFails returns how the next call of the store fails, or "".
func (c *call) storeFails(what string) (how string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored++
	switch at := max(c.step.StoreAt, 1); c.step.Store {
	case "outage": // from then on
		if c.stored >= at {
			how = "before"
		}
	case "full": // it can be read, and takes no more evidence
		if c.stored >= at && strings.HasPrefix(what, "Record ") {
			how = "before"
		}
	default:
		if c.stored == at {
			how = c.step.Store
		}
	}
	c.troubled = c.troubled || how != ""
	return how
}

// errLocked is what the database says of a row that somebody else holds.
var errLocked = errors.New("lock wait timeout exceeded")

// waitForLock waits until nobody else holds the row of an entry, or ctx ends.
func (s *contacts) waitForLock(ctx context.Context, what string, key journal.Key) error {
	t := s.p.w.thingOfKey(key)
	if t == nil || !t.isLocked() {
		return nil
	}
	c := s.p.callOf(ctx)
	c.contact(what)
	c.mu.Lock()
	c.troubled = c.troubled || c.step.Do != "recover" // which is to tell all others
	c.mu.Unlock()
	if !wait(ctx, time.Until(t.lockedUntil)) {
		s.p.w.tell("%s: the row of %s is locked", s.p.name(), t.name())
		return errLocked
	}
	return nil
}

// disturbed makes one call of the store, unless it is to fail.
func disturbed[T any](s *contacts, ctx context.Context, what string, do func(context.Context) (T, error)) (got T, err error) {
	asked.Store(time.Now().UnixNano())
	c := s.p.callOf(ctx)
	c.contact(what)
	how := c.storeFails(what)
	if how == "before" {
		s.p.w.tell("%s: the store fails before %s", s.p.name(), what)
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
		s.p.w.tell("%s: the store hangs in %s", s.p.name(), what)
		if wait(ctx, 10*time.Minute) {
			return got, errStore
		}
		return got, context.Cause(ctx)
	}
	got, err = do(ctx)
	if how == "after" {
		s.p.w.tell("%s: the store fails after %s", s.p.name(), what)
		err = errStore
	}
	c.mayDie()
	return got, err
}

func (s *contacts) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	type begun struct {
		e  journal.Entry
		is bool
	}
	s.p.w.searchStored("an intent", &in)
	b, err := disturbed(s, ctx, "Begin "+in.ID.String(), func(ctx context.Context) (begun, error) {
		e, is, err := s.store.Begin(ctx, s.written(in))
		s.p.w.touch(in.Key())
		return begun{e, is}, err
	})
	return s.given(b.e), b.is, err
}

func (s *contacts) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	e, err := disturbed(s, ctx, "Get "+key.ID.String(), func(ctx context.Context) (journal.Entry, error) {
		return s.store.Get(ctx, key)
	})
	return s.given(e), err
}

func (s *contacts) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	s.p.w.searchStored("evidence", &ev)
	if err := s.waitForLock(ctx, "Record "+key.ID.String(), key); err != nil {
		return err
	}
	_, err := disturbed(s, ctx, "Record "+key.ID.String(), func(ctx context.Context) (struct{}, error) {
		err := s.store.Record(ctx, key, version, shiftEvidence(ev, s.p.settings.ClockAhead))
		s.p.w.touch(key)
		return struct{}{}, err
	})
	return err
}

func (s *contacts) Ack(ctx context.Context, key journal.Key, version int) error {
	if err := s.waitForLock(ctx, "Ack "+key.ID.String(), key); err != nil {
		return err
	}
	_, err := disturbed(s, ctx, "Ack "+key.ID.String(), func(ctx context.Context) (struct{}, error) {
		err := s.store.Ack(ctx, key, version)
		s.p.w.touch(key)
		return struct{}{}, err
	})
	return err
}

func (s *contacts) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if _, err := disturbed(s, ctx, "Unacked", func(context.Context) (struct{}, error) {
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
