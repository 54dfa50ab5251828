//go:build !unix

package mysqlserver

// Server is a running server. Here there is none: they are started on Unix only.
type Server struct{}

// Start returns ErrNone.
func Start() (*Server, error) { return nil, ErrNone }

// DSN is never called.
func (*Server) DSN(string) string { return "" }

// Restart is never called.
func (*Server) Restart() error { return nil }

// Kill is never called.
func (*Server) Kill() error { return nil }

// Stop is never called.
func (*Server) Stop() error { return nil }
