package simulation

import (
	"math/rand/v2"
	"time"
)

// draw draws a history.
type draw struct{ *rand.Rand }

func newDraw(seed uint64) *draw { return &draw{rand.New(rand.NewPCG(seed, 23))} }

// chance reports true once in n.
func (d *draw) chance(n int) bool { return d.IntN(n) == 0 }

// one returns one of these.
func one[T any](d *draw, all ...T) T { return all[d.IntN(len(all))] }

// between returns a time between two, with all orders of magnitude alike.
func (d *draw) between(low, high time.Duration) time.Duration {
	t := low
	for factor := d.Float64() * log2(float64(high)/float64(low)); factor > 0; factor-- {
		if factor >= 1 {
			t *= 2
		} else {
			t += time.Duration(float64(t) * factor)
		}
	}
	return t
}

func log2(x float64) (n float64) {
	for ; x >= 2; x /= 2 {
		n++
	}
	return n + x - 1
}
