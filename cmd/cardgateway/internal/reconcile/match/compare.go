package match

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// kindMatcher compares the payments or the refunds of both sides.
type kindMatcher struct {
	*matcher
	kind     books.Kind
	list     List
	findings findings // by ID

	months     []books.Month        // that were compared
	earlier    map[string]*Earlier  // what was open at the end of earlier months, by ID
	open       map[string]openRow   // the rows that were not final then, by Row.Key
	untimed    map[string]time.Time // the earlier month in which a row without a time counted, by Row.Key
	hasUnnamed bool                 // one of them had no id of the gateway
	carried    *Earlier             // the one that is being classified, or nil
	untold     Span                 // the earlier month whose lines with the id that is compared count in this one, or zero
	changed    map[changeKey]*Changed
	items      []books.KeptItem // of this month
}

// compare finds the differences, id by id.
func (k *kindMatcher) compare() error {
	var rows []books.Row
	var lines []books.Line
	for entries, err := range groups("rows and lines", k.books.Entries(k.ctx, k.kind, k.endsAt(k.Month.From)), (*books.Entry).ID) {
		if err != nil {
			return err
		}
		rows, lines = rows[:0], lines[:0]
		for i := range entries {
			e := &entries[i]
			if e.IsLine() {
				lines = append(lines, e.Line)
				continue
			}
			e.Row.Test = e.Row.Test || k.testPayments[e.Row.Payment]
			k.asCompared(&e.Row)
			rows = append(rows, e.Row)
			k.count(&e.Row)
		}
		slices.SortFunc(rows, byTime)
		slices.SortFunc(lines, func(a, b books.Line) int { return a.Line - b.Line })
		if slices.ContainsFunc(lines, func(l books.Line) bool { return !l.Earlier }) { // this list counts, if it has the id
			lines = slices.DeleteFunc(lines, func(l books.Line) bool { return l.Earlier })
		}
		for i := range lines {
			lines[i].At = k.timeOf(&lines[i], rows)
		}
		lines = k.lookAgain(rows, lines)
		if k.untold, err = k.untoldOf(rows, lines); err != nil {
			return err
		}
		if err := k.compareID(rows, lines); err != nil {
			return err
		}
	}
	return nil
}

// timeOf returns the time of a line: if it can mean several, that of a row which is one of them. If there is none, and they are in two
// periods, the one in the middle decides: a date in another zone is of the month that has its noon.
func (k *kindMatcher) timeOf(l *books.Line, rows []books.Row) time.Time {
	at := l.At
	if !l.Until.After(l.At) {
		return at
	}
	isFound := false
	for i := range rows {
		if t := rows[i].At; !t.Before(l.At) && t.Before(l.Until.Add(time.Second)) && (at.Equal(l.At) || rows[i].State == books.StateApproved) {
			at, isFound = t, true
		}
	}
	if noon := l.At.Add(l.Until.Sub(l.At) / 2); !isFound && k.Period.holds(noon) != k.Period.holds(at) {
		return noon
	}
	return at
}

// count adds a row of the period to the gateway's totals.
func (k *kindMatcher) count(row *books.Row) {
	if k.isOurs(row) {
		k.summary.gateway(k.kind, row)
	}
	if k.kind == books.Payment && k.inPeriod(row.At) { // parents passes on the refunds
		k.EachRow(books.Payment, row)
	}
}

// isOurs reports whether a row counts in this period: by its time, or because it was not final at the end of an earlier month.
func (k *kindMatcher) isOurs(r *books.Row) bool { return k.becameFinal(r) || k.inPeriod(r.At) }

// compareID chooses the rows to compare among those with one id, of any time. It must not keep the slices.
func (k *kindMatcher) compareID(rows []books.Row, lines []books.Line) error {
	near := rows // in the period, or not farther from it than the grace
	if slices.ContainsFunc(rows, k.isFar) {
		near = slices.DeleteFunc(slices.Clone(rows), k.isFar)
	}
	if len(near) == 0 && !slices.ContainsFunc(lines, k.mayBeOfPeriod) {
		for i := range lines {
			k.skip(&lines[i])
		}
		return nil
	}
	if !slices.ContainsFunc(near, isApproved) {
		if len(lines) > 0 { // which say that it was paid at another time
			near = rows
		}
		return k.settle(near, lines)
	}
	// One charge or refund of another period is enough for a difference. An id that several refunds share is compared with all
	// lines that have it.
	paid := approvedOf(rows)
	if len(paid) > 1 && (len(lines) > 1 || len(repeats(paid)) > 0) {
		near = append(slices.DeleteFunc(slices.Clone(near), isApproved), paid...)
		slices.SortFunc(near, byTime)
	}
	return k.settle(near, lines)
}

// isFar reports whether a row is farther from the period than the grace. A row without a time is not, nor one that counts in it.
func (k *kindMatcher) isFar(r books.Row) bool {
	return !r.At.IsZero() && !k.becameFinal(&r) && (r.At.Before(k.Period.From.Add(-k.Grace)) || !r.At.Before(k.Period.To.Add(k.Grace)))
}

// mayBeOfPeriod reports whether a line may belong to the period: its time is in it, or unknown.
func (k *kindMatcher) mayBeOfPeriod(l books.Line) bool { return l.At.IsZero() || k.holds(l.At) }

// holds reports whether a line with this time belongs to the period.
func (k *kindMatcher) holds(t time.Time) bool { return k.Period.holds(t) || k.untold.holds(t) }

// byTime compares the times of two rows, or their ids if these are equal.
func byTime(a, b books.Row) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.UniqueID, b.UniqueID))
}

// settle classifies one id and adds it to the totals.
func (k *kindMatcher) settle(rows []books.Row, lines []books.Line) error {
	o := k.ofPeriod(newPair(k.kind, rows, lines))
	if o.isEmpty && len(o.open) == 0 {
		return nil
	}
	found, isFound := k.findings[o.id()]
	if found.class == ClassUnreadable && len(lines) > 0 {
		found, isFound = finding{}, false // the other lines are compared
	}
	var d *Difference
	isApart := false
	if !isFound || found.known { // a known difference hides only itself
		var err error
		if d, isApart, err = k.difference(o); err != nil {
			return err
		}
		if d != nil && d.Class != found.class {
			if found, err = k.tell(d, o.pair); err != nil {
				return err
			}
		}
	}
	isOpen := (d == nil || !d.Known) && (len(o.open) > 0 || d != nil && k.mayTieOut(d, isApart))
	if isOpen || found.class != "" && !o.excess.isZero() || slices.ContainsFunc(rows, isUntimed) {
		k.keepItem(o.pair, d, found, o.open, isOpen)
	}
	if o.isEmpty {
		return nil
	}
	if e := k.earlier[o.id()]; e != nil && found.class.isCounted() && found.class != ClassLaterCharge { // that is about another charge
		e.IsOfPeriod = true
	}
	k.summary.step(k.kind, found, o.inBooks, o.excess)
	return nil
}

// pairOfPeriod is a pair, with what counts of it in the period.
type pairOfPeriod struct {
	*pair
	isOurs  func(books.Line) bool // reports whether a line counts
	isEmpty bool                  // no line and no approved row counts
	inBooks totals                // of the approved lines that count
	excess  totals                // by how much the gateway has more
	open    []books.Row           // those that are not final
}

// ofPeriod adds up what counts in the period, and notes the lines that do not.
func (k *kindMatcher) ofPeriod(p *pair) *pairOfPeriod {
	o := &pairOfPeriod{pair: p, isOurs: k.linesOfPeriod(p), isEmpty: true, inBooks: totals{}, excess: totals{}, open: k.notFinal(p.rows)}
	if k.kind == books.Payment && len(p.paid) == 1 && len(p.lines) == 1 {
		k.causes.addTimes(&p.paid[0], &p.lines[0])
	}
	for i := range p.lines {
		l := &p.lines[i]
		if !o.isOurs(*l) {
			k.skip(l)
			continue
		}
		o.isEmpty = false
		if l.State == books.StateApproved {
			o.inBooks.add(l.Currency, l.Amount)
			o.excess.add(l.Currency, l.Amount.Neg())
		}
	}
	for i := range p.paid {
		if r := &p.paid[i]; k.isOurs(r) {
			o.isEmpty = false
			o.excess.add(r.Currency, r.Amount)
		}
	}
	return o
}

// linesOfPeriod returns a function that reports whether a line of the pair counts in the period.
func (k *kindMatcher) linesOfPeriod(p *pair) func(books.Line) bool {
	isPaid := len(p.paid) > 0 && !k.isTest(p) // in any period
	untimed := !isPaid && (len(p.rows) == 0 || k.summary.ListUsed.IsZero()) || slices.ContainsFunc(p.rows, func(r books.Row) bool { return k.isOurs(&r) })
	if len(p.later) > 0 && !k.summary.ListUsed.IsZero() { // a line that every period has is of the first charge
		untimed = k.isOurs(&p.paid[0])
	}
	return func(l books.Line) bool {
		if l.At.IsZero() {
			return untimed
		}
		return k.holds(l.At)
	}
}

// difference returns the difference of a pair, or nil. isApart says that rows and lines agree, but are in different periods.
func (k *kindMatcher) difference(o *pairOfPeriod) (d *Difference, isApart bool, err error) {
	p := o.pair
	if !o.isEmpty {
		if d = k.class(p); d == nil {
			d = k.laterCharge(p, o.isOurs)
		}
	}
	if isApart = d == nil && !o.excess.isZero(); isApart {
		if d, err = k.apart(p, o.isOurs); err != nil {
			return nil, false, err
		}
	}
	if d == nil && len(o.open) > 0 {
		last := &o.open[len(o.open)-1]
		d = &Difference{Class: ClassTiming, Currency: last.Currency, Value: last.Amount, At: last.At,
			Why: "its state at the gateway is " + last.State + "; " + k.bothClocks(last.At)}
	}
	if d != nil && k.kind == books.Refund {
		d.Class = ofRefund(d.Class)
	}
	return d, isApart, nil
}

// tell reports a difference of a pair.
func (k *kindMatcher) tell(d *Difference, p *pair) (finding, error) {
	if d.Gateway == nil {
		d.Gateway = slices.Clone(p.rows)
	}
	d.Kind, d.ID, d.Books = k.kind, p.id(), slices.Clone(p.lines)
	if err := k.sayRefunds(d, p.paid); err != nil {
		return finding{}, err
	}
	found, err := k.found(d)
	if err == nil {
		k.causes.add(d, p)
	}
	return found, err
}

// mayTieOut reports whether a difference can end in the next month, so that it is looked at again.
func (k *kindMatcher) mayTieOut(d *Difference, isApart bool) bool {
	return d.Class == ClassUnchecked || d.Class == ClassTiming && !isApart || isApart && k.reachesOn(d)
}

// isTest reports whether a payment, or the payment of a refund, was a test.
func (k *kindMatcher) isTest(p *pair) bool {
	return !k.TestPayments && len(p.paid) > 0 && !slices.ContainsFunc(p.paid, func(r books.Row) bool { return !r.Test })
}
