package walk

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// secondsReader reads a window from 100 to 200 of rows that are seconds, each with itself as its id.
func secondsReader(fetch func(request, page, size int) *Page[int]) *windowReader[int] {
	requests := 0
	return &windowReader[int]{
		source: &Source[int]{
			Fetch: func(_ context.Context, _, _ civil.Time, page, size int) (*Page[int], error) {
				requests++
				return fetch(requests, page, size), nil
			},
			ID:    strconvID,
			Name:  func(n *int, e *RowError) { e.UniqueID = strconvID(n) },
			Times: func(n *int) [2]civil.Time { return [2]civil.Time{civil.Time(*n), civil.None} },
		},
		from: 100, to: 200, size: 10, maxSize: maxPageSize, granted: 10,
	}
}

func strconvID(n *int) string { return strconv.Itoa(*n) }

// TestWindowState checks when a window counts as complete.
func TestWindowState(t *testing.T) {
	pages := func(pages ...[]int) func(request, _, size int) *Page[int] {
		return func(request, _, size int) *Page[int] {
			return &Page[int]{Rows: pages[min(request, len(pages))-1], Size: size, Total: 3}
		}
	}
	for _, tt := range []struct {
		name     string
		fetch    func(request, page, size int) *Page[int]
		state    windowState
		rows     int
		requests int
	}{
		{"at once", pages([]int{110, 120, 130}), complete, 3, 1},
		{"in the second round", pages([]int{110, 120}, []int{120, 130}), complete, 3, 2},
		{"rows from outside on top", pages([]int{90, 110, 120, 130, 210}), complete, 3, 1},
		{"always the same row from outside", pages([]int{90, 110, 120}), complete, 3, 1 + minStableRounds},
		{"never the same row from outside", func(request, _, size int) *Page[int] {
			return &Page[int]{Rows: []int{110, 120, 200 + request}, Size: size, Total: 3}
		}, incomplete, 2 + maxRounds, maxRounds},
		{"a row from outside that gives way", pages([]int{90, 110, 120}, []int{90, 110, 120}, []int{110, 120, 130}), complete, 3, 3},
		{"always the same row twice", pages([]int{110, 110, 120}), complete, 3, 1 + minStableRounds},
		{"always one row", pages([]int{110, 110, 110}), complete, 3, 1 + minStableRounds},
		{"a row twice, then another", pages([]int{110, 110, 120}, []int{110, 110, 120}, []int{110, 120, 130}), complete, 3, 3},
		{"another row twice each time", func(request, _, size int) *Page[int] {
			rows := []int{110, 120, 110, 120}
			return &Page[int]{Rows: rows[request%2 : request%2+3], Size: size, Total: 3}
		}, complete, 3, 1 + minStableRounds},
		{"never enough", pages([]int{110, 120}), incomplete, 2, 2 + 2*(maxRounds-2)}, // from the third round on, two pages are requested
		{"a total that changes", func(request, _, size int) *Page[int] {
			return &Page[int]{Rows: []int{110, 120, 130}[:min(request, 3)], Size: size, Total: min(request+1, 3)}
		}, complete, 3, 3},
		{"pages of two in silence", func(_, page, size int) *Page[int] { // two short pages alike, and then the second page
			return &Page[int]{Rows: [][]int{{110, 120}, {130}}[page-1], Size: size, Total: 3}
		}, complete, 3, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := secondsReader(tt.fetch)
				if err := r.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if r.state != tt.state || len(r.rows) != tt.rows || r.requests != tt.requests {
					t.Errorf("got state %d, %d rows, %d requests, want %d, %d, %d", r.state, len(r.rows), r.requests, tt.state, tt.rows, tt.requests)
				}
			})
		})
	}
}

// TestLongPageIsComplete checks that a window is not split if its first page has all rows that it announces, although they are
// more than requested.
func TestLongPageIsComplete(t *testing.T) {
	r := secondsReader(func(_, _, size int) *Page[int] {
		p := &Page[int]{Size: size, Total: size + 1}
		for i := range p.Total {
			p.Rows = append(p.Rows, 100+i)
		}
		return p
	})
	r.narrowable = true
	if err := r.run(t.Context()); err != nil || r.state != complete || r.requests != 1 {
		t.Errorf("got %v, state %d after %d requests, want it complete after one", err, r.state, r.requests)
	}
}

// TestRepeatedRows: rows that are listed twice in a window, or have one id, are reported, with the same ids in every walk.
func TestRepeatedRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var known []uint64
		for range 2 {
			r := secondsReader(func(_, _, size int) *Page[int] {
				return &Page[int]{Rows: []int{110, 110, 120, 110, 120}, Size: size, Total: 5}
			})
			if err := r.run(t.Context()); err != nil || r.state != complete {
				t.Fatalf("got %v, state %d", err, r.state)
			}
			ids := r.countedIDs()
			if slices.Sort(ids); len(slices.Compact(ids)) != 5 || known != nil && !slices.Equal(ids, known) {
				t.Errorf("got the ids %d, then %d", known, ids)
			}
			known = ids
			for i, want := range []string{"", "", "110", "110", "120"} {
				if got := r.rows[i].unreadable; (got == nil) != (want == "") || got != nil && (got.UniqueID != want || got.Row != []int{2, 4, 5}[i-2]) {
					t.Errorf("row %d: got %+v, want %q", i+1, got, want)
				}
			}
		}
	})
}

// TestPagedInSilence: a window that is paged instead of split is also read completely if the pages are shorter than
// requested without announcing it.
func TestPagedInSilence(t *testing.T) {
	r := secondsReader(func(_, page, size int) *Page[int] {
		rows := []int{110, 120, 130, 140, 150, 160, 170, 180, 190, 191, 192, 193}
		return &Page[int]{Rows: rows[min(3*(page-1), 12):min(3*page, 12)], Size: size, Total: 12}
	})
	r.narrowable, r.splitAbove = true, 100
	if err := r.run(t.Context()); err != nil || r.state != complete || len(r.rows) != 12 || r.requests != 2+4 {
		t.Errorf("got %v, state %d, %d rows after %d requests, want all after two rounds", err, r.state, len(r.rows), r.requests)
	}
}

// TestFarTooManyAnnounced: if a gateway announces, for example, the total of all time for each window, not all these pages
// are requested.
func TestFarTooManyAnnounced(t *testing.T) {
	r := secondsReader(func(_, _, size int) *Page[int] {
		return &Page[int]{Rows: []int{110, 120}, Size: size, Total: 100_000}
	})
	if err := r.run(t.Context()); err != nil || r.state != incomplete || r.requests != 1+maxRounds*(1+maxBarren) {
		t.Errorf("got %v, state %d after %d requests, want it incomplete after %d", err, r.state, r.requests, 1+maxRounds*(1+maxBarren))
	}
}

// TestEndlessRows: a gateway that announces more and more rows in one window, each with a new id, ends the walk instead
// of filling the memory.
func TestEndlessRows(t *testing.T) {
	n := 0
	r := secondsReader(func(_, _, size int) *Page[int] {
		p := &Page[int]{Size: size, Total: 100_000_000, Rows: make([]int, size)}
		for i := range p.Rows {
			n++
			p.Rows[i] = n
		}
		return p
	})
	r.from, r.to, r.size, r.granted = 0, 1<<30, maxPageSize, maxPageSize
	if err := r.run(t.Context()); err != nil || r.state != incomplete || n > maxRows+maxPageSize {
		t.Errorf("got %v in state %v after %d rows, want an incomplete window after %d", err, r.state, n, maxRows)
	}
}
