package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// How a Journal uses its store: every call is guarded and bounded.

// get reads an entry as it is now.
func (j *Journal) get(ctx context.Context, key Key) (Entry, error) {
	if !key.recordable() {
		return Entry{}, ErrNoEntry
	}
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	e, err := guarded(ctx, func(ctx context.Context) (Entry, error) {
		return j.store.Get(ctx, key)
	})
	if errors.Is(err, ErrNoEntry) {
		err = fmt.Errorf("%w: %s", ErrNoEntry, key.describe())
	}
	return e, err
}

// tryBegin creates the entry of an intent, or reads the one that is there, once.
func (j *Journal) tryBegin(ctx context.Context, in Intent) (Entry, bool, error) {
	type begun struct {
		entry   Entry
		created bool
	}
	b, err := guardedWrite(ctx, j.store, func(ctx context.Context) (begun, error) {
		e, created, err := j.store.Begin(ctx, in)
		return begun{e, created}, err
	})
	return b.entry, b.created, err
}

// append records evidence as the next piece of the entry.
func (j *Journal) append(ctx context.Context, e *Entry, ev Evidence) error {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	_, err := guardedWrite(ctx, j.store, func(ctx context.Context) (nobody, error) {
		return nobody{}, j.store.Record(ctx, e.Key(), e.version(), ev)
	})
	if err != nil {
		return err
	}
	e.Evidence = append(slices.Clip(e.Evidence), ev) // a copy: a list's entry may still be its store's
	return nil
}

// ack acknowledges a version of an entry.
func (j *Journal) ack(ctx context.Context, key Key, version int) error {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	_, err := guardedWrite(ctx, j.store, func(ctx context.Context) (nobody, error) {
		return nobody{}, j.store.Ack(ctx, key, version)
	})
	return err
}

// record appends evidence that must not be lost, whatever others have appended meanwhile, and even if the caller has
// gone. It returns the entry with it.
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
		if now, _, failed := j.tryBegin(ctx, e.Begun); failed == nil { // which makes again what a store has lost
			e = now
		}
	}
}

const (
	// mostChanges bounds how often evidence is offered to a store that has changed meanwhile: each time, another process
	// has recorded something, of which there is little.
	mostChanges = 10
	// A store that fails is asked again after a pause, in which a database may come back.
	recordPause     = 100 * time.Millisecond
	mostRecordPause = time.Second
)
