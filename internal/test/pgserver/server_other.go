//go:build !unix

package pgserver

import "github.com/cardgateway/cardgateway-go/internal/test/testprogram"

// Server is a running server. Here there is none: they are started on Unix only.
type Server struct{}

// Start returns an error that wraps testprogram.ErrMissing.
func Start() (*Server, error) {
	return nil, testprogram.Postgres.Missing("it is started on Unix only")
}

// URL is never called.
func (*Server) URL(string) string { return "" }

// Stop is never called.
func (*Server) Stop() error { return nil }

// Restart is never called.
func (*Server) Restart() error { return nil }

// Kill is never called.
func (*Server) Kill() error { return nil }
