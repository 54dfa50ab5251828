package journal

import (
	"slices"
	"sync"
	"time"
)

// memory is what a Journal remembers about entries beside the store: a table of limited size. It has two generations: when
// the newer one is full, the older one is dropped. What is forgotten costs a query or a repeated report, and never a payment.
type memory struct {
	mu           sync.Mutex
	most         int // in a generation; zero means mostRemembered
	newer, older map[ID]remembered
	changes      int64 // how many changes of entries there were
	lost         int64 // changes when a generation was last dropped
	lastQueryErr error // of setQueryErr
}

const (
	mostRemembered = 64 << 10
	mostUnsent     = 16 // of one entry
)

// remembered is what is remembered about one entry. It is small, because there can be very many entries that are not final.
type remembered struct {
	// What was last returned to a caller: when it was sent, the state, and to the caller of a payment method also the intent.
	returned  bool
	intent    *Intent
	sentAt    int64 // the first time, in nanoseconds since 1970
	version   int32
	state     State
	sentAgain bool
	seen      bool // the gateway has shown it
	// Run has reported an entry without an outcome, and the merchant's function has returned nil: it is reported again only
	// when the version or the state is another one.
	stored bool

	asked        int64 // when the gateway was last queried, in nanoseconds since 1970; zero if it was not
	askedVersion int   // of the entry, at that time
	queryErr     error // of that query, if it failed

	changed int64     // the number of this process's latest change of the entry
	unsent  *[]string // senders of calls that ended before they sent anything
}

func (m *memory) get(id ID) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.lookUp(id)
	return r
}

// update changes what is remembered about an entry.
func (m *memory) update(id ID, change func(*remembered)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, isNewer := m.lookUp(id)
	change(&r)
	most := m.most
	if most == 0 {
		most = mostRemembered
	}
	if !isNewer && len(m.newer) >= most || m.newer == nil {
		if len(m.older) > 0 {
			m.lost = m.changes
		}
		m.newer, m.older = make(map[ID]remembered), m.newer
	}
	m.newer[id] = r
}

func (m *memory) lookUp(id ID) (r remembered, isNewer bool) {
	if r, isNewer = m.newer[id]; !isNewer {
		r = m.older[id]
	}
	return r, isNewer
}

// returned remembers what a caller is told about an entry. An older version never replaces a newer one.
func (m *memory) returned(e *Entry, known *projection) {
	m.update(e.ID(), func(r *remembered) { r.setReturned(e, known) })
}

// returnedByCall remembers what the caller of a payment method is told.
func (m *memory) returnedByCall(e *Entry, known *projection) {
	m.update(e.ID(), func(r *remembered) {
		r.setReturned(e, known)
		r.intent = new(known.intent)
	})
}

func (r *remembered) setReturned(e *Entry, known *projection) {
	version, state := int32(e.version()), known.current()
	if !r.returned || r.version <= version {
		r.stored = r.stored && r.version == version && r.state == state
		r.returned, r.version, r.state = true, version, state
		r.sentAt, r.sentAgain, r.seen = known.sentAt.UnixNano(), !known.once, known.shown()
	}
}

// setStored remembers that the merchant has stored what this version says.
func (m *memory) setStored(e *Entry) {
	m.update(e.ID(), func(r *remembered) { r.stored = r.stored || r.returned && r.version == int32(e.version()) })
}

// setChanged remembers that this process has changed an entry, or may have.
func (m *memory) setChanged(id ID) {
	m.update(id, func(r *remembered) {
		m.changes++
		r.changed = m.changes
	})
}

// changeCount returns how many changes there were, for changedSince.
func (m *memory) changeCount() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// changedSince reports whether this process may have changed an entry since then.
func (m *memory) changedSince(id ID, then int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.lookUp(id)
	return r.changed > then || m.lost > then
}

// due reports whether the last query was at least this long ago, or there was none. If so, it makes now the time of the last
// query.
func (m *memory) due(e *Entry, now time.Time, after time.Duration) (due bool) {
	m.update(e.ID(), func(r *remembered) {
		if due = r.asked == 0 || now.UnixNano()-r.asked >= int64(after); due {
			r.asked, r.askedVersion = now.UnixNano(), e.version()
		}
	})
	return due
}

// forgetQuery makes the next query due at once.
func (m *memory) forgetQuery(id ID) {
	m.update(id, func(r *remembered) { r.asked, r.askedVersion, r.queryErr = 0, 0, nil })
}

// setQueryErr remembers why the last query failed; nil means that it did not. When the gateway is down, the queries for very many
// entries fail alike: errors with the same text share one value.
func (m *memory) setQueryErr(id ID, err error) {
	m.update(id, func(r *remembered) {
		if err != nil && (m.lastQueryErr == nil || m.lastQueryErr.Error() != err.Error()) {
			m.lastQueryErr = err
		}
		if r.queryErr = nil; err != nil {
			r.queryErr = m.lastQueryErr
		}
	})
}

// addUnsent remembers that the call of a sender has sent nothing and will send nothing.
func (m *memory) addUnsent(id ID, sender string) {
	m.update(id, func(r *remembered) {
		senders := append(r.unsentSenders(), sender)
		senders = senders[max(0, len(senders)-mostUnsent):]
		r.unsent = &senders
	})
}

// unsentSenders returns the senders of calls that ended before they sent anything.
func (r *remembered) unsentSenders() []string {
	if r.unsent == nil {
		return nil
	}
	return slices.Clone(*r.unsent)
}
