package journal

import (
	"context"
	"runtime"
)

// prompt is implemented by stores whose writes return when their context is over, whatever happens below them.
type prompt interface{ promptWrites() }

// guardedWrite is guarded, unless the store does it itself.
func guardedWrite[T any](ctx context.Context, store Store, call func(context.Context) (T, error)) (T, error) {
	if _, ok := store.(prompt); ok {
		return call(ctx)
	}
	return guarded(ctx, call)
}

// guarded calls a store and returns when the call has, or when ctx is over: a store that does not look at its context must
// not hold a payment's caller. What the call does after that is nobody's business any more.
func guarded[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	ended := async(func() {
		value, err := call(ctx)
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

// ending is how a function ended that ran in a goroutine of its own.
type ending struct {
	returned bool
	panicked any
}

// async calls a function in a goroutine and sends how it ended. A panic there must reach the one who waits, who may know
// how to recover from it, as net/http does; so must runtime.Goexit, which ends a test.
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

// rethrow ends the calling goroutine as the function ended its own.
func (e ending) rethrow() {
	switch {
	case e.panicked != nil:
		panic(e.panicked)
	case !e.returned:
		runtime.Goexit()
	}
}
