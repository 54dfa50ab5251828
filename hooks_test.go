package cardgateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// What hooks, transports and bodies do: a call ends once whatever they do, and their errors are not outcomes.

// faultyBody panics, or never comes to an end.
type faultyBody struct {
	read  func([]byte) (int, error)
	close func() error
}

func (b faultyBody) Read(p []byte) (int, error) { return b.read(p) }
func (b faultyBody) Close() error               { return b.close() }

func nothing() error { return nil }

// response returns a response with a faulty body, after it has read the request.
func (b faultyBody) response(r *http.Request) (*http.Response, error) {
	resp, err := clienttest.Respond(r, 200, "")
	resp.Body, resp.ContentLength = b, -1
	return resp, err
}

// TestPanics: whatever panics, or ends its goroutine, a call has one line in the log and one observation, which say what is known.
func TestPanics(t *testing.T) {
	answer := func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return clienttest.Respond(r, 200, foundOne)
		}
		return clienttest.Respond(r, 200, clienttest.ResponseFor("t-1", 100, ""))
	}
	for _, stops := range []struct {
		name string
		stop func()
	}{{"panics", func() { panic("of a hook") }}, {"ends the goroutine", runtime.Goexit}} {
		stop := stops.stop
		for _, tt := range []struct {
			name    string
			cfg     cardgateway.Config
			respond clienttest.Scripted
			outcome cardgateway.Outcome // of the payment
			line    bool                // the line of the call is the one that panics
		}{
			{name: "Limiter", cfg: cardgateway.Config{Limiter: limiterFunc(func(context.Context) error { stop(); return nil })}, outcome: "not_sent"},
			{name: "Authenticate", cfg: cardgateway.Config{Authenticate: func(*http.Request, []byte) error { stop(); return nil }}, outcome: "not_sent"},
			{name: "ObserveAttempt", cfg: cardgateway.Config{ObserveAttempt: func(context.Context, cardgateway.AttemptInfo) { stop() }}, outcome: "approved"},
			{name: "RoundTripper at once", respond: func(*http.Request) (*http.Response, error) { stop(); return nil, nil }, outcome: "not_sent"},
			{name: "RoundTripper that has sent", respond: func(r *http.Request) (*http.Response, error) {
				resp, err := answer(r)
				stop()
				return resp, err
			}, outcome: "outcome_unknown"},
			{name: "body", respond: faultyBody{func([]byte) (int, error) { stop(); return 0, io.EOF }, nothing}.response, outcome: "outcome_unknown"},
			{name: "closed body", respond: faultyBody{func([]byte) (int, error) { return 0, io.EOF }, func() error { stop(); return nil }}.response, outcome: "outcome_unknown"},
			{name: "Observe", cfg: cardgateway.Config{Observe: func(context.Context, cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
				stop()
				return nil, nil
			}}, outcome: "not_sent"},
			{name: "the line of the attempt", outcome: "approved"},
			{name: "the line of the call", outcome: "approved", line: true},
		} {
			t.Run(tt.name+" "+stops.name, func(t *testing.T) {
				for _, call := range []struct {
					name    string
					outcome cardgateway.Outcome
					do      func(context.Context, *cardgateway.Client)
				}{
					{"TokenPayment", tt.outcome, func(ctx context.Context, c *cardgateway.Client) { _, _ = clienttest.PayByToken(ctx, c, "t-1") }},
					{"GetTransaction", "query_failed", func(ctx context.Context, c *cardgateway.Client) { _, _ = c.GetTransaction(ctx, "1") }},
					{"CreateRefund", "", func(ctx context.Context, c *cardgateway.Client) {
						_, _ = c.CreateRefund(ctx, clienttest.RefundRequest())
					}},
					{"Resolve", "outcome_unknown", func(ctx context.Context, c *cardgateway.Client) { _, _ = c.Resolve(ctx, paymentSentNow()) }},
				} {
					cfg, lines, ends := tt.cfg, map[string]int{}, map[string][]cardgateway.Outcome{}
					cfg.Logger = slog.New(lineFunc(func(r slog.Record) {
						op, isCall := "", r.Message == "cardgateway call"
						r.Attrs(func(a slog.Attr) bool { op = a.Value.String(); return false })
						if isCall {
							lines[op]++
						}
						if tt.name == "the line of the attempt" && !isCall || tt.line && isCall {
							stop()
						}
					}))
					observe := cfg.Observe
					cfg.Observe = func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
						if observe != nil {
							observe(ctx, op)
						}
						return ctx, func(i cardgateway.CallInfo) { ends[op.Name] = append(ends[op.Name], i.Outcome) }
					}
					s := clienttest.Script{Responses: []clienttest.Scripted{answer}}
					if tt.respond != nil {
						s.Responses[0] = tt.respond
					}
					c, ended := s.Client(t, cfg), make(chan bool)
					go func() {
						defer close(ended)
						defer func() { _ = recover() }()
						call.do(t.Context(), c)
						t.Errorf("%s returned", call.name)
					}()
					<-ended
					want := []cardgateway.Outcome{call.outcome}
					got := ends[call.name]
					if observe != nil {
						want = nil // it has not said how to end
					} else if call.outcome == "" || tt.line && call.name != "TokenPayment" {
						want = got // how it ends is not the subject
					}
					if lines[call.name] != 1 || !slices.Equal(got, want) || observe == nil && len(got) != 1 {
						t.Errorf("%s: got %d lines and the ends %v, want one line and %v", call.name, lines[call.name], got, want)
					}
				}
			})
		}
	}
}

// lineFunc is a log.
type lineFunc func(slog.Record)

func (lineFunc) Enabled(context.Context, slog.Level) bool             { return true }
func (f lineFunc) Handle(_ context.Context, record slog.Record) error { f(record); return nil }
func (f lineFunc) WithAttrs([]slog.Attr) slog.Handler                 { return f }
func (f lineFunc) WithGroup(string) slog.Handler                      { return f }

// everyError says of each error that it matches, and is found as.
type everyError struct{ err error }

func (everyError) Error() string     { return "every" }
func (everyError) Is(error) bool     { return true }
func (e everyError) As(any) bool     { return true }
func (e everyError) Unwrap() []error { return []error{io.EOF, e.err} }

// TestForeignErrors: what a hook or a transport returns is no outcome, whichever outcome of another call it holds, and however it does.
func TestForeignErrors(t *testing.T) {
	outcomes := []error{
		&cardgateway.DeclinedError{TransactionID: "t-a"}, &cardgateway.RefundDeclinedError{}, &cardgateway.RefusedError{}, &cardgateway.ConflictError{},
		&cardgateway.RefundConflictError{}, &cardgateway.OutcomeUnknownError{TransactionID: "t-a", Cause: io.EOF}, &cardgateway.RefundUnknownError{Cause: io.EOF},
		&cardgateway.NotSentError{Cause: io.EOF}, &cardgateway.QueryError{}, &cardgateway.QueryError{Cause: cardgateway.ErrNotFound},
		&cardgateway.ValidationError{}, &cardgateway.UnsettledError{}, cardgateway.ErrDeclined, cardgateway.ErrWalked,
	}
	for _, outcome := range outcomes {
		for form, err := range map[string]error{
			"itself": outcome, "wrapped": fmt.Errorf("vault: %w", outcome), "joined": errors.Join(errLimited, outcome), "every": everyError{outcome},
		} {
			for hook, cfg := range map[string]cardgateway.Config{
				"Limiter":      {Limiter: limiterFunc(func(context.Context) error { return err })},
				"Authenticate": {Authenticate: func(*http.Request, []byte) error { return err }},
				"unsent":       {},
				"sent":         {},
			} {
				t.Run(fmt.Sprintf("%s, %T %s", hook, outcome, form), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := clienttest.Script{Responses: []clienttest.Scripted{func(r *http.Request) (*http.Response, error) {
							if hook == "sent" && r.Body != nil {
								_, _ = io.Copy(io.Discard, r.Body)
							}
							return nil, err
						}}}
						c, want := s.Client(t, cfg), cardgateway.ErrNotSent
						if hook == "sent" {
							want = cardgateway.ErrOutcomeUnknown
						}
						_, payErr := clienttest.PayByToken(t.Context(), c, "t-b")
						_, queryErr := c.GetTransaction(t.Context(), "1")
						for got, want := range map[error]error{payErr: want, queryErr: cardgateway.ErrQueryFailed} {
							clienttest.CheckOneSentinel(t, got)
							if !errors.Is(got, want) || errors.Is(got, outcome) || cardgateway.SafeToRetry(got) != (want == cardgateway.ErrNotSent) {
								t.Errorf("got %v, want %v and not the other call's", got, want)
							}
							if form == "joined" && !errors.Is(got, errLimited) {
								t.Errorf("%v does not match the hook's own error", got)
							}
						}
						if declined, ok := errors.AsType[*cardgateway.DeclinedError](payErr); ok {
							t.Errorf("errors.As finds %v", declined)
						}
					})
				})
			}
		}
	}
}

// TestFaultyResponses: a body that gives nothing for ever, a response beside an error, and a response to nothing.
func TestFaultyResponses(t *testing.T) {
	closed := 0
	closes := func() error { closed++; return nil }
	for _, tt := range []struct {
		name    string
		respond clienttest.Scripted
		outcome string
		closed  int
	}{
		{"nothing for ever", faultyBody{func([]byte) (int, error) { return 0, nil }, closes}.response, "unknown", 1},
		{"something, then nothing for ever", faultyBody{func() func(p []byte) (int, error) {
			rest := bytes.NewReader([]byte("{"))
			return func(p []byte) (int, error) { n, _ := rest.Read(p); return n, nil }
		}(), closes}.response, "unknown", 1},
		{"beside an error", func(r *http.Request) (*http.Response, error) {
			resp, _ := faultyBody{func([]byte) (int, error) { return 0, io.EOF }, closes}.response(r)
			return resp, clienttest.ErrReset
		}, "unknown", 1},
		{"an approval of nothing", unread(200, clienttest.ResponseFor("t-1", 100, "")), "not sent", 0},
		{"a decline of nothing", unread(200, clienttest.ResponseFor("t-1", 101, "")), "not sent", 0},
		{"text about nothing", unread(200, "hello"), "not sent", 0},
		{"an approval of nothing as a refusal", unread(401, clienttest.ResponseFor("t-1", 100, "")), "not sent", 0},
		{"a failure before it was read", unread(503, ""), "not sent", 0},
		{"a refusal before it was read", unread(401, ""), "refused", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			closed = 0
			s := clienttest.Script{Responses: []clienttest.Scripted{tt.respond}}
			tx, err := clienttest.PayByToken(t.Context(), s.Client(t, cardgateway.Config{}), "t-1")
			if got := clienttest.Outcome(tx, err); got != tt.outcome || closed != tt.closed || len(s.Times()) != 1 {
				t.Errorf("got %s (%v), closed %d times, after %d attempts, want %s and %d", got, err, closed, len(s.Times()), tt.outcome, tt.closed)
			}
		})
	}
}

// unread responds without reading the request.
func unread(status int, body string) clienttest.Scripted {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}
