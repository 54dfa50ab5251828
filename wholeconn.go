package cardgateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"
)

// wholeConn is a connection on which a payment leaves whole. net/http writes the head of a request by itself if it
// does not know the type of its body, and then has the connection read the body from its source. The head waits here
// for that: as long as the body is sealed nothing has left, not even the path with the token, and both take one write.
//
// Everything else passes, and a head leaves with whatever is written next: nothing hangs on how net/http hands over
// the body.
type wholeConn struct {
	net.Conn
	buf []byte // a head that waits, then what is written with it; overwritten afterwards
}

const (
	wholeSize   = 8 << 10       // a larger request takes several writes
	largestHead = wholeSize / 2 // a larger head does not wait
)

func newWholeConn(conn net.Conn) *wholeConn {
	return &wholeConn{Conn: conn, buf: make([]byte, 0, wholeSize)}
}

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
// nothing is.
func (c *wholeConn) ReadFrom(r io.Reader) (n int64, err error) {
	defer c.wipe()
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
		encrypt = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return shakeHands(ctx, conn, addr, t.TLSClientConfig, t.TLSHandshakeTimeout)
		}
	}
	t.DialContext, t.DialTLSContext = whole(dial), whole(encrypt)
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

func whole(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return newWholeConn(conn), nil
	}
}

// shakeHands encrypts a connection as net/http does.
func shakeHands(ctx context.Context, conn net.Conn, addr string, config *tls.Config, limit time.Duration) (net.Conn, error) {
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		config = config.Clone()
		config.ServerName = host
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	secure := tls.Client(conn, config)
	err := secure.HandshakeContext(ctx)
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(secure.ConnectionState(), err)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}
