package journal

import (
	"sync"
	"time"
)

// lazySync calls sync a moment after a commit that was not synced to disk, unless a synced commit comes first.
type lazySync struct {
	sync func()

	mu    sync.Mutex
	timer *time.Timer
}

// lazySyncAfter is how long a lazy commit of SQLite may wait for a sync.
const lazySyncAfter = 100 * time.Millisecond

func (l *lazySync) committed(lazy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case lazy && l.timer == nil:
		l.timer = time.AfterFunc(lazySyncAfter, func() {
			l.mu.Lock()
			l.timer = nil
			l.mu.Unlock()
			l.sync()
		})
	case !lazy && l.timer != nil:
		l.timer.Stop()
		l.timer = nil
	}
}
