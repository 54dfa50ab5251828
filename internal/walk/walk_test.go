package walk

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// TestProgress: progress increases, and ends with the whole range.
func TestProgress(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		w := m.walk(start, end, settings{pageSize: 50})
		var last Progress
		w.config.Progress = func(p Progress) {
			if p.Fraction < last.Fraction || p.Rows < last.Rows || p.Windows < last.Windows || p.CompleteUpTo.Before(last.CompleteUpTo) {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		}
		wantAll(t, m, w)
		r := w.Report()
		want := Progress{Windows: r.Windows, Requests: m.requests, Rows: 2000, CompleteUpTo: end, Fraction: 1}
		if last != want || r.RowsSeen != 2000 || r.Requests != m.requests || !r.CompleteUpTo.Equal(end) {
			t.Errorf("got %+v and %+v, want %+v", last, r, want)
		}
	})
}

// TestNoCheckpoint: a walk that has not begun has no checkpoint, and one that resumes has the one that it was given.
func TestNoCheckpoint(t *testing.T) {
	m := &modelGateway{loc: gatewayZone}
	if c, ok := m.walk(day0, day0, settings{}).Checkpoint(); ok {
		t.Errorf("got %+v, want none", c)
	}
	want := Checkpoint{Block: 1, Next: 2, Counted: 3}
	if got := *checkpointOf(t, m.walk(day0, day0, settings{resume: &want})); got.Block != 1 || got.Next != 2 || got.Counted != 3 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestFuture: a range in the future has no rows, and there is no query.
func TestFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &modelGateway{loc: gatewayZone}
		start := time.Now().Add(time.Hour)
		w := m.walk(start, start.Add(time.Hour), settings{})
		got, err := collect(t.Context(), w)
		if len(got) > 0 || err != nil || m.requests > 0 || !w.Report().CompleteUpTo.Equal(start) {
			t.Errorf("got %d rows, %v, %d requests, complete up to %v", len(got), err, m.requests, w.Report().CompleteUpTo)
		}
	})
}

// TestRowsWithoutTime: a row without a time is yielded once, even if a later block returns it again.
func TestRowsWithoutTime(t *testing.T) {
	after(t, day0, day0.AddDate(0, 4, 0), func(t *testing.T, m *modelGateway, start, end time.Time) {
		m.loc = time.UTC
		m.add(0, evenly(1000, start, end)...)
		m.add(0, start.AddDate(0, 1, 0), start.AddDate(0, 1, 0).Add(-time.Second), start.AddDate(0, 1, 0).Add(-2*time.Second))
		w := m.walk(start, end, settings{pageSize: 50})
		times := w.config.Source.Times
		w.config.Source.Times = func(r *modelRow) [2]civil.Time {
			if r.id%7 == 0 || r.id > 1000 {
				return [2]civil.Time{civil.None, civil.None}
			}
			return times(r)
		}
		wantAll(t, m, w)
	})
}

// TestRowsWithoutTimeInEveryPage: a row without a time is yielded once, even if every query returns it.
func TestRowsWithoutTimeInEveryPage(t *testing.T) {
	after(t, day0, day0.AddDate(0, 6, 0), func(t *testing.T, m *modelGateway, start, end time.Time) {
		m.loc = time.UTC
		m.add(0, evenly(100, start, end)...)
		always := modelRow{id: 1000, second: civil.None}
		m.perturb = func(_ int, p *modelPage) error {
			p.Rows, p.Total = append(p.Rows, always), p.Total+1
			return nil
		}
		got, err := collect(t.Context(), m.walk(start, end, settings{}))
		if err != nil || got[always.id] != 1 || len(got) != 101 {
			t.Errorf("got the row %d times and %d distinct rows, %v, want it once and 101", got[always.id], len(got), err)
		}
	})
}

// TestResumeAfterNow: a row at the end of a walk, or after it because the gateway's clock is ahead, is returned and not yielded. The
// walk that resumes later yields it, also if rows count as complete at once.
func TestResumeAfterNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(day0.AddDate(0, 1, 0)))
		now := time.Now()
		m := &modelGateway{loc: time.UTC}
		m.add(-time.Minute, now.Add(-time.Hour), now.Add(-time.Second), now, now.Add(time.Second), now.Add(2*time.Second))
		begin := func(resume *Checkpoint) (*Walk[modelRow], map[int]int) {
			w := m.walk(day0, day0.AddDate(1, 0, 0), settings{resume: resume})
			w.config.Lag = 1
			got, err := collect(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			return w, got
		}
		w, got := begin(nil)
		time.Sleep(time.Hour)
		_, later := begin(checkpointOf(t, w))
		for id := 1; id <= 5; id++ {
			if got[id]+later[id] == 0 {
				t.Errorf("row %d: got %v, then %v", id, got, later)
			}
		}
	})
}

// TestResumeAfterClockChange: a walk that ends in the last hour before clocks are set back has seen times that they show once more.
// The rows of the second time are not missed by the walk that resumes after it.
func TestResumeAfterClockChange(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York") // clocks go from 02:00 EDT to 01:00 EST
	if err != nil {
		t.Fatal(err)
	}
	change := time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)
	for _, start := range []time.Time{change.AddDate(0, 0, -7), change.Add(-50 * time.Minute)} {
		for _, before := range []time.Duration{time.Second, time.Minute, 10 * time.Minute, 40 * time.Minute, 2 * time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				m := &modelGateway{loc: loc}
				m.add(0, evenly(500, start, change.Add(4*time.Hour))...)
				m.add(0, evenly(200, change.Add(-40*time.Minute), change.Add(2*time.Hour))...)
				seen := map[int]bool{}
				var resume *Checkpoint
				for _, at := range []time.Time{change.Add(-before), change.Add(-before).Add(time.Hour), change.Add(5 * time.Hour)} {
					time.Sleep(time.Until(at))
					w := m.walk(start, change.AddDate(1, 0, 0), settings{resume: resume})
					got, err := collect(t.Context(), w)
					if err != nil {
						t.Fatal(err)
					}
					for id := range got {
						seen[id] = true
					}
					resume = checkpointOf(t, w)
				}
				if len(seen) != 700 {
					t.Errorf("from %v, first until %v before the change: got %d rows, want 700", start, before, len(seen))
				}
			})
		}
	}
}

// TestResumeWithLongerLag: rows that are younger than the lag of the walk that resumes do not count as complete, although the walk
// before had a shorter one.
func TestResumeWithLongerLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, end := day0, day0.Add(4*time.Hour)
		time.Sleep(time.Until(end))
		m := &modelGateway{loc: time.UTC}
		m.add(0, evenly(1000, start, end)...)
		begin := func(lag time.Duration, resume *Checkpoint, stop int) (*Walk[modelRow], map[int]bool) {
			w := m.walk(start, end.AddDate(1, 0, 0), settings{pageSize: 50, resume: resume})
			w.config.Lag = lag
			got := map[int]bool{}
			if err := w.Run(t.Context(), func(r *modelRow) bool { got[r.id] = true; return len(got) < stop }); err != nil && err != ErrStopped {
				t.Fatal(err)
			}
			return w, got
		}
		first, got := begin(time.Minute, nil, 300)
		resume := checkpointOf(t, first)
		if resume.Next == resume.Block {
			t.Fatalf("got %+v, want a checkpoint in a block", resume)
		}
		second, rest := begin(5*time.Hour, resume, 1000)
		maps.Copy(got, rest)
		if r := second.Report(); r.CompleteUpTo.After(start) || len(got) != 1000 {
			t.Errorf("complete up to %v and %d rows, want %v and 1000", r.CompleteUpTo, len(got), start)
		}
	})
}

// TestBlockUnsettled: the count of a block never equals the rows of its windows.
func TestBlockUnsettled(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		w := m.walk(start, end, settings{pageSize: 50})
		fetch := w.config.Source.Fetch
		w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
			p, err := fetch(ctx, from, to, page, size)
			if err == nil && size == countPageSize && p.Total > 900 {
				p.Total++
			}
			return p, err
		}
		got, err := collect(t.Context(), w)
		e, ok := errors.AsType[*UnsettledError](err)
		if !ok || e.Rounds != maxRecounts || e.Announced != e.Seen+1 || e.To < e.From+25*24*hour || len(got) != e.Seen {
			t.Errorf("got %v after %d rows, want a block that does not settle", err, len(got))
		}
	})
}

// TestResumeWithShorterWindows: the block of the checkpoint is longer than a query may now be, and is read again.
func TestResumeWithShorterWindows(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		first := m.walk(start, end, settings{pageSize: 50})
		got := map[int]int{}
		err := first.Run(t.Context(), func(r *modelRow) bool {
			got[r.id]++
			return len(got) < 700
		})
		if err != ErrStopped {
			t.Fatal(err)
		}
		resume := checkpointOf(t, first)
		second := m.walk(start, end, settings{pageSize: 50, window: 24 * time.Hour, resume: resume})
		rest, err := collect(t.Context(), second)
		if err := errors.Join(err, missing(m, got, rest)); err != nil || resume.Counted == 0 {
			t.Errorf("resumed from %+v: %v", *resume, err)
		}
		if r := second.Report(); r.Reread > 0 {
			t.Errorf("%d windows were read again", r.Reread)
		}
	})
}

// TestCompletenessIsKept: what the checkpoint says is complete stays so, also if its block is read again in shorter windows.
func TestCompletenessIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
		first := m.walk(start, end, settings{pageSize: 50})
		rows := 0
		if err := first.Run(t.Context(), func(*modelRow) bool { rows++; return rows < 700 }); err != ErrStopped {
			t.Fatal(err)
		}
		resume := checkpointOf(t, first)
		resume.CompleteUpTo = start.AddDate(0, 0, 10)
		second := m.walk(start, end, settings{pageSize: 50, window: 24 * time.Hour, resume: resume})
		err := second.Run(t.Context(), func(*modelRow) bool {
			if upTo := second.Report().CompleteUpTo; upTo.Before(resume.CompleteUpTo) {
				t.Fatalf("complete up to %v, and before up to %v", upTo, resume.CompleteUpTo)
			}
			return true
		})
		if upTo := second.Report().CompleteUpTo; err != nil || !upTo.After(resume.CompleteUpTo) {
			t.Errorf("at the end complete up to %v, %v", upTo, err)
		}
	})
}

// TestDenseSecond: the second of a burst is paged through if the gateway refuses larger pages.
func TestDenseSecond(t *testing.T) {
	for _, refuseAbove := range []int{50, 500} {
		inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
			m.refuseAbove = refuseAbove
			burst := start.AddDate(0, 0, 10)
			m.add(0, evenly(400, burst, burst.Add(time.Second))...)
			wantAll(t, m, m.walk(start, end, settings{pageSize: 50}))
		})
	}
}
