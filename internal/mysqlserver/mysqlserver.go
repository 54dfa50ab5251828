// Package mysqlserver starts a MariaDB or MySQL server of its own for tests and measurements. Who uses it links the
// driver "mysql".
package mysqlserver

import "sync"

// TB is what Shared needs of a test.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

var start = sync.OnceValues(Start)

var asked bool

// Shared returns the one server of a package's tests, whose TestMain calls StopShared. It skips the test where there is
// no server, and fails it where there must be one.
func Shared(t TB) *Server {
	t.Helper()
	asked = true
	s, err := start()
	if MaySkip(err) {
		t.Skip("this test needs a MariaDB or MySQL server (Debian: apt install mariadb-server):", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return s
}

// StopShared stops that server, if a test has asked for it.
func StopShared() error {
	if !asked {
		return nil
	}
	s, err := start()
	if err != nil {
		return nil // there is none, which the test has said
	}
	return s.Stop()
}
