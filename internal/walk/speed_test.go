package walk

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// TestPrefetch walks twelve months with a latency of 50 ms per request, in virtual time.
func TestPrefetch(t *testing.T) {
	const rows = 24_000
	took := map[int]time.Duration{}
	for _, prefetch := range []int{1, 4, 16} {
		after(t, day0, day0.AddDate(1, 0, 0), func(t *testing.T, m *modelGateway, from, to time.Time) {
			m.add(0, evenly(rows, from, to)...)
			begun := time.Now()
			w := m.walk(from, to, settings{pageSize: 20, prefetch: prefetch})
			wantAll(t, m, w)
			took[prefetch] = time.Since(begun)
			if m.most != prefetch {
				t.Errorf("prefetch %d: %d requests in flight", prefetch, m.most)
			}
			t.Logf("prefetch %2d: %d rows in %v, %d requests: %.0f rows/s, %.2f times those of prefetch 1",
				prefetch, rows, took[prefetch], m.requests, rows/took[prefetch].Seconds(), float64(took[1])/float64(took[prefetch]))
		})
	}
	if gain := float64(took[1]) / float64(took[16]); gain < 14 {
		t.Errorf("prefetch 16 is %.2f times as fast as 1, want 14", gain)
	}
}

// TestMemory compares the largest live heap of a short and a long walk of the same density. Rows are generated on demand,
// so that the heap is only the walk's.
func TestMemory(t *testing.T) {
	heapOf(t, 1) // what the first walk of a process allocates permanently
	short, long := heapOf(t, 3), heapOf(t, 60)
	const noise = 64 << 10 // of the runtime; one byte for each of the 250,000 rows more would be four times that
	if float64(long) > 1.1*float64(short)+noise {
		t.Errorf("60 months take %d bytes, 3 months %d: more than a tenth above", long, short)
	}
}

// heapOf walks over so many months and returns the largest live heap.
func heapOf(t *testing.T, months int) (most uint64) {
	const (
		step    = 600 // seconds from one row to the next: some 4,400 rows a month
		samples = 64  // of a short walk as many as of a long one, since of more the largest is larger
	)
	synctest.Test(t, func(t *testing.T) {
		from := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
		w := (&modelGateway{loc: time.UTC}).walk(from, from.AddDate(0, months, 0), settings{pageSize: 100})
		w.config.Source.Fetch = func(_ context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
			first, last := (from+step-1)/step, to/step
			p := &modelPage{Size: size, Total: int(last - first + 1)}
			for i := first + civil.Time((page-1)*size); i <= last && len(p.Rows) < size; i++ {
				p.Rows = append(p.Rows, modelRow{id: int(i), second: i * step})
			}
			return p, nil
		}
		rows := 0
		err := w.Run(t.Context(), func(*modelRow) bool {
			if rows++; rows%(months*4400/samples) == 0 {
				synctest.Wait() // everything in flight has arrived: the maximum that a walk holds
				var s runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&s)
				most = max(most, s.HeapAlloc)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d months: %d rows, at most %d KiB of live heap", months, rows, most/1024)
	})
	return most
}
