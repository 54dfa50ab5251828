package sandbox

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

// query is a valid batch query.
type query struct {
	generated.IDs

	from, to       int64 // wall-clock seconds as if they were UTC, both inclusive
	page, pageSize int
	pageText       string // currPage as received, which may be larger than any integer
}

const day = 24 * 60 * 60 // seconds

// parseQuery reads the parameters of a batch query, and returns all problems.
func parseQuery(op Operation, values url.Values, opts *Options) (query, []string) {
	s := &opts.Search
	p := params.Of(values)
	q := query{IDs: generated.IDs{UniqueID: p.Text("uniqueId", 128), TransactionID: p.Text("transactionId", 128)}}
	if op == OpSearchOrders {
		q.OrderID = p.Text("orderId", 128)
	} else {
		q.RefundTransactionID, q.RefundUniqueID = p.Text("refundTransactionId", 128), p.Text("refundUniqueId", 128)
	}
	start := wallTime(p, "startDate")
	end := wallTime(p, "endingDate")
	q.page = positive(p, "currPage", 20, 1)
	q.pageText = cmp.Or(strings.TrimLeft(values.Get("currPage"), "0"), "1")
	q.pageSize = positive(p, "pageSize", 3, defaultPageSize)
	if s.RefuseLargePages && q.pageSize > opts.MaxPageSize {
		p.Problem("pageSize", fmt.Sprintf("more than %d", opts.MaxPageSize))
	}
	q.pageSize = min(q.pageSize, opts.MaxPageSize)
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
func wallTime(p *params.Reader, name string) time.Time {
	s := p.Text(name, 32)
	if s == "" {
		p.Problem(name, "missing")
		return time.Time{}
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t
	}
	t, err := time.Parse(time.DateTime, s)
	if err != nil || len(s) != len(time.DateTime) { // Parse accepts fractions of a second that are not in the layout
		p.Problem(name, "not YYYY-MM-DD or YYYY-MM-DD HH:MM:SS")
	}
	return t
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
