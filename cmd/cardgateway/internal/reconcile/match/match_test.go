package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/google/go-cmp/cmp"
)

const (
	approved   = books.StateApproved
	declined   = books.StateDeclined
	processing = books.StateProcessing
	redirect   = books.StateRedirect
)

var zone = time.FixedZone("UTC+8", 8*3600)

func day0(month time.Month, day, hour int) time.Time {
	return time.Date(2026, month, day, hour, 0, 0, 0, zone)
}

var (
	october = Span{day0(10, 1, 0), day0(11, 1, 0)}
	whole   = Span{day0(9, 1, 0), day0(11, 10, 0)}
	middle  = day0(10, 15, 12)
)

func octoberOptions() Options {
	return Options{
		Period: october, Copy: whole, Now: day0(11, 10, 0), Grace: 48 * time.Hour,
		Payments: List{Read: true, SHA256: "abc"}, Refunds: List{Read: true, SHA256: "abc"},
	}
}

// pay adds a payment to the gateway. Its transaction id is the part of the id before a dot.
func (m *memory) pay(id, state, amount string, at time.Time) *memory {
	value, currency, _ := strings.Cut(amount, " ")
	transaction, _, _ := strings.Cut(id, ".")
	m.orders = append(m.orders, books.Row{
		UniqueID: "u-" + id, ID: transaction, State: state, Amount: money(value), Currency: currency, At: at, Card: "430000******0000",
	})
	return m
}

// book adds a line to the list of payments: "id", "id of order".
func (m *memory) book(what, state, amount string, at time.Time) *memory {
	id, order, _ := strings.Cut(what, " of ")
	value, currency, _ := strings.Cut(amount, " ")
	m.payments = append(m.payments, books.Line{
		Line: len(m.payments) + 2, ID: id, Order: order, State: state, Amount: money(value), Currency: currency, At: at,
	})
	return m
}

// back adds a refund to the gateway: "refund of payment".
func (m *memory) back(what, state, amount string, at time.Time) *memory {
	id, payment, _ := strings.Cut(what, " of ")
	value, currency, _ := strings.Cut(amount, " ")
	r := books.Row{UniqueID: "ru-" + id, ID: id, State: state, Amount: money(value), Currency: currency, At: at}
	if payment != "" {
		r.Payment = "u-" + payment
	}
	m.refunds = append(m.refunds, r)
	return m
}

// give adds a line to the list of refunds.
func (m *memory) give(id, amount string, at time.Time) *memory {
	value, currency, _ := strings.Cut(amount, " ")
	m.given = append(m.given, books.Line{Line: len(m.given) + 2, ID: id, State: approved, Amount: money(value), Currency: currency, At: at})
	return m
}

// bad adds a line that cannot be read.
func (m *memory) bad(list books.Kind, line int, id string) *memory {
	m.unreadables = append(m.unreadables, unreadable{List: list, Line: line, ID: id, Column: "amount", Why: "is no number"})
	return m
}

// run compares, checks what must always hold, and returns the differences in one line each. It passes them on to o.Found, too.
func (d *database) run(t *testing.T, m *memory, o Options) (found []string, s *Summary) {
	t.Helper()
	d.fill(t, m)
	if _, err := d.Import(t.Context()); err != nil { // names the lines that have only the gateway's ids
		t.Fatal(err)
	}
	byClass, ofEarlier, passOn := map[Class]int{}, 0, o.Found
	o.Found = func(d *Difference) error {
		if passOn != nil {
			if err := passOn(d); err != nil {
				return err
			}
		}
		if strings.Contains(d.Why, "0001-") {
			t.Errorf("%s %s has no time, and one is said: %s", d.Class, d.ID, d.Why)
		}
		if !d.Since.IsZero() {
			ofEarlier++
			return nil
		}
		line := fmt.Sprintf("%s %s %s", d.Class, d.Kind, d.ID)
		if d.Currency != "" {
			line += " " + d.Value.String() + " " + d.Currency
		}
		if d.Known {
			line += " known: " + d.Reason
		} else {
			byClass[d.Class]++
		}
		found = append(found, line)
		return nil
	}
	s, err := Run(t.Context(), d.Books, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.KeepMonths(t.Context(), s.Months); err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Bridges {
		if left := b.LeftOver(); !left.IsZero() {
			t.Errorf("%s in %s: %v is left over: %+v", b.Kind, b.Currency, left, b)
		}
	}
	for i := range s.Earlier {
		if s.Earlier[i].Class != "" {
			ofEarlier--
		}
	}
	ofEarlier -= len(s.Changed)
	if ofEarlier != 0 {
		t.Errorf("%d more differences of earlier months were given than are in the summary", ofEarlier)
	}
	for class, n := range byClass {
		if got := s.Rows(class); got != n {
			t.Errorf("%s: %d rows are counted, %d were given", class, got, n)
		}
	}
	slices.Sort(found)
	return found, s
}

// comparison is what the books contain, and the differences of October.
type comparison struct {
	name string
	m    *memory
	want []string
}

// compare makes comparisons.
func (d *database) compare(t *testing.T, o Options, tests []comparison) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, _ := d.run(t, test.m, o)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClasses has every class with its edges, and what is no difference.
func TestClasses(t *testing.T) {
	var never time.Time
	early, late := day0(9, 20, 0), day0(11, 5, 0)
	tests := []comparison{
		{"nothing", new(memory), nil},
		{"agrees, other decimals", new(memory).pay("a", approved, "12.5 USD", middle).book("a", approved, "12.50 USD", never), nil},
		{"declined, then paid",
			new(memory).pay("a.1", declined, "3 USD", middle).pay("a.2", approved, "3 USD", middle.Add(time.Hour)).book("a", approved, "3 USD", never), nil},
		{"declined, not listed", new(memory).pay("a", declined, "3 USD", middle), nil},
		{"in processing, not listed", new(memory).pay("a", processing, "3 USD", middle), nil},
		{"declined twice in both", new(memory).pay("a.1", declined, "3 USD", middle).pay("a.2", declined, "3 USD", middle.Add(time.Hour)).
			book("a", declined, "3 USD", never).book("a", declined, "3 USD", never), nil},
		{"declined here, unknown there", new(memory).book("a", declined, "3 USD", middle), nil},
		{"both in another period", new(memory).pay("a", approved, "3 USD", early).book("a", approved, "4 USD", early), nil},
		{"a line without time, paid in another period", new(memory).pay("a", approved, "3 USD", early).book("a", approved, "4 USD", never), nil},
		{"a line without time, a test in another period", new(memory).pay("a", approved, "3 USD", early).test().book("a", approved, "3 USD", never), []string{"state payment a 3 USD"}},
		{"a line without time, declined in another period", new(memory).pay("a", declined, "3 USD", early).book("a", approved, "3 USD", never), []string{"state payment a 3 USD"}},

		{"missing here, just inside", new(memory).pay("a", approved, "3 USD", day0(10, 3, 0)), []string{"missing_here payment a 3 USD"}},
		{"missing here, near the begin", new(memory).pay("a", approved, "3 USD", day0(10, 2, 23)), []string{"unchecked payment a 3 USD"}},
		{"missing here, near the end", new(memory).pay("a", approved, "3 USD", day0(10, 30, 0)), []string{"unchecked payment a 3 USD"}},
		{"missing here, just before that", new(memory).pay("a", approved, "3 USD", day0(10, 29, 23)), []string{"missing_here payment a 3 USD"}},
		{"paid, and the gateway states no amount and no currency", new(memory).pay("a", approved, "0", middle).book("a", approved, "3 USD", middle),
			[]string{"amount payment a 3 USD"}},
		{"no transaction id", new(memory).pay(".1", approved, "3 USD", middle).pay(".2", approved, "3 USD", middle).book("u-.2", approved, "3 USD", middle),
			[]string{"missing_here payment u-.1 3 USD"}},
		{"no time, missing here", new(memory).pay("a", approved, "3 USD", never), []string{"missing_here payment a 3 USD"}},
		{"missing there, in processing", new(memory).book("a", processing, "3 USD", middle), []string{"missing_there payment a 3 USD"}},
		{"missing there, in two currencies", new(memory).book("a", approved, "3 EUR", never).book("a", approved, "400 JPY", never),
			[]string{"missing_there payment a 3 EUR"}},
		{"missing there, declined in another currency", new(memory).book("a", declined, "400 JPY", never).book("a", approved, "3 EUR", never),
			[]string{"missing_there payment a 3 EUR"}},
		{"state, the amount not given, declined in another currency", new(memory).pay("a", declined, "0 ", middle).book("a", declined, "400 JPY", never).
			book("a", approved, "3 EUR", never), []string{"state payment a 3 EUR"}},
		{"declined in another currency, then paid, in both", new(memory).pay("a.1", declined, "400 JPY", middle).pay("a.2", approved, "3 EUR", middle.Add(time.Hour)).
			book("a", declined, "400 JPY", never).book("a", approved, "3 EUR", never), nil},
		{"currency before amount", new(memory).pay("a", approved, "3 USD", middle).book("a", approved, "4 EUR", never), []string{"currency payment a 3 USD"}},
		{"amount, less", new(memory).pay("a", approved, "3 USD", middle).book("a", approved, "3.001 USD", never), []string{"amount payment a 0.001 USD"}},
		{"amount, more", new(memory).pay("a", approved, "300 JPY", middle).book("a", approved, "3 JPY", never), []string{"amount payment a 297 JPY"}},
		{"state before amount", new(memory).pay("a", declined, "3 USD", middle).book("a", approved, "5 USD", never), []string{"state payment a 5 USD"}},
		{"state, booked as in processing", new(memory).pay("a", declined, "3 USD", middle).book("a", processing, "3 USD", never), []string{"state payment a 3 USD"}},
		{"state, never finished", new(memory).pay("a", redirect, "3 USD", middle).book("a", approved, "3 USD", never), []string{"state payment a 3 USD"}},
		{"in processing in both", new(memory).pay("a", processing, "3 USD", middle).book("a", processing, "3 USD", never), nil},
		{"paid in the period before, booked in this", new(memory).pay("a", approved, "3 USD", day0(9, 30, 23)).book("a", approved, "3 USD", day0(10, 1, 1)),
			[]string{"timing payment a 3 USD"}},
		{"paid long before, booked in this", new(memory).pay("a", approved, "3 USD", early).book("a", approved, "3 USD", middle), []string{"date_differs payment a 3 USD"}},
		{"booked 48 hours later, in the next period", new(memory).pay("a", approved, "3 USD", day0(10, 31, 1)).book("a", approved, "3 USD", day0(11, 2, 1)), []string{"timing payment a 3 USD"}},
		{"booked 49 hours later, in the next period", new(memory).pay("a", approved, "3 USD", day0(10, 31, 1)).book("a", approved, "3 USD", day0(11, 2, 2)), []string{"date_differs payment a 3 USD"}},
		{"paid long before, another amount", new(memory).pay("a", approved, "3 USD", early).book("a", approved, "2 USD", middle), []string{"amount payment a 1 USD"}},
		{"declined in this period, paid later",
			new(memory).pay("a.1", declined, "3 USD", middle).pay("a.2", approved, "3 USD", late).book("a", approved, "3 USD", middle),
			[]string{"date_differs payment a 3 USD"}},

		{"two successes before amount", new(memory).pay("a.1", approved, "3 USD", middle).pay("a.2", approved, "3 USD", middle).book("a", approved, "6 USD", never),
			[]string{"two_successes payment a 3 USD"}},
		{"two successes across the edge",
			new(memory).pay("a.1", approved, "3 USD", day0(9, 30, 23)).pay("a.2", approved, "3 USD", day0(10, 1, 1)).book("a", approved, "3 USD", never),
			[]string{"two_successes payment a 3 USD"}},
		{"two successes in different periods",
			new(memory).pay("a.1", approved, "3 USD", middle).pay("a.2", approved, "4 USD", late).book("a", approved, "3 USD", never),
			[]string{"two_successes payment a 4 USD"}},
		{"two successes in different periods, with a time",
			new(memory).pay("a.1", approved, "3 USD", early).pay("a.2", approved, "4 USD", middle).book("a", approved, "3 USD", early),
			[]string{"two_successes payment a 4 USD"}},
		{"two successes in different periods, not listed", new(memory).pay("a.1", approved, "3 USD", early).pay("a.2", approved, "4 USD", middle),
			[]string{"two_successes payment a 4 USD"}},
		{"two successes in other periods", new(memory).pay("a.1", approved, "3 USD", early).pay("a.2", approved, "3 USD", late).book("a", approved, "3 USD", never),
			nil},
		{"listed three times, in two periods",
			new(memory).pay("a", approved, "3 USD", middle).book("a", approved, "3 USD", middle).book("a", approved, "3 USD", late).book("a", approved, "3 USD", late),
			[]string{"listed_twice payment a 6 USD"}},
		{"listed twice, in two parts",
			new(memory).pay("a", approved, "5 USD", middle).book("a", approved, "2 USD", never).book("a", approved, "3 USD", never).
				book("a", approved, "2 USD", never).book("a", approved, "3 USD", never), []string{"listed_twice payment a 5 USD"}},
		{"listed twice, and another amount",
			new(memory).pay("a", approved, "4 USD", middle).book("a", approved, "3 USD", never).book("a", approved, "3 USD", never), []string{"amount payment a 2 USD"}},
		{"listed twice, and declined", new(memory).pay("a", declined, "3 USD", middle).book("a", approved, "3 USD", never).book("a", approved, "3 USD", never),
			[]string{"state payment a 6 USD"}},
		{"paid twice before amount",
			new(memory).pay("a", approved, "3 USD", middle).pay("b", approved, "3 USD", middle.Add(time.Hour)).book("a of o", approved, "4 USD", never).
				book("b of o", approved, "3 USD", never), []string{"paid_twice payment o 3 USD"}},
		{"paid twice, in two currencies", new(memory).pay("a", approved, "3 USD", middle).pay("b", approved, "400 JPY", middle.Add(time.Hour)).
			book("a of o", approved, "3 USD", never).book("b of o", approved, "400 JPY", never), []string{"paid_twice payment o 400 JPY"}},
		{"paid twice, one declined",
			new(memory).pay("a", declined, "3 USD", middle).pay("b", approved, "3 USD", middle).book("a of o", declined, "3 USD", never).
				book("b of o", approved, "3 USD", never), nil},
		{"one order in two lines of one payment",
			new(memory).pay("a", approved, "3 USD", middle).book("a of o", approved, "1 USD", never).book("a of o", approved, "2 USD", never), nil},

		{"the whole is given back", new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "9 USD", middle).give("r", "9 USD", never), nil},
		{"refund without order", new(memory).back("r of p", approved, "3 USD", middle).give("r", "3 USD", never), []string{"refund_without_order refund r 3 USD"}},
		{"refund without even an id of a payment", new(memory).back("r of ", approved, "3 USD", middle).back("s of ", approved, "4 USD", middle),
			[]string{"refund_without_order refund r 3 USD", "refund_without_order refund s 4 USD"}},
		{"refused refund without order", new(memory).back("r of p", declined, "3 USD", middle), nil},
		{"refund above payment",
			new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "5 USD", middle).back("s of p", approved, "4.01 USD", middle).
				give("r", "5 USD", never).give("s", "4.01 USD", never), []string{"refund_above_payment refund p 0.01 USD"}},
		{"refund above payment, one in another period",
			new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "5 USD", early).back("s of p", approved, "5 USD", middle).
				give("s", "5 USD", never), []string{"refund_above_payment refund p 1 USD"}},
		{"refund above payment, all in another period",
			new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "5 USD", early).back("s of p", approved, "5 USD", early), nil},
		{"refund above payment before missing", new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "10 USD", middle),
			[]string{"refund_above_payment refund p 1 USD"}},
		{"refund of what was declined", new(memory).pay("p", declined, "9 USD", early).back("r of p", approved, "2 USD", middle).give("r", "2 USD", never),
			[]string{"refund_above_payment refund p 2 USD"}},
		{"refund in processing is not counted",
			new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "9 USD", middle).back("s of p", processing, "9 USD", middle).
				give("r", "9 USD", never), nil},
		{"refund in another currency", new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 EUR", middle).give("r", "2 EUR", never),
			[]string{"currency refund r 2 EUR"}},
		{"refund missing here, near the end", new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", day0(10, 31, 0)),
			[]string{"unchecked refund r 2 USD"}},
		{"refund missing there", new(memory).give("r", "2 USD", never), []string{"refund_missing_there refund r 2 USD"}},
		{"refund booked in another currency", new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).give("r", "2 EUR", never),
			[]string{"currency refund r 2 USD"}},
		{"refund with another amount", new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).give("r", "3 USD", never),
			[]string{"amount refund r 1 USD"}},
		{"refund done twice, in different periods",
			new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).back("r of p", approved, "2 USD", late).give("r", "2 USD", never),
			[]string{"refund_twice refund r 2 USD"}},
		{"refund done twice, in different periods, with a time",
			new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", early).back("r of p", approved, "2 USD", middle).
				give("r", "2 USD", early), []string{"refund_twice refund r 2 USD"}},
		{"one refund id of two payments",
			new(memory).pay("p", approved, "9 USD", early).pay("q", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).
				back("r of q", approved, "2 USD", middle).give("r", "2 USD", never).give("r", "2 USD", never), nil},
		{"one refund id of two payments, in different periods",
			new(memory).pay("p", approved, "9 USD", early).pay("q", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).
				back("r of q", approved, "2 USD", late).give("r", "2 USD", middle).give("r", "2 USD", late), nil},
		{"refund listed twice",
			new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).give("r", "2 USD", never).give("r", "2.00 USD", never),
			[]string{"listed_twice refund r 2 USD"}},
		{"refund booked, and refused", new(memory).pay("p", approved, "9 USD", early).back("r of p", declined, "2 USD", middle).give("r", "2 USD", never),
			[]string{"state refund r 2 USD"}},
		{"refund booked, and in processing", new(memory).pay("p", approved, "9 USD", early).back("r of p", processing, "2 USD", middle).give("r", "2 USD", never),
			[]string{"timing refund r 2 USD"}},
		{"refund without an id of the merchant", func() *memory {
			m := new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).give("ru-r", "2 USD", never)
			m.refunds[0].ID = m.refunds[0].UniqueID
			return m
		}(), nil},
		{"unreadable, with its id", new(memory).pay("a", approved, "3 USD", middle).bad(books.Payment, 7, "a"), []string{"unreadable payment line 7 of list abc"}},
		{"unreadable, and a line that agrees", new(memory).pay("a", approved, "3 USD", middle).book("a", approved, "3 USD", never).bad(books.Payment, 7, "a"),
			[]string{"unreadable payment line 7 of list abc"}},
		{"unreadable, and a line with another amount", new(memory).pay("a", approved, "3 USD", middle).book("a", approved, "8 USD", never).bad(books.Payment, 7, "a"),
			[]string{"amount payment a 5 USD", "unreadable payment line 7 of list abc"}},
		{"unreadable, and the order paid twice", new(memory).pay("a", approved, "3 USD", middle).pay("b", approved, "3 USD", middle.Add(time.Hour)).book("a of o", approved, "3 USD", never).
			book("b of o", approved, "3 USD", never).bad(books.Payment, 7, "a"), []string{"paid_twice payment o 3 USD", "unreadable payment line 7 of list abc"}},
		{"unreadable, without", new(memory).pay("a", approved, "3 USD", middle).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).
			bad(books.Payment, 7, "").bad(books.Refund, 3, "r"),
			[]string{"missing_here payment a 3 USD", "unreadable payment line 7 of list abc", "unreadable refund line 3 of list abc"}},
		{"unreadable, of another period", new(memory).pay("a", approved, "3 USD", early).bad(books.Payment, 7, "a"), nil},
	}
	onEach(t, func(t *testing.T, d *database) { d.compare(t, octoberOptions(), tests) })
}

// TestEdges has what a list that reaches further than the period makes certain, and what is near the end of the copy.
func TestEdges(t *testing.T) {
	wider := octoberOptions()
	wider.Payments.Span = Span{day0(9, 25, 0), day0(11, 5, 0)}
	narrower := octoberOptions()
	narrower.Payments.Span = Span{day0(10, 10, 0), day0(10, 20, 0)}
	strict := octoberOptions()
	strict.Grace = 0
	short := octoberOptions()
	later := octoberOptions()
	later.Copy.To = day0(4, 16, 0).AddDate(1, 0, 0) // more than 180 days after the middle
	short.Copy.To = october.To
	atEnd := day0(10, 31, 20)
	tests := []struct {
		name string
		o    Options
		m    *memory
		want []string
	}{
		{"the list reaches further", wider, new(memory).pay("a", approved, "3 USD", atEnd), []string{"missing_here payment a 3 USD"}},
		{"the list is shorter than the period that was asked for", narrower, new(memory).pay("a", approved, "3 USD", day0(10, 25, 0)),
			[]string{"missing_here payment a 3 USD"}},
		{"no grace", strict, new(memory).pay("a", approved, "3 USD", atEnd), []string{"missing_here payment a 3 USD"}},
		{"the copy reaches further", octoberOptions(), new(memory).book("a", approved, "3 USD", atEnd), []string{"missing_there payment a 3 USD"}},
		{"the copy ends with the period", short, new(memory).book("a", approved, "3 USD", atEnd), []string{"unchecked payment a 3 USD"}},
		{"in processing for half a year, booked as declined", later, new(memory).pay("a", processing, "3 USD", middle).book("a", declined, "3 USD", middle),
			[]string{"state payment a 3 USD"}},
		{"redirect for half a year, booked as declined", later, new(memory).pay("a", redirect, "3 USD", middle).book("a", declined, "3 USD", middle),
			[]string{"timing payment a 3 USD"}},
		{"refund in processing for half a year", later,
			new(memory).pay("p", approved, "9 USD", middle).book("p", approved, "9 USD", middle).back("r of p", processing, "3 USD", middle).
				give("r", "3 USD", middle), []string{"state refund r 3 USD"}},
		{"in processing without a time", later, new(memory).pay("a", processing, "3 USD", time.Time{}).book("a", approved, "3 USD", time.Time{}),
			[]string{"timing payment a 3 USD"}},
		{"in processing for less", later, new(memory).pay("a", processing, "3 USD", day0(10, 20, 0)).book("a", approved, "3 USD", day0(10, 20, 0)),
			[]string{"timing payment a 3 USD"}},
		{"redirect at the end of the copy", short, new(memory).pay("a", redirect, "3 USD", atEnd).book("a", approved, "3 USD", atEnd),
			[]string{"timing payment a 3 USD"}},
		{"became final at the end of the copy", short, new(memory).pay("a", approved, "3 USD", atEnd).book("a", processing, "3 USD", atEnd),
			[]string{"timing payment a 3 USD"}},
		{"booked as paid, declined at the end of the copy", short, new(memory).pay("a", declined, "3 USD", atEnd).book("a", approved, "3 USD", atEnd),
			[]string{"state payment a 3 USD"}},
	}
	onEach(t, func(t *testing.T, d *database) {
		for _, test := range tests {
			d.compare(t, test.o, []comparison{{test.name, test.m, test.want}})
		}
	})
}

func TestUnsorted(t *testing.T) {
	rows := func(yield func(string, error) bool) { _ = yield("b", nil) && yield("a", nil) }
	for _, err := range groups("rows", rows, func(s *string) string { return *s }) {
		if err == nil || err.Error() != `rows are not sorted: "a" comes after "b"` {
			t.Errorf("got %v, want that they are not sorted", err)
		}
	}
}
