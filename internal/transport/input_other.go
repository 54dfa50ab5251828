//go:build !unix

package transport

import "syscall"

// hasInput knows of nothing where sockets cannot be asked.
func hasInput(syscall.RawConn) bool { return false }
