package sandbox

import (
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/listing"
)

func every(n, count int) bool { return n > 0 && count%n == 0 }

// misbehave changes a page according to the options.
func (g *Gateway) misbehave(c *call, q query, l *listing.Listing[series], refs []rowRef) []rowRef {
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
func (g *Gateway) outside(op Operation, q query) (rowRef, bool) {
	for _, s := range g.everything(op) {
		if i := listing.FirstAt(s, q.from-2*day); i > 0 {
			return rowRef{Series: s, I: i - 1}, true
		}
	}
	return rowRef{}, false
}

// others returns LeakRows orders of other transactions.
func (g *Gateway) others(q query) []rowRef {
	var refs []rowRef
	for _, s := range g.everything(OpSearchOrders) {
		for i := s.Len() - 1; i >= 0 && len(refs) < g.opts.Search.LeakRows; i-- {
			if l, ok := s.(orderList); ok && l[i].transactionID == q.transactionID {
				continue
			}
			refs = append(refs, rowRef{Series: s, I: i})
		}
	}
	return refs
}

func (g *Gateway) everything(op Operation) []series {
	if op == OpSearchRefunds {
		return g.ledger.matchingRefunds(query{})
	}
	return g.ledger.matchingOrders(query{})
}

// arriveOrders adds new orders just before a search is carried out.
func (g *Gateway) arriveOrders(q query) {
	for range g.opts.Search.Arrive {
		g.ledger.addOrder(g.arrived(q))
	}
}

func (g *Gateway) arriveRefunds(q query) {
	for range g.opts.Search.Arrive {
		o := g.arrived(q)
		g.ledger.addRefund(&refund{
			uniqueID: generatedID(prefixGeneratedOrder, seriesOfArrivals, g.ledger.issued), merchantRefundID: o.transactionID,
			amount: o.amount, currency: o.currency, code: codes.Refunded, requested: o.created, completed: o.created,
		})
	}
}

// arrived returns a generated order with the current time, or with a time in the range of the query.
func (g *Gateway) arrived(q query) *order {
	now := time.Now()
	n := g.ledger.issued
	o := (&generatedOrders{book: Arrivals{N: n + 1, From: now, To: now}, number: seriesOfArrivals, refundEvery: refundEvery}).order(n * refundEvery)
	o.created = now
	if g.opts.Search.ArriveInRange && q.to > q.from {
		wall := q.from + int64(hash(g.opts.Seed, uint64(n), 7)%uint64(q.to-q.from+1))
		at := time.Unix(wall, 0).UTC()
		o.created = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, g.opts.Location)
	}
	return o
}
