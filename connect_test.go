package cardgateway

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// How connections are made: TLS 1.2 or later, HTTP/1.1 only, nothing compressed, nothing of the caller's changed, and
// connections used again by many callers at once.

// secureServer is a server that speaks TLS and HTTP/2, changed by configure before it starts.
func secureServer(t *testing.T, configure func(*httptest.Server), h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{}
	s.Config.ErrorLog = quietLog
	configure(s)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func pays(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = io.WriteString(w, answerFor(transactionIDIn(body), CodeSuccess, ""))
}

// TestOldTLSIsRefused: before a byte of the request is sent.
func TestOldTLSIsRefused(t *testing.T) {
	for _, tt := range []struct {
		version uint16
		want    string
	}{{tls.VersionTLS10, "not sent"}, {tls.VersionTLS11, "not sent"}, {tls.VersionTLS12, "paid"}, {tls.VersionTLS13, "paid"}} {
		s := secureServer(t, func(s *httptest.Server) { s.TLS.MinVersion, s.TLS.MaxVersion = tt.version, tt.version }, pays)
		lax := s.Client().Transport.(*http.Transport).Clone()
		lax.TLSClientConfig.MinVersion = tls.VersionTLS10
		c := testClient(t, Config{BaseURL: s.URL, HTTPClient: &http.Client{Transport: lax}})
		tx, err := payByToken(t.Context(), c, "t-1")
		if got := outcomeOf(tx, err); got != tt.want {
			t.Errorf("%s: got %q (%v), want %q", tls.VersionName(tt.version), got, err, tt.want)
		}
	}
}

// TestCertificatesAreVerified: an unknown one means that nothing was sent, and New refuses a transport that does not
// look.
func TestCertificatesAreVerified(t *testing.T) {
	s := secureServer(t, func(*httptest.Server) {}, pays)
	if _, err := payByToken(t.Context(), testClient(t, Config{BaseURL: s.URL}), "t-1"); !errors.Is(err, ErrNotSent) {
		t.Errorf("unknown certificate: got %v, want %v", err, ErrNotSent)
	}
	blind := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if _, err := New(Config{BaseURL: s.URL, AppID: "1", HTTPClient: blind}); !slices.Equal(problemsOf(err), []string{"HTTPClient format"}) {
		t.Errorf("a transport that does not verify: got %v", err)
	}
	c := testClient(t, Config{BaseURL: s.URL, HTTPClient: blind, InsecureHTTP: true})
	if tx, err := payByToken(t.Context(), c, "t-1"); outcomeOf(tx, err) != "paid" {
		t.Errorf("the same for tests: got %v", err)
	}
}

// TestRequestsOnTheWire: what every request has, and what it never has, whatever the given transport is set up for.
func TestRequestsOnTheWire(t *testing.T) {
	var requests []*http.Request
	var mu sync.Mutex
	s := secureServer(t, func(*httptest.Server) {}, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests = append(requests, r)
		mu.Unlock()
		pays(w, r)
	})
	prepared := s.Client().Transport.(*http.Transport)
	both := new(http.Protocols)
	both.SetHTTP2(true)
	both.SetHTTP1(true)
	transports := map[string]*http.Transport{
		"the server's own": prepared.Clone(), "forced to HTTP/2": prepared.Clone(), "HTTP/2 by protocols": prepared.Clone(), "NextProtos": prepared.Clone(),
	}
	transports["forced to HTTP/2"].ForceAttemptHTTP2 = true
	transports["HTTP/2 by protocols"].Protocols = both
	transports["NextProtos"].TLSClientConfig.NextProtos = []string{"h2"}
	for name, transport := range transports {
		used := transport.Clone()
		if resp, err := (&http.Client{Transport: used}).Get(s.URL); err != nil || resp.ProtoMajor != 2 {
			t.Fatalf("%s: a plain client does not speak HTTP/2 here: %v", name, err)
		} else {
			_ = resp.Body.Close()
		}
		requests = nil
		c := testClient(t, Config{
			BaseURL: s.URL, HTTPClient: &http.Client{Transport: used}, Authenticate: func(r *http.Request, _ []byte) error {
				r.Header.Set("Idempotency-Key", "1") // with it net/http would send a payment again by itself
				r.Header.Set("X-Idempotency-Key", "1")
				r.GetBody = func() (io.ReadCloser, error) { return http.NoBody, nil }
				return nil
			},
		})
		for _, op := range paymentOps {
			if _, err := op.call(t.Context(), c, "t-1"); err != nil {
				t.Errorf("%s, %s: %v", name, op.name, err)
			}
		}
		_, _ = c.GetTransaction(t.Context(), "1")
		_, _ = c.SearchOrders(t.Context(), OrderQuery{Start: time.Unix(0, 0), End: time.Unix(1, 0)})
		if len(requests) < len(paymentOps)+2 {
			t.Fatalf("%s: %d requests", name, len(requests))
		}
		for _, r := range requests {
			h := r.Header
			if r.ProtoMajor != 1 || h.Get("Accept-Encoding") != "" || h.Get("Accept") != "application/json" || h.Get("User-Agent") != "cardgateway-go/"+Version {
				t.Errorf("%s: %s %s with %v", name, r.Proto, r.Method, h)
			}
			if r.Method == "POST" && (h.Get("Idempotency-Key") != "" || h.Get("X-Idempotency-Key") != "" || h.Get("Content-Type") != "application/json" || r.ContentLength <= 0) {
				t.Errorf("%s: payment with length %d and %v", name, r.ContentLength, h)
			}
		}
		used.CloseIdleConnections()
	}
}

// TestNothingOfTheCallersIsChanged: neither the client nor its transport, once net/http itself has completed it.
func TestNothingOfTheCallersIsChanged(t *testing.T) {
	s := secureServer(t, func(*httptest.Server) {}, pays)
	transport := s.Client().Transport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = 3, time.Minute
	transport.MaxResponseHeaderBytes, transport.DisableCompression = 1<<30, false
	given := &http.Client{Transport: transport, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return errReset }}
	_ = transport.Clone() // completes it
	before := exportedFields(transport)
	clientBefore := *given
	c := testClient(t, Config{BaseURL: s.URL, HTTPClient: given, Retry: RetryPolicy{MaxAttempts: 1}})
	if _, err := payByToken(t.Context(), c, "t-1"); err != nil {
		t.Error(err)
	}
	_, _ = c.GetTransaction(t.Context(), "1")
	if diff := cmp.Diff(before, exportedFields(transport)); diff != "" {
		t.Errorf("transport (-before +after):\n%s", diff)
	}
	if given.Transport != clientBefore.Transport || given.Timeout != clientBefore.Timeout || given.Jar != nil || given.CheckRedirect == nil {
		t.Errorf("client: got %+v, want %+v", given, clientBefore)
	}
}

// exportedFields are a transport's settings as text, with those of its TLS configuration.
func exportedFields(transport *http.Transport) map[string]string {
	fields := map[string]string{}
	for _, v := range []reflect.Value{reflect.ValueOf(transport).Elem(), reflect.ValueOf(transport.TLSClientConfig).Elem()} {
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "TLSClientConfig" {
				fields[v.Type().Name()+"."+f.Name] = fmt.Sprintf("%v", v.Field(i).Interface())
			}
		}
	}
	return fields
}

// TestConnectionsAreUsedAgain: many callers at once need few connections.
func TestConnectionsAreUsedAgain(t *testing.T) {
	leavesNoGoroutine(t)
	callers, each := 64, 50
	if raceDetector {
		each = 10 // it makes TLS slow
	}
	var opened atomic.Int32
	s := secureServer(t, func(s *httptest.Server) {
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
	}, pays)
	c := testClient(t, Config{BaseURL: s.URL, HTTPClient: s.Client(), PaymentIdleTimeout: time.Minute})
	round := func(n int) {
		var all sync.WaitGroup
		for caller := range callers {
			all.Go(func() {
				for i := range n {
					if _, err := payByToken(t.Context(), c, fmt.Sprintf("t-%d-%d", caller, i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	round(1) // as many connections as there are callers, at most
	first := opened.Swap(0)
	round(each)
	perCall := float64(opened.Load()) / float64(callers*each)
	t.Logf("%d callers: %d connections at first, then %d for %d payments: %.4f for each",
		callers, first, opened.Load(), callers*each, perCall)
	if first > int32(callers) || perCall >= 0.1 { // a busy machine hands connections back late
		t.Errorf("got %d connections at first and %.4f for each call afterwards", first, perCall)
	}
	s.CloseClientConnections()
}

func TestNewChecksItsConfig(t *testing.T) {
	for _, base := range []string{
		"https://gateway.example", "https://gateway.example:8443/base/", "https://[2001:db8::1]/x", "http://localhost:8080", "http://LocalHost", "http://127.0.0.1", "http://127.9.9.9:1",
		"http://[::1]:80/base", "https://gateway.example/a%20b", "HTTPS://gateway.example",
	} {
		if _, err := New(Config{BaseURL: base, AppID: "1"}); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
	for _, base := range []string{
		"http://gateway.example", "http://127.0.0.1.example", "http://localhost.example", "http://10.0.0.1", "http://0.0.0.0", "ftp://127.0.0.1", "gateway.example",
		"//gateway.example", "https://", "https:gateway.example", "https://:443", "https:///path", "https://u@gateway.example", "https://u:p@gateway.example",
		"https://gateway.example?a=1", "https://gateway.example#f", "https://gate way.example", "https://gateway.example:port", "https://gateway.example\n", "://",
	} {
		if _, err := New(Config{BaseURL: base, AppID: "1"}); !slices.Contains(problemsOf(err), "BaseURL format") || strings.Contains(fmt.Sprint(err), "u:p") {
			t.Errorf("%q: got %v", base, err)
		}
	}
	good := Config{BaseURL: "https://gateway.example", AppID: "1"}
	for _, tt := range []struct {
		name, want string
		change     func(*Config)
	}{
		{"good", "", func(*Config) {}},
		{"empty", "BaseURL required, AppID required", func(c *Config) { *c = Config{} }},
		{"plain http for tests", "", func(c *Config) { c.BaseURL, c.InsecureHTTP = "http://gateway.example", true }},
		{"AppID of 32 digits", "", func(c *Config) { c.AppID = AppID(strings.Repeat("9", 32)) }},
		{"AppID of 33 digits", "AppID format", func(c *Config) { c.AppID = AppID(strings.Repeat("9", 33)) }},
		{"AppID zero", "", func(c *Config) { c.AppID = "0" }},
		{"AppID with leading zero", "AppID format", func(c *Config) { c.AppID = "01" }},
		{"AppID negative", "AppID format", func(c *Config) { c.AppID = "-1" }},
		{"AppID with a letter", "AppID format", func(c *Config) { c.AppID = "1a" }},
		{"AppID with a space", "AppID format", func(c *Config) { c.AppID = "1 " }},
		{"AppID that is JSON", "AppID format", func(c *Config) { c.AppID = `1,"amount":"1"` }},
		{"AppID in other digits", "AppID format", func(c *Config) { c.AppID = "١" }},
		{"negative times", "AttemptTimeout range, Retry range", func(c *Config) { c.AttemptTimeout, c.Retry.MinWait = -1, -1 }},
		{"negative attempts", "Retry range", func(c *Config) { c.Retry.MaxAttempts = -1 }},
		{"all at once", "BaseURL format, AppID format, AttemptTimeout range, Retry range", func(c *Config) {
			*c = Config{BaseURL: "ftp://x", AppID: "x", AttemptTimeout: -1, Retry: RetryPolicy{MaxWait: -1}}
		}},
	} {
		cfg := good
		tt.change(&cfg)
		c, err := New(cfg)
		if got := strings.Join(problemsOf(err), ", "); got != tt.want || (c == nil) != (tt.want != "") {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestNoGoroutineIsLeft: whatever the call was, once its connections are closed nothing of it remains.
func TestNoGoroutineIsLeft(t *testing.T) {
	leavesNoGoroutine(t)
	var n atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 4 {
		case 0:
			pays(w, r)
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(503)
		case 3:
			<-r.Context().Done()
		}
	})
	c := testClient(t, Config{BaseURL: s.URL, AttemptTimeout: 20 * time.Millisecond})
	for i := range 40 {
		_, _ = paymentOps[i%len(paymentOps)].call(t.Context(), c, "t-1")
		_, _ = c.GetTransaction(t.Context(), "1")
	}
	_, _ = c.Resolve(t.Context(), ResolveQuery{TransactionID: "t", Amount: testAmount, Currency: "USD", SentAt: time.Now(), Wait: 1})
}

// TestGivenTimes: what the caller's http.Client and its transport say counts where the Config says nothing, or less.
func TestGivenTimes(t *testing.T) {
	for _, tt := range []struct {
		name                         string
		attempt, client, wantAttempt time.Duration
	}{
		{"neither", 0, 0, 30 * time.Second},
		{"the client's", 0, time.Minute, time.Minute},
		{"the attempt's", time.Minute, 0, time.Minute},
		{"the shorter of both", time.Minute, time.Second, time.Second},
		{"the other shorter", time.Second, time.Minute, time.Second},
	} {
		c := testClient(t, Config{BaseURL: testBase, AttemptTimeout: tt.attempt, HTTPClient: &http.Client{Timeout: tt.client}})
		if got := c.cfg.AttemptTimeout; got != tt.wantAttempt {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.wantAttempt)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, r.RemoteAddr) // unreadable as an answer, which is not the question here
	}))
	defer s.Close()
	for _, tt := range []struct {
		name string
		own  time.Duration
		want bool // the connection is used again
	}{
		{"the transport's is shorter", 20 * time.Millisecond, false},
		{"the transport's is longer", time.Minute, true},
		{"the transport says nothing", 0, true},
	} {
		var reused bool
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
		c := testClient(t, Config{BaseURL: s.URL, HTTPClient: &http.Client{Transport: &http.Transport{IdleConnTimeout: tt.own}}})
		for range 2 {
			_, _ = paymentOps[0].call(httptrace.WithClientTrace(t.Context(), trace), c, "t-1")
			time.Sleep(200 * time.Millisecond)
		}
		if reused != tt.want {
			t.Errorf("%s: used again: got %t, want %t", tt.name, reused, tt.want)
		}
	}
	if _, err := New(Config{BaseURL: testBase, AppID: "1", HTTPClient: &http.Client{Transport: (*http.Transport)(nil)}}); err != nil {
		t.Errorf("a transport that is nil: %v", err)
	}
}
