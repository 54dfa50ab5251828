package match

import (
	"cmp"
	"slices"
	"strings"
)

// comparison compares the payments or the refunds of both sides.
type comparison struct {
	classifier
	// several are the approved rows of any time, by ID, of ids that have several of them, one of which is in the window.
	several map[string][]Row
	later   [][]Line // lines without an approved row in the window; their rows are queried in batches in the whole copy
	rest    [][]Row  // their rows in the window
}

// compare finds the differences of one kind.
func (m *matcher) compare(s sides) error {
	c := &comparison{classifier: classifier{m, s}, several: map[string][]Row{}}
	window := Span{m.Period.From.Add(-m.Grace), m.Period.To.Add(m.Grace)}
	key := func(r *Row) string { return r.ID }
	for rows, err := range groups("repeated rows of the gateway", s.repeated, key) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(rows, func(r Row) bool { return r.At.IsZero() || window.holds(r.At) }) {
			c.several[rows[0].ID] = slices.Clone(rows)
		}
	}
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
			for i := range lines {
				c.skip(lines[i].At)
			}
			return nil
		}
		c.later, c.rest = append(c.later, slices.Clone(lines)), append(c.rest, slices.Clone(rows))
		if len(c.later) < batch {
			return nil
		}
		return c.lookUp()
	}
	if len(rows) > 0 {
		// One charge or refund of another period is enough for a difference. An id that several refunds share is compared with all
		// lines that have it.
		if all := c.several[rows[0].ID]; len(repeats(all)) > 0 || len(all) > 0 && len(lines) > 1 {
			rows = append(slices.DeleteFunc(slices.Clone(rows), isApproved), all...)
			slices.SortFunc(rows, byTime)
		}
	}
	return c.settle(rows, lines)
}

// byTime compares the times of two rows, or their ids if these are equal.
func byTime(a, b Row) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.UniqueID, b.UniqueID)) }

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
		slices.SortFunc(rows, byTime)
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
		if d != nil && c.kind == Refund {
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
