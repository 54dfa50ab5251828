package cardgateway

import (
	"errors"
	"sync"
	"time"
)

// gate bounds what notifications can cause: anybody who knows the URL can send any number of them. It lets through
// one at a time for each transaction, a bounded number at once, and no more queries in any second than allowed. Its
// memory is bounded by what it let through.
type gate struct {
	mu      sync.Mutex
	inside  map[string]struct{} // ids that are being asked for or handled
	queries []time.Time         // of the last queries, a ring as long as the number allowed in a second
	oldest  int
}

const (
	defaultQueryRate = 10  // queries in any one second
	mostQueries      = 2   // that one notification needs
	maxInside        = 128 // notifications that are being asked for or handled
)

func newGate(queriesPerSecond int) *gate {
	if queriesPerSecond <= 0 {
		queriesPerSecond = defaultQueryRate
	}
	queriesPerSecond = max(queriesPerSecond, mostQueries)
	return &gate{inside: map[string]struct{}{}, queries: make([]time.Time, queriesPerSecond)}
}

var (
	errGateBusy = errors.New("cardgateway: another notification about the same transaction is being handled")
	errGateFull = errors.New("cardgateway: too many notifications at once")
	errGateRate = errors.New("cardgateway: too many notifications to ask the gateway about them")
)

// enter lets a notification about id in that needs the given number of queries. Whoever was let in calls leave.
func (g *gate) enter(id string, queries int) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, busy := g.inside[id]; busy {
		return nil, errGateBusy
	}
	if len(g.inside) >= maxInside {
		return nil, errGateFull
	}
	if !g.take(time.Now(), queries) {
		return nil, errGateRate
	}
	g.inside[id] = struct{}{}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.inside, id)
	}, nil
}

// take notes n queries at now, unless that would make more than a second may have.
func (g *gate) take(now time.Time, n int) bool {
	for i := range n {
		at := g.queries[(g.oldest+i)%len(g.queries)]
		if !at.IsZero() && now.Sub(at) < time.Second {
			return false
		}
	}
	for range n {
		g.queries[g.oldest] = now
		g.oldest = (g.oldest + 1) % len(g.queries)
	}
	return true
}
