package sandbox

import (
	"iter"
	"slices"
	"sort"
	"time"
)

// OrderIDs returns the uniqueId of every order that happened in [from, to) and not in the future, in no particular order. A
// complete walk over that range must find them, including those that are still hidden by a lag. Times count in whole
// seconds, as in searches.
func (g *Gateway) OrderIDs(from, to time.Time) iter.Seq[string] {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := []series{slices.Clone(g.ledger.orders)}
	for _, b := range g.ledger.generatedOrders {
		all = append(all, b)
	}
	return idsBetween(all, from, to)
}

// RefundIDs returns the refundUniqueIds of refunds, by the time of their request, as OrderIDs does for orders.
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

// wholeSecond rounds up: the responses have no fractions of a second, so a row in second s counts as at or after t only if
// s is.
func wholeSecond(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}
