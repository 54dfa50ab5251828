package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// notifyingGateway starts a sandbox that asks for credentials, sends notifications, and repeats them soon.
func notifyingGateway(t *testing.T) *sandbox.Server {
	t.Helper()
	noLeak(t)
	server, err := sandbox.Start(sandbox.Options{MerchantID: "m1", SecretKey: secretKey, Notifications: sandbox.Notifications{Scale: 1e-4}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// noLeak fails the test if a goroutine of its own is left when all else of it has ended.
func noLeak(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		goleak.VerifyNone(t, before)
	})
}

// receiver is a program that gets notifications.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

// newReceiver answers with 200, unless answer does so otherwise.
func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	s := &receiver{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.requests, s.bodies = append(s.requests, r), append(s.bodies, body)
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// newHolding is a receiver that says when a notification has arrived, and responds when it is released.
func newHolding(t *testing.T) (s *receiver, arrived chan struct{}, release func()) {
	t.Helper()
	arrived, released := make(chan struct{}, 1), make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	s = newReceiver(t, func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-released
	})
	return s, arrived, release
}

// got returns the bodies that have come.
func (s *receiver) got() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[:len(s.bodies):len(s.bodies)]
}

// listening is a run of listen.
type listening struct {
	url      string
	out, err clienttest.Buffer
	cancel   context.CancelFunc // as Ctrl-C does
	code     chan int
}

// listen starts listen on a free port.
func listen(t *testing.T, env map[string]string, args ...string) *listening {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	l := &listening{cancel: cancel, code: make(chan int, 1)}
	args = append([]string{"listen", "--addr", "127.0.0.1:0"}, args...)
	go func() { l.code <- toolIn(t, ctx, system{out: &l.out, err: &l.err}, env, args...).code }()
	t.Cleanup(func() { l.end(t) })
	l.waitFor(t, "listening on ")
	_, rest, _ := strings.Cut(l.err.String(), "listening on ")
	l.url = strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(",; \n", r) })[0]
	return l
}

// waitFor waits until words were printed on stderr.
func (l *listening) waitFor(t *testing.T, words string) {
	t.Helper()
	eventually(t, func() bool { return strings.Contains(l.err.String(), words) }, "%q: %s %s", words, &l.out, &l.err)
}

// await receives from a channel.
func await[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(20 * time.Second):
		t.Fatalf("not within 20 s: %s", what)
		panic("unreachable")
	}
}

// end interrupts the run, and returns what it has left. It may be called again.
func (l *listening) end(t *testing.T) result {
	t.Helper()
	l.cancel()
	return l.wait(t)
}

// wait waits until the run ends.
func (l *listening) wait(t *testing.T) result {
	t.Helper()
	select {
	case code := <-l.code:
		l.code <- code
		l.cancel()
		r := result{code, l.out.String(), l.err.String()}
		lacks(t, r.out+r.err, secretKey)
		return r
	case <-time.After(30 * time.Second):
		t.Fatal("listen does not end")
		return result{}
	}
}

// post sends a notification, and returns the status and the body of the answer.
func post(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	resp, err := (&http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}).Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(body)
}

// about makes a signed notification of a payment.
func about(t *testing.T, to, key, transactionID, uniqueID string, more ...any) *http.Request {
	t.Helper()
	fields := map[string]any{
		"appId": json.Number("7"), "isTest": true, "code": 100, "transactionType": "Sale", "transactionId": transactionID,
		"uniqueId": uniqueID, "transactionAmount": "12.50", "transactionCurrency": "EUR",
	}
	for i := 0; i < len(more); i += 2 {
		fields[more[i].(string)] = more[i+1]
	}
	r, err := sandbox.NotificationRequest(to, key, fields)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantWords holds a text to words, each a regular expression in which spaces stand for themselves.
func wantWords(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !regexp.MustCompile(w).MatchString(text) {
			t.Errorf("got %s, want in it %q", text, w)
		}
	}
}
