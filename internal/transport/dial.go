package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"
)

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// holdHeads makes the connections of t hold back the heads of payments. The tunnel through a proxy is encrypted by
// net/http, on top of such a connection, and holds nothing back.
func holdHeads(t *http.Transport) {
	dial, encrypt := t.DialContext, t.DialTLSContext
	//lint:ignore SA1019 deprecated fields that a caller may set
	plain, secure := t.Dial, t.DialTLS
	if dial == nil && plain != nil {
		dial = func(_ context.Context, network, addr string) (net.Conn, error) { return plain(network, addr) }
	}
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	if encrypt == nil && secure != nil {
		encrypt = func(_ context.Context, network, addr string) (net.Conn, error) { return secure(network, addr) }
	}
	if encrypt == nil {
		encrypt = dialTLS(dial, t.TLSClientConfig)
	}
	t.DialContext, t.DialTLSContext = hold(dial, t.TLSHandshakeTimeout), hold(encrypt, t.TLSHandshakeTimeout)
}

// dialsTLS reports whether the caller's transport makes TLS connections itself. What they have received and not yet handed
// over cannot be seen.
func dialsTLS(t *http.Transport) bool {
	//lint:ignore SA1019 deprecated fields that a caller may set
	return t.DialTLSContext != nil || t.DialTLS != nil
}

// hold wraps the connections of dial after the TLS handshake, which net/http then does not perform. If a dialer returns
// neither a connection nor an error, net/http handles that.
func hold(dial dialFunc, handshakeTimeout time.Duration) dialFunc {
	return func(ctx context.Context, network, addr string) (held net.Conn, err error) {
		defer func() {
			if p := recover(); p != nil {
				held, err = nil, &panicError{p}
			}
		}()
		conn, err := dial(ctx, network, addr)
		if err != nil || conn == nil {
			return nil, err
		}
		if secure, ok := conn.(*tls.Conn); ok {
			if err := handshake(ctx, secure, handshakeTimeout); err != nil {
				_ = conn.Close() // the error of the handshake is more specific
				return nil, err
			}
		}
		return newHoldConn(conn), nil
	}
}

// panicError is a panic in dialing: of a dialer, or of a check of certificates. net/http dials in a goroutine of its own, where nobody
// can recover from it: Do panics with it again.
type panicError struct{ panicked any }

func (*panicError) Error() string { return "dialing panicked" }

// dialTLS makes TLS connections over sockets that count their reads. It expects the certificate of the dialed host, unless the
// config names another.
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
		return tls.Client(newSocket(conn), named), nil
	}
}

// handshake performs the TLS handshake within the limit, if there is one, and calls the hooks of the caller's trace.
func handshake(ctx context.Context, conn *tls.Conn, limit time.Duration) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	err := conn.HandshakeContext(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
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

// Timeout implements net.Error's method.
func (e *handshakeTimeoutError) Timeout() bool { return true }
