package cardgateway

import (
	"context"
	"time"
)

// RetryPolicy bounds how often one call is tried. Queries are repeated after a transport failure, an unreadable
// answer, HTTP 429 and 5xx. A payment is repeated only after an attempt of which it is proved that nothing was sent,
// and then at most twice.
type RetryPolicy struct {
	MaxAttempts int           // attempts, not retries; zero means 4, one means a single attempt
	MinWait     time.Duration // zero means 200 ms; the pause before the second attempt is random up to this
	MaxWait     time.Duration // zero means 5 s; caps the growing pauses, and Retry-After
}

const (
	defaultMaxAttempts = 4
	defaultMinWait     = 200 * time.Millisecond
	defaultMaxWait     = 5 * time.Second
	maxPaymentAttempts = 3
)

func (p RetryPolicy) withDefaults() RetryPolicy {
	if p.MaxAttempts == 0 {
		p.MaxAttempts = defaultMaxAttempts
	}
	if p.MinWait == 0 {
		p.MinWait = defaultMinWait
	}
	if p.MaxWait == 0 {
		p.MaxWait = defaultMaxWait
	}
	return p
}

// tried is what the retry decision depends on.
type tried struct {
	payment    bool
	attempts   int  // made so far
	here       bool // this side refused: the context, the limiter or the hook
	failed     bool // no whole, readable answer came
	unsent     bool // proved: nothing was submitted
	status     int
	retryAfter time.Duration
}

// next decides whether to try again, and after which pause. The pause is random between nothing and a bound that
// doubles with every attempt ("full jitter", chance is in [0,1)), and at least what the gateway asked for.
func (p RetryPolicy) next(t tried, chance float64) (pause time.Duration, again bool) {
	limit := p.MaxAttempts
	again = t.failed || t.status == 429 || t.status >= 500
	if t.payment {
		limit = min(limit, maxPaymentAttempts)
		again = t.failed && t.unsent
	}
	if !again || t.here || t.attempts >= limit {
		return 0, false
	}
	bound := min(p.MinWait, p.MaxWait)
	for i := 1; i < t.attempts; i++ {
		bound += min(bound, p.MaxWait-bound) // twice as long, without overflow
	}
	pause = time.Duration(chance * float64(bound))
	return max(pause, min(t.retryAfter, p.MaxWait)), true
}

// fits reports whether a pause ends before the context does.
func fits(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > pause)
}

// sleep waits, or returns early with the context's error.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
