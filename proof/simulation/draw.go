package simulation

import (
	"hash/fnv"
	"io"
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

// sumOf returns a number that depends on a text only.
func sumOf(text string) uint64 {
	sum := fnv.New64()
	_, _ = io.WriteString(sum, text)
	return sum.Sum64()
}

// mix returns a number that depends on both in no simple way (SplitMix64).
func mix(a, b uint64) uint64 {
	h := a + b*0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
