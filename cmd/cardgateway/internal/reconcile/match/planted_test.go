package match

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// closed is what came of closing some months in a row, by the ids of the payments.
type closed struct {
	counted map[string]bool // some month has a difference
	open    map[string]bool // the last month has it as unchecked or timing
	told    map[string]string
}

// closeMonths closes September, October and November. Each month has a list of its own, and a copy up to the 10th of the next one.
func (d *database) closeMonths(t *testing.T, gateway *memory, lists map[time.Month]*memory) closed {
	t.Helper()
	for _, table := range []string{"months", "open", "closed", "later_lines"} {
		if _, err := d.db.ExecContext(t.Context(), `DELETE FROM cardgateway_`+table); err != nil {
			t.Fatal(err)
		}
	}
	c := closed{counted: map[string]bool{}, told: map[string]string{}}
	for month := time.September; month <= time.November; month++ {
		o := monthOf(month)
		m := &memory{payments: lists[month].payments}
		for _, row := range gateway.orders {
			if row.At.Before(o.Copy.To) {
				m.orders = append(m.orders, row)
			}
		}
		c.open = map[string]bool{}
		note := func(d *Difference, what string) {
			c.told[d.ID] += fmt.Sprintf("%s: %s %s; ", month, cmp.Or(string(d.Class), "settled"), what)
			c.counted[d.ID] = c.counted[d.ID] || d.Class.isCounted()
			c.open[d.ID] = c.open[d.ID] || d.Class == ClassUnchecked
		}
		o.Found = func(d *Difference) error {
			if d.Since.IsZero() {
				note(d, d.Value.String())
			}
			return nil
		}
		_, s := d.run(t, m, o)
		for i := range s.Earlier {
			note(s.Earlier[i].Difference, s.Earlier[i].Value.String()+s.Earlier[i].Since.Format(" since January"))
		}
	}
	return c
}

// TestChargedAgainInAnotherMonth: a payment that was charged again a day or more later, and is listed less often, is a difference of one of
// the months, whichever of the charges the lines are about. What is near the end of a month is not checked until the next list decides.
func TestChargedAgainInAnotherMonth(t *testing.T) {
	var never time.Time
	last, next, later := day0(10, 31, 15), day0(11, 1, 21), day0(11, 20, 12)
	first, before, end, again := day0(8, 31, 12), day0(9, 29, 23), day0(9, 30, 23), day0(10, 30, 12)
	tests := []struct {
		name                         string
		charges                      []time.Time
		september, october, november []time.Time // lines
		told                         string
	}{
		{"the line is of the second", []time.Time{last, next}, nil, nil, []time.Time{next},
			"October: unchecked 3; November: later_charge 3 since October;"},
		{"the line is of the second, and in the list of October", []time.Time{last, next}, nil, []time.Time{next}, nil,
			"October: unchecked 3; November: later_charge 3 since October;"},
		{"the line is between them", []time.Time{last, next}, nil, nil, []time.Time{next.Add(-8 * time.Hour)},
			"October: unchecked 3; November: later_charge 3 since October;"},
		{"the line is of the first", []time.Time{last, next}, nil, []time.Time{last}, nil,
			"November: later_charge 3;"},
		{"the line has no time", []time.Time{last, next}, nil, []time.Time{never}, nil,
			"November: later_charge 3;"},
		{"the line has no time, the second is weeks later", []time.Time{middle, day0(11, 5, 0)}, nil, []time.Time{never}, nil,
			"November: later_charge 3;"},
		{"a line without a time for three charges", []time.Time{middle, last, later}, nil, []time.Time{never}, nil,
			"October: unchecked 3; November: later_charge 3; November: later_charge 3 since October;"},
		{"the one in the middle is not listed", []time.Time{day0(10, 1, 12), middle, last}, nil, []time.Time{day0(10, 1, 12), last}, nil,
			"October: later_charge 3;"},
		{"the first is in the list of its month", []time.Time{day0(9, 10, 12), middle}, []time.Time{day0(9, 10, 12)}, nil, nil,
			"October: later_charge 3;"},
		{"the first is near the end of its month, and none is listed", []time.Time{end, middle}, nil, nil, nil,
			"September: unchecked 3; October: later_charge 3; October: missing_here 3 since September;"},
		{"the second is near the end, and listed in the next month", []time.Time{first, end, again}, nil, []time.Time{day0(10, 1, 1), again}, nil,
			"September: unchecked 3; October: timing 3; October: settled 3 since September;"},
		{"the second is near the end, and not listed", []time.Time{first, end, again}, nil, []time.Time{again}, nil,
			"September: unchecked 3; October: later_charge 3 since September;"},
		{"two are near the end, and one is listed in the next month", []time.Time{first, before, end, again}, nil, []time.Time{before, again}, nil,
			"September: unchecked 6; October: later_charge 3 since September;"},
		{"two lines", []time.Time{last, next}, nil, []time.Time{last}, []time.Time{next}, ""},
		{"two lines that are late", []time.Time{last, next}, nil, nil, []time.Time{last.Add(22 * time.Hour), next.Add(22 * time.Hour)},
			"October: unchecked 3; November: timing 3; November: settled 3 since October;"},
		{"two lines without a time", []time.Time{last, next}, nil, []time.Time{never}, []time.Time{never}, ""},
		{"two lines without a time in one list", []time.Time{last, next}, nil, []time.Time{never, never}, nil,
			"October: timing 3; November: settled 3 since October;"},
	}
	onEach(t, func(t *testing.T, d *database) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				lists := map[time.Month]*memory{9: {}, 10: {}, 11: {}}
				for month, lines := range map[time.Month][]time.Time{9: tt.september, 10: tt.october, 11: tt.november} {
					for _, at := range lines {
						lists[month].book("a", approved, "3 EUR", at)
					}
				}
				if c := d.closeMonths(t, new(memory).charge("3 EUR", tt.charges...), lists); strings.TrimSpace(c.told["a"]) != tt.told {
					t.Errorf("told: %q, want %q", c.told["a"], tt.told)
				}
			})
		}
	})
}

// TestPlanted closes three months of payments of which some are wrong, with times near the ends of months and lines that are up to thirty
// hours off. What is wrong is a difference of some month or still open, and nothing else is. CARDGATEWAY_LONG=1 does it more often.
func TestPlanted(t *testing.T) {
	const hour, day = time.Hour, 24 * time.Hour
	n := 20
	if os.Getenv("CARDGATEWAY_LONG") == "1" {
		n = 1000
	}
	d := onSQLite(t)
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		gateway, lists := new(memory), map[time.Month]*memory{9: {}, 10: {}, 11: {}}
		var want []string
		story := map[string]string{}
		for i := range 12 {
			id := fmt.Sprint("t", i)
			at := day0(9, 3, 0).Add(time.Duration(r.IntN(45*24)) * hour)
			if r.IntN(3) == 0 {
				at = day0(10, 1, 0).Add(time.Duration(r.IntN(96)-48) * hour)
			}
			gap := []time.Duration{hour, 30 * hour, 5 * day, 20 * day}[r.IntN(4)]
			pay := func(after time.Duration, state, amount string) {
				gateway.pay(fmt.Sprint(id, ".", after), state, amount, at.Add(after))
			}
			book := func(after time.Duration, amount string) {
				lists[at.Add(after).Month()].book(id, approved, amount, at.Add(after))
			}
			off := time.Duration(r.IntN(2)*(r.IntN(60)-30)) * hour
			plant := []struct {
				what string
				do   func()
			}{
				{"not listed", func() { pay(0, approved, "5 EUR") }},
				{"not charged", func() { book(0, "5 EUR") }},
				{"another amount", func() { pay(0, approved, "5 EUR"); book(off, "6 EUR") }},
				{"another currency", func() { pay(0, approved, "5 EUR"); book(off, "5 USD") }},
				{"listed twice", func() { pay(0, approved, "5 EUR"); book(off, "5 EUR"); book(off, "5 EUR") }},
				{"declined", func() { pay(0, declined, "5 EUR"); book(off, "5 EUR") }},
				{"charged again", func() { pay(0, approved, "5 EUR"); pay(gap, approved, "5 EUR"); book(off, "5 EUR") }},
				{"charged before", func() { pay(0, approved, "5 EUR"); pay(gap, approved, "5 EUR"); book(gap, "5 EUR") }},
				{"charged again, another amount", func() { pay(0, approved, "5 EUR"); pay(gap, approved, "4 EUR"); book(off, "5 EUR") }},
				{"one of three not listed", func() {
					left := r.IntN(3)
					for j := range 3 {
						pay(time.Duration(j)*gap, approved, "5 EUR")
						if j != left {
							book(time.Duration(j)*gap, "5 EUR")
						}
					}
				}},
				{"", func() { pay(0, approved, "5 EUR"); book(off, "5 EUR") }},
				{"", func() {
					for j := range 3 {
						after := time.Duration(j) * max(gap, 30*hour)
						pay(after, approved, "5 EUR")
						book(after, "5 EUR")
					}
				}},
			}[r.IntN(12)]
			plant.do()
			if story[id] = fmt.Sprintf("%q at %v, %v, off %v", plant.what, at, gap, off); plant.what != "" {
				want = append(want, id)
			}
		}
		c := d.closeMonths(t, gateway, lists)
		var got []string
		for id := range story {
			if c.counted[id] || c.open[id] {
				got = append(got, id)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := gocmp.Diff(want, got); diff != "" {
			for id, text := range story {
				if strings.Contains(diff, `"`+id+`"`) {
					diff += fmt.Sprintf("\n%s: %s; told: %s", id, text, c.told[id])
				}
			}
			t.Fatalf("seed %d: wrong or open (-want +got):\n%s", seed, diff)
		}
	}
}
