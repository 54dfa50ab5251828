package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
)

// How a query is repeated, in virtual time: how often, after which pauses, and what makes it stop.

// script is a gateway that gives one answer after the other, the last one for ever, and notes when it was asked.
type script struct {
	answers []scripted

	mu    sync.Mutex // a mock answers in a goroutine of its own where a context may end
	asked []time.Time
}

func (s *script) times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *script) client(t *testing.T, cfg Config) *Client {
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
		s.mu.Lock()
		n := min(len(s.asked), len(s.answers)-1)
		s.asked = append(s.asked, time.Now())
		s.mu.Unlock()
		return s.answers[n](r)
	})
	cfg.BaseURL, cfg.AppID, cfg.HTTPClient = testBase, "1", &http.Client{Transport: mock}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type scripted = func(r *http.Request) (*http.Response, error)

// gives answers with a status, a body and an optional Retry-After.
func gives(status int, body string, retryAfter ...string) scripted {
	return func(*http.Request) (*http.Response, error) {
		resp := httpmock.NewStringResponse(status, body)
		for _, text := range retryAfter {
			resp.Header.Set("Retry-After", text)
		}
		return resp, nil
	}
}

var errReset = errors.New("connection reset")

func resets(*http.Request) (*http.Response, error) { return nil, errReset }

// hangs answers when the attempt is given up.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

const foundOne = `{"code":100,"uniqueId":"1","transactionId":"t-1"}`

func TestQueryAttempts(t *testing.T) {
	good := gives(200, foundOne)
	tests := []struct {
		name     string
		answers  []scripted
		policy   RetryPolicy
		attempts int
		status   int
		err      error
	}{
		{"good at once", []scripted{good}, RetryPolicy{}, 1, 200, nil},
		{"reset, then good", []scripted{resets, good}, RetryPolicy{}, 2, 200, nil},
		{"reset for ever", []scripted{resets}, RetryPolicy{}, 4, 0, errReset},
		{"reset, no second attempt", []scripted{resets}, RetryPolicy{MaxAttempts: 1}, 1, 0, errReset},
		{"reset, seven attempts", []scripted{resets}, RetryPolicy{MaxAttempts: 7}, 7, 0, errReset},
		{"429, then good", []scripted{gives(429, ""), good}, RetryPolicy{}, 2, 200, nil},
		{"503 three times, then good", []scripted{gives(503, ""), gives(500, "<html>"), gives(599, "{}"), good}, RetryPolicy{}, 4, 200, nil},
		{"503 for ever with code 404", []scripted{gives(503, `{"code":404}`)}, RetryPolicy{}, 4, 503, ErrQueryFailed},
		{"503 for ever", []scripted{gives(503, `{"code":999,"message":"busy"}`)}, RetryPolicy{}, 4, 503, ErrQueryFailed},
		{"unreadable, then good", []scripted{gives(200, "<html>"), gives(200, ""), gives(200, foundOne[:20]), good}, RetryPolicy{}, 4, 200, nil},
		{"unreadable for ever", []scripted{gives(200, "<html>")}, RetryPolicy{}, 4, 200, errNotObject},
		{"the last failure counts", []scripted{resets, gives(200, "{"), gives(503, ""), gives(502, "")}, RetryPolicy{}, 4, 502, ErrQueryFailed},
		{"a reset after an answer counts", []scripted{gives(503, ""), resets}, RetryPolicy{MaxAttempts: 2}, 2, 0, errReset},
		{"400", []scripted{gives(400, `{"code":400}`), good}, RetryPolicy{}, 1, 400, ErrQueryFailed},
		{"401", []scripted{gives(401, ""), good}, RetryPolicy{}, 1, 401, ErrQueryFailed},
		{"404 with a page", []scripted{gives(404, "<html>"), good}, RetryPolicy{}, 1, 404, ErrQueryFailed},
		{"404 without a body", []scripted{gives(404, ""), good}, RetryPolicy{}, 1, 404, ErrNotFound},
		{"404 of another program", []scripted{gives(404, `{"status":404,"error":"Not Found","path":"/search/order/1"}`), good}, RetryPolicy{}, 1, 404, ErrQueryFailed},
		{"404 cut short", []scripted{gives(404, `{"code":404`), good}, RetryPolicy{}, 1, 404, ErrQueryFailed},
		{"404 twice", []scripted{gives(404, `{"code":404}`), good}, RetryPolicy{}, 1, 404, ErrNotFound},
		{"404 with another code", []scripted{gives(404, `{"code":500}`), good}, RetryPolicy{}, 1, 404, ErrQueryFailed},
		{"404 of another server", []scripted{gives(404, "404 page not found\n"), good}, RetryPolicy{}, 1, 404, ErrQueryFailed},
		{"code 404", []scripted{gives(200, `{"code":404}`), good}, RetryPolicy{}, 1, 200, ErrNotFound},
		{"code 404 with the id", []scripted{gives(200, `{"code":404,"uniqueId":"1","message":"no"}`), good}, RetryPolicy{}, 1, 200, ErrNotFound},
		{"code 999 with the id", []scripted{gives(200, `{"code":999,"uniqueId":"1"}`), good}, RetryPolicy{}, 1, 200, ErrQueryFailed},
		{"a transaction with code 400", []scripted{gives(200, `{"code":400,"uniqueId":"1","transactionId":"t-1"}`), good}, RetryPolicy{}, 1, 200, nil},
		{"408", []scripted{gives(408, ""), good}, RetryPolicy{}, 1, 408, ErrQueryFailed},
		{"302", []scripted{gives(302, ""), good}, RetryPolicy{}, 1, 302, ErrQueryFailed},
		{"201", []scripted{gives(201, foundOne), good}, RetryPolicy{}, 1, 201, ErrQueryFailed},
		{"another transaction", []scripted{gives(200, `{"code":100,"uniqueId":"2"}`), good}, RetryPolicy{}, 1, 200, errNotOurs},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := script{answers: tt.answers}
				var info CallInfo
				c := s.client(t, Config{Retry: tt.policy, Observe: func(ctx context.Context, _ Operation) (context.Context, func(CallInfo)) {
					return ctx, func(i CallInfo) { info = i }
				}})
				_, err := c.GetTransaction(t.Context(), "1")
				if !errors.Is(err, tt.err) || errors.Is(err, ErrNotFound) != (tt.err == ErrNotFound) {
					t.Errorf("got %v, want %v", err, tt.err)
				}
				if info.Err != err {
					t.Errorf("observed %v, returned %v", info.Err, err)
				}
				if failed, ok := errors.AsType[*QueryError](err); ok && failed.Code != info.Code {
					t.Errorf("observed code %v, returned %v", info.Code, failed.Code)
				}
				if failed, ok := errors.AsType[*QueryError](err); ok && failed.HTTPStatus != tt.status {
					t.Errorf("HTTPStatus: got %d, want %d", failed.HTTPStatus, tt.status)
				}
				if len(s.times()) != tt.attempts || info.Attempts != tt.attempts || info.HTTPStatus != tt.status {
					t.Errorf("attempts: got %d, observed %d with status %d, want %d and %d", len(s.times()), info.Attempts, info.HTTPStatus, tt.attempts, tt.status)
				}
			})
		})
	}
}

// TestSearchObserved: what is observed of a search is what its caller gets.
func TestSearchObserved(t *testing.T) {
	const envelope = `"currPage":1,"pageSize":10,"totalCount":1,"totalPage":1,"data":`
	for _, tt := range []struct {
		name, answer string
		code         Code
		rows         int // of the page, -1 without one
		err          error
	}{
		{"rows", `{"code":121,` + envelope + `[{"code":100,"uniqueId":"1"}]}`, CodeSearchSuccess, 1, nil},
		{"a row that cannot be read", `{"code":121,` + envelope + `[{"code":100,"transactionAmount":"x"}]}`, CodeSearchSuccess, 0, ErrQueryFailed},
		{"refused", `{"code":122,"message":"no"}`, CodeSearchFailed, -1, ErrQueryFailed},
		{"unreadable", `[]`, 0, -1, ErrQueryFailed},
		{"no rows", `{"code":121,"totalCount":0}`, CodeSearchSuccess, 0, nil},
		{"a total page of nothing", `{"code":121,"totalPage":0,"data":null}`, CodeSearchSuccess, 0, nil},
		{"a total page of three", `{"code":121,"totalPage":3,"data":null}`, CodeSearchSuccess, -1, ErrQueryFailed},
		{"a total that is null", `{"code":121,"totalCount":null}`, CodeSearchSuccess, -1, ErrQueryFailed},
		{"neither a total nor rows", `{"code":121,"result":{"totalCount":1}}`, CodeSearchSuccess, -1, ErrQueryFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := script{answers: []scripted{gives(200, tt.answer)}}
			var info CallInfo
			c := s.client(t, Config{Retry: RetryPolicy{MaxAttempts: 1}, Observe: func(ctx context.Context, _ Operation) (context.Context, func(CallInfo)) {
				return ctx, func(i CallInfo) { info = i }
			}})
			end := time.Now()
			page, err := c.SearchOrders(t.Context(), OrderQuery{Start: end.Add(-time.Hour), End: end})
			if info.Err != err || !errors.Is(err, tt.err) || info.Code != tt.code {
				t.Errorf("observed %v with code %v, returned %v, want %v and %v", info.Err, info.Code, err, tt.err, tt.code)
			}
			rows := -1
			if page != nil {
				rows = len(page.Data)
			}
			if rows != tt.rows {
				t.Errorf("got %d rows, want %d", rows, tt.rows)
			}
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
			s := script{answers: []scripted{resets}}
			_, _ = s.client(t, Config{Retry: RetryPolicy{MaxAttempts: 6, MaxWait: time.Second}}).GetTransaction(t.Context(), "1")
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
			s := script{answers: []scripted{gives(429, "", header)}}
			begun := time.Now()
			_, err := s.client(t, Config{Retry: RetryPolicy{MaxAttempts: 3}}).GetTransaction(t.Context(), "1")
			if took := time.Since(begun); took != 10*time.Second {
				t.Errorf("%s: three attempts took %v, want two pauses of MaxWait", header, took)
			}
			if failed, ok := errors.AsType[*QueryError](err); !ok || failed.RetryAfter != 5*time.Second {
				t.Errorf("%s: got %+v", header, err)
			}
		})
	}
}

// TestQueryStops: no attempt is begun, and no pause is made, that the context does not leave room for.
func TestQueryStops(t *testing.T) {
	tests := []struct {
		name    string
		answers []scripted
		timeout time.Duration // of the caller's context
		cancel  time.Duration
		took    time.Duration
		asked   int
		err     error
		status  int
	}{
		{"deadline before the pause ends", []scripted{gives(503, "", "3")}, 2 * time.Second, 0, 0, 1, ErrQueryFailed, 503},
		{"deadline with the pause's end", []scripted{gives(503, "", "3")}, 3 * time.Second, 0, 0, 1, ErrQueryFailed, 503},
		{"room for one more", []scripted{gives(503, "", "3")}, 4 * time.Second, 0, 3 * time.Second, 2, ErrQueryFailed, 503},
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
				s := script{answers: tt.answers}
				begun := time.Now()
				_, err := s.client(t, Config{}).GetTransaction(ctx, "1")
				if took := time.Since(begun); took != tt.took || len(s.times()) != tt.asked || !errors.Is(err, tt.err) {
					t.Errorf("got %v after %v and %d attempts, want %v after %v and %d", err, took, len(s.times()), tt.err, tt.took, tt.asked)
				}
				if failed, ok := errors.AsType[*QueryError](err); !ok || failed.HTTPStatus != tt.status {
					t.Errorf("got %+v, want a QueryError with the last status, %d", err, tt.status)
				}
			})
		})
	}
}

// TestAttemptTimeout: an attempt that hangs is given up and repeated; the caller's own context is not over.
func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := script{answers: []scripted{hangs, hangs, gives(200, foundOne)}}
		c := s.client(t, Config{AttemptTimeout: 7 * time.Second})
		begun := time.Now()
		if _, err := c.GetTransaction(t.Context(), "1"); err != nil || len(s.times()) != 3 {
			t.Errorf("got %v after %d attempts", err, len(s.times()))
		}
		if took := time.Since(begun); took < 14*time.Second || took > 15*time.Second {
			t.Errorf("took %v", took)
		}
		s2 := script{answers: []scripted{hangs}}
		_, err := s2.client(t, Config{AttemptTimeout: 7 * time.Second}).GetTransaction(t.Context(), "1")
		var timeout net.Error
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &timeout) && !strings.Contains(err.Error(), "within 7s") {
			t.Errorf("got %v", err)
		}
	})
}

// limiter counts, and refuses once it has let enough through.
type limiter struct{ waits, letThrough int }

var errLimited = errors.New("over the limit")

func (l *limiter) Wait(context.Context) error {
	if l.waits++; l.waits > l.letThrough {
		return errLimited
	}
	time.Sleep(time.Second)
	return nil
}

func TestLimiterAndHook(t *testing.T) {
	tests := []struct {
		name         string
		letThrough   int
		answers      []scripted
		waits, asked int
		err          error
	}{
		{"waited for before each attempt", 10, []scripted{resets, resets, gives(200, foundOne)}, 3, 3, nil},
		{"refuses the third attempt", 2, []scripted{resets}, 3, 2, errLimited},
		{"refuses at once", 0, []scripted{resets}, 1, 0, errLimited},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			s, l := script{answers: tt.answers}, limiter{letThrough: tt.letThrough}
			_, err := s.client(t, Config{Limiter: &l}).GetTransaction(t.Context(), "1")
			if !errors.Is(err, tt.err) || l.waits != tt.waits || len(s.times()) != tt.asked {
				t.Errorf("limiter, %s: got %v after %d waits and %d attempts", tt.name, err, l.waits, len(s.times()))
			}
		})
	}
	s, l := script{answers: []scripted{resets}}, limiter{}
	if _, err := payByToken(t.Context(), s.client(t, Config{Limiter: &l}), "t-1"); !errors.Is(err, ErrNotSent) || !errors.Is(err, errLimited) || l.waits != 1 {
		t.Errorf("a payment that the limiter refuses: got %v after %d waits", err, l.waits)
	}
	hooked := 0
	c := s.client(t, Config{Authenticate: func(*http.Request, []byte) error { hooked++; return errReset }})
	_, err := c.GetTransaction(t.Context(), "1")
	_, payErr := payByToken(t.Context(), c, "t-1")
	if !errors.Is(err, errReset) || !errors.Is(payErr, ErrNotSent) || !SafeToRetry(payErr) || hooked != 2 || len(s.times()) != 0 {
		t.Errorf("a hook that refuses: got %v and %v after %d calls of it and %d attempts", err, payErr, hooked, len(s.times()))
	}
	for _, basic := range []func(*http.Request, []byte) error{BasicAuth("", testSecretKey), BasicAuth(testMerchant, ""), BasicAuth("a:b", testSecretKey)} {
		_, err := payByToken(t.Context(), s.client(t, Config{Authenticate: basic}), "t-1")
		if !errors.Is(err, ErrNotSent) || strings.Contains(err.Error(), testSecretKey) || len(s.times()) != 0 {
			t.Errorf("BasicAuth that cannot be right: got %v after %d attempts", err, len(s.times()))
		}
	}
}

// TestUnsentPaymentsAreRepeated: twice at most, after pauses, and never once a body may have been read.
func TestUnsentPaymentsAreRepeated(t *testing.T) {
	reads := func(r *http.Request) (*http.Response, error) {
		_, _ = r.Body.Read(make([]byte, 1))
		return nil, errReset
	}
	paid := func(r *http.Request) (*http.Response, error) {
		return respond(r, 200, answerFor("t-1", CodeSuccess, ""))
	}
	for _, tt := range []struct {
		name    string
		answers []scripted
		policy  RetryPolicy
		asked   int
		outcome string
	}{
		{"not sent, then paid", []scripted{resets, paid}, RetryPolicy{}, 2, "paid"},
		{"not sent twice, then paid", []scripted{resets, resets, paid}, RetryPolicy{MaxAttempts: 9}, 3, "paid"},
		{"never sent", []scripted{resets}, RetryPolicy{MaxAttempts: 9}, 3, "not sent"},
		{"never sent, one attempt", []scripted{resets}, RetryPolicy{MaxAttempts: 1}, 1, "not sent"},
		{"one byte read", []scripted{reads, paid}, RetryPolicy{}, 1, "unknown"},
		{"not sent, then one byte read", []scripted{resets, reads, paid}, RetryPolicy{}, 2, "unknown"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := script{answers: tt.answers}
			tx, err := payByToken(t.Context(), s.client(t, Config{Retry: tt.policy}), "t-1")
			if got := outcomeOf(tx, err); got != tt.outcome || len(s.times()) != tt.asked {
				t.Errorf("%s: got %q (%v) after %d attempts, want %q after %d", tt.name, got, err, len(s.times()), tt.outcome, tt.asked)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // the pause between them ends with the context
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := script{answers: []scripted{resets}}
		_, err := payByToken(ctx, s.client(t, Config{Retry: RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour}}), "t-1")
		if !errors.Is(err, ErrNotSent) || ctx.Err() != nil && len(s.times()) != 1 {
			t.Errorf("got %v after %d attempts", err, len(s.times()))
		}
	})
}

// TestNotFoundUnread: an answer of which nothing could be read does not say that there is no such transaction.
func TestNotFoundUnread(t *testing.T) {
	c := testClient(t, Config{
		BaseURL: testBase, Retry: RetryPolicy{MaxAttempts: 1},
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := respond(r, 404, "packed")
			resp.Header.Set("Content-Encoding", "gzip")
			return resp, err
		})},
	})
	_, err := c.GetTransaction(t.Context(), "1")
	if errors.Is(err, ErrNotFound) || !errors.Is(err, ErrQueryFailed) || !strings.Contains(err.Error(), "compressed") {
		t.Errorf("got %v", err)
	}
}

// TestRefundNames: the interface's name for the merchant's refund id comes before the published one, unless it says
// nothing.
func TestRefundNames(t *testing.T) {
	for _, tt := range []struct{ names, want string }{
		{`"merchantRefundId":"own","refundTransactionId":"other"`, "own"},
		{`"refundTransactionId":"other","merchantRefundId":"own"`, "own"},
		{`"merchantRefundId":"own","refundTransactionId":[1]`, "own"},
		{`"merchantRefundId":null,"refundTransactionId":"other"`, "other"},
		{`"refundTransactionId":"other"`, "other"},
	} {
		s := script{answers: []scripted{gives(200, `{"code":121,"totalCount":1,"data":[{"code":111,`+tt.names+`}]}`)}}
		end := time.Now()
		page, err := s.client(t, Config{}).SearchRefunds(t.Context(), RefundQuery{Start: end.Add(-time.Hour), End: end})
		if err != nil || len(page.Data) != 1 || page.Data[0].MerchantRefundID != tt.want {
			t.Errorf("%s: got %+v, %v, want %q", tt.names, page, err, tt.want)
		}
	}
}

// TestPagesOfOtherSizes: a page may have more rows than were asked for, but not more than any page can have.
func TestPagesOfOtherSizes(t *testing.T) {
	for _, tt := range []struct {
		given int
		ok    bool
	}{{0, true}, {10, true}, {50, true}, {maxPageSize, true}, {maxPageSize + 1, false}, {20_000, false}} {
		all := strings.TrimSuffix(strings.Repeat(`{"code":100},`, tt.given), ",")
		s := script{answers: []scripted{gives(200, fmt.Sprintf(`{"code":121,"totalCount":%d,"pageSize":%d,"data":[%s]}`, tt.given, tt.given, all))}}
		c := s.client(t, Config{Retry: RetryPolicy{MaxAttempts: 1}})
		page, err := c.SearchOrders(t.Context(), OrderQuery{Start: time.Unix(0, 0), End: time.Unix(1, 0), PageSize: 10})
		switch {
		case !tt.ok:
			if err == nil || !strings.Contains(err.Error(), "more than 999 rows") {
				t.Errorf("%d rows: got %v", tt.given, err)
			}
		case err != nil || len(page.Data) != tt.given:
			t.Errorf("%d rows: got %v, %v", tt.given, page, err)
		}
	}
}

// TestMisdirected: an answer that is none of the gateway's says where to look.
func TestMisdirected(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		hint   bool
	}{
		{404, "404 page not found", true}, {405, "", true}, {301, "", true}, {302, "<html>", true},
		{404, `{"code":500}`, false}, {404, `{"message":"no such app"}`, false}, {401, "", false}, {429, "", false}, {400, `{"code":400,"message":"no"}`, false},
	} {
		s := script{answers: []scripted{gives(tt.status, tt.body)}}
		c := s.client(t, Config{Retry: RetryPolicy{MaxAttempts: 1}})
		_, payErr := payByToken(t.Context(), c, "t-1")
		_, queryErr := c.SearchOrders(t.Context(), OrderQuery{Start: time.Unix(0, 0), End: time.Unix(1, 0)})
		for _, err := range []error{payErr, queryErr} {
			if strings.Contains(err.Error(), "is Config.BaseURL right?") != tt.hint {
				t.Errorf("HTTP %d with %q: got %v", tt.status, tt.body, err)
			}
		}
	}
	s := script{answers: []scripted{gives(404, "")}}
	if _, err := s.client(t, Config{}).GetTransaction(t.Context(), "1"); strings.Contains(err.Error(), "BaseURL") {
		t.Errorf("no such transaction: got %v", err)
	}
}
