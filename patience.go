package cardgateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// A walk of hours should not end because the gateway was down for a minute. A query that failed for a reason that
// passes is therefore asked again after growing pauses, on top of what RetryPolicy does within one query.
const (
	outage       = 2 * time.Minute // how long a gateway that has answered before may be down
	firstRest    = time.Second
	longestRest  = 15 * time.Second
	restVariance = 0.5 // of each pause is random
)

// patiently calls ask until it answers, gives a reason that does not pass, or limit is over.
func patiently[T any](ctx context.Context, limit time.Duration, ask func() (*Page[T], error)) (*Page[T], error) {
	begun := time.Now()
	for rest := firstRest; ; rest = min(2*rest, longestRest) {
		p, err := ask()
		if err == nil || p != nil || !passes(err) || ctx.Err() != nil {
			return p, err
		}
		pause := rest - time.Duration(rand.Float64()*restVariance*float64(rest))
		if failed, ok := errors.AsType[*QueryError](err); ok {
			pause = max(pause, failed.RetryAfter)
		}
		if time.Since(begun)+pause > limit || !retry.Fits(ctx, pause) || retry.Sleep(ctx, pause) != nil {
			return nil, err
		}
	}
}

// passes reports whether a query failed for a reason that says nothing about what was asked.
func passes(err error) bool {
	e, ok := errors.AsType[*QueryError](err)
	return ok && (!isRefused(err) && !errors.Is(err, context.Canceled) || e.HTTPStatus == http.StatusTooManyRequests)
}

// isRefused reports whether the gateway answered a query with a code that says no. What is refused may be the range,
// the size of the page, or the merchant.
func isRefused(err error) bool {
	e, ok := errors.AsType[*QueryError](err)
	if !ok || e.HTTPStatus == http.StatusTooManyRequests {
		return false
	}
	switch e.Code {
	case 0, CodeSearchSuccess, CodeSystemError: // unreadable, or a failure that is not about the question
		return e.HTTPStatus == http.StatusBadRequest || e.HTTPStatus == http.StatusUnprocessableEntity
	}
	return true
}
