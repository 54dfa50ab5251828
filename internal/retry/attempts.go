package retry

import (
	"context"
	"errors"
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

// RunQuery makes attempts until one has a usable response, or the policy or the context of the request ends them.
//
// go-retryablehttp does for a query what must not be done for a payment: it sends a request again and again, waits in between, and
// stops with the context. What it would decide is replaced by the policy, and sending by attempt.
func (p Policy) RunQuery(request *http.Request, attempt func(context.Context) Attempt) {
	var last Attempt
	var pause time.Duration
	attempts := retryablehttp.Client{
		HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if last = attempt(r.Context()); last.Failed {
				return nil, errFailed
			}
			return &http.Response{StatusCode: last.Status, Body: http.NoBody, Request: r}, nil
		})},
		RetryMax: p.MaxAttempts - 1,
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (again bool, _ error) {
			pause, again = p.Next(last, random.Float64())
			return again && Fits(ctx, pause), nil
		},
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return pause },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	_, _ = attempts.Do(&retryablehttp.Request{Request: request}) // the attempts have kept what they got: this has no body to close
}

var errFailed = errors.New("the attempt failed")

// roundTripper has no CloseIdleConnections, which go-retryablehttp would call after every failure.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
