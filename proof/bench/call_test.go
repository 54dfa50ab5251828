package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkCall makes one payment repeatedly. The order of the clients changes in each round, because the first one after a
// change of scenario finds the server and the memory as others have left them.
func BenchmarkCall(b *testing.B) {
	for _, op := range operations {
		for _, secure := range []bool{false, true} {
			callers, err := callersOf(op, server, secure)
			if err != nil {
				b.Fatal(err)
			}
			for _, n := range []int{1, 16, 64} {
				rand.Shuffle(len(callers), func(i, j int) { callers[i], callers[j] = callers[j], callers[i] })
				for _, c := range callers {
					b.Run(fmt.Sprintf("op=%s/tls=%t/callers=%d/client=%s", op.name, secure, n, c.client), func(b *testing.B) {
						measure(b, n, c.call)
					})
				}
			}
		}
	}
}
