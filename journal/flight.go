package journal

import (
	"context"
	"errors"

	"github.com/cardgateway/cardgateway-go"
)

// flight is a payment that this process is making. Every call with its transactionId shares it.
type flight struct {
	intent      Intent
	done        chan struct{}
	transaction *cardgateway.Transaction // these two are set before done is closed
	err         error
}

// join returns the flight of a payment, and true to the one caller that has to make it.
func (j *Journal) join(in *Intent) (*flight, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if f := j.flights[in.TransactionID]; f != nil {
		return f, false
	}
	f := &flight{intent: *in, done: make(chan struct{}), err: in.unknown(errGaveUp)}
	j.flights[in.TransactionID] = f
	return f, true
}

// errGaveUp is what the others get if a hook of the client panics in the call that they share.
var errGaveUp = errors.New("journal: the call that made the payment did not return")

// leave ends the flight and lets the others go.
func (j *Journal) leave(f *flight) {
	j.mu.Lock()
	delete(j.flights, f.intent.TransactionID)
	j.mu.Unlock()
	close(f.done)
}

func (j *Journal) isFlying(transactionID string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.flights[transactionID] != nil
}

// wait returns the outcome of a flight of which another caller is the maker.
func (f *flight) wait(ctx context.Context, in *Intent) (*cardgateway.Transaction, error) {
	if !f.intent.same(in) {
		return nil, &MismatchError{Asked: *in, Recorded: f.intent}
	}
	select {
	case <-f.done:
		return f.result()
	case <-ctx.Done():
		return nil, f.intent.unknown(ctx.Err())
	}
}

// result gives each caller a transaction of its own.
func (f *flight) result() (*cardgateway.Transaction, error) {
	if f.transaction == nil {
		return nil, f.err
	}
	t := *f.transaction
	return &t, f.err
}
