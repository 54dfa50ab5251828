package sandbox

import (
	"iter"
	"slices"
	"sort"
	"time"
)

// OrderIDs gives the uniqueId of every order that happened in [from, to) and not after now, in no particular order:
// what a complete walk over that range has to find, hidden by a lag or not. Times count in whole seconds, as
// they do in searches.
func (g *Gateway) OrderIDs(from, to time.Time) iter.Seq[string] {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := []series{slices.Clone(g.ledger.orders)}
	for _, b := range g.ledger.generatedOrders {
		all = append(all, b)
	}
	return idsBetween(all, from, to)
}

// RefundIDs is OrderIDs for the refundUniqueIds of refunds, by the time of their request.
func (g *Gateway) RefundIDs(from, to time.Time) iter.Seq[string] {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := []series{slices.Clone(g.ledger.refunds)}
	for _, b := range g.ledger.generatedRefunds {
		all = append(all, b)
	}
	return idsBetween(all, from, to)
}

func idsBetween(all []series, from, to time.Time) iter.Seq[string] {
	end := min(wholeSecond(to), time.Now().Unix()+1)
	return func(yield func(string) bool) {
		for _, s := range all {
			start := wholeSecond(from)
			i := sort.Search(s.Len(), func(i int) bool { return s.At(i).Unix() >= start })
			for ; i < s.Len() && s.At(i).Unix() < end; i++ {
				if !yield(s.uniqueID(i)) {
					return
				}
			}
		}
	}
}

// wholeSecond rounds up: a row in second s, whose fraction the wire does not show, is at or after t if s is.
func wholeSecond(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}
