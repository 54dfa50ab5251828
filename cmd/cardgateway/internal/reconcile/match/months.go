package match

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/shopspring/decimal"
)

// Earlier is what was open at the end of an earlier month, and what it is now: Class is empty if both sides agree, or if the
// differences of the period have it, otherwise timing or unchecked if it is still open, otherwise that of a difference.
type Earlier struct {
	*Difference // Since is the earlier month
	Was         Class
	IsOfPeriod  bool // the differences of the period have it

	items []books.KeptItem // of the earlier months, the oldest first
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

// readEarlier reads the months that were compared, and what was open at the end of earlier ones. What a later month than this one has
// closed is as it was.
func (k *kindMatcher) readEarlier() (err error) {
	if k.months, err = k.books.Months(k.ctx, k.kind); err != nil || k.Month.IsZero() {
		return err
	}
	if k.untimed, err = k.books.Untimed(k.ctx, k.kind, k.Month.From); err != nil {
		return err
	}
	k.earlier, k.open = map[string]*Earlier{}, map[string]openRow{}
	for o, err := range k.books.OpenItems(k.ctx, k.kind, k.Month.From) {
		if err != nil {
			return err
		}
		isOfLater := o.Closed.After(k.Month.From)
		for key, state := range o.Rows {
			k.open[key] = openRow{state, isOfLater}
			k.hasUnnamed = k.hasUnnamed || books.IsUnnamed(key)
		}
		if o.Month.Equal(k.Month.From) {
			continue
		}
		id, err := k.books.Named(k.ctx, k.kind, &o)
		if err != nil {
			return err
		}
		e := k.earlier[id]
		if e == nil {
			d := &Difference{Kind: k.kind, ID: id, Currency: o.Currency, Value: o.Value, At: o.At, Since: o.Month}
			e = &Earlier{Difference: d, Was: Class(o.Class)}
			k.earlier[id] = e
		}
		for i := range o.Lines {
			o.Lines[i].ID = id
		}
		isAgain := func(l books.Line) bool {
			return slices.ContainsFunc(o.Lines, func(again books.Line) bool {
				return again.At.Equal(l.At) && again.State == l.State && again.Currency == l.Currency && again.Amount.Equal(l.Amount)
			})
		}
		e.items, e.Books = append(e.items, o), append(slices.DeleteFunc(e.Books, isAgain), o.Lines...)
	}
	return nil
}

// openRow is a row that was not final at the end of a month. If it is now, it counts in this month or, if one has closed it, in a later one.
type openRow struct {
	state     string
	isOfLater bool
}

// openOf returns what a row was at the end of an earlier month, if it was not final.
func (k *kindMatcher) openOf(r *books.Row) openRow {
	if k.hasUnnamed {
		return ofRow(k.open, r)
	}
	return k.open[r.Key()]
}

// ofRow returns what a map has of a row by its Key, also by the one that it had before the gateway gave it an id.
func ofRow[T any](all map[string]T, r *books.Row) T {
	if of, ok := all[r.Key()]; ok {
		return of
	}
	return all[r.UnnamedKey()]
}

// asCompared makes a row what it is for this month: with the state that it had if a later month has closed it, and with a time.
func (k *kindMatcher) asCompared(r *books.Row) {
	if was := k.openOf(r); was.isOfLater {
		r.State = was.state
	}
	r.At = k.countedAt(r)
}

// countedAt returns the time of a row. If it has none, it is the start of the earlier month in which it counted.
func (k *kindMatcher) countedAt(r *books.Row) time.Time {
	if !r.At.IsZero() || len(k.untimed) == 0 {
		return r.At
	}
	return ofRow(k.untimed, r)
}

func isUntimed(r books.Row) bool { return r.At.IsZero() && isApproved(r) }

// becameFinal reports whether a row counts in this month because it was not final before. One whose time is after this month now counts in
// that of its time.
func (k *kindMatcher) becameFinal(r *books.Row) bool {
	was := k.openOf(r)
	return was.state != "" && !was.isOfLater && r.At.Before(k.Period.To)
}

// lookAgain notes the rows and lines with the ID of an entry of an earlier month. If the list has no line with it, it returns those of
// the list of that month: the row may belong to this one. If it has, and no row is open, those of the earlier list are added.
func (k *kindMatcher) lookAgain(rows []books.Row, lines []books.Line) []books.Line {
	e := k.earlier[(&pair{rows: rows, lines: lines}).id()]
	if e == nil {
		return lines
	}
	if len(lines) == 0 {
		lines = append(lines, e.Books...)
		month := Span{From: e.Since, To: k.startsAt(e.Since).To}
		inMonth := slices.IndexFunc(rows, func(r books.Row) bool { return isApproved(r) && month.holds(r.At) })
		if inMonth < 0 {
			inMonth = slices.IndexFunc(rows, func(r books.Row) bool { return month.holds(r.At) })
		}
		for i := range lines { // one without a time is of a row of that month, if there is one
			if lines[i].At.IsZero() && inMonth >= 0 {
				lines[i].At = rows[inMonth].At
			}
		}
	} else if !slices.ContainsFunc(rows, func(r books.Row) bool { return !r.IsFinal() && k.openOf(&r).state != "" }) {
		first := k.Period.From // that the list can have
		if from := k.list.Span.From; !from.IsZero() && from.Before(first) {
			first = from
		}
		for _, l := range e.Books {
			if l.State == books.StateApproved && !l.At.IsZero() && l.At.Before(first) { // it was listed, too
				lines = append(lines, l)
			}
		}
	}
	e.Gateway, e.Books = slices.Clone(rows), slices.Clone(lines)
	return lines
}

// untoldOf returns the compared month of a paid line that the list of that month did not have: then it was booked later, or with a time of
// another zone. Without an approved row no month would tell it. A month that had it has kept it, because it did not tie out.
func (k *kindMatcher) untoldOf(rows []books.Row, lines []books.Line) (month Span, err error) {
	isLate := func(l books.Line) bool {
		return l.State == books.StateApproved && !l.Earlier && !l.At.Before(k.Copy.From) && l.At.Before(k.Period.From)
	}
	i := slices.IndexFunc(lines, isLate)
	if !k.isKept() || i < 0 || slices.ContainsFunc(rows, func(r books.Row) bool { return isApproved(r) && (k.TestPayments || !r.Test) }) {
		return month, nil
	}
	items, err := k.books.KeptItems(k.ctx, k.kind, lines[i].ID)
	isTold := func(m books.Month) bool {
		hadLine := slices.ContainsFunc(items[m.From.Unix()].Lines, func(l books.Line) bool { return distance(l.At, &lines[i]) == 0 })
		return m.From.Before(k.Month.From) && (hadLine || k.changed[changeKey{m.From, lines[i].ID}] != nil)
	}
	if err != nil || slices.ContainsFunc(k.months, isTold) {
		return month, err
	}
	m := k.monthOf(lines[i].At)
	return Span{m.From, m.To}, nil
}

// month returns the month that was compared and satisfies a condition, or the zero Month.
func (k *kindMatcher) month(is func(books.Month) bool) books.Month {
	if i := slices.IndexFunc(k.months, is); i >= 0 {
		return k.months[i]
	}
	return books.Month{}
}

// endsAt and startsAt return the month that was compared and ends or starts at a time, or the zero Month.
func (k *kindMatcher) endsAt(t time.Time) books.Month {
	return k.month(func(m books.Month) bool { return m.To.Equal(t) })
}

func (k *kindMatcher) startsAt(t time.Time) books.Month {
	return k.month(func(m books.Month) bool { return m.From.Equal(t) })
}

// mayBeNext reports whether the other side of the carried entry may be in the list of a month that was not compared: the one before its own,
// or the one after it.
func (k *kindMatcher) mayBeNext(t time.Time) bool {
	own := k.startsAt(k.carried.Since)
	if own.From.IsZero() {
		return false
	}
	hasBefore := !k.endsAt(own.From).From.IsZero()
	hasAfter := own.To.Equal(k.Month.From) || !k.startsAt(own.To).From.IsZero()
	return !hasBefore && t.Before(own.From.Add(k.Grace)) || !hasAfter && !t.Before(own.To.Add(-k.Grace))
}

// reachesOn reports whether a row or a line of a difference belongs to a later period.
func (k *kindMatcher) reachesOn(d *Difference) bool {
	return slices.ContainsFunc(d.Gateway, func(r books.Row) bool { return !r.At.Before(k.Period.To) }) ||
		slices.ContainsFunc(d.Books, func(l books.Line) bool { return !l.At.Before(k.Period.To) })
}

// isKept reports whether the comparison of the month is kept. The list of refunds may have none in it, and without refunds there need not be one.
func (k *kindMatcher) isKept() bool {
	return !k.Month.IsZero() && !k.list.IsOther && (k.list.Read || k.kind == books.Refund && k.summary.RefundsLeftOut == 0)
}

// notFinal returns the rows of a month that is kept that are not final, and are still queried. They are told, with or without a line, and
// looked at again.
func (k *kindMatcher) notFinal(rows []books.Row) (open []books.Row) {
	if !k.isKept() {
		return nil
	}
	for i := range rows {
		r := &rows[i]
		if !r.IsFinal() && k.inPeriod(r.At) && !k.becameFinal(r) && !k.isOld(r) && (!r.Test || k.TestPayments) {
			open = append(open, *r)
		}
	}
	return open
}

// isOld reports whether the state of a row is queried no more.
func (k *kindMatcher) isOld(r *books.Row) bool {
	return !r.At.IsZero() && r.At.Before(k.Copy.To.Add(-books.AskFor))
}

// keepItem notes an id that does not tie out in the month, or has a row without a time.
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
	item := books.KeptItem{ID: p.id(), Class: string(cmp.Or(found.class, ClassTiming)), Lines: slices.Clone(p.lines)}
	for i := range item.Lines {
		item.Lines[i].Earlier = true // when they are read
	}
	if !isOpen {
		item.Closed = k.Month.From
	}
	switch {
	case d != nil:
		item.Currency, item.Value, item.At = d.Currency, d.Value, d.At
	case p.row != nil:
		item.Currency, item.Value, item.At = p.row.Currency, p.row.Amount, p.row.At
	}
	for i := range p.rows {
		if isUntimed(p.rows[i]) {
			item.Untimed = append(item.Untimed, p.rows[i].Key())
		}
	}
	if isOpen && len(open) > 0 {
		item.Rows = map[string]string{}
		for i := range open {
			item.Rows[open[i].Key()] = open[i].State
		}
	}
	k.items = append(k.items, item)
}

// lookBack classifies what was open at the end of earlier months, and sets Summary.Months.
func (m *matcher) lookBack(kinds ...*kindMatcher) error {
	for _, k := range kinds {
		if !k.isKept() {
			continue
		}
		month := books.KeptMonth{
			Month: books.Month{Kind: k.kind, From: m.Month.From, To: m.Month.To, Seen: m.lastChange, Totals: map[string]decimal.Decimal{}}, Items: k.items,
		}
		for i := range m.summary.Bridges {
			if b := &m.summary.Bridges[i]; b.Kind == k.kind {
				month.Totals[b.Currency] = b.Gateway
			}
		}
		order := func(a, b *Earlier) int { return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID)) }
		for _, e := range slices.SortedFunc(maps.Values(k.earlier), order) {
			if err := k.classifyAgain(e); err != nil {
				return err
			}
			m.summary.Earlier = append(m.summary.Earlier, *e)
			for _, o := range e.items {
				if isOfLater := len(o.Rows) > 0 && o.Closed.After(m.Month.From); !e.IsOpen() && !isOfLater {
					month.Closed = append(month.Closed, o)
				}
			}
		}
		m.summary.Months = append(m.summary.Months, month)
	}
	return nil
}

// classifyAgain classifies an entry of an earlier month by what both sides have now.
func (k *kindMatcher) classifyAgain(e *Earlier) error {
	var d *Difference
	if !e.IsOfPeriod && len(e.Gateway)+len(e.Books) > 0 {
		p := newPair(k.kind, e.Gateway, e.Books)
		k.carried = e
		if d = k.class(p); d == nil {
			d = k.laterChargeAgain(p, e)
		}
		k.carried = nil
		if d != nil && (d.Class == ClassTest || d.Class.isCounted() && d.Class == e.Was) { // no money, or which that month has told
			d = nil
		}
	}
	if d == nil {
		d = k.stillOpen(e)
	}
	if d == nil {
		return nil
	}
	if k.kind == books.Refund {
		d.Class = ofRefund(d.Class)
	}
	if err := k.sayRefunds(d, approvedOf(e.Gateway)); err != nil {
		return err
	}
	e.Class, e.Currency, e.Value, e.At, e.Why = d.Class, d.Currency, d.Value, d.At, d.Why
	e.Known, e.Reason = k.Known.covers(e.Difference)
	return k.Found(e.Difference)
}

// stillOpen returns the difference for rows of an earlier month that are still not final, or nil. A payment that the cardholder did not
// complete is forgotten when it is queried no more.
func (k *kindMatcher) stillOpen(e *Earlier) (d *Difference) {
	for i := range e.Gateway {
		r := &e.Gateway[i]
		if r.IsFinal() || k.openOf(r).state == "" || k.isOld(r) && r.State == books.StateRedirect {
			continue
		}
		d = &Difference{Class: ClassTiming, Currency: r.Currency, Value: r.Amount, At: r.At, Why: "its state at the gateway is still " + r.State}
		if k.isOld(r) {
			d.Class, d.Why = ClassState, d.Why+", and it is queried no more"
		}
	}
	return d
}
