package journal

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
)

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
	pending map[Key]chan nobody // closed once it is written, or cannot be
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
		l.pending = make(map[Key]chan nobody)
	}
	l.pending[key] = make(chan nobody)
	return true
}

func (l *late) remove(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.pending[key])
	delete(l.pending, key)
}

// get returns what is closed once the approval is written, or nil.
func (l *late) get(key Key) <-chan nobody {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[key]
}

// recordLater records an approval a moment later, and returns the entry with it; or reports that the evidence has to be
// recorded before it is told. If it cannot be recorded, the payment stays open.
func (j *Journal) recordLater(e Entry, ev Evidence) (Entry, bool) {
	store, ok := j.store.(lateRecorder)
	key := e.Key()
	if !ok || ev.State != Succeeded || e.version() > 0 || !j.late.add(key) {
		return e, false
	}
	ev.At = j.clock.now()
	end := func() {
		j.touched.add(key) // first, so that a Recover that does not wait for it reads it again
		j.late.remove(key)
	}
	err := store.recordLater(key, e.version(), ev, func(err error) {
		if err == nil {
			end()
			return
		}
		go func() {
			defer end()
			if _, err := j.record(context.Background(), e, ev); err != nil {
				j.opts.Logger.LogAttrs(context.Background(), slog.LevelError, "journal: an approval could not be recorded, and is open to the journal",
					slog.String(e.Begun.idMember(), cmp.Or(e.TransactionID(), e.RefundTransactionID())), slog.Any("error", err))
			}
		}()
	})
	if err != nil {
		j.late.remove(key)
		return e, false
	}
	told := e
	told.Evidence = []Evidence{ev}
	return told, true
}

// awaitLate waits until the approval of a payment is written, as long as a call waits for the store.
func (j *Journal) awaitLate(ctx context.Context, key Key) {
	done := j.late.get(key)
	if done == nil {
		return
	}
	j.store.(lateRecorder).hurry()
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
