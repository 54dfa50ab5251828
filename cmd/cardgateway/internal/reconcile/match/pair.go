package match

import (
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/recurring"
	"github.com/shopspring/decimal"
)

// pair contains the rows and lines with one id.
type pair struct {
	rows   []books.Row
	lines  []books.Line
	paid   []books.Row // the approved rows
	later  []books.Row // those after the first, if they can be the charges of one subscription
	row    *books.Row  // the row to compare: the last approved one, otherwise the last that is not declined, otherwise the last; nil if there is none
	booked string      // approved if any line is, otherwise a state that is not final, otherwise declined; empty if there are no lines

	currency string          // of the first line in that state
	sum      decimal.Decimal // of the lines in that state and currency
}

func newPair(kind books.Kind, rows []books.Row, lines []books.Line) *pair {
	p := &pair{rows: rows, lines: lines, paid: approvedOf(rows)}
	if kind == books.Payment && areCharges(p.paid) {
		p.later = p.paid[1:]
	}
	for i := range rows {
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
		if p.currency == "" && lines[i].State == p.booked {
			p.currency = lines[i].Currency
		}
		if p.isInSum(&lines[i]) {
			p.sum = p.sum.Add(lines[i].Amount)
		}
	}
	return p
}

// isInSum reports whether the amount of a line is in sum.
func (p *pair) isInSum(l *books.Line) bool { return l.State == p.booked && l.Currency == p.currency }

func (p *pair) id() string {
	if len(p.lines) > 0 {
		return p.lines[0].ID
	}
	return p.rows[0].ID
}

// areCharges reports whether approved payments with one id, oldest first, can be the charges of one subscription: of the same amount,
// and each so much later than the one before. The copy does not have the cycle, so the shortest one counts.
func areCharges(paid []books.Row) bool {
	for i := 1; i < len(paid); i++ {
		before, r := &paid[i-1], &paid[i]
		if before.At.IsZero() || r.At.Sub(before.At) < recurring.Gap("DAY") || r.Currency != before.Currency || !r.Amount.Equal(before.Amount) {
			return false
		}
	}
	return len(paid) > 1
}

// chargesIn returns the charges that satisfy a condition.
func chargesIn(charges []books.Row, holds func(*books.Row) bool) (in []books.Row) {
	for i := range charges {
		if holds(&charges[i]) {
			in = append(in, charges[i])
		}
	}
	return in
}

// nearest returns the index of the first row that is nearest to the time of a line. One that became final in this month is of this month, and half
// a month farther from a line of an earlier one, which may be of another row of that month.
func (k *kindMatcher) nearest(rows []books.Row, t time.Time) (nearest int) {
	month := k.monthOf(t)
	hasOther := slices.ContainsFunc(rows, func(r books.Row) bool { return !k.becameFinal(&r) && Span{month.From, month.To}.holds(r.At) })
	var least time.Duration
	for i := range rows {
		away := rows[i].At.Sub(t).Abs()
		if from := k.Period.From; rows[i].At.Before(from) && k.becameFinal(&rows[i]) {
			if !t.Before(from) {
				away = t.Sub(from)
			} else if hasOther {
				away += k.Period.To.Sub(from) / 2
			}
		}
		if i == 0 || away < least {
			nearest, least = i, away
		}
	}
	return nearest
}

// listed calls do with each approved line that has a time and its approved row: the one that is nearest to it in time, of those that no earlier
// line has. It returns the rows that are left, and how many approved lines have no time.
func (k *kindMatcher) listed(p *pair, do func(*books.Line, *books.Row)) (left []books.Row, untimed int) {
	left = slices.Clone(p.paid)
	lines := slices.Clone(p.lines)
	slices.SortStableFunc(lines, func(a, b books.Line) int { return a.At.Compare(b.At) })
	for i := range lines {
		switch line := &lines[i]; {
		case line.State != books.StateApproved:
		case line.At.IsZero():
			untimed++
		case len(left) > 0:
			i := k.nearest(left, line.At)
			row := left[i]
			do(line, &row)
			left = slices.Delete(left, i, i+1)
		}
	}
	return left, untimed
}

// repeats returns the approved rows with one id of a payment or refund after its first. Refunds of different payments may have the
// same id.
func repeats(rows []books.Row) (again []books.Row) {
	for i := range rows {
		if slices.ContainsFunc(rows[:i], func(r books.Row) bool { return r.Payment == rows[i].Payment }) {
			again = append(again, rows[i])
		}
	}
	return again
}

// once returns sum without the lines that are equal to an earlier one.
func (p *pair) once() (sum decimal.Decimal) {
	for i, line := range p.lines {
		isRepeated := func(l books.Line) bool {
			return l.State == line.State && l.Currency == line.Currency && l.Amount.Equal(line.Amount)
		}
		if p.isInSum(&line) && !slices.ContainsFunc(p.lines[:i], isRepeated) {
			sum = sum.Add(line.Amount)
		}
	}
	return sum
}

// currenciesDiffer compares the currencies of both sides, of lines as of rows only those that count: a declined attempt may have another one.
// The gateway may omit amount and currency of a declined payment.
func (p *pair) currenciesDiffer() bool {
	currency := p.row.Currency
	return currency != "" && (slices.ContainsFunc(p.lines, func(l books.Line) bool { return l.State == p.booked && l.Currency != currency }) ||
		slices.ContainsFunc(p.paid, func(r books.Row) bool { return r.Currency != currency }))
}

// atGateway returns the sum of the approved rows in the currency of p.row, or the amount of p.row if none is approved. Of the charges
// of a subscription, the lines need not have all: it is the sum of as many as the lines reach, and of one at least.
func (p *pair) atGateway() decimal.Decimal {
	if len(p.paid) == 0 {
		return p.row.Amount
	}
	if len(p.later) > 0 && len(p.lines) > 0 {
		sum := p.paid[0].Amount
		for i := 0; i < len(p.later) && !sum.Add(p.later[i].Amount).GreaterThan(p.sum); i++ {
			sum = sum.Add(p.later[i].Amount)
		}
		return sum
	}
	return sumOf(p.paid, p.row.Currency)
}

// sumOf adds up the rows in one currency.
func sumOf(rows []books.Row, currency string) (sum decimal.Decimal) {
	for i := range rows {
		if rows[i].Currency == currency {
			sum = sum.Add(rows[i].Amount)
		}
	}
	return sum
}

// weight orders states: approved, then those that are not final, then declined.
func weight(state string) int {
	switch state {
	case books.StateApproved:
		return 2
	case books.StateDeclined:
		return 0
	}
	return 1
}

// approvedOf returns the approved rows: the same slice if all are.
func approvedOf(rows []books.Row) []books.Row {
	if !slices.ContainsFunc(rows, func(r books.Row) bool { return !isApproved(r) }) {
		return rows
	}
	return chargesIn(rows, func(r *books.Row) bool { return isApproved(*r) })
}

func isApproved(r books.Row) bool { return r.State == books.StateApproved }
