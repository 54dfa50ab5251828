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
