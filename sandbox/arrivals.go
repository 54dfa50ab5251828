package sandbox

import (
	"math"
	"math/bits"
	"time"
)

// A Book is a generated series: a list of rows that is computed instead of stored, so that millions of them need no
// memory. It says only when each row happened; the Gateway makes up the rest. A row is found from its time on, so a
// Book that reaches into the future fills up as the clock moves.
type Book interface {
	// Len returns the number of rows.
	Len() int
	// At returns when row i happened, which must not be before row i-1, for 0 <= i < Len.
	// It is called from many goroutines and must always return the same for the same row.
	At(i int) time.Time
}

// Arrivals is a Book of N rows in [From, To). A burst is a second Arrivals on top of the first: the Gateway
// merges any number of books.
type Arrivals struct {
	N        int
	From, To time.Time

	// Random lets rows come in independently of each other, as customers do. By default the distance
	// from each row to the next is the same.
	Random bool
	// Seed makes one Random book differ from another.
	Seed uint64
	// Hours is the relative rate in each hour of the day, UTC. All zero means that every hour is alike.
	Hours [24]float64
}

// DayAndNight is a rate for Arrivals.Hours: hardly anything from 18 to 22 h UTC (2 to 6 h in UTC+8), most in the
// evening hours of UTC+8.
func DayAndNight() [24]float64 {
	return [24]float64{
		3, 4, 5, 6, 6, 5, 5, 5, 5, 5, 6, 8, 10, 10, 8, 5, 2, 1, .3, .2, .1, .2, 1, 2,
	}
}

// Len returns a.N, or 0 if that is negative.
func (a Arrivals) Len() int { return max(a.N, 0) }

// At returns when row i happened.
func (a Arrivals) At(i int) time.Time { return a.prepare().At(i) }

// prepared is an Arrivals with what every row needs worked out once.
type prepared struct {
	Arrivals
	even       bool    // the same distance everywhere
	key        uint64  // of the random numbers
	whole      float64 // relative rows of a whole day; zero without a profile
	start, end float64 // relative rows from 1970 to From and to To
}

func (a Arrivals) prepare() *prepared {
	p := &prepared{Arrivals: a, key: hash(a.Seed, 1, 1)}
	for _, rate := range a.Hours {
		p.whole += max(rate, 0)
	}
	p.even = !a.Random && p.whole == 0
	p.start, p.end = p.mass(a.From), p.mass(a.To)
	return p
}

// At is Arrivals.At.
func (p *prepared) At(i int) time.Time {
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

// randomShare returns the i-th smallest of N independent random numbers in [0,1) without making the others: a half
// of an interval holds a binomial number of the interval's rows, so that one can descend to row i.
func (p *prepared) randomShare(i int) float64 {
	low, width := 0.0, 1.0
	n, node := p.N, uint64(1)
	for n > 1 && width > 1e-15 {
		left := halfOf(n, splitMix64(p.key+node*splitMix64Gamma))
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
	if n > 1 { // rows that a float64 cannot tell apart
		return low
	}
	return low + width*fraction(splitMix64(p.key^node*splitMix64Gamma))
}

// halfOf draws how many of n coins show heads. Up to 64 coins are tossed; of more, the number is drawn from
// something close to the normal distribution: the sum of 128 tosses, with the gaps between its steps filled.
func halfOf(n int, h uint64) int {
	if n <= 64 {
		return bits.OnesCount64(h >> (64 - n))
	}
	more := splitMix64(h + splitMix64Gamma)
	tosses := bits.OnesCount64(h) + bits.OnesCount64(more)
	z := (float64(tosses) + fraction(h*more|1) - 64.5) / math.Sqrt(32)
	half := float64(n)/2 + z*math.Sqrt(float64(n))/2
	return min(max(int(half), 0), n)
}

const day = 24 * 60 * 60

// mass returns how many relative rows there are from 1970 to t.
func (p *prepared) mass(t time.Time) float64 {
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
func (p *prepared) timeOf(mass float64) time.Time {
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
