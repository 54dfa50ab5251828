package match

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// Earlier is what was open at the end of an earlier month, and what it is now: Class is empty if both sides agree, or if the
// differences of the period have it, otherwise timing or unchecked if it is still open, otherwise that of a difference.
type Earlier struct {
	*Difference
	Was        Class
	IsOfPeriod bool // the differences of the period have it
}

// IsOpen reports whether it is still open.
func (e *Earlier) IsOpen() bool { return e.Class == ClassTiming || e.Class == ClassUnchecked }

// EarlierNow counts what has become of what was open at the end of earlier months. Differences that are known are settled.
func (s *Summary) EarlierNow() (settled, open, differences int) {
	for i := range s.Earlier {
		switch e := &s.Earlier[i]; {
		case e.IsOpen():
			open++
		case e.Class == "" || e.Known:
			settled++
		default:
			differences++
		}
	}
	return settled, open, differences
}

// earlier is the entry of an earlier month that is being looked at again.
type earlier struct {
	books.OpenItem
	rows       []books.Row
	lines      []books.Line // of the list, or of that of the earlier month if it has none
	isOfPeriod bool
}

// readEarlier reads what was open at the end of earlier months.
func (k *kindMatcher) readEarlier() error {
	if k.Month.IsZero() {
		return nil
	}
	months, err := k.books.Months(k.ctx, k.kind)
	if err != nil {
		return err
	}
	k.months, k.earlier = months, map[string]*earlier{}
	for o, err := range k.books.OpenBefore(k.ctx, k.kind, k.Month.From) {
		switch {
		case err != nil:
			return err
		case k.earlier[o.ID] != nil:
			k.repeated = append(k.repeated, o)
		default:
			k.earlier[o.ID] = &earlier{OpenItem: o, lines: o.Lines}
		}
	}
	return nil
}

// lookAgain notes the rows and lines with the ID of an entry of an earlier month. If the list has no line with it, it returns those of
// the list of that month: the row may belong to this one.
func (k *kindMatcher) lookAgain(rows []books.Row, lines []books.Line) []books.Line {
	if len(k.earlier) == 0 {
		return lines
	}
	e := k.earlier[(&pair{rows: rows, lines: lines}).id()]
	if e == nil {
		return lines
	}
	if len(lines) == 0 {
		lines = append(lines, e.Lines...)
		month := Span{From: e.Month, To: k.endOf(e.Month)}
		inMonth := slices.IndexFunc(rows, func(r books.Row) bool { return isApproved(r) && month.holds(r.At) })
		for i := range lines { // one without a time is of a row of that month, if there is one
			if lines[i].At.IsZero() && inMonth >= 0 {
				lines[i].At = rows[inMonth].At
			}
		}
	}
	e.rows, e.lines = slices.Clone(rows), slices.Clone(lines)
	return lines
}

// monthBefore returns the start of the month before this one, or zero if it was not compared.
func (k *kindMatcher) monthBefore() time.Time {
	for _, m := range k.months {
		if m.To.Equal(k.Month.From) {
			return m.From
		}
	}
	return time.Time{}
}

// endOf returns the end of a month that was compared.
func (k *kindMatcher) endOf(month time.Time) time.Time {
	i := slices.IndexFunc(k.months, func(m books.Month) bool { return m.From.Equal(month) })
	if i < 0 {
		return month
	}
	return k.months[i].To
}

// mayBeNext reports whether the other side of the carried entry may be in the list of a month that was not compared: the one before its own,
// or the one after it.
func (k *kindMatcher) mayBeNext(t time.Time) bool {
	from, to := k.carried.Month, k.endOf(k.carried.Month)
	if !from.Before(to) {
		return false
	}
	hasBefore := slices.ContainsFunc(k.months, func(m books.Month) bool { return m.To.Equal(from) })
	hasAfter := to.Equal(k.Month.From) || slices.ContainsFunc(k.months, func(m books.Month) bool { return m.From.Equal(to) })
	return !hasBefore && t.Before(from.Add(k.Grace)) || !hasAfter && !t.Before(to.Add(-k.Grace))
}

// reachesOn reports whether a row or a line of a difference belongs to a later period.
func (k *kindMatcher) reachesOn(d *Difference) bool {
	return slices.ContainsFunc(d.Gateway, func(r books.Row) bool { return !r.At.Before(k.Period.To) }) ||
		slices.ContainsFunc(d.Books, func(l books.Line) bool { return !l.At.Before(k.Period.To) })
}

// isKept reports whether the comparison of the month is kept: not with the list of another month, which was read last.
func (k *kindMatcher) isKept() bool {
	return !k.Month.IsZero() && k.list.Read && (k.list.Span.IsZero() || k.list.Span.Overlaps(k.Month))
}

// keepOpen notes what is open at the end of the month.
func (k *kindMatcher) keepOpen(d *Difference) {
	switch {
	case !k.isKept() || d.Known:
	case k.summary.Kept == books.MostOpen:
		k.summary.NotKept++
	default:
		k.summary.Kept++
		k.open = append(k.open, books.OpenItem{
			Kind: k.kind, ID: d.ID, Class: string(d.Class), Currency: d.Currency, Value: d.Value, At: d.At, Lines: d.Books,
		})
	}
}

// keep classifies what was open at the end of earlier months, and records the result and what is open at the end of this one.
func (m *matcher) keep(kinds ...*kindMatcher) error {
	var months []books.Month
	var open, still, closed []books.OpenItem
	for _, k := range kinds {
		if !k.isKept() {
			continue
		}
		months = append(months, books.Month{Kind: k.kind, From: m.Month.From, To: m.Month.To})
		open = append(open, k.open...)
		closed = append(closed, k.repeated...)
		var all []*earlier
		for _, e := range k.earlier {
			all = append(all, e)
		}
		slices.SortFunc(all, func(a, b *earlier) int { return cmp.Or(a.Month.Compare(b.Month), strings.Compare(a.ID, b.ID)) })
		for _, e := range all {
			now, err := k.classifyAgain(e)
			if err != nil {
				return err
			}
			m.summary.Earlier = append(m.summary.Earlier, now)
			if now.IsOpen() {
				still = append(still, e.OpenItem)
			} else {
				closed = append(closed, e.OpenItem)
			}
		}
	}
	return m.books.KeepMonth(m.ctx, months, open, still, closed)
}

// classifyAgain classifies an entry of an earlier month by what both sides have now.
func (k *kindMatcher) classifyAgain(e *earlier) (Earlier, error) {
	now := Earlier{Was: Class(e.Class), IsOfPeriod: e.isOfPeriod}
	var d *Difference
	if !e.isOfPeriod && len(e.rows)+len(e.lines) > 0 {
		if p := newPair(k.kind, e.rows, e.lines); !k.isTest(p) {
			k.carried = e
			if d = k.class(p); d == nil {
				d = k.laterChargeAgain(p, e)
			}
			k.carried = nil
		}
	}
	isDifference := d != nil
	if !isDifference {
		d = &Difference{Currency: e.Currency, Value: e.Value, At: e.At}
	}
	if k.kind == books.Refund {
		d.Class = ofRefund(d.Class)
	}
	d.Kind, d.ID, d.Gateway, d.Books, d.Since = k.kind, e.ID, e.rows, e.lines, e.Month
	now.Difference = d
	if !isDifference {
		return now, nil
	}
	d.Known, d.Reason = k.Known.covers(d)
	return now, k.Found(d)
}
