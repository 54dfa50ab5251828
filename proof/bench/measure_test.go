package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// measure makes b.N calls, shared among callers, and also reports per call the CPU time of this process, including system
// time. Callers that share a client open their connections first.
func measure(b *testing.B, callers int, call func(context.Context) error) {
	if callers > 1 {
		share(b, callers, 4*callers, call)
	}
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime()
	share(b, callers, b.N, call)
	used := cpuTime() - before
	b.StopTimer()
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// share makes n calls with so many concurrent callers.
func share(b *testing.B, callers, n int, call func(context.Context) error) {
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := call(context.Background()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
