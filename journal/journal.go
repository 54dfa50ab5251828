package journal

import (
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// Options says how patient a Journal is. The zero value means the documented defaults.
type Options struct {
	// AbsentAfter is how long the gateway must not know a payment, counted from its submission, before the payment
	// is presumed absent, or if it was submitted more than once, a lone decline is believed to be its end. It should be
	// longer than any delay with which a request can still arrive. Zero means 24 hours; anything below 15 minutes
	// means 15 minutes. Restart the program after its computer's clock was corrected by more.
	AbsentAfter time.Duration
	// Settle is how long Recover asks about one payment before it goes on to the next; the payment stays open and
	// the next Recover asks again. Zero means that it asks once.
	Settle time.Duration
	// WaitElsewhere is how long a call waits for the outcome of a payment that another process has in flight before
	// it returns ErrOpen. Zero means 5 s, negative means not to wait.
	WaitElsewhere time.Duration
	// WriteTimeout bounds every write to the store, and how long an outcome that cannot be written is tried again. It
	// does not depend on the caller's context: what came of a payment is recorded even if nobody waits any more. An
	// intent that cannot be written is tried again for a second. Zero means 10 s; a call whose store hangs takes up to
	// three times as long.
	WriteTimeout time.Duration
}

const (
	defaultAbsentAfter   = 24 * time.Hour
	minAbsentAfter       = 15 * time.Minute
	defaultWaitElsewhere = 5 * time.Second
	defaultWriteTimeout  = 10 * time.Second
	longestFlight        = 5 * time.Minute // after which nobody waits for another process; generous, and a matter of patience only
)

func (o Options) withDefaults() Options {
	if o.AbsentAfter == 0 {
		o.AbsentAfter = defaultAbsentAfter
	}
	o.AbsentAfter = max(o.AbsentAfter, minAbsentAfter)
	if o.WaitElsewhere == 0 {
		o.WaitElsewhere = defaultWaitElsewhere
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = defaultWriteTimeout
	}
	o.Settle = max(o.Settle, 1) // to Resolve, zero means two minutes
	return o
}

// Journal makes payments through a client and keeps account of them in a store. Its methods may be called by any
// number of goroutines. Several processes may each have a Journal over one SQLStore.
type Journal struct {
	client *cardgateway.Client
	store  Store
	opts   Options
	clock  clock

	calls    callGroup // payments being made by this process
	reported reports   // what callers were told and have not acknowledged
	asked    askTimes  // when Recover last asked about a payment
}

// New returns a journal that pays with client and records in store. It does no I/O, and panics if one of them is nil.
func New(client *cardgateway.Client, store Store, opts Options) *Journal {
	if client == nil || store == nil {
		panic("journal: New needs a client and a store")
	}
	return &Journal{client: client, store: store, opts: opts.withDefaults(), clock: clock{started: time.Now()}}
}
