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
	item, isKept, err := k.books.KeptItem(k.ctx, k.kind, month.From, p.id())
	if err == nil && !isRowOurs && item.Rows[row.Key()] != "" { // it counts in the month in which it became final
		month = k.monthOf(item.Closed)
		item, isKept, err = k.books.KeptItem(k.ctx, k.kind, month.From, p.id())
	}
	if err != nil {
		return nil, err
	}
	wasListed := slices.ContainsFunc(item.Lines, func(l books.Line) bool { return l.At.Before(month.To) && !k.Period.holds(l.At) })
	_, isChanged := k.changed[changeKey{month.From, p.id()}]
	switch {
	case !isRowOurs && !isChanged && (!isKept || wasListed):
		d.Class, d.Why = ClassListedTwice, "the list of "+month.From.Format("January 2006")+" has it, too: "+k.onBothSides(p)
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
