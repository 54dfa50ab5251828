package transport

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// scripted is a connection with scripted reads that records whether it was closed.
type scripted struct {
	net.Conn
	gives  string
	closed bool
}

func (s *scripted) Read(p []byte) (int, error) {
	n := copy(p, s.gives)
	s.gives = s.gives[n:]
	return n, nil
}

func (s *scripted) Write(p []byte) (int, error) { return len(p), nil }
func (s *scripted) Close() error                { s.closed = true; return nil }

// tunnel is a connection on top of another one.
type tunnel struct{ net.Conn }

func (t tunnel) NetConn() net.Conn { return t.Conn }

// TestConnWatch: the first byte of a response must have come after the request was written.
func TestConnWatch(t *testing.T) {
	const head = "POST /x HTTP/1.1\r\nHost: pay.example\r\n\r\n"
	read := func(text string) func(c *holdConn, s *scripted) {
		return func(c *holdConn, s *scripted) {
			s.gives = text
			_, _ = io.ReadFull(c, make([]byte, len(text)))
		}
	}
	write := func(text string) func(c *holdConn, s *scripted) {
		return func(c *holdConn, _ *scripted) { _, _ = io.WriteString(c, text) }
	}
	body := func(c *holdConn, _ *scripted) { _, _ = c.ReadFrom(strings.NewReader("{}")) }
	type steps = []func(c *holdConn, s *scripted)
	for _, tt := range []struct {
		name        string
		before      steps // on the connection, before it is lent
		since       steps // up to the first byte of the response
		unsolicited bool
	}{
		{"query", nil, steps{write("GET / HTTP/1.1\r\n\r\n"), read("H")}, false},
		{"payment", nil, steps{write(head), body, read("H")}, false},
		{"payment that asks for leave", nil, steps{write(strings.Replace(head, "Host", "Expect: 100-continue\r\nHost", 1)), read("H"), body, read("H")}, false},
		{"second request", steps{write("GET / HTTP/1.1\r\n\r\n"), read("HTTP/1.1 200")}, steps{write("GET / HTTP/1.1\r\n\r\n"), read("H")}, false},
		{"in several writes", nil, steps{write("POST / "), read("H"), write("{}")}, false},
		{
			"there before the connection was lent", steps{write("GET / HTTP/1.1\r\n\r\n"), read("HTTP/1.1 200HTTP/1.1 200")},
			steps{write("GET / HTTP/1.1\r\n\r\n")}, true,
		},
		{"there before, and nothing written yet", steps{write("GET / HTTP/1.1\r\n\r\n"), read("HTTP/1.1 200HTTP/1.1 200")}, nil, true},
		{"come before anything was written", steps{write("GET / HTTP/1.1\r\n\r\n"), read("HTTP/1.1 200")}, steps{read("H")}, true},
		{"come before, and then written", steps{write("GET / HTTP/1.1\r\n\r\n"), read("HTTP/1.1 200")}, steps{read("H"), write("GET / HTTP/1.1\r\n\r\n")}, true},
		{"come while a payment's head waited", nil, steps{write(head), read("H")}, true},
		{"come while a payment's head waited, and then written", nil, steps{write(head), read("H"), body}, true},
		{"on a new connection, before anything was written", nil, steps{read("H")}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, tunnelled := range []bool{false, true} {
				s := new(scripted)
				c := newHoldConn(s)
				for _, step := range tt.before {
					step(c, s)
				}
				var lent net.Conn = c
				if tunnelled {
					lent = tunnel{c}
				}
				var w connWatch
				trace := httptrace.ContextClientTrace(w.context(t.Context(), &w.trace))
				trace.GotConn(httptrace.GotConnInfo{Conn: lent, Reused: len(tt.before) > 0})
				for _, step := range tt.since {
					step(c, s)
				}
				trace.GotFirstResponseByte()
				if got := w.unsolicited.Load(); got != tt.unsolicited || s.closed != tt.unsolicited {
					t.Errorf("%s, through a tunnel %t: unsolicited: got %t, want %t; closed: %t", tt.name, tunnelled, got, tt.unsolicited, s.closed)
				}
			}
		})
	}
	var w connWatch // nothing is known about a connection that is not ours
	w.gotConn(httptrace.GotConnInfo{Conn: new(scripted)})
	if w.gotFirstResponseByte(); w.unsolicited.Load() {
		t.Error("a connection of a foreign transport is judged")
	}
}

// TestByteOfGivenUpConnection: net/http gives up a connection that is being read, and repeats the request over another one. What is read from
// the first one meanwhile is not believed, and nothing happens to the other when the exchange has ended.
func TestByteOfGivenUpConnection(t *testing.T) {
	first, second := new(scripted), new(scripted)
	var w connWatch
	w.gotConn(httptrace.GotConnInfo{Conn: newHoldConn(first)})
	var reader sync.WaitGroup
	reader.Go(w.gotFirstResponseByte)
	w.gotConn(httptrace.GotConnInfo{Conn: newHoldConn(second)})
	reader.Wait()
	if !w.unsolicited.Load() || first.closed == second.closed {
		t.Errorf("unsolicited %t, closed: the first %t, the second %t", w.unsolicited.Load(), first.closed, second.closed)
	}

	kept := new(scripted)
	x := NewExchange(t.Context(), http.MethodGet, endpoint, nil)
	sender, _ := New(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, io.EOF }}, time.Minute)
	x.watch.gotConn(httptrace.GotConnInfo{Conn: newHoldConn(kept)})
	sender.Do(x, 100, new(Buffer))
	if x.watch.gotFirstResponseByte(); kept.closed {
		t.Error("a connection is closed after the exchange")
	}
}

// TestUnsolicitedResponse: a response that arrives on a kept connection before the next request is written is not used as
// its response. The exchange fails, the connection is closed, and the next exchange uses a new one.
func TestUnsolicitedResponse(t *testing.T) {
	for _, tt := range []struct {
		name     string
		payment  bool
		replaced bool // a hook gives the request the caller's own context
	}{
		{name: "query"},
		{name: "query with another context", replaced: true},
		{name: "payment", payment: true},
		{name: "payment with another context", payment: true, replaced: true},
	} {
		t.Run(tt.name, func(t *testing.T) { testUnsolicited(t, tt.payment, tt.replaced) })
	}
}

func testUnsolicited(t *testing.T, payment, replaced bool) {
	const stale = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale"
	release := make(chan struct{})
	var servers sync.WaitGroup
	var dialled, ended atomic.Int32
	serve := func(conn net.Conn, first bool) {
		defer ended.Add(1)
		defer func() { _ = conn.Close() }()
		in := bufio.NewReader(conn)
		if !respondOnce(conn, in) {
			return
		}
		if first {
			<-release
			_, _ = io.WriteString(conn, stale)
		}
		for respondOnce(conn, in) {
		}
	}
	given := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		first := dialled.Add(1) == 1
		servers.Go(func() { serve(server, first) })
		return client, nil
	}}
	payments, queries := New(given, time.Minute)
	sender, method := queries, http.MethodGet
	var payload []byte
	if payment {
		sender, method, payload = payments, http.MethodPost, []byte("{}")
	}
	exchange := func(ctx context.Context) Response {
		x := NewExchange(ctx, method, endpoint, payload)
		if replaced {
			*x.Request = *x.Request.WithContext(ctx)
		}
		var buffer Buffer
		defer buffer.Release()
		r := sender.Do(x, 100, &buffer)
		r.Body = append([]byte(nil), r.Body...)
		return r
	}
	if r := exchange(t.Context()); r.Err != nil || string(r.Body) != "right" {
		t.Fatalf("first exchange: got %q, %v", r.Body, r.Err)
	}
	arrived := make(chan struct{})
	var once, onceArrived sync.Once
	r := exchange(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		WroteHeaderField: func(string, []string) { // net/http has the head in memory, and has not passed it to the connection
			once.Do(func() {
				close(release)
				select {
				case <-arrived:
				case <-time.After(30 * time.Second):
					t.Error("net/http has not seen the response that came too early")
				}
			})
		},
		GotFirstResponseByte: func() { onceArrived.Do(func() { close(arrived) }) },
	}))
	if !errors.Is(r.Err, errUnsolicited) || len(r.Body) != 0 || r.Status != 0 || r.Header != nil {
		t.Errorf("got HTTP %d, %q, %v, want %v and nothing of the response", r.Status, r.Body, r.Err, errUnsolicited)
	}
	if payment && !r.Unsent {
		t.Errorf("a payment whose connection was closed before its body: unsent: got %t", r.Unsent)
	}
	if r := exchange(t.Context()); r.Err != nil || string(r.Body) != "right" || dialled.Load() != 2 {
		t.Errorf("after it: got %q, %v over %d connections, want %q over 2", r.Body, r.Err, dialled.Load(), "right")
	}
	sender.CloseIdle()
	servers.Wait()
	if ended.Load() != 2 {
		t.Errorf("%d connections have ended, want both", ended.Load())
	}
}

// respondOnce reads a request and responds to it.
func respondOnce(conn net.Conn, in *bufio.Reader) bool {
	r, err := http.ReadRequest(in)
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return false
	}
	_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright")
	return err == nil
}
