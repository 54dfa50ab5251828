package retry

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cardgateway/cardgateway-go/internal/random"
)

// RunPayment makes attempts until one may have reached the gateway, or the policy ends them.
func (p Policy) RunPayment(ctx context.Context, attempt func(context.Context) Attempt) {
	for {
		pause, again := p.Next(attempt(ctx), random.Float64())
		if !again || !Fits(ctx, pause) || Sleep(ctx, pause) != nil {
			return
		}
	}
}

// QueryClient returns a client of go-retryablehttp that makes the attempts of one query: it sends the request, hands the last
// response to the request's handler, and waits between attempts until the context ends. Send makes one attempt, with a
// copy of the request. Facts describes the attempt that was made last, and its response as far as it has been decoded; from
// these the policy decides whether there is another one, and after which pause.
func (p Policy) QueryClient(send func(*http.Request) (*http.Response, error), facts func() Attempt) *retryablehttp.Client {
	var pause time.Duration
	return &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     roundTripper(send),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax: p.MaxAttempts - 1,
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (again bool, _ error) { // before and after the handler
			pause, again = p.Next(facts(), random.Float64())
			return again && Fits(ctx, pause), nil
		},
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return pause },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// roundTripper has no CloseIdleConnections, which go-retryablehttp would call after every failure.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
