package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/shopspring/decimal"
)

// shownRows keeps the differences that a page shows: the largest ones of each class, kind and currency.
type shownRows struct {
	most   int // maximum number of a group
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
	largest  []*match.Difference
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
	if g.largest = append(g.largest, d); len(g.largest) >= 2*r.most { // seldom, so that sorting takes little time
		g.keep(r.most)
	}
}

// keep sorts the differences, and drops all but the n largest.
func (g *group) keep(n int) {
	slices.SortFunc(g.largest, compare)
	g.largest = slices.Delete(g.largest, min(n, len(g.largest)), len(g.largest))
}

// compare orders differences of one group: by value, the largest first, then by id; lines that cannot be read by their number.
func compare(a, b *match.Difference) int {
	if a.Class == match.ClassUnreadable {
		return a.Books[0].Line - b.Books[0].Line
	}
	return cmp.Or(b.Value.Cmp(a.Value), strings.Compare(a.ID, b.ID))
}

// shown returns the largest rows of a group, the largest first, and the sum of the others.
func (r *shownRows) shown(g *group) (rows []*match.Difference, rest decimal.Decimal) {
	g.keep(r.most)
	rest = g.sum
	for _, d := range g.largest {
		rest = rest.Sub(d.Value)
	}
	return g.largest, rest
}
