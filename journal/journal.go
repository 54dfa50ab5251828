package journal

import (
	"context"
	"log/slog"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// Options configures a Journal. The zero value means the documented defaults.
type Options struct {
	// AbsentAfter is how long the gateway must not know a payment, from its submission, before it is presumed absent. For a
	// payment that was submitted more than once, it is also how long a single decline is not taken as final. It should
	// be longer than any delay with which a request can still arrive. Zero means 24 hours; anything below 15 minutes
	// means 15 minutes. If the computer's clock is corrected by more than that, restart the program.
	AbsentAfter time.Duration
	// Wait is how long Recover queries one payment before it moves on to another; the payment stays open, and the next
	// Recover queries it again. Zero means that it queries once.
	Wait time.Duration
	// Parallel is how many payments Recover queries concurrently. The client's Limiter limits it further. Zero
	// means 16; more than 1024 means 1024.
	Parallel int
	// WaitElsewhere is how long a call waits for the outcome of a payment that another process has in flight before
	// it returns ErrOpen. Zero means 5 s, negative means not to wait.
	WaitElsewhere time.Duration
	// WriteTimeout limits how long a call waits for the store, whatever the store does. Before anything is sent, the call's
	// context limits it too: a call that could not record its intent by then ends with ErrNotSent. The outcome of a payment
	// is recorded even if the context has ended. If the store returns an error, writing an intent is retried for two
	// seconds, and writing an outcome for as long as WriteTimeout allows. Zero means 10 s; a call whose store hangs both
	// before and after sending takes up to twice as long.
	WriteTimeout time.Duration
	// Gateway identifies the entries in the store, together with the client's AppID. Empty means the client's
	// BaseURL. If the BaseURL of the gateway changes, set this to the old one, in any equivalent spelling: otherwise open
	// payments are not recovered, and transactionIds that were already used can be used again.
	Gateway string
	// Logger, if set, gets a line for each Recover that finds a problem (warn level) or something to report (debug level),
	// and for each failure within Run.
	Logger *slog.Logger
	// Observe, if set, is called at the end of each Recover: use it for gauges, and for an alert on payments that stay open.
	// Run calls it once per interval, also while another process works; see RecoverInfo.Standby.
	Observe func(context.Context, RecoverInfo)
	// Paying, if set, returns the ids of the payments and refunds that your database says are being made: that were stored
	// as such before their call, and have no outcome there yet. Run calls it at once and then at its interval, in the process
	// that works, one call at a time, and nothing else of Run waits for it. A process that ended after it had stored such an id, and before the journal recorded the call, leaves no
	// entry behind. Once Run has had an id without an entry in this list for five minutes, it records an entry in state NotSent, and
	// reports it like any other outcome. Five minutes is longer than any call takes to begin; and a call that begins later
	// nevertheless finds this entry, is made as after any NotSent, and its outcome is reported too. Before, Run queries
	// the gateway once: an id that it has shown in the last month belongs to a journal that has lost entries; this is logged as an
	// error, and nothing is recorded. The five minutes begin again when another process takes over. Of a list, the first
	// 10,000 ids are looked at. An error is logged, and the list is requested again at the next interval.
	Paying func(context.Context) ([]ID, error)
}

const (
	defaultAbsentAfter   = 24 * time.Hour
	minAbsentAfter       = 15 * time.Minute
	defaultParallel      = 16
	mostParallel         = 1024
	defaultWaitElsewhere = 5 * time.Second
	defaultWriteTimeout  = 10 * time.Second
	longestFlight        = 5 * time.Minute // a call does not wait for another process that submitted earlier than this
)

func (o Options) withDefaults() Options {
	if o.AbsentAfter == 0 {
		o.AbsentAfter = defaultAbsentAfter
	}
	o.AbsentAfter = max(o.AbsentAfter, minAbsentAfter)
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	o.Parallel = min(o.Parallel, mostParallel)
	if o.WaitElsewhere == 0 {
		o.WaitElsewhere = defaultWaitElsewhere
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = defaultWriteTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Wait = max(o.Wait, 1) // for Resolve, zero means two minutes
	return o
}

// Journal makes payments and refunds through a client and records them in a store. Its methods are safe for concurrent use.
// Several processes may each have a Journal with a store on the same database.
type Journal struct {
	client *cardgateway.Client
	store  Store
	shop   Shop
	opts   Options
	clock  clock

	calls  callGroup // payments and refunds being made by this process
	memory memory
	news   news // for Run
}

// New returns a journal that pays with client and records in store. It does no I/O, and panics if one of them is nil.
func New(client *cardgateway.Client, store Store, opts Options) *Journal {
	if client == nil || store == nil {
		panic("journal: New needs a client and a store")
	}
	return &Journal{
		client: client, store: store, shop: shopOf(client, opts.Gateway), opts: opts.withDefaults(), clock: clock{started: time.Now()},
		news: newNews(),
	}
}

// Shop returns the shop to which the payments and refunds of this journal belong.
func (j *Journal) Shop() Shop { return j.shop }

// key returns the key of an entry of this journal's shop.
func (j *Journal) key(id ID) Key { return Key{j.shop, id} }

// clock returns a time that does not jump when the computer's clock is set: a payment must not be presumed absent because
// somebody corrected the date. If the computer's clock was wrong when the Journal was made, this one stays wrong. So
// intents are dated by the computer's clock.
type clock struct{ started time.Time }

func (c *clock) now() time.Time { return c.started.Add(time.Since(c.started)).Round(0) }

// earliest returns the earlier of this clock's time and the computer's. It is used to decide whether something has waited
// long enough.
func (c *clock) earliest() time.Time { return earlier(c.now(), time.Now().Round(0)) }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// needContext returns a *cardgateway.ValidationError, as the client does, if the context of a method is nil. It would
// panic later, when it may no longer be known whether something was sent or written.
func needContext(ctx context.Context, method string) error {
	if ctx == nil {
		return invalid(method, "ctx", "must not be nil")
	}
	return nil
}

// invalid returns the error for an argument that a method needs.
func invalid(method, argument, message string) error {
	return &cardgateway.ValidationError{Op: method, Problems: []cardgateway.Problem{{
		Field: argument, Rule: cardgateway.RuleRequired, Message: message,
	}}}
}
