package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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
	var err error
	o.Known, err = ReadKnown(strings.NewReader("id,class,reason,value\nhere,missing_here,paid in cash too,7.00\nthere,missing_here,other class,\nold,amount,gone,\namount,amount,it was smaller,1.99\n"))
	if err != nil {
		t.Fatal(err)
	}
	found, s := run(t, m, o)
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
	var unused []int
	for _, mark := range s.Unused {
		unused = append(unused, mark.Line)
	}
	if !slices.Equal(unused, []int{3, 4, 5}) {
		t.Errorf("got unused marks in the lines %v, want 3, 4 and 5", unused)
	}
}

func TestAges(t *testing.T) {
	o := octoberOptions()
	o.Grace, o.Now = 0, day0(11, 1, 0)
	m := new(memory)
	for i, at := range []time.Time{day0(10, 31, 1), day0(10, 29, 1), day0(10, 29, 0), day0(10, 24, 1), day0(10, 24, 0), day0(10, 1, 1), day0(10, 1, 0)} {
		m.pay(fmt.Sprint("a", i), approved, "1 USD", at)
	}
	_, s := run(t, m, o)
	c := s.Classes[0]
	if want := [4]int{2, 2, 2, 1}; c.ByAge != want || !c.Oldest.Equal(day0(10, 1, 0)) {
		t.Errorf("got %v, the oldest of %v, want %v", c.ByAge, c.Oldest, want)
	}
}
