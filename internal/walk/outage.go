package walk

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// A walk of hours should not end because the gateway was down for a minute. A query that failed for a reason that passes is
// therefore repeated after growing pauses, on top of what the source does within one query.
const (
	firstPause   = time.Second
	longestPause = 15 * time.Second
	jitter       = 0.5 // of each pause is random
)

// retryWhileDown returns what fetch does, once that is a page or an error that does not pass. It gives up after limit.
func retryWhileDown[T any](ctx context.Context, s *Source[T], limit time.Duration, fetch func() (*Page[T], error)) (*Page[T], error) {
	begun := time.Now()
	for next := firstPause; ; next = min(2*next, longestPause) {
		p, err := fetch()
		if err == nil || p != nil || ctx.Err() != nil {
			return p, err
		}
		wanted, transient := s.IsTransient(err)
		if !transient {
			return nil, err
		}
		pause := max(next-time.Duration(rand.Float64()*jitter*float64(next)), wanted)
		if time.Since(begun)+pause > limit || !retry.Fits(ctx, pause) || retry.Sleep(ctx, pause) != nil {
			return nil, err
		}
	}
}
