//go:build !unix

package mysqlserver

import "github.com/cardgateway/cardgateway-go/internal/test/testprogram"

// Server is a running server. Here there is none: they are started on Unix only.
type Server struct{}

// Start returns an error that wraps testprogram.ErrMissing.
func Start() (*Server, error) {
	return nil, testprogram.MySQL.Missing("it is started on Unix only")
}

// DSN is never called.
func (*Server) DSN(string) string { return "" }

// Restart is never called.
func (*Server) Restart() error { return nil }

// Kill is never called.
func (*Server) Kill() error { return nil }

// Stop is never called.
func (*Server) Stop() error { return nil }
