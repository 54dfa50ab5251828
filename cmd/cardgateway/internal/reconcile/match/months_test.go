package match

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/google/go-cmp/cmp"
)

// total states the total of an order.
func (m *memory) total(order, total string) *memory {
	if m.totals == nil {
		m.totals = map[string]string{}
	}
	m.totals[order] = total
	return m
}

// test makes the last payment of the gateway a test.
func (m *memory) test() *memory {
	m.orders[len(m.orders)-1].Test = true
	return m
}

// unnamed takes the gateway's ids from the refunds.
func (m *memory) unnamed() *memory {
	for i := range m.refunds {
		m.refunds[i].UniqueID = ""
	}
	return m
}

// theGateways gives the last line the gateway's id, and no other.
func (m *memory) theGateways() *memory {
	l := &m.payments[len(m.payments)-1]
	l.UniqueID = "u-" + l.ID
	l.ID = l.UniqueID
	return m
}

// until makes the time of the last line one of several.
func (m *memory) until(at time.Time) *memory {
	m.payments[len(m.payments)-1].Until = at
	return m
}

func TestOrderTotals(t *testing.T) {
	at := middle
	two := func() *memory {
		return new(memory).pay("a", approved, "30 EUR", at).pay("b", approved, "70 EUR", at.Add(time.Hour)).
			book("a of o", approved, "30 EUR", at).book("b of o", approved, "70 EUR", at)
	}
	onSQLite(t).compare(t, octoberOptions(), []comparison{
		{"no total", two(), []string{"paid_twice payment o 70 EUR"}},
		{"the total in two parts", two().total("o", "100"), nil},
		{"a part is not paid yet", two().total("o", "150"), nil},
		{"more than the total", two().total("o", "99.99"), []string{"paid_twice payment o 0.01 EUR"}},
		{"two currencies", two().pay("c", approved, "5 USD", at).book("c of o", approved, "5 USD", at).total("o", "100"), []string{"paid_twice payment o 70 EUR"}},
		{"the parts in another period", new(memory).pay("a", approved, "30 EUR", at).pay("b", approved, "70 EUR", day0(9, 2, 0)).
			book("a of o", approved, "30 EUR", at).book("b of o", approved, "70 EUR", day0(9, 2, 0)).total("o", "70"), []string{"paid_twice payment o 30 EUR"}},
		{"a test payment and a real one", two().pay("x", approved, "30 EUR", at).test().book("x of o", approved, "30 EUR", at).total("o", "100"),
			[]string{"state payment x 30 EUR"}},
		{"a part with another amount", new(memory).pay("a", approved, "30 EUR", at).pay("b", approved, "70 EUR", at).
			book("a of o", approved, "31 EUR", at).book("b of o", approved, "70 EUR", at).total("o", "100"), []string{"amount payment a 1 EUR"}},
	})
}

// TestTestPayments has test payments among real ones, on a live and on a test system.
func TestTestPayments(t *testing.T) {
	at := middle
	real := func() *memory { return new(memory).pay("r", approved, "9 EUR", at).book("r", approved, "9 EUR", at) }
	for _, test := range []struct {
		name string
		m    *memory
		want []string
	}{
		{"not listed, near the end", real().pay("a", approved, "3 EUR", day0(10, 31, 12)).test(), []string{"test_payment payment a 3 EUR"}},
		{"listed as paid", real().pay("a", approved, "3 EUR", at).test().book("a", approved, "3 EUR", at), []string{"state payment a 3 EUR"}},
		{"listed with another amount", real().pay("a", approved, "3 EUR", at).test().book("a", approved, "4 EUR", at), []string{"state payment a 3 EUR"}},
		{"listed as paid a month later", real().pay("a", approved, "3 EUR", at).test().book("a", approved, "3 EUR", day0(11, 8, 0)), []string{"state payment a 3 EUR"}},
		{"listed as declined", real().pay("a", approved, "3 EUR", at).test().book("a", declined, "3 EUR", at), []string{"test_payment payment a 3 EUR"}},
		{"listed as open", real().pay("a", approved, "3 EUR", at).test().book("a", processing, "3 EUR", at), []string{"test_payment payment a 3 EUR"}},
		{"with a refund that is listed", real().pay("a", approved, "3 EUR", at).test().back("b of a", approved, "2 EUR", at).give("b", "2 EUR", at),
			[]string{"state refund b 2 EUR", "test_payment payment a 3 EUR"}},
		{"declined", real().pay("a", declined, "3 EUR", at).test(), nil},
		{"the id of a test and of a real payment", real().pay("a.1", declined, "3 EUR", at).test().pay("a.2", approved, "3 EUR", at).book("a", approved, "3 EUR", at),
			nil},
		{"with a refund that is not listed", real().pay("a", approved, "3 EUR", at).test().book("a", approved, "3 EUR", at).back("b of a", approved, "2 EUR", at),
			[]string{"state payment a 3 EUR", "test_payment refund b 2 EUR"}},
		{"with a refund without the gateway's id, as a real one", real().pay("a", approved, "3 EUR", at).test().back("b of a", approved, "2 EUR", at).
			back("c of r", approved, "1 EUR", at).unnamed(),
			[]string{"refund_missing_here refund c 1 EUR", "test_payment payment a 3 EUR", "test_payment refund b 2 EUR"}},
		{"with a refund of another month", real().pay("a", approved, "3 EUR", day0(9, 2, 0)).test().back("b of a", approved, "2 EUR", day0(9, 2, 0)), nil},
		{"all are tests", new(memory).pay("a", approved, "3 EUR", at).test(), []string{"test_payment payment a 3 EUR"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := onSQLite(t)
			got, s := d.run(t, test.m, octoberOptions())
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			isOnlyTest := !slices.ContainsFunc(s.Classes, func(c Count) bool { return c.Class != ClassTest })
			if isOnlyTest && s.Differences() != 0 {
				t.Errorf("%d test payments are counted as differences", s.Differences())
			}
			o := octoberOptions()
			o.TestPayments = true // of a test system
			for _, found := range first(d.run(t, test.m, o)) {
				if strings.HasPrefix(found, "test_payment") {
					t.Errorf("of a test system: got %s", found)
				}
			}
		})
	}
}

func first(found []string, _ *Summary) []string { return found }

// TestTimesThatMeanSeveral: a line with a date alone, or with an hour that clocks show twice, is in the period of its payment.
func TestTimesThatMeanSeveral(t *testing.T) {
	first := day0(10, 1, 0)
	onSQLite(t).compare(t, octoberOptions(), []comparison{
		{"a date in the zone of the list, the payment is before the period",
			new(memory).pay("a", approved, "3 EUR", first.Add(-time.Hour)).book("a", approved, "3 EUR", first.Add(-18*time.Hour)).until(first.Add(6 * time.Hour)), nil},
		{"a date that begins before the period, the payment is in it",
			new(memory).pay("a", approved, "3 EUR", first.Add(time.Hour)).book("a", approved, "3 EUR", first.Add(-18*time.Hour)).
				until(first.Add(6*time.Hour - time.Second)), nil},
		{"the payment is at the last second of the date",
			new(memory).pay("a", approved, "3 EUR", first.Add(time.Hour)).book("a", approved, "3 EUR", first.Add(-18*time.Hour)).until(first.Add(time.Hour)), nil},
		{"the payment is after the date",
			new(memory).pay("a", approved, "3 EUR", first.Add(time.Hour)).book("a", approved, "3 EUR", first.Add(-18*time.Hour)).until(first.Add(59 * time.Minute)),
			[]string{"timing payment a 3 EUR"}},
		{"declined before the period, paid in it",
			new(memory).pay("a.1", declined, "3 EUR", first.Add(-time.Hour)).pay("a.2", approved, "3 EUR", first.Add(time.Hour)).
				book("a", approved, "3 EUR", first.Add(-18*time.Hour)).until(first.Add(6 * time.Hour)), nil},
	})
}

// TestDatesOfAnotherZone: lists of exactly a month, with dates alone, in a zone in the west or in the east of the gateway's, so that the
// last or the first date is in two months of the gateway.
func TestDatesOfAnotherZone(t *testing.T) {
	end, paid := day0(10, 1, 0), day0(10, 1, 3)
	for name, first := range map[string]time.Time{"west": end.Add(8 * time.Hour), "east": end.Add(-6 * time.Hour)} { // of October
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, d *database) {
				gateway := func() *memory { return new(memory).pay("a", approved, "3 EUR", paid) }
				date := func(m *memory, id string, at time.Time) {
					m.book(id, approved, "3 EUR", at).until(at.Add(24*time.Hour - time.Second))
				}
				september, october := gateway(), gateway()
				date(september, "s", first.Add(-24*time.Hour))
				date(october, "o", first)
				if paid.Before(first) {
					date(september, "a", first.Add(-24*time.Hour))
				} else {
					date(october, "a", first)
				}
				if found, _ := d.run(t, september, monthOf(9)); !slices.Equal(found, []string{"missing_there payment s 3 EUR"}) {
					t.Errorf("September: got %q", found)
				}
				found, s := d.run(t, october, monthOf(10))
				if !slices.Equal(found, []string{"missing_there payment o 3 EUR"}) || s.TiedOut != 1 || s.Elsewhere != 0 {
					t.Errorf("October: got %q, %d tie out, %d lines of other periods", found, s.TiedOut, s.Elsewhere)
				}
			})
		})
	}
}

// monthOf are the options of a month that is over in the copy.
func monthOf(month time.Month) Options {
	o := octoberOptions()
	o.Copy = Span{day0(8, 1, 0), day0(month+1, 10, 0)}
	o.Period = Span{day0(month, 1, 0), day0(month+1, 1, 0)}
	o.Payments.Span, o.Month, o.Now = o.Period, o.Period, o.Copy.To
	return o
}

// earlierTexts says what a comparison tells of earlier months.
func earlierTexts(s *Summary) (all []string) {
	for i := range s.Earlier {
		e := &s.Earlier[i]
		now := string(e.Class)
		if now == "" {
			now = "settled"
		}
		if e.IsOfPeriod {
			now = "of the period"
		}
		all = append(all, fmt.Sprintf("%s %s %s: %s, %s", e.Since.Format("January"), e.Kind, e.ID, e.Was, now))
	}
	return all
}

// TestMonths closes September, October and November, each with a list of exactly that month. Each month is compared twice, and
// September again at the end: a repetition has the same result.
func TestMonths(t *testing.T) {
	last, next := day0(9, 30, 23), day0(10, 1, 1)
	september := new(memory).
		book("booked early of o", approved, "1 EUR", last).                                  // and paid in October
		book("late success", approved, "2 EUR", day0(9, 20, 0)).                             // in processing
		book("late decline", approved, "3 EUR", day0(9, 20, 0)).                             // in processing
		book("for long", approved, "4 EUR", day0(9, 20, 0)).                                 // in processing until November
		book("another amount", approved, "5 EUR", day0(9, 20, 0)).                           // in processing
		book("agrees", approved, "6 EUR", last).give("late refund", "1 EUR", day0(9, 20, 0)) // in processing
	october := new(memory).book("booked late", approved, "7 EUR", next).book("wrong late", approved, "8 EUR", next).
		book("never paid", approved, "13 EUR", last).book("declined", approved, "14 EUR", last). // which the list of September did not have
		book("at last declined", approved, "15 EUR", last)
	november := new(memory).book("other", approved, "9 EUR", day0(11, 15, 0)).book("never paid", approved, "13 EUR", last)
	rows := func(success, decline, long, refund string) *memory {
		return new(memory).pay("booked early", approved, "1 EUR", next).
			pay("late success", success, "2 EUR", day0(9, 20, 0)).pay("late decline", decline, "3 EUR", day0(9, 20, 0)).pay("for long", long, "4 EUR", day0(9, 20, 0)).
			pay("another amount", success, map[string]string{processing: "5 EUR", approved: "5.5 EUR"}[success], day0(9, 20, 0)).
			pay("agrees", approved, "6 EUR", last).pay("booked late", approved, "7 EUR", last).pay("wrong late", approved, "80 EUR", last).
			pay("lost at the start", approved, "10 EUR", day0(9, 1, 1)).pay("lost at the end", approved, "11 EUR", last).
			pay("lost in October", approved, "12 EUR", next).pay("declined", declined, "14 EUR", last).
			pay("at last declined", map[string]string{processing: processing, approved: declined}[long], "15 EUR", last).pay("other", approved, "9 EUR", day0(11, 15, 0)).
			pay("p", approved, "3 EUR", day0(8, 20, 0)).back("late refund of p", refund, "1 EUR", day0(9, 20, 0))
	}
	inSeptember := rows(processing, processing, processing, processing)
	inOctober := rows(approved, declined, processing, approved)
	inNovember := rows(approved, declined, approved, approved)
	steps := []struct {
		name       string
		month      time.Month
		rows, list *memory
		earlier    []string
		found      []string // of the period itself
		kept       int
		problems   int
	}{
		{"September", 9, inSeptember, september, nil, []string{
			"timing payment another amount 5 EUR", "timing payment at last declined 15 EUR", "timing payment booked early 1 EUR", "timing payment for long 4 EUR", "timing payment late decline 3 EUR",
			"timing payment late success 2 EUR", "timing refund late refund 1 EUR", "unchecked payment booked late 7 EUR", "unchecked payment lost at the end 11 EUR",
			"unchecked payment lost at the start 10 EUR", "unchecked payment wrong late 80 EUR",
		}, 11, 0},
		{"October", 10, inOctober, october, []string{
			"September payment another amount: timing, of the period", "September payment at last declined: timing, timing", "September payment booked early: timing, settled", "September payment booked late: unchecked, settled",
			"September payment for long: timing, timing", "September payment late decline: timing, state", "September payment late success: timing, settled",
			"September payment lost at the end: unchecked, missing_here", "September payment lost at the start: unchecked, unchecked",
			"September payment wrong late: unchecked, of the period", "September refund late refund: timing, settled",
		}, []string{
			"amount payment another amount 0.5 EUR", "amount payment wrong late 72 EUR", "missing_here payment lost in October 12 EUR",
			"missing_there payment never paid 13 EUR", "state payment declined 14 EUR", "timing payment at last declined 15 EUR", "timing payment booked early 1 EUR", "timing payment booked late 7 EUR",
			"timing payment late success 2 EUR", "timing refund late refund 1 EUR",
		}, 1, 7},
		{"November", 11, inNovember, november, []string{
			"September payment at last declined: timing, state", "September payment for long: timing, settled",
			"September payment lost at the start: unchecked, unchecked",
		}, []string{"timing payment for long 4 EUR"}, 0, 1},
	}
	onEach(t, func(t *testing.T, d *database) {
		compare := func(name string, i int) {
			t.Helper()
			step := steps[i]
			m := *step.rows
			m.payments, m.given = step.list.payments, step.list.given
			got, s := d.run(t, &m, monthOf(step.month))
			if diff := cmp.Diff(step.found, got); diff != "" {
				t.Errorf("%s: differences (-want +got):\n%s", name, diff)
			}
			if diff := cmp.Diff(step.earlier, earlierTexts(s)); diff != "" {
				t.Errorf("%s: earlier months (-want +got):\n%s", name, diff)
			}
			if s.Kept != step.kept || s.Differences() != step.problems {
				t.Errorf("%s: got %d kept and %d differences, want %d and %d", name, s.Kept, s.Differences(), step.kept, step.problems)
			}
		}
		for i, step := range steps {
			t.Run(step.name, func(t *testing.T) {
				compare("first", i)
				compare("again", i)
			})
		}
		t.Run("all of them again", func(t *testing.T) {
			for i, step := range steps {
				compare(step.name, i)
			}
		})
		t.Run("September again, and then November", func(t *testing.T) {
			compare("September", 0)
			compare("November", 2)
		})
	})
}

// TestMonthIsLeftOut: what is open at the end of September stays unchecked until October is compared, and a difference after that.
func TestMonthIsLeftOut(t *testing.T) {
	d := onSQLite(t)
	m := new(memory).pay("a", approved, "3 EUR", day0(9, 30, 12)).pay("b", approved, "4 EUR", day0(11, 1, 1))
	d.run(t, m, monthOf(9))
	found, s := d.run(t, m, monthOf(11))
	if diff := cmp.Diff([]string{"September payment a: unchecked, unchecked"}, earlierTexts(s)); diff != "" || s.Unchecked() != 2 {
		t.Errorf("got %d unchecked in %q (-want +got):\n%s", s.Unchecked(), found, diff)
	}
	_, s = d.run(t, m, monthOf(10))
	if diff := cmp.Diff([]string{"September payment a: unchecked, missing_here"}, earlierTexts(s)); diff != "" {
		t.Errorf("October (-want +got):\n%s", diff)
	}
	found, s = d.run(t, m, monthOf(11))
	if diff := cmp.Diff([]string{"missing_here payment b 4 EUR"}, found); diff != "" || len(s.Earlier) > 0 {
		t.Errorf("November after October: %q (-want +got):\n%s", earlierTexts(s), diff)
	}
	_, s = d.run(t, m, octoberOptions()) // no month
	if len(s.Earlier) > 0 || s.Kept > 0 {
		t.Errorf("got %+v without a month", s)
	}
}

// TestKnownIsSettled: what the merchant has marked is neither kept nor told as a difference.
func TestKnownIsSettled(t *testing.T) {
	d := onSQLite(t)
	m := new(memory).pay("a", approved, "3 EUR", day0(9, 30, 12)).pay("b", approved, "3 EUR", day0(9, 30, 12))
	marked := func(o Options, id, class string) Options {
		o.Known = Known{entries: map[knownKey][]*knownEntry{{class: Class(class), id: id}: {{reason: "x"}}}}
		return o
	}
	if _, s := d.run(t, m, marked(monthOf(9), "b", "unchecked")); s.Kept != 1 {
		t.Errorf("got %d kept, want 1", s.Kept)
	}
	_, s := d.run(t, m, marked(monthOf(10), "a", "missing_here"))
	if settled, open, differences := s.EarlierNow(); s.Differences() != 0 || settled != 1 || open+differences != 0 {
		t.Errorf("got %d differences; %d settled, %d open, %d differences", s.Differences(), settled, open, differences)
	}
}

// TestLaterLines: a list that reaches further than its month, as in another time zone, has lines of the next month, whose list need not
// have them. If it has them, it counts.
func TestLaterLines(t *testing.T) {
	next := day0(10, 1, 2)
	for _, test := range []struct {
		name     string
		at       time.Time // of the lines
		october  *memory
		want     []string
		compared int
	}{
		{"not in the next list", next, new(memory), []string{"missing_there payment lost 4 EUR"}, 3},
		{"without times", time.Time{}, new(memory), nil, 2},
		{"in the next list", next, new(memory).book("a", approved, "3.5 EUR", next), []string{"amount payment a 0.5 EUR", "missing_there payment lost 4 EUR"}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, d *database) {
				gateway := func(m *memory) *memory {
					return m.pay("a", approved, "3 EUR", next).pay("p", approved, "9 EUR", day0(9, 5, 0)).back("r of p", approved, "1 EUR", next)
				}
				september := gateway(new(memory)).book("a", approved, "3 EUR", test.at).book("p", approved, "9 EUR", day0(9, 5, 0)).give("r", "1 EUR", test.at)
				if !test.at.IsZero() {
					september.book("lost", approved, "4 EUR", test.at)
				}
				o := monthOf(9)
				o.Payments.Span.To = day0(10, 3, 0)
				if found, s := d.run(t, september, o); len(found) > 0 || s.Kept > 0 {
					t.Errorf("September: got %q, %d kept", found, s.Kept)
				}
				october := *test.october
				found, s := d.run(t, gateway(&october), monthOf(10))
				if diff := cmp.Diff(test.want, found); diff != "" || s.Compared != test.compared {
					t.Errorf("October: got %d compared (-want +got):\n%s", s.Compared, diff)
				}
			})
		})
	}
}

// TestMuchLaterLine: the list of September has a line of November that the gateway does not have, and the months are compared after that.
func TestMuchLaterLine(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		lists := map[time.Month]*memory{9: new(memory).book("a", approved, "3 EUR", day0(9, 5, 0)).book("lost", approved, "5 EUR", day0(11, 5, 0)),
			10: new(memory).book("b", approved, "3 EUR", day0(10, 5, 0)), 11: new(memory).book("c", approved, "3 EUR", day0(11, 5, 0))}
		for month := time.September; month <= time.November; month++ {
			m := lists[month].pay("a", approved, "3 EUR", day0(9, 5, 0)).pay("b", approved, "3 EUR", day0(10, 5, 0)).pay("c", approved, "3 EUR", day0(11, 5, 0))
			o := monthOf(month)
			o.Copy.To = day0(12, 10, 0)
			o.Now = o.Copy.To
			want := map[time.Month][]string{11: {"missing_there payment lost 5 EUR"}}[month]
			for range 2 {
				if found, _ := d.run(t, m, o); !slices.Equal(found, want) {
					t.Errorf("%s: got %q, want %q", month, found, want)
				}
			}
		}
	})
}

// TestLaterLineOfTheGatewaysRefund: a refund that only has the gateway's id, which the list of the month before has too.
func TestLaterLineOfTheGatewaysRefund(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		gateway := func() *memory {
			m := new(memory).pay("p", approved, "9 EUR", day0(9, 5, 0)).back("r of p", approved, "1 EUR", day0(10, 1, 2))
			m.refunds[0].ID = m.refunds[0].UniqueID
			return m
		}
		september := gateway()
		september.book("p", approved, "9 EUR", day0(9, 5, 0)).give(september.refunds[0].UniqueID, "1 EUR", time.Time{})
		if found, s := d.run(t, september, monthOf(9)); len(found) > 0 || s.Kept > 0 {
			t.Errorf("September: got %q, %d kept", found, s.Kept)
		}
		if found, s := d.run(t, gateway(), monthOf(10)); len(found) > 0 || s.TiedOut != 1 {
			t.Errorf("October: got %q, %d of %d tie out", found, s.TiedOut, s.Compared)
		}
	})
}

// TestGatewaysIDs: lists have only the gateway's ids, and the copy that ends with September does not have the rows of two of them yet.
func TestGatewaysIDs(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		middle, last, next := day0(9, 15, 0), day0(9, 30, 23), day0(10, 1, 10)
		september := new(memory).pay("a", approved, "3 EUR", middle).book("a", approved, "3 EUR", middle).theGateways().
			book("late", approved, "5 EUR", last).theGateways().book("next", approved, "4 EUR", next).theGateways()
		o := monthOf(9)
		o.Copy.To = o.Period.To
		if found, s := d.run(t, september, o); !slices.Equal(found, []string{"unchecked payment u-late 5 EUR"}) || s.Kept != 1 {
			t.Errorf("September: got %q, %d kept", found, s.Kept)
		}
		october := new(memory).pay("a", approved, "3 EUR", middle).pay("late", approved, "5 EUR", last).pay("next", approved, "4 EUR", next).
			pay("other", approved, "6 EUR", day0(10, 15, 0)).book("other", approved, "6 EUR", day0(10, 15, 0)).theGateways()
		for range 2 {
			found, s := d.run(t, october, monthOf(10))
			if diff := cmp.Diff([]string{"September payment late: unchecked, settled"}, earlierTexts(s)); diff != "" || len(found) > 0 || s.TiedOut != 2 {
				t.Errorf("October: got %q, %d tie out; earlier months (-want +got):\n%s", found, s.TiedOut, diff)
			}
		}
	})
}

// TestManyLaterRefunds: the lines of a list without times are found among many later refunds by their ids. Reading these for each line would
// take minutes.
func TestManyLaterRefunds(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		d.fill(t, new(memory))
		later := fmt.Sprint(day0(10, 2, 0).UnixMicro())
		for _, rows := range []string{
			"refunds SELECT 'u' || i, 'u' || i, 'r' || i, 'p', 'approved', 111, '1', 'EUR', " + later + ", 1",
			"listed_refunds SELECT i, 'x' || i, '', '1', 'EUR', 'approved', '', '', 0, 0",
		} {
			d.many(t, rows, 10_000)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		o := monthOf(9)
		o.Found = func(*Difference) error { return nil }
		if s, err := Run(ctx, d.Books, o); err != nil || s.Rows(ClassRefundMissingThere) != 10000 {
			t.Errorf("got %+v, %v", s, err)
		}
	})
}

// many inserts rows, which are numbered by i.
func (d *database) many(t *testing.T, rows string, n int) {
	t.Helper()
	if _, err := d.db.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO cardgateway_%s FROM (
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n) n`, rows, n)); err != nil {
		t.Fatal(err)
	}
}

// TestListOfAYear: the lines that a list has for later months are compared once with those that are kept of the month before. Doing so for each
// of them would take minutes.
func TestListOfAYear(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		d.fill(t, new(memory))
		december := fmt.Sprint(day0(12, 10, 0).UnixMicro())
		d.many(t, "listed_payments SELECT i, 'x' || i, '', '1', 'EUR', 'approved', '', '', "+december+", "+december, 30_000)
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		for _, month := range []time.Month{9, 10} {
			o := monthOf(month)
			o.Now = day0(12, 20, 0)
			s, err := Run(ctx, d.Books, o)
			if err == nil {
				err = d.KeepMonths(ctx, s.Months)
			}
			if err != nil || s.Newer != 30_000 {
				t.Fatalf("%s: got %+v, %v", month, s, err)
			}
		}
	})
}

// TestNoRefundInTheMonth: a list of refunds can have none in the month, and some of the days around it. The month is kept as any other, so
// that a refund that is not final is looked at again.
func TestNoRefundInTheMonth(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		o := monthOf(10)
		o.Refunds.Span = Span{From: day0(9, 29, 0), To: day0(9, 30, 0)}
		m := new(memory).pay("p", approved, "9 EUR", day0(10, 5, 0)).book("p", approved, "9 EUR", day0(10, 5, 0))
		found, s := d.run(t, m.back("r of p", processing, "2 EUR", day0(10, 20, 12)), o)
		if diff := cmp.Diff([]string{"timing refund r 2 EUR"}, found); diff != "" || s.Kept != 1 {
			t.Errorf("%d kept, want 1; differences (-want +got):\n%s", s.Kept, diff)
		}
		found, _ = d.run(t, m.back("r2 of p", approved, "2 EUR", day0(10, 21, 12)), o)
		if diff := cmp.Diff([]string{"refund_missing_here refund r2 2 EUR", "timing refund r 2 EUR"}, found); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
	})
}

// TestRefundsAlone: a month has no payment, and a refund that is in processing at its end. The list of payments is that of the month before.
func TestRefundsAlone(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		m := func(state string) *memory {
			return new(memory).pay("p", approved, "9 EUR", day0(9, 5, 0)).back("r of p", state, "2 EUR", day0(10, 20, 0)).back("s of p", approved, "1 EUR", day0(10, 20, 0))
		}
		o := monthOf(10)
		o.Payments.Span, o.Payments.IsOther, o.Refunds.Span = monthOf(9).Period, true, o.Period
		october := m(processing).book("p", approved, "9 EUR", day0(9, 5, 0)).give("s", "1 EUR", day0(10, 20, 0))
		if found, s := d.run(t, october, o); !slices.Equal(found, []string{"timing refund r 2 EUR"}) || s.Kept != 1 {
			t.Errorf("October: got %q, %d kept", found, s.Kept)
		}
		if months, err := d.Months(t.Context(), books.Payment); err != nil || len(months) > 0 {
			t.Errorf("the payments of October are kept: %+v, %v", months, err)
		}
		if found, _ := d.run(t, m(approved), monthOf(11)); !slices.Equal(found, []string{"refund_missing_here refund r 2 EUR"}) {
			t.Errorf("November: got %q", found)
		}
	})
}

// TestNoListOfRefunds: without a refund there need be no list of them. A refund of such a month that comes late is told.
func TestNoListOfRefunds(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		m := new(memory).pay("p", approved, "9 EUR", day0(9, 5, 0)).book("p", approved, "9 EUR", day0(9, 5, 0))
		o := monthOf(9)
		o.Refunds = List{}
		if found, s := d.run(t, m, o); len(found) > 0 || s.RefundsLeftOut != 0 {
			t.Errorf("September: got %q, %d refunds are left out", found, s.RefundsLeftOut)
		}
		m.back("r of p", approved, "2 EUR", day0(9, 20, 0)).give("r", "2 EUR", day0(9, 20, 0))
		d.record(t, books.Refund, nil, m.refunds, o.Copy.To, 1)
		if found, s := d.run(t, m, monthOf(10)); len(found) > 0 || len(s.Changed) != 1 || s.Changed[0].Effect() != "+2.00 EUR" {
			t.Errorf("October: got %q, and %+v changed", found, s.Changed)
		}
	})
}

// TestOrderPaidInTwoMonths: an order is paid at the end of a month and again at the start of the next one, and each list has its own month only.
func TestOrderPaidInTwoMonths(t *testing.T) {
	onEach(t, func(t *testing.T, d *database) {
		last, next := day0(9, 29, 23), day0(10, 1, 1)
		gateway := func() *memory {
			return new(memory).pay("a", approved, "3 EUR", last).pay("b", approved, "3 EUR", next).pay("c", approved, "4 EUR", last).pay("d", approved, "5 EUR", next).
				pay("x", approved, "1 EUR", last).pay("y", approved, "1 EUR", next).pay("z", approved, "1 EUR", next)
		}
		for range 2 {
			if found, _ := d.run(t, gateway().book("a of o", approved, "3 EUR", last).book("c of parts", approved, "4 EUR", last).
				book("x of three", approved, "1 EUR", last), monthOf(9)); len(found) > 0 {
				t.Errorf("September: got %q", found)
			}
			october := gateway().book("b of o", approved, "3 EUR", next).book("d of parts", approved, "5 EUR", next).total("parts", "9").
				book("y of three", approved, "1 EUR", next).book("z of three", approved, "1 EUR", next)
			o, lines := monthOf(10), ""
			o.Found = func(d *Difference) error {
				for _, l := range d.Books {
					lines += fmt.Sprintln(l.ID, l.Line, l.Earlier)
				}
				return nil
			}
			found, _ := d.run(t, october, o)
			if !slices.Equal(found, []string{"paid_twice payment o 3 EUR", "paid_twice payment three 2 EUR"}) ||
				lines != "a 2 true\nb 2 false\nx 4 true\ny 4 false\nz 5 false\n" {
				t.Errorf("October: got %q of\n%s", found, lines)
			}
		}
	})
}

// TestRefundedAlready: what was charged several times says what of it is refunded, in any month, so that nobody refunds the rest, too.
func TestRefundedAlready(t *testing.T) {
	at, late := middle, day0(11, 5, 0)
	for _, test := range []struct {
		class Class
		m     *memory
		want  string
	}{
		{ClassPaidTwice, new(memory).pay("a", approved, "3 USD", at).pay("b", approved, "3 USD", at).book("a of o", approved, "3 USD", at).
			book("b of o", approved, "3 USD", at).back("r of b", approved, "3 USD", late), "refunded already: 3.00 USD"},
		{ClassTwoSuccesses, new(memory).pay("a.1", approved, "3 USD", at).pay("a.2", approved, "3 USD", at).book("a", approved, "3 USD", at).
			back("r of a.1", approved, "1 USD", at).back("s of a.2", processing, "2 USD", at), "refunded already: 3.00 USD"},
		{ClassTwoSuccesses, new(memory).pay("a.1", approved, "3 USD", at).pay("a.2", approved, "3 USD", at).back("r of a.1", declined, "1 USD", at), ""},
		{ClassLaterCharge, new(memory).pay("a.1", approved, "3 USD", at).pay("a.2", approved, "3 USD", at.AddDate(0, 0, 5)).book("a", approved, "3 USD", at).
			back("r of a.2", approved, "3 USD", late), "the first charge was at 2026-10-15 12:00:00; refunded already: 3.00 USD"},
	} {
		o, why := octoberOptions(), "not found"
		o.Found = func(d *Difference) error {
			if d.Class == test.class {
				why = d.Why
			}
			return nil
		}
		if onSQLite(t).run(t, test.m, o); why != test.want {
			t.Errorf("%s: got %q, want %q", test.class, why, test.want)
		}
	}
}
