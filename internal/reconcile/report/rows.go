package report

import (
	"container/heap"
	"slices"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/match"
	"github.com/shopspring/decimal"
)

// shownRows keeps the differences that a page shows: the largest ones of each class, kind and currency.
type shownRows struct {
	most   int // maximum number on the page
	groups []*group
}

// group contains the known or the other differences of one class, of payments or of refunds, in one currency.
type group struct {
	class    match.Class
	kind     books.Kind
	currency string
	known    bool
	rows     int
	sum      decimal.Decimal
	largest  smallestFirst
}

func (r *shownRows) add(d *match.Difference) {
	at := slices.IndexFunc(r.groups, func(g *group) bool {
		return g.class == d.Class && g.kind == d.Kind && g.currency == d.Currency && g.known == d.Known
	})
	if at < 0 {
		at = len(r.groups)
		r.groups = append(r.groups, &group{class: d.Class, kind: d.Kind, currency: d.Currency, known: d.Known})
	}
	g := r.groups[at]
	g.rows++
	g.sum = g.sum.Add(d.Value)
	if len(g.largest) < r.most {
		heap.Push(&g.largest, d)
	} else if r.most > 0 && before(d, g.largest[0]) {
		g.largest[0] = d
		heap.Fix(&g.largest, 0)
	}
}

// before orders differences of one group: by value, the largest first, then by line or id.
func before(a, b *match.Difference) bool {
	if a.Class == match.ClassUnreadable && a.Kind == b.Kind {
		return a.Books[0].Line < b.Books[0].Line
	}
	if byValue := a.Value.Cmp(b.Value); byValue != 0 {
		return byValue > 0
	}
	return a.ID < b.ID
}

// smallestFirst is a heap.
type smallestFirst []*match.Difference

func (h smallestFirst) Len() int           { return len(h) }
func (h smallestFirst) Less(i, j int) bool { return before(h[j], h[i]) }
func (h smallestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *smallestFirst) Push(d any)        { *h = append(*h, d.(*match.Difference)) }
func (h *smallestFirst) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	*h = (*h)[:last]
	return d
}

// share returns how many rows each group can show: all, or equal shares if there are too many.
func (r *shownRows) share() map[*group]int {
	parts, left := map[*group]int{}, r.most
	for left > 0 {
		given := 0
		for _, g := range r.groups {
			if parts[g] < len(g.largest) && given < left {
				parts[g]++
				given++
			}
		}
		if given == 0 {
			break
		}
		left -= given
	}
	return parts
}

// shown returns the n largest rows of a group, the largest first, and the sum of the others.
func (g *group) shown(n int) (rows []*match.Difference, rest decimal.Decimal) {
	rows = slices.Clone(g.largest)
	slices.SortFunc(rows, func(a, b *match.Difference) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
	rows, rest = rows[:min(n, len(rows))], g.sum
	for _, d := range rows {
		rest = rest.Sub(d.Value)
	}
	return rows, rest
}
