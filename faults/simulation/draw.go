package simulation

import (
	"math"
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
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), d.Float64()))
}
