package clienttest

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// LeavesNoGoroutine fails the test if new goroutines of the client or of net/http's client still exist at its end. Call it
// first, so that it checks last, after servers and idle connections have been closed. Tests that use it must not run in
// parallel.
func LeavesNoGoroutine(t testing.TB) {
	t.Helper()
	before := len(clientGoroutines())
	t.Cleanup(func() {
		var left []string
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
			if left = clientGoroutines(); len(left) <= before {
				return
			}
		}
		t.Errorf("%d goroutines before, %d after; the last one:\n%s", before, len(left), left[len(left)-1])
	})
}

// clientCode lists the prefixes of functions that work for a client, in a stack: code of this module except its tests, and
// the connections of net/http.
var clientCode = []string{
	"cardgateway-go.(*Client).", "cardgateway-go.(*call).", "cardgateway-go/internal/retry.", "cardgateway-go/internal/transport.",
	"cardgateway-go/internal/walk.", "cardgateway-go/notify.", "net/http.(*persistConn).", "net/http.(*Transport).dial",
}

// clientGoroutines returns the stacks of goroutines that work for a client.
func clientGoroutines() []string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var found []string
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		if slices.ContainsFunc(clientCode, func(prefix string) bool { return strings.Contains(stack, prefix) }) {
			found = append(found, stack)
		}
	}
	return found
}
