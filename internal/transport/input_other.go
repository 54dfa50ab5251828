//go:build !unix

package transport

import "net"

// input knows of nothing where sockets cannot be asked.
type input struct{}

func (*input) init(net.Conn) {}

func (*input) pending() bool { return false }
