package sandbox

import "time"

// envelope writes the page of a batch query.
func (g *Gateway) envelope(c *call, q query, found []series) reply {
	now := time.Now()
	l := g.list(found, q.from, q.to, now)
	total := l.total()
	refs := g.misbehave(c, q, l, g.rows(q, l, q.page))
	o := object(make([]byte, 0, 256+720*len(refs)))
	o = append(o, '{')
	o = o.number("code", codeSearchSuccess).text("message", codeMessage(codeSearchSuccess))
	o = o.number("timestamp", now.UnixMilli()).number("currPage", int64(q.page))
	o = o.number("pageSize", int64(q.pageSize)).number("totalCount", int64(total))
	o = o.number("totalPage", int64((total+q.pageSize-1)/q.pageSize))
	o = append(o.key("data"), '[')
	for i, r := range refs {
		if i > 0 {
			o = append(o, ',')
		}
		o = append(r.rows.appendRow(g, append(o, '{'), c.base, r.i), '}')
	}
	return jsonReply(append(o, ']', '}'))
}

// rows returns one page of the listing.
func (g *Gateway) rows(q query, l listing, page int) []ref {
	start := (page - 1) * q.pageSize
	return l.page(start, start+q.pageSize, g.opts.Search.OldestFirst, g.tie)
}

// tie says which of the n rows of one second stands at place p: always the same, or with UnstableTies a different
// one in each request. The permutation p -> (step*p + start) mod n needs no memory.
func (g *Gateway) tie(wall int64, n, p int) int {
	if !g.opts.Search.UnstableTies || n < 2 {
		return p
	}
	h := mix(g.opts.Seed, uint64(g.searches), uint64(wall))
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
