package journal

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// soon is what a Run of this process does before its next list: what has changed is reported, and calls with an unknown outcome are
// queried. Its size is limited: what does not fit waits for the list.
type soon struct {
	wake chan struct{} // can be received from when there is something new

	mu      sync.Mutex
	changed map[ID]struct{}
	queries map[ID]dueQuery
}

// dueQuery is a query for a call of this process.
type dueQuery struct {
	id    ID
	at    time.Time
	pause time.Duration // before it
}

// maxSoon limits how many ids have changed, and how many queries are planned.
const maxSoon = 1000

func newSoon() soon {
	return soon{wake: make(chan struct{}, 1), changed: make(map[ID]struct{}), queries: make(map[ID]dueQuery)}
}

// change says that more is known of an entry.
func (s *soon) change(id ID) {
	s.mu.Lock()
	if len(s.changed) < maxSoon {
		s.changed[id] = struct{}{}
	}
	s.mu.Unlock()
	s.signal()
}

// takeChanged returns the entries that have changed, and forgets them.
func (s *soon) takeChanged() (ids []ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.changed {
		ids = append(ids, id)
	}
	clear(s.changed)
	slices.SortFunc(ids, byText) // an order that does not depend on that of a map
	return ids
}

// query plans a query. One that is planned already is not put off.
func (s *soon) query(id ID, pause time.Duration) {
	q := dueQuery{id, time.Now().Add(pause), pause}
	s.mu.Lock()
	before, planned := s.queries[id]
	if planned && q.at.Before(before.at) || !planned && len(s.queries) < maxSoon {
		s.queries[id] = q
	}
	s.mu.Unlock()
	s.signal()
}

// takeDue returns up to n queries that are due, the earliest first, and forgets them. It also returns when the next of the others is due, or
// a time in the far future.
func (s *soon) takeDue(now time.Time, n int) (due []dueQuery, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next = now.Add(time.Hour)
	for _, q := range s.queries {
		if q.at.After(now) {
			next = earlier(next, q.at)
		} else {
			due = append(due, q)
		}
	}
	slices.SortFunc(due, func(a, b dueQuery) int { return cmp.Or(a.at.Compare(b.at), byText(a.id, b.id)) })
	due = due[:min(max(n, 0), len(due))] // the others wait for one of those under way
	for _, q := range due {
		delete(s.queries, q.id)
	}
	return due, next
}

func (s *soon) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func byText(a, b ID) int { return cmp.Compare(a.String(), b.String()) }
