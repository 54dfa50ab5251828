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

// holdHeads has t make connections that hold back the heads of payments. A proxy's tunnel is encrypted by net/http, on
// top of such a connection, and holds nothing back.
func holdHeads(t *http.Transport) {
	dial, encrypt := t.DialContext, t.DialTLSContext
	//lint:ignore SA1019 what a caller may still set is used
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

// hold wraps the connections of dial, after the handshake, which net/http does not see any more. A dialer that gives
// neither a connection nor an error is left to net/http.
func hold(dial dialFunc, handshakeTimeout time.Duration) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil || conn == nil {
			return nil, err
		}
		if secure, ok := conn.(*tls.Conn); ok {
			if err := handshake(ctx, secure, handshakeTimeout); err != nil {
				_ = conn.Close() // the handshake's error says more
				return nil, err
			}
		}
		return newHoldConn(conn), nil
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

// handshake shakes hands within the limit, if there is one, and tells the caller's trace.
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

// Timeout tells callers who ask for interface{ Timeout() bool }, as net.Error has it.
func (e *handshakeTimeoutError) Timeout() bool { return true }
