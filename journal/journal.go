package journal

import (
	"context"
	"log/slog"
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
	// AbandonAfter is how long a payment may wait for its cardholder, who was sent to the gateway's page, before it is
	// Abandoned; see State. So long, too, a decline on that page is one attempt of the cardholder, who may try another
	// card, and not the end. The interface does not say how long such a page can be used. Zero means 7 days, negative
	// means that such payments are never given up.
	AbandonAfter time.Duration
	// Settle is how long Recover asks about one payment before it lets another one have its place; the payment stays open
	// and the next Recover asks again. Zero means that it asks once.
	Settle time.Duration
	// Parallel is how many payments Recover asks about at the same time. The client's Limiter bounds it further. Zero
	// means 16.
	Parallel int
	// WaitElsewhere is how long a call waits for the outcome of a payment that another process has in flight before
	// it returns ErrOpen. Zero means 5 s, negative means not to wait.
	WaitElsewhere time.Duration
	// WriteTimeout bounds what a call waits for the store, whatever the store does. Before anything is sent, the call's
	// context bounds it too: a call that could not record its intent by then ends with ErrNotSent. What came of a payment
	// is recorded even if nobody waits any more: that does not depend on the context. A store that refuses an intent with
	// an error is asked again for two seconds, and for an outcome as long as WriteTimeout lasts. Zero means 10 s; a call whose
	// store hangs at both ends takes up to twice as long.
	WriteTimeout time.Duration
	// Gateway is what the store's entries are filed under, together with the client's AppID. Empty means the client's
	// BaseURL. Set it to the old BaseURL when the same gateway gets a new one: else open payments are not recovered, and
	// transactionIds that were used can be used again.
	Gateway string
	// Logger, if set, gets a line for each Recover that finds something to worry about (warn level) or something to tell
	// (debug level), and for each failure within Run.
	Logger *slog.Logger
	// Observe, if set, is called at the end of each Recover: for gauges, and for an alert on what is open for too long.
	Observe func(context.Context, RecoverInfo)
}

const (
	defaultAbsentAfter   = 24 * time.Hour
	minAbsentAfter       = 15 * time.Minute
	defaultAbandonAfter  = 7 * 24 * time.Hour
	defaultParallel      = 16
	defaultWaitElsewhere = 5 * time.Second
	defaultWriteTimeout  = 10 * time.Second
	longestFlight        = 5 * time.Minute // after which nobody waits for another process; generous, and a matter of patience only
)

func (o Options) withDefaults() Options {
	if o.AbsentAfter == 0 {
		o.AbsentAfter = defaultAbsentAfter
	}
	o.AbsentAfter = max(o.AbsentAfter, minAbsentAfter)
	if o.AbandonAfter == 0 {
		o.AbandonAfter = defaultAbandonAfter
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if o.WaitElsewhere == 0 {
		o.WaitElsewhere = defaultWaitElsewhere
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = defaultWriteTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Settle = max(o.Settle, 1) // to Resolve, zero means two minutes
	return o
}

// Journal makes payments and refunds through a client and keeps account of them in a store. Its methods may be called by any
// number of goroutines. Several processes may each have a Journal over one SQLStore.
type Journal struct {
	client *cardgateway.Client
	store  Store
	shop   Shop
	opts   Options
	clock  clock

	calls    callGroup              // payments and refunds being made by this process
	reported reports                // what callers were told and have not acknowledged
	touched  touched                // payments that this process changes while a Recover is under way
	asked    *askTimes              // when Recover last asked about a payment
	late     late                   // approvals that are told and not yet written
	unsent   recent[string, nobody] // senders that have given up before they sent anything
}

type nobody struct{}

// New returns a journal that pays with client and records in store. It does no I/O, and panics if one of them is nil.
func New(client *cardgateway.Client, store Store, opts Options) *Journal {
	if client == nil || store == nil {
		panic("journal: New needs a client and a store")
	}
	return &Journal{
		client: client, store: store, shop: shopOf(client, opts.Gateway), opts: opts.withDefaults(), clock: clock{started: time.Now()},
		asked: newAskTimes(),
	}
}

// Shop is whose payments and refunds the journal keeps: what its store files them under.
func (j *Journal) Shop() Shop { return j.shop }

// paymentKey returns the key of a payment of this journal's shop.
func (j *Journal) paymentKey(transactionID string) Key {
	return Key{Shop: j.shop, TransactionID: transactionID}
}

// refundKey returns the key of a refund.
func (j *Journal) refundKey(refundTransactionID string) Key {
	return Key{Shop: j.shop, RefundTransactionID: refundTransactionID}
}
