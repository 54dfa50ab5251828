package match

import (
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// apart returns the difference for an id whose rows and lines agree, but are in different periods. It is a timing difference if the dates
// are near each other, or if the other period left the id open; if it tied out there, it is listed twice; otherwise its date differs.
func (k *kindMatcher) apart(p *pair, isOurs func(books.Line) bool) (*Difference, error) {
	d := &Difference{Class: ClassTiming, Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At,
		Why: "recorded in different periods: " + k.onBothSides(p)}
	var l *books.Line
	var row *books.Row
	take := func(line *books.Line, r *books.Row) {
		if l == nil && p.isInSum(line) && isOurs(*line) != k.isOurs(r) {
			l, row = line, r
		}
	}
	if len(p.paid) == 1 { // whose lines are added up, and can have no time
		for i := range p.lines {
			take(&p.lines[i], &p.paid[0])
		}
	} else {
		k.listed(p, take)
	}
	isInProcessing := func(r books.Row) bool { return !r.IsFinal() && r.State != books.StateRedirect && k.inPeriod(r.At) }
	if l == nil || l.Earlier || slices.ContainsFunc(p.rows, isInProcessing) { // the line can be of that charge
		return d, nil
	}
	other, isRowOurs := row.At, k.isOurs(row)
	if isRowOurs {
		other = l.At
	}
	month := k.monthOf(other)
	if month.From.IsZero() {
		if l.At.IsZero() || distance(row.At, l) <= max(k.Grace, day) {
			return d, nil
		}
		d.Class = ClassDate
		return d, nil
	}
	items, err := k.books.KeptItems(k.ctx, k.kind, p.id())
	if err != nil {
		return nil, err
	}
	kept, isKept := items[month.From.Unix()]
	if !isRowOurs && ofRow(kept.Rows, row) != "" { // it counts in the month in which it became final
		month = k.monthOf(kept.Closed)
		_, isKept = items[month.From.Unix()]
	}
	listed := k.month(func(m books.Month) bool { // the row's or, if that did not have it, another one before this
		return (m.From.Before(k.Period.From) || m.From.Equal(month.From)) &&
			slices.ContainsFunc(items[m.From.Unix()].Lines, func(l books.Line) bool { return l.At.Before(m.To) && !k.Period.holds(l.At) })
	})
	if _, isChanged := k.changed[changeKey{month.From, p.id()}]; !isKept && !isChanged { // it tied out
		listed = month
	}
	switch {
	case !isRowOurs && !listed.From.IsZero():
		d.Class, d.Why = ClassListedTwice, "the list of "+listed.From.Format("January 2006")+" has it, too: "+k.onBothSides(p)
	case isRowOurs && !isKept && distance(row.At, l) > max(k.Grace, day):
		d.Class = ClassDate
	}
	return d, nil
}

// monthOf returns the month that holds a time, if it was compared and is not the one that is.
func (k *kindMatcher) monthOf(t time.Time) books.Month {
	return k.month(func(m books.Month) bool { return !m.From.Equal(k.Month.From) && Span{m.From, m.To}.holds(t) })
}

// distance returns how far a line is from a time.
func distance(t time.Time, l *books.Line) time.Duration {
	latest := l.Until
	if latest.Before(l.At) {
		latest = l.At
	}
	return max(l.At.Sub(t), t.Sub(latest), 0)
}
