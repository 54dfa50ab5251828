package journal

// report is what a caller was last told of a payment: an entry of this version, which comes to this state.
type report struct {
	intent  Intent
	version int
	state   State
	settled bool // Run has told it, and the merchant's books have it
}

// reports remembers what callers were told, so that Ack acknowledges just that and nothing that became known since.
type reports struct {
	last  recent[Key, report]
	acked recent[Key, report] // apart, since it does no harm to forget one of them
}

func (r *reports) get(key Key) (report, bool) {
	if last, ok := r.last.get(key); ok {
		return last, true
	}
	return r.acked.get(key)
}

// set remembers that a caller has been told what the entry says. An older version never replaces a newer one.
func (r *reports) set(e *Entry, state State) {
	r.last.update(e.Key(), func(now report, _ bool) (report, bool) {
		same := now.version == e.version() && now.state == state
		return report{e.Intent(), e.version(), state, same && now.settled}, now.version <= e.version()
	})
}

// setUnseen remembers that a caller was told an error without a look at the entry, if nothing was told before; else it
// returns what was. No entry has the version that it remembers: Ack then acknowledges nothing.
func (r *reports) setUnseen(in *Intent) (before report, known bool) {
	r.last.update(in.Key(), func(now report, ok bool) (report, bool) {
		if before, known = now, ok; !known {
			before, known = r.acked.get(in.Key())
		}
		return report{*in, versionUnseen, NotSent, false}, !known && in.Key().recordable()
	})
	return before, known
}

// setSettled notes that the merchant's books have what was told.
func (r *reports) setSettled(e *Entry) {
	r.last.update(e.Key(), func(now report, known bool) (report, bool) {
		now.settled = true
		return now, known && now.version == e.version()
	})
}

// refuted notes that the store holds another version than was told, maybe an older one because it lost evidence:
// whatever it holds is news.
func (r *reports) refuted(key Key, was report) {
	r.last.update(key, func(now report, _ bool) (report, bool) {
		return report{was.intent, versionUnseen, was.state, false}, now == was
	})
}

// versionUnseen is the version that a caller has seen who has not seen the entry. No entry has it.
const versionUnseen = -1

// setAcked notes that what was told is acknowledged.
func (r *reports) setAcked(key Key, was report) {
	r.acked.update(key, func(report, bool) (report, bool) { return was, true })
	r.last.remove(key)
}

func (r *reports) remove(key Key) {
	r.last.remove(key)
	r.acked.remove(key)
}

// hasForgotten says that of a payment without a report something may have been told all the same.
func (r *reports) hasForgotten() bool { return r.last.hasForgotten() }
