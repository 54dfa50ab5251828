package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestListenRefuses: what is not signed, or not confirmed, is shown with the reason and not forwarded.
func TestListenRefuses(t *testing.T) {
	server := notifyingGateway(t)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	withBody := func(to, body string) *http.Request {
		r := about(t, to, "", "t-1", id)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		return r
	}
	for _, test := range []struct {
		name    string
		make    func(to string) *http.Request
		gateway string // another one
		status  int
		want    string
	}{
		{"unsigned", func(to string) *http.Request { return about(t, to, "", "t-1", id) }, "", 403,
			`-> payment +t-1  \[n-1\]  SIGNATURE REFUSED: the notification is not signed`},
		{"signed by another", func(to string) *http.Request { return about(t, to, "other", "t-1", id) }, "", 403,
			`SIGNATURE REFUSED: the notification's signature does not match`},
		{"unknown to the gateway", func(to string) *http.Request { return about(t, to, secretKey, "t-9", "999") }, "", 503,
			`-> payment +t-9  \[n-1\]  NOT CONFIRMED: the gateway does not know it: GetTransaction "999": HTTP 200, code 404, "not found: uniqueId: unknown"\n`},
		{"another transaction", func(to string) *http.Request { return about(t, to, secretKey, "t-9", id) }, "", 409,
			`NOT CONFIRMED: the notification names another transactionId than the gateway`},
		{"no gateway", func(to string) *http.Request { return about(t, to, secretKey, "t-1", id) }, "http://127.0.0.1:1", 503,
			`NOT CONFIRMED: the gateway cannot be reached`},
		{"not JSON", func(to string) *http.Request { return withBody(to, "{") }, "", 400,
			`-> unknown  \[n-1\]  NOT A NOTIFICATION: the notification `},
		{"too long", func(to string) *http.Request { return withBody(to, strings.Repeat(" ", 200<<10)) }, "", 413, `NOT A NOTIFICATION: the notification has more than 64 KiB`},
	} {
		t.Run(test.name, func(t *testing.T) {
			shop := newReceiver(t, nil)
			env := environment(server.URL)
			if test.gateway != "" {
				env = environment(test.gateway)
			}
			l := listen(t, env, "--forward-to", shop.URL)
			if status, _ := post(t, test.make(l.url+"/")); status != test.status {
				t.Errorf("got %d, want %d", status, test.status)
			}
			r := l.end(t)
			r.want(t, exit.Negative, "received 1: forwarded 0, failed 0, refused 1, not forwarded 0")
			wantWords(t, r.out, test.want, fmt.Sprintf(`<- %d in \d+ ms +by cardgateway  \[n-1\]  not forwarded`, test.status))
			if len(shop.got()) != 0 {
				t.Errorf("got it forwarded: %q", shop.got())
			}
		})
	}
}

// TestListenHolds: what is not forwarded comes again, unless --ack takes it.
func TestListenHolds(t *testing.T) {
	server := notifyingGateway(t)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	shop := newReceiver(t, nil)
	for _, test := range []struct {
		name      string
		args      []string
		key       string
		status    int
		forwarded int
		want      string
	}{
		{"no program", nil, secretKey, 503, 0, `<- 503 in \d+ ms +by cardgateway  \[n-1\]  not forwarded`},
		{"no program, --ack", []string{"--ack"}, secretKey, 200, 0, `<- 200 in`},
		{"unsigned, --skip-verify", []string{"--forward-to", shop.URL, "--skip-verify"}, "", 200, 1, "signature not checked, confirmed by query"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(shop.got())
			l := listen(t, environment(server.URL), test.args...)
			if status, _ := post(t, about(t, l.url, test.key, "t-1", id)); status != test.status {
				t.Errorf("got %d, want %d", status, test.status)
			}
			r := l.end(t)
			r.want(t, exit.OK, "received 1: ")
			wantWords(t, r.out, test.want)
			if got := len(shop.got()) - before; got != test.forwarded {
				t.Errorf("got %d forwarded, want %d", got, test.forwarded)
			}
		})
	}
	t.Run("each time", func(t *testing.T) {
		l := listen(t, environment(server.URL))
		for range 2 {
			if status, _ := post(t, about(t, l.url, secretKey, "t-1", id)); status != http.StatusServiceUnavailable {
				t.Errorf("got %d, want 503", status)
			}
		}
		l.end(t).want(t, exit.OK, "received 2: forwarded 0, failed 0, refused 0, not forwarded 2")
	})
	t.Run("another amount", func(t *testing.T) {
		l := listen(t, environment(server.URL), "--ack")
		post(t, about(t, l.url, secretKey, "t-1", id, "transactionAmount", "99.00"))
		wantWords(t, l.end(t).out, `t-1  12.50 EUR  \[n-1\]  signature good, confirmed by query, CLAIMS 99.00 EUR`)
	})
}
