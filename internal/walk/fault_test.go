package walk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// TestMisbehavior makes every n-th response of the gateway wrong.
func TestMisbehavior(t *testing.T) {
	foreign := modelRow{id: 1, second: civil.Of(day0, gatewayZone)}
	var previous []modelRow
	every := func(n int, change func(p *modelPage) error) func(int, *modelPage) error {
		return func(i int, p *modelPage) error {
			if i%n == 0 {
				return change(p)
			}
			previous = p.Rows
			return nil
		}
	}
	tests := []struct {
		name    string
		set     func(m *modelGateway)
		opts    settings
		reread  bool // the report must say that something was read again
		atMost  int  // requests
		longest time.Duration
	}{
		{name: "nothing", atMost: 60},
		{name: "empty pages", set: func(m *modelGateway) {
			m.perturb = every(5, func(p *modelPage) error { p.Rows = nil; return nil })
		}, reread: true, atMost: 90},
		{name: "short pages", set: func(m *modelGateway) {
			m.perturb = every(3, func(p *modelPage) error { p.Rows = p.Rows[:len(p.Rows)/2]; return nil })
		}, reread: true, atMost: 140},
		{name: "repeated pages", set: func(m *modelGateway) {
			m.perturb = every(4, func(p *modelPage) error { p.Rows = slices.Clone(previous); return nil })
		}, reread: true, atMost: 120},
		{name: "a row from outside on top", set: func(m *modelGateway) {
			m.perturb = every(3, func(p *modelPage) error { p.Rows = append(p.Rows, foreign); return nil })
		}, atMost: 80},
		{name: "a row from outside in place of another", set: func(m *modelGateway) {
			m.perturb = every(3, func(p *modelPage) error {
				if len(p.Rows) > 0 {
					p.Rows[0] = foreign
				}
				return nil
			})
		}, reread: true, atMost: 140},
		{name: "pages cut to 20", set: func(m *modelGateway) { m.maxSize = 20 }, atMost: 150},
		{name: "pages cut to 20 in silence", set: func(m *modelGateway) { m.maxSize, m.silentMax = 20, true }, atMost: 160},
		{name: "pages above 100 refused", set: func(m *modelGateway) { m.refuseAbove = 100 }, atMost: 60},
		{name: "pages above 30 refused", set: func(m *modelGateway) { m.refuseAbove = 30 }, atMost: 320},
		{name: "28 days", set: func(m *modelGateway) { m.maxRange = 28 * 24 * time.Hour }, opts: settings{pageSize: 50}, atMost: 70},
		{name: "28 days and pages of 100", set: func(m *modelGateway) {
			m.maxRange, m.refuseAbove = 28*24*time.Hour, 100
		}, atMost: 70},
		{name: "too many requests", set: func(m *modelGateway) {
			m.perturb = every(3, func(*modelPage) error {
				return &modelError{Transient, 3 * time.Second}
			})
		}, atMost: 90, longest: 5 * time.Minute},
		{name: "down for a minute", set: func(m *modelGateway) {
			begun := time.Now()
			m.perturb = func(int, *modelPage) error {
				if down := time.Since(begun); 300*time.Millisecond < down && down < time.Minute {
					return errUnavailable
				}
				return nil
			}
		}, atMost: 100, longest: 90 * time.Second},
		{name: "windows of a day", opts: settings{pageSize: 50, window: 24 * time.Hour}, atMost: 70},
		{name: "windows of several pages", opts: settings{pageSize: 50, splitAbove: 500}, atMost: 60},
		{name: "windows of several pages, unstable", set: func(m *modelGateway) { m.unstableTies = true }, opts: settings{pageSize: 50, splitAbove: 500}, atMost: 60},
		{name: "pages above 5 refused, and no more asked for", set: func(m *modelGateway) { m.refuseAbove = 5 }, opts: settings{pageSize: 5}, atMost: 1000},
		{name: "one row a page", opts: settings{pageSize: 1}, atMost: 6000},
	}
	for _, tt := range tests {
		for _, prefetch := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, prefetch %d", tt.name, prefetch), func(t *testing.T) {
				inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
					if tt.set != nil {
						tt.set(m)
					}
					opts := tt.opts
					if opts.pageSize == 0 && m.refuseAbove == 0 {
						opts.pageSize = 50
					}
					opts.prefetch = prefetch
					begun := time.Now()
					w := m.walk(start, end, opts)
					wantAll(t, m, w)
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

// TestErrors lets the gateway fail permanently: the walk ends with an error that says where, after the rows before it.
func TestErrors(t *testing.T) {
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	isUnsettled := func(err error) bool {
		e, ok := errors.AsType[*UnsettledError](err)
		return ok && e.Announced == e.Seen+1 && e.Rounds == maxRounds
	}
	tests := []struct {
		name    string
		perturb func(n int, p *modelPage) error
		want    func(error) bool
	}{
		{"refused", func(n int, _ *modelPage) error {
			if n > 20 {
				return errRefused
			}
			return nil
		}, is(errRefused)},
		{"total never right", func(n int, p *modelPage) error {
			if n > 20 && p.Total < 50 {
				p.Total++
			}
			return nil
		}, isUnsettled},
		{"down for good", func(n int, _ *modelPage) error {
			if n > 20 {
				return errUnavailable
			}
			return nil
		}, is(errUnavailable)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				m.perturb = tt.perturb
				w := m.walk(start, end, settings{pageSize: 50})
				_, err := collect(t.Context(), w)
				if err == nil || !tt.want(err) {
					t.Fatalf("the walk ended with %v", err)
				}
				if !strings.Contains(err.Error(), "window from 20") {
					t.Errorf("the error does not say which window: %v", err)
				}
				if r := w.Report(); r.RowsSeen < 500 || r.CompleteUpTo.After(end) {
					t.Errorf("report %+v", r)
				}
			})
		})
	}
}

// hideOdd makes every tenth row unreadable. Of every third of them, not even the time can be read.
func hideOdd(_ int, p *modelPage) error {
	p.Rows = slices.DeleteFunc(p.Rows, func(row modelRow) bool {
		if row.id%10 != 0 {
			return false
		}
		bad := Unreadable{Key: strconv.Itoa(row.id), Times: [2]civil.Time{row.second, civil.None}, Name: RowError{UniqueID: strconv.Itoa(row.id)}}
		if row.id%30 == 0 {
			bad.Times[0] = civil.None
		}
		p.Unreadable = append(p.Unreadable, bad)
		return true
	})
	return nil
}

// TestUnreadableRows: they are counted like all others and reported once, and the walk is complete, with no more requests. Killed at any
// request and resumed, it reports those before the checkpoint, too.
func TestUnreadableRows(t *testing.T) {
	for kill := 0; kill < 120; kill += 7 {
		inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
			m.add(0, slices.Repeat([]time.Time{start.AddDate(0, 0, 40)}, 120)...)
			m.perturb = hideOdd
			got, rest, w := killed(t, kill, func(resume *Checkpoint) *Walk[modelRow] {
				return m.walk(start, end, settings{pageSize: 50, resume: resume})
			})
			for id, n := range rest {
				got[id] += n
			}
			reported := map[string]int{}
			for _, row := range w.Report().Unreadable.First {
				reported[row.UniqueID]++
			}
			for _, row := range m.rows {
				odd := row.id%10 == 0
				if (got[row.id] > 0) == odd || (reported[strconv.Itoa(row.id)] == 1) != odd {
					t.Errorf("killed at %d, row %d: yielded %d times, reported %d times", kill, row.id, got[row.id], reported[strconv.Itoa(row.id)])
				}
			}
			if r := w.Report(); r.Unreadable.Count != len(reported) || !r.CompleteUpTo.Equal(end) || r.Requests > 100 {
				t.Errorf("killed at %d: %d reported, report %d, complete up to %v, %d requests", kill, len(reported), r.Unreadable.Count, r.CompleteUpTo, r.Requests)
			}
		})
	}
}

// TestOneIDInTwoWindows: two rows of a month with one id, such as a payment and its chargeback, cost no other row, also if they are not in
// one window, and wherever the walk was killed before. The second one is reported.
func TestOneIDInTwoWindows(t *testing.T) {
	for _, apart := range []int{40, 400, 900} {
		for n := 1; n < 40; n += 3 {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				m.late[50+apart].id = m.late[50].id
				got, rest, w := killed(t, n, func(resume *Checkpoint) *Walk[modelRow] {
					return m.walk(start, end, settings{pageSize: 50, resume: resume})
				})
				r := w.Report()
				if shown := got[51] + rest[51] + r.Unreadable.Count; shown < 2 || !r.CompleteUpTo.Equal(end) {
					t.Errorf("%d apart, killed at request %d: shown %d times, complete up to %v", apart, n, shown, r.CompleteUpTo)
				}
				union := maps.Clone(got)
				if maps.Copy(union, rest); len(union) != 1999 {
					t.Errorf("%d apart, killed at request %d: %d rows", apart, n, len(union))
				}
			})
		}
	}
}

// TestKilledAtEveryRequest ends a walk at each of its requests in turn, and resumes it from its last checkpoint in another
// one. Together they must yield the same rows as an uninterrupted walk.
func TestKilledAtEveryRequest(t *testing.T) {
	for _, prefetch := range []int{1, 4} {
		for kill, finished := 1, false; !finished; kill++ {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				m.unstableTies = true
				m.add(0, slices.Repeat([]time.Time{start.AddDate(0, 0, 40)}, 120)...)
				got, rest, _ := killed(t, kill, func(resume *Checkpoint) *Walk[modelRow] {
					return m.walk(start, end, settings{pageSize: 50, prefetch: prefetch, resume: resume})
				})
				if err := missing(m, got, rest); err != nil {
					t.Errorf("killed at request %d: %v", kill, err)
				}
				if finished = rest == nil; finished {
					wantOnce(t, m.rows, got, nil)
				}
			})
		}
	}
}

// TestStops breaks out of the loop, cancels and fails, and checks for goroutines and requests that continue.
func TestStops(t *testing.T) {
	before := runtime.NumGoroutine()
	for stopAt := 1; stopAt < 1500; stopAt += 97 {
		for _, cancelled := range []bool{false, true} {
			inBubble(t, func(t *testing.T, m *modelGateway, start, end time.Time) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				rows := 0
				err := m.walk(start, end, settings{pageSize: 50, prefetch: 16}).Run(ctx, func(*modelRow) bool {
					if rows++; rows < stopAt {
						return true
					}
					if cancelled {
						cancel()
					}
					return cancelled
				})
				if cancelled && !errors.Is(err, context.Canceled) || !cancelled && err != ErrStopped {
					t.Errorf("the walk ended with %v", err)
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
	after := runtime.NumGoroutine()
	for i := 0; after > before && i < 100; i++ { // one that is about to end still counts
		time.Sleep(10 * time.Millisecond)
		after = runtime.NumGoroutine()
	}
	if after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
