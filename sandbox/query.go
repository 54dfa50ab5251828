package sandbox

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// query is a valid batch query.
type query struct {
	uniqueID, orderID, transactionID, refundTransactionID, refundUniqueID string

	from, to       int64 // wall-clock seconds as if they were UTC, both inclusive
	page, pageSize int
	pageText       string // currPage as received, which may be larger than any integer
}

// filtered reports whether the query has an id.
func (q query) filtered() bool {
	return q.uniqueID+q.orderID+q.transactionID+q.refundTransactionID+q.refundUniqueID != ""
}

// parseQuery reads the parameters of a batch query, and returns all problems.
func parseQuery(op Operation, values url.Values, b SearchBehavior, maxPageSize int) (query, []string) {
	p := &parameters{values: values}
	q := query{uniqueID: p.text("uniqueId", 128), transactionID: p.text("transactionId", 128)}
	if op == OpSearchOrders {
		q.orderID = p.text("orderId", 128)
	} else {
		q.refundTransactionID, q.refundUniqueID = p.text("refundTransactionId", 128), p.text("refundUniqueId", 128)
	}
	start, _ := p.time("startDate")
	end, dateOnly := p.time("endingDate")
	q.page = p.number("currPage", 20, 1)
	q.pageText = cmp.Or(strings.TrimLeft(values.Get("currPage"), "0"), "1")
	q.pageSize = p.number("pageSize", 3, defaultPageSize)
	if b.RefuseLargePages && q.pageSize > maxPageSize {
		p.problem("pageSize", fmt.Sprintf("more than %d", maxPageSize))
	}
	q.pageSize = min(q.pageSize, maxPageSize)
	if len(p.problems) > 0 {
		return q, p.problems
	}
	switch {
	case end.Before(start):
		p.problem("endingDate", "before startDate")
	case b.WideRangeWithID && q.filtered():
	case end.After(oneMonthAfter(start)), b.MaxRange > 0 && end.Sub(start) > b.MaxRange:
		p.problem("endingDate", "the range exceeds one month")
	}
	if dateOnly && b.EndDateWholeDay {
		end = end.Add((day - 1) * time.Second)
	}
	q.from, q.to = start.Unix(), end.Unix()
	if b.StartExclusive {
		q.from++
	}
	if b.EndExclusive {
		q.to--
	}
	return q, p.problems
}

// oneMonthAfter returns the same day of the next month, or the last day of that month if it has no such day.
func oneMonthAfter(t time.Time) time.Time {
	next := t.AddDate(0, 1, 0)
	if next.Day() != t.Day() {
		next = next.AddDate(0, 0, -next.Day())
	}
	return next
}

// parameters reads a query string and records problems.
type parameters struct {
	values   url.Values
	problems []string
}

func (p *parameters) problem(name, text string) { p.problems = append(p.problems, name+": "+text) }

func (p *parameters) text(name string, limit int) string {
	values := p.values[name]
	if len(values) > 1 {
		p.problem(name, "occurs twice")
		return ""
	}
	if len(values) == 0 {
		return ""
	}
	if utf8.RuneCountInString(values[0]) > limit {
		p.problem(name, fmt.Sprintf("longer than %d characters", limit))
	}
	return values[0]
}

// time reads a date, or a date and time, as if it were UTC.
func (p *parameters) time(name string) (_ time.Time, dateOnly bool) {
	s := p.text(name, 32)
	if s == "" {
		p.problem(name, "missing")
		return time.Time{}, false
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateTime, s)
	if err != nil || len(s) != len(time.DateTime) { // Parse accepts fractions of a second that are not in the layout
		p.problem(name, "not YYYY-MM-DD or YYYY-MM-DD HH:MM:SS")
	}
	return t, false
}

// number reads a positive number with a limited number of digits. Numbers too large for an int are reduced to the largest.
func (p *parameters) number(name string, digits, missing int) int {
	s := p.text(name, digits)
	if s == "" {
		return missing
	}
	if !money.IsDigits(s) || strings.Trim(s, "0") == "" {
		p.problem(name, "not a number above zero")
		return missing
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return math.MaxInt32
	}
	return min(n, math.MaxInt32)
}
