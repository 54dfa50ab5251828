package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// How a Journal calls its store: every call is guarded and has a time limit.

// get reads an entry as it is now.
func (j *Journal) get(ctx context.Context, key Key) (Entry, error) {
	if !key.ID.recordable() {
		return Entry{}, ErrNoEntry
	}
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	e, err := guarded(ctx, func(ctx context.Context) (Entry, error) {
		return j.store.Get(ctx, key)
	})
	if errors.Is(err, ErrNoEntry) {
		err = fmt.Errorf("%w: %s", ErrNoEntry, key.ID.describe())
	}
	return e, err
}

// tryBegin makes one attempt to create the entry of an intent, or to read the existing one.
func (j *Journal) tryBegin(ctx context.Context, in Intent) (Entry, bool, error) {
	type begun struct {
		entry   Entry
		created bool
	}
	b, err := guarded(ctx, func(ctx context.Context) (begun, error) {
		e, created, err := j.store.Begin(ctx, in)
		return begun{e, created}, err
	})
	return b.entry, b.created, err
}

// append records evidence as the next piece of the entry.
func (j *Journal) append(ctx context.Context, e *Entry, ev Evidence) error {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	_, err := guarded(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, j.store.Record(ctx, e.Key(), e.version(), ev)
	})
	if err != nil {
		return err
	}
	e.Evidence = append(slices.Clip(e.Evidence), ev) // a copy: the slice may still belong to the store
	return nil
}

// ack acknowledges exactly this version of an entry, or returns ErrChanged.
func (j *Journal) ack(ctx context.Context, e *Entry) error {
	defer j.memory.setChanged(e.ID())
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	_, err := guarded(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, j.store.Ack(ctx, e.Key(), e.version())
	})
	if err == nil || errors.Is(err, ErrNoEntry) {
		j.memory.forgetQuery(e.ID())
	}
	return err
}

// record appends evidence that must not be lost, whatever others have recorded meanwhile, and even if ctx has ended. It
// tries for up to WriteTimeout, and returns the entry with the evidence.
func (j *Journal) record(ctx context.Context, e Entry, ev Evidence) (Entry, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.opts.WriteTimeout)
	defer cancel()
	ev.At = j.clock.now()
	pause := recordPause
	for changes := 0; ; {
		err := j.append(ctx, &e, ev)
		if err == nil {
			return e, nil
		}
		if errors.Is(err, ErrChanged) {
			if changes++; changes == mostChanges {
				return Entry{}, err
			}
		} else {
			if !sleep(ctx, pause) {
				return Entry{}, err
			}
			pause = min(2*pause, mostRecordPause)
		}
		if now, _, failed := j.tryBegin(ctx, e.Begun); failed == nil { // also creates the entry again if the store has lost it
			e = now
		}
	}
}

const (
	// mostChanges limits how often evidence is recorded again after ErrChanged. Each time, another process has recorded
	// something, which happens rarely.
	mostChanges = 10
	// After a failure of the store, the next attempt comes after a pause, which doubles from recordPause to mostRecordPause.
	recordPause     = 100 * time.Millisecond
	mostRecordPause = time.Second
)
