// Package goroutine lets what ends a function in a goroutine of its own reach the goroutine that waits for it.
package goroutine

import "runtime"

// Ending says how a function ended that ran in its own goroutine.
type Ending struct {
	returned bool
	panicked any
}

// Start calls a function in its own goroutine, and there ended when it has ended. A panic must reach the goroutine that waits,
// which may recover from it, as net/http does; so must runtime.Goexit, which ends a test: see Rethrow.
func Start(f func(), ended func(Ending)) {
	go func() {
		var end Ending
		defer func() {
			end.panicked = recover()
			ended(end)
		}()
		f()
		end.returned = true
	}()
}

// Rethrow panics, or calls runtime.Goexit, if the function did.
func (e Ending) Rethrow() {
	switch {
	case e.panicked != nil:
		panic(e.panicked)
	case !e.returned:
		runtime.Goexit()
	}
}
