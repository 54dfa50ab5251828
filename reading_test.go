package cardgateway

import (
	"context"
	"strconv"
	"testing"
)

// TestPageShowsWhole looks at which end of a window a first page that does not hold all of it shows whole.
func TestPageShowsWhole(t *testing.T) {
	tests := []struct {
		name        string
		seconds     []int64 // of the rows, in the page's order
		second2     int64   // of the first row
		granted     int     // zero means as many as there are
		bound       int64
		newestFirst bool
		ok          bool
	}{
		{name: "newest first", seconds: []int64{190, 180, 170}, bound: 171, newestFirst: true, ok: true},
		{name: "oldest first", seconds: []int64{110, 120, 130}, bound: 129, ok: true},
		{name: "more rows of the last second may follow", seconds: []int64{190, 180, 170, 170, 170}, bound: 171, newestFirst: true, ok: true},
		{name: "no second without rows at its end", seconds: []int64{190, 180, 172, 171, 170}, bound: 173, newestFirst: true, ok: true},
		{name: "no second without rows", seconds: []int64{110, 111, 112, 112, 113}},
		{name: "one second", seconds: []int64{150, 150, 150}},
		{name: "one row", seconds: []int64{150}},
		{name: "out of order", seconds: []int64{190, 150, 170, 120}},
		{name: "order turns", seconds: []int64{110, 150, 190, 170}},
		{name: "short page", seconds: []int64{190, 180, 170}, granted: 4},
		{name: "rows of other times", seconds: []int64{190, 150, 90}},
		{name: "a row with two times", seconds: []int64{190, 180, 170}, second2: 185},
		{name: "a row without a time", seconds: []int64{190, 0, 170}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := (&modelGateway{}).source()
			s.times = func(r *modelRow) (times [2]WallTime) {
				if r.second != 0 {
					times[0] = wallSecond(r.second)
				}
				if r.second2 != 0 {
					times[1] = wallSecond(r.second2)
				}
				return times
			}
			r := reading[modelRow]{
				source: &s, from: wallSecond(100), to: wallSecond(200), granted: max(tt.granted, len(tt.seconds)),
				asked: 1, byID: make(map[uint64]*row[modelRow]),
			}
			for i, second := range tt.seconds {
				r.add(&modelRow{id: i, second: second, second2: tt.second2 * int64(max(0, 1-i))}, new(row[modelRow]))
			}
			bound, newestFirst, ok := r.shown()
			if ok != tt.ok || ok && (bound != tt.bound || newestFirst != tt.newestFirst) {
				t.Errorf("got %d, newest first %t, %t; want %d, %t, %t", bound, newestFirst, ok, tt.bound, tt.newestFirst, tt.ok)
			}
		})
	}
}

// TestEndlessRows: a gateway that announces ever more rows in a few seconds, each with an id of its own, ends the walk
// instead of filling the memory.
func TestEndlessRows(t *testing.T) {
	n := 0
	from := wallSecond(0)
	r := reading[int]{
		source: &source[int]{
			fetch: func(_ context.Context, _, _ WallTime, page, size int) (*Page[int], error) {
				p := &Page[int]{CurrPage: page, PageSize: size, TotalCount: 100_000_000, Data: make([]int, size)}
				for i := range p.Data {
					n++
					p.Data[i] = n
				}
				return p, nil
			},
			id:    func(n *int) string { return strconv.Itoa(*n) },
			times: func(*int) [2]WallTime { return [2]WallTime{from} },
		},
		from: from, to: wallSecond(2), size: maxPageSize, granted: maxPageSize,
	}
	if err := r.run(t.Context()); err != nil || r.state != readingPart || n > maxRows+maxPageSize {
		t.Errorf("got %v in state %v after %d rows, want a window that is not at rest after %d", err, r.state, n, maxRows)
	}
}
