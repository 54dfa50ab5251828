package cardgateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/retry"
	"github.com/cardgateway/cardgateway-go/internal/transport"
)

// call is one prepared call: encoded once, sent in as many attempts as the retry policy allows.
type call struct {
	client   *Client
	op       Operation
	element  transport.PathElement // the variable part of the path
	params   url.Values            // of the query
	body     []byte                // nil if the operation sends none
	limit    int64                 // of the response's body, in bytes
	secrets  callSecrets
	buffer   transport.Buffer
	decode   func([]byte) decodedResponse // of the response to a payment or a refund
	decoded  decodedResponse              // the last one
	attempts int                          // made so far
	last     attemptResult                // of the last attempt
	observed observation
}

// errPanicked is what a call has to say about an attempt, or a call, that did not return.
var errPanicked = errors.New("a panic of a hook, the transport or the logger ended the call")

// ID implements transport.Payment.
func (c *call) ID() string { return cmp.Or(c.op.RefundTransactionID, c.op.TransactionID) }

func (c *call) url() url.URL {
	return transport.Endpoint(c.client.base, c.op.PathTemplate, c.element, c.params)
}

// Judge implements transport.Payment. It keeps the decoded response.
func (c *call) Judge(body []byte) (statesID, accepts bool) {
	c.decoded = c.decode(body)
	id, state := c.decoded.states()
	return c.decoded.unreadable == nil && id == c.ID(), state.isAccepted()
}

// pay sends a payment and returns its outcome. The request is validated and encoded first; then control goes down once
// through the attempts and returns once through classify.
func (c *Client) pay(ctx context.Context, op Operation, p sentPayment, e *encoder) (t *Transaction, err error) {
	op.TransactionID = p.transactionID
	call, err := c.newPayment(ctx, op, e, decodePayment)
	if err != nil {
		return nil, err
	}
	defer func() { // also if it panics: what is known is classified then, too
		p.appID, p.at = c.onlyAppID(), call.observed.begun
		t, err = classify(&call.op, &p, &call.last, &call.decoded)
		if err == nil {
			err = c.testPayment(op.Name, t)
		}
		t.mask(call.secrets.masker(err != nil))
		if t != nil {
			defer c.learnZone(ctx, t.TransactionAt.civil(), p.at, time.Now(), t.Timestamp, true)
			t.Raw = call.raw()
		}
		_ = call.end(outcomeName(t, err), err)
	}()
	call.submit(ctx)
	return t, err
}

// newPayment validates the request of a payment, and prepares its call.
func (c *Client) newPayment(ctx context.Context, op Operation, e *encoder, decode func([]byte) decodedResponse) (*call, error) {
	e.check.Context(ctx)
	body, err := e.finish(op.Name)
	if err != nil {
		return nil, withID(err, op.id())
	}
	return &call{
		client: c, op: op, element: e.element, body: body, limit: transport.MaxPayment,
		decode: decode, secrets: callSecrets{sent: e.secrets},
	}, nil
}

// submit sends a payment. The caller classifies the last attempt, with its decoded response, and ends the call.
func (c *call) submit(ctx context.Context) {
	defer clear(c.body) // the transport has sealed it: these bytes are not read any more
	ctx = c.observe(ctx)
	retry.Policy(c.client.cfg.Retry).RunPayment(ctx, func(ctx context.Context) retry.Attempt {
		c.attempt(ctx)
		return c.facts()
	})
}

// newQuery prepares a query. The element is the variable part of the path template; it needs no escaping.
func (c *Client) newQuery(op Operation, element string, params url.Values) *call {
	return &call{
		client: c, op: op, element: transport.PathElement{Plain: element, Escaped: element}, params: params, limit: transport.MaxQuery,
	}
}

// ask sends a query as often as the policy allows, and returns the last response as decoded by decode, which also
// stores its code. The error is a *QueryError if no response could be decoded. The caller ends the call, unless it panics.
func ask[T any](ctx context.Context, c *call, decode func([]byte) (T, error)) (decoded T, err error) {
	returns := false
	defer func() {
		if !returns {
			_ = c.endQuery(c.failed("", errPanicked))
		}
	}()
	ctx = c.observe(ctx)
	var bad error // why the last response cannot be used
	target := c.url()
	query := (&http.Request{Method: c.op.Method, URL: &target, Header: http.Header{}}).WithContext(ctx)
	retry.Policy(c.client.cfg.Retry).RunQuery(query, func(ctx context.Context) retry.Attempt {
		c.attempt(ctx)
		if bad = c.last.failure(); bad == nil && c.last.Status == http.StatusOK {
			decoded, bad = decode(c.last.Body)
		}
		facts := c.facts()
		facts.Failed = bad != nil
		return facts
	})
	returns = true
	if bad == nil && c.last.Status == http.StatusOK {
		return decoded, nil
	}
	if invalid, ok := errors.AsType[*ValidationError](c.last.localErr); ok {
		return decoded, invalid
	}
	return decoded, c.queryError(ctx, bad)
}

// queryError says why there is no decoded response: because of bad, because the context ended, or because the gateway
// reported a failure.
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

// failed returns the error of a query without a usable response: cause is nil if the gateway itself reported the failure.
func (c *call) failed(message string, cause error) *QueryError {
	return &QueryError{
		Op: c.op.Name, ID: c.op.id(), HTTPStatus: c.last.Status, Code: c.last.code, Message: message, RetryAfter: c.last.retryAfter, Cause: cause,
	}
}

// endQuery ends a query: err is what it returns.
func (c *call) endQuery(err error) error { return c.end(outcomeName(nil, err), err) }

// end ends a call: err is what it returns.
func (c *call) end(outcome Outcome, err error) error {
	defer c.buffer.Release()
	var requestID string
	if err != nil || c.observed.ended != nil || c.client.cfg.Logger != nil { // to look for it has a cost
		requestID = c.requestID()
	}
	if err != nil {
		c.secrets.complete(err, requestID, c.raw())
	}
	c.observed.end(CallInfo{
		Attempts: c.attempts, HTTPStatus: c.last.Status, RequestID: requestID, Code: c.last.code, Outcome: outcome, Err: err,
	})
	return err
}

// requestID returns the id with which the gateway identifies the last attempt, or nothing.
func (c *call) requestID() string { return c.secrets.all().RequestID(c.last.Header) }

// raw returns the last response, masked, if Config.KeepResponses is set.
func (c *call) raw() *RawResponse {
	if !c.client.cfg.KeepResponses {
		return nil
	}
	return c.secrets.raw(&c.last)
}

// attempt sends the call exactly once, and reads the whole response.
func (c *call) attempt(ctx context.Context) {
	c.attempts++
	c.last = local(errPanicked)
	begun := time.Now()
	defer c.endAttempt(ctx, begun)
	c.last = c.send(ctx)
	c.last.at = begun.Add(time.Since(begun) / 2)
	if text := c.last.Header.Get("Retry-After"); text != "" {
		c.last.retryAfter = retry.ParseRetryAfter(text, time.Now())
	}
}

// endAttempt tells the log and the observer how the last attempt ended.
func (c *call) endAttempt(ctx context.Context, begun time.Time) {
	cfg := &c.client.cfg
	if cfg.ObserveAttempt == nil && cfg.Logger == nil {
		return
	}
	info := AttemptInfo{
		Operation: c.op, Number: c.attempts, HTTPStatus: c.last.Status, RequestID: c.requestID(), Sent: c.op.Payment && !c.last.Unsent,
		Duration: time.Since(begun), Err: c.last.failure(),
	}
	if cfg.ObserveAttempt != nil {
		defer cfg.ObserveAttempt(ctx, info) // also if the logger panics
	}
	if cfg.Logger != nil {
		info.log(ctx, cfg.Logger)
	}
}

// facts returns what the retry decision depends on.
func (c *call) facts() retry.Attempt {
	return retry.Attempt{
		Payment: c.op.Payment, Number: c.attempts, Local: c.last.localErr != nil, Failed: c.last.failure() != nil,
		ProvenUnsent: c.last.Unsent, Status: c.last.Status, RetryAfter: c.last.retryAfter,
	}
}

func (c *call) send(ctx context.Context) (r attemptResult) {
	cfg := &c.client.cfg
	if err := ctx.Err(); err != nil {
		return local(err)
	}
	if cfg.Limiter != nil {
		if err := cfg.Limiter.Wait(ctx); err != nil {
			return local(c.foreign(ctx, err))
		}
	}
	limited, cancel := context.WithTimeout(ctx, cfg.AttemptTimeout)
	defer cancel()
	sender := c.client.queries
	if c.op.Payment {
		sender = c.client.payments
	}
	for range maxEnded {
		exchange, err := c.newExchange(limited)
		if err != nil {
			return local(c.foreign(ctx, err))
		}
		if r.Response = c.exchange(sender, exchange); !r.Ended {
			break
		}
	}
	r.Err = c.secrets.all().ReadError(r.Err, isOutcome)
	switch {
	case r.Err == nil || limited.Err() == nil:
	case ctx.Err() == nil:
		r.Err = &transport.TimeoutError{Limit: cfg.AttemptTimeout}
	default:
		r.Err = withoutCause(ctx, r.Err)
	}
	return r
}

// exchange sends one request. If that panics, only the proof of "not sent" is known of it.
func (c *call) exchange(s *transport.Sender, x *transport.Exchange) transport.Response {
	defer func() { c.last.Unsent = x.Seal() }()
	return s.Do(x, c.limit, &c.buffer)
}

// maxEnded limits how often one attempt of a payment meets a connection that the payment before has ended.
const maxEnded = 20

// foreign returns what may be kept of an error of the limiter or of the hook. That of BasicAuth stays as it is.
func (c *call) foreign(ctx context.Context, err error) error {
	if invalid, ok := errors.AsType[*credentialsError](err); ok && invalid != nil { // an As method may find anything
		return invalid.err
	}
	return withoutCause(ctx, c.secrets.all().Error(err, isOutcome))
}

// withoutCause returns an error that does not match the cause with which ctx has ended. net/http returns the cause, and so may a
// hook: in an errgroup it is the error of another call.
func withoutCause(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil && context.Cause(ctx) != ended {
		return fmt.Errorf("%w: %v", ended, err)
	}
	return err
}

// local is the result of an attempt that ended before anything was sent.
func local(err error) attemptResult {
	return attemptResult{Response: transport.Response{Unsent: true}, localErr: err}
}

// newExchange builds a new request. The hook gets the body as bytes, separately from the request: reading it from the request
// would break the proof of "not sent".
func (c *call) newExchange(ctx context.Context) (*transport.Exchange, error) {
	cfg := &c.client.cfg
	target := c.url()
	exchange := transport.NewExchange(ctx, c.op.Method, target, c.body)
	if c.op.Payment {
		exchange.Payment = c
	}
	req := exchange.Request
	req.Header["User-Agent"] = userAgent
	if cfg.ExpectContinue && c.op.Payment {
		req.Header["Expect"] = expectContinue
	}
	if cfg.Authenticate == nil {
		return exchange, nil
	}
	err := cfg.Authenticate(req, c.body)
	c.secrets.credentials.AddHeader(req.Header)
	if req.URL != nil && req.URL.RawQuery != target.RawQuery { // some hooks sign in the query
		c.secrets.credentials.AddHeader(http.Header(req.URL.Query()))
	}
	if err != nil {
		return nil, fmt.Errorf("the Authenticate hook refused: %w", err)
	}
	return exchange, nil
}

// Values of headers that are the same in every request. The transport only reads them.
var (
	userAgent      = []string{"cardgateway-go/" + Version}
	expectContinue = []string{"100-continue"}
)

// within marks the context of queries that a walk or Resolve makes: they are observed, but logged at debug level only.
func within(ctx context.Context) context.Context { return context.WithValue(ctx, withinKey{}, true) }

type withinKey struct{}

// observation is one call as the observer and the log see it: it begins once and ends once.
type observation struct {
	client *Client
	op     *Operation
	within bool
	begun  time.Time
	ctx    ownContext     // of the log
	ended  func(CallInfo) // of the observer
}

func (c *Client) newObservation(ctx context.Context, op *Operation) observation {
	return observation{client: c, op: op, within: ctx.Value(withinKey{}) != nil, begun: time.Now(), ctx: ownContext{ctx}}
}

// begin notifies the observer that the call begins, and returns the context for it.
func (o *observation) begin() context.Context {
	if o.client.cfg.Observe != nil {
		given, ended := o.client.cfg.Observe(o.ctx.Context, *o.op)
		if o.ended = ended; given != nil {
			o.ctx.Context = given
		}
	}
	return &o.ctx
}

// ownContext is the context of a call. A context that is not of package context may end with any error, also with the outcome of another
// call, which then must not be that of this one.
type ownContext struct{ context.Context }

// Err returns why the context has ended, or nil.
func (c *ownContext) Err() error {
	switch err := c.Context.Err(); err {
	case nil, context.Canceled, context.DeadlineExceeded:
		return err
	default:
		return redact.Secrets(nil).Error(err, isOutcome)
	}
}

// end writes one log line, and notifies the observer, also if the logger panics.
func (o *observation) end(info CallInfo) {
	info.Duration = time.Since(o.begun)
	if o.ended != nil {
		defer o.ended(info)
	}
	if logger := o.client.cfg.Logger; logger != nil {
		info.log(o.ctx.Context, logger, o.op, o.within)
	}
}

// observe notifies the observer that the call begins, and returns the context for its attempts.
func (c *call) observe(ctx context.Context) context.Context {
	c.last = local(errPanicked) // if the context or the observer panics
	c.secrets.credentials.Add(redact.SecretOf(ctx), redact.MinText)
	c.observed = c.client.newObservation(ctx, &c.op)
	return c.observed.begin()
}

// id returns the id that names the call in its errors.
func (op *Operation) id() string {
	return cmp.Or(op.RefundTransactionID, op.TransactionID, op.UniqueID)
}

// log writes the one line of Config.Logger that says how a call ended. Like those of attempts, it has no URLs, bodies or secrets.
//
// A decline is a normal event, and so is a payment that the gateway does not know: a program that resolves outcomes queries it
// again and again. Outcomes that need attention are warnings. A query within a walk or Resolve has its line at debug level.
func (info *CallInfo) log(ctx context.Context, logger *slog.Logger, op *Operation, isWithin bool) {
	level := slog.LevelInfo
	switch info.Outcome {
	case OutcomeUnknown, OutcomeTest, OutcomeRefused, OutcomeConflict, OutcomeUnreadable:
		level = slog.LevelWarn
	case OutcomeNotFound:
		level = slog.LevelDebug
	}
	if isWithin {
		level = slog.LevelDebug
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := op.appendIDs([]slog.Attr{slog.String("operation", op.Name), slog.String("outcome", string(info.Outcome))})
	if info.Code != 0 {
		attrs = append(attrs, slog.Int("code", int(info.Code)))
	}
	attrs = appendStatus(attrs, info.HTTPStatus, info.RequestID)
	if info.Attempts != 0 {
		attrs = append(attrs, slog.Int("attempts", info.Attempts))
	}
	attrs = append(attrs, slog.Duration("duration", info.Duration))
	if info.Outcome != OutcomeDeclined && info.Outcome != OutcomeNotFound {
		attrs = appendErr(attrs, info.Err)
	}
	logger.LogAttrs(ctx, level, "cardgateway call", attrs...)
}

// log writes one line about the attempt, at debug level.
func (info *AttemptInfo) log(ctx context.Context, logger *slog.Logger) {
	if !logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	op := &info.Operation
	attrs := op.appendIDs([]slog.Attr{
		slog.String("operation", op.Name), slog.String("method", op.Method), slog.String("path", op.PathTemplate),
		slog.Int("attempt", info.Number), slog.Duration("duration", info.Duration),
	})
	attrs = appendErr(appendStatus(attrs, info.HTTPStatus, info.RequestID), info.Err)
	if info.Err != nil && op.Payment { // a query may be repeated anyway
		attrs = append(attrs, slog.Bool("sent", info.Sent))
	}
	logger.LogAttrs(ctx, slog.LevelDebug, "cardgateway attempt", attrs...)
}

// appendIDs appends the ids that are given.
func (op *Operation) appendIDs(attrs []slog.Attr) []slog.Attr {
	for _, id := range [][2]string{
		{"transactionId", op.TransactionID}, {"refundTransactionId", op.RefundTransactionID}, {"uniqueId", op.UniqueID},
	} {
		if id[1] != "" {
			attrs = append(attrs, slog.String(id[0], id[1]))
		}
	}
	return attrs
}

func appendStatus(attrs []slog.Attr, status int, requestID string) []slog.Attr {
	if status != 0 {
		attrs = append(attrs, slog.Int("status", status))
	}
	if requestID != "" {
		attrs = append(attrs, slog.String("requestId", requestID))
	}
	return attrs
}

func appendErr(attrs []slog.Attr, err error) []slog.Attr {
	if err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", err.Error()))
}
