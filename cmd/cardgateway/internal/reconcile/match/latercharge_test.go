package match

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// charge adds payments with the id "a" to the gateway.
func (m *memory) charge(amount string, at ...time.Time) *memory {
	for i := range at {
		m.pay(fmt.Sprint("a.", i), approved, amount, at[i])
	}
	return m
}

// TestLaterCharges: successes with one id that can be the charges of a subscription are told as such, and are a difference if the list
// does not have those of the period. These stand in a step of the bridge.
func TestLaterCharges(t *testing.T) {
	const hour = time.Hour
	var never time.Time
	early, end, late := day0(9, 15, 12), day0(10, 31, 23), day0(11, 5, 0)
	next := middle.Add(7 * 24 * hour)
	test := func(m *memory) *memory {
		for i := range m.orders {
			m.orders[i].Test = true
		}
		return m.pay("b", approved, "3 USD", middle).book("b", approved, "3 USD", middle)
	}
	tests := []struct {
		name     string
		m        *memory
		want     []string
		step     string // of the class, in USD
		gateways int    // the rows of the difference of the class
	}{
		{"the first one is in the list, without a time", new(memory).charge("3 USD", middle, next).book("a", approved, "3 USD", never),
			[]string{"later_charge payment a 3 USD"}, "3", 2},
		{"of an earlier period, two of this one", new(memory).charge("3 USD", early, early.Add(7*24*hour), middle, next).book("a", approved, "3 USD", early),
			[]string{"later_charge payment a 6 USD"}, "6", 3},
		{"of an earlier period, not listed", new(memory).charge("3 USD", early, middle), []string{"later_charge payment a 3 USD"}, "3", 2},
		{"of an earlier period, listed without a time", new(memory).charge("3 USD", early, middle).book("a", approved, "3 USD", never), nil, "", 0},
		{"of an earlier period, this one listed", new(memory).charge("3 USD", early, middle).book("a", approved, "3 USD", middle), nil, "", 0},
		{"every charge is in the list",
			new(memory).charge("3 USD", early, middle, next).book("a", approved, "3 USD", early).book("a", approved, "3 USD", middle).
				book("a", approved, "3 USD", next), nil, "", 0},
		{"all but one are in the list", new(memory).charge("3 USD", early, middle, next).book("a", approved, "3 USD", early).book("a", approved, "3 USD", middle),
			[]string{"later_charge payment a 3 USD"}, "3", 2},
		{"listed at the wrong time", new(memory).charge("3 USD", middle, next).book("a", approved, "3 USD", middle).book("a", approved, "3 USD", middle), nil, "", 0},
		{"near the end", new(memory).charge("3 USD", middle, end).book("a", approved, "3 USD", middle), []string{"unchecked payment a 3 USD"}, "", 0},
		{"near the end, listed after it", new(memory).charge("3 USD", early, end).book("a", approved, "3 USD", end.Add(2*hour)), []string{"timing payment a 3 USD"},
			"", 0},
		{"listed before the period, where another was charged", new(memory).charge("3 USD", day0(9, 30, 23), middle).book("a", approved, "3 USD", day0(9, 30, 23)),
			[]string{"later_charge payment a 3 USD"}, "3", 2},
		{"listed in the period, charged before it", new(memory).charge("3 USD", day0(9, 30, 23), middle).book("a", approved, "3 USD", day0(10, 1, 1)),
			[]string{"later_charge payment a 3 USD"}, "0", 2},
		{"only of later periods", new(memory).charge("3 USD", middle, late).book("a", approved, "3 USD", middle), nil, "", 0},
		{"none of this period", new(memory).charge("3 USD", early, late).book("a", approved, "3 USD", early), nil, "", 0},
		{"all are test payments", test(new(memory).charge("3 USD", middle, next).book("a", approved, "3 USD", middle)), []string{"state payment a 3 USD"},
			"", 0},
		{"none is in the list", new(memory).charge("3 USD", middle, next), []string{"missing_here payment a 6 USD"}, "", 0},
		{"near the start, none is in the list", new(memory).charge("3 USD", day0(10, 1, 1), middle), []string{"unchecked payment a 6 USD"}, "", 0},
		{"listed with another amount", new(memory).charge("3 USD", middle, next).book("a", approved, "5 USD", middle), []string{"amount payment a 2 USD"}, "", 0},
		{"listed more often than charged",
			new(memory).charge("3 USD", middle, next).book("a", approved, "3 USD", middle).book("a", approved, "3 USD", next).book("a", approved, "3 USD", next),
			[]string{"listed_twice payment a 3 USD"}, "", 0},
		{"listed with another currency", new(memory).charge("3 USD", middle, next).book("a", approved, "3 EUR", middle), []string{"currency payment a 3 USD"}, "", 0},
		{"listed as declined", new(memory).charge("3 USD", middle, next).book("a", declined, "3 USD", middle), []string{"state payment a 3 USD"}, "", 0},

		{"20 hours apart", new(memory).charge("3 USD", middle, middle.Add(20*hour)).book("a", approved, "3 USD", middle), []string{"later_charge payment a 3 USD"},
			"3", 2},
		{"less than 20 hours apart", new(memory).charge("3 USD", middle, middle.Add(20*hour-time.Second)).book("a", approved, "3 USD", middle),
			[]string{"two_successes payment a 3 USD"}, "", 0},
		{"one of them twice", new(memory).charge("3 USD", middle, next, next.Add(hour)).book("a", approved, "3 USD", middle),
			[]string{"two_successes payment a 6 USD"}, "", 0},
		{"one without a time", new(memory).charge("3 USD", never, middle).book("a", approved, "3 USD", middle), []string{"two_successes payment a 3 USD"}, "", 0},
		{"another amount", new(memory).charge("3 USD", middle).pay("a.x", approved, "4 USD", next).book("a", approved, "3 USD", middle),
			[]string{"two_successes payment a 4 USD"}, "", 0},
		{"another currency", new(memory).charge("3 USD", middle).pay("a.x", approved, "3 EUR", next).book("a", approved, "3 USD", middle),
			[]string{"two_successes payment a 3 EUR"}, "", 0},
		{"declined attempts between them",
			new(memory).charge("3 USD", middle, next).pay("a.x", declined, "3 USD", next.Add(-hour)).book("a", approved, "3 USD", middle),
			[]string{"later_charge payment a 3 USD"}, "3", 2},
		{"a refund that was made twice",
			new(memory).pay("p", approved, "9 USD", early).back("r of p", approved, "2 USD", middle).back("r of p", approved, "2 USD", next).
				give("r", "2 USD", middle), []string{"refund_twice refund r 2 USD"}, "", 0},
	}
	onEach(t, func(t *testing.T, d *database) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				gateways := 0
				o := octoberOptions()
				o.Found = func(d *Difference) error {
					if d.Class == ClassLaterCharge {
						gateways = len(d.Gateway)
					}
					return nil
				}
				got, s := d.run(t, tt.m, o)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("differences (-want +got):\n%s", diff)
				}
				step := ""
				for _, b := range s.Bridges {
					for _, at := range b.Steps {
						if at.Class == ClassLaterCharge && b.Kind == books.Payment && b.Currency == "USD" {
							step = at.Sum.String()
						}
					}
				}
				if step != tt.step || gateways != tt.gateways {
					t.Errorf("got a step of %q and %d rows, want %q and %d", step, gateways, tt.step, tt.gateways)
				}
				if isOnly := tt.step != ""; isOnly && (s.Differences() != 1 || s.Unchecked() != 0) {
					t.Errorf("got %d differences and %d unchecked, want 1 and none: %s", s.Differences(), s.Unchecked(), strings.Join(got, ", "))
				}
			})
		}
	})
}
