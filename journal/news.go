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
	confirmed map[ID]struct{} // something was recorded that should be reported
	opened    map[ID]struct{} // a call has ended with an unknown outcome
	missed    bool            // something that was confirmed did not fit
}

// mostNews limits the ids of each kind. What does not fit is found in the list of what is not acknowledged.
const mostNews = 1000

func newNews() news {
	return news{wake: make(chan struct{}, 1), confirmed: make(map[ID]struct{}), opened: make(map[ID]struct{})}
}

func (n *news) confirm(id ID) {
	n.mu.Lock()
	n.missed = !addBounded(n.confirmed, id) || n.missed
	n.mu.Unlock()
	n.signal()
}

func (n *news) open(id ID) {
	n.mu.Lock()
	addBounded(n.opened, id)
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
	confirmed, opened, missed = takeAll(n.confirmed), takeAll(n.opened), n.missed
	n.missed = false
	return confirmed, opened, missed
}

func addBounded(set map[ID]struct{}, id ID) bool {
	if _, known := set[id]; !known && len(set) >= mostNews {
		return false
	}
	set[id] = struct{}{}
	return true
}

func takeAll(set map[ID]struct{}) (ids []ID) {
	for id := range set {
		ids = append(ids, id)
	}
	clear(set)
	sortIDs(ids)
	return ids
}

// sortIDs puts ids into an order that does not depend on that of a map.
func sortIDs(ids []ID) {
	slices.SortFunc(ids, func(a, b ID) int { return cmp.Compare(a.String(), b.String()) })
}
