package journal

import (
	"hash/maphash"
	"time"
)

// askTimes remembers when the gateway was last queried for each payment or refund, and why that query failed. It stores
// hashes of the ids, and forgets the oldest ones if there are very many. If two hashes are equal, a payment is queried a
// little later than due; if one is forgotten, earlier.
type askTimes struct {
	seed maphash.Seed
	last recent[uint64, int64] // nanoseconds since 1970
	whys recent[uint64, error]
}

const (
	mostAskTimes = 256 << 10 // entries in a generation; see recent
	mostWhys     = 16 << 10
)

func newAskTimes() *askTimes {
	a := &askTimes{seed: maphash.MakeSeed()}
	a.last.most, a.whys.most = mostAskTimes, mostWhys
	return a
}

func (a *askTimes) hash(key Key) uint64 { return maphash.String(a.seed, key.ID.String()) } // a Journal has only one shop

// due reports whether the last query was at least this long ago, or there was none. If so, it makes now the time of the
// last query.
func (a *askTimes) due(key Key, now time.Time, after time.Duration) (due bool) {
	a.last.update(a.hash(key), func(last int64, asked bool) (int64, bool) {
		due = !asked || now.UnixNano()-last >= int64(after)
		return now.UnixNano(), due
	})
	return due
}

// why returns the error of the last query, or nil.
func (a *askTimes) why(key Key) error {
	why, _ := a.whys.get(a.hash(key))
	return why
}

// setWhy remembers the error of the last query; nil means that it did not fail.
func (a *askTimes) setWhy(key Key, why error) {
	h := a.hash(key)
	if why == nil {
		a.whys.remove(h)
		return
	}
	a.whys.update(h, func(error, bool) (error, bool) { return why, true })
}

func (a *askTimes) forget(key Key) { a.last.remove(a.hash(key)) }
