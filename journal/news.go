package journal

import (
	"cmp"
	"slices"
	"sync"
)

// news is what the calls of this process have to say to its Run. Its size is limited.
type news struct {
	wake chan struct{} // can be received from when there is something new

	mu        sync.Mutex
	confirmed idSet // something was recorded that should be reported
	opened    idSet // a call has ended with an unknown outcome
	missed    bool  // something that was confirmed did not fit
}

// idSet is a set of at most mostNews ids.
type idSet map[ID]struct{}

// mostNews limits the ids of each set. What does not fit is found in the list of what is not acknowledged.
const mostNews = 1000

func newNews() news {
	return news{wake: make(chan struct{}, 1), confirmed: make(idSet), opened: make(idSet)}
}

func (n *news) confirm(id ID) {
	n.mu.Lock()
	n.missed = !n.confirmed.add(id) || n.missed
	n.mu.Unlock()
	n.signal()
}

func (n *news) open(id ID) {
	n.mu.Lock()
	n.opened.add(id)
	n.mu.Unlock()
	n.signal()
}

// miss says that there is something new that the news do not contain.
func (n *news) miss() {
	n.mu.Lock()
	n.missed = true
	n.mu.Unlock()
	n.signal()
}

func (n *news) signal() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// take returns the news, and forgets them.
func (n *news) take() (confirmed, opened []ID, missed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	confirmed, opened, missed = n.confirmed.take(), n.opened.take(), n.missed
	n.missed = false
	return confirmed, opened, missed
}

// add adds an id, and reports false if the set is full.
func (s idSet) add(id ID) bool {
	if _, known := s[id]; !known && len(s) >= mostNews {
		return false
	}
	s[id] = struct{}{}
	return true
}

// take returns the ids, and removes them.
func (s idSet) take() (ids []ID) {
	for id := range s {
		ids = append(ids, id)
	}
	clear(s)
	sortIDs(ids)
	return ids
}

// sortIDs puts ids into an order that does not depend on that of a map.
func sortIDs(ids []ID) {
	slices.SortFunc(ids, func(a, b ID) int { return cmp.Compare(a.String(), b.String()) })
}
