package cardgateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/baseurl"
	"github.com/cardgateway/cardgateway-go/internal/retry"
	"github.com/cardgateway/cardgateway-go/internal/transport"
)

// Version is the version of this module, sent in User-Agent.
const Version = "0.1.0"

var defaultLocation = time.FixedZone("UTC+8", 8*60*60)

// DefaultLocation returns the time zone of the gateway's wall-clock times if Config sets none: UTC+8.
// The interface states no zone; the one published example that can be dated agrees with UTC+8.
func DefaultLocation() *time.Location { return defaultLocation }

// Config says how to reach a gateway. Only BaseURL and AppID are required.
type Config struct {
	// BaseURL is what the interface calls {base_url}: https, or http to a loopback host; without query, fragment
	// and user info.
	BaseURL string
	// AppID identifies the merchant's website app: 1 to 32 decimal digits without leading zeros. CreateTokenOrder and
	// CreateCheckout take at most 20.
	AppID AppID
	// Authenticate, if set, is called with the final request of every attempt, and its body, which it must not change or
	// keep. Headers that would let a transport resend a payment are removed afterwards. The interface does not document
	// an authentication scheme; see BasicAuth for the published one. What it puts into Authorization, cookies and headers
	// named after keys, tokens, secrets or signatures never appears in errors, not even if the gateway echoes it, except
	// as an id. If it returns an error, nothing is sent.
	Authenticate func(r *http.Request, body []byte) error
	// HTTPClient, if set, provides its Transport and its Timeout; its cookies and redirect policy are not used, and it is
	// never changed. A *http.Transport is cloned and the copy hardened: TLS 1.2 or later, HTTP/1.1 only, no compression,
	// limited headers. Zero settings get defaults: 128 idle connections to the host (MaxIdleConnsPerHost), and one second
	// to wait for "100 Continue" (ExpectContinueTimeout). MaxIdleConns is raised if it is lower than MaxIdleConnsPerHost,
	// and WriteBufferSize if it is under 4 KiB.
	//
	// The client does not believe a response that arrived before its request. It learns that from the connections of DialContext,
	// which must not read ahead. If the transport makes TLS connections itself (DialTLSContext), the client can enforce neither the
	// TLS settings nor this: each query then has a new connection, and a payment relies on what holds for each of them, that its
	// connection carries no other one unless the response states its id. With any other RoundTripper the client can enforce nothing
	// of all this, nor that a payment is sent once: the RoundTripper must not resend requests, must not log them, and must not
	// return the response to another request. A success or a decline without reading the request's body counts as not sent.
	HTTPClient *http.Client
	// AttemptTimeout limits one attempt, from connecting to the last byte of the response; zero means the Timeout of
	// HTTPClient, or 30 s. If both are set, the shorter one applies.
	AttemptTimeout time.Duration
	// Retry limits how often a call is attempted.
	Retry RetryPolicy
	// Limiter, if set, delays every attempt. A *rate.Limiter of golang.org/x/time/rate implements it.
	Limiter Limiter
	// Location is the time zone of the gateway's wall-clock times; nil means DefaultLocation. With a wrong zone, searches
	// and walks cover other hours than requested and miss rows. The client notices it by the time in the response to a payment or
	// a refund, by a row that is later than now, and by one that Resolve finds and that is earlier than its SentAt. It then logs a
	// warning, and walks have a WrongZone and no CompleteUpTo; see also Check. A client that does not pay may not notice it.
	Location *time.Location
	// Logger, if set, gets one line per call, without URLs, bodies or secrets: at warn level if the outcome is unknown, refused, a
	// test or a conflict, or rows cannot be read, at debug level if the gateway does not know the payment, at info level otherwise. Each attempt, and
	// each query of a walk or of Resolve, gets one at debug level. The line has the context that Observe returned.
	Logger *slog.Logger
	// Observe, if set, is called when a validated call begins, and the function that it returns when the call ends: use it
	// for spans and metrics. Resolve and a walk count as calls; the queries that they make are observed too. The context
	// that it returns is used for the call. It may return nil for either.
	//
	// If a hook, the transport or the logger panics, the call ends, too, with what is known of its outcome, and the panic goes on.
	Observe func(context.Context, Operation) (context.Context, func(CallInfo))
	// ObserveAttempt, if set, is called after each attempt of a call, with the context that Observe returned.
	ObserveAttempt func(context.Context, AttemptInfo)
	// KeepResponses keeps each response, masked, in the result or the error: see RawResponse. Use it for support tickets:
	// it costs memory, and the responses are personal data.
	KeepResponses bool
	// InsecureHTTP allows plain http to any host, and a transport that does not verify certificates. For tests only.
	InsecureHTTP bool
	// AnyDecimals allows amounts with more decimals than their currency has by ISO 4217, such as 12.50 JPY or 1.234 USD, at most
	// three. Trailing zeros are always allowed; an amount with more than three decimals is sent without those that its currency
	// does not have. Currencies that are not in ISO 4217 are not checked, and have three decimals.
	AnyDecimals bool
	// AnyCurrency, AnyCountry and AnyCycle allow values that this version does not know: three capital letters that are no active
	// currency of ISO 4217, two that are no country of ISO 3166-1, and subscription cycles without a constant in this package.
	AnyCurrency, AnyCountry, AnyCycle bool
	// AnyAppID accepts data that states another appId than AppID. By default such data is not this app's, because the same
	// credentials can serve several apps: a response to a payment or a refund leaves its outcome unknown, a row does not
	// decide it in Resolve or ResolveRefund, GetTransaction returns a *QueryError, and package notify confirms nothing. A
	// number and a text are the same id, one that cannot be read is another, and data without an appId is accepted, because
	// the interface does not say that a response repeats it. Searches and walks return the rows of all apps: see IsOtherApp.
	// Set AnyAppID only if your gateway states the id of something else.
	AnyAppID bool
	// TestPayments counts approvals that the gateway marks as a test (isTest is true) as paid: for test systems and the
	// sandbox, never for a shop that sells. By default such an approval comes with a *TestPaymentError. An approval whose
	// isTest cannot be read has an unknown outcome in any case.
	TestPayments bool
	// PaymentIdleTimeout is how long a connection may have been idle to be reused for a payment, unless the transport's
	// IdleConnTimeout is shorter; zero means 3 s, negative means a new connection for each payment. A server that closes
	// an idle connection while a payment is being written to it is the most common avoidable cause of an unknown
	// outcome.
	PaymentIdleTimeout time.Duration
	// ExpectContinue sends "Expect: 100-continue" and waits for the server before a payment's body is sent. If the server
	// supports it, more failures are proved to be "not sent"; if it does not, each payment takes longer by up to the
	// transport's ExpectContinueTimeout, one second by default.
	ExpectContinue bool
	// HostedPageLifetime is how long the cardholder is assumed to be able to use the hosted page, from when the payment was
	// sent; zero means 24 h. The interface names no lifetime; hosted pages of card gateways commonly live between an hour and
	// a day. The published code 103 (closed) ends it earlier.
	//
	// Until it has passed, a decline on the hosted page is one attempt: Resolve returns an unknown outcome, and package journal
	// a pending payment. Afterwards a decline is final, and the journal reports a payment that still waits for the cardholder as
	// abandoned, and queries neither any more. So with a longer one, orders that nobody pays stay open for longer. With one that
	// is shorter than the page's, a cardholder can pay after that. Only a notification or a walk then shows the payment: the
	// journal's Confirm records it as a success if it was abandoned, and as a conflict if it was declined.
	HostedPageLifetime time.Duration
}

// RetryPolicy limits how often one call is attempted. Queries are retried after a transport failure, an unreadable
// response, HTTP 429 and 5xx. A payment is retried only after an attempt that provably sent nothing, and then at most
// twice.
type RetryPolicy struct {
	MaxAttempts int           // attempts, not retries; zero means 4, one means a single attempt
	MinWait     time.Duration // zero means 200 ms; the pause before the second attempt is random up to this
	MaxWait     time.Duration // zero means 5 s; limits the increasing pauses, and what is waited of Retry-After
}

const (
	defaultAttemptTimeout     = 30 * time.Second
	defaultPaymentIdleTimeout = 3 * time.Second
	defaultHostedPageLifetime = 24 * time.Hour
)

// Limiter delays attempts, for example to respect the gateway's rate limit.
type Limiter interface{ Wait(context.Context) error }

// Operation names one call. It never contains a URL: the path of a token payment contains the token.
type Operation struct {
	Name         string // the method's name, such as TokenPayment
	Method       string // GET or POST; empty for Resolve and walks, which make queries
	PathTemplate string // such as /checkout/tokenization/payment/{tokenization}; empty for Resolve and walks
	Payment      bool   // it can move money, or starts something that does

	// The ids that the call sends or searches for; empty otherwise.
	TransactionID       string // the merchant's id of the payment
	RefundTransactionID string // the merchant's id of the refund
	UniqueID            string // the gateway's id of the payment
}

// CallInfo says how a call ended.
type CallInfo struct {
	Attempts   int    // including those ended by the context, the limiter or the hook before anything was sent; zero for Resolve and walks
	HTTPStatus int    // of the last attempt; zero if no response came
	RequestID  string // with which the gateway, or a proxy, identifies the last attempt; empty if it gives none
	Code       Code   // of the response; zero if none
	Outcome    Outcome
	Duration   time.Duration
	Err        error // as returned to the caller; a decline is an error here, but a normal event
}

// AttemptInfo says how one attempt of a call ended.
type AttemptInfo struct {
	Operation  Operation
	Number     int    // counted from 1
	HTTPStatus int    // zero if no response came
	RequestID  string // as in CallInfo
	Sent       bool   // for a payment: it may have reached the gateway
	Duration   time.Duration
	Err        error // why there was no usable response; nil if there was one
}

// Client calls one gateway as one app. Its methods are safe for concurrent use.
type Client struct {
	cfg      Config
	base     *url.URL
	payments *transport.Sender
	queries  *transport.Sender
	zone     *knownZone
}

// New validates cfg and returns a client. It does no I/O. The error is a *ValidationError that lists every problem.
func New(cfg Config) (*Client, error) {
	var v violations
	base := v.BaseURL("BaseURL", cfg.BaseURL, cfg.InsecureHTTP)
	if v.Require("AppID", cfg.AppID != "", required) {
		v.Digits("AppID", string(cfg.AppID), 1, maxAppID)
		v.AddIf(len(cfg.AppID) > 1 && cfg.AppID[0] == '0', "AppID", RuleFormat, "must not start with 0: it is a JSON number")
	}
	v.duration("AttemptTimeout", cfg.AttemptTimeout)
	v.duration("HostedPageLifetime", cfg.HostedPageLifetime)
	v.credentials(cfg.Authenticate)
	v.AddIf(cfg.Retry.MaxAttempts < 0 || cfg.Retry.MinWait < 0 || cfg.Retry.MaxWait < 0, "Retry", RuleRange, "must not have negative values")
	if given := cfg.HTTPClient; given != nil && given.Timeout > 0 && (cfg.AttemptTimeout == 0 || given.Timeout < cfg.AttemptTimeout) {
		cfg.AttemptTimeout = given.Timeout
	}
	cfg.AttemptTimeout = cmp.Or(cfg.AttemptTimeout, defaultAttemptTimeout)
	cfg.PaymentIdleTimeout = cmp.Or(cfg.PaymentIdleTimeout, defaultPaymentIdleTimeout)
	cfg.HostedPageLifetime = cmp.Or(cfg.HostedPageLifetime, defaultHostedPageLifetime)
	cfg.Location = cmp.Or(cfg.Location, defaultLocation)
	cfg.Retry = RetryPolicy(retry.Policy(cfg.Retry).WithDefaults())
	var given http.RoundTripper
	if cfg.HTTPClient != nil {
		given = cfg.HTTPClient.Transport
	}
	v.AddIf(transport.SkipsVerification(given) && !cfg.InsecureHTTP, "HTTPClient", RuleFormat, "has a transport that does not verify certificates")
	cfg.HTTPClient = nil // no longer needed; a deep printer of the client then does not find the caller's connections
	if err := v.err("New"); err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, base: base, zone: new(knownZone)}
	c.payments, c.queries = transport.New(given, cfg.PaymentIdleTimeout)
	return c, nil
}

// CloseIdleConnections closes the connections that no call is using, for a program that ends or a test that checks for
// leaks. The client can still be used. It does nothing if Config.HTTPClient has a RoundTripper that is not a *http.Transport.
func (c *Client) CloseIdleConnections() {
	c.payments.CloseIdle()
	c.queries.CloseIdle()
}

// Health is what Check has found out. What it could not find out has its zero value.
type Health struct {
	Reachable  bool          // an HTTP response came
	Authorized bool          // the query was accepted, so the credentials are
	Duration   time.Duration // of the first query
	ClockKnown bool          // the gateway has told the time
	ClockAhead time.Duration // this machine's clock before that of the gateway, or of a proxy; negative if it is behind. Over 30 s needs attention
	ZoneKnown  bool          // Config.Location is proved to be right, or wrong
	WrongZone  *WrongZone    // nil unless it is wrong
	Rows       int           // payments of the last 24 hours on the first page
	OtherApps  int           // those of them that state another app: if it is all of them, Config.AppID is probably wrong
}

// Check makes one or two queries and says whether the gateway is reachable and accepts the credentials, and what else can be
// seen of the configuration: for a readiness probe, or at the start of a program. It changes nothing. The queries are repeated as
// Config.Retry says, so a probe that must be fast uses a client of WithRetry or a context with a deadline.
//
// The error is a *QueryError, or a *ValidationError of the Authenticate hook; Health then has what is known nevertheless.
func (c *Client) Check(ctx context.Context) (Health, error) {
	op := opSearchOrders
	op.Name = "Check"
	now := time.Now()
	last := OrderQuery{Start: now.AddDate(0, 0, -1), End: now}
	page, err := runSearch(ctx, c, op, last.search(c.cfg.Location, PageRequest{}), transactionRow)
	h := Health{Duration: time.Since(now), Reachable: page.Page != nil, Authorized: page.Page != nil}
	if page.Page == nil {
		failed, ok := errors.AsType[*QueryError](err)
		h.Reachable = ok && failed.HTTPStatus != 0
		return h, err
	}
	for i := range page.Data {
		if h.Rows++; c.IsOtherApp(&page.Data[i]) {
			h.OtherApps++
		}
	}
	h.ClockAhead, h.ClockKnown = page.clock.ahead, page.clock.known
	if later := c.rowsLaterThanNow(); later != nil {
		page, err = runSearch(ctx, c, op, later, transactionRow)
	}
	h.ZoneKnown, h.WrongZone = c.zone.proof.Load() != nil, c.zone.wrong()
	if page.Page == nil {
		return h, err
	}
	return h, nil
}

// WithRetry returns a client that differs from c only in its RetryPolicy and shares everything else, including connections.
// As in Config, zero values mean the defaults; negative ones do too.
func (c *Client) WithRetry(p RetryPolicy) *Client {
	policy := retry.Policy{MaxAttempts: max(p.MaxAttempts, 0), MinWait: max(p.MinWait, 0), MaxWait: max(p.MaxWait, 0)}
	other := *c
	other.cfg.Retry = RetryPolicy(policy.WithDefaults())
	return &other
}

// onlyAppID returns the only appId that data may state, or nothing if it may state any.
func (c *Client) onlyAppID() AppID {
	if c.cfg.AnyAppID {
		return ""
	}
	return c.cfg.AppID
}

// BaseURL returns the gateway's address in its normal form: equivalent values of Config.BaseURL, such as one with a slash at its
// end or a host in capitals, give the same text. Together with AppID it distinguishes the payments of one shop from those of
// another, which may use the same transactionIds.
func (c *Client) BaseURL() string { return baseurl.Normal(c.base.String()) }

// AppID returns the merchant's website app, as set in Config.
func (c *Client) AppID() AppID { return c.cfg.AppID }

// IsOtherApp reports whether a *Transaction or a *Refund, such as a row of Orders or Refunds, states another appId than the
// client's, so that it is not of this app. It never does with Config.AnyAppID.
func (c *Client) IsOtherApp(row interface{ StatesOtherApp(app AppID) bool }) bool {
	return row.StatesOtherApp(c.onlyAppID())
}

// Paid reports whether a transaction is approved and counts as paid: one that is marked as a test does only with
// Config.TestPayments. It is never paid while its isTest cannot be read.
func (c *Client) Paid(t *Transaction) bool { return t.isPaid(c.cfg.TestPayments) }

// testPayment returns the error of an approval that does not count as paid because it is a test, or nil. Op is the operation.
func (c *Client) testPayment(op string, t *Transaction) error {
	if t.State() != StateApproved || c.Paid(t) {
		return nil
	}
	return &TestPaymentError{Op: op, TransactionID: t.TransactionID, Transaction: t}
}

// Location returns the time zone in which the client reads and writes the gateway's wall-clock times.
func (c *Client) Location() *time.Location { return c.cfg.Location }

// HostedPageLifetime returns how long the cardholder is assumed to be able to use the hosted page; see Config.
func (c *Client) HostedPageLifetime() time.Duration { return c.cfg.HostedPageLifetime }

// BasicAuth returns an Authenticate hook for HTTP Basic with the merchant id and the secret key. This scheme is published
// by gateways, and not part of the interface. If either is empty or has white space at its ends, or the id contains a colon, which
// Basic does not allow, New returns a *ValidationError; within another hook, every call returns it and sends nothing.
func BasicAuth(merchantID, secretKey string) func(*http.Request, []byte) error {
	var v violations
	for _, given := range [][2]string{{"merchantID", merchantID}, {"secretKey", secretKey}} {
		if v.Require(given[0], given[1] != "", required) {
			v.AddIf(strings.TrimSpace(given[1]) != given[1], given[0], RuleFormat, "has white space at its ends")
		}
	}
	v.AddIf(strings.Contains(merchantID, ":"), "merchantID", RuleFormat, "must not have a colon")
	if err := v.err("BasicAuth"); err != nil {
		return refusing(err)
	}
	return func(r *http.Request, _ []byte) error {
		r.SetBasicAuth(merchantID, secretKey)
		return nil
	}
}

// refusing returns a hook that returns err, and does nothing else. Inlining would give it several addresses.
//
//go:noinline
func refusing(err error) func(*http.Request, []byte) error {
	invalid := &credentialsError{err}
	return func(*http.Request, []byte) error { return invalid }
}

var refusingHook = reflect.ValueOf(refusing(nil)).Pointer()

// credentials adds what BasicAuth has found. No other hook is called.
func (v *violations) credentials(hook func(*http.Request, []byte) error) {
	if hook == nil || reflect.ValueOf(hook).Pointer() != refusingHook {
		return
	}
	if invalid, ok := errors.AsType[*ValidationError](hook(nil, nil)); ok {
		for _, p := range invalid.Problems {
			v.Add(p.Field, p.Rule, "%s", p.Message)
		}
	}
}

// credentialsError is the error of BasicAuth. A *ValidationError alone could be that of another call, which a hook has made.
type credentialsError struct{ err error }

func (e *credentialsError) Error() string { return e.err.Error() }

func (e *credentialsError) Unwrap() error { return e.err }
