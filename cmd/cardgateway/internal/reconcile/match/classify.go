package match

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/shopspring/decimal"
)

// class returns the difference with the first class that applies, or nil if the pair ties out.
func (k *kindMatcher) class(p *pair) *Difference {
	switch {
	case k.isTest(p):
		return ofTest(p)
	case len(p.later) == 0 && len(repeats(p.paid)) > 0:
		again := repeats(p.paid)
		return &Difference{Class: ClassTwoSuccesses, Currency: again[0].Currency, Value: sumOf(again, again[0].Currency), At: again[0].At}
	case len(p.lines) == 0:
		if len(p.later) > 0 && k.carried == nil && p.paid[0].At.Before(k.Period.From) && !k.becameFinal(&p.paid[0]) {
			return nil // the list of that period has the line
		}
		return k.missingHere(p)
	case p.booked == books.StateDeclined && (p.row == nil || p.row.State == books.StateDeclined):
		return nil // not paid on either side, however often it was tried
	case p.row == nil:
		return k.missingThere(p)
	}
	switch d := k.state(p); { // an amount that only one side has as paid differs by all of it
	case d != nil:
		return d
	case p.currenciesDiffer():
		return &Difference{Class: ClassCurrency, Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At}
	case (p.row.Currency != "" || len(p.paid) > 0) && !p.sum.Equal(p.atGateway()): // a declined payment may state no amount
		return amountDiffers(p)
	}
	return nil
}

// ofTest returns the difference of a test payment, or of its refund: it is none for the books, unless they have it as made.
func ofTest(p *pair) *Difference {
	d := &Difference{Class: ClassTest, Currency: p.paid[0].Currency, Value: p.atGateway(), At: p.paid[0].At}
	if p.booked == books.StateApproved {
		d.Class, d.Why = ClassState, "the gateway marks it as a test, so no money moved; if this is a test system, set --test-payments"
	}
	return d
}

// amountDiffers returns the difference between two amounts.
func amountDiffers(p *pair) *Difference {
	d := &Difference{Class: ClassAmount, Currency: cmp.Or(p.row.Currency, p.currency), Value: p.sum.Sub(p.atGateway()).Abs(), At: p.row.At}
	switch {
	case len(p.paid) > 0 && p.once().Equal(p.atGateway()), len(p.later) > 0 && p.once().Equal(p.paid[0].Amount):
		d.Class, d.Why = ClassListedTwice, fmt.Sprintf("%d lines of your list have this id; some of them are repeated", len(p.lines))
	case len(p.lines) > 1:
		d.Why = fmt.Sprintf("%d lines of your list have this id; they are added up", len(p.lines))
	}
	return d
}

func (k *kindMatcher) missingHere(p *pair) *Difference {
	if len(p.paid) == 0 {
		return nil
	}
	told := chargesIn(p.paid, k.isTold)
	if len(told) == 0 { // the gateway has changed their times since
		told = p.paid
	}
	currency := told[len(told)-1].Currency
	d := &Difference{Class: ClassMissingHere, Currency: currency, Value: sumOf(told, currency), At: told[0].At}
	if k.atEdge(d.At) && !k.becameFinal(&told[0]) {
		d.Class, d.Why = ClassUnchecked, "its line may be before the start or after the end of your list; "+k.bothClocks(d.At)
	}
	return d
}

// isTold reports whether a row is one of those that are told: of this period or, of a carried entry, of a month at whose end it was open. The other
// charges of a subscription are told by their own months.
func (k *kindMatcher) isTold(r *books.Row) bool {
	if k.carried == nil {
		return k.isOurs(r)
	}
	return slices.ContainsFunc(k.carried.items, func(o books.KeptItem) bool { return o.Month.Equal(k.monthOf(r.At).From) })
}

// laterCharge returns the difference for the charges of a subscription that count in the period and that the list does not have, or nil. Lines
// without a time are of the period if isOurs says so.
func (k *kindMatcher) laterCharge(p *pair, isOurs func(books.Line) bool) *Difference {
	if len(p.later) == 0 || p.sum.Equal(sumOf(p.paid, p.row.Currency)) {
		return nil
	}
	missing := sumOf(chargesIn(p.paid, k.isOurs), p.row.Currency)
	for _, line := range p.lines {
		isNow := line.At.IsZero() && isOurs(line) || !line.At.IsZero() && k.isOurs(&p.paid[k.nearest(p.paid, line.At)])
		if line.State == books.StateApproved && isNow {
			missing = missing.Sub(line.Amount)
		}
	}
	left, untimed := k.listed(p, func(*books.Line, *books.Row) {})
	now := chargesIn(left, k.isOurs)
	if !missing.IsPositive() || len(now) == 0 {
		return nil
	}
	d := k.ofCharges(p, now, missing)
	atEdge := func(r books.Row) bool { return k.atEdge(r.At) && !k.becameFinal(&r) }
	if inside := slices.DeleteFunc(slices.Clone(now), atEdge); len(inside) <= untimed && len(inside) < len(now) {
		d.Class, d.At = ClassUnchecked, now[slices.IndexFunc(now, atEdge)].At
		d.Why = "a later charge of a subscription, whose line may be before the start or after the end of your list; " + k.bothClocks(d.At)
	}
	return d
}

// laterChargeAgain is laterCharge for an entry of an earlier month that was not checked: its charge, and those after it that were near
// the end of that month, need a line.
func (k *kindMatcher) laterChargeAgain(p *pair, e *Earlier) *Difference {
	if len(p.later) == 0 || e.Was != ClassUnchecked {
		return nil
	}
	month := Span{From: e.Since, To: k.startsAt(e.Since).To}
	left, untimed := k.listed(p, func(*books.Line, *books.Row) {})
	left = chargesIn(left, func(r *books.Row) bool { return Span{From: e.Since, To: k.Period.To}.holds(r.At) })
	if len(left) <= untimed {
		return nil
	}
	left = slices.DeleteFunc(left, func(r books.Row) bool {
		return !month.holds(r.At) || !r.At.Equal(e.At) && (r.At.Before(e.At) || r.At.Before(month.To.Add(-k.Grace)))
	})
	if len(left) == 0 {
		return nil
	}
	d := k.ofCharges(p, left, sumOf(left, p.row.Currency))
	if slices.ContainsFunc(left, func(r books.Row) bool { return k.mayBeNext(r.At) }) {
		d.Class = ClassUnchecked
	}
	return d
}

// ofCharges returns the difference for charges of a subscription that the list does not have.
func (k *kindMatcher) ofCharges(p *pair, charges []books.Row, value decimal.Decimal) *Difference {
	isFirst := func(r books.Row) bool { return byTime(r, p.paid[0]) == 0 }
	shown := append(p.paid[:1:1], slices.DeleteFunc(slices.Clone(charges), isFirst)...)
	if len(shown) == 1 {
		shown = p.paid[:2:2]
	}
	return &Difference{
		Class: ClassLaterCharge, Currency: p.row.Currency, Value: value, At: charges[0].At,
		Gateway: shown, Why: "the first charge was at " + k.Clock(p.paid[0].At),
	}
}

func (k *kindMatcher) missingThere(p *pair) *Difference {
	first := p.lines[0]
	d := &Difference{Class: ClassMissingThere, Currency: p.currency, Value: p.sum, At: first.At}
	d.Why = "not in the copy of the gateway, which is complete from " + k.Clock(k.Copy.From) + " to " + k.Clock(k.Copy.To)
	if slices.ContainsFunc(p.lines, func(l books.Line) bool { return l.State == p.booked && l.Currency != p.currency }) {
		d.Why += "; your list has it in other currencies, too, which are not in the value"
	}
	isEarly := k.carried == nil && first.At.Before(k.Copy.From.Add(k.Grace))
	if !first.At.IsZero() && (isEarly || !first.At.Before(k.Copy.To.Add(-k.Grace))) {
		d.Class = ClassUnchecked
		d.Why += "; it may be outside the copy; " + k.bothClocks(first.At)
	}
	return d
}

// state compares the states on both sides.
func (k *kindMatcher) state(p *pair) *Difference {
	if p.row.State == p.booked { // as of nearly all
		return nil
	}
	d := &Difference{Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At}
	if p.booked == books.StateApproved || d.Currency == "" {
		d.Currency, d.Value = p.currency, p.sum
	}
	young := !p.row.At.Before(k.Copy.To.Add(-k.Grace))
	switch state := p.row.State; {
	case state == books.StateApproved, state == books.StateDeclined:
		d.Class = ClassState
		if young && p.booked != books.StateApproved && p.booked != books.StateDeclined {
			d.Class, d.Why = ClassTiming, "it became final within the last "+terminal.Duration(k.Grace)+"; "+k.bothClocks(p.row.At)
		}
	case state != books.StateRedirect && (p.booked == books.StateApproved || p.booked == books.StateDeclined) && k.isOld(p.row):
		d.Class = ClassState
		d.Why = "its state at the gateway is still " + state + " after " + fmt.Sprint(int(k.Copy.To.Sub(p.row.At)/day)) + " days, and is no longer queried"
	case state == books.StateRedirect && p.booked == books.StateApproved && !young:
		d.Class, d.Why = ClassState, "the cardholder did not complete it"
	case p.booked == books.StateApproved, p.booked == books.StateDeclined:
		d.Class, d.Why = ClassTiming, "its state at the gateway is "+state+"; "+k.bothClocks(p.row.At)
	default:
		return nil // neither is final
	}
	return d
}

// onBothSides describes the times on both sides.
func (k *kindMatcher) onBothSides(p *pair) string {
	return "at the gateway " + k.Clock(p.row.At) + ", in your list " + k.Clock(p.lines[0].At)
}

// atEdge reports whether a row of the gateway is so near a limit of the period and of the list that its line may be outside the
// list.
func (k *kindMatcher) atEdge(t time.Time) bool {
	if t.IsZero() {
		return false
	}
	if k.carried != nil {
		return k.mayBeNext(t)
	}
	from, to := k.Period.From, k.Period.To
	if list := k.list.Span; !list.IsZero() {
		if list.From.Before(from) {
			from = list.From
		}
		if list.To.After(to) {
			to = list.To
		}
	}
	if before := k.endsAt(k.Month.From).From; !before.IsZero() { // whose list was read, and what it left open is known
		from = before
	}
	return t.Before(from.Add(k.Grace)) || !t.Before(to.Add(-k.Grace))
}
