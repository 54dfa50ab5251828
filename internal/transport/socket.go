package transport

import (
	"encoding/binary"
	"net"
	"sync/atomic"
)

// socket is a connection as the network has it, below TLS: it knows what has arrived even if TLS, which reads ahead, has not
// handed it over.
type socket struct {
	net.Conn
	input input        // detects bytes that have arrived and were not read
	reads atomic.Int64 // reads that returned data

	// If there is TLS on top, withinRecord says that the last of these ended within a record. When the rest of it arrives, its
	// contents look new, although a part was there before.
	withinRecord atomic.Bool
	hasTLS       atomic.Bool
	records      records
}

func newSocket(conn net.Conn) *socket {
	s := &socket{Conn: conn}
	if wrapping, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS of the caller
		conn = wrapping.NetConn()
	}
	s.input.init(conn)
	return s
}

// Read counts the reads that return data.
func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if n > 0 {
		if s.hasTLS.Load() {
			s.records.pass(p[:n])
			s.withinRecord.Store(s.records.isWithin())
		}
		s.reads.Add(1)
	}
	return n, err
}

// Write notices the first message of TLS. In a tunnel through a proxy, it is not the first of the connection.
func (s *socket) Write(p []byte) (int, error) {
	const handshake = 22 // the type of its record; no request begins with this byte
	if len(p) > 0 && p[0] == handshake && !s.hasTLS.Load() {
		s.hasTLS.Store(true)
	}
	return s.Conn.Write(p)
}

// records follows the boundaries of TLS records in what is read.
type records struct {
	header [5]byte // type, version and length of the current record
	begun  int     // bytes of the header that were read
	rest   int     // bytes of the record after its header that were not
}

// pass goes over bytes that were read.
func (r *records) pass(p []byte) {
	for len(p) > 0 {
		if r.rest == 0 {
			n := copy(r.header[r.begun:], p)
			r.begun, p = r.begun+n, p[n:]
			if r.begun < len(r.header) {
				return
			}
			r.begun, r.rest = 0, int(binary.BigEndian.Uint16(r.header[3:]))
		}
		n := min(r.rest, len(p))
		r.rest, p = r.rest-n, p[n:]
	}
}

// isWithin reports whether a part of the current record was not read.
func (r *records) isWithin() bool { return r.begun > 0 || r.rest > 0 }
