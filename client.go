package cardgateway

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
	"github.com/cardgateway/cardgateway-go/internal/transport"
)

// Version is the version of this module, sent in User-Agent.
const Version = "0.1.0"

var defaultLocation = time.FixedZone("UTC+8", 8*60*60)

// DefaultLocation returns the zone in which the gateway's wall-clock texts are read where Config names none: UTC+8.
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
	// Authenticate, if set, sees every attempt's request as it will be sent, and its body as bytes, which it must not
	// change or keep. Headers that would let a transport send a payment again are taken out afterwards. The interface
	// does not show an authentication scheme; see BasicAuth for the published one. What it puts into Authorization,
	// cookies and headers named after keys, tokens, secrets or signatures never appears in errors, not even where the
	// gateway quotes it, unless as an id. An error from it means that nothing is sent.
	Authenticate func(r *http.Request, body []byte) error
	// HTTPClient, if set, gives its Transport and its Timeout; its cookies and its redirect policy are not used, and it is
	// never changed. A *http.Transport is cloned and the copy hardened: TLS 1.2 or later, HTTP/1.1 only, no compression,
	// bounded headers. Settings that are zero get defaults: 128 idle connections to the host (MaxIdleConnsPerHost), and one
	// second to wait for the server's leave to send (ExpectContinueTimeout). MaxIdleConns is raised if it is lower than the
	// idle connections to one host, WriteBufferSize if it is under 4 KiB. Where the transport dials TLS itself
	// (DialTLSContext), and with any other RoundTripper, the client can enforce neither all this nor that a payment's bytes
	// are sent once: it must not send a request again, and it must not log requests.
	HTTPClient *http.Client
	// AttemptTimeout bounds one attempt from connecting to the last byte of the response; zero means the Timeout of
	// HTTPClient, or 30 s. If both are set, the shorter counts.
	AttemptTimeout time.Duration
	// Retry bounds how often a call is tried.
	Retry RetryPolicy
	// Limiter, if set, is waited for before every attempt. A *rate.Limiter of golang.org/x/time/rate fits.
	Limiter Limiter
	// Location is the zone of the gateway's wall-clock texts; nil means DefaultLocation. With a wrong one searches and
	// walks look at other hours than they were asked for, and rows are missed without an error: compare the
	// TransactionAt of a payment with the time at which it was made.
	Location *time.Location
	// Logger, if set, gets one line per call, without URLs, bodies or secrets: at warn level where the outcome is unknown,
	// refused or a conflict, at info level otherwise. Each attempt, and each query of a walk or of Resolve, has one at
	// debug level.
	Logger *slog.Logger
	// Observe, if set, is called when a call that has been checked begins, and what it returns when the call ends: a
	// place for spans and metrics. Resolve and a walk are calls of their own; the queries that they make are observed
	// too. The context that it returns is used for the call. It may return nil for either.
	Observe func(context.Context, Operation) (context.Context, func(CallInfo))
	// ObserveAttempt, if set, is called after each attempt of a call, with the context that Observe returned.
	ObserveAttempt func(context.Context, AttemptInfo)
	// KeepResponses keeps each response, masked, with the result and in the error: see RawResponse. It costs memory, and
	// what is kept is personal data: for a merchant who has to show a gateway's support what it said.
	KeepResponses bool
	// InsecureHTTP allows plain http to any host, and a transport that does not verify certificates. For tests only.
	InsecureHTTP bool
	// AnyDecimals allows amounts with more decimals than their currency has by ISO 4217, such as 12.50 JPY or 1.234 USD.
	// Trailing zeros are always allowed. Currencies that are not in ISO 4217 are not checked.
	AnyDecimals bool
	// CheckAppID makes the client reject what states another appId than AppID: a response to a payment, a row that Resolve
	// finds, and what GetTransaction returns, by which notifications are confirmed. Set it where the same credentials
	// serve several apps, since a search then shows the rows of all of them. The interface does not show whether a response
	// repeats the appId; one that states none passes. Orders and Refunds give the rows of all apps.
	CheckAppID bool
	// PaymentIdleTimeout is how long a connection may have been idle to be used for a payment, unless the transport's
	// own IdleConnTimeout is shorter; zero means 3 s, negative means a new connection for each payment. A server that
	// closes an idle connection just as a payment is written to it is the commonest cause of a needless unknown
	// outcome.
	PaymentIdleTimeout time.Duration
	// ExpectContinue asks the server with "Expect: 100-continue" before a payment's body is sent. Where the server
	// supports it, more failures are proved to be "not sent"; where it does not, each payment waits up to the
	// transport's ExpectContinueTimeout longer, one second by default.
	ExpectContinue bool
}

// RetryPolicy bounds how often one call is tried. Queries are repeated after a transport failure, an unreadable
// response, HTTP 429 and 5xx. A payment is repeated only after an attempt of which it is proved that nothing was sent,
// and then at most twice.
type RetryPolicy struct {
	MaxAttempts int           // attempts, not retries; zero means 4, one means a single attempt
	MinWait     time.Duration // zero means 200 ms; the pause before the second attempt is random up to this
	MaxWait     time.Duration // zero means 5 s; caps the growing pauses, and Retry-After
}

const (
	defaultAttemptTimeout     = 30 * time.Second
	defaultPaymentIdleTimeout = 3 * time.Second
)

// Limiter delays attempts, for instance to a rate agreed with the gateway.
type Limiter interface{ Wait(context.Context) error }

// Operation names one call. It never carries a URL: the path of a token payment holds the token.
type Operation struct {
	Name          string // the method's name, such as TokenPayment
	Method        string // GET or POST; empty for Resolve and walks, which make queries
	PathTemplate  string // such as /checkout/tokenization/payment/{tokenization}; empty for Resolve and walks
	Payment       bool   // it can move money, or start what does
	TransactionID string // the merchant's: of a payment, or that is searched for; empty otherwise
}

// CallInfo says how a call ended.
type CallInfo struct {
	Attempts   int  // also those that the context, the limiter or the hook ended before anything was sent; zero for Resolve and walks
	HTTPStatus int  // of the last attempt; zero if no response came
	Code       Code // of the response; zero if none
	Outcome    Outcome
	Duration   time.Duration
	Err        error // as returned to the caller; a decline is an error here and a normal event of the day
}

// AttemptInfo says how one attempt of a call ended.
type AttemptInfo struct {
	Operation  Operation
	Number     int  // counted from 1
	HTTPStatus int  // zero if no response came
	Sent       bool // of a payment: it may have reached the gateway
	Duration   time.Duration
	Err        error // why no usable response came; nil if one did
}

// Client calls one gateway as one app. Its methods may be used by any number of goroutines at once.
type Client struct {
	cfg      Config
	base     *url.URL
	payments *transport.Sender
	queries  *transport.Sender
}

// New checks cfg and returns a client. It does no I/O. The error is a *ValidationError that lists every problem.
func New(cfg Config) (*Client, error) {
	var v violations
	base := v.BaseURL("BaseURL", cfg.BaseURL, cfg.InsecureHTTP)
	if v.Require("AppID", cfg.AppID != "", required) {
		v.Digits("AppID", string(cfg.AppID), 1, maxAppID)
		v.AddIf(len(cfg.AppID) > 1 && cfg.AppID[0] == '0', "AppID", RuleFormat, "must not start with 0: it is a JSON number")
	}
	v.AddIf(cfg.AttemptTimeout < 0, "AttemptTimeout", RuleRange, "must not be negative")
	v.AddIf(cfg.Retry.MaxAttempts < 0 || cfg.Retry.MinWait < 0 || cfg.Retry.MaxWait < 0, "Retry", RuleRange, "must not have negative values")
	if given := cfg.HTTPClient; given != nil && given.Timeout > 0 && (cfg.AttemptTimeout == 0 || given.Timeout < cfg.AttemptTimeout) {
		cfg.AttemptTimeout = given.Timeout
	}
	cfg.AttemptTimeout = cmp.Or(cfg.AttemptTimeout, defaultAttemptTimeout)
	cfg.PaymentIdleTimeout = cmp.Or(cfg.PaymentIdleTimeout, defaultPaymentIdleTimeout)
	cfg.Location = cmp.Or(cfg.Location, defaultLocation)
	cfg.Retry = RetryPolicy(retry.Policy(cfg.Retry).WithDefaults())
	var given http.RoundTripper
	if cfg.HTTPClient != nil {
		given = cfg.HTTPClient.Transport
	}
	v.AddIf(transport.SkipsVerification(given) && !cfg.InsecureHTTP, "HTTPClient", RuleFormat, "has a transport that does not verify certificates")
	cfg.HTTPClient = nil // used up; a printer that is given the client does not find the caller's connections
	if err := v.err("New"); err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, base: base}
	c.payments, c.queries = transport.New(given, cfg.PaymentIdleTimeout)
	return c, nil
}

// CloseIdleConnections closes the connections that no call is using, for a program that ends or a test that looks for
// leaks. The client can still be used. It does nothing where Config.HTTPClient has a RoundTripper of another type.
func (c *Client) CloseIdleConnections() {
	c.payments.CloseIdle()
	c.queries.CloseIdle()
}

// WithRetry returns a client that differs from c in its RetryPolicy alone and shares the rest, connections included. As in
// Config, zero values mean the defaults; negative ones do so too.
func (c *Client) WithRetry(p RetryPolicy) *Client {
	policy := retry.Policy{MaxAttempts: max(p.MaxAttempts, 0), MinWait: max(p.MinWait, 0), MaxWait: max(p.MaxWait, 0)}
	other := *c
	other.cfg.Retry = RetryPolicy(policy.WithDefaults())
	return &other
}

// checkedApp returns the app that results may not contradict, or nothing if they may.
func (c *Client) checkedApp() AppID {
	if c.cfg.CheckAppID {
		return c.cfg.AppID
	}
	return ""
}

// BaseURL returns the gateway's address, as Config has it. With AppID it tells the payments of one shop from those of
// another, whose transactionIds may be the same.
func (c *Client) BaseURL() string { return c.base.String() }

// AppID returns the merchant's website app, as Config has it.
func (c *Client) AppID() AppID { return c.cfg.AppID }

// Location returns the zone in which the client reads and writes the gateway's wall-clock texts.
func (c *Client) Location() *time.Location { return c.cfg.Location }

// BasicAuth returns an Authenticate hook for HTTP Basic with the merchant id and the secret key. It is not part of
// the interface: gateways that speak it publish it. Where one of the two is empty, or the id has a colon, which Basic
// cannot carry, nothing is sent and every call returns a *ValidationError: making it again would not help.
func BasicAuth(merchantID, secretKey string) func(*http.Request, []byte) error {
	var v violations
	v.Require("merchantID", merchantID != "", required)
	v.Require("secretKey", secretKey != "", required)
	v.AddIf(strings.Contains(merchantID, ":"), "merchantID", RuleFormat, "must not have a colon")
	invalid := v.err("BasicAuth")
	return func(r *http.Request, _ []byte) error {
		if invalid == nil {
			r.SetBasicAuth(merchantID, secretKey)
		}
		return invalid
	}
}
