package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cardgateway/cardgateway-go/internal/retry"
	"github.com/cardgateway/cardgateway-go/internal/transport"
)

// call is one call made ready: encoded once, sent by as many attempts as the retry decision allows.
type call struct {
	client   *Client
	op       Operation
	url      url.URL
	body     []byte // nil for a query
	limit    int64  // of the response's body, in bytes
	secrets  callSecrets
	buffer   transport.Buffer
	attempts int           // made so far
	last     attemptResult // of the last attempt
	begun    time.Time
	done     func(Outcome, error) // tells how the call ended
}

// pay sends a payment and returns its one outcome. A request's members are checked and encoded first; from then on
// control goes down once through the attempts and comes back once through classify.
func (c *Client) pay(ctx context.Context, op Operation, p sentPayment, e *encoder) (*Transaction, error) {
	op.TransactionID = p.transactionID
	call, err := c.submit(ctx, op, e)
	if err != nil {
		return nil, err
	}
	p.appID, p.at = c.checkedApp(), call.begun
	t, err := classify(&call.op, &p, &call.last)
	call.secrets.redact(t, err)
	if t != nil {
		t.Raw = call.raw()
	}
	return t, call.finish(outcomeName(t, err), err)
}

// submit checks the request of an operation with Payment set, and sends it. The caller judges the last attempt and finishes the call.
func (c *Client) submit(ctx context.Context, op Operation, e *encoder) (*call, error) {
	defer e.json.Wipe() // the transport has sealed the body: nothing reads these bytes any more
	e.check.Context(ctx)
	if err := e.finish(op.Name); err != nil {
		return nil, err
	}
	call := &call{
		client: c, op: op, url: c.endpoint(&op, e.element, nil), body: e.json.Bytes(), limit: transport.MaxPayment,
		secrets: callSecrets{sent: e.secrets}, begun: time.Now(),
	}
	ctx = call.observe(ctx)
	call.sendPayment(ctx)
	return call, nil
}

// sendPayment sends a payment until an attempt may have reached the gateway, or the policy ends it.
func (c *call) sendPayment(ctx context.Context) {
	for {
		c.attempt(ctx)
		pause, again := retry.Policy(c.client.cfg.Retry).Next(retry.Attempt{
			Payment: true, Number: c.attempts, Local: c.last.localErr != nil, Failed: c.last.Err != nil, ProvenUnsent: c.last.Unsent,
		}, rand.Float64())
		if !again || !retry.Fits(ctx, pause) || retry.Sleep(ctx, pause) != nil {
			return
		}
	}
}

// newQuery makes a query ready. The element goes where the path template leaves one open; it needs no escaping.
func (c *Client) newQuery(op Operation, element string, params url.Values) *call {
	return &call{
		client: c, op: op, url: c.endpoint(&op, pathElement{element, element}, params), limit: transport.MaxQuery,
	}
}

// ask sends a query as often as the policy allows, and returns what decode makes of the last response. The error is a
// *QueryError if no response could be decoded.
//
// go-retryablehttp drives the attempts and the pauses. What is sent, whether it is repeated and how long the pause is,
// is decided here. Its own errors hold the URL and are not used.
func ask[T any](ctx context.Context, c *call, decode func([]byte) (T, Code, error)) (decoded T, err error) {
	var bad error // why the last response cannot be used
	var pause time.Duration
	attempt := func(req *http.Request) (*http.Response, error) {
		c.attempt(req.Context())
		if bad = c.last.failure(); bad != nil {
			return nil, bad
		}
		if c.last.Status == http.StatusOK {
			decoded, c.last.code, bad = decode(c.last.Body)
		}
		return &http.Response{StatusCode: c.last.Status, Body: http.NoBody, Request: req}, nil
	}
	again := func(ctx context.Context, _ *http.Response, _ error) (again bool, _ error) {
		pause, again = retry.Policy(c.client.cfg.Retry).Next(retry.Attempt{
			Number: c.attempts, Local: c.last.localErr != nil, Failed: bad != nil, Status: c.last.Status, RetryAfter: c.last.retryAfter,
		}, rand.Float64())
		return again && retry.Fits(ctx, pause), nil
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, c.op.Method, c.url.String(), nil)
	if err != nil { // a URL that New has checked does not come here
		c.last = attemptResult{localErr: c.secrets.all().Error(err)}
		return decoded, c.queryError(ctx, c.last.localErr)
	}
	loop := retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: roundTripper(attempt)},
		RetryMax:     c.client.cfg.Retry.MaxAttempts - 1,
		CheckRetry:   again,
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return pause },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	if resp, err := loop.Do(req); err == nil {
		_ = resp.Body.Close() // http.NoBody
	}
	if bad == nil && c.last.Status == http.StatusOK {
		return decoded, nil
	}
	if invalid, ok := errors.AsType[*ValidationError](c.last.localErr); ok {
		return decoded, invalid
	}
	return decoded, c.queryError(ctx, bad)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// queryError says why there is no response that could be decoded: bad, or the end of the context, or nothing but the
// gateway's own no.
func (c *call) queryError(ctx context.Context, bad error) error {
	var message string
	if decoded, err := decodeTransaction(c.last.Body); err == nil {
		c.last.code, message = decoded.Code, joinMessages(decoded.Message, decoded.TransactionMessage)
	}
	e := c.failed(message, bad)
	if e.hint = c.last.hint(); c.last.failure() != nil {
		e.hint = ""
	}
	if ended := ctx.Err(); ended != nil && c.last.localErr == nil {
		e.Cause = ended
		if bad != nil {
			e.Cause = fmt.Errorf("%w; the last attempt: %w", ended, bad)
		}
	}
	return e
}

// failed says that a query gave nothing usable: the gateway said no in its own words, or there is a cause.
func (c *call) failed(message string, cause error) *QueryError {
	return &QueryError{
		Op: c.op.Name, HTTPStatus: c.last.Status, Code: c.last.code, Message: message, RetryAfter: c.last.retryAfter, Cause: cause,
	}
}

// end ends a query: err is what it returns.
func (c *call) end(err error) error {
	c.secrets.redact(nil, err)
	return c.finish(outcomeName(nil, err), err)
}

// finish ends a call: err is what it returns.
func (c *call) finish(outcome Outcome, err error) error {
	if err != nil {
		keepRaw(c.raw(), err)
	}
	c.done(outcome, err)
	c.buffer.Release()
	return err
}

// raw returns the last response, masked, if it is to be kept.
func (c *call) raw() *RawResponse {
	if !c.client.cfg.KeepResponses {
		return nil
	}
	return c.secrets.raw(&c.last)
}

// attempt sends the call exactly once and reads the whole response.
func (c *call) attempt(ctx context.Context) {
	c.attempts++
	begun := time.Now()
	c.last = c.send(ctx)
	if text := c.last.Header.Get("Retry-After"); text != "" {
		c.last.retryAfter = min(retry.ParseRetryAfter(text, time.Now()), c.client.cfg.Retry.MaxWait)
	}
	duration := time.Since(begun)
	c.logAttempt(ctx, duration)
	if c.client.cfg.ObserveAttempt != nil {
		c.client.cfg.ObserveAttempt(ctx, AttemptInfo{
			Operation: c.op, Number: c.attempts, HTTPStatus: c.last.Status, Sent: c.op.Payment && !c.last.Unsent,
			Duration: duration, Err: c.last.failure(),
		})
	}
}

func (c *call) send(ctx context.Context) (r attemptResult) {
	cfg := &c.client.cfg
	if err := ctx.Err(); err != nil {
		return local(err)
	}
	if cfg.Limiter != nil {
		if err := cfg.Limiter.Wait(ctx); err != nil {
			return local(c.secrets.all().Error(err))
		}
	}
	limited, cancel := context.WithTimeout(ctx, cfg.AttemptTimeout)
	defer cancel()
	req, err := c.request(limited)
	if err != nil {
		return local(c.secrets.all().Error(err))
	}
	sender := c.client.queries
	if c.op.Payment {
		sender = c.client.payments
	}
	r.Response = sender.Exchange(req, c.body, c.limit, &c.buffer)
	if r.Err != nil && limited.Err() != nil && ctx.Err() == nil {
		r.Err = &timeoutError{cfg.AttemptTimeout}
	}
	r.Err = c.secrets.all().ReadError(r.Err)
	return r
}

// local is the result of an attempt that this side refused: nothing was sent.
func local(err error) attemptResult {
	return attemptResult{Response: transport.Response{Unsent: true}, localErr: err}
}

// timeoutError says that one attempt took longer than Config.AttemptTimeout.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no whole response within %v", e.limit) }

// Timeout tells callers who ask for interface{ Timeout() bool }, as net.Error has it.
func (e *timeoutError) Timeout() bool { return true }

// Is follows net/http, whose timeouts are context.DeadlineExceeded too.
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// request builds a fresh request. The hook sees it complete but for the body, which comes as bytes: reading it from
// the request would break the proof of "not sent".
func (c *call) request(ctx context.Context) (*http.Request, error) {
	cfg := &c.client.cfg
	target := c.url // a copy: the hook may sign it
	req := (&http.Request{
		Method: c.op.Method, URL: &target, Host: target.Host, Header: make(http.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	req.Header["Accept"] = contentJSON
	req.Header["User-Agent"] = userAgent
	if c.body != nil {
		req.Header["Content-Type"] = contentJSON
		req.ContentLength = int64(len(c.body))
		if cfg.ExpectContinue && c.op.Payment {
			req.Header["Expect"] = expectContinue
		}
	}
	if cfg.Authenticate == nil {
		return req, nil
	}
	err := cfg.Authenticate(req, c.body)
	c.secrets.credentials.AddHeader(req.Header)
	if err != nil {
		return nil, fmt.Errorf("the Authenticate hook refused: %w", err)
	}
	if c.op.Payment { // with one of these, net/http would send a payment again by itself
		req.Header.Del("Idempotency-Key")
		req.Header.Del("X-Idempotency-Key")
	}
	return req, nil
}

// Values of headers that are the same in every request. The transport only reads them.
var (
	contentJSON    = []string{"application/json"}
	userAgent      = []string{"cardgateway-go/" + Version}
	expectContinue = []string{"100-continue"}
)

// endpoint returns the URL of an operation, with element in place of what its path template leaves open.
func (c *Client) endpoint(op *Operation, element pathElement, query url.Values) url.URL {
	path, _, _ := strings.Cut(op.PathTemplate, "{")
	u := url.URL{
		Scheme:   c.base.Scheme,
		Host:     c.base.Host,
		Path:     strings.TrimSuffix(c.base.Path, "/") + path + element.plain,
		RawQuery: query.Encode(),
	}
	if element.escaped != element.plain || c.base.RawPath != "" {
		u.RawPath = strings.TrimSuffix(c.base.EscapedPath(), "/") + path + element.escaped
	}
	return u
}

// within marks the context of queries that a walk or Resolve makes: they are told of, but logged at debug level only.
func within(ctx context.Context) context.Context { return context.WithValue(ctx, withinKey{}, true) }

type withinKey struct{}

// begin tells the observer that an operation begins. What it returns ends the operation: it tells the observer and writes
// one line to the log.
func (c *Client) begin(ctx context.Context, op Operation) (context.Context, func(CallInfo)) {
	begun := time.Now()
	observed, end := ctx, func(CallInfo) {}
	if c.cfg.Observe != nil {
		given, givenEnd := c.cfg.Observe(ctx, op)
		if given != nil {
			observed = given
		}
		if givenEnd != nil {
			end = givenEnd
		}
	}
	return observed, func(info CallInfo) {
		info.Duration = time.Since(begun)
		c.logOperation(ctx, &op, &info)
		end(info)
	}
}

// logOperation writes the one line that tells how an operation ended. A decline is a normal event; what somebody has to
// look at is a warning.
func (c *Client) logOperation(ctx context.Context, op *Operation, info *CallInfo) {
	if c.cfg.Logger == nil {
		return
	}
	level := slog.LevelInfo
	switch info.Outcome {
	case OutcomeUnknown, OutcomeRefused, OutcomeConflict:
		level = slog.LevelWarn
	}
	if ctx.Value(withinKey{}) != nil {
		level = slog.LevelDebug
	}
	if !c.cfg.Logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("operation", op.Name), slog.String("outcome", string(info.Outcome))}
	if op.TransactionID != "" {
		attrs = append(attrs, slog.String("transactionId", op.TransactionID))
	}
	if info.Code != 0 {
		attrs = append(attrs, slog.Int("code", int(info.Code)))
	}
	if info.HTTPStatus != 0 {
		attrs = append(attrs, slog.Int("status", info.HTTPStatus))
	}
	attrs = append(attrs, slog.Int("attempts", info.Attempts), slog.Duration("duration", info.Duration))
	if info.Err != nil && info.Outcome != OutcomeDeclined {
		attrs = append(attrs, slog.String("error", info.Err.Error()))
	}
	c.cfg.Logger.LogAttrs(ctx, level, "cardgateway call", attrs...)
}

// observe tells the observer and the log that the call begins, and sets done, which tells them how it ended.
func (c *call) observe(ctx context.Context) context.Context {
	if c.client.cfg.Observe == nil && c.client.cfg.Logger == nil {
		c.done = func(Outcome, error) {} // nobody is told
		return ctx
	}
	ctx, end := c.client.begin(ctx, c.op)
	c.done = func(outcome Outcome, err error) {
		end(CallInfo{Attempts: c.attempts, HTTPStatus: c.last.Status, Code: c.last.code, Outcome: outcome, Err: err})
	}
	return ctx
}

// logAttempt writes the last attempt's one line.
func (c *call) logAttempt(ctx context.Context, duration time.Duration) {
	logger, r := c.client.cfg.Logger, &c.last
	if logger == nil || !logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", c.op.Name), slog.String("method", c.op.Method), slog.String("path", c.op.PathTemplate),
		slog.Int("attempt", c.attempts), slog.Duration("duration", duration),
	}
	if c.op.TransactionID != "" {
		attrs = append(attrs, slog.String("transactionId", c.op.TransactionID))
	}
	if r.Status != 0 {
		attrs = append(attrs, slog.Int("status", r.Status))
	}
	if err := r.failure(); err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
		if c.op.Payment { // of a query Unsent decides nothing: it may be repeated anyway
			attrs = append(attrs, slog.Bool("sent", !r.Unsent))
		}
	}
	logger.LogAttrs(ctx, slog.LevelDebug, "cardgateway attempt", attrs...)
}
