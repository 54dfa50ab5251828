package cardgateway_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// How a query is repeated, in virtual time: how often, after which pauses, and what makes it stop.

const foundOne = `{"code":100,"uniqueId":"1","transactionId":"t-1"}`

func TestQueryAttempts(t *testing.T) {
	good := gives(200, foundOne)
	tests := []struct {
		name      string
		responses []scripted
		policy    cardgateway.RetryPolicy
		attempts  int
		status    int
		err       error
	}{
		{"good at once", []scripted{good}, cardgateway.RetryPolicy{}, 1, 200, nil},
		{"reset, then good", []scripted{resets, good}, cardgateway.RetryPolicy{}, 2, 200, nil},
		{"reset for ever", []scripted{resets}, cardgateway.RetryPolicy{}, 4, 0, errReset},
		{"reset, no second attempt", []scripted{resets}, cardgateway.RetryPolicy{MaxAttempts: 1}, 1, 0, errReset},
		{"reset, seven attempts", []scripted{resets}, cardgateway.RetryPolicy{MaxAttempts: 7}, 7, 0, errReset},
		{"429, then good", []scripted{gives(429, ""), good}, cardgateway.RetryPolicy{}, 2, 200, nil},
		{"503 three times, then good", []scripted{gives(503, ""), gives(500, "<html>"), gives(599, "{}"), good}, cardgateway.RetryPolicy{}, 4, 200, nil},
		{"503 for ever with code 404", []scripted{gives(503, `{"code":404}`)}, cardgateway.RetryPolicy{}, 4, 503, cardgateway.ErrQueryFailed},
		{"503 for ever", []scripted{gives(503, `{"code":999,"message":"busy"}`)}, cardgateway.RetryPolicy{}, 4, 503, cardgateway.ErrQueryFailed},
		{"unreadable, then good", []scripted{gives(200, "<html>"), gives(200, ""), gives(200, foundOne[:20]), good}, cardgateway.RetryPolicy{}, 4, 200, nil},
		{"unreadable for ever", []scripted{gives(200, "<html>")}, cardgateway.RetryPolicy{}, 4, 200, cardgateway.ErrNotObject},
		{
			"the last failure counts", []scripted{resets, gives(200, "{"), gives(503, ""), gives(502, "")}, cardgateway.RetryPolicy{}, 4, 502,
			cardgateway.ErrQueryFailed,
		},
		{"a reset after a response counts", []scripted{gives(503, ""), resets}, cardgateway.RetryPolicy{MaxAttempts: 2}, 2, 0, errReset},
		{"400", []scripted{gives(400, `{"code":400}`), good}, cardgateway.RetryPolicy{}, 1, 400, cardgateway.ErrQueryFailed},
		{"401", []scripted{gives(401, ""), good}, cardgateway.RetryPolicy{}, 1, 401, cardgateway.ErrQueryFailed},
		{"404 with a page", []scripted{gives(404, "<html>"), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"404 without a body", []scripted{gives(404, ""), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrNotFound},
		{
			"404 of another program", []scripted{gives(404, `{"status":404,"error":"Not Found","path":"/search/order/1"}`), good}, cardgateway.RetryPolicy{},
			1, 404, cardgateway.ErrQueryFailed,
		},
		{"404 cut short", []scripted{gives(404, `{"code":404`), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"404 twice", []scripted{gives(404, `{"code":404}`), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrNotFound},
		{"404 with another code", []scripted{gives(404, `{"code":500}`), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"404 of another server", []scripted{gives(404, "404 page not found\n"), good}, cardgateway.RetryPolicy{}, 1, 404, cardgateway.ErrQueryFailed},
		{"code 404", []scripted{gives(200, `{"code":404}`), good}, cardgateway.RetryPolicy{}, 1, 200, cardgateway.ErrNotFound},
		{
			"code 404 with the id", []scripted{gives(200, `{"code":404,"uniqueId":"1","message":"no"}`), good}, cardgateway.RetryPolicy{}, 1, 200,
			cardgateway.ErrNotFound,
		},
		{"code 999 with the id", []scripted{gives(200, `{"code":999,"uniqueId":"1"}`), good}, cardgateway.RetryPolicy{}, 1, 200, cardgateway.ErrQueryFailed},
		{"a transaction with code 400", []scripted{gives(200, `{"code":400,"uniqueId":"1","transactionId":"t-1"}`), good}, cardgateway.RetryPolicy{}, 1, 200, nil},
		{"408", []scripted{gives(408, ""), good}, cardgateway.RetryPolicy{}, 1, 408, cardgateway.ErrQueryFailed},
		{"302", []scripted{gives(302, ""), good}, cardgateway.RetryPolicy{}, 1, 302, cardgateway.ErrQueryFailed},
		{"201", []scripted{gives(201, foundOne), good}, cardgateway.RetryPolicy{}, 1, 201, cardgateway.ErrQueryFailed},
		{"nothing", []scripted{gives(200, `{}`), good}, cardgateway.RetryPolicy{}, 1, 200, verdict.ErrNobodys},
		{"code 100 without an id", []scripted{gives(200, `{"code":100}`), good}, cardgateway.RetryPolicy{}, 1, 200, verdict.ErrNobodys},
		{"code 101 without an id", []scripted{gives(200, `{"code":101}`), good}, cardgateway.RetryPolicy{}, 1, 200, cardgateway.ErrQueryFailed},
		{"another transaction", []scripted{gives(200, `{"code":100,"uniqueId":"2"}`), good}, cardgateway.RetryPolicy{}, 1, 200, verdict.ErrNotOurs},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := script{responses: tt.responses}
				var info cardgateway.CallInfo
				c := s.client(t,
					cardgateway.Config{Retry: tt.policy, Observe: func(ctx context.Context, _ cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
						return ctx, func(i cardgateway.CallInfo) { info = i }
					}})
				_, err := c.GetTransaction(t.Context(), "1")
				if !errors.Is(err, tt.err) || errors.Is(err, cardgateway.ErrNotFound) != (tt.err == cardgateway.ErrNotFound) {
					t.Errorf("got %v, want %v", err, tt.err)
				}
				if info.Err != err {
					t.Errorf("observed %v, returned %v", info.Err, err)
				}
				if failed, ok := errors.AsType[*cardgateway.QueryError](err); ok && failed.Code != info.Code {
					t.Errorf("observed code %v, returned %v", info.Code, failed.Code)
				}
				if failed, ok := errors.AsType[*cardgateway.QueryError](err); ok && failed.HTTPStatus != tt.status {
					t.Errorf("HTTPStatus: got %d, want %d", failed.HTTPStatus, tt.status)
				}
				if len(s.times()) != tt.attempts || info.Attempts != tt.attempts || info.HTTPStatus != tt.status {
					t.Errorf("attempts: got %d, observed %d with status %d, want %d and %d", len(s.times()), info.Attempts, info.HTTPStatus, tt.attempts, tt.status)
				}
			})
		})
	}
}

// TestFullJitter: each pause is anything between nothing and a bound that doubles up to MaxWait.
func TestFullJitter(t *testing.T) {
	const calls = 300
	bounds := []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, time.Second, time.Second}
	shortest, longest := make([]time.Duration, len(bounds)), make([]time.Duration, len(bounds))
	for range calls {
		synctest.Test(t, func(t *testing.T) {
			s := script{responses: []scripted{resets}}
			_, _ = s.client(t, cardgateway.Config{Retry: cardgateway.RetryPolicy{MaxAttempts: 6, MaxWait: time.Second}}).GetTransaction(t.Context(), "1")
			asked := s.times()
			for i := range bounds {
				pause := asked[i+1].Sub(asked[i])
				longest[i] = max(longest[i], pause)
				if shortest[i] == 0 || pause < shortest[i] {
					shortest[i] = pause
				}
			}
		})
	}
	for i, bound := range bounds {
		if longest[i] > bound || longest[i] < bound*9/10 || shortest[i] > bound/10 {
			t.Errorf("pause %d: from %v to %v in %d calls, want from nothing to %v", i+1, shortest[i], longest[i], calls, bound)
		}
	}
}

func TestRetryAfterIsCapped(t *testing.T) {
	for _, header := range []string{"3600", "9223372037", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		synctest.Test(t, func(t *testing.T) {
			s := script{responses: []scripted{gives(429, "", header)}}
			begun := time.Now()
			_, err := s.client(t, cardgateway.Config{Retry: cardgateway.RetryPolicy{MaxAttempts: 3}}).GetTransaction(t.Context(), "1")
			if took := time.Since(begun); took != 10*time.Second {
				t.Errorf("%s: three attempts took %v, want two pauses of MaxWait", header, took)
			}
			if failed, ok := errors.AsType[*cardgateway.QueryError](err); !ok || failed.RetryAfter != 5*time.Second {
				t.Errorf("%s: got %+v", header, err)
			}
		})
	}
}

// TestQueryStops: no attempt and no pause begins for which the context leaves no time.
func TestQueryStops(t *testing.T) {
	tests := []struct {
		name      string
		responses []scripted
		timeout   time.Duration // of the caller's context
		cancel    time.Duration
		took      time.Duration
		asked     int
		err       error
		status    int
	}{
		{"deadline before the pause ends", []scripted{gives(503, "", "3")}, 2 * time.Second, 0, 0, 1, cardgateway.ErrQueryFailed, 503},
		{"deadline with the pause's end", []scripted{gives(503, "", "3")}, 3 * time.Second, 0, 0, 1, cardgateway.ErrQueryFailed, 503},
		{"room for one more", []scripted{gives(503, "", "3")}, 4 * time.Second, 0, 3 * time.Second, 2, cardgateway.ErrQueryFailed, 503},
		{"cancelled in a pause", []scripted{gives(503, "", "5")}, 0, time.Second, time.Second, 1, context.Canceled, 503},
		{"cancelled in an attempt", []scripted{hangs}, 0, time.Second, time.Second, 1, context.Canceled, 0},
		{"deadline in an attempt", []scripted{hangs}, time.Second, 0, time.Second, 1, context.DeadlineExceeded, 0},
		{"over before it begins", []scripted{gives(200, foundOne)}, -1, 0, 0, 0, context.DeadlineExceeded, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.timeout != 0 {
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
					defer cancel()
				}
				if tt.cancel != 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				s := script{responses: tt.responses}
				begun := time.Now()
				_, err := s.client(t, cardgateway.Config{}).GetTransaction(ctx, "1")
				if took := time.Since(begun); took != tt.took || len(s.times()) != tt.asked || !errors.Is(err, tt.err) {
					t.Errorf("got %v after %v and %d attempts, want %v after %v and %d", err, took, len(s.times()), tt.err, tt.took, tt.asked)
				}
				if failed, ok := errors.AsType[*cardgateway.QueryError](err); !ok || failed.HTTPStatus != tt.status {
					t.Errorf("got %+v, want a QueryError with the last status, %d", err, tt.status)
				}
			})
		})
	}
}

// TestAttemptTimeout: an attempt that hangs is ended and repeated; the caller's own context has not ended.
func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := script{responses: []scripted{hangs, hangs, gives(200, foundOne)}}
		c := s.client(t, cardgateway.Config{AttemptTimeout: 7 * time.Second})
		begun := time.Now()
		if _, err := c.GetTransaction(t.Context(), "1"); err != nil || len(s.times()) != 3 {
			t.Errorf("got %v after %d attempts", err, len(s.times()))
		}
		if took := time.Since(begun); took < 14*time.Second || took > 15*time.Second {
			t.Errorf("took %v", took)
		}
		s2 := script{responses: []scripted{hangs}}
		_, err := s2.client(t, cardgateway.Config{AttemptTimeout: 7 * time.Second}).GetTransaction(t.Context(), "1")
		var timeout net.Error
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &timeout) && !strings.Contains(err.Error(), "within 7s") {
			t.Errorf("got %v", err)
		}
	})
}

// TestNotFoundUnread: a response that could not be read does not mean that there is no such transaction.
func TestNotFoundUnread(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: clienttest.BaseURL, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
		HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := clienttest.Respond(r, 404, "packed")
			resp.Header.Set("Content-Encoding", "gzip")
			return resp, err
		})},
	})
	_, err := c.GetTransaction(t.Context(), "1")
	if errors.Is(err, cardgateway.ErrNotFound) || !errors.Is(err, cardgateway.ErrQueryFailed) || !strings.Contains(err.Error(), "compressed") {
		t.Errorf("got %v", err)
	}
}
