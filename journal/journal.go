package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"sync"
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

	mu      sync.Mutex
	flights map[string]*flight   // payments being made by this process
	told    map[string]told      // what callers were told and have not acknowledged
	asked   map[string]time.Time // when Recover last asked about a payment
	tidyAt  int                  // told is tidied when it has more
}

// New returns a journal that pays with client and records in store. It does no I/O, and panics if one of them is nil.
func New(client *cardgateway.Client, store Store, opts Options) *Journal {
	if client == nil || store == nil {
		panic("journal: New needs a client and a store")
	}
	return &Journal{
		client: client, store: store, opts: opts.withDefaults(), clock: clock{started: time.Now()},
		flights: make(map[string]*flight), told: make(map[string]told), asked: make(map[string]time.Time),
	}
}

// payment is one call on its way through the journal.
type payment struct {
	intent  Intent
	again   bool // the caller accepts the risk of PayAgainRiskingSecondCharge
	secrets secrets
	send    func(context.Context) (*cardgateway.Transaction, error)
}

// pay makes a payment, or joins the one that is being made, or returns what is known of it.
func (j *Journal) pay(ctx context.Context, p *payment) (*cardgateway.Transaction, error) {
	if !p.intent.recordable() {
		t, err := p.refuse(ctx)
		return t, j.unclaimed(p, err)
	}
	p.intent.At, p.intent.Sender = time.Now().Round(0), rand.Text()
	f, mine := j.join(&p.intent)
	if !mine {
		return f.wait(ctx, &p.intent)
	}
	defer j.leave(f)
	f.transaction, f.err = j.run(ctx, p)
	return f.result()
}

// run claims the payment for this call, sends it, and records what came of it.
func (j *Journal) run(ctx context.Context, p *payment) (*cardgateway.Transaction, error) {
	e, mine, err := j.claim(ctx, p)
	if err != nil {
		return nil, j.unclaimed(p, err)
	}
	if !mine {
		j.tell(&e, e.State())
		return e.Outcome()
	}
	j.tell(&e, Unknown) // which a call that does not come back has told
	t, err := p.send(ctx)
	return j.conclude(ctx, p, e, t, err)
}

// unclaimed is the outcome of a call that could not claim the payment: it sent nothing. Where an earlier call of this
// Journal may have sent it, that is still unknown, and not what the caller wants to hear of this call alone. If nothing
// was told of the payment before, what the store holds is news: an Ack of this error must not acknowledge it.
func (j *Journal) unclaimed(p *payment, err error) error {
	id := p.intent.TransactionID
	j.mu.Lock()
	defer j.mu.Unlock()
	before, known := j.told[id]
	if !known {
		if isStorable(id) {
			j.note(id, told{p.intent, -1, NotSent, time.Now()})
		}
		return err
	}
	notSent, ok := errors.AsType[*cardgateway.NotSentError](err)
	switch {
	case !ok || before.state == NotSent:
		return err
	case !before.intent.same(&p.intent):
		return &MismatchError{Asked: p.intent, Recorded: before.intent}
	}
	return before.intent.unknown(notSent.Cause)
}

// conclude records what a submission brought, and only then lets it be told. If more is known by now, through another
// process that asked the gateway, that is told instead.
func (j *Journal) conclude(ctx context.Context, p *payment, e Entry, t *cardgateway.Transaction, err error) (*cardgateway.Transaction, error) {
	ev := observed(t, err, e.view().fresh && !p.again)
	ev.Sender = p.intent.Sender
	p.secrets.removeFrom(ev.Transaction)
	e, failed := j.record(ctx, e, ev)
	if failed != nil {
		return p.unrecorded(t, err, failed)
	}
	if ev.Invalid {
		_ = j.store.Ack(ctx, e.TransactionID(), len(e.Evidence)) // best effort: else Recover says that it was not sent
		j.tell(&e, NotSent)
		return t, err
	}
	v := e.view()
	j.tell(&e, v.state)
	switch {
	case v.conflict || v.state >= Pending && v.state != ev.State:
		return e.Outcome()
	case ev.State == Unknown && errors.Is(err, cardgateway.ErrDeclined):
		unknown := p.intent.unknown(ErrRepeatDeclined)
		unknown.Transaction = t
		return nil, unknown
	}
	return t, err
}

// unrecorded is the outcome of a payment whose outcome could not be recorded. What is certain that nothing came of it
// stays so; all else is not told, since the journal does not know it: the payment is open, and Recover will tell.
func (p *payment) unrecorded(t *cardgateway.Transaction, err, failed error) (*cardgateway.Transaction, error) {
	if errors.Is(err, cardgateway.ErrNotSent) || errors.Is(err, cardgateway.ErrInvalidRequest) {
		return t, err // told by the call; to the store it is open, and Ack says so
	}
	unknown := p.intent.unknown(fmt.Errorf("journal: the outcome could not be recorded: %w", failed))
	unknown.Transaction = t
	return nil, unknown
}

// refuse returns the client's own refusal of a request whose id or amount is not fit to be recorded. The client is
// given a context that is over, so that not even a mistake in this judgement can send anything.
func (p *payment) refuse(ctx context.Context) (*cardgateway.Transaction, error) {
	over, cancel := context.WithCancelCause(ctx)
	cancel(errUnfit)
	return p.send(over)
}

var errUnfit = errors.New("journal: the request is not fit to be recorded")

// told is what a caller was told of a payment: so much evidence, coming to this state.
type told struct {
	intent Intent
	pieces int
	state  State
	at     time.Time
}

// tell notes that the caller now knows what the entry says.
func (j *Journal) tell(e *Entry, state State) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id := e.TransactionID(); j.told[id].pieces <= len(e.Evidence) { // never old news over newer
		j.note(id, told{e.Intent(), len(e.Evidence), state, time.Now()})
	}
}

// note remembers what was told, and forgets what was told long ago: what another Journal acknowledges, this one does not
// hear of. The caller holds j.mu.
func (j *Journal) note(id string, t told) {
	if len(j.told) >= j.tidyAt {
		maps.DeleteFunc(j.told, func(_ string, old told) bool { return t.at.Sub(old.at) > toldFor })
		j.tidyAt = 2*len(j.told) + 1000
	}
	j.told[id] = t
}

// toldFor is how long it is remembered what was told of a payment, unless that is acknowledged before. Later, as after a
// restart, what the store holds counts as told.
const toldFor = 7 * 24 * time.Hour
