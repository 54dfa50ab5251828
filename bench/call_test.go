package bench

import (
	"fmt"
	"testing"
)

// BenchmarkCall makes one payment, over and over.
func BenchmarkCall(b *testing.B) {
	for _, op := range operations {
		for _, secure := range []bool{false, true} {
			callers, err := callersOf(op, server, secure)
			if err != nil {
				b.Fatal(err)
			}
			for _, n := range []int{1, 16, 64} {
				for _, c := range callers {
					b.Run(fmt.Sprintf("op=%s/tls=%t/callers=%d/client=%s", op.name, secure, n, c.client), func(b *testing.B) {
						measure(b, n, c.call)
					})
				}
			}
		}
	}
}

// TestCalls makes every measured call once.
func TestCalls(t *testing.T) {
	for _, op := range operations {
		for _, secure := range []bool{false, true} {
			callers, err := callersOf(op, server, secure)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range callers {
				t.Run(fmt.Sprintf("%s/tls=%t/%s", op.name, secure, c.client), func(t *testing.T) {
					if err := c.call(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
