package cardgateway

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// Walks that once went wrong, or nearly did.

type fetchFunc = func(ctx context.Context, from, to WallTime, page, size int) (*Page[modelRow], error)

// byEitherTime finds rows as a search for refunds does, in the order of their ids.
func byEitherTime(rows []modelRow) fetchFunc {
	return func(ctx context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
		if err := retry.Sleep(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
		in := func(s int64) bool { return from.seconds <= s && s <= to.seconds }
		var found []modelRow
		for _, r := range rows {
			if in(r.second) || in(r.second2) {
				found = append(found, r)
			}
		}
		n := len(found)
		return &Page[modelRow]{PageSize: size, TotalCount: n, Data: slices.Clone(found[min((page-1)*size, n):min(page*size, n)])}, nil
	}
}

// refundRows are spread over a range and have a second time, so much later.
func refundRows(start, end time.Time, n int, later time.Duration) (rows []modelRow) {
	for i, at := range spread(n, start, end) {
		s := wallTimeOf(at, DefaultLocation()).seconds
		rows = append(rows, modelRow{id: i + 1, second: s, second2: s + int64(later/time.Second)})
	}
	return rows
}

func wantOnce(t *testing.T, rows []modelRow, got map[int]int, err error) {
	t.Helper()
	repeated := 0
	for _, n := range got {
		repeated += n - 1
	}
	if err != nil || repeated > 0 || len(got) != len(rows) {
		t.Errorf("%v, %d repeated of %d/%d", err, repeated, len(got), len(rows))
	}
}

// TestWalkThrottledAtTheStart: a gateway that refuses a second request beside the first.
func TestWalkThrottledAtTheStart(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		w := m.walk(start, end, WalkOptions{PageSize: 50})
		var busy atomic.Int64
		fetch := w.source.fetch
		w.source.fetch = func(ctx context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
			defer busy.Add(-1)
			if busy.Add(1) > 1 {
				return nil, &QueryError{Op: "model", HTTPStatus: 429}
			}
			return fetch(ctx, from, to, page, size)
		}
		got, err := collect(w, t.Context())
		wantAll(t, m, got, err)
	})
}

// TestWalkFirstMonthFailsOnce: the other months were answered, so that the gateway is there.
func TestWalkFirstMonthFailsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		w := m.walk(start, end, WalkOptions{PageSize: 50})
		var failed atomic.Bool
		fetch := w.source.fetch
		w.source.fetch = func(ctx context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
			if from.seconds < wallTimeOf(start, m.loc).seconds && !failed.Swap(true) {
				_ = retry.Sleep(ctx, time.Second)
				return nil, &QueryError{Op: "model", HTTPStatus: 503}
			}
			return fetch(ctx, from, to, page, size)
		}
		got, err := collect(w, t.Context())
		wantAll(t, m, got, err)
	})
}

// TestWalkRefundsOnce: refunds made ten days after they were requested are found in two windows, and in two months.
func TestWalkRefundsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, end := day0, day0.AddDate(0, 2, 0)
		time.Sleep(time.Until(end.AddDate(0, 1, 0)))
		m := &modelGateway{loc: DefaultLocation()}
		w := m.walk(start, end, WalkOptions{PageSize: 50, Prefetch: 1})
		rows := refundRows(start, end, 1000, 10*24*time.Hour)
		w.source.fetch = byEitherTime(rows)
		got, err := collect(w, t.Context())
		wantOnce(t, rows, got, err)
	})
}

// TestWalkReadsADensePartAgain: 300 rows of five minutes become visible behind the reader.
func TestWalkReadsADensePartAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		x := start.AddDate(0, 0, 3)
		for _, at := range spread(300, x, x.Add(5*time.Minute)) { // all become visible at once, behind the reader
			m.add(time.Now().Add(500*time.Millisecond).Sub(at), at)
		}
		got, err := collect(m.walk(start, end, WalkOptions{PageSize: 50, Prefetch: 1}), t.Context())
		wantAll(t, m, got, err)
	})
}

// TestWalkOrderedByID: the gateway gives rows by id, which is nearly the order of time.
func TestWalkOrderedByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, end := day0, day0.AddDate(0, 2, 0)
		time.Sleep(time.Until(end.AddDate(0, 1, 0)))
		m := &modelGateway{loc: DefaultLocation()}
		var rows []modelRow
		for i := range 2000 {
			at := start.Add(end.Sub(start) / 2000 * time.Duration(i))
			s := wallTimeOf(at, m.loc).seconds
			if i%9 == 0 {
				s -= 3 * 3600
			}
			rows = append(rows, modelRow{id: i + 1, second: s})
		}
		w := m.walk(start.Add(-3*time.Hour), end, WalkOptions{PageSize: 5})
		w.source.fetch = byEitherTime(rows)
		got, err := collect(w, t.Context())
		wantOnce(t, rows, got, err)
		t.Logf("%+v", w.Report())
	})
}

// TestWalkResumesRefunds: rows before the checkpoint come again behind it.
func TestWalkResumesRefunds(t *testing.T) {
	bad, unsettled := 0, 0
	for kill := int64(1); kill < 60; kill++ {
		synctest.Test(t, func(t *testing.T) {
			start, end := day0, day0.AddDate(0, 2, 0)
			time.Sleep(time.Until(end.AddDate(0, 1, 0)))
			m := &modelGateway{loc: DefaultLocation()}
			rows := refundRows(start, end, 1000, 10*24*time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			var n atomic.Int64
			w := m.walk(start, end, WalkOptions{PageSize: 50})
			fetch := byEitherTime(rows)
			w.source.fetch = func(c context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
				if n.Add(1) == kill {
					cancel()
				}
				return fetch(c, from, to, page, size)
			}
			got, err := collect(w, ctx)
			cancel()
			if err == nil {
				return
			}
			second := m.walk(start, end, WalkOptions{PageSize: 50, Resume: w.Checkpoint()})
			second.source.fetch = fetch
			rest, err := collect(second, t.Context())
			if errors.Is(err, ErrUnsettled) {
				unsettled++
			}
			maps.Copy(got, rest)
			if err != nil || len(got) != len(rows) {
				bad++
			}
		})
	}
	if bad > 0 {
		t.Errorf("%d of 59 resumed walks failed, %d unsettled", bad, unsettled)
	}
}

// TestWalkResumesLongMonth: what lies before the checkpoint is longer than the gateway lets a query be.
func TestWalkResumesLongMonth(t *testing.T) {
	for kill := 1; kill < 60; kill++ {
		for _, empty := range []bool{false, true} {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				m.maxRange = 28 * 24 * time.Hour
				prefetch := 1
				if empty {
					m.rows, prefetch, start = nil, 16, start.AddDate(0, -2, 0)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m.before = func(n int) {
					if n == kill {
						cancel()
					}
				}
				first := m.walk(start, end, WalkOptions{PageSize: 50, Prefetch: prefetch})
				got, err := collect(first, ctx)
				if err == nil {
					return
				}
				text, _ := json.Marshal(first.Checkpoint())
				var resume Checkpoint
				_ = json.Unmarshal(text, &resume)
				m.before = nil
				rest, err := collect(m.walk(start, end, WalkOptions{PageSize: 50, Prefetch: prefetch, Resume: resume}), t.Context())
				if err := errors.Join(err, missing(m, got, rest)); err != nil {
					t.Errorf("killed at %d, empty %t: %v (%s)", kill, empty, err, text)
				}
			})
		}
	}
}

// TestWalkLateRefusal: of a page size that is no longer asked for.
func TestWalkLateRefusal(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		m.refuseAbove = 100
		w := m.walk(start, end, WalkOptions{Window: 24 * time.Hour})
		var slow atomic.Bool
		fetch := w.source.fetch
		w.source.fetch = func(ctx context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
			if size > 100 && from.seconds > wallTimeOf(start, m.loc).seconds+3600 && !slow.Swap(true) {
				_ = retry.Sleep(ctx, time.Second)
			}
			return fetch(ctx, from, to, page, size)
		}
		got, err := collect(w, t.Context())
		wantAll(t, m, got, err)
	})
}

// TestWalkRefusedRange: a refusal of the first month for its length does not make the pages small.
func TestWalkRefusedRange(t *testing.T) {
	most := map[int]int{}
	synctest.Test(t, func(t *testing.T) {
		start, end := day0.AddDate(-1, 0, 0), day0 // 2023
		time.Sleep(time.Until(end.AddDate(0, 1, 0)))
		m := &modelGateway{loc: DefaultLocation(), latency: 50 * time.Millisecond, maxRange: 28 * 24 * time.Hour}
		m.add(0, spread(20000, start, end)...)
		w := m.walk(start, end, WalkOptions{})
		fetch := w.source.fetch
		w.source.fetch = func(ctx context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
			if from.seconds > wallTimeOf(start, m.loc).seconds+3600 {
				_ = retry.Sleep(ctx, 10*time.Millisecond) // the head is answered first
			}
			p, err := fetch(ctx, from, to, page, size)
			m.mu.Lock()
			most[size]++
			m.mu.Unlock()
			return p, err
		}
		got, err := collect(w, t.Context())
		wantAll(t, m, got, err)
		if r := w.Report(); r.Requests > 100 {
			t.Errorf("%d requests, by size %v", r.Requests, most)
		}
	})
}

// TestWalkFixedPages: the size of pages is the gateway's affair, whatever the walk and its counts ask for.
func TestWalkFixedPages(t *testing.T) {
	for _, given := range []int{3, 10, 20, 50, 100, 999} {
		for _, size := range []int{0, 20, 100} {
			for _, silent := range []bool{false, true} {
				inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
					m.fixedSize, m.silentMax = given, silent
					w := m.walk(start, end, WalkOptions{PageSize: size})
					got, err := collect(w, t.Context())
					if wantAll(t, m, got, err); t.Failed() {
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

// TestWalkNarrowWindowsAtClockChanges: windows are no narrower where the clock is set forward.
func TestWalkNarrowWindowsAtClockChanges(t *testing.T) {
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
		synctest.Test(t, func(t *testing.T) {
			loc, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			to := tt.from.Add(tt.length)
			if wait := time.Until(to.AddDate(0, 0, 1)); wait > 0 {
				time.Sleep(wait)
			}
			m := &modelGateway{loc: loc}
			m.add(0, spread(100, tt.from, to)...)
			w := m.walk(tt.from, to, WalkOptions{PageSize: 999, Window: tt.window})
			got, err := collect(w, context.Background())
			wantAll(t, m, got, err)
			if r := w.Report(); r.Requests > tt.requests {
				t.Errorf("%s, windows of %v: %d requests, want at most %d", tt.zone, tt.window, r.Requests, tt.requests)
			}
		})
	}
}

// TestWalkTinyPages: counts do not ask for more rows than the gateway grants.
func TestWalkTinyPages(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		m.refuseAbove = 5
		got, err := collect(m.walk(start, end, WalkOptions{PageSize: 5}), t.Context())
		wantAll(t, m, got, err)
	})
}

// TestWalkOneSecond: all rows of three months came in one second.
func TestWalkOneSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, end := day0, day0.AddDate(0, 3, 0)
		time.Sleep(time.Until(end.AddDate(0, 1, 0)))
		m := &modelGateway{loc: DefaultLocation(), latency: 50 * time.Millisecond}
		x := start.AddDate(0, 0, 12)
		m.add(0, spread(20000, x, x.Add(time.Second))...)
		w := m.walk(start, end, WalkOptions{PageSize: 50})
		got, err := collect(w, t.Context())
		wantAll(t, m, got, err)
		if r := w.Report(); r.Requests > 200 {
			t.Errorf("%d requests", r.Requests)
		}
	})
}

// TestWalkLeavesLessThanAMonth: what is left of a month beside a kept page can be longer than a month that begins there.
func TestWalkLeavesLessThanAMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2023, 5, 30, 12, 0, 0, 0, DefaultLocation())
		end := start.AddDate(0, 5, 0)
		time.Sleep(time.Until(end.AddDate(0, 1, 0)))
		m := &modelGateway{loc: DefaultLocation(), latency: 50 * time.Millisecond, oldestFirst: true}
		m.add(0, spread(100, start, end)...)
		burst := time.Date(2023, 8, 31, 1, 0, 0, 0, DefaultLocation())
		m.add(0, spread(52, burst, burst.Add(2*time.Hour))...)
		got, err := collect(m.walk(start, end, WalkOptions{PageSize: 50, Prefetch: 1}), t.Context())
		wantAll(t, m, got, err)
		for _, fault := range m.faults {
			t.Error(fault)
		}
	})
}

// TestWalkOfWideWindows: SplitAbove may be beyond what one window can hold; the walk then narrows all the same.
func TestWalkOfWideWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := day0, day0.AddDate(0, 1, 0)
		time.Sleep(time.Until(to.AddDate(0, 0, 1)))
		m := &modelGateway{loc: DefaultLocation()}
		m.add(0, spread(maxRows+maxRows/2, from, to)...)
		got, err := collect(m.walk(from, to, WalkOptions{PageSize: maxPageSize, SplitAbove: 10 * maxRows}), context.Background())
		wantAll(t, m, got, err)
	})
}
