package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	reconcile "github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/match"
)

// differences are what a comparison finds: class, kind, id and value, and the totals of both sides by kind and currency.
type differences struct {
	found           []string
	gateway, listed map[string]int64
	given           map[string]int                // rows that were passed on, by kind and id
	spans           map[reconcile.Kind]match.Span // of the lists
}

func newDifferences() *differences {
	return &differences{
		gateway: make(map[string]int64), listed: make(map[string]int64), given: make(map[string]int), spans: make(map[reconcile.Kind]match.Span),
	}
}

func (d *differences) add(kind reconcile.Kind, class, id, currency string, cents int64) {
	d.found = append(d.found, fmt.Sprintf("%s %s %s %d %s", class, kind, id, cents, currency))
}

// unlike says in what two comparisons differ.
func (d *differences) unlike(got *differences) string {
	slices.Sort(d.found)
	slices.Sort(got.found)
	isZero := func(_ string, n int64) bool { return n == 0 }
	for _, sums := range []map[string]int64{d.gateway, d.listed, got.gateway, got.listed} {
		maps.DeleteFunc(sums, isZero)
	}
	if slices.Equal(d.found, got.found) && maps.Equal(d.gateway, got.gateway) && maps.Equal(d.listed, got.listed) && maps.Equal(d.given, got.given) {
		return ""
	}
	return fmt.Sprintf("want %q, gateway %v, list %v, rows %v, got %q, gateway %v, list %v, rows %v",
		d.found, d.gateway, d.listed, d.given, got.found, got.gateway, got.listed, got.given)
}

// held is a payment or a refund that is compared.
type held struct {
	copiedRow
	cents int64
	at    time.Time
}

func (r held) isApproved() bool { return r.state == "approved" }

// tally finds the differences from rows and lines alone: it goes through everything for each id.
type tally struct {
	*differences
	period, copy match.Span
	grace        time.Duration
	rows         map[reconcile.Kind][]held // oldest first
	lists        map[reconcile.Kind]*list
	marked       map[rowKey]string // the class of the merchant's ids that have one already
}

// differences returns what a comparison must find, by the copy as it was last read and the lists as they were imported.
func (k *copied) differences(config Compare, period, copy match.Span) *differences {
	t := &tally{
		differences: newDifferences(), period: period, copy: copy, grace: config.Grace,
		rows: make(map[reconcile.Kind][]held), lists: k.lists, marked: make(map[rowKey]string),
	}
	for _, key := range slices.SortedFunc(maps.Keys(k.rows), func(a, b rowKey) int { return cmp.Compare(a.id, b.id) }) {
		r, kind := k.rows[key], key.kind
		if kind == reconcile.Refund {
			payment, has := k.rows[rowKey{reconcile.Payment, r.payment}]
			if has && payment.app != "" && !config.AnyApp {
				continue
			}
			r.currency = cmp.Or(r.currency, payment.currency)
			r.id = cmp.Or(r.id, r.unique)
		}
		if r.app == "" || config.AnyApp {
			t.rows[kind] = append(t.rows[kind], held{r, cents(decimal.RequireFromString(r.amount)), r.time()})
		}
	}
	for _, rows := range t.rows {
		slices.SortStableFunc(rows, func(a, b held) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.unique, b.unique)) })
	}
	for kind := range t.lists {
		t.unreadable(kind)
		t.spans[kind] = t.span(kind)
	}
	t.severalForOneOrder()
	t.ids(reconcile.Payment)
	t.payments()
	if t.lists[reconcile.Refund] != nil {
		t.ids(reconcile.Refund)
	}
	return t.differences
}

func (t *tally) inPeriod(at time.Time) bool {
	return at.IsZero() || !at.Before(t.period.From) && at.Before(t.period.To)
}

func (t *tally) far(r held) bool {
	return !r.at.IsZero() && (r.at.Before(t.period.From.Add(-t.grace)) || !r.at.Before(t.period.To.Add(t.grace)))
}

// span is the range of the times of a list, or of its successes if it has none.
func (t *tally) span(kind reconcile.Kind) (s match.Span) {
	var all []time.Time
	for _, l := range t.lists[kind].lines {
		all = append(all, l.at)
	}
	for range 2 {
		if all = slices.DeleteFunc(all, time.Time.IsZero); len(all) > 0 {
			return match.Span{From: slices.MinFunc(all, time.Time.Compare), To: slices.MaxFunc(all, time.Time.Compare).Add(time.Second)}
		}
		for _, r := range t.rows[kind] {
			if r.isApproved() && slices.ContainsFunc(t.lists[kind].lines, func(l listed) bool { return l.id == r.id }) {
				all = append(all, r.at)
			}
		}
	}
	return s
}

func (t *tally) unreadable(kind reconcile.Kind) {
	for _, u := range t.lists[kind].unreadable {
		if rows := ofID(t.rows[kind], u.id); u.id != "" && len(rows) > 0 && !t.inPeriod(last(rows).at) {
			continue
		}
		t.add(kind, "unreadable", fmt.Sprint("line ", u.line), "", 0)
		if u.id != "" {
			t.marked[rowKey{kind, u.id}] = "unreadable"
		}
	}
}

// severalForOneOrder finds orders of the merchant that were paid under several ids.
func (t *tally) severalForOneOrder() {
	lines := t.lists[reconcile.Payment].lines
	var orders []string
	for _, l := range lines {
		orders = append(orders, l.order)
	}
	slices.Sort(orders)
	for _, order := range slices.Compact(orders) {
		paid := only(approvals(t.rows[reconcile.Payment]), func(r held) bool {
			isPaid := func(l listed) bool { return l.id == r.id && l.order == order && l.state == "approved" }
			return r.id != "" && t.marked[rowKey{reconcile.Payment, r.id}] != "paid_twice" && slices.ContainsFunc(lines, isPaid)
		})
		isOther := func(r held) bool { return r.id != paid[0].id }
		if order == "" || !slices.ContainsFunc(paid, isOther) || !slices.ContainsFunc(paid, func(r held) bool { return t.inPeriod(r.at) }) {
			continue
		}
		currency := paid[0].currency
		if !slices.ContainsFunc(paid[1:], func(r held) bool { return r.currency == currency }) {
			currency = paid[1].currency
		}
		t.add(reconcile.Payment, "paid_twice", order, currency, sum(paid[1:], currency))
		for _, r := range paid {
			t.marked[rowKey{reconcile.Payment, r.id}] = "paid_twice"
		}
	}
}

// payments compares the refunds of each payment with it.
func (t *tally) payments() {
	same := make(map[string][]held)
	for i, r := range t.rows[reconcile.Refund] {
		key := r.payment
		if key == "" {
			key = fmt.Sprint("none ", i)
		}
		if r.at.IsZero() || !r.at.Before(t.copy.From) && r.at.Before(t.copy.To) {
			same[key] = append(same[key], r)
		}
	}
	for unique, refunds := range same {
		var payment held
		at := slices.IndexFunc(t.rows[reconcile.Payment], func(r held) bool { return r.unique == unique })
		if at >= 0 {
			payment = t.rows[reconcile.Payment][at]
		}
		var back []held
		counts := false
		for _, r := range refunds {
			isNow := t.inPeriod(r.at) && r.state != "declined"
			if isNow {
				t.given["refund "+r.unique+" "+r.id]++
			}
			class := ""
			switch {
			case at < 0 && isNow:
				class = "refund_without_order"
			case at < 0 || !r.isApproved():
			case r.currency != "" && payment.currency != "" && r.currency != payment.currency:
				if isNow {
					class = "currency"
				}
			default:
				back, counts = append(back, r), counts || isNow
			}
			if class != "" {
				t.add(reconcile.Refund, class, r.id, r.currency, r.cents)
				t.marked[rowKey{reconcile.Refund, r.id}] = class
			}
		}
		if !counts {
			continue
		}
		paid := int64(0)
		if payment.isApproved() {
			paid = payment.cents
		}
		if above := sum(back, back[0].currency) - paid; above > 0 {
			t.add(reconcile.Refund, "refund_above_payment", cmp.Or(payment.id, payment.unique), back[0].currency, above)
			for _, r := range back {
				t.marked[rowKey{reconcile.Refund, r.id}] = "refund_above_payment"
			}
		}
	}
}

// ids compares the rows and lines of each id.
func (t *tally) ids(kind reconcile.Kind) {
	all := make(map[string]bool)
	for _, r := range t.rows[kind] {
		if all[r.id] = true; !t.inPeriod(r.at) {
			continue
		}
		if kind == reconcile.Payment {
			t.given["payment "+r.unique+" "+r.id]++
		}
		if r.isApproved() {
			t.gateway[string(kind)+" "+r.currency] += r.cents
		}
	}
	for _, l := range t.lists[kind].lines {
		all[l.id] = true
	}
	for id := range all {
		rows, lines := ofID(t.rows[kind], id), ofLine(t.lists[kind].lines, id)
		if id != "" {
			t.id(kind, id, rows, lines)
			continue
		}
		for _, r := range rows { // each is alone
			t.id(kind, r.unique, []held{r}, nil)
		}
	}
}

// id compares what has one id.
func (t *tally) id(kind reconcile.Kind, id string, all []held, lines []listed) {
	rows := only(all, func(r held) bool { return !t.far(r) })
	mayBeNow := func(l listed) bool { return l.at.IsZero() || t.inPeriod(l.at) }
	if len(rows) == 0 && !slices.ContainsFunc(lines, mayBeNow) {
		return
	}
	paid := approvals(all)
	switch {
	case !slices.ContainsFunc(rows, held.isApproved):
		if len(lines) > 0 { // at another time
			rows = all
		}
	case len(paid) > 1 && (len(lines) > 1 || len(again(paid)) > 0):
		rows = only(all, func(r held) bool { return !t.far(r) || r.isApproved() })
	}
	rowNow, paidNow, lineNow := slices.ContainsFunc(rows, func(r held) bool { return t.inPeriod(r.at) }), false, false
	sums := make(map[string]int64)
	for _, r := range approvals(rows) {
		if t.inPeriod(r.at) {
			paidNow = true
			sums[r.currency] += r.cents
		}
	}
	for _, l := range lines {
		if l.at.IsZero() && (rowNow || len(rows) == 0) || !l.at.IsZero() && t.inPeriod(l.at) {
			if lineNow = true; l.state == "approved" {
				sums[l.currency] -= l.cents
				t.listed[string(kind)+" "+l.currency] += l.cents
			}
		}
	}
	if class := t.marked[rowKey{kind, id}]; !paidNow && !lineNow || class != "" && (class != "unreadable" || len(lines) == 0) {
		return
	}
	class, currency, value := t.class(kind, rows, lines)
	if class == "" && kind == reconcile.Payment {
		class, currency, value = t.laterCharge(rows, lines, rowNow)
	}
	for _, left := range sums {
		if left != 0 && class == "" {
			class, currency, value = "timing", last(rows).currency, last(rows).cents // in different periods
		}
	}
	ofRefund := map[string]string{"two_successes": "refund_twice", "missing_here": "refund_missing_here", "missing_there": "refund_missing_there"}
	if kind == reconcile.Refund {
		class = cmp.Or(ofRefund[class], class)
	}
	if class != "" {
		t.add(kind, class, id, currency, value)
	}
}

// class returns the first class that applies, and the value of the difference.
func (t *tally) class(kind reconcile.Kind, rows []held, lines []listed) (class, currency string, value int64) {
	paid := approvals(rows)
	isSubscription := kind == reconcile.Payment && canBeCharges(paid)
	if more := again(paid); len(more) > 0 && !isSubscription {
		return "two_successes", more[0].currency, sum(more, more[0].currency)
	}
	booked, ofList, inList, once := bookedAs(lines)
	switch {
	case len(lines) == 0 && len(paid) == 0, booked == "declined" && (len(rows) == 0 || last(rows).state == "declined"):
		return "", "", 0
	case len(lines) == 0 && isSubscription && paid[0].at.Before(t.period.From):
		return "", "", 0 // the line is in the list of that period
	case len(lines) == 0:
		class, currency, value = "missing_here", last(rows).currency, sum(paid, last(rows).currency)
		if t.nearListEnd(kind, paid[0].at) {
			class = "unchecked"
		}
		return class, currency, value
	case len(rows) == 0:
		class = "missing_there"
		if t.near(lines[0].at, t.copy.From, t.copy.To) {
			class = "unchecked"
		}
		return class, ofList, inList
	}
	r := last(rows)
	atGateway := r.cents
	if len(paid) > 0 {
		atGateway = sum(paid, r.currency)
	}
	if isSubscription { // as many charges as the lines pay for
		for n := int64(len(paid)); n > 1 && atGateway > inList; n-- {
			atGateway = (n - 1) * r.cents
		}
	}
	isOther := func(c string) bool { return r.currency != "" && c != r.currency }
	switch {
	case slices.ContainsFunc(lines, func(l listed) bool { return l.state == booked && isOther(l.currency) }),
		slices.ContainsFunc(paid, func(p held) bool { return isOther(p.currency) }):
		return "currency", r.currency, r.cents
	case (r.currency != "" || len(paid) > 0) && inList != atGateway:
		if class = "amount"; len(paid) > 0 && once == atGateway || isSubscription && once == r.cents {
			class = "listed_twice"
		}
		return class, cmp.Or(r.currency, ofList), max(inList-atGateway, atGateway-inList)
	}
	if currency, value = r.currency, r.cents; currency == "" {
		currency, value = ofList, inList
	}
	isFinal := func(state string) bool { return state == "approved" || state == "declined" }
	isYoung := !r.at.Before(t.copy.To.Add(-t.grace))
	switch {
	case r.state == booked, !isFinal(r.state) && !isFinal(booked):
		return "", "", 0
	case isFinal(r.state) && isYoung && !isFinal(booked):
		return "timing", currency, value
	case isFinal(r.state), r.state == "redirect" && booked == "approved" && !isYoung, r.state != "redirect" && r.at.Before(t.copy.To.Add(-180*day)):
		return "state", currency, value
	}
	return "timing", currency, value
}

// laterCharge returns the class of the charges in the period of a subscription, if the list does not have all that are in the period. A
// line is that of the charge that is nearest to it. In the order of their times, each takes the nearest that is left; of those that are
// left at the end, the lines without a time may have as many.
func (t *tally) laterCharge(rows []held, lines []listed, rowNow bool) (class, currency string, value int64) {
	paid := approvals(rows)
	if !canBeCharges(paid) {
		return "", "", 0
	}
	for _, r := range paid {
		if t.inPeriod(r.at) {
			value += r.cents
		}
	}
	nearest := func(of []held, l listed) int {
		return slices.IndexFunc(of, func(r held) bool {
			return !slices.ContainsFunc(of, func(other held) bool { return other.at.Sub(l.at).Abs() < r.at.Sub(l.at).Abs() })
		})
	}
	left, untimed := slices.Clone(paid), 0
	lines = only(lines, func(l listed) bool { return l.state == "approved" })
	slices.SortStableFunc(lines, func(a, b listed) int { return a.at.Compare(b.at) })
	for _, l := range lines {
		isNow := rowNow
		if l.at.IsZero() {
			untimed++
		} else {
			isNow = t.inPeriod(paid[nearest(paid, l)].at)
			if len(left) > 0 {
				i := nearest(left, l)
				left = slices.Delete(left, i, i+1)
			}
		}
		if isNow {
			value -= l.cents
		}
	}
	inside, near := 0, 0
	for _, r := range left {
		switch {
		case !t.inPeriod(r.at):
		case t.nearListEnd(reconcile.Payment, r.at):
			near++
		default:
			inside++
		}
	}
	if _, _, inList, _ := bookedAs(lines); inside+near == 0 || value <= 0 || inList == sum(paid, paid[0].currency) {
		return "", "", 0
	}
	if class = "later_charge"; near > 0 && inside <= untimed {
		class = "unchecked"
	}
	return class, paid[0].currency, value
}

// nearListEnd reports whether a time is so near to both limits, of the period and of the list, that a line may be outside the list.
func (t *tally) nearListEnd(kind reconcile.Kind, at time.Time) bool {
	from, to, list := t.period.From, t.period.To, t.spans[kind]
	if !list.IsZero() {
		from, to = minTime(from, list.From), maxTime(to, list.To)
	}
	return t.near(at, from, to)
}

func (t *tally) near(at, from, to time.Time) bool {
	return !at.IsZero() && (at.Before(from.Add(t.grace)) || !at.Before(to.Add(-t.grace)))
}

// canBeCharges reports whether successes of one id, oldest first, can be the charges of a subscription: equal, and each at least 20
// hours after the one before.
func canBeCharges(paid []held) bool {
	for i, r := range paid {
		if i > 0 && (paid[i-1].at.IsZero() || r.at.Before(paid[i-1].at.Add(20*time.Hour)) || r.cents != paid[0].cents || r.currency != paid[0].currency) {
			return false
		}
	}
	return len(paid) > 1
}

// last is the row that is compared: the last success, otherwise the last that is open, otherwise the last.
func last(rows []held) (chosen held) {
	for _, r := range rows {
		if weight[r.state] >= weight[chosen.state] {
			chosen = r
		}
	}
	return chosen
}

// weight orders states: a success counts more than what is open, and that more than a decline.
var weight = map[string]int{"declined": 1, "processing": 2, "redirect": 2, "unknown": 2, "approved": 3}

// bookedAs is the state of the lines with one id, the currency of the first in that state, the sum of those in both, and the sum without
// repeated lines.
func bookedAs(lines []listed) (state, currency string, all, once int64) {
	for _, l := range lines {
		if weight[l.state] > weight[state] {
			state = l.state
		}
	}
	seen := make(map[string]bool)
	for _, l := range lines {
		if currency == "" && l.state == state {
			currency = l.currency
		}
		if l.state != state || l.currency != currency {
			continue
		}
		all += l.cents
		if same := fmt.Sprint(l.cents); !seen[same] {
			seen[same] = true
			once += l.cents
		}
	}
	return state, currency, all, once
}

// again returns the successes after the first of a payment. Refunds of different payments may have the same id.
func again(paid []held) (more []held) {
	seen := make(map[string]bool)
	for _, r := range paid {
		if seen[r.payment] {
			more = append(more, r)
		}
		seen[r.payment] = true
	}
	return more
}

func approvals(rows []held) []held { return only(rows, held.isApproved) }

func sum(rows []held, currency string) (cents int64) {
	for _, r := range rows {
		if r.currency == currency {
			cents += r.cents
		}
	}
	return cents
}

func ofID(rows []held, id string) []held { return only(rows, func(r held) bool { return r.id == id }) }

func ofLine(lines []listed, id string) []listed {
	return only(lines, func(l listed) bool { return l.id == id })
}
