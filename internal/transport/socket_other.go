//go:build !unix

package transport

import "net"

// input detects nothing on this system.
type input struct{}

func (*input) init(net.Conn) {}

func (*input) pending() bool { return false }
