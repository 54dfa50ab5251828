package journal

import (
	"context"
	"time"
)

// clock returns a time that does not jump when the computer's clock is set: a payment must not be presumed absent because
// somebody corrected the date. If the computer's clock was wrong when the Journal was made, this one stays wrong. So
// intents are dated by the computer's clock.
type clock struct{ started time.Time }

func (c *clock) now() time.Time { return c.started.Add(time.Since(c.started)).Round(0) }

// earliest returns the earlier of this clock's time and the computer's. It is used to decide whether something has waited
// long enough.
func (c *clock) earliest() time.Time { return earlier(c.now(), time.Now().Round(0)) }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// sleep waits, and reports false if ctx ended first.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
