package contract

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow: the tests make much garbage, and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
