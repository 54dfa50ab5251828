package journal

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
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
	// Gateway names the shop in the store, together with the client's AppID: choose a name that never changes. Empty means the client's
	// BaseURL. If that changes, set this to the old one, in any equivalent spelling: otherwise open payments are not recovered, and
	// transactionIds that were already used can be used again.
	Gateway string
	// Logger, if set, gets a line for each Recover that finds a problem (warn level) or something to report (debug level),
	// and for each failure within Run, which names the entry that it is about. The first call that ends with an unknown outcome logs a
	// warning if nothing has called Run, Recover or Resolve of this Journal.
	Logger *slog.Logger
	// Observe, if set, is called at the end of each Recover: use it for gauges, and for an alert on payments that stay open.
	// Run calls it once per interval, also while another process works; see RecoverInfo.Standby. A panic is logged. If it has not returned after
	// 5 seconds, that is logged, too, and it is called again only once it has.
	Observe func(context.Context, RecoverInfo)
}

const (
	defaultAbsentAfter   = 24 * time.Hour
	minAbsentAfter       = 15 * time.Minute
	defaultParallel      = 16
	maxParallel          = 1024
	defaultWaitElsewhere = 5 * time.Second
	defaultWriteTimeout  = 10 * time.Second
	maxFlight            = 5 * time.Minute // a call does not wait for another process that submitted earlier than this
)

func (o Options) withDefaults() Options {
	if o.AbsentAfter == 0 {
		o.AbsentAfter = defaultAbsentAfter
	}
	o.AbsentAfter = max(o.AbsentAfter, minAbsentAfter)
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	o.Parallel = min(o.Parallel, maxParallel)
	if o.WaitElsewhere == 0 {
		o.WaitElsewhere = defaultWaitElsewhere
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = defaultWriteTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = slog.New(quietly{o.Logger.Handler()})
	o.Wait = max(o.Wait, 1) // for Resolve, zero means two minutes
	return o
}

// quietly is the handler of Options.Logger. If it panics, the line is lost, and no payment, and Run goes on.
type quietly struct{ slog.Handler }

// Handle implements slog.Handler.
func (q quietly) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }()
	return q.Handler.Handle(ctx, r)
}

// Journal makes payments and refunds through a client and records them in a store. Its methods are safe for concurrent use.
// Several processes may each have a Journal with a store on the same database.
type Journal struct {
	client *cardgateway.Client
	store  Store
	shop   Shop
	opts   Options
	clock  clock
	// testPayments says that the client has Config.TestPayments.
	testPayments bool

	calls   callGroup // payments and refunds being made by this process
	memory  memory
	soon    soon                        // for Run
	found   atomic.Pointer[RecoverInfo] // by the last complete Recover, or list of Run
	telling atomic.Bool                 // Options.Observe has not returned
	cared   atomic.Bool                 // Run, Recover or Resolve was called, or that it was not has been logged
}

// New returns a journal that pays with client and records in store. It does no I/O, and panics if one of them is nil.
func New(client *cardgateway.Client, store Store, opts Options) *Journal {
	if client == nil || store == nil {
		panic("journal: New needs a client and a store")
	}
	return &Journal{
		client: client, store: store, shop: shopOf(client, opts.Gateway), opts: opts.withDefaults(), clock: clock{started: time.Now()},
		soon: newSoon(), testPayments: client.Paid(&cardgateway.Transaction{Code: cardgateway.CodeSuccess, IsTest: true}),
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

// memory is what a Journal remembers about entries beside the store: a table of limited size. It has two generations: when
// the newer one is full, the older one is dropped. What is forgotten costs a query or a repeated report, and never a payment.
type memory struct {
	mu           sync.Mutex
	max          int // in a generation; zero means maxRemembered
	newer, older map[ID]remembered
	changes      int64 // how many changes of entries there were
	lost         int64 // changes when a generation was last dropped
	lastQueryErr error // of setQueryErr
}

const (
	maxRemembered = 64 << 10
	maxUnsent     = 16 // of one entry
)

// remembered is what is remembered about one entry. It is small, because there can be very many entries that are not final.
type remembered struct {
	// What was last returned to a caller: when it was sent, the state, and to the caller of a payment method also the intent.
	returned  bool
	intent    *Intent
	sentAt    int64 // the first time, in nanoseconds since 1970
	latest    int64 // when the latest of this version was recorded, in nanoseconds since 1970
	version   int32
	state     State
	sentAgain bool
	seen      bool // the gateway has shown it
	// Run has reported an entry without an outcome, and the merchant's function has returned nil: it is reported again only
	// when the version or the state is another one.
	stored bool

	report trouble // of the merchant's function with this version
	record trouble // of reading the entry, or writing what a query has found

	asked    int64 // when the gateway was last queried, in nanoseconds since 1970; zero if it was not
	queryErr error // of that query, if it failed

	changed int64    // the number of this process's latest change of the entry
	unsent  []string // senders of calls that ended before they sent anything
}

func (m *memory) get(id ID) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.lookUp(id)
	return r
}

// update changes what is remembered about an entry.
func (m *memory) update(id ID, change func(*remembered)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, isNewer := m.lookUp(id)
	change(&r)
	if !isNewer && len(m.newer) >= cmp.Or(m.max, maxRemembered) || m.newer == nil {
		if len(m.older) > 0 {
			m.lost = m.changes
		}
		m.newer, m.older = make(map[ID]remembered), m.newer
	}
	m.newer[id] = r
}

func (m *memory) lookUp(id ID) (r remembered, isNewer bool) {
	if r, isNewer = m.newer[id]; !isNewer {
		r = m.older[id]
	}
	return r, isNewer
}

// returned remembers what a caller is told about an entry. An older version never replaces a newer one.
func (m *memory) returned(e *Entry, known *projection) {
	m.update(e.ID(), func(r *remembered) { r.setReturned(e, known) })
}

// returnedByCall remembers what the caller of a payment method is told.
func (m *memory) returnedByCall(e *Entry, known *projection) {
	m.update(e.ID(), func(r *remembered) {
		r.setReturned(e, known)
		r.intent = new(known.intent)
	})
}

func (r *remembered) setReturned(e *Entry, known *projection) {
	version, state := int32(e.Version()), known.current()
	if !r.returned || r.version <= version {
		if r.version != version || r.state != state {
			r.stored, r.report = false, trouble{}
		}
		r.returned, r.version, r.state = true, version, state
		r.sentAt, r.sentAgain, r.seen = known.sentAt.UnixNano(), !known.once, known.shown()
		r.latest = e.latest().UnixNano()
	}
}

// setStored remembers that the merchant has stored what this version says.
func (m *memory) setStored(e *Entry) {
	m.update(e.ID(), func(r *remembered) {
		if r.returned && r.version == int32(e.Version()) {
			r.stored, r.report = true, trouble{}
		}
	})
}

// forgetStored forgets what the function of an earlier Run has stored.
func (m *memory) forgetStored() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, all := range []map[ID]remembered{m.newer, m.older} {
		for id, r := range all {
			r.stored = false
			all[id] = r
		}
	}
}

// trouble is how often something has failed for one entry, and until when it is left alone. Each pause is twice as long as the one before.
type trouble struct {
	times uint8
	until int64 // in nanoseconds since 1970
}

const (
	firstPause = 5 * time.Second // of what a query could not record
	maxPause   = 5 * time.Minute
)

// add counts a failure.
func (t *trouble) add(now time.Time, first time.Duration) {
	pause := min(first<<t.times, max(first, maxPause))
	t.times, t.until = min(t.times+1, 10), now.Add(pause).UnixNano()
}

func (t trouble) isPausing(now time.Time) bool { return now.UnixNano() < t.until }

// isFailing reports whether the last report failed, or the last attempt to record what a query has found.
func (r remembered) isFailing() bool { return r.report.times > 0 || r.record.times > 0 }

// setChanged remembers that this process has changed an entry, or may have.
func (m *memory) setChanged(id ID) {
	m.update(id, func(r *remembered) {
		m.changes++
		r.changed = m.changes
	})
}

// changeCount returns how many changes there were, for changedSince.
func (m *memory) changeCount() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// changedSince reports whether this process may have changed an entry since then.
func (m *memory) changedSince(id ID, then int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.lookUp(id)
	return r.changed > then || m.lost > then
}

// forgetQuery makes the next query due at once.
func (m *memory) forgetQuery(id ID) {
	m.update(id, func(r *remembered) { r.asked, r.queryErr = 0, nil })
}

// setQueryErr remembers why the last query failed; nil means that it did not. When the gateway is down, the queries for very many
// entries fail alike: errors with the same text share one value.
func (m *memory) setQueryErr(id ID, err error) {
	m.update(id, func(r *remembered) {
		if err != nil && (m.lastQueryErr == nil || m.lastQueryErr.Error() != err.Error()) {
			m.lastQueryErr = err
		}
		if r.queryErr = nil; err != nil {
			r.queryErr = m.lastQueryErr
		}
	})
}

// addUnsent remembers that the call of a sender has sent nothing and will send nothing.
func (m *memory) addUnsent(id ID, sender string) {
	m.update(id, func(r *remembered) {
		senders := append(slices.Clip(r.unsent), sender)
		r.unsent = senders[max(0, len(senders)-maxUnsent):]
	})
}
