package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
)

// BenchmarkWalk reads months of orders. One walk of 60 months with 50 ms before each response takes about a minute in a
// sequential loop.
func BenchmarkWalk(b *testing.B) {
	for _, months := range []int{12, 60} {
		for _, secure := range []bool{false, true} {
			for _, delay := range loopback.Delays {
				walkers, err := walkersOf(server, secure, delay)
				if err != nil {
					b.Fatal(err)
				}
				for _, w := range walkers {
					b.Run(fmt.Sprintf("months=%d/tls=%t/delay=%v/client=%s", months, secure, delay, w.client), func(b *testing.B) {
						rows := months * loopback.RowsPerMonth
						measure(b, 1, func(ctx context.Context) error {
							got, err := w.walk(ctx, months)
							if err == nil && got != rows {
								err = fmt.Errorf("saw %d rows, want %d", got, rows)
							}
							return err
						})
					})
				}
			}
		}
	}
}

// TestWalks reads one month with every library.
func TestWalks(t *testing.T) {
	for _, secure := range []bool{false, true} {
		walkers, err := walkersOf(server, secure, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range walkers {
			t.Run(fmt.Sprintf("tls=%t/%s", secure, w.client), func(t *testing.T) {
				got, err := w.walk(t.Context(), 1)
				if err != nil || got != loopback.RowsPerMonth {
					t.Errorf("saw %d rows, %v, want %d", got, err, loopback.RowsPerMonth)
				}
			})
		}
	}
}
