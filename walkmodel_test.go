package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// modelGateway answers windows like a gateway, without HTTP, and misbehaves in every way that the interface leaves
// open. Rows have the text of a wall clock, and are found by comparing texts, as a database would.
type modelGateway struct {
	loc            *time.Location
	startExclusive bool
	endExclusive   bool
	oldestFirst    bool
	unstableTies   bool
	maxSize        int           // larger pages are cut down
	fixedSize      int           // of every page, whatever is asked for
	silentMax      bool          // and the envelope does not say so
	refuseAbove    int           // larger pages are refused
	maxRange       time.Duration // longer ranges are refused
	latency        time.Duration
	perturb        func(n int, p *Page[modelRow]) error // may change an answer; n counts requests from 1
	before         func(n int)                          // called before an answer is computed

	mu       sync.Mutex
	rows     []modelRow // by second
	late     []modelRow // not yet visible, by the time at which they are
	unsorted bool       // late is not
	requests int
	inFlight int
	most     int // in flight at once
	faults   []string
}

type modelRow struct {
	id      int
	second  int64 // of the wall clock
	second2 int64 // of the other time, if any
	at      time.Time
	visible time.Time
}

var modelRefusal = &QueryError{Op: "model", HTTPStatus: 200, Code: CodeParameterError}

func (m *modelGateway) source() source[modelRow] {
	return source[modelRow]{
		fetch: m.fetch,
		id:    func(r *modelRow) string { return fmt.Sprint(r.id) },
		times: func(r *modelRow) (t [2]WallTime) {
			t[0] = wallSecond(r.second)
			if r.second2 != 0 {
				t[1] = wallSecond(r.second2)
			}
			return t
		},
	}
}

func (m *modelGateway) walk(start, end time.Time, opts WalkOptions) *Walk[modelRow] {
	w := &Walk[modelRow]{
		op: "model", source: m.source(), start: start, end: end, loc: m.loc, opts: opts, patience: outage,
		query: hashQuery("model", start, end, m.loc),
	}
	w.state.checkpoint = opts.Resume
	return w
}

// add puts rows into the book at instants; each is visible from that instant, plus lag, on.
func (m *modelGateway) add(lag time.Duration, times ...time.Time) {
	for _, t := range times {
		id := len(m.rows) + len(m.late) + 1
		m.late = append(m.late, modelRow{id: id, second: wallTimeOf(t, m.loc).seconds, at: t, visible: t.Add(lag)})
	}
	m.unsorted = true
}

// show moves the rows that have become visible into the book.
func (m *modelGateway) show(now time.Time) {
	if m.unsorted {
		sort.SliceStable(m.late, func(i, j int) bool { return m.late[i].visible.Before(m.late[j].visible) })
		m.unsorted = false
	}
	n := sort.Search(len(m.late), func(i int) bool { return m.late[i].visible.After(now) })
	if n == 0 {
		return
	}
	m.rows = append(m.rows, m.late[:n]...)
	m.late = m.late[n:]
	sort.SliceStable(m.rows, func(i, j int) bool { return m.rows[i].second < m.rows[j].second })
}

func (m *modelGateway) fetch(ctx context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
	m.mu.Lock()
	m.requests++
	n := m.requests
	m.inFlight++
	m.most = max(m.most, m.inFlight)
	m.mu.Unlock()
	defer func() { m.mu.Lock(); m.inFlight--; m.mu.Unlock() }()
	if err := retry.Sleep(ctx, m.latency); err != nil {
		return nil, &QueryError{Op: "model", Cause: err}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		m.before(n)
	}
	m.check(from, to)
	if m.refuseAbove > 0 && size > m.refuseAbove || m.maxRange > 0 && to.asUTC().Sub(from.asUTC()) > m.maxRange {
		return nil, modelRefusal
	}
	p := m.answer(from, to, page, size, n)
	if m.perturb != nil {
		if err := m.perturb(n, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// check notes questions that no gateway should be asked.
func (m *modelGateway) check(from, to WallTime) {
	if to.Compare(nextMonth(from)) > 0 {
		m.faults = append(m.faults, fmt.Sprintf("range %v to %v is longer than a month", from, to))
	}
	for _, w := range []WallTime{from, to} {
		if wallTimeOf(w.In(m.loc), m.loc) != w {
			m.faults = append(m.faults, fmt.Sprintf("bound %v is skipped by the clock in %v", w, m.loc))
		}
	}
}

func (m *modelGateway) answer(from, to WallTime, page, size, n int) *Page[modelRow] {
	m.show(time.Now())
	lo, hi := from.seconds, to.seconds+1
	if m.startExclusive {
		lo++
	}
	if m.endExclusive {
		hi--
	}
	at := func(second int64) int {
		return sort.Search(len(m.rows), func(i int) bool { return m.rows[i].second >= second })
	}
	first, last := at(lo), at(hi)
	last = max(first, last)
	granted := size
	if m.maxSize > 0 {
		granted = min(size, m.maxSize)
	}
	if m.fixedSize > 0 {
		granted = m.fixedSize
	}
	total := last - first
	a, b := min((page-1)*granted, total), min(page*granted, total)
	p := &Page[modelRow]{
		Code: CodeSearchSuccess, CurrPage: page, PageSize: granted,
		TotalCount: total, TotalPage: (total + granted - 1) / granted,
	}
	if m.silentMax {
		p.PageSize = size
	}
	if !m.oldestFirst {
		a, b = total-b, total-a
	}
	p.Data = m.slice(first+a, first+b, n)
	if !m.oldestFirst {
		slices.Reverse(p.Data)
	}
	return p
}

// slice returns rows i to j-1. With unstable ties, rows of one second stand in another order in every answer.
func (m *modelGateway) slice(i, j, n int) []modelRow {
	if !m.unstableTies || i >= j {
		return slices.Clone(m.rows[i:j])
	}
	lo := sort.Search(len(m.rows), func(k int) bool { return m.rows[k].second >= m.rows[i].second })
	hi := sort.Search(len(m.rows), func(k int) bool { return m.rows[k].second > m.rows[j-1].second })
	rows := slices.Clone(m.rows[lo:hi])
	random := rand.New(rand.NewPCG(uint64(n), 1))
	random.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	sort.SliceStable(rows, func(a, b int) bool { return rows[a].second < rows[b].second })
	return rows[i-lo : j-lo]
}

// collect walks to the end and returns how often each row came.
func collect(w *Walk[modelRow], ctx context.Context) (times map[int]int, err error) {
	times = map[int]int{}
	for row, failed := range w.All(ctx) {
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		times[row.id]++
	}
	return times, err
}

// judge compares what a walk gave with the rows that were to be given: must for certain, may perhaps.
func judge(t *testing.T, m *modelGateway, got map[int]int, must, may func(modelRow) bool) (missed, repeated, foreign int) {
	t.Helper()
	for _, row := range m.rows {
		switch n := got[row.id]; {
		case n == 0 && must(row):
			missed++
		case n > 0 && !may(row):
			foreign++
		}
		repeated += max(0, got[row.id]-1)
	}
	for _, fault := range m.faults {
		t.Error(fault)
	}
	return missed, repeated, foreign
}

func spread(n int, from, to time.Time) []time.Time {
	times := make([]time.Time, n)
	for i := range times {
		times[i] = from.Add(time.Duration(float64(to.Sub(from)) * float64(i) / float64(n)))
	}
	return times
}
