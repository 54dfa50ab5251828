package walk

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// Regression tests of walks.

// byEitherTime finds rows like a search for refunds, in the order of their ids.
func byEitherTime(rows []modelRow) fetchFunc {
	return func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
		if err := retry.Sleep(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
		in := func(s civil.Time) bool { return from <= s && s <= to }
		var found []modelRow
		for _, r := range rows {
			if in(r.second) || in(r.second2) {
				found = append(found, r)
			}
		}
		n := len(found)
		return &modelPage{Size: size, Total: n, Rows: slices.Clone(found[min((page-1)*size, n):min(page*size, n)])}, nil
	}
}

// refundRows returns rows spread over a range with a second time, so much later.
func refundRows(start, end time.Time, n int, later time.Duration) (rows []modelRow) {
	for i, at := range evenly(n, start, end) {
		s := civil.Of(at, gatewayZone)
		rows = append(rows, modelRow{id: i + 1, second: s, second2: s + civil.Time(later/time.Second)})
	}
	return rows
}

// TestThrottledAtTheStart: the gateway refuses a request that is concurrent with the first.
func TestThrottledAtTheStart(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		w := m.walk(start, end, settings{pageSize: 50})
		var busy atomic.Int64
		fetch := w.config.Source.Fetch
		w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
			defer busy.Add(-1)
			if busy.Add(1) > 1 {
				return nil, errUnavailable
			}
			return fetch(ctx, from, to, page, size)
		}
		wantAll(t, m, w)
	})
}

// TestRefundsOnce: refunds made ten days after they were requested are found in two windows, and in two blocks.
func TestRefundsOnce(t *testing.T) {
	after(t, day0, day0.AddDate(0, 2, 0), func(t *testing.T, m *modelGateway, start, end time.Time) {
		w := m.walk(start, end, settings{pageSize: 50, prefetch: 1})
		rows := refundRows(start, end, 1000, 10*24*time.Hour)
		w.config.Source.Fetch = byEitherTime(rows)
		got, err := collect(t.Context(), w)
		wantOnce(t, rows, got, err)
	})
}

// TestReadsADenseWindowAgain: 300 rows of five minutes become visible in a window already read.
func TestReadsADenseWindowAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		x := start.AddDate(0, 0, 3)
		for _, at := range evenly(300, x, x.Add(5*time.Minute)) { // all become visible at the same time, in a window already read
			m.add(time.Now().Add(500*time.Millisecond).Sub(at), at)
		}
		wantAll(t, m, m.walk(start, end, settings{pageSize: 50, prefetch: 1}))
	})
}

// TestReadsOtherTimesAgain: as above, with a gateway that selects rows by a time an hour later than the one in the
// response. The times of such rows do not prevent them from being returned again with an adjacent window.
func TestReadsOtherTimesAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		m.late = nil
		m.add(0, evenly(200, start.Add(time.Hour), end)...)
		x := start.AddDate(0, 0, 3)
		m.before = func(n int) {
			if n == 15 {
				m.add(0, evenly(300, x, x.Add(5*time.Minute))...)
			}
		}
		w := m.walk(start, end, settings{pageSize: 50, prefetch: 1})
		times := w.config.Source.Times
		w.config.Source.Times = func(r *modelRow) [2]civil.Time {
			t := times(r)
			t[0] -= hour
			return t
		}
		wantAll(t, m, w)
		if r := w.Report(); len(m.rows) != 500 || r.Reread == 0 {
			t.Errorf("%d rows, %+v", len(m.rows), r)
		}
	})
}

// TestOrderedByID: the gateway returns rows ordered by id, which is nearly the order of time.
func TestOrderedByID(t *testing.T) {
	after(t, day0, day0.AddDate(0, 2, 0), func(t *testing.T, m *modelGateway, start, end time.Time) {
		var rows []modelRow
		for i := range 2000 {
			at := start.Add(end.Sub(start) / 2000 * time.Duration(i))
			s := civil.Of(at, m.loc)
			if i%9 == 0 {
				s -= 3 * 3600
			}
			rows = append(rows, modelRow{id: i + 1, second: s})
		}
		w := m.walk(start.Add(-3*time.Hour), end, settings{pageSize: 5})
		w.config.Source.Fetch = byEitherTime(rows)
		got, err := collect(t.Context(), w)
		wantOnce(t, rows, got, err)
		t.Logf("%+v", w.Report())
	})
}

// TestResumesRefunds: rows before the checkpoint are returned again after it.
func TestResumesRefunds(t *testing.T) {
	for kill := 1; kill < 60; kill++ {
		after(t, day0, day0.AddDate(0, 2, 0), func(t *testing.T, m *modelGateway, start, end time.Time) {
			rows := refundRows(start, end, 1000, 10*24*time.Hour)
			got, rest, _ := killed(t, kill, func(resume *Checkpoint) *Walk[modelRow] {
				w := m.walk(start, end, settings{pageSize: 50, resume: resume})
				w.config.Source.Fetch = byEitherTime(rows)
				return w
			})
			if maps.Copy(got, rest); len(got) != len(rows) {
				t.Errorf("killed at request %d: got %d rows of %d", kill, len(got), len(rows))
			}
		})
	}
}

// TestResumesLongBlock: what is before the checkpoint is longer than a query may be.
func TestResumesLongBlock(t *testing.T) {
	for kill := 1; kill < 60; kill++ {
		for _, empty := range []bool{false, true} {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				m.maxRange = 28 * 24 * time.Hour
				s := settings{pageSize: 50, prefetch: 1}
				if empty {
					m.late, s.prefetch, start = nil, 16, start.AddDate(0, -2, 0)
				}
				got, rest, _ := killed(t, kill, func(resume *Checkpoint) *Walk[modelRow] {
					s.resume = resume
					return m.walk(start, end, s)
				})
				if err := missing(m, got, rest); err != nil {
					t.Errorf("killed at %d, empty %t: %v", kill, empty, err)
				}
			})
		}
	}
}

// TestLateRefusal: a refusal of a page size that is no longer used.
func TestLateRefusal(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		m.refuseAbove = 100
		w := m.walk(start, end, settings{window: 24 * time.Hour})
		var slow atomic.Bool
		fetch := w.config.Source.Fetch
		w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
			if size > 100 && from > civil.Of(start, m.loc)+3600 && !slow.Swap(true) {
				_ = retry.Sleep(ctx, time.Second)
			}
			return fetch(ctx, from, to, page, size)
		}
		wantAll(t, m, w)
	})
}

// TestRefusedRange: a refusal of the first block because of its length does not reduce the page size.
func TestRefusedRange(t *testing.T) {
	most := map[int]int{}
	after(t, day0.AddDate(-1, 0, 0), day0, func(t *testing.T, m *modelGateway, start, end time.Time) { // 2023
		m.maxRange = 28 * 24 * time.Hour
		m.add(0, evenly(20000, start, end)...)
		w := m.walk(start, end, settings{})
		fetch := w.config.Source.Fetch
		w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
			if from > civil.Of(start, m.loc)+3600 {
				_ = retry.Sleep(ctx, 10*time.Millisecond) // the head gets its response first
			}
			p, err := fetch(ctx, from, to, page, size)
			m.mu.Lock()
			most[size]++
			m.mu.Unlock()
			return p, err
		}
		wantAll(t, m, w)
		if r := w.Report(); r.Requests > 100 {
			t.Errorf("%d requests, by size %v", r.Requests, most)
		}
	})
}

// TestFixedPages: the gateway determines the page size, whatever the walk and its counts request.
func TestFixedPages(t *testing.T) {
	for _, given := range []int{3, 10, 20, 50, 100, 999} {
		for _, size := range []int{0, 20, 100} {
			for _, silent := range []bool{false, true} {
				inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
					m.fixedSize, m.silentMax = given, silent
					w := m.walk(start, end, settings{pageSize: size})
					if wantAll(t, m, w); t.Failed() {
						t.Fatalf("pages of %d where %d were asked for, silent %t", given, size, silent)
					}
					if r := w.Report(); r.Requests > 2*len(m.rows)/given+200 {
						t.Errorf("pages of %d where %d were asked for, silent %t: %d requests", given, size, silent, r.Requests)
					}
				})
			}
		}
	}
}

// TestNarrowWindowsAtClockChanges: windows are not shorter if the clock is set forward.
func TestNarrowWindowsAtClockChanges(t *testing.T) {
	for _, tt := range []struct {
		zone     string
		from     time.Time
		length   time.Duration
		window   time.Duration
		requests int
	}{
		{"Europe/London", time.Date(2025, 3, 29, 22, 0, 0, 0, time.UTC), 6 * time.Hour, time.Hour, 20},
		{"Europe/London", time.Date(2025, 3, 29, 22, 0, 0, 0, time.UTC), 6 * time.Hour, time.Minute, 400},
		{"Australia/Lord_Howe", time.Date(2025, 10, 4, 12, 0, 0, 0, time.UTC), 6 * time.Hour, 30 * time.Minute, 30},
		{"Pacific/Apia", time.Date(2011, 12, 29, 0, 0, 0, 0, time.UTC), 96 * time.Hour, 12 * time.Hour, 40},
	} {
		t.Run(tt.zone, func(t *testing.T) {
			loc, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			after(t, tt.from, tt.from.Add(tt.length), func(t *testing.T, m *modelGateway, from, to time.Time) {
				m.loc = loc
				m.add(0, evenly(100, from, to)...)
				w := m.walk(from, to, settings{pageSize: 999, window: tt.window})
				wantAll(t, m, w)
				if r := w.Report(); r.Requests > tt.requests {
					t.Errorf("%s, windows of %v: %d requests, want at most %d", tt.zone, tt.window, r.Requests, tt.requests)
				}
			})
		})
	}
}

// TestOneSecond: all rows of three months are in one second.
func TestOneSecond(t *testing.T) {
	after(t, day0, day0.AddDate(0, 3, 0), func(t *testing.T, m *modelGateway, start, end time.Time) {
		x := start.AddDate(0, 0, 12)
		m.add(0, evenly(20000, x, x.Add(time.Second))...)
		w := m.walk(start, end, settings{pageSize: 50})
		wantAll(t, m, w)
		if r := w.Report(); r.Requests > 200 {
			t.Errorf("%d requests", r.Requests)
		}
	})
}

// TestLeavesLessThanABlock: the rest of a block without a kept page can be longer than a block that begins there.
func TestLeavesLessThanABlock(t *testing.T) {
	start := time.Date(2023, 5, 30, 12, 0, 0, 0, gatewayZone)
	after(t, start, start.AddDate(0, 5, 0), func(t *testing.T, m *modelGateway, start, end time.Time) {
		m.oldestFirst = true
		m.add(0, evenly(100, start, end)...)
		burst := time.Date(2023, 8, 31, 1, 0, 0, 0, gatewayZone)
		m.add(0, evenly(52, burst, burst.Add(2*time.Hour))...)
		wantAll(t, m, m.walk(start, end, settings{pageSize: 50, prefetch: 1}))
	})
}

// TestOfWideWindows: SplitAbove may be more than the limit of one window; the walk then splits all the same.
func TestOfWideWindows(t *testing.T) {
	after(t, day0, day0.AddDate(0, 1, 0), func(t *testing.T, m *modelGateway, from, to time.Time) {
		m.add(0, evenly(maxRows+maxRows/2, from, to)...)
		wantAll(t, m, m.walk(from, to, settings{pageSize: maxPageSize, splitAbove: 10 * maxRows}))
	})
}
