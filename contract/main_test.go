package contract

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain raises the limit for garbage collection: the tests create much garbage, and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
