package journal

// report is what was last reported for a payment: the version of its entry, and its state.
type report struct {
	intent  Intent
	version int
	state   State
	settled bool // Run has reported it, and the function that it calls returned nil
}

// reports remembers what was reported to callers, so that Ack acknowledges exactly that, and no evidence recorded since.
type reports struct {
	last  recent[Key, report]
	acked recent[Key, report] // separate, because forgetting one of these does no harm
}

func (r *reports) get(key Key) (report, bool) {
	if last, ok := r.last.get(key); ok {
		return last, true
	}
	return r.acked.get(key)
}

// set remembers that the entry was reported to a caller. An older version never replaces a newer one.
func (r *reports) set(e *Entry, state State) {
	r.last.update(e.Key(), func(now report, _ bool) (report, bool) {
		same := now.version == e.version() && now.state == state
		return report{e.Intent(), e.version(), state, same && now.settled}, now.version <= e.version()
	})
}

// setUnseen remembers that a caller received an error although the entry was not read. If there is an earlier report, it
// changes nothing and returns that report. Otherwise it remembers versionUnseen, for which Ack acknowledges nothing.
func (r *reports) setUnseen(in *Intent) (before report, known bool) {
	r.last.update(in.Key(), func(now report, ok bool) (report, bool) {
		if before, known = now, ok; !known {
			before, known = r.acked.get(in.Key())
		}
		return report{*in, versionUnseen, NotSent, false}, !known && in.ID.recordable()
	})
	return before, known
}

// setSettled remembers that the function that Run calls has returned nil for this version.
func (r *reports) setSettled(e *Entry) {
	r.last.update(e.Key(), func(now report, known bool) (report, bool) {
		now.settled = true
		return now, known && now.version == e.version()
	})
}

// refuted remembers that the store has another version than was reported, maybe an older one because it lost evidence.
// Any version can then replace the report, and until one does, Ack acknowledges nothing.
func (r *reports) refuted(key Key, was report) {
	r.last.update(key, func(now report, _ bool) (report, bool) {
		return report{was.intent, versionUnseen, was.state, false}, now == was
	})
}

// versionUnseen is the version of a report that was made without reading the entry. No entry has it.
const versionUnseen = -1

// setAcked remembers that a report is acknowledged.
func (r *reports) setAcked(key Key, was report) {
	r.acked.update(key, func(report, bool) (report, bool) { return was, true })
	r.last.remove(key)
}

func (r *reports) remove(key Key) {
	r.last.remove(key)
	r.acked.remove(key)
}

// hasForgotten reports whether a payment without a report may have been reported nevertheless.
func (r *reports) hasForgotten() bool { return r.last.hasForgotten() }
