// Package generated has the rows of the sandbox that are computed instead of stored, so that millions of them need no memory.
package generated

import (
	"math"
	"math/bits"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/hash"
)

// A book is the times of a series of rows.
type book interface {
	// Len returns the number of rows.
	Len() int
	// At returns when row i happened, for 0 <= i < Len. Rows are in the order of time. It is called concurrently, and always
	// returns the same time for the same row.
	At(i int) time.Time
}

// arrivals is the book of the N orders of a seed, in [From, To). Create one with prepare.
type arrivals struct {
	Seed
	even       bool    // evenly spaced
	key        uint64  // seed of the random numbers
	whole      float64 // relative number of rows of a whole day; zero without Hours
	start, end float64 // relative number of rows from 1970 to From and to To
}

// prepare computes what all rows have in common.
func (s Seed) prepare() *arrivals {
	p := &arrivals{Seed: s, key: hash.Of(s.Seed, 1, 1)}
	for _, rate := range s.Hours {
		p.whole += max(rate, 0)
	}
	p.even = !s.Random && p.whole == 0
	p.start, p.end = p.mass(s.From), p.mass(s.To)
	return p
}

// Len returns N, or 0 if it is negative.
func (p *arrivals) Len() int { return max(p.N, 0) }

// At returns when row i happened.
func (p *arrivals) At(i int) time.Time {
	span := p.To.Sub(p.From)
	if span <= 0 || p.N <= 0 {
		return p.From
	}
	if p.even {
		hi, lo := bits.Mul64(uint64(i), uint64(span))
		offset, _ := bits.Div64(hi, lo, uint64(p.N)) // hi < N because i < N and span < 2^63
		return p.From.Add(time.Duration(offset))
	}
	share := float64(i) / float64(p.N)
	if p.Random {
		share = p.randomShare(i)
	}
	if p.whole == 0 {
		return p.From.Add(time.Duration(share * float64(span)))
	}
	return p.timeOf(p.start + share*(p.end-p.start))
}

// randomShare returns the i-th smallest of N independent random numbers in [0,1) without generating the others: the number
// of rows in one half of an interval has a binomial distribution, so one can descend to row i.
func (p *arrivals) randomShare(i int) float64 {
	low, width := 0.0, 1.0
	n, node := p.N, uint64(1)
	for n > 1 && width > 1e-15 {
		left := halfOf(n, hash.Mix(p.key+node*hash.Gamma))
		width /= 2
		node *= 2
		if i < left {
			n = left
		} else {
			i, n = i-left, n-left
			low += width
			node++
		}
	}
	if n > 1 { // rows that a float64 cannot distinguish
		return low
	}
	return low + width*hash.Fraction(hash.Mix(p.key^node*hash.Gamma))
}

// halfOf returns a random number of heads among n coin tosses. Up to 64 coins are tossed; for more, the number is drawn
// from an approximate normal distribution: the sum of 128 tosses, with the gaps between its steps filled.
func halfOf(n int, h uint64) int {
	if n <= 64 {
		return bits.OnesCount64(h >> (64 - n))
	}
	more := hash.Mix(h + hash.Gamma)
	tosses := bits.OnesCount64(h) + bits.OnesCount64(more)
	z := (float64(tosses) + hash.Fraction(h*more|1) - 64.5) / math.Sqrt(32)
	half := float64(n)/2 + z*math.Sqrt(float64(n))/2
	return min(max(int(half), 0), n)
}

const day = 24 * 60 * 60

// mass returns the relative number of rows from 1970 to t.
func (p *arrivals) mass(t time.Time) float64 {
	days := math.Floor(float64(t.Unix()) / day)
	rest := float64(t.Unix()) - days*day + float64(t.Nanosecond())/1e9
	sum := days * p.whole
	for _, rate := range p.Hours {
		sum += max(rate, 0) * min(max(rest, 0), 3600) / 3600
		rest -= 3600
	}
	return sum
}

// timeOf is the inverse of mass, never outside [From, To).
func (p *arrivals) timeOf(mass float64) time.Time {
	days := math.Floor(mass / p.whole)
	rest := mass - days*p.whole
	seconds := days * day
	for _, rate := range p.Hours {
		rate = max(rate, 0)
		if rest < rate {
			seconds += 3600 * rest / rate
			break
		}
		rest -= rate
		seconds += 3600
	}
	sec, frac := math.Modf(seconds)
	t := time.Unix(int64(sec), int64(frac*1e9))
	switch {
	case t.Before(p.From):
		return p.From
	case !t.Before(p.To):
		return p.To.Add(-1)
	}
	return t
}
