package match

import (
	"slices"
	"strings"
)

// comparison compares the payments or the refunds of both sides.
type comparison struct {
	classifier
	later [][]Line // lines without an approved row in the window; their rows are queried in batches in the whole copy
	rest  [][]Row  // their rows in the window
}

// compare finds the differences of one kind.
func (m *matcher) compare(s sides) error {
	c := &comparison{classifier: classifier{m, s}}
	window := Span{m.Period.From.Add(-m.Grace), m.Period.To.Add(m.Grace)}
	rows := func(yield func(Row, error) bool) {
		for row, err := range s.rows(m.ctx, window.From, window.To) {
			if err == nil && m.inPeriod(row.At) {
				m.summary.gateway(s.kind, &row)
				if s.kind == Payment { // countRefunds passed on the refunds
					m.Gateway(Payment, &row)
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
	key := func(r *Row) string { return r.ID }
	keyOfLine := func(l *Line) string { return l.ID }
	err := join(groups("rows of the gateway", rows, key), key, groups("lines of the list", s.lines, keyOfLine), keyOfLine, c.both)
	if err != nil {
		return err
	}
	return c.lookUp()
}

// both receives the rows in the window and the lines with one id. It must not keep the slices.
func (c *comparison) both(rows []Row, lines []Line) error {
	if len(lines) > 0 && !slices.ContainsFunc(rows, isApproved) {
		if len(rows) == 0 && !slices.ContainsFunc(lines, c.mayBeOfPeriod) {
			c.summary.Elsewhere += len(lines)
			return nil
		}
		c.later, c.rest = append(c.later, slices.Clone(lines)), append(c.rest, slices.Clone(rows))
		if len(c.later) < batch {
			return nil
		}
		return c.lookUp()
	}
	return c.settle(rows, lines)
}

// mayBeOfPeriod reports whether a line may belong to the period: its time is in it, or unknown.
func (c *comparison) mayBeOfPeriod(l Line) bool { return l.At.IsZero() || c.Period.holds(l.At) }

// lookUp queries the rows of the waiting lines in the whole copy, and settles them.
func (c *comparison) lookUp() error {
	if len(c.later) == 0 {
		return nil
	}
	ids := make([]string, len(c.later))
	for i, lines := range c.later {
		ids[i] = lines[0].ID
	}
	found, err := c.find(c.ctx, ids)
	if err != nil {
		return err
	}
	byID := make(map[string][]Row, len(ids))
	for _, row := range found {
		byID[row.ID] = append(byID[row.ID], row)
	}
	for i, lines := range c.later {
		rows := byID[ids[i]]
		if len(rows) == 0 {
			rows = c.rest[i]
		}
		slices.SortFunc(rows, func(a, b Row) int {
			if byTime := a.At.Compare(b.At); byTime != 0 {
				return byTime
			}
			return strings.Compare(a.UniqueID, b.UniqueID)
		})
		if err := c.settle(rows, lines); err != nil {
			return err
		}
	}
	c.later, c.rest = c.later[:0], c.rest[:0]
	return nil
}

// settle classifies one id and adds it to the totals.
func (c *comparison) settle(rows []Row, lines []Line) error {
	inPeriod := slices.ContainsFunc(rows, func(r Row) bool { return c.inPeriod(r.At) })
	ours := func(l Line) bool {
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
			c.summary.Elsewhere++
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
	if !isMarked {
		d := c.class(p)
		if d == nil && !atGateway.equal(inBooks) {
			d = &Difference{Class: Timing, Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At,
				Why: "recorded in different periods: " + c.onBothSides(p)}
		}
		if d != nil {
			d.Kind, d.ID, d.Gateway, d.Books = c.kind, p.id(), slices.Clone(rows), slices.Clone(lines)
			if c.kind == Refund {
				d.Class = ofRefund(d.Class)
			}
			var err error
			if marked, err = c.found(d); err != nil {
				return err
			}
		}
	}
	c.summary.step(c.kind, marked, atGateway, inBooks)
	return nil
}
