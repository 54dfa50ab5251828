package cardgateway

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestWalkPrefetch walks twelve months with a latency of 50 ms a request, in virtual time.
func TestWalkPrefetch(t *testing.T) {
	const rows = 24_000
	took := map[int]time.Duration{}
	for _, prefetch := range []int{1, 4, 16} {
		synctest.Test(t, func(t *testing.T) {
			from, to := day0, day0.AddDate(1, 0, 0)
			time.Sleep(time.Until(to.AddDate(0, 0, 1)))
			m := &modelGateway{loc: DefaultLocation(), latency: 50 * time.Millisecond}
			m.add(0, spread(rows, from, to)...)
			begun := time.Now()
			w := m.walk(from, to, WalkOptions{PageSize: 20, Prefetch: prefetch})
			n := 0
			for _, err := range w.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			took[prefetch] = time.Since(begun)
			if n != rows || m.most != prefetch {
				t.Errorf("prefetch %d: %d rows, %d requests in flight", prefetch, n, m.most)
			}
			t.Logf("prefetch %2d: %d rows in %v, %d requests: %.0f rows/s, %.2f times those of prefetch 1",
				prefetch, n, took[prefetch], m.requests, rows/took[prefetch].Seconds(), float64(took[1])/float64(took[prefetch]))
		})
	}
	if gain := float64(took[1]) / float64(took[16]); gain < 14 {
		t.Errorf("prefetch 16 is %.2f times as fast as 1, want 14", gain)
	}
}

// TestWalkMemory compares the largest live heap of a short and a long walk of the same density. Rows are made up as
// they are asked for, so that the heap is the walk's.
func TestWalkMemory(t *testing.T) {
	heap := func(months int) uint64 {
		const step = 600 // seconds from one row to the next: some 4,400 rows a month
		from := day0.AddDate(-4, 0, 0)
		to := from.AddDate(0, months, 0)
		w := &Walk[modelRow]{op: "model", start: from, end: to, loc: time.UTC, opts: WalkOptions{PageSize: 100, Prefetch: 4}}
		w.source = (&modelGateway{}).source()
		w.source.fetch = func(_ context.Context, from, to WallTime, page, size int) (*Page[modelRow], error) {
			first, last := (from.seconds+step-1)/step, to.seconds/step
			p := &Page[modelRow]{PageSize: size, TotalCount: int(last - first + 1)}
			for i := first + int64((page-1)*size); i <= last && len(p.Data) < size; i++ {
				p.Data = append(p.Data, modelRow{id: int(i), second: i * step})
			}
			return p, nil
		}
		var most uint64
		rows := 0
		for _, err := range w.All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if rows++; rows%2000 == 0 {
				var s runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&s)
				most = max(most, s.HeapAlloc)
			}
		}
		t.Logf("%d months: %d rows, at most %d KiB of live heap", months, rows, most/1024)
		return most
	}
	heap(1) // what the first walk of a process leaves behind
	short, long := heap(3), heap(60)
	if float64(long) > 1.1*float64(short) {
		t.Errorf("60 months take %d bytes, 3 months %d: more than a tenth above", long, short)
	}
}
