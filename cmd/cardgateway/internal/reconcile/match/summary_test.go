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

// readKnown reads a file of known differences.
func readKnown(t *testing.T, text string) Known {
	t.Helper()
	known, err := ReadKnown(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// TestBridge follows the sums through every class of one currency, and keeps currencies apart.
func TestBridge(t *testing.T) {
	m := new(memory).
		pay("ok", approved, "100 USD", middle).book("ok", approved, "100 USD", time.Time{}).
		pay("here", approved, "7 USD", middle).
		book("there", approved, "5 USD", time.Time{}).
		pay("amount", approved, "20 USD", middle).book("amount", approved, "18 USD", time.Time{}).
		pay("currency", approved, "50 USD", middle).book("currency", approved, "40 EUR", time.Time{}).
		pay("twice.1", approved, "3 USD", middle).pay("twice.2", approved, "3 USD", middle).book("twice", approved, "3 USD", time.Time{})
	o := octoberOptions()
	o.Known = readKnown(t, "id,class,reason,value\nhere,missing_here,paid in cash too,7.00\n"+
		"there,missing_here,other class,\nold,amount,gone,\namount,amount,it was smaller,1.99\n")
	found, s := onSQLite(t).run(t, m, o)
	if want := "missing_here payment here 7 USD known: paid in cash too"; !slices.Contains(found, want) {
		t.Errorf("got %q, want in it %q", found, want)
	}
	var got []string
	for _, b := range s.Bridges {
		got = append(got, fmt.Sprintf("%s %s books %v", b.Kind, b.Currency, b.Books))
		for _, step := range b.Steps {
			got = append(got, fmt.Sprintf("%s %v %d %v", step.Class, step.Known, step.Rows, step.Sum))
		}
		got = append(got, fmt.Sprintf("gateway %v", b.Gateway))
	}
	want := []string{
		"payment EUR books 40", "currency false 1 -40", "gateway 0",
		"payment USD books 126", "two_successes false 1 3", "missing_there false 1 -5", "currency false 1 50", "amount false 1 2", "missing_here true 1 7",
		"gateway 183",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bridges (-want +got):\n%s", diff)
	}
	if s.Compared != 6 || s.TiedOut != 1 || s.Differences() != 4 || s.Known() != 1 {
		t.Errorf("got %d compared, %d tied out, %d differences, %d known", s.Compared, s.TiedOut, s.Differences(), s.Known())
	}
	if !slices.Equal(s.Unused, []int{3, 4, 5}) {
		t.Errorf("got unused entries in the lines %v, want 3, 4 and 5", s.Unused)
	}
}

// TestReadKnown: a file of known differences may be written as a list may.
func TestReadKnown(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"as written here", "class,kind,id,reason,value\nmissing_here,payment,'=a,paid in cash,7.50\n", "2 missing_here =a paid in cash 7.5"},
		{"semicolons, decimal comma", "class;id;reason;value\r\nmissing_here;a;bar bezahlt, am Schalter;7,50\r\n", "2 missing_here a bar bezahlt, am Schalter 7.5"},
		{"tabs", "class\tid\treason\nmissing_here\ta\tpaid in cash\n", "2 missing_here a paid in cash"},
		{"byte order mark, quotes", "\xef\xbb\xbf\"Class\";\"ID\";\"Reason\"\r\n\"missing_here\";\"a;b\";\"paid in \"\"cash\"\"\"\r\n",
			`2 missing_here a;b paid in "cash"`},
		{"an empty line, blanks", "\nclass , id, Reason\n\n missing_here , a , paid in cash \n", "4 missing_here a paid in cash"},
		{"no reason", "class;id;reason\nmissing_here;a;\n", ""},
		{"no column", "class;id;why\nmissing_here;a;b\n", "error: the first line must name the columns class, id and reason"},
		{"Latin-1", "class;id;reason\nmissing_here;a;bezahlt f\xfcr b\n", "2 missing_here a bezahlt f\u00fcr b"},
		{"an open quotation mark", "class;id;reason\nmissing_here;\"a;b\n", "error: line 2 has a quotation mark that is not closed"},
		{"no amount", "class;id;reason;value\nmissing_here;a;b;1.234,50\n", `error: line 2: the value "1.234,50" is not an amount`},
		{"an exponent", "class,id,reason,value\namount,a,b,1e9\n", `error: line 2: the value "1e9" is not an amount`},
		{"no class", "class;id;reason\nlost;a;b\n", `error: line 2: there is no class "lost"`},
		{"no kind", "class;kind;id;reason\namount;paid;a;b\n", `error: line 2: there is no kind "paid"`},
		{"no id", "class;id;reason\namount;;b\n", "error: line 2: the id is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			k, err := ReadKnown(strings.NewReader(test.text))
			got := ""
			for _, m := range k.all {
				got = fmt.Sprintln(m.line, m.class, m.id, m.reason)
				if m.value != nil {
					got = fmt.Sprintln(strings.TrimSpace(got), m.value)
				}
			}
			if err != nil {
				got = "error: " + err.Error()
			}
			if got = strings.TrimSpace(got); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestKnownKind: a known difference of a payment hides none of a refund with the same id, unless the file does not say which it is.
func TestKnownKind(t *testing.T) {
	m := new(memory).pay("a", approved, "10 USD", middle).book("a", approved, "9 USD", middle).
		back("a of a", approved, "8 USD", middle).give("a", "7 USD", middle)
	m.bad(books.Payment, 9, "").bad(books.Refund, 9, "")
	for _, test := range []struct {
		name, titles, kind string
		known              int
	}{{"as written here", "kind,", "payment,", 2}, {"of refunds", "kind,", "refund,", 2}, {"empty", "kind,", ",", 4}, {"no column", "", "", 4}} {
		t.Run(test.name, func(t *testing.T) {
			o := octoberOptions()
			o.Known = readKnown(t, "class,"+test.titles+"id,reason\namount,"+test.kind+"a,agreed\nunreadable,"+test.kind+"line 9 of list abc,agreed\n")
			if found, s := onSQLite(t).run(t, m, o); s.Known() != test.known || s.Differences() != 4-test.known || len(s.Unused) > 0 {
				t.Errorf("got %d known of %q, unused %v, want %d known", s.Known(), found, s.Unused, test.known)
			}
		})
	}
}

// TestKnownChanges: what has changed of one month is known without that of another one, and of what is marked every row counts.
func TestKnownChanges(t *testing.T) {
	d := onSQLite(t)
	before := new(memory).pay("a", approved, "5 EUR", day0(9, 10, 12)).book("a", approved, "5 EUR", day0(9, 10, 12))
	after := new(memory).pay("a", approved, "5 EUR", day0(8, 10, 12))
	d.run(t, before, monthOf(8))
	d.run(t, before, monthOf(9))
	d.record(t, books.Payment, before.orders, after.orders, day0(9, 4, 0), 1)
	for _, test := range []struct {
		name, known string
		want        int
	}{{"none", "", 2}, {"of August", "changed,a,moved,5.00\n", 1}, {"both", "changed,a,moved,5.00\nchanged,a,moved,-5.00\n", 0}, {"no value", "changed,a,moved,\n", 0}} {
		t.Run(test.name, func(t *testing.T) {
			o := monthOf(10)
			o.Known = readKnown(t, "class,id,reason,value\n"+test.known)
			if _, s := d.run(t, after, o); s.Differences() != test.want || len(s.Changed) != 2 || len(s.Unused) > 0 {
				t.Errorf("got %d differences of %d changes, unused %v, want %d of 2", s.Differences(), len(s.Changed), s.Unused, test.want)
			}
		})
	}
}

// TestKnownHidesItself: a known difference does not hide another difference of the same rows.
func TestKnownHidesItself(t *testing.T) {
	m := new(memory).pay("a", approved, "100 USD", middle).pay("b", approved, "50 USD", middle.Add(time.Hour)).
		book("a of o", approved, "100 USD", time.Time{}).book("b of o", approved, "950 USD", time.Time{}).
		pay("c", approved, "100 USD", middle).pay("d", approved, "50 USD", middle.Add(time.Hour)).
		book("c of p", approved, "100 USD", time.Time{}).book("d of p", approved, "50 USD", time.Time{}).
		pay("e", approved, "10 USD", middle).
		back("r of e", approved, "8 USD", middle).back("s of e", approved, "8 USD", middle).give("r", "8 USD", time.Time{}).
		pay("x", approved, "20 USD", middle).book("x", approved, "30 USD", time.Time{})
	m.book("e", approved, "10 USD", time.Time{}).pay("y", approved, "7 USD", middle)
	m.bad(books.Payment, 90, "x").bad(books.Payment, 91, "y").bad(books.Payment, 92, "")
	o := octoberOptions()
	o.Known = readKnown(t, "class,id,reason,value\npaid_twice,o,in two parts,50\npaid_twice,p,in two parts,\n"+
		"refund_above_payment,e,goodwill,\nunreadable,line 90 of list abc,credit note,\nunreadable,line 91 of list abc,credit note,\n"+
		"unreadable,line 92 of list def,credit note of another month,\n")
	got, s := onSQLite(t).run(t, m, o)
	want := []string{
		"amount payment b 900 USD", "amount payment x 10 USD", "missing_here payment y 7 USD",
		"paid_twice payment o 50 USD known: in two parts", "paid_twice payment p 50 USD known: in two parts",
		"refund_above_payment refund e 6 USD known: goodwill", "refund_missing_here refund s 8 USD",
		"unreadable payment line 90 of list abc known: credit note", "unreadable payment line 91 of list abc known: credit note",
		"unreadable payment line 92 of list abc",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if s.Differences() != 5 || s.Known() != 5 {
		t.Errorf("got %d differences and %d known, want 5 and 5", s.Differences(), s.Known())
	}
}

// TestNotChecked: what is near a limit is neither a difference nor tied out, and lines that are newer than the copy are not of
// another period.
func TestNotChecked(t *testing.T) {
	first := day0(10, 1, 1)
	m := new(memory).pay("a", approved, "1 USD", day0(10, 31, 1)).pay("a2", approved, "1 USD", first).pay("a3", approved, "1 USD", day0(10, 30, 1)).
		pay("b", approved, "1 USD", middle).book("b", approved, "1 USD", middle).
		book("old", approved, "1 USD", day0(9, 2, 0)).book("new", approved, "1 USD", whole.To).book("newer", approved, "1 USD", whole.To.Add(time.Hour)).
		book("of 2062", approved, "1 USD", whole.To.AddDate(36, 0, 0)).book("planned", processing, "1 USD", whole.To.AddDate(36, 0, 0))
	_, s := onSQLite(t).run(t, m, octoberOptions())
	if s.Differences() != 0 || s.Rows(ClassUnchecked) != 3 || s.Compared != 4 || s.TiedOut != 1 || !s.Classes[0].Oldest.Equal(first) {
		t.Errorf("got %d differences, %d of %d tie out, not checked: %+v, want 0, 1 of 4, and 3 since %v", s.Differences(), s.TiedOut, s.Compared, s.Classes, first)
	}
	if s.Elsewhere != 1 || s.Newer != 3 || s.InFuture != 1 {
		t.Errorf("got %d lines of other periods, %d newer ones and %d in the future, want 1, 3 and 1", s.Elsewhere, s.Newer, s.InFuture)
	}
}

// TestPartOfMonth: a month of which the copy lacks the start was not compared as a whole, whether the list has lines of it or not.
func TestPartOfMonth(t *testing.T) {
	m := new(memory).pay("a", approved, "1 USD", day0(10, 28, 1)).book("a", approved, "1 USD", day0(10, 28, 1)).
		book("b", approved, "1 USD", middle).book("c", approved, "1 USD", day0(10, 1, 0)).book("d", approved, "1 USD", day0(9, 30, 12)).
		give("r", "1 USD", middle)
	o := monthOf(10)
	o.Copy.From, o.Period.From = day0(10, 25, 0), day0(10, 25, 0)
	for name, m := range map[string]*memory{"lines before the copy": m, "none": new(memory).pay("a", approved, "1 USD", day0(10, 28, 1))} {
		if _, s := onSQLite(t).run(t, m, o); s.Compared != 1 || !s.IsPart {
			t.Errorf("%s: %d compared, and it is a part: %t", name, s.Compared, s.IsPart)
		}
	}
	if _, s := onSQLite(t).run(t, m, monthOf(10)); s.IsPart {
		t.Error("a whole month is a part")
	}
}

// TestListLater: the lines of a list that was read in a wrong time zone are later than the payments by whole hours.
func TestListLater(t *testing.T) {
	const hour = time.Hour
	some := func(n int, later time.Duration) (all []time.Duration) {
		return slices.Repeat([]time.Duration{later}, n)
	}
	for _, test := range []struct {
		name  string
		later []time.Duration
		want  time.Duration
	}{
		{"the same time", some(30, 0), 0},
		{"some minutes, as a program needs", some(30, 4*time.Minute), 0},
		{"a job twenty minutes later", some(30, 20*time.Minute), 0},
		{"two hours and some seconds", some(30, 2*hour+9*time.Second), 2 * hour},
		{"earlier", some(30, -7*hour), -7 * hour},
		{"two days", some(30, 48*hour), 48 * hour},
		{"half an hour, as in India", some(30, 11*hour/2), 11 * hour / 2},
		{"summer and winter", slices.Concat(some(20, 2*hour), some(10, hour)), 2 * hour},
		{"nine of ten", slices.Concat(some(27, hour), some(3, 0)), hour},
		{"fewer than nine of ten", slices.Concat(some(26, hour), some(4, 0)), 0},
		{"some that are of no zone", slices.Concat(some(26, hour), some(4, 77*hour)), 0},
		{"twenty", some(20, hour), hour},
		{"fewer than twenty", some(19, hour), 0},
		{"no times", nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := new(memory)
			for i, later := range test.later {
				id := fmt.Sprint(i)
				m.pay(id, approved, "1 USD", middle).book(id, approved, "1 USD", middle.Add(later))
			}
			m.pay("without a time", approved, "1 USD", middle).book("without a time", approved, "1 USD", time.Time{})
			var want []string
			if test.want != 0 {
				word, unit := map[bool]string{true: "later", false: "earlier"}[test.want > 0], map[bool]string{true: "hour", false: "hours"}[test.want == hour]
				want = []string{fmt.Sprintf("Nearly all payments of your list are %g %s %s than at the gateway. ", test.want.Abs().Hours(), unit, word)}
				if test.want == 48*hour {
					want[0] += "Are its dates right? See --dates."
				} else {
					want[0] += "Is its time zone right? See --list-zone."
				}
			}
			if _, s := onSQLite(t).run(t, m, octoberOptions()); !slices.Equal(s.Causes, want) {
				t.Errorf("got %q, want %q", s.Causes, want)
			}
		})
	}
}

// TestCause: one cause of nearly all differences is found, and nothing is if there is another one beside it.
func TestCause(t *testing.T) {
	for _, test := range []struct {
		name   string
		line   func(i int) (id, amount string)
		want   string
		others int // differences with another cause
	}{
		{"cents", func(i int) (string, string) { return fmt.Sprint("id", i), fmt.Sprint(100 + 100*i) }, "are 100 times those of the gateway", 1},
		{"thousands", func(i int) (string, string) { return fmt.Sprint("id", i), fmt.Sprint("0.00", 1+i) }, "are 1000 times too small", 0},
		{"capitals", func(i int) (string, string) { return fmt.Sprint("ID", i), fmt.Sprint(1 + i) }, "differ only in case", 1},
		{"an apostrophe and a blank", func(i int) (string, string) { return fmt.Sprint("'id ", i), fmt.Sprint(1 + i) }, "differ only in case", 0},
		{"zeros in front", func(i int) (string, string) { return fmt.Sprint("00id", i), fmt.Sprint(1 + i) }, "zeros in front", 0},
		{"the gateway's ids", func(i int) (string, string) { return fmt.Sprint("u-id", i), fmt.Sprint(1 + i) }, "unique_id=NAME", 0},
		{"other ids", func(i int) (string, string) { return fmt.Sprint("x", i), fmt.Sprint(1 + i) }, "", 0},
		{"capitals among others", func(i int) (string, string) { return fmt.Sprint("ID", i), fmt.Sprint(1 + i) }, "", 5},
		{"nothing", func(i int) (string, string) { return fmt.Sprint("id", i), fmt.Sprint(1 + i) }, "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := new(memory)
			for i := range 9 {
				m.pay(fmt.Sprint("id", i), approved, fmt.Sprint(1+i, " EUR"), middle)
				id, amount := test.line(i)
				m.book(id, approved, amount+" EUR", middle)
			}
			for i := range test.others {
				m.pay(fmt.Sprint("other", i), approved, "3 EUR", middle)
			}
			_, s := onSQLite(t).run(t, m, octoberOptions())
			if got := strings.Join(s.Causes, " "); !strings.Contains(got, test.want) || len(s.Causes) > 1 || test.want == "" && got != "" {
				t.Errorf("got %q, want %q", s.Causes, test.want)
			}
		})
	}
}

// TestSameListForDays: a list without times that is compared with one day after the other does not have a second charge that is a day later,
// and its line without a payment is told each time.
func TestSameListForDays(t *testing.T) {
	d := onSQLite(t)
	m := new(memory).charge("3 EUR", middle, middle.Add(24*time.Hour)).book("a", approved, "3 EUR", time.Time{}).book("b", approved, "2 EUR", time.Time{})
	if _, err := d.db.ExecContext(t.Context(), `INSERT INTO cardgateway_lists (kind, name, sha256, lines, unreadable, read_as, read_at)
		VALUES ('payment', 'x', 'y', 1, 0, '{}', 1)`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i, want := range [][]string{{"missing_there payment b 2 EUR"}, {"later_charge payment a 3 EUR", "missing_there payment b 2 EUR"}} {
			o := octoberOptions()
			o.Period, o.Grace = Span{day0(10, 15+i, 0), day0(10, 16+i, 0)}, 0
			found, s := d.run(t, m, o)
			if diff := cmp.Diff(want, found); diff != "" || s.ListUsed.IsZero() != (i == 0) {
				t.Errorf("day %d, compared before: %v (-want +got):\n%s", i, s.ListUsed, diff)
			}
		}
	}
}
