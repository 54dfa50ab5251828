package walk

import (
	"cmp"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// TestShownEnd finds the end of a window that its first page contains completely, if the page does not have all rows.
func TestShownEnd(t *testing.T) {
	tests := []struct {
		name        string
		seconds     []civil.Time // of the rows, in the page's order
		second2     civil.Time   // of the first row
		granted     int          // zero means the number of rows
		cutSecond   civil.Time
		newestFirst bool
		ok          bool
	}{
		{name: "newest first", seconds: []civil.Time{190, 180, 170}, cutSecond: 171, newestFirst: true, ok: true},
		{name: "oldest first", seconds: []civil.Time{110, 120, 130}, cutSecond: 129, ok: true},
		{name: "more rows of the last second may follow", seconds: []civil.Time{190, 180, 170, 170, 170}, cutSecond: 171, newestFirst: true, ok: true},
		{name: "no second without rows at its end", seconds: []civil.Time{190, 180, 172, 171, 170}, cutSecond: 173, newestFirst: true, ok: true},
		{name: "no second without rows", seconds: []civil.Time{110, 111, 112, 112, 113}},
		{name: "one second", seconds: []civil.Time{150, 150, 150}},
		{name: "one row", seconds: []civil.Time{150}},
		{name: "out of order", seconds: []civil.Time{190, 150, 170, 120}},
		{name: "order turns", seconds: []civil.Time{110, 150, 190, 170}},
		{name: "short page", seconds: []civil.Time{190, 180, 170}, granted: 4},
		{name: "rows of other times", seconds: []civil.Time{190, 150, 90}},
		{name: "a row with two times", seconds: []civil.Time{190, 180, 170}, second2: 185},
		{name: "a row without a time", seconds: []civil.Time{190, 0, 170}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := (&modelGateway{}).source()
			s.Times = func(r *modelRow) [2]civil.Time {
				return [2]civil.Time{cmp.Or(r.second, civil.None), cmp.Or(r.second2, civil.None)}
			}
			r := windowReader[modelRow]{
				source: &s, from: 100, to: 200, granted: max(tt.granted, len(tt.seconds)),
				requests: 1, byID: make(map[uint64]*row[modelRow]),
			}
			for i, second := range tt.seconds {
				value := &modelRow{id: i, second: second, second2: tt.second2 * civil.Time(max(0, 1-i))}
				r.addRow(&row[modelRow]{value: value, id: hashID(s.ID(value)), times: s.Times(value)})
			}
			cutSecond, newestFirst, ok := r.shownEnd()
			if ok != tt.ok || ok && (cutSecond != tt.cutSecond || newestFirst != tt.newestFirst) {
				t.Errorf("got %d, newest first %t, %t; want %d, %t, %t", cutSecond, newestFirst, ok, tt.cutSecond, tt.newestFirst, tt.ok)
			}
		})
	}
}
