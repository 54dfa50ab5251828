// Package pgserver starts a separate Postgres server for tests and measurements. Programs that use it must import the
// driver "pgx".
package pgserver

import (
	"errors"

	"github.com/cardgateway/cardgateway-go/internal/testserver"
)

var shared = testserver.New(Start, func(err error) bool { return errors.Is(err, ErrNone) }, "CARDGATEWAY_REQUIRE_POSTGRES")

// MaySkip reports whether a test that got err from Start may be skipped: there is no server, and
// CARDGATEWAY_REQUIRE_POSTGRES does not require one.
func MaySkip(err error) bool { return shared.MaySkip(err) }

// Shared returns the one server of a package's tests, whose TestMain must call StopShared. If there is no server, it skips
// the test, or fails it if there must be one.
func Shared(t testserver.TB) *Server {
	t.Helper()
	return shared.For(t)
}

// StopShared stops that server, if it was started.
func StopShared() error { return shared.Stop() }
