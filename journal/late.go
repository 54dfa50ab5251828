package journal

import "sync"

// An approval is told before it is written, if the store can write it a moment later together with others. The call then
// costs one durable write, that of the intent. A process that dies within that moment leaves the payment open, and Recover
// finds the approval by asking. Everything else is written before it is told: a decline, since a gateway may not show it;
// the page that a cardholder is sent to, since that cannot be asked for; and whatever is not about the first submission.

// lateRecorder is implemented by stores that can record evidence a moment later.
type lateRecorder interface {
	// recordLater is Record, and calls ended with its result.
	recordLater(key Key, version int, ev Evidence, ended func(error)) error
	// hurry ends that moment.
	hurry()
}

// late knows the payments whose approval is told and not yet written.
type late struct {
	mu      sync.Mutex
	pending map[Key]chan struct{} // closed once it is written, or cannot be
}

// mostLate bounds them, and with them what a killed process leaves to be asked about.
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

// get returns what is closed once the approval is written, or nil.
func (l *late) get(key Key) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[key]
}
