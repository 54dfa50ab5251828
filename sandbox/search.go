package sandbox

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// search carries out a batch query.
func (g *Gateway) search(c *call) reply {
	g.delay()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	b := g.opts.Search
	g.searches++
	if every(b.BusyEvery, g.searches) {
		reply := refusal(codes.RequestFailed, "too many requests").withStatus(http.StatusTooManyRequests)
		if b.BusyRetryAfter > 0 {
			reply = reply.withHeader("Retry-After", strconv.Itoa(int(b.BusyRetryAfter.Seconds())))
		}
		return reply
	}
	q, problems := parseQuery(c.op, c.query, b, g.opts.MaxPageSize)
	if len(problems) > 0 {
		return g.refuse(codes.ParameterError, strings.Join(problems, "; "))
	}
	if c.op == OpSearchRefunds {
		g.arriveRefunds(q)
		return g.envelope(c, q, g.ledger.matchingRefunds(q))
	}
	g.arriveOrders(q)
	return g.envelope(c, q, g.ledger.matchingOrders(q))
}

// getOrder carries out the single query, whose only parameter is the uniqueId.
func (g *Gateway) getOrder(c *call) reply {
	g.delay()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	if len(c.query) > 0 {
		return g.refuse(codes.ParameterError, "no parameter but the uniqueId is accepted")
	}
	if utf8.RuneCountInString(c.pathParam) > 128 {
		return g.refuse(codes.ParameterError, "uniqueId: longer than 128 characters")
	}
	o := g.ledger.find(c.pathParam)
	if o == nil || time.Since(o.created) < g.lagOf(o.uniqueID) {
		return g.refuse(codes.NotFound, "uniqueId: unknown")
	}
	return jsonReply(g.format(c.base).appendResult(jsonobject.New(), o, true).End())
}

// delay waits for SearchBehavior.Latency. The caller must not hold g.mu.
func (g *Gateway) delay() {
	g.mu.Lock()
	latency := g.opts.Search.Latency
	g.mu.Unlock()
	g.pause(latency)
}

// envelope writes the page of a batch query.
func (g *Gateway) envelope(c *call, q query, found []series) reply {
	now := time.Now()
	l := g.list(found, q.from, q.to, now)
	total := l.Total()
	refs := g.misbehave(c, q, l, g.rows(q, l, q.page))
	o := jsonobject.Object(make([]byte, 0, 256+720*len(refs)))
	o = append(o, '{')
	o = o.Number("code", codes.SearchSuccess).Text("message", codes.Message(codes.SearchSuccess))
	o = o.Number("timestamp", now.UnixMilli()).Raw("currPage", q.pageText)
	o = o.Number("pageSize", int64(q.pageSize)).Number("totalCount", int64(total))
	o = o.Number("totalPage", int64((total+q.pageSize-1)/q.pageSize))
	o = append(o.Key("data"), '[')
	format := g.format(c.base)
	for i, r := range refs {
		if i > 0 {
			o = append(o, ',')
		}
		o = append(r.Series.appendRow(append(o, '{'), format, r.I), '}')
	}
	return jsonReply(append(o, ']', '}'))
}
