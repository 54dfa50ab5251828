package sandbox

import (
	"sort"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/listing"
)

// list returns the rows that a query finds at now.
func (g *Gateway) list(all []series, from, to int64, now time.Time) *listing.Listing[series] {
	l := listing.New[series](from, to)
	for _, s := range all {
		settled, late := g.visible(s, now)
		l.Add(s, 0, settled, g.opts.Location)
		if late.Len() > 0 {
			l.Add(late, 0, late.Len(), g.opts.Location)
		}
	}
	return l
}

// visible returns which rows a query finds at now: those before index settled, which are older than the longest lag, and
// those in late, whose own lag is over.
func (g *Gateway) visible(s series, now time.Time) (settled int, late some) {
	b := g.opts.Search
	upTo := func(t time.Time) int {
		return sort.Search(s.Len(), func(i int) bool { return s.At(i).Unix() > t.Unix() })
	}
	settled = upTo(now)
	late.series = s
	if b.Lag <= 0 {
		return settled, late
	}
	end := settled
	settled = upTo(now.Add(-b.Lag).Add(-time.Second))
	for i := settled; i < end; i++ {
		if g.lagOf(s.uniqueID(i)) <= now.Sub(s.At(i)) {
			late.rows = append(late.rows, i)
		}
	}
	return settled, late
}

// lagOf is how long a row stays hidden.
func (g *Gateway) lagOf(uniqueID string) time.Duration {
	b := g.opts.Search
	if b.Lag <= 0 {
		return 0
	}
	h := hash(g.opts.Seed, hashText(uniqueID), 6)
	if b.LagOneIn > 1 && h%uint64(b.LagOneIn) != 0 {
		return 0
	}
	return time.Duration(hash(h, 0, 0) % uint64(b.Lag+1))
}

// rows returns one page of the listing.
func (g *Gateway) rows(q query, l *listing.Listing[series], page int) []rowRef {
	if page > l.Total()/q.pageSize+1 { // also prevents an overflow of the product on 32 bits
		return nil
	}
	start := (page - 1) * q.pageSize
	return l.Page(start, start+q.pageSize, g.opts.Search.OldestFirst, g.tie)
}

// tie returns which of the n rows of one second is at position p: always the same, or with UnstableTies a different one in
// each request. The permutation p -> (step*p + start) mod n needs no memory.
func (g *Gateway) tie(wall int64, n, p int) int {
	if !g.opts.Search.UnstableTies || n < 2 {
		return p
	}
	h := hash(g.opts.Seed, uint64(g.searches), uint64(wall))
	step := 1 + int(h%uint64(n))
	for gcd(step, n) != 1 {
		step++
	}
	return int((uint64(step)*uint64(p) + h>>32) % uint64(n))
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
