//go:build unix

package transport

import (
	"net"
	"syscall"
)

// input checks a socket for bytes that have arrived and were not read. It consumes nothing and does not block.
type input struct {
	socket syscall.RawConn // nil if the connection is not a socket
	peek   func(fd uintptr)
	found  bool
	one    [1]byte
}

func (in *input) init(conn net.Conn) {
	if socket, ok := conn.(syscall.Conn); ok {
		in.socket, _ = socket.SyscallConn()
	}
	in.peek = func(fd uintptr) { // made once: it would be an allocation of every request
		_, _, err := syscall.Recvfrom(int(fd), in.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		in.found = err != syscall.EAGAIN && err != syscall.EINTR // also at the end of the stream, and after a reset
	}
}

// pending reports whether there are such bytes, or the other side has closed or reset the connection.
func (in *input) pending() bool {
	if in.socket == nil {
		return false
	}
	in.found = false
	_ = in.socket.Control(in.peek) // fails on a closed socket, as the write then does
	return in.found
}
