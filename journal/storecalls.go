package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/goroutine"
	"github.com/cardgateway/cardgateway-go/internal/retry"
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
	return j.own(e), err
}

// getChanged reads an entry after ErrChanged. Its error matches that, too: another caller has recorded something, and may be sending the payment.
func (j *Journal) getChanged(ctx context.Context, key Key) (Entry, error) {
	e, err := j.get(ctx, key)
	if err != nil {
		err = fmt.Errorf("%w, and cannot be read: %w", ErrChanged, err)
	}
	return e, err
}

// own returns an entry of the store as one of this journal. It is a copy: a store may remember what it has read.
func (j *Journal) own(e Entry) Entry {
	e = e.snapshot()
	e.testPayments = j.testPayments
	return e
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
	return j.own(b.entry), b.created, err
}

// recordOnce makes one attempt to record evidence as the next piece of this version of the entry.
func (j *Journal) recordOnce(ctx context.Context, e *Entry, ev Evidence) error {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	_, err := guarded(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, j.store.Record(ctx, e.Key(), e.Version(), ev)
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
		return struct{}{}, j.store.Ack(ctx, e.Key(), e.Version())
	})
	if err == nil || errors.Is(err, ErrNoEntry) {
		j.memory.forgetQuery(e.ID())
	}
	return err
}

// recordWithRetries records evidence that must not be lost, whatever others have recorded meanwhile, and even if ctx has ended. It
// tries for up to WriteTimeout, and returns the entry with the evidence, which meaning returns for the entry as it is then.
func (j *Journal) recordWithRetries(ctx context.Context, e Entry, meaning func(*projection) Evidence) (Entry, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.opts.WriteTimeout)
	defer cancel()
	at := j.clock.now()
	again := backOff{Backoff: retry.Backoff{Pause: recordPause, Max: maxRecordPause}}
	for changes := 0; ; {
		ev := meaning(e.project())
		ev.At = at
		err := j.recordOnce(ctx, &e, ev)
		if err == nil {
			return e, nil
		}
		if errors.Is(err, ErrChanged) {
			if changes++; changes == maxChanges {
				return e, err
			}
		} else if !again.wait(ctx) {
			return e, err
		}
		now, _, failed := j.tryBegin(ctx, e.Begun) // also creates the entry again if the store has lost it
		for failed == nil && now.Version() < e.Version() {
			failed = j.recordOnce(ctx, &now, e.Evidence[now.Version()])
		}
		switch {
		case failed == nil:
			e = now
		case errors.Is(err, ErrChanged) && !again.wait(ctx):
			return e, err
		}
	}
}

const (
	// maxChanges limits how often evidence is recorded again after ErrChanged. Each time, another process has recorded
	// something, which happens rarely.
	maxChanges     = 10
	recordPause    = 100 * time.Millisecond
	maxRecordPause = time.Second
)

// backOff is the attempts at a store that fails: a database can be busy with other payments, or come back.
type backOff struct {
	retry.Backoff
	until time.Time // zero: as long as the context allows
}

const retryFor = 2 * time.Second

// newBackOff limits how long a call retries before anything is sent.
func newBackOff(first, limit time.Duration) *backOff {
	return &backOff{retry.Backoff{Pause: first, Max: limit}, time.Now().Add(retryFor)}
}

// wait pauses before the next attempt. It returns false if there is no time for one, or ctx has ended.
func (b *backOff) wait(ctx context.Context) bool {
	pause := b.Next()
	return (b.until.IsZero() || time.Now().Add(pause).Before(b.until)) && retry.Sleep(ctx, pause) == nil
}

// guarded calls a store, and returns when the call does or when ctx ends: a store that ignores its context must not block
// the caller of a payment. A store that observes it can say best why it could not do more, so its own context ends a moment
// before the deadline. The result of a call that returns after ctx has ended is dropped.
func guarded[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	within, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		within, cancel = context.WithDeadline(ctx, deadline.Add(-min(lastMoment, time.Until(deadline)/5)))
	}
	var value T
	var err error // both belong to the goroutine until it has ended
	ended := async(func() {
		defer cancel()
		value, err = call(within)
	})
	select {
	case end := <-ended:
		end.Rethrow()
		return value, err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("the store has not answered: %w", ctx.Err()) // not the cause: in an errgroup, that is the error of another call
	}
}

// lastMoment is how long a store has to return once its context has ended at a deadline.
const lastMoment = 500 * time.Millisecond

// apart calls what runs a hook of the client, or a function of the merchant's, in a goroutine of its own. Ended receives its error: a panic, and the
// end of the goroutine, is trouble of that call, and of nothing else.
func apart(what string, call func() error, ended func(error)) {
	err := fmt.Errorf("journal: %s has ended its goroutine", what)
	goroutine.Start(func() {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("journal: %s panicked: %v", what, p)
			}
		}()
		err = call()
	}, func(goroutine.Ending) { ended(err) })
}

// async calls a function in its own goroutine and sends how it ended.
func async(f func()) <-chan goroutine.Ending {
	ended := make(chan goroutine.Ending, 1)
	goroutine.Start(f, func(end goroutine.Ending) { ended <- end })
	return ended
}
