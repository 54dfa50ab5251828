package match

import (
	"cmp"
	"context"
	"maps"
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

// earlier is the item of an earlier month that is being looked at again.
type earlier struct {
	books.KeptItem
	also       []books.KeptItem // those of later months with the same ID
	rows       []books.Row
	lines      []books.Line // of the list, or of that of the earlier months if it has none
	isOfPeriod bool
}

// readEarlier reads the months that were compared, and what was open at the end of earlier ones. What a later month than this one has
// closed is as it was.
func (k *kindMatcher) readEarlier() (err error) {
	if k.months, err = k.books.Months(k.ctx, k.kind); err != nil || k.Month.IsZero() {
		return err
	}
	k.earlier, k.became, k.was = map[string]*earlier{}, map[string]bool{}, map[string]string{}
	for o, err := range k.books.OpenItems(k.ctx, k.kind, k.Month.From) {
		if err != nil {
			return err
		}
		isOfLater := o.Closed.After(k.Month.From)
		for key, state := range o.Rows {
			if isOfLater {
				k.was[key] = state
			} else {
				k.became[key] = true
			}
		}
		switch e := k.earlier[o.ID]; {
		case o.Month.Equal(k.Month.From):
		case e != nil:
			e.also, e.lines = append(e.also, o), append(e.lines, o.Lines...)
		default:
			k.earlier[o.ID] = &earlier{KeptItem: o, lines: o.Lines}
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
		lines = append(lines, e.lines...)
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

// notFinal returns the rows of a month that is kept that are not final, and are still queried. They are told, with or without a line, and
// looked at again.
func (k *kindMatcher) notFinal(rows []books.Row) (open []books.Row) {
	if !k.isKept() {
		return nil
	}
	for i := range rows {
		r := &rows[i]
		isOld := !r.At.IsZero() && r.At.Before(k.Copy.To.Add(-books.AskFor))
		if !r.IsFinal() && k.inPeriod(r.At) && !k.became[r.Key()] && !isOld && (!r.Test || k.TestPayments) {
			open = append(open, *r)
		}
	}
	return open
}

// keepItem notes an id that does not tie out in the month.
func (k *kindMatcher) keepItem(p *pair, d *Difference, found finding, open []books.Row, isOpen bool) {
	switch {
	case !k.isKept():
		return
	case len(k.items) == books.MostKept:
		k.summary.NotKept++
		return
	case isOpen:
		k.summary.Kept++
	}
	item := books.KeptItem{Kind: k.kind, IsOpen: isOpen, ID: p.id(), Class: string(cmp.Or(found.class, ClassTiming)), Lines: slices.Clone(p.lines)}
	switch {
	case d != nil:
		item.Currency, item.Value, item.At = d.Currency, d.Value, d.At
	case p.row != nil:
		item.Currency, item.Value, item.At = p.row.Currency, p.row.Amount, p.row.At
	}
	if isOpen && len(open) > 0 {
		item.Rows = map[string]string{}
		for i := range open {
			item.Rows[open[i].Key()] = open[i].State
		}
	}
	k.items = append(k.items, item)
}

// lookBack classifies what was open at the end of earlier months, and prepares what Summary.Keep records.
func (m *matcher) lookBack(kinds ...*kindMatcher) error {
	var months []books.Month
	var items, closed []books.KeptItem
	for _, k := range kinds {
		if !k.isKept() {
			continue
		}
		month := books.Month{Kind: k.kind, From: m.Month.From, To: m.Month.To, Compared: m.Now, Seen: m.lastChange, Totals: []books.MonthTotal{}}
		for i := range m.summary.Bridges {
			if b := &m.summary.Bridges[i]; b.Kind == k.kind {
				month.Totals = append(month.Totals, books.MonthTotal{Currency: b.Currency, Gateway: b.Gateway, Books: b.Books})
			}
		}
		months = append(months, month)
		items = append(items, k.items...)
		all := slices.Collect(maps.Values(k.earlier))
		slices.SortFunc(all, func(a, b *earlier) int { return cmp.Or(a.Month.Compare(b.Month), strings.Compare(a.ID, b.ID)) })
		for _, e := range all {
			now, err := k.classifyAgain(e)
			if err != nil {
				return err
			}
			m.summary.Earlier = append(m.summary.Earlier, now)
			for _, o := range append(e.also, e.KeptItem) {
				if isOfLater := len(o.Rows) > 0 && o.Closed.After(m.Month.From); !now.IsOpen() && !isOfLater {
					closed = append(closed, o)
				}
			}
		}
	}
	m.summary.keep = func(ctx context.Context, isSigned bool) error {
		return m.books.KeepMonth(ctx, months, items, closed, isSigned)
	}
	return nil
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
		if d != nil && d.Class.isCounted() && d.Class == now.Was { // which that month has told
			d = nil
		}
	}
	if d == nil {
		d = k.stillOpen(e)
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

// stillOpen returns the difference for rows of an earlier month that are still not final, or nil. A payment that the cardholder did not
// complete is forgotten when it is queried no more.
func (k *kindMatcher) stillOpen(e *earlier) (d *Difference) {
	for i := range e.rows {
		r := &e.rows[i]
		isOld := !r.At.IsZero() && r.At.Before(k.Copy.To.Add(-books.AskFor))
		if r.IsFinal() || !k.became[r.Key()] && k.was[r.Key()] == "" || isOld && r.State == books.StateRedirect {
			continue
		}
		d = &Difference{Class: ClassTiming, Currency: r.Currency, Value: r.Amount, At: r.At, Why: "its state at the gateway is still " + r.State}
		if isOld {
			d.Class, d.Why = ClassState, d.Why+", and it is queried no more"
		}
	}
	return d
}

// Keep records the month that was compared: see Options.Month. If it was recorded before, its totals are replaced only if isSigned is set.
func (s *Summary) Keep(ctx context.Context, isSigned bool) error {
	if s.keep == nil {
		return nil
	}
	return s.keep(ctx, isSigned)
}
