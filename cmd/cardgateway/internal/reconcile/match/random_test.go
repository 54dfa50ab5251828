package match

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// TestRandom compares random books, and holds what is found against naive, which looks at one id after another. With
// CARDGATEWAY_LONG=1 it compares many more.
func TestRandom(t *testing.T) {
	seeds := map[string]uint64{"SQLite": 400, "Postgres": 200}
	if os.Getenv("CARDGATEWAY_LONG") == "1" {
		seeds = map[string]uint64{"SQLite": 5000, "Postgres": 1000}
	}
	onEach(t, func(t *testing.T, d *database) {
		classes, n := map[Class]int{}, seeds[path.Base(t.Name())]
		for seed := range n {
			m := randomBooks(rand.New(rand.NewPCG(seed, 1)))
			got, s := d.run(t, m, octoberOptions())
			for i, line := range got {
				got[i] = strings.Join(strings.Fields(line)[:3], " ")
			}
			want := naive(m, octoberOptions())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: (-naive +got):\n%s\n%+v", seed, diff, m)
			}
			for _, c := range s.Classes {
				classes[c.Class] += c.Rows
			}
		}
		for _, about := range Classes {
			if about.Class != ClassUnreadable && about.Class != ClassRowUnreadable && about.Class != ClassChanged && classes[about.Class] < int(n)/30 {
				t.Errorf("%s: %d in all, too few to show anything", about.Class, classes[about.Class])
			}
		}
	})
}

func randomBooks(r *rand.Rand) *memory {
	m := new(memory)
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	at := func() time.Time {
		return []time.Time{day0(9, 20, 0), day0(9, 30, 12), day0(10, 1, 12), middle, middle.Add(time.Hour), middle.Add(2 * time.Hour), day0(10, 30, 12),
			day0(11, 1, 12), day0(11, 5, 0), day0(11, 9, 0)}[r.IntN(10)]
	}
	atOrNever := func() time.Time {
		if r.IntN(3) > 0 {
			return time.Time{}
		}
		return at()
	}
	amount := func() string { return pick("1", "2", "2", "2", "3") + " " + pick("USD", "USD", "USD", "JPY") }
	state := func() string {
		return pick(approved, approved, approved, declined, processing, redirect)
	}
	for i := range 8 {
		id := fmt.Sprint("t", i)
		usual := amount()
		for try := range r.IntN(3) {
			m.pay(fmt.Sprintf("%s.%d", id, try), state(), pick(usual, usual, amount()), at())
			m.orders[len(m.orders)-1].Test = r.IntN(15) == 0
		}
		if r.IntN(8) == 0 {
			m.pay(id+".later", approved, usual, day0(10, 20, 12))
		}
		for range pick("", "x", "x", "xx") {
			if order := pick("", "o1", "o2", "o3"); order == "" || r.IntN(2) == 0 {
				m.book(id, state(), pick(usual, usual, amount()), atOrNever())
			} else {
				m.book(id+" of "+order, approved, usual, atOrNever())
			}
		}
	}
	for i := range 6 {
		id, payment := fmt.Sprint("r", i), fmt.Sprintf("t%d.0", r.IntN(9))
		usual := pick("0.25", "0.5", amount()[:1]) + " " + pick("USD", "USD", "USD", "JPY")
		for range r.IntN(3) {
			m.back(id+" of "+payment, pick(approved, approved, declined, processing), usual, at())
		}
		for range r.IntN(2) {
			m.give(id, pick(usual, amount()), atOrNever())
		}
	}
	return m
}

// naive finds the classes by going through everything for each id.
func naive(m *memory, o Options) (found []string) {
	window := Span{o.Period.From.Add(-o.Grace), o.Period.To.Add(o.Grace)}
	taken := map[string]bool{} // ids of an earlier class
	say := func(class Class, kind books.Kind, id string) {
		found = append(found, fmt.Sprintf("%s %s %s", class, kind, id))
	}

	byOrder := map[string]map[string]bool{}
	for _, l := range m.payments {
		if l.Order != "" && l.State == approved {
			if byOrder[l.Order] == nil {
				byOrder[l.Order] = map[string]bool{}
			}
			byOrder[l.Order][l.ID] = true
		}
	}
	for _, order := range []string{"o1", "o2", "o3"} {
		paid, now := map[string]bool{}, false
		for _, p := range m.orders {
			if byOrder[order][p.ID] && p.State == approved && !p.Test {
				if !taken["payment "+p.ID] {
					paid[p.ID] = true
					now = now || o.Period.holds(p.At)
				}
			}
		}
		if len(paid) > 1 && now {
			say(ClassPaidTwice, books.Payment, order)
			for id := range paid {
				taken["payment "+id] = true
			}
		}
	}
	for i := range 9 {
		uniqueID := fmt.Sprintf("u-t%d.0", i)
		var payment *books.Row
		for j := range m.orders {
			if m.orders[j].UniqueID == uniqueID {
				payment = &m.orders[j]
			}
		}
		var back []books.Row
		now := false
		for _, r := range m.refunds {
			isNow := o.Period.holds(r.At)
			switch {
			case r.Payment != uniqueID || !o.Copy.holds(r.At):
			case payment == nil && isNow && r.State != declined:
				say(ClassRefundWithoutOrder, books.Refund, r.ID)
				taken["refund "+r.ID] = true
			case payment == nil || r.State != approved:
			case r.Currency != payment.Currency && isNow:
				say(ClassCurrency, books.Refund, r.ID)
				taken["refund "+r.ID] = true
			case r.Currency == payment.Currency:
				back = append(back, r)
				now = now || isNow
			}
		}
		if payment == nil || !now {
			continue
		}
		left := payment.Amount
		if payment.State != approved {
			left = money("0")
		}
		for _, r := range back {
			left = left.Sub(r.Amount)
		}
		if left.IsNegative() {
			say(ClassRefundAbovePayment, books.Refund, payment.ID)
			for _, r := range back {
				taken["refund "+r.ID] = true
			}
		}
	}
	for _, kind := range []books.Kind{books.Payment, books.Refund} {
		for i := range 8 {
			id := fmt.Sprintf("%c%d", map[books.Kind]rune{books.Payment: 't', books.Refund: 'r'}[kind], i)
			rows, lines := m.ofID(kind, id, window)
			if len(lines) > 0 && !slices.ContainsFunc(rows, isApproved) {
				rows, lines = m.ofID(kind, id, Span{})
			}
			everywhere, _ := m.ofID(kind, id, Span{})
			if paid := slices.DeleteFunc(everywhere, func(r books.Row) bool { return r.State != approved }); len(paid) > 1 && slices.ContainsFunc(rows, isApproved) {
				rows = append(slices.DeleteFunc(rows, isApproved), paid...)
				slices.SortStableFunc(rows, func(a, b books.Row) int { return a.At.Compare(b.At) })
			}
			for i := range rows {
				rows[i].Test = m.isTest(rows[i])
			}
			class, touched := naiveClass(kind, rows, lines, o)
			isReal := func(r books.Row) bool { return r.State == approved && !r.Test }
			isTest := slices.ContainsFunc(rows, isApproved) && !slices.ContainsFunc(rows, isReal)
			if isTest && touched {
				class = ClassTest
				if slices.ContainsFunc(lines, func(l books.Line) bool { return l.State == approved }) {
					class = ClassState
				}
			}
			if class != "" && !taken[string(kind)+" "+id] {
				say(class, kind, id)
			}
		}
	}
	slices.Sort(found)
	return found
}

// isTest reports whether a payment, or that of a refund, is a test.
func (m *memory) isTest(r books.Row) bool {
	return r.Test || slices.ContainsFunc(m.orders, func(p books.Row) bool { return r.Payment == p.UniqueID && p.Test })
}

// ofID has all of one id, in the order of time.
func (m *memory) ofID(kind books.Kind, id string, window Span) (rows []books.Row, lines []books.Line) {
	if kind == books.Payment {
		rows, lines = slices.Clone(m.orders), slices.Clone(m.payments)
	} else {
		rows, lines = slices.Clone(m.refunds), slices.Clone(m.given)
	}
	rows = slices.DeleteFunc(rows, func(r books.Row) bool { return r.ID != id || !window.IsZero() && !window.holds(r.At) })
	lines = slices.DeleteFunc(lines, func(l books.Line) bool { return l.ID != id })
	slices.SortStableFunc(rows, func(a, b books.Row) int { return a.At.Compare(b.At) })
	return rows, lines
}

// naiveLater is the class of the charges of a subscription in the period, if the lines that are nearest to them are fewer.
func naiveLater(charges []books.Row, lines []books.Line, rowNow bool, o Options) Class {
	missing := money("0")
	for _, r := range charges {
		if o.Period.holds(r.At) {
			missing = missing.Add(r.Amount)
		}
	}
	distance := func(r books.Row, l books.Line) time.Duration { return r.At.Sub(l.At).Abs() }
	nearest := func(rows []books.Row, l books.Line) books.Row {
		return slices.MinFunc(rows, func(a, b books.Row) int { return int(distance(a, l) - distance(b, l)) })
	}
	lines = slices.DeleteFunc(slices.Clone(lines), func(l books.Line) bool { return l.State != approved })
	slices.SortStableFunc(lines, func(a, b books.Line) int { return a.At.Compare(b.At) })
	left, never := slices.Clone(charges), 0
	for _, l := range lines {
		isNow := l.At.IsZero() && rowNow
		if !l.At.IsZero() {
			isNow = o.Period.holds(nearest(charges, l).At)
		}
		if isNow {
			missing = missing.Sub(l.Amount)
		}
		if l.At.IsZero() {
			never++
		} else if len(left) > 0 {
			taken := nearest(left, l)
			left = slices.DeleteFunc(left, func(r books.Row) bool { return r.UniqueID == taken.UniqueID })
		}
	}
	inside, atEdge := 0, 0
	for _, r := range left {
		switch {
		case !o.Period.holds(r.At):
		case r.At.Before(o.Period.From.Add(o.Grace)) || !r.At.Before(o.Period.To.Add(-o.Grace)):
			atEdge++
		default:
			inside++
		}
	}
	switch {
	case !missing.IsPositive() || inside+atEdge == 0:
		return ""
	case inside <= never && atEdge > 0:
		return ClassUnchecked
	}
	return ClassLaterCharge
}

func naiveClass(kind books.Kind, rows []books.Row, lines []books.Line, o Options) (class Class, touched bool) {
	paid, sums := 0, map[string]int{} // gateway less books in the period, in hundredths
	rowNow, isNotPaid := false, true
	var last books.Row
	for _, r := range rows {
		isNow := o.Period.holds(r.At)
		rowNow, isNotPaid = rowNow || isNow, isNotPaid && (r.State != approved || r.Test)
		if r.State == approved {
			paid++
			if isNow {
				touched = true
				sums[r.Currency] += int(r.Amount.Shift(2).IntPart())
			}
		}
		if last.State == "" || weight(r.State) >= weight(last.State) {
			last = r
		}
	}
	booked := ""
	for _, l := range lines {
		if isOurs := o.Period.holds(l.At) || l.At.IsZero() && (rowNow || isNotPaid); isOurs {
			touched = true
			if l.State == approved {
				sums[l.Currency] -= int(l.Amount.Shift(2).IntPart())
			}
		}
		if booked == "" || weight(l.State) > weight(booked) {
			booked = l.State
		}
	}
	if !touched {
		return "", touched
	}
	here, there, twice := ClassMissingHere, ClassMissingThere, ClassTwoSuccesses
	if kind == books.Refund {
		here, there, twice = ClassRefundMissingHere, ClassRefundMissingThere, ClassRefundTwice
	}
	charges := slices.DeleteFunc(slices.Clone(rows), func(r books.Row) bool { return r.State != approved })
	cycle := 0 // the amount of each charge of a subscription, in hundredths
	for i := 1; i < len(charges) && kind == books.Payment; i++ {
		a, b := charges[i-1], charges[i]
		if b.At.Sub(a.At).Hours() < 20 || a.Currency != b.Currency || !a.Amount.Equal(b.Amount) {
			cycle = 0
			break
		}
		cycle = int(a.Amount.Shift(2).IntPart())
	}
	nearEdge := func(t time.Time, s Span) bool { return t.Before(s.From.Add(o.Grace)) || !t.Before(s.To.Add(-o.Grace)) }
	switch {
	case paid > 1 && cycle == 0:
		return twice, touched
	case len(lines) == 0 && cycle > 0 && charges[0].At.Before(o.Period.From):
		return naiveLater(charges, nil, false, o), touched
	case len(lines) == 0 && nearEdge(rows[slices.IndexFunc(rows, isApproved)].At, o.Period):
		return ClassUnchecked, touched
	case len(lines) == 0:
		return here, touched
	case booked == declined && (len(rows) == 0 || last.State == declined):
		return "", touched
	case len(rows) == 0 && !lines[0].At.IsZero() && nearEdge(lines[0].At, o.Copy):
		return ClassUnchecked, touched
	case len(rows) == 0:
		return there, touched
	}
	isOpen := func(s string) bool { return s != approved && s != declined }
	switch young := !last.At.Before(o.Copy.To.Add(-o.Grace)); {
	case last.State != booked && !isOpen(last.State) && (!young || !isOpen(booked)):
		return ClassState, touched
	case last.State == redirect && booked == approved && !young:
		return ClassState, touched
	case last.State != booked && !(isOpen(last.State) && isOpen(booked)):
		return ClassTiming, touched
	}
	amount := 0
	for _, r := range rows {
		if r.State == approved {
			amount += int(r.Amount.Shift(2).IntPart())
		}
		if r.State == approved && r.Currency != last.Currency {
			return ClassCurrency, touched
		}
	}
	if paid == 0 {
		amount = int(last.Amount.Shift(2).IntPart())
	}
	once, inList, seen := 0, 0, map[string]bool{}
	for _, l := range lines {
		if l.State != booked {
			continue
		}
		if l.Currency != last.Currency {
			return ClassCurrency, touched
		}
		inList += int(l.Amount.Shift(2).IntPart())
		if !seen[l.Amount.String()] {
			seen[l.Amount.String()] = true
			once += int(l.Amount.Shift(2).IntPart())
		}
	}
	all := amount
	for cycle > 0 && amount > cycle && amount > inList {
		amount -= cycle
	}
	switch {
	case amount != inList && paid > 0 && (once == amount || once == cycle):
		return ClassListedTwice, touched
	case amount != inList:
		return ClassAmount, touched
	}
	if cycle > 0 && inList != all {
		if class := naiveLater(charges, lines, rowNow, o); class != "" {
			return class, touched
		}
	}
	for _, sum := range sums {
		if sum != 0 {
			if slices.ContainsFunc(rows, func(r books.Row) bool { return r.State == processing && o.Period.holds(r.At) }) {
				return ClassTiming, touched
			}
			return naiveApart(charges, lines, o), touched
		}
	}
	return "", touched
}

// naiveApart is the class of rows and lines that agree, but are in different periods.
func naiveApart(charges []books.Row, lines []books.Line, o Options) Class {
	left, timed := slices.Clone(charges), slices.DeleteFunc(slices.Clone(lines), func(l books.Line) bool { return l.State != approved || l.At.IsZero() })
	slices.SortStableFunc(timed, func(a, b books.Line) int { return a.At.Compare(b.At) })
	if len(charges) == 1 {
		left = slices.Repeat(left, len(timed))
	}
	for _, l := range timed {
		if len(left) == 0 {
			break
		}
		away := func(a, b books.Row) int { return int(a.At.Sub(l.At).Abs() - b.At.Sub(l.At).Abs()) }
		r := slices.MinFunc(left, away)
		i := slices.IndexFunc(left, func(of books.Row) bool { return of.UniqueID == r.UniqueID })
		left = slices.Delete(left, i, i+1)
		if o.Period.holds(l.At) != o.Period.holds(r.At) {
			if l.At.Sub(r.At).Abs() > 48*time.Hour {
				return ClassDate
			}
			return ClassTiming
		}
	}
	return ClassTiming
}
