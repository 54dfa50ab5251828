package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestListen lets a gateway notify a program through listen: it fails at first, and the gateway sends it again.
func TestListen(t *testing.T) {
	server := notifyingGateway(t)
	env := environment(server.URL)
	calls := 0
	shop := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 { // the repetition begins after the first has ended
			http.Error(w, "order not found", http.StatusInternalServerError)
		}
	})
	l := listen(t, env, "--forward-to", shop.URL+"/notify")
	id := payAndNotify(t, server, "t-1", "12.50", sandbox.Approved, l.url+"/").UniqueID
	succeeds(t, server.Flush(t.Context()))
	if _, err := server.Refund(id, "2.50", "r-1"); err != nil {
		t.Fatal(err)
	}
	succeeds(t, server.Flush(t.Context()))
	r := l.end(t)
	r.want(t, exit.Negative, "received 3: forwarded 2, failed 1, refused 0, not forwarded 0")
	wantWords(t, r.out,
		`^\d\d:\d\d:\d\d  -> payment  approved  t-1  12.50 EUR  \[n-1\]  signature good, confirmed by query\n`,
		`  <- 500 in \d+ ms +`+shop.URL+`/notify  \[n-1\]  body: "order not found"\n`,
		`  -> payment  approved  t-1  12.50 EUR  \[n-2\]  signature good, confirmed by query\n`,
		`  <- 200 in \d+ ms +`+shop.URL+`/notify  \[n-2\]\n`,
		`  -> refund   refunded  r-1 of `+id+`  2.50 EUR  \[n-3\]`,
	)
	verify := notify.SignatureSHA256(secretKey)
	for i, body := range shop.got() {
		n, err := notify.Parse(body, shop.requests[i].Header.Get("Content-Type"))
		if err != nil || verify(n) != nil {
			t.Errorf("notification %d: got %v, %v, want what the gateway signed", i, err, n)
		}
	}
	if len(shop.got()) != 3 {
		t.Errorf("got %d notifications, want 3", len(shop.got()))
	}
}

// TestListenForwardsBytes: what was received is forwarded as it is, with headers and query, and so is the answer.
func TestListenForwardsBytes(t *testing.T) {
	server := notifyingGateway(t)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	shop := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("no coffee"))
	})
	l := listen(t, environment(server.URL), "--forward-to", shop.URL+"/notify?shop=eu")
	r := about(t, l.url+"/other/path?bind=AbC%2B1", secretKey, "t-1", id, "billDescription", "Ünï <b>")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	body = append([]byte("\n \t"), bytes.Replace(body, []byte(`":"`), []byte(`" :  "`), -1)...) // as nobody encodes it
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header["X-Odd"] = []string{"one", "two"}
	r.Header.Set("Connection", "X-Hop")
	r.Header.Set("X-Hop", "for this connection alone")
	r.Header.Set("Proxy-Authorization", "for a proxy")
	r.Header.Set("User-Agent", "gateway/1")
	if status, answer := post(t, r); status != http.StatusTeapot || answer != "no coffee" {
		t.Errorf("got %d and %q, want the program's answer", status, answer)
	}
	if got := shop.got(); len(got) != 1 || !bytes.Equal(got[0], body) {
		t.Fatalf("got %q, want %q", got, body)
	}
	got := shop.requests[0]
	if got.URL.Path != "/notify" || got.URL.RawQuery != "shop=eu&bind=AbC%2B1" || got.Host != strings.TrimPrefix(shop.URL, "http://") {
		t.Errorf("got %s %s, want the address with both queries", got.Host, got.URL)
	}
	want := map[string]string{
		"Content-Type": "application/json", "User-Agent": "gateway/1", "X-Odd": "one two", "X-Hop": "", "Proxy-Authorization": "",
		"Content-Length": fmt.Sprint(len(body)), "X-Forwarded-For": "",
	}
	for name, value := range want {
		if got := strings.Join(got.Header.Values(name), " "); got != value {
			t.Errorf("got header %s %q, want %q", name, got, value)
		}
	}
	r = about(t, l.url, secretKey, "t-1", id)
	r.Header["User-Agent"] = nil
	post(t, r)
	if got, sent := shop.requests[1].Header["User-Agent"]; sent {
		t.Errorf("got User-Agent %q, want none", got)
	}
	lacks(t, l.out.String()+l.err.String(), "AbC") // of the query
}

// TestListenAnswers: what the program does wrong is said, and the gateway hears of it.
func TestListenAnswers(t *testing.T) {
	server := notifyingGateway(t)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	closed := httptest.NewServer(nil)
	closed.Close()
	hang := make(chan struct{})
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		to     string
		status int
		want   string
	}{
		{name: "500", answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "a\x1b[31mb\u202e", 500) }, status: 500,
			want: `<- 500 in \d+ ms .*\[n-1\]  body: "a\\\\?x?u?.*31mb\\u202e"`},
		{name: "another 2xx", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, status: 204,
			want: `<- 204 .*only 200 counts as accepted`},
		{name: "a redirect", answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere?a=b", http.StatusFound) }, status: 302,
			want: `<- 302 .*\[n-1\]  to /elsewhere; redirects are not followed`},
		{name: "hangs", answer: func(http.ResponseWriter, *http.Request) { <-hang }, status: 504,
			want: `<- no response in \d+ ms.*no response within 300ms \(--timeout\)`},
		{name: "breaks off", answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("half"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, status: 502, want: `<- no response .*the response, 200, was cut off: unexpected EOF`},
		{name: "hangs up", answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, status: 502,
			want: `<- no response .*the connection was closed without a response`},
		{name: "is too long", answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20+1)) }, status: 502,
			want: `<- no response .*the response, 200, has more than 1 MiB`},
		{name: "no program", to: closed.URL, status: 502, want: `<- no response .*connection refused; is the program running\?`},
	} {
		t.Run(test.name, func(t *testing.T) {
			to := test.to
			var shop *receiver
			if to == "" {
				shop = newReceiver(t, test.answer)
				to = shop.URL
			}
			l := listen(t, environment(server.URL), "--forward-to", to, "--timeout", "300ms")
			if test.name == "hangs" {
				defer close(hang)
			}
			if status, _ := post(t, about(t, l.url, secretKey, "t-1", id)); status != test.status {
				t.Errorf("got %d, want %d", status, test.status)
			}
			r := l.end(t)
			r.want(t, exit.Negative, "received 1: forwarded 0, failed 1")
			wantWords(t, r.out, test.want)
			if strings.ContainsAny(r.out, "\x1b\u202e") {
				t.Errorf("got control characters: %q", r.out)
			}
			if shop != nil && len(shop.got()) != 1 {
				t.Errorf("got %d requests, want one", len(shop.got()))
			}
		})
	}
}

// TestListenAtOnce: of 200 notifications at once none is lost.
func TestListenAtOnce(t *testing.T) {
	server := notifyingGateway(t)
	shop := newReceiver(t, func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) })
	const n = 200
	l := listen(t, environment(server.URL), "--forward-to", shop.URL)
	var requests []*http.Request
	for i := range n {
		id := fmt.Sprintf("t-%03d", i)
		requests = append(requests, about(t, l.url, secretKey, id, pay(t, server, id, "12.50", sandbox.Approved).UniqueID))
	}
	var group sync.WaitGroup
	for _, r := range requests {
		group.Go(func() {
			if status, _ := post(t, r); status != http.StatusOK {
				t.Errorf("got %d, want 200", status)
			}
		})
	}
	group.Wait()
	r := l.end(t)
	r.want(t, exit.OK, "received 200: forwarded 200, failed 0, refused 0, not forwarded 0")
	if got := strings.Count(r.out, "\n"); got != 2*n {
		t.Errorf("got %d lines, want %d", got, 2*n)
	}
	forwardedTo, names := map[string]bool{}, map[string]bool{}
	for _, body := range shop.got() {
		forwardedTo[string(regexp.MustCompile(`"t-\d+"`).Find(body))] = true
	}
	for _, line := range regexp.MustCompile(`-> payment +approved +(t-\d+) .*\[(n-\d+)\]`).FindAllString(r.out, -1) {
		names[line] = true
	}
	if len(forwardedTo) != n || len(names) != n || len(shop.got()) != n {
		t.Errorf("got %d transactions in %d requests, and %d that were printed, want %d", len(forwardedTo), len(shop.got()), len(names), n)
	}
}

// TestListenInterrupted: Ctrl-C finishes what is in flight.
func TestListenInterrupted(t *testing.T) {
	server := notifyingGateway(t)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	shop, arrived, release := newHolding(t)
	l := listen(t, environment(server.URL), "--forward-to", shop.URL)
	t.Cleanup(release) // a failed test must not wait for the receiver
	answered := make(chan int, 1)
	go func() {
		status, _ := post(t, about(t, l.url, secretKey, "t-1", id))
		answered <- status
	}()
	await(t, arrived, "the forwarded notification")
	l.cancel()
	l.waitFor(t, "waiting for requests in flight; press Ctrl-C again to exit at once")
	release()
	if status := await(t, answered, "the response to the gateway"); status != http.StatusOK {
		t.Errorf("got %d, want 200", status)
	}
	l.wait(t).want(t, exit.OK, "received 1: forwarded 1, failed 0")
}

// TestListenHungUp: the gateway closes the connection before the program has responded.
func TestListenHungUp(t *testing.T) {
	server := notifyingGateway(t)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	shop, arrived, release := newHolding(t)
	l := listen(t, environment(server.URL), "--forward-to", shop.URL)
	t.Cleanup(release) // a failed test must not wait for the receiver
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		resp, err := http.DefaultClient.Do(about(t, l.url, secretKey, "t-1", id).WithContext(ctx))
		if err == nil {
			resp.Body.Close()
			t.Error("got an answer")
		}
	}()
	await(t, arrived, "the forwarded notification")
	cancel()
	await(t, gone, "the end of the request")
	time.Sleep(100 * time.Millisecond) // until the server has seen it
	release()
	wantWords(t, l.end(t).out, `<- 200 in \d+ ms .*the gateway closed the connection before the response`)
}
