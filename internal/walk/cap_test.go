package walk

import (
	"cmp"
	"context"
	"errors"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// TestCappedTotals: a gateway that announces at most as many rows as fit on a page, or as it returns at all, must not seem complete. All
// rows of the first month are yielded, and the walk reports that it cannot be sure.
func TestCappedTotals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  int
		isLast bool // there is no next page
	}{
		{"at the page asked for", 0, false}, {"at 200", 200, false}, {"at half a page", 100, false}, {"at 200 rows at all", 200, true},
		{"at 50 rows at all", 50, true}, {"at 10 rows at all", 10, true},
	} {
		name, limit := tt.name, tt.limit
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				w := m.walk(start, end, settings{pageSize: 200})
				fetch := w.config.Source.Fetch
				w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
					most := cmp.Or(limit, size)
					p, err := fetch(ctx, from, to, page, most)
					if p != nil {
						p.Total, p.Size = min(p.Total, most), size
					}
					if p != nil && tt.isLast && page > 1 {
						p.Rows = nil
					}
					return p, err
				}
				got, err := collect(t.Context(), w)
				unsettled, ok := errors.AsType[*UnsettledError](err)
				if !ok || len(got) <= len(m.rows)/2 {
					t.Fatalf("%s: %d rows of %d, and the walk ended with %v, want more than half and an *UnsettledError", name, len(got), len(m.rows), err)
				}
				t.Logf("%s: %d rows of %d, then %v", name, len(got), len(m.rows), unsettled)
			})
		})
	}
}

// TestFullWindowIsNotCapped: a window with as many rows as fit on a page, or with a round number of them, is read in two parts and
// counted, unless there were so many before. If it is too short for that, it needs one more request, for a page that is empty or refused.
func TestFullWindowIsNotCapped(t *testing.T) {
	for _, tt := range []struct {
		name         string
		rows, months int
		days         int // with rows, of each month
		refused      bool
		requests     int
	}{
		{"a full page", 100, 1, 20, false, 3},
		{"half of a page", 50, 1, 20, false, 4},
		{"half of a page, in each month", 50, 6, 20, false, 12},
		{"another number", 51, 1, 20, false, 1},
		{"the next page is empty", 100, 1, 0, false, 2},
		{"the next page is refused", 100, 1, 0, true, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &modelGateway{loc: gatewayZone}
				end := day0
				for month := range tt.months {
					from := day0.AddDate(0, month, 0)
					end = from.AddDate(0, 0, tt.days).Add(2 * time.Second)
					m.add(0, evenly(tt.rows, from, end)...)
				}
				time.Sleep(time.Until(end.AddDate(0, 0, 1)))
				w := m.walk(day0, end, settings{pageSize: 100, prefetch: 1})
				fetch := w.config.Source.Fetch
				w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
					p, err := fetch(ctx, from, to, page, size)
					if tt.refused && page > 1 {
						return nil, errRefused
					}
					return p, err
				}
				wantAll(t, m, w)
				if m.requests != tt.requests {
					t.Errorf("%s: got %d requests, want %d", tt.name, m.requests, tt.requests)
				}
			})
		})
	}
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
