package journal

import (
	"maps"
	"sync"
	"time"
)

// report is what a caller was last told of a payment: an entry of this version, which comes to this state.
type report struct {
	intent  Intent
	version int
	state   State
	at      time.Time
}

// reports remembers what callers were told, so that Ack acknowledges just that and nothing that became known since.
type reports struct {
	mu      sync.Mutex
	last    map[string]report // by transactionId
	pruneAt int               // outdated reports are removed when there are more than this
}

// keepReports is how long a report is remembered, unless it is acknowledged before. Later, as after a restart, what the
// store holds counts as told.
const keepReports = 7 * 24 * time.Hour

func (r *reports) get(transactionID string) (report, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.last[transactionID]
	return last, ok
}

// set remembers that a caller has been told what the entry says. An older version never replaces a newer one.
func (r *reports) set(e *Entry, state State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id := e.TransactionID(); r.last[id].version <= len(e.Evidence) {
		r.put(id, report{e.Intent(), len(e.Evidence), state, time.Now()})
	}
}

// setUnseen remembers that a caller was told an error without a look at the entry, if nothing was told before; else it
// returns what was. No entry has the version that it remembers: Ack then acknowledges nothing.
func (r *reports) setUnseen(in *Intent) (before report, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, known = r.last[in.TransactionID]; !known && isStorable(in.TransactionID) {
		r.put(in.TransactionID, report{*in, versionUnseen, NotSent, time.Now()})
	}
	return before, known
}

// refuted notes that the store holds another version than was told, maybe an older one because it lost evidence:
// whatever it holds is news.
func (r *reports) refuted(transactionID string, was report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last[transactionID] == was {
		r.last[transactionID] = report{was.intent, versionUnseen, was.state, was.at}
	}
}

// versionUnseen is the version that a caller has seen who has not seen the entry. No entry has it.
const versionUnseen = -1

func (r *reports) remove(transactionID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, transactionID)
}

// put also removes what is outdated: of what another Journal acknowledges, this one does not hear. The caller holds r.mu.
func (r *reports) put(transactionID string, new report) {
	if r.last == nil {
		r.last = make(map[string]report)
	}
	if len(r.last) >= r.pruneAt {
		maps.DeleteFunc(r.last, func(_ string, old report) bool { return new.at.Sub(old.at) > keepReports })
		r.pruneAt = 2*len(r.last) + 1000
	}
	r.last[transactionID] = new
}
