package clienttest

import (
	"testing"
	"testing/synctest"
)

// RunVirtual runs a subtest in virtual time.
func RunVirtual(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}
