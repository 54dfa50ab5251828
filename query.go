package cardgateway

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
	"github.com/hashicorp/go-retryablehttp"
)

// query is one read on its way through go-retryablehttp, which drives the loop and the pauses. What it sends, whether
// it repeats and how long it waits is decided here; its own errors, which hold the URL, are not used.
type query struct {
	c        *Client
	out      *outgoing
	read     func(*reply) error // decodes an answer; an error means that it is unreadable
	attempts int
	last     reply
	unread   error // what read said of the last answer
	pause    time.Duration
}

// ask sends a query as often as the policy allows. The element goes where the path template leaves one open; it needs
// no escaping. Judge sees the last attempt and its error, a *QueryError if no answer could be read, and returns the
// error of the call, whose credentials nothing that was read may show.
func (c *Client) ask(
	ctx context.Context, op Operation, element string, params url.Values, read func(*reply) error, judge func(*reply, error) error,
) (*outgoing, error) {
	out := &outgoing{op: op, url: c.endpoint(&op, pathElement{element, element}, params), limit: maxQueryAnswer}
	defer out.release()
	ctx, done := c.observe(ctx, &out.op)
	q := &query{c: c, out: out, read: read}
	q.run(ctx)
	err := judge(&q.last, q.err(ctx))
	out.scrub(nil, err)
	done(q.attempts, &q.last, err)
	return out, err
}

func (q *query) run(ctx context.Context) {
	req, err := retryablehttp.NewRequestWithContext(ctx, q.out.op.Method, q.out.url.String(), nil)
	if err != nil { // a URL that New has checked does not come here
		q.last = reply{refusedBy: q.out.clean(err)}
		return
	}
	retrying := retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: q},
		RetryMax:     q.c.cfg.Retry.MaxAttempts - 1,
		CheckRetry:   q.checkRetry,
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return q.pause },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := retrying.Do(req)
	if err == nil {
		_ = resp.Body.Close() // http.NoBody
	}
}

// RoundTrip makes one attempt and hands go-retryablehttp an answer without content: the content is in last.
func (q *query) RoundTrip(req *http.Request) (*http.Response, error) {
	q.attempts++
	q.last = q.c.attempt(req.Context(), q.out, q.attempts)
	if q.unread = q.last.failure(); q.unread != nil {
		return nil, q.unread
	}
	if q.last.status == http.StatusOK {
		q.unread = q.read(&q.last)
	}
	return &http.Response{StatusCode: q.last.status, Body: http.NoBody, Request: req}, nil
}

// checkRetry decides whether go-retryablehttp goes on.
func (q *query) checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	var again bool
	q.pause, again = retry.Policy(q.c.cfg.Retry).Next(retry.Attempt{
		Number: q.attempts, Local: q.last.refusedBy != nil, Failed: q.unread != nil,
		Status: q.last.status, RetryAfter: q.last.retryAfter,
	}, rand.Float64())
	return again && retry.Fits(ctx, q.pause), nil
}

// queryError says that a query gave no usable answer: the gateway said no in its own words, or there is a cause.
func (r *reply) queryError(op *Operation, message string, cause error) *QueryError {
	return &QueryError{
		Op: op.Name, HTTPStatus: r.status, Code: r.code, Message: message, RetryAfter: r.retryAfter, Cause: cause,
	}
}

// err says why there is no readable answer, or nil.
func (q *query) err(ctx context.Context) error {
	r := &q.last
	if q.unread == nil && r.status == http.StatusOK {
		return nil
	}
	var message string
	if a, err := readAnswer(r.body); err == nil {
		r.code, message = a.Code, inWords(a.Message, a.TransactionMessage)
	}
	e := r.queryError(&q.out.op, message, q.unread)
	if ended := ctx.Err(); ended != nil && r.refusedBy == nil {
		e.Cause = ended
		if q.unread != nil {
			e.Cause = fmt.Errorf("%w; the last attempt: %w", ended, q.unread)
		}
	}
	return e
}
