package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// Operation names one call. It never carries a URL: the path of a token payment holds the token.
type Operation struct {
	Name          string // the method's name, such as TokenPayment
	Method        string // GET or POST
	PathTemplate  string // such as /checkout/tokenization/payment/{tokenization}
	Payment       bool   // it can move money, or start what does
	TransactionID string // the merchant's, for a payment
}

// Bounds on what is read of an answer.
const (
	maxPaymentAnswer = 1 << 20
	maxQueryAnswer   = 8 << 20 // a page of 999 rows takes some 650 kB
	maxAnswerHeader  = 64 << 10
)

// outgoing is one call made ready: encoded once, sent by as many attempts as the retry decision allows.
type outgoing struct {
	op          Operation
	url         url.URL
	body        []byte
	limit       int64   // of the answer's body
	secrets     needles // of this call, which no error and no text of the gateway may hold
	credentials needles // that the hook has set, which neither may hold
	room        *[]byte // answerMemory, once an answer has come
}

// reply is what one attempt observed: facts, no decisions.
type reply struct {
	status     int
	code       Code // of the answer, once it has been read
	body       []byte
	unsent     bool  // not a byte of the request's body was read, and none can be any more
	refusedBy  error // set if this side refused: the context, the limiter or the hook
	err        error // transport or read failure
	retryAfter time.Duration
}

// failure is the reason why no usable answer came, or nil.
func (r *reply) failure() error {
	if r.refusedBy != nil {
		return r.refusedBy
	}
	return r.err
}

// attempt sends the call exactly once and reads the whole answer. It is the n-th attempt of its call.
func (c *Client) attempt(ctx context.Context, out *outgoing, n int) reply {
	begun := time.Now()
	r := c.send(ctx, out)
	r.retryAfter = min(r.retryAfter, c.cfg.Retry.MaxWait)
	c.log(ctx, &out.op, n, &r, begun)
	return r
}

func (c *Client) send(ctx context.Context, out *outgoing) (r reply) {
	if err := ctx.Err(); err != nil {
		return reply{unsent: true, refusedBy: err}
	}
	if c.cfg.Limiter != nil {
		if err := c.cfg.Limiter.Wait(ctx); err != nil {
			return reply{unsent: true, refusedBy: out.clean(err)}
		}
	}
	inTime, cancel := context.WithTimeout(ctx, c.cfg.AttemptTimeout)
	defer cancel()
	req, body, err := c.request(inTime, out)
	if err != nil {
		return reply{unsent: true, refusedBy: out.clean(err)}
	}
	send := c.queries
	if out.op.Payment {
		send = c.payments
	}
	resp, err := send(req)
	switch {
	case err == nil && resp == nil:
		err = errors.New("the transport gave neither an answer nor an error")
	case err == nil:
		r = out.readReply(resp)
		err = r.err
	}
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		err = &timeoutError{c.cfg.AttemptTimeout}
	}
	r.err = out.cleanAnswer(err)
	r.unsent = body.seal()
	return r
}

// request builds a fresh request. The hook sees it complete but for the body, which comes as bytes: reading it from
// the request would break the seal.
func (c *Client) request(ctx context.Context, out *outgoing) (*http.Request, *sealedBody, error) {
	target := out.url // a copy: the hook may sign it
	req := (&http.Request{
		Method: out.op.Method, URL: &target, Host: target.Host, Header: make(http.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	req.Header["Accept"] = contentJSON
	req.Header["User-Agent"] = userAgent
	body := &sealedBody{rest: out.body}
	if out.body != nil {
		req.Header["Content-Type"] = contentJSON
		req.ContentLength = int64(len(out.body))
		if c.cfg.ExpectContinue && out.op.Payment {
			req.Header["Expect"] = expectContinue
		}
	}
	if c.cfg.Authenticate != nil {
		err := c.cfg.Authenticate(req, out.body)
		out.hide(req.Header)
		if err != nil {
			return nil, nil, fmt.Errorf("the Authenticate hook refused: %w", err)
		}
	}
	// After the hook, so that nothing it did can let the transport send a payment again.
	req.Body, req.GetBody, req.ContentLength, req.TransferEncoding = nil, nil, 0, nil
	if out.body != nil {
		req.Body, req.ContentLength = body, int64(len(out.body))
	}
	if out.op.Payment && c.cfg.Authenticate != nil {
		req.Header.Del("Idempotency-Key")
		req.Header.Del("X-Idempotency-Key")
	}
	return req, body, nil
}

// Values of headers that are the same in every request. The transport only reads them.
var (
	contentJSON    = []string{"application/json"}
	userAgent      = []string{"cardgateway-go/" + Version}
	expectContinue = []string{"100-continue"}
)

// readReply reads the answer's body up to the limit; one byte more is an error, never a silent cut.
func (out *outgoing) readReply(resp *http.Response) reply {
	defer func() { _ = resp.Body.Close() }() // everything wanted has been read
	r := reply{status: resp.StatusCode}
	if text := resp.Header.Get("Retry-After"); text != "" {
		r.retryAfter = retry.ParseRetryAfter(text, time.Now())
	}
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body is the bare connection, which no timeout ends
		r.err = errors.New("the answer switches protocols")
		return r
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		r.err = errors.New("the answer is compressed, which was not asked for")
		return r
	}
	if resp.ContentLength > out.limit {
		r.err = errTooLarge
		return r
	}
	if out.room == nil {
		out.room = answerMemory.Get().(*[]byte)
	}
	r.body, r.err = readBounded(*out.room, resp.Body, resp.ContentLength, out.limit)
	if r.err == nil {
		*out.room = r.body
	}
	return r
}

// answerMemory keeps the memory of answers that have been read: a page is large, and nothing that is read points into
// it.
var answerMemory = sync.Pool{New: func() any { return new([]byte) }}

// release gives back the memory of the last answer, once nobody looks at it any more.
func (out *outgoing) release() {
	if out.room != nil {
		answerMemory.Put(out.room)
	}
}

var errTooLarge = errors.New("the answer is too large")

// readBounded reads the body into data, in place of what is there, or into new memory if it is too small.
func readBounded(data []byte, body io.Reader, announced, limit int64) ([]byte, error) {
	size := announced
	if size < 0 {
		size = 4096
	}
	data = slices.Grow(data[:0], int(size)+1) // room for the read that finds the end
	for {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
	}
}

// sealedBody is a request body that can be read through once, and that seal closes for good. The seal is the proof
// of "not sent": if it wins against the first read, no transport can ever make the request whole.
type sealedBody struct {
	mu     sync.Mutex
	rest   []byte
	begun  bool
	sealed bool
}

var errSealed = errors.New("cardgateway: the request was given up")

func (b *sealedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		return 0, errSealed
	}
	b.begun = true
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *sealedBody) Close() error { return nil }

// seal bars every later read and reports whether there was none before. After it the bytes may be overwritten.
func (b *sealedBody) seal() (unread bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed, b.rest = true, nil
	return !b.begun
}

// timeoutError says that one attempt took longer than Config.AttemptTimeout.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no whole answer within %v", e.limit) }

// Timeout makes it a net.Error's timeout for callers that ask so.
func (e *timeoutError) Timeout() bool { return true }

// Is follows net/http, whose timeouts are context.DeadlineExceeded too.
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// log writes the attempt's one line.
func (c *Client) log(ctx context.Context, op *Operation, n int, r *reply, begun time.Time) {
	if c.cfg.Logger == nil || !c.cfg.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", op.Name), slog.String("method", op.Method), slog.String("path", op.PathTemplate),
		slog.Int("attempt", n), slog.Duration("duration", time.Since(begun)),
	}
	if op.TransactionID != "" {
		attrs = append(attrs, slog.String("transactionId", op.TransactionID))
	}
	if r.status != 0 {
		attrs = append(attrs, slog.Int("status", r.status))
	}
	if err := r.failure(); err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
		if op.Payment { // of a query, which has no body to seal, unsent says nothing
			attrs = append(attrs, slog.Bool("sent", !r.unsent))
		}
	}
	c.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "cardgateway attempt", attrs...)
}
