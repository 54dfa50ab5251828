package journal

import "sync"

// An approval is returned before it is written, if the store can write it a moment later together with others. The call
// then costs one durable write, that of the intent. If the process is killed before the approval is written, the payment
// is open, and Recover finds the approval by a query. Everything else is written before it is returned: a decline,
// because a gateway may not return it in a query; a redirect URL, because no query returns it; and any result if the
// entry already has evidence.

// lateRecorder is implemented by stores that can record evidence a moment later, together with others.
type lateRecorder interface {
	// recordLater does what Record does, but returns at once, and calls ended with the result later. If it returns an error,
	// it does not call ended.
	recordLater(key Key, version int, ev Evidence, ended func(error)) error
	// hurry starts the delayed writes at once.
	hurry()
}

// late holds the payments whose approval is returned and not yet written.
type late struct {
	mu      sync.Mutex
	pending map[Key]chan struct{} // closed once it is written, or cannot be
}

// mostLate limits their number, and so how many approvals a killed process leaves unrecorded.
const mostLate = 1024

// add reports false if there are too many.
func (l *late) add(key Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) >= mostLate {
		return false
	}
	if l.pending == nil {
		l.pending = make(map[Key]chan struct{})
	}
	l.pending[key] = make(chan struct{})
	return true
}

func (l *late) remove(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.pending[key])
	delete(l.pending, key)
}

// get returns a channel that is closed once the approval is written or cannot be written; nil if there is none.
func (l *late) get(key Key) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[key]
}
