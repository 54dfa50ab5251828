package journal

import (
	"context"
	"errors"
	"sync"

	"github.com/cardgateway/cardgateway-go"
)

// callGroup makes each payment once in this process, however many callers ask for it at the same time, as
// golang.org/x/sync/singleflight does for functions.
type callGroup struct {
	mu    sync.Mutex
	calls map[string]*call // by transactionId
}

// call is a payment that this process is making.
type call struct {
	intent      Intent
	done        chan struct{}
	transaction *cardgateway.Transaction // these two are set before done is closed
	err         error
}

// start returns the call of a payment, and true to the one caller that has to make it and to finish the call.
func (g *callGroup) start(in *Intent) (*call, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.calls[in.TransactionID]; c != nil {
		return c, false
	}
	if g.calls == nil {
		g.calls = make(map[string]*call)
	}
	c := &call{intent: *in, done: make(chan struct{}), err: in.unknown(errGaveUp)}
	g.calls[in.TransactionID] = c
	return c, true
}

// errGaveUp is what the other callers get if a hook of the client panics in the call that they share.
var errGaveUp = errors.New("journal: the call that made the payment did not return")

// finish ends a call and gives its result to whoever waits for it.
func (g *callGroup) finish(c *call) {
	g.mu.Lock()
	delete(g.calls, c.intent.TransactionID)
	g.mu.Unlock()
	close(c.done)
}

func (g *callGroup) inFlight(transactionID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[transactionID] != nil
}

// wait returns the outcome of a call that another caller makes.
func (c *call) wait(ctx context.Context, in *Intent) (*cardgateway.Transaction, error) {
	if !c.intent.same(in) {
		return nil, &MismatchError{Asked: *in, Recorded: c.intent}
	}
	select {
	case <-c.done:
		return c.result()
	case <-ctx.Done():
		return nil, c.intent.unknown(ctx.Err())
	}
}

// result gives each caller a transaction of its own.
func (c *call) result() (*cardgateway.Transaction, error) {
	if c.transaction == nil {
		return nil, c.err
	}
	t := *c.transaction
	return &t, c.err
}
