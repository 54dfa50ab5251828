package cardgateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// wholeConn is a connection on which a payment leaves whole. net/http writes the head of a request by itself if it
// does not know the type of its body, and then has the connection read the body from its source. The head waits here
// for that: as long as the body is sealed nothing has left, not even the path with the token, and both take one write.
//
// Everything else passes, a large head and one that asks for leave too, and a head leaves with whatever is written
// next: nothing hangs on how net/http hands over the body.
type wholeConn struct {
	net.Conn
	buf    []byte // a head that waits, then what is written with it; overwritten afterwards
	closed atomic.Bool
}

const (
	wholeSize   = 8 << 10       // a larger request takes several writes
	largestHead = wholeSize / 2 // a larger head does not wait
)

// Write lets a payment's head wait.
func (c *wholeConn) Write(p []byte) (int, error) {
	switch {
	case len(c.buf) > 0:
		n, err := c.ReadFrom(bytes.NewReader(p))
		return int(n), err
	case isPaymentHead(p):
		c.buf = append(c.buf, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// isPaymentHead reports whether a write is a whole head that a body follows at once: one that asks the server for
// leave to send the body has to go ahead of it.
func isPaymentHead(p []byte) bool {
	return len(p) <= largestHead && bytes.HasPrefix(p, []byte("POST ")) && bytes.HasSuffix(p, []byte("\r\n\r\n")) &&
		!bytes.Contains(p, []byte("\r\nExpect: "))
}

// ReadFrom writes the head that waits, if any, and all that r gives. If r gives an error before anything was written,
// nothing is. On a connection that net/http has given up meanwhile it leaves r unread, and so proved unsent.
func (c *wholeConn) ReadFrom(r io.Reader) (n int64, err error) {
	defer c.wipe()
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	for {
		read, err := r.Read(c.buf[len(c.buf):cap(c.buf)])
		n += int64(read)
		c.buf = c.buf[:len(c.buf)+read]
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return n, err
		}
		if ended || len(c.buf) == cap(c.buf) {
			if _, err := c.Conn.Write(c.buf); err != nil {
				return n, err
			}
			c.wipe()
		}
		if ended {
			return n, nil
		}
	}
}

func (c *wholeConn) wipe() {
	clear(c.buf)
	c.buf = c.buf[:0]
}

// Close closes the connection.
func (c *wholeConn) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

// sendWhole has t make such connections. Where its owner dials in a way that net/http has deprecated, and in a proxy's
// tunnel, connections are as they were.
func sendWhole(t *http.Transport) {
	//lint:ignore SA1019 what a caller may still set must not be replaced
	if t.Dial != nil || t.DialTLS != nil {
		return
	}
	dial, encrypt := t.DialContext, t.DialTLSContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	if encrypt == nil {
		encrypt = dialTLS(dial, t.TLSClientConfig)
	}
	t.DialContext, t.DialTLSContext = whole(dial, t.TLSHandshakeTimeout), whole(encrypt, t.TLSHandshakeTimeout)
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// whole makes the connections of dial whole ones, after the handshake that net/http does not see any more. A dialer
// that gives neither a connection nor an error is left to net/http.
func whole(dial dialFunc, handshake time.Duration) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil || conn == nil {
			return nil, err
		}
		if secure, ok := conn.(*tls.Conn); ok {
			if err := shakeHands(ctx, secure, handshake); err != nil {
				_ = conn.Close() // the handshake's error says more
				return nil, err
			}
		}
		return &wholeConn{Conn: conn, buf: make([]byte, 0, wholeSize)}, nil
	}
}

// dialTLS expects the certificate of the host that is dialled, unless the config names another.
func dialTLS(dial dialFunc, config *tls.Config) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		conn, err := dial(ctx, network, addr)
		if err != nil || conn == nil {
			return nil, err
		}
		named := config.Clone()
		if named.ServerName == "" {
			named.ServerName = host
		}
		return tls.Client(conn, named), nil
	}
}

// shakeHands does so within the limit, if there is one, and tells the caller's trace.
func shakeHands(ctx context.Context, conn *tls.Conn, limit time.Duration) error {
	inTime, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		inTime, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	err := conn.HandshakeContext(inTime)
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		err = &handshakeTimeoutError{limit}
	}
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(conn.ConnectionState(), err)
	}
	return err
}

// handshakeTimeoutError says that a TLS handshake took longer than the transport's TLSHandshakeTimeout.
type handshakeTimeoutError struct{ limit time.Duration }

func (e *handshakeTimeoutError) Error() string {
	return fmt.Sprintf("no TLS handshake within %v", e.limit)
}

// Timeout makes it a net.Error's timeout for callers that ask so.
func (e *handshakeTimeoutError) Timeout() bool { return true }
