package sqlstore

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLazySync: a lazy commit is synced a moment later, once, and not if a synced commit comes first.
func TestLazySync(t *testing.T) {
	const lazy, synced = true, false
	for _, tt := range []struct {
		name    string
		commits []bool // one every 30 ms
		want    string // when it is synced
	}{
		{"none", nil, "[]"},
		{"synced", []bool{synced}, "[]"},
		{"lazy", []bool{lazy}, "[100ms]"},
		{"several", []bool{lazy, lazy, lazy}, "[100ms]"},
		{"lazy for longer", []bool{lazy, lazy, lazy, lazy, lazy, lazy}, "[100ms 220ms]"},
		{"lazy, and then synced", []bool{lazy, lazy, synced}, "[]"},
		{"lazy, synced, lazy", []bool{lazy, synced, lazy}, "[160ms]"},
		{"synced, lazy", []bool{synced, lazy}, "[130ms]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var at []time.Duration
				begun := time.Now()
				var mu sync.Mutex
				l := lazySync{sync: func() {
					mu.Lock()
					defer mu.Unlock()
					at = append(at, time.Since(begun))
				}}
				for _, lazy := range tt.commits {
					l.committed(lazy)
					time.Sleep(30 * time.Millisecond)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if got := fmt.Sprint(at); got != tt.want {
					t.Errorf("synced at %s, want %s", got, tt.want)
				}
			})
		})
	}
}
