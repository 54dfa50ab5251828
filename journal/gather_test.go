package journal

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestGathering: a batch waits for as many callers as the last one had, but only where they are many, and not for long.
func TestGathering(t *testing.T) {
	for _, tt := range []struct {
		name    string
		callers int
		others  int           // who come meanwhile
		pause   time.Duration // until they come back
		most    time.Duration
		want    []string
	}{
		{"they come back", 8, 1, 50 * time.Millisecond, 100 * time.Millisecond, []string{"0s: 1, 0 late", "1s: 8, 0 late", "2.056s: 8, 0 late", "3.156s: 1, 0 late"}},
		{"they come too late", 8, 1, 150 * time.Millisecond, 100 * time.Millisecond, []string{"0s: 1, 0 late", "1s: 8, 0 late", "2.1s: 1, 0 late", "3.1s: 8, 0 late"}},
		{"no longer than half a batch", 8, 1, 600 * time.Millisecond, time.Hour, []string{"0s: 1, 0 late", "1s: 8, 0 late", "2.5s: 1, 0 late", "3.5s: 8, 0 late"}},
		{"others are there", 8, 8, 50 * time.Millisecond, 100 * time.Millisecond, []string{"0s: 1, 0 late", "1s: 8, 0 late", "2s: 8, 0 late", "3s: 8, 0 late"}},
		{"few", 7, 1, 50 * time.Millisecond, 100 * time.Millisecond, []string{"0s: 1, 0 late", "1s: 7, 0 late", "2s: 1, 0 late", "3s: 7, 0 late"}},
		{"switched off", 8, 1, 50 * time.Millisecond, 0, []string{"0s: 1, 0 late", "1s: 8, 0 late", "2s: 1, 0 late", "3s: 8, 0 late"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, sizes := batches(100, 1)
				g.gather.most = tt.most
				var all sync.WaitGroup
				write := func(id string) {
					if err := g.do(t.Context(), writeOf(id)); err != nil {
						t.Error(err)
					}
				}
				all.Go(func() { write("first") })
				time.Sleep(500 * time.Millisecond)
				for i := range tt.callers {
					id := string(rune('a' + i))
					all.Go(func() {
						write(id)
						time.Sleep(tt.pause + time.Duration(i)*time.Millisecond) // one after another
						write(id)
					})
				}
				time.Sleep(time.Second)
				for i := range tt.others {
					all.Go(func() { write(string(rune('A' + i))) })
				}
				all.Wait()
				time.Sleep(time.Hour) // for whoever comes back
				wantBatches(t, sizes, tt.want...)
			})
		})
	}
}
