package journal

import (
	"context"
	"errors"
	"time"
)

// record appends evidence that must not be lost, whatever others have appended meanwhile. It returns the entry with
// it.
func (j *Journal) record(ctx context.Context, e Entry, ev Evidence) (Entry, error) {
	ev.At = j.clock.now()
	var err error
	begun := time.Now()
	for range recordTries {
		if err = j.append(ctx, &e, ev); err == nil {
			return e, nil
		}
		if !errors.Is(err, ErrChanged) {
			if time.Since(begun) >= j.opts.WriteTimeout {
				break
			}
			time.Sleep(recordPause)
		}
		now, _, failed := j.tryBegin(ctx, e.Begun)
		if failed == nil {
			e = now
		}
	}
	return e, err
}

// recordTries bounds how often evidence is offered to a store. Each refusal but a failure means that another process
// has recorded something, of which there is little. After a failure there is a pause, in which a database may come back.
const (
	recordTries = 10
	recordPause = 100 * time.Millisecond
)

// append records evidence as the next piece of the entry.
func (j *Journal) append(ctx context.Context, e *Entry, ev Evidence) error {
	ctx, cancel := j.detached(ctx)
	defer cancel()
	if err := j.store.Record(ctx, e.TransactionID(), len(e.Evidence), ev); err != nil {
		return err
	}
	return e.record(len(e.Evidence), ev)
}

// tryBegin creates the entry of an intent, or reads the one that is there, once.
func (j *Journal) tryBegin(ctx context.Context, in Intent) (Entry, bool, error) {
	ctx, cancel := j.detached(ctx)
	defer cancel()
	return j.store.Begin(ctx, in)
}

// get reads an entry as it is now.
func (j *Journal) get(ctx context.Context, transactionID string) (Entry, error) {
	ctx, cancel := j.bounded(ctx)
	defer cancel()
	return j.store.Get(ctx, transactionID)
}

// bounded is a context for a read, which ends with the caller's.
func (j *Journal) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, j.opts.WriteTimeout)
}

// detached is a context for a write, which the caller's cancellation does not stop.
func (j *Journal) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), j.opts.WriteTimeout)
}
