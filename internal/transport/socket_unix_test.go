//go:build unix

package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// connected returns both sides of a TCP connection.
func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	client, err = net.Dial("tcp", l.Addr().String())
	if err == nil {
		server, err = l.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
	})
	return client, server
}

// eventually waits until pending reports true, because data of the other side take a moment to arrive.
func eventually(t *testing.T, in *input, want bool) bool {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if in.pending() == want {
			return true
		}
	}
	return false
}

func inputOf(conn net.Conn) *input {
	in := new(input)
	in.init(conn)
	return in
}

func TestInput(t *testing.T) {
	if inputOf(struct{ net.Conn }{}).pending() {
		t.Error("no socket: got true")
	}
	client, server := connected(t)
	in := inputOf(client)
	if in.pending() {
		t.Error("a silent socket: got true")
	}
	_, _ = io.WriteString(server, "ab")
	if !eventually(t, in, true) || !in.pending() {
		t.Error("a socket with bytes that wait: got false")
	}
	one := make([]byte, 2)
	if _, err := io.ReadFull(client, one); err != nil || string(one) != "ab" {
		t.Errorf("what waited was taken out: got %q, %v", one, err)
	}
	if in.pending() {
		t.Error("a socket whose bytes have been read: got true")
	}
	_ = server.Close()
	if !eventually(t, in, true) {
		t.Error("a socket that the other side has closed: got false")
	}
	_ = client.Close()
	if in.pending() {
		t.Error("a closed socket: got true")
	}
}

// TestInputOfResetSockets: a reset is detected before anything is written, so a payment is proved unsent.
func TestInputOfResetSockets(t *testing.T) {
	client, server := connected(t)
	_ = server.(*net.TCPConn).SetLinger(0)
	_ = server.Close()
	if !eventually(t, inputOf(client), true) {
		t.Error("a socket that the other side has reset: got false")
	}
}

// TestStaleConnections: on a connection that was used before and has something to read, nothing is written, and a
// payment's body is not read. On a new one the server may speak first.
func TestStaleConnections(t *testing.T) {
	const head = "POST /x HTTP/1.1\r\nHost: pay.example\r\n\r\n"
	for _, tt := range []struct {
		name   string
		reused bool
		before func(server net.Conn)
		stale  bool
	}{
		{"kept and silent", true, func(net.Conn) {}, false},
		{"kept, with a byte that waits", true, func(server net.Conn) { _, _ = io.WriteString(server, "x") }, true},
		{"kept and closed by the server", true, func(server net.Conn) { _ = server.(*net.TCPConn).CloseWrite() }, true},
		{"new, with a byte that waits", false, func(server net.Conn) { _, _ = io.WriteString(server, "x") }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, server := connected(t)
			tt.before(server)
			if tt.stale || !tt.reused {
				eventually(t, inputOf(client), true)
			}
			c := newHoldConn(client)
			c.lend(tt.reused)
			if n, err := io.WriteString(c, head); err != nil || n != len(head) {
				t.Errorf("the head is held back: got %d bytes, %v", n, err)
			}
			body := &sealedBody{rest: []byte("{}")}
			n, err := c.ReadFrom(body)
			if want := map[bool]int64{true: 0, false: 2}[tt.stale]; n != want {
				t.Errorf("payment: got %d bytes of the body, want %d", n, want)
			}
			if errors.Is(err, errStale) != tt.stale || err != nil && !tt.stale {
				t.Errorf("payment: got %v, stale: want %t", err, tt.stale)
			}
			if unread := body.seal(); unread != tt.stale {
				t.Errorf("payment: the body is unread: got %t, want %t", unread, tt.stale)
			}
			for range 2 { // each write, until the connection is reused
				if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); errors.Is(err, errStale) != tt.stale {
					t.Errorf("query: got %v, stale: want %t", err, tt.stale)
				}
			}
			_ = client.Close()
			got, _ := io.ReadAll(server)
			if wrote := strings.Contains(string(got), "HTTP/1.1"); wrote == tt.stale {
				t.Errorf("the server got %q", got)
			}
		})
	}
}

// TestStaleTLSConnections: for a TLS connection, the underlying socket is checked.
func TestStaleTLSConnections(t *testing.T) {
	client, server := connected(t)
	_ = client.SetDeadline(time.Now().Add(30 * time.Second)) // a write that does not fail waits for a handshake
	c := newHoldConn(tls.Client(client, &tls.Config{ServerName: "pay.example"}))
	c.lend(true)
	_, _ = io.WriteString(server, "x")
	eventually(t, inputOf(client), true)
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); !errors.Is(err, errStale) {
		t.Errorf("got %v, want %v", err, errStale)
	}
}
