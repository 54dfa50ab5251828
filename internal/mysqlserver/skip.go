package mysqlserver

import (
	"errors"
	"os"
)

// ErrNone says that no such server is installed here, or none can be started.
var ErrNone = errors.New("mysqlserver: no MariaDB or MySQL server can be started here")

// MaySkip reports whether a test that got err from Start may be skipped: there is no server, and
// CARDGATEWAY_REQUIRE_MYSQL does not say that there must be one.
func MaySkip(err error) bool {
	return errors.Is(err, ErrNone) && os.Getenv("CARDGATEWAY_REQUIRE_MYSQL") != "1"
}
