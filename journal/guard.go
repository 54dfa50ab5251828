package journal

import (
	"context"
	"runtime"
	"time"
)

// guarded calls a store, and returns when the call does or when ctx ends: a store that ignores its context must not block
// the caller of a payment. A store that observes it can say best why it could not do more, so its own context ends a moment
// before the deadline. The result of a call that returns after ctx has ended is dropped.
func guarded[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	stored, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) > 2*lastMoment {
		stored, cancel = context.WithDeadline(ctx, deadline.Add(-lastMoment))
	}
	ended := async(func() {
		defer cancel()
		value, err := call(stored)
		results <- result{value, err}
	})
	select {
	case end := <-ended:
		end.rethrow()
		r := <-results
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// lastMoment is how long a store has to return once its context has ended at a deadline.
const lastMoment = 10 * time.Millisecond

// ending says how a function ended that ran in its own goroutine.
type ending struct {
	returned bool
	panicked any
}

// async calls a function in its own goroutine and sends how it ended. A panic there must reach the goroutine that waits,
// which may recover from it, as net/http does; so must runtime.Goexit, which ends a test.
func async(f func()) <-chan ending {
	ended := make(chan ending, 1)
	go func() {
		var end ending
		defer func() {
			end.panicked = recover()
			ended <- end
		}()
		f()
		end.returned = true
	}()
	return ended
}

// rethrow panics, or calls runtime.Goexit, if the function did.
func (e ending) rethrow() {
	switch {
	case e.panicked != nil:
		panic(e.panicked)
	case !e.returned:
		runtime.Goexit()
	}
}
