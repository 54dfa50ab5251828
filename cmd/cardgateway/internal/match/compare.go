package match

import (
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// The states of rows.
const (
	approved   = "approved"
	declined   = "declined"
	processing = "processing"
	redirect   = "redirect"
)

// batch is how many ids are looked up at once.
const batch = 500

// comparison walks both sides of one kind.
type comparison struct {
	*matcher
	sides
	later [][]Line // lines whose row is not in the window: it is looked for in the whole copy, some at a time
	rest  [][]Row  // what the window has of them
}

// compare finds the differences of one kind.
func (m *matcher) compare(s sides) error {
	c := &comparison{matcher: m, sides: s}
	window := Span{m.Period.From.Add(-m.Grace), m.Period.To.Add(m.Grace)}
	rows := func(yield func(Row, error) bool) {
		for row, err := range s.rows(m.ctx, window.From, window.To) {
			if err == nil && m.inPeriod(row.At) {
				m.summary.gateway(s.kind, &row)
				if s.kind == Payment { // refunds were counted with their payments
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

// both gets what the two sides have of one id: of the gateway's side only what the window has. It may keep neither slice.
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

// mayBeOfPeriod reports whether a line is one of the period, as far as the line itself says.
func (c *comparison) mayBeOfPeriod(l Line) bool { return l.At.IsZero() || c.Period.holds(l.At) }

// lookUp looks in the whole copy for the rows of the lines that wait.
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

// pair is all that both sides have of one id.
type pair struct {
	rows   []Row
	lines  []Line
	paid   []Row  // those rows that are approved
	row    *Row   // the one that counts: approved, else in processing, else the last; nil if there is none
	booked string // the state of the lines; empty if there is none
	sum    decimal.Decimal
}

func newPair(rows []Row, lines []Line) *pair {
	p := &pair{rows: rows, lines: lines}
	for i := range rows {
		if rows[i].State == approved {
			p.paid = append(p.paid, rows[i])
		}
		if p.row == nil || weight(rows[i].State) >= weight(p.row.State) {
			p.row = &rows[i]
		}
	}
	for i := range lines {
		if p.booked == "" || weight(lines[i].State) > weight(p.booked) {
			p.booked = lines[i].State
		}
	}
	for i := range lines {
		if lines[i].State == p.booked {
			p.sum = p.sum.Add(lines[i].Amount)
		}
	}
	return p
}

// weight orders states: what is paid counts before what may be, and that before what is not.
func weight(state string) int {
	switch state {
	case approved:
		return 2
	case declined:
		return 0
	}
	return 1
}

func isApproved(r Row) bool { return r.State == approved }

// settle classes one id and adds it to the bridge.
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
				Why: "paid in one period and booked in another: " + c.onBothSides(p)}
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

func (p *pair) id() string {
	if len(p.lines) > 0 {
		return p.lines[0].ID
	}
	if id := p.rows[0].ID; id != "" {
		return id
	}
	return p.rows[0].UniqueID
}

// class finds the first class that fits. Nil means that the pair ties out.
func (c *comparison) class(p *pair) *Difference {
	switch {
	case c.kind == Payment && len(p.paid) > 1:
		return twoSuccesses(p)
	case len(p.lines) == 0:
		return c.missingHere(p)
	case p.row == nil:
		return c.missingThere(p)
	case p.currenciesDiffer():
		return &Difference{Class: Currency, Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At}
	case p.row.Currency != "" && !p.sum.Equal(p.atGateway()):
		return &Difference{Class: Amount, Currency: p.row.Currency, Value: p.sum.Sub(p.atGateway()).Abs(), At: p.row.At}
	}
	return c.state(p)
}

// currenciesDiffer compares what counts of the gateway with the lines. A gateway need not give the amount of what was declined.
func (p *pair) currenciesDiffer() bool {
	currency := p.row.Currency
	return currency != "" && (slices.ContainsFunc(p.lines, func(l Line) bool { return l.Currency != currency }) ||
		slices.ContainsFunc(p.paid, func(r Row) bool { return r.Currency != currency }))
}

// atGateway is the amount that the gateway has in the currency of the row that counts: all that is approved, or of that row.
func (p *pair) atGateway() decimal.Decimal {
	if len(p.paid) == 0 {
		return p.row.Amount
	}
	return sumOf(p.paid, p.row.Currency)
}

// sumOf adds up the rows in one currency.
func sumOf(rows []Row, currency string) (sum decimal.Decimal) {
	for i := range rows {
		if rows[i].Currency == currency {
			sum = sum.Add(rows[i].Amount)
		}
	}
	return sum
}

func twoSuccesses(p *pair) *Difference {
	currency := p.paid[0].Currency
	return &Difference{Class: TwoSuccesses, Currency: currency, Value: sumOf(p.paid[1:], currency), At: p.paid[1].At}
}

func (c *comparison) missingHere(p *pair) *Difference {
	if len(p.paid) == 0 {
		return nil
	}
	d := &Difference{Class: MissingHere, Currency: p.row.Currency, Value: p.atGateway(), At: p.paid[0].At}
	if c.atEdge(d.At, c.list) {
		d.Class, d.Why = Timing, "its line may be in a list that begins earlier or ends later; "+c.bothClocks(d.At)
	}
	return d
}

func (c *comparison) missingThere(p *pair) *Difference {
	if p.booked == declined {
		return nil // both say that nothing was paid
	}
	first := p.lines[0]
	d := &Difference{Class: MissingThere, Currency: first.Currency, Value: p.sum, At: first.At}
	d.Why = "looked for among all that the gateway has from " + c.clock(c.Copy.From) + " to " + c.clock(c.Copy.To)
	if !first.At.IsZero() && (first.At.Before(c.Copy.From.Add(c.Grace)) || !first.At.Before(c.Copy.To.Add(-c.Grace))) {
		d.Class = Timing
		d.Why += "; the payment may lie beyond; " + c.bothClocks(first.At)
	}
	return d
}

// state compares what both sides take a row for.
func (c *comparison) state(p *pair) *Difference {
	d := &Difference{Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At}
	if d.Currency == "" {
		d.Currency, d.Value = p.lines[0].Currency, p.sum
	}
	young := !p.row.At.Before(c.Copy.To.Add(-c.Grace))
	switch state := p.row.State; {
	case state == p.booked:
		return nil
	case state == approved, state == declined:
		d.Class = State
		if young && p.booked != approved && p.booked != declined {
			d.Class, d.Why = Timing, "it became final within the last "+hours(c.Grace)+"; "+c.bothClocks(p.row.At)
		}
	case state == redirect && p.booked == approved && !young:
		d.Class, d.Why = State, "the cardholder never finished it"
	case p.booked == approved, p.booked == declined:
		d.Class, d.Why = Timing, "the gateway has it as "+state+"; "+c.bothClocks(p.row.At)
	default:
		return nil // neither is final
	}
	return d
}

// onBothSides has the times of both sides.
func (c *comparison) onBothSides(p *pair) string {
	text := "at the gateway " + c.clock(p.row.At)
	if at := p.lines[0].At; !at.IsZero() {
		text += ", in your list " + c.clock(at)
	}
	return text
}

// clock has a time on the clock of the period.
func (m *matcher) clock(t time.Time) string {
	return t.In(m.Period.From.Location()).Format(time.DateTime)
}

// bothClocks has a time on the clock of the period and in UTC.
func (m *matcher) bothClocks(t time.Time) string {
	return m.clock(t) + ", in UTC " + t.UTC().Format(time.DateTime)
}

func hours(d time.Duration) string { return strings.TrimSuffix(d.String(), "0m0s") }
