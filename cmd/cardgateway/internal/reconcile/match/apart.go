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
	row := slices.IndexFunc(p.paid, func(r books.Row) bool { return !k.isOurs(&r) })
	line := slices.IndexFunc(p.lines, func(l books.Line) bool { return p.isInSum(&l) && isOurs(l) == (row >= 0) })
	if len(p.paid) == 0 || line < 0 || len(p.later) > 0 || p.lines[line].Earlier {
		return d, nil
	}
	l, other := &p.lines[line], p.lines[line].At
	if row >= 0 {
		other = p.paid[row].At
	}
	month := k.monthOf(other)
	if month.From.IsZero() {
		if l.At.IsZero() || distance(p.paid[max(row, 0)].At, l) <= max(k.Grace, day) {
			return d, nil
		}
		d.Class = ClassDate
		return d, nil
	}
	item, isKept, err := k.books.KeptItem(k.ctx, k.kind, month.From, p.id())
	if err != nil {
		return nil, err
	}
	wasListed := slices.ContainsFunc(item.Lines, func(l books.Line) bool { return l.At.IsZero() || !l.At.Before(month.From) && l.At.Before(month.To) })
	_, isChanged := k.changed[changeKey{month.From, p.id()}]
	switch {
	case row >= 0 && !isChanged && (!isKept || wasListed):
		d.Class, d.Why = ClassListedTwice, "the list of "+month.From.Format("January 2006")+" has it, too: "+k.onBothSides(p)
	case row < 0 && !isKept && distance(p.paid[0].At, l) > max(k.Grace, day):
		d.Class = ClassDate
	}
	return d, nil
}

// monthOf returns the month that holds a time, if it was compared and is not the one that is.
func (k *kindMatcher) monthOf(t time.Time) books.Month {
	for _, m := range k.months {
		if !m.From.Equal(k.Month.From) && !t.Before(m.From) && t.Before(m.To) {
			return m
		}
	}
	return books.Month{}
}

// distance returns how far a line is from a time.
func distance(t time.Time, l *books.Line) time.Duration {
	latest := l.Until
	if latest.Before(l.At) {
		latest = l.At
	}
	return max(l.At.Sub(t), t.Sub(latest), 0)
}
