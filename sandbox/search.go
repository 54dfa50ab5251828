package sandbox

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/hash"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/listing"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

// searches carries out the queries. Gateway.mu guards it.
type searches struct {
	Search
	opts   *Options
	ledger *ledger
	count  int // batch searches so far
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
	return jsonReply(o.code, codes.Message(o.code), s.opts.format(c.base).appendResult(jsonobject.New(), o, true))
}

// batch carries out a batch query.
func (s *searches) batch(c *call) reply {
	s.count++
	if every(s.BusyEvery, s.count) {
		answer := refusalWithStatus(http.StatusTooManyRequests, codes.RequestFailed, "too many requests")
		if s.BusyRetryAfter > 0 {
			answer = answer.withHeader("Retry-After", strconv.Itoa(int(s.BusyRetryAfter.Seconds())))
		}
		return answer
	}
	q, problems := parseQuery(c.op, c.query, s.Search, s.opts.MaxPageSize)
	if len(problems) > 0 {
		return s.opts.refusal(codes.ParameterError, strings.Join(problems, "; "))
	}
	if c.op == OpSearchRefunds {
		s.arriveRefunds(q)
		return s.page(c, q, s.ledger.refundSeries(q.IDs))
	}
	s.arriveOrders(q)
	return s.page(c, q, s.ledger.orderSeries(q.IDs))
}

// page returns the page that a batch query asks for, changed according to the settings.
func (s *searches) page(c *call, q query, found []series) reply {
	now := time.Now()
	l := s.list(found, q.from, q.to, now)
	refs := s.misbehave(c, q, l, s.rows(q, l, q.page))
	return envelope(q, l.Total(), refs, s.opts.format(c.base), now)
}

// envelope writes a page.
func envelope(q query, total int, refs []rowRef, format resultFormat, now time.Time) reply {
	o := append(make(jsonobject.Object, 0, 256+720*len(refs)), '{')
	o = o.Number("code", codes.SearchSuccess).Text("message", codes.Message(codes.SearchSuccess))
	o = o.Number("timestamp", now.UnixMilli()).Raw("currPage", q.pageText)
	o = o.Number("pageSize", int64(q.pageSize)).Number("totalCount", int64(total))
	o = o.Number("totalPage", int64((total+q.pageSize-1)/q.pageSize))
	o = append(o.Key("data"), '[')
	for i, r := range refs {
		if i > 0 {
			o = append(o, ',')
		}
		o = append(r.Series.appendRow(append(o, '{'), format, r.I), '}')
	}
	return jsonReply(codes.SearchSuccess, codes.Message(codes.SearchSuccess), append(o, ']'))
}

func every(n, count int) bool { return n > 0 && count%n == 0 }

// misbehave changes a page according to the settings.
func (s *searches) misbehave(c *call, q query, l *listing.Listing[series], refs []rowRef) []rowRef {
	switch n := s.count; {
	case every(s.EmptyEvery, n):
		refs = nil
	case every(s.ShortEvery, n):
		refs = refs[:len(refs)/2]
	case every(s.RepeatEvery, n) && q.page > 1:
		refs = s.rows(q, l, q.page-1)
	}
	if every(s.OutsideEvery, s.count) {
		if r, ok := s.outside(c.op, q); ok {
			refs = append(refs, r)
		}
	}
	if c.op == OpSearchOrders && q.TransactionID != "" && s.LeakRows > 0 {
		refs = append(s.others(q), refs...)
	}
	return refs
}

// outside returns a row that is older than the range of the query, if there is one.
func (s *searches) outside(op Operation, q query) (rowRef, bool) {
	all := s.ledger.orderSeries(generated.IDs{})
	if op == OpSearchRefunds {
		all = s.ledger.refundSeries(generated.IDs{})
	}
	for _, rows := range all {
		if i := listing.FirstAt(rows, q.from-2*day); i > 0 {
			return rowRef{Series: rows, I: i - 1}, true
		}
	}
	return rowRef{}, false
}

// others returns LeakRows orders of other transactions.
func (s *searches) others(q query) []rowRef {
	var refs []rowRef
	for _, rows := range s.ledger.orderSeries(generated.IDs{}) {
		for i := rows.Len() - 1; i >= 0 && len(refs) < s.LeakRows; i-- {
			if l, ok := rows.(orderList); ok && l[i].transactionID == q.TransactionID {
				continue
			}
			refs = append(refs, rowRef{Series: rows, I: i})
		}
	}
	return refs
}

// arriveOrders adds new orders just before a search is carried out.
func (s *searches) arriveOrders(q query) {
	for range s.Arrive {
		s.ledger.addOrder(s.arriving(q))
	}
}

func (s *searches) arriveRefunds(q query) {
	for range s.Arrive {
		o := s.arriving(q)
		s.ledger.addRefund(&refund{
			uniqueID: o.uniqueID, merchantRefundID: o.transactionID, amount: o.amount, currency: o.currency,
			code: codes.Refunded, requested: o.created, completed: o.created,
		})
	}
}

// arriving returns a generated order with the current time, or with a time in the range of the query.
func (s *searches) arriving(q query) *order {
	n := s.ledger.issued
	o := seededOrder(generated.Arriving(n))
	o.seeded = false // it is stored
	if s.ArriveInRange && q.to > q.from {
		wall := q.from + int64(hash.Of(s.opts.Seed, uint64(n), 7)%uint64(q.to-q.from+1))
		at := time.Unix(wall, 0).UTC()
		o.created = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, s.opts.Location)
	}
	return &o
}

// query is a valid batch query.
type query struct {
	generated.IDs

	from, to       int64 // wall-clock seconds as if they were UTC, both inclusive
	page, pageSize int
	pageText       string // currPage as received, which may be larger than any integer
}

const day = 24 * 60 * 60 // seconds

// parseQuery reads the parameters of a batch query, and returns all problems.
func parseQuery(op Operation, values url.Values, s Search, maxPageSize int) (query, []string) {
	p := params.Of(values)
	q := query{IDs: generated.IDs{UniqueID: p.Text("uniqueId", 128), TransactionID: p.Text("transactionId", 128)}}
	if op == OpSearchOrders {
		q.OrderID = p.Text("orderId", 128)
	} else {
		q.RefundTransactionID, q.RefundUniqueID = p.Text("refundTransactionId", 128), p.Text("refundUniqueId", 128)
	}
	start, _ := wallTime(p, "startDate")
	end, dateOnly := wallTime(p, "endingDate")
	q.page = positive(p, "currPage", 20, 1)
	q.pageText = cmp.Or(strings.TrimLeft(values.Get("currPage"), "0"), "1")
	q.pageSize = positive(p, "pageSize", 3, defaultPageSize)
	if s.RefuseLargePages && q.pageSize > maxPageSize {
		p.Problem("pageSize", fmt.Sprintf("more than %d", maxPageSize))
	}
	q.pageSize = min(q.pageSize, maxPageSize)
	if problems := p.Problems(); len(problems) > 0 {
		return q, problems
	}
	switch {
	case end.Before(start):
		p.Problem("endingDate", "before startDate")
	case s.WideRangeWithID && !q.None():
	case end.After(oneMonthAfter(start)), s.MaxRange > 0 && end.Sub(start) > s.MaxRange:
		p.Problem("endingDate", "the range exceeds one month")
	}
	if dateOnly && s.EndDateWholeDay {
		end = end.Add((day - 1) * time.Second)
	}
	q.from, q.to = start.Unix(), end.Unix()
	if s.StartExclusive {
		q.from++
	}
	if s.EndExclusive {
		q.to--
	}
	return q, p.Problems()
}

// oneMonthAfter returns the same day of the next month, or the last day of that month if it has no such day.
func oneMonthAfter(t time.Time) time.Time {
	next := t.AddDate(0, 1, 0)
	if next.Day() != t.Day() {
		next = next.AddDate(0, 0, -next.Day())
	}
	return next
}

// wallTime reads a date, or a date and time, as if it were UTC.
func wallTime(p *params.Reader, name string) (_ time.Time, dateOnly bool) {
	s := p.Text(name, 32)
	if s == "" {
		p.Problem(name, "missing")
		return time.Time{}, false
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateTime, s)
	if err != nil || len(s) != len(time.DateTime) { // Parse accepts fractions of a second that are not in the layout
		p.Problem(name, "not YYYY-MM-DD or YYYY-MM-DD HH:MM:SS")
	}
	return t, false
}

// positive reads a positive number with a limited number of digits. Numbers too large for an int are reduced to the largest.
func positive(p *params.Reader, name string, digits, missing int) int {
	s := p.Text(name, digits)
	if s == "" {
		return missing
	}
	if !money.IsDigits(s) || strings.Trim(s, "0") == "" {
		p.Problem(name, "not a number above zero")
		return missing
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return math.MaxInt32
	}
	return min(n, math.MaxInt32)
}
