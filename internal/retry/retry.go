// Package retry decides whether and when a call is attempted again, and waits until then.
package retry

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/random"
)

// Policy limits the attempts of one call.
type Policy struct {
	MaxAttempts int // attempts, not retries
	MinWait     time.Duration
	MaxWait     time.Duration
}

const (
	defaultMaxAttempts = 4
	defaultMinWait     = 200 * time.Millisecond
	defaultMaxWait     = 5 * time.Second
	maxPaymentAttempts = 3
)

// WithDefaults returns p with every zero value replaced by its default.
func (p Policy) WithDefaults() Policy {
	return Policy{
		MaxAttempts: cmp.Or(p.MaxAttempts, defaultMaxAttempts),
		MinWait:     cmp.Or(p.MinWait, defaultMinWait),
		MaxWait:     cmp.Or(p.MaxWait, defaultMaxWait),
	}
}

// Attempt is how the last attempt ended, on which the decision depends.
type Attempt struct {
	Payment      bool
	Number       int  // counted from 1
	Local        bool // this side ended it: the context, the limiter or the hook
	Failed       bool // no complete, readable response came
	ProvenUnsent bool // it is proved that nothing was sent
	Status       int  // of the response
	RetryAfter   time.Duration
}

// Next decides whether to try again, and after which pause. A query is repeated after every failure that may be temporary.
// A payment is repeated only if it is proved that nothing was sent, and fewer times.
//
// The pause is random between zero and a bound that doubles with every attempt ("full jitter"; chance is in [0,1)), and at
// least what the gateway requested, up to MaxWait.
func (p Policy) Next(a Attempt, chance float64) (pause time.Duration, again bool) {
	limit := p.MaxAttempts
	again = a.Failed || a.Status == http.StatusTooManyRequests || a.Status >= 500
	if a.Payment {
		limit = min(limit, maxPaymentAttempts)
		again = a.Failed && a.ProvenUnsent
	}
	if !again || a.Local || a.Number >= limit {
		return 0, false
	}
	bound := min(p.MinWait, p.MaxWait)
	for range a.Number - 1 {
		bound += min(bound, p.MaxWait-bound) // twice as long, without overflow
	}
	pause = time.Duration(chance * float64(bound))
	return max(pause, min(a.RetryAfter, p.MaxWait)), true
}

// Fits reports whether a pause ends before the context does.
func Fits(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > pause)
}

// Backoff is the pauses between attempts at something that is not available yet. The first is Pause, and each is twice as long
// as the one before, up to Max. They are randomized, so that many callers do not come back at the same time.
type Backoff struct{ Pause, Max time.Duration }

// Next returns the next pause: at least half of the longest that it could be.
func (b *Backoff) Next() time.Duration {
	pause := random.Pause(b.Pause)
	b.Pause = min(2*b.Pause, b.Max)
	return pause
}

// Sleep waits, or returns early with the context's error.
func Sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ParseRetryAfter reads the value of a Retry-After header, in seconds or as a date. It returns zero for a time in the past
// and for malformed text, and the longest Duration for a longer time: the caller limits it.
func ParseRetryAfter(text string, now time.Time) time.Duration {
	const maxDuration = math.MaxInt64
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, maxDuration/uint64(time.Second))) * time.Second
	} else if errors.Is(err, strconv.ErrRange) {
		return maxDuration
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}
