// Package pgserver starts a separate Postgres server for tests and measurements. Programs that use it must import the
// driver "pgx".
package pgserver

import "github.com/cardgateway/cardgateway-go/internal/test/testprogram"

var servers = testprogram.NewServer(testprogram.Postgres, Start)

// Own starts a server for one test, which may kill it. If none can be started, it skips the test, or fails it if there must
// be one.
func Own(t testprogram.TB) *Server {
	t.Helper()
	return servers.Own(t)
}

// Shared returns the one server of a package's tests, whose TestMain must call StopShared. If none can be started, it skips
// the test, or fails it if there must be one.
func Shared(t testprogram.TB) *Server {
	t.Helper()
	return servers.Shared(t)
}

// StopShared stops that server, if it was started.
func StopShared() error { return servers.StopShared() }
