package journal

import (
	"hash/maphash"
	"time"
)

// askTimes remembers when the gateway was last asked about each payment, and why that settled nothing. It holds hashes of
// the ids: if two are equal, or one is forgotten, a payment is asked about a little earlier or later.
type askTimes struct {
	seed maphash.Seed
	last recent[uint64, ask]
}

type ask struct {
	at  time.Time
	why error
}

func newAskTimes() *askTimes {
	a := &askTimes{seed: maphash.MakeSeed()}
	a.last.most = 1 << 16
	return a
}

func (a *askTimes) hash(transactionID string) uint64 { return maphash.String(a.seed, transactionID) }

// due reports whether the last time is at least so long ago, and if so, makes now the last time.
func (a *askTimes) due(transactionID string, now time.Time, after time.Duration) (due bool) {
	a.last.update(a.hash(transactionID), func(last ask, asked bool) (ask, bool) {
		due = !asked || now.Sub(last.at) >= after
		return ask{now, last.why}, due
	})
	return due
}

// why returns the error of the last question, if it had one.
func (a *askTimes) why(transactionID string) error {
	last, _ := a.last.get(a.hash(transactionID))
	return last.why
}

func (a *askTimes) setWhy(transactionID string, now time.Time, why error) {
	a.last.update(a.hash(transactionID), func(ask, bool) (ask, bool) { return ask{now, why}, true })
}

func (a *askTimes) forget(transactionID string) { a.last.remove(a.hash(transactionID)) }
