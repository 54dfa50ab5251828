//go:build unix

package transport

import "syscall"

// hasInput reports whether a socket has bytes that have not been read, or has been closed by the other side. It takes
// nothing out of the socket and does not wait.
func hasInput(socket syscall.RawConn) bool {
	if socket == nil {
		return false
	}
	found := false
	_ = socket.Control(func(fd uintptr) { // fails on a closed socket, which the write then finds
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		found = err == nil // also at the end of the stream
	})
	return found
}
