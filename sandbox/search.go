package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/hash"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/listing"
)

// searches carries out the queries. Gateway.mu guards it.
type searches struct {
	*Search // of opts
	opts    *Options
	ledger  *ledger
	count   int // batch searches so far
}

// single carries out the query of one order, whose only parameter is the uniqueId.
func (s *searches) single(c *call) reply {
	if len(c.query) > 0 {
		return s.opts.refusal(codes.ParameterError, "no parameter but the uniqueId is accepted")
	}
	if utf8.RuneCountInString(c.pathParam) > 128 {
		return s.opts.refusal(codes.ParameterError, "uniqueId: longer than 128 characters")
	}
	o := s.ledger.find(c.pathParam)
	if o == nil || time.Since(o.created) < s.lagOf(o.uniqueID) {
		return s.opts.refusal(codes.NotFound, "uniqueId: unknown")
	}
	return jsonReply(o.code, c.format.appendResult(jsonobject.New(), o, true))
}

// batch carries out a batch query: it returns the page that is asked for, changed according to the settings.
func (s *searches) batch(c *call) reply {
	s.count++
	if every(s.BusyEvery, s.count) {
		answer := refusalWithStatus(http.StatusTooManyRequests, codes.RequestFailed, "too many requests")
		if s.BusyRetryAfter > 0 {
			answer = answer.withHeader("Retry-After", strconv.Itoa(int(s.BusyRetryAfter.Seconds())))
		}
		return answer
	}
	q, problems := parseQuery(c.op, c.query, s.opts)
	if len(problems) > 0 {
		return s.opts.refusal(codes.ParameterError, strings.Join(problems, "; "))
	}
	s.arrive(c.op)
	now := time.Now()
	l := s.list(c.op, q, now)
	refs := s.misbehave(c.op, q, l, s.rows(q, l, q.page))
	return envelope(q, l.Total(), refs, c.format, now)
}

func every(n, count int) bool { return n > 0 && count%n == 0 }

// arrive adds generated orders or refunds, which happen now, just before a search is carried out.
func (s *searches) arrive(op Operation) {
	for range s.Arrive {
		o := seededOrder(generated.Arriving(s.ledger.issued))
		o.seeded, o.appID = false, s.opts.AppID // it is stored
		if op == OpSearchOrders {
			s.ledger.addOrder(&o)
			continue
		}
		s.ledger.addRefund(&refund{
			uniqueID: o.uniqueID, merchantRefundID: o.transactionID, amount: o.amount, currency: o.currency,
			code: codes.Refunded, requested: o.created, completed: o.created,
		})
	}
}

// list returns the rows that a query finds at now.
func (s *searches) list(op Operation, q query, now time.Time) *listing.Listing {
	l := listing.New(q.from, q.to)
	for _, rows := range s.ledger.series(op, q.IDs) {
		complete, late := s.visible(rows, now)
		l.Add(rows, complete, s.opts.Location)
		l.Add(late, late.Len(), s.opts.Location)
	}
	return l
}

// visible returns which rows a query finds at now: those before index complete, which are older than the longest lag, and
// those in late, whose own lag is over.
func (s *searches) visible(rows series, now time.Time) (complete int, late some) {
	upTo := func(t time.Time) int { return listing.FirstAt(rows, t.Unix()+1) }
	complete = upTo(now)
	late.series = rows
	if s.Lag <= 0 {
		return complete, late
	}
	end := complete
	complete = upTo(now.Add(-s.Lag).Add(-time.Second))
	for i := complete; i < end; i++ {
		if s.lagOf(rows.UniqueID(i)) <= now.Sub(rows.At(i)) {
			late.rows = append(late.rows, i)
		}
	}
	return complete, late
}

// lagOf is how long a row stays hidden.
func (s *searches) lagOf(uniqueID string) time.Duration {
	if s.Lag <= 0 {
		return 0
	}
	h := hash.Of(s.opts.Seed, hash.Text(uniqueID), 6)
	if s.LagOneIn > 1 && h%uint64(s.LagOneIn) != 0 {
		return 0
	}
	return time.Duration(hash.Of(h, 0, 0) % uint64(s.Lag+1))
}

// rows returns one page of the listing.
func (s *searches) rows(q query, l *listing.Listing, page int) []listing.RowRef {
	if page > l.Total()/q.pageSize+1 { // also prevents an overflow of the product on 32 bits
		return nil
	}
	start := (page - 1) * q.pageSize
	return l.Page(start, start+q.pageSize, s.OldestFirst, s.tie)
}

// tie returns which of the n rows of one second is at position p: always the same, or with UnstableTies a different one in
// each request. The permutation p -> (step*p + start) mod n needs no memory.
func (s *searches) tie(wall int64, n, p int) int {
	if !s.UnstableTies || n < 2 {
		return p
	}
	h := hash.Of(s.opts.Seed, uint64(s.count), uint64(wall))
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

// envelope writes a page.
func envelope(q query, total int, refs []listing.RowRef, format resultFormat, now time.Time) reply {
	o := append(make(jsonobject.Object, 0, 256+720*len(refs)), '{')
	o = appendCode(o, codes.SearchSuccess).Number("timestamp", now.UnixMilli()).Raw("currPage", q.pageText)
	o = o.Number("pageSize", int64(q.pageSize)).Number("totalCount", int64(total))
	o = o.Number("totalPage", int64((total+q.pageSize-1)/q.pageSize))
	o = append(o.Key("data"), '[')
	for i, r := range refs {
		if i > 0 {
			o = append(o, ',')
		}
		o = append(r.Series.(series).appendRow(append(o, '{'), format, r.I), '}')
	}
	return jsonReply(codes.SearchSuccess, append(o, ']'))
}

// misbehave changes a page according to the settings.
func (s *searches) misbehave(op Operation, q query, l *listing.Listing, refs []listing.RowRef) []listing.RowRef {
	switch n := s.count; {
	case every(s.EmptyEvery, n):
		refs = nil
	case every(s.ShortEvery, n):
		refs = refs[:len(refs)/2]
	case every(s.RepeatEvery, n) && q.page > 1:
		refs = s.rows(q, l, q.page-1)
	}
	if every(s.OutsideEvery, s.count) {
		refs = append(refs, s.outside(op, q)...)
	}
	if op == OpSearchOrders && q.TransactionID != "" && s.LeakRows > 0 {
		refs = append(s.others(q), refs...)
	}
	return refs
}

// outside returns a row that is older than the range of the query, if there is one.
func (s *searches) outside(op Operation, q query) []listing.RowRef {
	for _, rows := range s.ledger.series(op, generated.IDs{}) {
		if i := listing.FirstAt(rows, q.from-2*day); i > 0 {
			return []listing.RowRef{{Series: rows, I: i - 1}}
		}
	}
	return nil
}

// others returns LeakRows orders of other transactions.
func (s *searches) others(q query) []listing.RowRef {
	var refs []listing.RowRef
	own := s.ledger.ordersOf(generated.IDs{TransactionID: q.TransactionID})
	for _, rows := range s.ledger.series(OpSearchOrders, generated.IDs{}) {
		end, _ := s.visible(rows, time.Now())
		for i := end - 1; i >= 0 && len(refs) < s.LeakRows; i-- {
			if !slices.ContainsFunc(own, func(o *order) bool { return o.uniqueID == rows.UniqueID(i) }) {
				refs = append(refs, listing.RowRef{Series: rows, I: i})
			}
		}
	}
	return refs
}
