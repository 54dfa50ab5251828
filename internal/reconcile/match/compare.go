package match

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// comparison compares the payments or the refunds of both sides.
type comparison struct {
	*matcher
	kind  books.Kind
	list  Span
	marks marks // by ID
}

// compare finds the differences, id by id.
func (c *comparison) compare() error {
	var rows []books.Row
	var lines []books.Line
	for entries, err := range groups("rows and lines", c.books.Entries(c.ctx, c.kind), (*books.Entry).ID) {
		if err != nil {
			return err
		}
		rows, lines = rows[:0], lines[:0]
		for i := range entries {
			if e := &entries[i]; e.IsLine() {
				lines = append(lines, e.Line)
			} else {
				rows = append(rows, e.Row)
				c.count(&e.Row)
			}
		}
		slices.SortFunc(rows, byTime)
		slices.SortFunc(lines, func(a, b books.Line) int { return a.Line - b.Line })
		if err := c.compareID(rows, lines); err != nil {
			return err
		}
	}
	return nil
}

// count adds a row of the period to the gateway's totals.
func (c *comparison) count(row *books.Row) {
	if !c.inPeriod(row.At) {
		return
	}
	c.summary.gateway(c.kind, row)
	if c.kind == books.Payment { // parents passes on the refunds
		c.Gateway(books.Payment, row)
	}
}

// compareID chooses the rows to compare among those with one id, of any time. It must not keep the slices.
func (c *comparison) compareID(rows []books.Row, lines []books.Line) error {
	near := rows // in the period, or not farther from it than the grace
	if slices.ContainsFunc(rows, c.isFar) {
		near = slices.DeleteFunc(slices.Clone(rows), c.isFar)
	}
	if len(near) == 0 && !slices.ContainsFunc(lines, c.mayBeOfPeriod) {
		for i := range lines {
			c.skip(lines[i].At)
		}
		return nil
	}
	if !slices.ContainsFunc(near, isApproved) {
		if len(lines) > 0 { // which say that it was paid at another time
			near = rows
		}
		return c.settle(near, lines)
	}
	// One charge or refund of another period is enough for a difference. An id that several refunds share is compared with all
	// lines that have it.
	paid := approvedOf(rows)
	if len(paid) > 1 && (len(lines) > 1 || len(repeats(paid)) > 0) {
		near = append(slices.DeleteFunc(slices.Clone(near), isApproved), paid...)
		slices.SortFunc(near, byTime)
	}
	return c.settle(near, lines)
}

// isFar reports whether a row is farther from the period than the grace. A row without a time is not.
func (c *comparison) isFar(r books.Row) bool {
	return !r.At.IsZero() && (r.At.Before(c.Period.From.Add(-c.Grace)) || !r.At.Before(c.Period.To.Add(c.Grace)))
}

// mayBeOfPeriod reports whether a line may belong to the period: its time is in it, or unknown.
func (c *comparison) mayBeOfPeriod(l books.Line) bool { return l.At.IsZero() || c.Period.holds(l.At) }

// byTime compares the times of two rows, or their ids if these are equal.
func byTime(a, b books.Row) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.UniqueID, b.UniqueID))
}

// settle classifies one id and adds it to the totals.
func (c *comparison) settle(rows []books.Row, lines []books.Line) error {
	inPeriod := slices.ContainsFunc(rows, func(r books.Row) bool { return c.inPeriod(r.At) })
	ours := func(l books.Line) bool {
		if l.At.IsZero() {
			return inPeriod || len(rows) == 0
		}
		return c.Period.holds(l.At)
	}
	p := newPair(rows, lines)
	atGateway, inBooks := totals{}, totals{}
	hasLine := false
	for i := range lines {
		if !ours(lines[i]) {
			c.skip(lines[i].At)
			continue
		}
		hasLine = true
		c.summary.Lines[c.kind]++
		if lines[i].State == approved {
			inBooks.add(lines[i].Currency, lines[i].Amount)
		}
	}
	hasRow := false
	for i := range p.paid {
		if c.inPeriod(p.paid[i].At) {
			hasRow = true
			atGateway.add(p.paid[i].Currency, p.paid[i].Amount)
		}
	}
	if !hasRow && !hasLine {
		return nil
	}
	marked, isMarked := c.marks[p.id()]
	if marked.class == Unreadable && len(lines) > 0 {
		marked, isMarked = mark{}, false // the other lines are compared
	}
	if !isMarked || marked.known { // a known difference hides only itself
		d := c.class(p)
		if d == nil && !atGateway.equal(inBooks) {
			d = &Difference{Class: Timing, Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At,
				Why: "recorded in different periods: " + c.onBothSides(p)}
		}
		if d != nil && c.kind == books.Refund {
			d.Class = ofRefund(d.Class)
		}
		if d != nil && d.Class != marked.class {
			d.Kind, d.ID, d.Gateway, d.Books = c.kind, p.id(), slices.Clone(rows), slices.Clone(lines)
			var err error
			if marked, err = c.found(d); err != nil {
				return err
			}
		}
	}
	c.summary.step(c.kind, marked, atGateway, inBooks)
	return nil
}
