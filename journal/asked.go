package journal

import (
	"hash/maphash"
	"time"
)

// askTimes remembers when the gateway was last asked about each payment or refund, and why that settled nothing. It holds hashes of
// the ids, and not of all payments if there are very many: where two hashes are equal, or one is forgotten, a payment is
// asked about a little later or earlier.
type askTimes struct {
	seed maphash.Seed
	last recent[uint64, int64] // nanoseconds since 1970
	whys recent[uint64, error]
}

const (
	mostAskTimes = 256 << 10 // in a generation
	mostWhys     = 16 << 10
)

func newAskTimes() *askTimes {
	a := &askTimes{seed: maphash.MakeSeed()}
	a.last.most, a.whys.most = mostAskTimes, mostWhys
	return a
}

func (a *askTimes) hash(key Key) uint64 { return maphash.String(a.seed, key.ID()) } // all are of one shop

// due reports whether the last time is at least so long ago, and if so, makes now the last time.
func (a *askTimes) due(key Key, now time.Time, after time.Duration) (due bool) {
	a.last.update(a.hash(key), func(last int64, asked bool) (int64, bool) {
		due = !asked || now.UnixNano()-last >= int64(after)
		return now.UnixNano(), due
	})
	return due
}

// why returns the error of the last question, if it had one.
func (a *askTimes) why(key Key) error {
	why, _ := a.whys.get(a.hash(key))
	return why
}

// setWhy notes how the last question ended.
func (a *askTimes) setWhy(key Key, why error) {
	h := a.hash(key)
	if why == nil {
		a.whys.remove(h)
		return
	}
	a.whys.update(h, func(error, bool) (error, bool) { return why, true })
}

func (a *askTimes) forget(key Key) { a.last.remove(a.hash(key)) }
