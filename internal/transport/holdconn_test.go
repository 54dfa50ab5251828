package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writes is a connection that records what is written to it.
type writes struct {
	net.Conn
	texts []string
	err   error
}

func (w *writes) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.texts = append(w.texts, string(p))
	return len(p), nil
}

func (w *writes) Close() error { return nil }

func holdOver(t *testing.T, conn net.Conn) *holdConn {
	t.Helper()
	c, err := hold(func(context.Context, string, string) (net.Conn, error) { return conn, nil }, 0)(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return c.(*holdConn)
}

func TestHoldConn(t *testing.T) {
	const head = "POST /checkout/tokenization/payment/tok HTTP/1.1\r\nHost: pay.example\r\n\r\n"
	asking := strings.Replace(head, "\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n", 1)
	large := strings.Replace(head, "\r\n\r\n", "\r\nX: "+strings.Repeat("x", maxHeldHead)+"\r\n\r\n", 1)
	long := strings.Repeat("b", 3*holdSize)
	sealed := new(sealedBody)
	sealed.seal()
	body := func(s string) io.Reader { return strings.NewReader(s) }
	tests := []struct {
		name   string
		writes []any // texts that are written, and readers that are read from
		want   []string
	}{
		{"head and body", []any{head, body("{}")}, []string{head + "{}"}},
		{"two payments", []any{head, body("{1}"), head, body("{2}")}, []string{head + "{1}", head + "{2}"}},
		{"the body written like a head's rest", []any{head, "{}"}, []string{head + "{}"}},
		{"head alone", []any{head}, nil},
		{"head and a sealed body", []any{head, sealed}, nil},
		{"a head that waits for leave", []any{asking, body("{}")}, []string{asking, "{}"}},
		{"a large head", []any{large, body("{}")}, []string{large, "{}"}},
		{"a head in two parts", []any{head[:20], head[20:], body("{}")}, []string{head[:20], head[20:], "{}"}},
		{"a long body", []any{head, body(long)}, []string{head + long[:holdSize-len(head)], long[:holdSize], long[:holdSize], long[:len(head)]}},
		{"a query", []any{strings.Replace(head, "POST", "GET", 1)}, []string{strings.Replace(head, "POST", "GET", 1)}},
		{"a tunnel's first message", []any{strings.Replace(head, "POST", "CONNECT", 1)}, []string{strings.Replace(head, "POST", "CONNECT", 1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w writes
			c := holdOver(t, &w)
			for _, x := range tt.writes {
				switch x := x.(type) {
				case string:
					if n, err := c.Write([]byte(x)); n != len(x) || err != nil {
						t.Errorf("wrote %d of %d bytes, %v", n, len(x), err)
					}
				case io.Reader:
					if _, err := io.Copy(c, struct{ io.Reader }{x}); (x == sealed) != errors.Is(err, errSealed) {
						t.Error(err)
					}
				}
			}
			if diff := cmp.Diff(tt.want, w.texts); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if left := bytes.Trim(c.held[len(c.held):cap(c.held)], "\x00"); len(left) > 0 {
				t.Errorf("%q is left in memory", left)
			}
		})
	}
	t.Run("a closed connection", func(t *testing.T) {
		var w writes
		c := holdOver(t, &w)
		_, _ = c.Write([]byte(head))
		_ = c.Close()
		unread := &sealedBody{rest: []byte("{}")}
		if n, err := c.ReadFrom(unread); n != 0 || !errors.Is(err, net.ErrClosed) || !unread.seal() || w.texts != nil {
			t.Errorf("got %d bytes, %v; wrote %q", n, err, w.texts)
		}
	})
	t.Run("a broken connection", func(t *testing.T) {
		w := writes{err: io.ErrClosedPipe}
		c := holdOver(t, &w)
		_, _ = c.Write([]byte(head))
		if _, err := c.ReadFrom(body("{}")); !errors.Is(err, io.ErrClosedPipe) || len(bytes.Trim(c.held[:cap(c.held)], "\x00")) > 0 {
			t.Errorf("got %v; %q is left", err, bytes.Trim(c.held[:cap(c.held)], "\x00"))
		}
	})
}
