package walk

import (
	"context"
	"errors"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// TestCappedTotals: a gateway that announces at most as many rows as fit on a page must not seem complete. All rows are
// yielded, and the walk reports that it cannot be sure.
func TestCappedTotals(t *testing.T) {
	for name, limit := range map[string]int{"at the page asked for": 0, "at 200": 200} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				w := m.walk(start, end, settings{pageSize: 200})
				fetch := w.config.Source.Fetch
				w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
					p, err := fetch(ctx, from, to, page, size)
					if p != nil && limit == 0 {
						p.Total = min(p.Total, size)
					} else if p != nil {
						p.Total = min(p.Total, limit)
					}
					return p, err
				}
				got, err := collect(t.Context(), w)
				unsettled, ok := errors.AsType[*UnsettledError](err)
				if !ok {
					t.Fatalf("%s: %d rows of %d, and the walk ended with %v, want an *UnsettledError", name, len(got), len(m.rows), err)
				}
				t.Logf("%s: %d rows of %d, then %v", name, len(got), len(m.rows), unsettled)
			})
		})
	}
}

// TestFullWindowIsNotCapped: a window that exactly fills its page needs one more request, for a page that is empty or refused, and is
// complete.
func TestFullWindowIsNotCapped(t *testing.T) {
	for name, refused := range map[string]bool{"the next page is empty": false, "the next page is refused": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, end := day0, day0.AddDate(0, 0, 20)
				time.Sleep(time.Until(end.AddDate(0, 0, 1)))
				m := &modelGateway{loc: gatewayZone}
				m.add(0, evenly(100, start, end)...)
				w := m.walk(start, end, settings{pageSize: 100})
				fetch := w.config.Source.Fetch
				w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
					p, err := fetch(ctx, from, to, page, size)
					if refused && page > 1 {
						return nil, errRefused
					}
					return p, err
				}
				got, err := collect(t.Context(), w)
				wantAll(t, m, got, err)
				if m.requests != 2 {
					t.Errorf("got %d requests, want 2", m.requests)
				}
			})
		})
	}
}

// TestCompleteWithinABlock: in a block of many windows, the walk reports before its end up to where it is complete, never
// too far, and that needs at most two requests in a hundred.
func TestCompleteWithinABlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, end := day0, day0.AddDate(0, 1, 0)
		time.Sleep(time.Until(end.AddDate(0, 0, 1)))
		m := &modelGateway{loc: time.UTC}
		m.add(0, evenly(20_000, start, end)...)
		w := m.walk(start, end, settings{pageSize: 50})
		moved, before := 0, start
		rows := 0
		err := w.Run(t.Context(), func(row *modelRow) bool {
			rows++
			if upTo := w.Report().CompleteUpTo; !upTo.Equal(before) {
				moved++
				if upTo.Before(before) || row.second.UTC().Before(upTo) {
					t.Errorf("complete up to %v, after %v, and a row of %v comes", upTo, before, row.second)
				}
				before = upTo
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if moved < 3 {
			t.Errorf("moved %d times in a block of %d windows, want at least 3", moved, w.Report().Windows)
		}
		if got := w.Report(); got.Requests > got.Windows*102/100+20 {
			t.Errorf("%d requests for %d windows", got.Requests, got.Windows)
		}
		t.Logf("moved %d times, %d windows, %d requests", moved, w.Report().Windows, w.Report().Requests)
	})
}

// TestNotCompleteWithinABlock: if rows are added to a part already read, the walk does not report that window as complete
// before it has found them.
func TestNotCompleteWithinABlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, end := day0, day0.AddDate(0, 1, 0)
		time.Sleep(time.Until(end.AddDate(0, 0, 1)))
		m := &modelGateway{loc: time.UTC, latency: 10 * time.Millisecond}
		m.add(0, evenly(20_000, start, end)...)
		m.add(300*time.Millisecond, start.Add(time.Hour)) // visible soon after its window was read
		w := m.walk(start, end, settings{pageSize: 50})
		yielded := map[int]int{}
		late := -1
		for _, row := range m.late {
			late = row.id
		}
		err := w.Run(t.Context(), func(row *modelRow) bool {
			yielded[row.id]++
			if w.Report().CompleteUpTo.After(start.Add(time.Hour)) && yielded[late] == 0 {
				t.Fatalf("complete up to %v, and the late row is missing", w.Report().CompleteUpTo)
			}
			return true
		})
		if err != nil || yielded[late] != 1 || len(yielded) != 20_001 {
			t.Errorf("got %d rows, the late one %d times, %v", len(yielded), yielded[late], err)
		}
	})
}

// TestMovingRows: the guarantees for rows that change during the walk. A row that moves to a later time is yielded at least
// once, and one that does not move exactly once, whatever is added and removed beside it.
func TestMovingRows(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		const moving = 10
		m.before = func(n int) {
			if n == 5 {
				for i := range m.rows {
					if m.rows[i].id == moving {
						m.rows[i].at = end.Add(-time.Hour)
						m.rows[i].second = civil.Of(m.rows[i].at, m.loc)
					}
				}
				sort.SliceStable(m.rows, func(i, j int) bool { return m.rows[i].second < m.rows[j].second })
			}
		}
		got, err := collect(t.Context(), m.walk(start, end, settings{pageSize: 100, prefetch: 1}))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range m.rows {
			if n := got[row.id]; n == 0 || n > 1 && row.id != moving {
				t.Errorf("row %d came %d times", row.id, n)
			}
		}
		t.Logf("the row that moved came %d times", got[moving])
	})
}
