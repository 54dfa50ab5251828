package walk

import (
	"context"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// A walk that takes hours should not end because the gateway was down for a minute. A query that failed for a temporary
// reason is therefore repeated after increasing pauses, in addition to the attempts of the source within one query.
const (
	firstPause = time.Second
	maxPause   = 15 * time.Second
)

// retryWhileDown returns the result of fetch once it is a page or an error that is not temporary. It gives up after limit.
func retryWhileDown[T any](ctx context.Context, s *Source[T], limit time.Duration, fetch func() (*Page[T], error)) (*Page[T], error) {
	begun := time.Now()
	for again := (retry.Backoff{Pause: firstPause, Max: maxPause}); ; {
		p, err := fetch()
		if err == nil || ctx.Err() != nil {
			return p, err
		}
		fault := s.Fault(err)
		if fault.Kind != Transient {
			return nil, err
		}
		pause := max(again.Next(), fault.Pause)
		if time.Since(begun)+pause > limit || !retry.Fits(ctx, pause) || retry.Sleep(ctx, pause) != nil {
			return nil, err
		}
	}
}
