package journal

import (
	"sync"
	"time"
)

// askTimes remembers when the gateway was last asked about each payment.
type askTimes struct {
	mu   sync.Mutex
	last map[string]time.Time // by transactionId
}

// due reports whether the last time is at least so long ago, and if so, makes now the last time.
func (a *askTimes) due(transactionID string, now time.Time, after time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, asked := a.last[transactionID]
	if asked && now.Sub(last) < after {
		return false
	}
	if a.last == nil {
		a.last = make(map[string]time.Time)
	}
	a.last[transactionID] = now
	return true
}

func (a *askTimes) forget(transactionID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, transactionID)
}
