package cardgateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble walks over two months of 2,000 rows, in virtual time, well after they happened.
func inBubble(t *testing.T, f func(t *testing.T, m *modelGateway, start, end time.Time)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start, end := day0, day0.AddDate(0, 2, 0)
		time.Sleep(time.Until(end.AddDate(0, 0, 1)))
		m := &modelGateway{loc: DefaultLocation(), latency: 50 * time.Millisecond}
		m.add(0, spread(2000, start, end)...)
		f(t, m, start, end)
	})
}

func wantAll(t *testing.T, m *modelGateway, got map[int]int, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	all := func(modelRow) bool { return true }
	if missed, repeated, _ := judge(t, m, got, all, all); missed+repeated > 0 {
		t.Errorf("%d missed, %d repeated of %d rows", missed, repeated, len(m.rows))
	}
}

// TestWalkMisbehavior lets the gateway answer wrongly every so many times.
func TestWalkMisbehavior(t *testing.T) {
	foreign := modelRow{id: 1, second: wallTimeOf(day0, DefaultLocation()).seconds}
	var previous []modelRow
	every := func(n int, change func(p *Page[modelRow]) error) func(int, *Page[modelRow]) error {
		return func(i int, p *Page[modelRow]) error {
			if i%n == 0 {
				return change(p)
			}
			previous = p.Data
			return nil
		}
	}
	unavailable := &QueryError{Op: "model", HTTPStatus: 503}
	tests := []struct {
		name    string
		set     func(m *modelGateway)
		opts    WalkOptions
		reread  bool // the report must show that something was read again
		atMost  int  // requests
		longest time.Duration
	}{
		{name: "nothing", atMost: 60},
		{name: "empty pages", set: func(m *modelGateway) {
			m.perturb = every(5, func(p *Page[modelRow]) error { p.Data = nil; return nil })
		}, reread: true, atMost: 90},
		{name: "short pages", set: func(m *modelGateway) {
			m.perturb = every(3, func(p *Page[modelRow]) error { p.Data = p.Data[:len(p.Data)/2]; return nil })
		}, reread: true, atMost: 140},
		{name: "repeated pages", set: func(m *modelGateway) {
			m.perturb = every(4, func(p *Page[modelRow]) error { p.Data = slices.Clone(previous); return nil })
		}, reread: true, atMost: 120},
		{name: "a row from outside on top", set: func(m *modelGateway) {
			m.perturb = every(3, func(p *Page[modelRow]) error { p.Data = append(p.Data, foreign); return nil })
		}, atMost: 80},
		{name: "a row from outside in place of another", set: func(m *modelGateway) {
			m.perturb = every(3, func(p *Page[modelRow]) error {
				if len(p.Data) > 0 {
					p.Data[0] = foreign
				}
				return nil
			})
		}, reread: true, atMost: 140},
		{name: "pages cut to 20", set: func(m *modelGateway) { m.maxSize = 20 }, atMost: 150},
		{name: "pages cut to 20 in silence", set: func(m *modelGateway) { m.maxSize, m.silentMax = 20, true }, atMost: 160},
		{name: "pages above 100 refused", set: func(m *modelGateway) { m.refuseAbove = 100 }, opts: WalkOptions{}, atMost: 60},
		{name: "pages above 30 refused", set: func(m *modelGateway) { m.refuseAbove = 30 }, opts: WalkOptions{}, atMost: 320},
		{name: "28 days", set: func(m *modelGateway) { m.maxRange = 28 * 24 * time.Hour }, opts: WalkOptions{PageSize: 50}, atMost: 70},
		{name: "28 days and pages of 100", set: func(m *modelGateway) {
			m.maxRange, m.refuseAbove = 28*24*time.Hour, 100
		}, opts: WalkOptions{}, atMost: 70},
		{name: "HTTP 429", set: func(m *modelGateway) {
			m.perturb = every(3, func(*Page[modelRow]) error {
				return &QueryError{Op: "model", HTTPStatus: 429, Code: 429, RetryAfter: 3 * time.Second}
			})
		}, atMost: 90, longest: 5 * time.Minute},
		{name: "down for a minute", set: func(m *modelGateway) {
			begun := time.Now()
			m.perturb = func(int, *Page[modelRow]) error {
				if down := time.Since(begun); 300*time.Millisecond < down && down < time.Minute {
					return unavailable
				}
				return nil
			}
		}, atMost: 100, longest: 90 * time.Second},
		{name: "windows of a day", opts: WalkOptions{PageSize: 50, Window: 24 * time.Hour}, atMost: 70},
		{name: "windows of several pages", opts: WalkOptions{PageSize: 50, SplitAbove: 500}, atMost: 60},
		{name: "windows of several pages, unstable", set: func(m *modelGateway) { m.unstableTies = true }, opts: WalkOptions{PageSize: 50, SplitAbove: 500}, atMost: 60},
		{name: "one row a page", opts: WalkOptions{PageSize: 1}, atMost: 6000},
	}
	for _, tt := range tests {
		for _, prefetch := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, prefetch %d", tt.name, prefetch), func(t *testing.T) {
				inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
					if tt.set != nil {
						tt.set(m)
					}
					opts := tt.opts
					if opts.PageSize == 0 && m.refuseAbove == 0 {
						opts.PageSize = 50
					}
					opts.Prefetch = prefetch
					begun := time.Now()
					w := m.walk(start, end, opts)
					got, err := collect(w, context.Background())
					wantAll(t, m, got, err)
					r := w.Report()
					if r.Requests != m.requests || r.Requests > tt.atMost || tt.reread && r.Reread == 0 {
						t.Errorf("report %+v, %d requests, want at most %d", r, m.requests, tt.atMost)
					}
					if took := time.Since(begun); tt.longest > 0 && took > tt.longest {
						t.Errorf("took %v, want at most %v", took, tt.longest)
					}
					if !r.CompleteUpTo.Equal(end) || r.RowsSeen != 2000 {
						t.Errorf("report %+v", r)
					}
				})
			})
		}
	}
}

// TestWalkErrors lets the gateway fail for good: the walk ends with one error, after the rows before it.
func TestWalkErrors(t *testing.T) {
	unreadable := &QueryError{Op: "model", HTTPStatus: 200, Code: CodeSearchSuccess, Cause: &RowError{Page: 1, Row: 3, Member: "uniqueId"}}
	tests := []struct {
		name    string
		perturb func(n int, p *Page[modelRow]) error
		want    error
	}{
		{"refused", func(n int, _ *Page[modelRow]) error {
			if n > 20 {
				return modelRefusal
			}
			return nil
		}, modelRefusal},
		{"total never right", func(n int, p *Page[modelRow]) error {
			if n > 20 && p.TotalCount < 50 {
				p.TotalCount++
			}
			return nil
		}, ErrUnsettled},
		{"down for good", func(n int, _ *Page[modelRow]) error {
			if n > 20 {
				return &QueryError{Op: "model", HTTPStatus: 503}
			}
			return nil
		}, nil},
		{"unreadable row", func(n int, _ *Page[modelRow]) error { return nil }, unreadable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				m.perturb = tt.perturb
				w := m.walk(start, end, WalkOptions{PageSize: 50})
				if tt.want == unreadable {
					fetch := w.source.fetch
					w.source.fetch = func(ctx context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
						p, err := fetch(ctx, from, to, page, size)
						m.mu.Lock()
						defer m.mu.Unlock()
						if m.requests > 24 && err == nil && p.TotalCount < 50 {
							err = unreadable
						}
						return p, err
					}
				}
				failures, after := 0, 0
				var failure error
				for _, err := range w.All(context.Background()) {
					if err != nil {
						failures, failure = failures+1, err
					} else if failures > 0 {
						after++
					}
				}
				if failures != 1 || after != 0 || tt.want != nil && !errors.Is(failure, tt.want) {
					t.Errorf("%d errors, %d rows after it: %v", failures, after, failure)
				}
				if !strings.Contains(failure.Error(), "window from 20") {
					t.Errorf("the error does not say which window: %v", failure)
				}
				if r := w.Report(); r.RowsSeen < 500 || r.CompleteUpTo.After(end) {
					t.Errorf("report %+v", r)
				}
				for _, err := range w.All(context.Background()) {
					if !errors.Is(err, errWalked) {
						t.Errorf("second loop: %v", err)
					}
				}
			})
		})
	}
}

// TestWalkKilledAtEveryRequest ends a walk at each of its requests in turn, and resumes it from the JSON of its last
// checkpoint in another one. Both together must give what an unbroken walk gives.
func TestWalkKilledAtEveryRequest(t *testing.T) {
	for _, prefetch := range []int{1, 4} {
		again, kills := 0, 0
		for kill := 1; ; kill++ {
			finished := false
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				m.unstableTies = true
				m.add(0, slices.Repeat([]time.Time{start.AddDate(0, 0, 40)}, 120)...)
				ctx, cancel := context.WithCancel(t.Context())
				m.before = func(n int) {
					if n == kill {
						cancel()
					}
				}
				first := m.walk(start, end, WalkOptions{PageSize: 50, Prefetch: prefetch})
				got, err := collect(first, ctx)
				if finished = err == nil; finished {
					wantAll(t, m, got, err)
					return
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("kill at %d: %v", kill, err)
				}
				text, err := json.Marshal(first.Checkpoint())
				if err != nil {
					t.Fatal(err)
				}
				var resume Checkpoint
				if err := json.Unmarshal(text, &resume); err != nil {
					t.Fatal(err)
				}
				m.before = nil
				second := m.walk(start, end, WalkOptions{PageSize: 50, Prefetch: prefetch, Resume: resume})
				rest, err := collect(second, context.Background())
				if err := errors.Join(err, missing(m, got, rest)); err != nil {
					t.Errorf("killed at request %d: %v", kill, err)
				}
				for id := range rest {
					if got[id] > 0 {
						again++
					}
				}
			})
			if finished {
				break
			}
			kills++
		}
		t.Logf("prefetch %d: killed at each of %d requests, %d rows given again", prefetch, kills, again)
	}
}

// missing reports rows that neither of two walks has given.
func missing(m *modelGateway, walks ...map[int]int) error {
	union := map[int]int{}
	for _, got := range walks {
		maps.Copy(union, got)
	}
	if len(union) != len(m.rows) {
		return fmt.Errorf("%d rows of %d", len(union), len(m.rows))
	}
	return nil
}

// TestWalkStops breaks out, cancels and fails, and looks for goroutines and requests that go on.
func TestWalkStops(t *testing.T) {
	before := runtime.NumGoroutine()
	for stopAt := 1; stopAt < 1500; stopAt += 97 {
		for _, cancelled := range []bool{false, true} {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				rows := 0
				for _, err := range m.walk(start, end, WalkOptions{PageSize: 50, Prefetch: 16}).All(ctx) {
					if rows++; rows < stopAt {
						continue
					}
					if !cancelled {
						break
					}
					cancel()
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
				sent := m.requests
				if m.inFlight != 0 {
					t.Errorf("%d requests in flight after the loop", m.inFlight)
				}
				time.Sleep(time.Minute)
				if m.requests != sent || cancelled && rows > stopAt+1000 {
					t.Errorf("%d requests after the loop, %d rows after the end of the context", m.requests-sent, rows-stopAt)
				}
			})
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
