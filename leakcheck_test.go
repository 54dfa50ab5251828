package cardgateway

import (
	"io"
	"log"
	"runtime"
	"strings"
	"testing"
	"time"
)

// quietLog swallows what test servers say about clients that hang up.
var quietLog = log.New(io.Discard, "", 0)

// leavesNoGoroutine fails the test if goroutines of this package or of net/http's client, which were not there
// before, are still there at its end. Call it first, so that it looks last: after servers and idle connections have
// been closed. Tests that use it must not run in parallel.
func leavesNoGoroutine(t *testing.T) {
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

// clientGoroutines returns the stacks of goroutines that work for a client: in this package's code but not in a
// test's, or in net/http's connections.
func clientGoroutines() []string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var found []string
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		own := strings.Contains(stack, "cardgateway-go.(*Client).") || strings.Contains(stack, "cardgateway-go.(*query).")
		connection := strings.Contains(stack, "net/http.(*persistConn).") || strings.Contains(stack, "net/http.(*Transport).dial")
		if own || connection {
			found = append(found, stack)
		}
	}
	return found
}
