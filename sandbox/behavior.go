package sandbox

import "time"

// SearchBehavior says how the two batch searches, and for Lag and Latency also the single query, depart from
// what a client would hope for. The zero value is well-behaved: bounds are inclusive, the newest row comes
// first, rows of one second keep their order, and a row is found as soon as it exists. Everything here is
// something that the interface leaves open, or that gateways have been seen to do.
type SearchBehavior struct {
	StartExclusive  bool // leaves out rows in the very second of startDate
	EndExclusive    bool // leaves out rows in the very second of endingDate
	EndDateWholeDay bool // an endingDate without a time means the end of that day instead of its first second
	OldestFirst     bool // gives the oldest row first
	UnstableTies    bool // rows of one second change their order from request to request

	// Lag is the longest time after which a row is found by queries. Every row has its own lag up to this. A search
	// looks at each row that is younger, so keep it short with a dense book.
	Lag time.Duration
	// LagOneIn makes only one row in so many late. Zero and one mean every row.
	LagOneIn int

	// Arrive is how many orders (or refunds, when refunds are searched) come in just before each search
	// request is answered.
	Arrive int
	// ArriveInRange places the new rows somewhere in the range that is being searched instead of at now.
	ArriveInRange bool

	// Latency is how long each query takes.
	Latency time.Duration

	// MaxRange refuses a longer range, although it is within one month. Zero means one calendar month.
	MaxRange time.Duration
	// RefuseLargePages refuses a pageSize above Options.MaxPageSize instead of cutting it down.
	RefuseLargePages bool
	// LeakRows puts so many orders of other transactions in front of the rows of a search that is filtered
	// by transactionId.
	LeakRows int

	// Every so many search requests, counted over the life of the Gateway; zero means never.
	ShortEvery   int // half of the page's rows are missing
	EmptyEvery   int // all of them are
	RepeatEvery  int // the page before is given again
	OutsideEvery int // one row more, from outside the range
	BusyEvery    int // HTTP 429
	// BusyRetryAfter is the Retry-After of that 429, in whole seconds. Zero means no such header.
	BusyRetryAfter time.Duration
}

// SetSearchBehavior replaces Options.Search.
func (g *Gateway) SetSearchBehavior(b SearchBehavior) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opts.Search = b
}

func every(n, count int) bool { return n > 0 && count%n == 0 }

// misbehave does to a page what the options ask for.
func (g *Gateway) misbehave(c *call, q query, l listing, refs []ref) []ref {
	b := g.opts.Search
	switch n := g.searches; {
	case every(b.EmptyEvery, n):
		refs = nil
	case every(b.ShortEvery, n):
		refs = refs[:len(refs)/2]
	case every(b.RepeatEvery, n) && q.page > 1:
		refs = g.rows(q, l, q.page-1)
	}
	if every(b.OutsideEvery, g.searches) {
		if r, ok := g.outside(c.op, q); ok {
			refs = append(refs, r)
		}
	}
	if c.op == OpSearchOrders && q.transactionID != "" && b.LeakRows > 0 {
		refs = append(g.others(q), refs...)
	}
	return refs
}

// outside returns a row that is older than the range of the query, if there is one.
func (g *Gateway) outside(op Operation, q query) (ref, bool) {
	for _, s := range g.everything(op) {
		r := run{rows: s, hi: s.Len()}
		if i := r.find(q.from - 2*day); i > 0 {
			return ref{s, i - 1}, true
		}
	}
	return ref{}, false
}

// others returns LeakRows orders of other transactions.
func (g *Gateway) others(q query) []ref {
	var refs []ref
	for _, s := range g.everything(OpSearchOrders) {
		for i := s.Len() - 1; i >= 0 && len(refs) < g.opts.Search.LeakRows; i-- {
			if l, ok := s.(orderList); ok && l[i].transactionID == q.transactionID {
				continue
			}
			refs = append(refs, ref{s, i})
		}
	}
	return refs
}

func (g *Gateway) everything(op Operation) []series {
	if op == OpSearchRefunds {
		return g.matchingRefunds(query{})
	}
	return g.matchingOrders(query{})
}

// arriveOrders lets new orders come in just before a search is answered.
func (g *Gateway) arriveOrders(q query) {
	for range g.opts.Search.Arrive {
		g.ledger.addOrder(g.arrived(q))
	}
}

func (g *Gateway) arriveRefunds(q query) {
	for range g.opts.Search.Arrive {
		o := g.arrived(q)
		g.ledger.addRefund(&refund{
			uniqueID: bookID(prefixBookOrder, noBookYet, g.ledger.issued), merchantRefundID: o.transactionID,
			amount: o.amount, currency: o.currency, requested: o.created, completed: o.created,
		})
	}
}

// arrived makes up an approved order at now, or somewhere in the range of the query.
func (g *Gateway) arrived(q query) *order {
	now := time.Now()
	n := g.ledger.issued
	o := (&bookRows{book: Arrivals{N: n + 1, From: now, To: now}, number: noBookYet}).order(n * refundEvery)
	o.created = now
	if g.opts.Search.ArriveInRange && q.to > q.from {
		wall := q.from + int64(mix(g.opts.Seed, uint64(n), 7)%uint64(q.to-q.from+1))
		at := time.Unix(wall, 0).UTC()
		o.created = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, g.opts.Location)
	}
	return o
}
