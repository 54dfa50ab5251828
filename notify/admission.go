package notify

import (
	"errors"
	"sync"
	"time"
)

// admission bounds what notifications can cause: anybody who knows the URL can send any number of them. It admits one at a
// time for each transaction, a bounded number at once, and no more queries in any second than allowed. Its memory is
// bounded by what it has admitted.
type admission struct {
	mu      sync.Mutex
	active  map[string]struct{} // subjects that are being asked for or handled
	queries []time.Time         // when the last queries were reserved: a ring as long as the number allowed in a second
	oldest  int
}

const (
	defaultQueryRate = 10  // queries in any one second
	maxActive        = 128 // notifications that are being asked for or handled
)

func newAdmission(queriesPerSecond int) *admission {
	if queriesPerSecond <= 0 {
		queriesPerSecond = defaultQueryRate
	}
	queriesPerSecond = max(queriesPerSecond, maxQueries)
	return &admission{active: map[string]struct{}{}, queries: make([]time.Time, queriesPerSecond)}
}

var (
	errBusy = errors.New("notify: another notification about the same transaction is being handled")
	errFull = errors.New("notify: too many notifications at once")
	errRate = errors.New("notify: too many notifications to ask the gateway about them")
)

// admit admits a notification about a subject that needs the given number of queries. Whoever was admitted calls release.
func (a *admission) admit(subject string, queries int) (release func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, busy := a.active[subject]; busy {
		return nil, errBusy
	}
	if len(a.active) >= maxActive {
		return nil, errFull
	}
	if !a.reserve(time.Now(), queries) {
		return nil, errRate
	}
	a.active[subject] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.active, subject)
	}, nil
}

// reserve notes n queries at now, unless that would make more than a second may have.
func (a *admission) reserve(now time.Time, n int) bool {
	for i := range n {
		at := a.queries[(a.oldest+i)%len(a.queries)]
		if !at.IsZero() && now.Sub(at) < time.Second {
			return false
		}
	}
	for range n {
		a.queries[a.oldest] = now
		a.oldest = (a.oldest + 1) % len(a.queries)
	}
	return true
}
