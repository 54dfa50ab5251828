package journal

import (
	"context"
	"errors"
	"sync"
)

// callGroup makes each payment or refund only once in this process, however many concurrent callers there are, as
// golang.org/x/sync/singleflight does for functions.
type callGroup struct {
	mu    sync.Mutex
	calls map[Key]*call
}

// call is a payment or a refund that this process is making.
type call struct {
	intent Intent
	done   chan struct{}
	shown  shown // shown and err are set before done is closed
	err    error
}

// start returns the call of an intent. It returns true to exactly one caller, which must make the payment and finish the
// call.
func (g *callGroup) start(in *Intent) (*call, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.calls[in.Key()]; c != nil {
		return c, false
	}
	if g.calls == nil {
		g.calls = make(map[Key]*call)
	}
	c := &call{intent: *in, done: make(chan struct{}), err: in.unknown(errGaveUp)}
	g.calls[in.Key()] = c
	return c, true
}

// errGaveUp is the cause that the other callers receive if the call that they wait for panics, for example in a hook of
// the client.
var errGaveUp = errors.New("journal: the call that made the payment did not return")

// finish removes a call, and releases the callers that wait for its result.
func (g *callGroup) finish(c *call) {
	g.mu.Lock()
	delete(g.calls, c.intent.Key())
	g.mu.Unlock()
	close(c.done)
}

func (g *callGroup) inFlight(key Key) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[key] != nil
}

// wait waits for the result of a call that another caller makes.
func (c *call) wait(ctx context.Context, in *Intent) (shown, error) {
	if !c.intent.same(in) {
		return shown{}, &MismatchError{Asked: *in, Recorded: c.intent}
	}
	select {
	case <-c.done:
		return c.result()
	case <-ctx.Done():
		return shown{}, c.intent.unknown(ctx.Err())
	}
}

// result returns the result of a call, with a separate transaction or refund for each caller.
func (c *call) result() (shown, error) { return c.shown.copied(), c.err }
