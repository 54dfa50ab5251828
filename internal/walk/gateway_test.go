package walk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// Helpers of the tests: a gateway, and walks over it.

// gatewayZone is the default zone of the gateway's clock in tests.
var gatewayZone = time.FixedZone("UTC+8", 8*60*60)

const (
	maxPageSize = 999
	lag         = 15 * time.Minute
)

// modelGateway responds to queries for windows like a gateway, without HTTP, and misbehaves in every way that the interface
// allows. Rows have wall-clock times as strings, and are found by comparing strings, like in a database.
type modelGateway struct {
	loc            *time.Location
	startExclusive bool
	endExclusive   bool
	oldestFirst    bool
	unstableTies   bool
	maxSize        int           // larger pages are reduced to it
	fixedSize      int           // of every page, whatever is requested
	silentMax      bool          // and pages do not announce it
	refuseAbove    int           // larger pages are refused
	maxRange       time.Duration // longer ranges are refused
	latency        time.Duration
	perturb        func(n int, p *modelPage) error // may change a response; n counts requests from 1
	before         func(n int)                     // called before a response is computed

	mu       sync.Mutex
	rows     []modelRow // by second
	late     []modelRow // not visible yet, ordered by the time from which they are
	unsorted bool       // late is not sorted
	requests int
	inFlight int
	most     int // concurrent requests
	faults   []string
}

type modelPage = Page[modelRow]

type modelRow struct {
	id      int
	second  civil.Time
	second2 civil.Time // the other time, if any
	at      time.Time
	visible time.Time
}

// modelError is an error of the source.
type modelError Fault

func (e *modelError) Error() string { return fmt.Sprintf("model: %+v", *e) }

var (
	errRefused     = &modelError{Kind: Refused}
	errUnavailable = &modelError{Kind: Transient}
)

func modelFault(err error) Fault {
	if e, ok := errors.AsType[*modelError](err); ok {
		return Fault(*e)
	}
	return Fault{}
}

func (m *modelGateway) source() Source[modelRow] {
	return Source[modelRow]{
		Fetch: m.fetch,
		ID:    func(r *modelRow) string { return fmt.Sprint(r.id) },
		Name:  func(r *modelRow, e *RowError) { e.UniqueID = fmt.Sprint(r.id) },
		Times: func(r *modelRow) [2]civil.Time {
			if r.second2 != 0 {
				return [2]civil.Time{r.second, r.second2}
			}
			return [2]civil.Time{r.second, civil.None}
		},
		Fault: modelFault,
	}
}

// settings of a walk, as used by the client's callers; zero means the client's defaults.
type settings struct {
	pageSize, prefetch, splitAbove int
	window                         time.Duration
	resume                         *Checkpoint
}

func (m *modelGateway) walk(start, end time.Time, s settings) *Walk[modelRow] {
	return New(Config[modelRow]{
		Source: m.source(), Start: start, End: end, Location: m.loc,
		PageSize: s.pageSize, MaxPageSize: maxPageSize, Prefetch: cmp.Or(s.prefetch, 4),
		Window: s.window, SplitAbove: s.splitAbove, Lag: lag, Outage: 2 * time.Minute, Resume: s.resume,
	})
}

type fetchFunc = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error)

// add adds rows at instants; each is visible from that instant, plus delay, on.
func (m *modelGateway) add(delay time.Duration, times ...time.Time) {
	for _, t := range times {
		id := len(m.rows) + len(m.late) + 1
		m.late = append(m.late, modelRow{id: id, second: civil.Of(t, m.loc), at: t, visible: t.Add(delay)})
	}
	m.unsorted = true
}

// show adds the rows that have become visible.
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

func (m *modelGateway) fetch(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
	m.mu.Lock()
	m.requests++
	n := m.requests
	m.inFlight++
	m.most = max(m.most, m.inFlight)
	m.mu.Unlock()
	defer func() { m.mu.Lock(); m.inFlight--; m.mu.Unlock() }()
	if err := retry.Sleep(ctx, m.latency); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		m.before(n)
	}
	m.check(from, to)
	if m.refuseAbove > 0 && size > m.refuseAbove || m.maxRange > 0 && to.UTC().Sub(from.UTC()) > m.maxRange {
		return nil, errRefused
	}
	p := m.respond(from, to, page, size, n)
	if m.perturb != nil {
		if err := m.perturb(n, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// check records queries that should never be sent.
func (m *modelGateway) check(from, to civil.Time) {
	if to > from.NextMonth() {
		m.faults = append(m.faults, fmt.Sprintf("range %v to %v is longer than a month", from, to))
	}
	for _, at := range []civil.Time{from, to} {
		if civil.Of(at.In(m.loc), m.loc) != at {
			m.faults = append(m.faults, fmt.Sprintf("bound %v is skipped by the clock in %v", at, m.loc))
		}
	}
}

func (m *modelGateway) respond(from, to civil.Time, page, size, n int) *modelPage {
	m.show(time.Now())
	lo, hi := from, to+1
	if m.startExclusive {
		lo++
	}
	if m.endExclusive {
		hi--
	}
	at := func(second civil.Time) int {
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
	p := &modelPage{Size: granted, Total: total}
	if m.silentMax {
		p.Size = size
	}
	if !m.oldestFirst {
		a, b = total-b, total-a
	}
	p.Rows = m.slice(first+a, first+b, n)
	if !m.oldestFirst {
		slices.Reverse(p.Rows)
	}
	return p
}

// slice returns rows i to j-1. With unstable ties, the order of the rows of one second differs in every response.
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

// collect walks to the end and returns how many times each row was yielded.
func collect(ctx context.Context, w *Walk[modelRow]) (times map[int]int, err error) {
	times = map[int]int{}
	err = w.Run(ctx, func(row *modelRow) bool {
		times[row.id]++
		return true
	})
	return times, err
}

// checkpointOf returns the checkpoint of a walk that has begun.
func checkpointOf(t *testing.T, w *Walk[modelRow]) *Checkpoint {
	t.Helper()
	c, ok := w.Checkpoint()
	if !ok {
		t.Fatal("the walk has no checkpoint")
	}
	return &c
}

// killed ends a walk with its n-th response, and resumes it in another one from its checkpoint, as that is stored. It returns how many
// times each has yielded each row, and the last of the walks. If the first has come to its end before, rest is nil.
func killed(t *testing.T, n int, newWalk func(resume *Checkpoint) *Walk[modelRow]) (got, rest map[int]int, last *Walk[modelRow]) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := newWalk(nil)
	var sent atomic.Int64
	fetch := first.config.Source.Fetch
	first.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
		isLast := sent.Add(1) == int64(n)
		p, err := fetch(ctx, from, to, page, size)
		if isLast {
			cancel()
		}
		return p, err
	}
	got, err := collect(ctx, first)
	if err == nil {
		return got, nil, first
	}
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("killed at request %d: %v", n, err)
	}
	stored, err := json.Marshal(Saved{Query: "q", At: *checkpointOf(t, first), Start: first.config.Start, End: first.config.End})
	var saved Saved
	if err := errors.Join(err, json.Unmarshal(stored, &saved)); err != nil {
		t.Fatal(err)
	}
	last = newWalk(&saved.At)
	if rest, err = collect(t.Context(), last); err != nil {
		t.Errorf("killed at request %d, resumed at %s: %v", n, stored, err)
	}
	return got, rest, last
}

// judge compares what a walk yielded with the rows of the gateway: must have to be yielded, may can be.
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

// wantOnce checks that each row was yielded once, and no other.
func wantOnce(t *testing.T, rows []modelRow, got map[int]int, err error) {
	t.Helper()
	wrong := 0
	for _, row := range rows {
		if got[row.id] != 1 {
			wrong++
		}
	}
	if err != nil || wrong > 0 || len(got) != len(rows) {
		t.Errorf("%v, %d rows not once, %d rows of %d", err, wrong, len(got), len(rows))
	}
}

// wantAll walks to the end, and checks that each row of the gateway was yielded once.
func wantAll(t *testing.T, m *modelGateway, w *Walk[modelRow]) {
	t.Helper()
	got, err := collect(t.Context(), w)
	wantOnce(t, m.rows, got, err)
	for _, fault := range m.faults {
		t.Error(fault)
	}
}

// missing reports rows that neither of two walks has yielded.
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

var day0 = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func evenly(n int, from, to time.Time) []time.Time {
	times := make([]time.Time, n)
	for i := range times {
		times[i] = from.Add(time.Duration(float64(to.Sub(from)) * float64(i) / float64(n)))
	}
	return times
}

// inBubble walks over two months of 2,000 rows, in virtual time, well after they happened.
func inBubble(t *testing.T, f func(t *testing.T, m *modelGateway, start, end time.Time)) {
	t.Helper()
	after(t, day0, day0.AddDate(0, 2, 0), func(t *testing.T, m *modelGateway, start, end time.Time) {
		m.add(0, evenly(2000, start, end)...)
		f(t, m, start, end)
	})
}

// after runs f in virtual time, a month after the range, of which the gateway has no row.
func after(t *testing.T, start, end time.Time, f func(t *testing.T, m *modelGateway, start, end time.Time)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(end.AddDate(0, 1, 0)))
		f(t, &modelGateway{loc: gatewayZone, latency: 50 * time.Millisecond}, start, end)
	})
}
