// Package mysqlserver starts a MariaDB or MySQL server of its own for tests and measurements. Who uses it links the
// driver "mysql".
package mysqlserver

import (
	"errors"

	"github.com/cardgateway/cardgateway-go/internal/testserver"
)

var shared = testserver.New(Start, func(err error) bool { return errors.Is(err, ErrNone) }, "CARDGATEWAY_REQUIRE_MYSQL")

// MaySkip reports whether a test that got err from Start may be skipped: there is no server, and
// CARDGATEWAY_REQUIRE_MYSQL does not say that there must be one.
func MaySkip(err error) bool { return shared.MaySkip(err) }

// Shared returns the one server of a package's tests, whose TestMain calls StopShared. It skips the test where there is
// no server, and fails it where there must be one.
func Shared(t testserver.TB) *Server {
	t.Helper()
	return shared.For(t)
}

// StopShared stops that server, if a test has asked for it.
func StopShared() error { return shared.Stop() }
