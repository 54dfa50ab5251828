package transport

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// holdConn is a connection that holds back the head of a payment until its body can follow in the same write.
//
// net/http writes the head of a request and then lets the connection read the body from its source. If the head were
// written at once, the token in its path would have been sent although the body can still be sealed. So Write keeps the
// head, and ReadFrom writes head and body together: if the body is sealed, nothing was sent, and both need only one write.
//
// Everything else is written at once: a query, a large head, and a head that asks the server for permission to send the
// body. A held head is written together with whatever is written next, in case net/http passes the body in another way.
//
// The connection also knows whether anything arrived since the current request was written; see connWatch.
type holdConn struct {
	net.Conn
	held   []byte // a head that is held back, then also what is written with it; overwritten afterwards
	closed atomic.Bool

	socket    *socket      // below TLS, if there is TLS
	reused    bool         // there was another request before; set by lend, read by the goroutine that writes
	writtenAt atomic.Int64 // reads of the socket when writing the current request began, or notWritten

	payment    sync.Mutex // held by a payment until it is known whether the connection can carry another one
	unaccepted string     // the ID of the last payment, if its response did not accept it
}

// notWritten means that nothing of the request has been written.
const notWritten = -1

const (
	holdSize    = 8 << 10      // a larger request needs several writes
	maxHeldHead = holdSize / 2 // a larger head is not held back
)

var errStale = errors.New("the connection was closed by the server, or carries an unsolicited response")

// newHoldConn wraps a connection whose handshake is over.
func newHoldConn(conn net.Conn) *holdConn {
	c := &holdConn{Conn: conn, held: make([]byte, 0, holdSize)}
	c.writtenAt.Store(notWritten)
	if secure, ok := conn.(*tls.Conn); ok {
		c.socket, _ = secure.NetConn().(*socket)
	}
	if c.socket == nil { // no TLS, or that of the caller
		c.socket = newSocket(conn)
		c.Conn = c.socket
	}
	return c
}

// lend begins a request on the connection.
func (c *holdConn) lend(reused bool) {
	c.reused = reused
	c.writtenAt.Store(notWritten)
}

// readSinceWrite reports whether anything was read since the request was written.
func (c *holdConn) readSinceWrite() bool {
	at := c.writtenAt.Load()
	return at != notWritten && c.socket.reads.Load() > at
}

// Write holds back the head of a payment.
func (c *holdConn) Write(p []byte) (int, error) {
	switch {
	case len(c.held) > 0:
		n, err := c.ReadFrom(bytes.NewReader(p))
		return int(n), err
	case isPaymentHead(p):
		c.held = append(c.held, p...)
		return len(p), nil
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// isPaymentHead reports whether a write is a complete head that a body follows at once. A head that asks the server for
// permission to send the body has to be sent first.
func isPaymentHead(p []byte) bool {
	return len(p) <= maxHeldHead && bytes.HasPrefix(p, []byte("POST ")) && bytes.HasSuffix(p, []byte("\r\n\r\n")) &&
		!bytes.Contains(p, []byte("\r\nExpect: "))
}

// begin is called before each write, and fails on a closed connection. It acts on the first write of a request: on a connection
// that was used before, the server may have closed it, or have sent an unsolicited response. Then nothing is written, and a
// payment is proved unsent.
func (c *holdConn) begin() error {
	if c.closed.Load() {
		return net.ErrClosed
	}
	if c.writtenAt.Load() != notWritten {
		return nil
	}
	if c.reused && c.socket.input.pending() {
		return errStale
	}
	reads := c.socket.reads.Load()
	if c.reused && c.socket.withinRecord.Load() {
		return errStale
	}
	c.writtenAt.Store(reads)
	return nil
}

// ReadFrom writes the held head, if any, and everything that it reads from r. If r returns an error before anything was
// written, nothing is written. If net/http has closed the connection meanwhile, r is not read, and so proved unsent.
func (c *holdConn) ReadFrom(r io.Reader) (n int64, err error) {
	defer c.wipe()
	if err := c.begin(); err != nil {
		return 0, err
	}
	for {
		read, err := r.Read(c.held[len(c.held):cap(c.held)])
		n += int64(read)
		c.held = c.held[:len(c.held)+read]
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return n, err
		}
		if ended || len(c.held) == cap(c.held) {
			if _, err := c.Conn.Write(c.held); err != nil {
				return n, err
			}
			c.wipe()
		}
		if ended {
			return n, nil
		}
	}
}

func (c *holdConn) wipe() {
	clear(c.held)
	c.held = c.held[:0]
}

// Close closes the connection.
func (c *holdConn) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}
