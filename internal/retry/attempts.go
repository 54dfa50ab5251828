package retry

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cardgateway/cardgateway-go/internal/random"
)

// Payment makes attempts until one may have reached the gateway, or the policy ends them.
func (p Policy) Payment(ctx context.Context, attempt func(context.Context) Attempt) {
	for {
		pause, again := p.Next(attempt(ctx), random.Float64())
		if !again || !Fits(ctx, pause) || Sleep(ctx, pause) != nil {
			return
		}
	}
}

// Query makes attempts until one succeeds, or the policy ends them.
//
// go-retryablehttp runs the attempts and the pauses. It gets a placeholder request that is never sent: what is sent,
// whether it is sent again and how long the pause is, is decided here, and its errors contain no URL.
func (p Policy) Query(ctx context.Context, attempt func(context.Context) Attempt) {
	var last Attempt
	var pause time.Duration
	loop := retryablehttp.Client{
		HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			last = attempt(r.Context())
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
		})},
		RetryMax: p.MaxAttempts - 1,
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (again bool, _ error) {
			pause, again = p.Next(last, random.Float64())
			return again && Fits(ctx, pause), nil
		},
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return pause },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	query := &http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: "query"}, Header: http.Header{}}
	request, err := retryablehttp.FromRequest(query.WithContext(ctx))
	if err != nil { // it has no body to read
		return
	}
	if response, err := loop.Do(request); err == nil {
		_ = response.Body.Close() // http.NoBody
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
