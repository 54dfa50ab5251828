package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/check"
	"github.com/cardgateway/cardgateway-go/internal/random"
	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// request is one call of a payment method or of CreateRefund.
type request struct {
	intent  Intent
	accepts resubmission
	secrets secrets
	send    func(context.Context) (gatewayResult, error)
}

// resubmission says when a caller accepts that a payment is submitted again.
type resubmission int

const (
	onlyUnsent   resubmission = iota // only if every earlier submission is proved unsent
	afterRefusal                     // also after a refusal: the gateway says that it did not process the earlier one
	riskingTwice                     // also after a presumed absence: an earlier one may still arrive
)

// submit makes a payment or a refund, or waits for the call that is making it, or returns what is known about it.
func (j *Journal) submit(ctx context.Context, r *request) (gatewayResult, error) {
	r.intent.Shop, r.intent.Amount = j.shop, check.WithoutZeros(r.intent.Amount, r.intent.Currency) // as the client sends it
	if err := needContext(ctx, r.intent.Operation); err != nil {
		return gatewayResult{}, j.notClaimed(r, err)
	}
	if !r.intent.recordable() {
		got, err := r.rejected(ctx)
		return got, j.notClaimed(r, err)
	}
	r.intent.At, r.intent.Sender = time.Now().Round(0), random.Text()
	c, mine := j.calls.start(r)
	if !mine {
		return j.wait(ctx, c, &r.intent)
	}
	defer j.calls.finish(c)
	c.got, c.err = j.submitOnce(ctx, r)
	c.returned = true
	if errors.Is(c.err, cardgateway.ErrOutcomeUnknown) {
		if !j.cared.Swap(true) {
			j.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "journal: an outcome is unknown, and this process has called neither Run nor Recover nor Resolve: "+
				"unless another one does, nothing finds it", slog.String(r.intent.ID.member(), r.intent.ID.Text))
		}
		j.soon.query(r.intent.ID, firstQuery)
	}
	return c.result()
}

// submitOnce claims the payment for this call, sends it, and records the outcome.
func (j *Journal) submitOnce(ctx context.Context, r *request) (gatewayResult, error) {
	e, mine, err := j.claim(ctx, r.intent, r.accepts)
	if err != nil {
		return gatewayResult{}, j.notClaimed(r, err)
	}
	j.memory.returnedByCall(&e, e.project()) // Unknown if it is mine: if this call never returns, its caller knows no more than that
	if !mine {
		return e.outcome()
	}
	got, err := r.send(ctx)
	return j.recordOutcome(ctx, r, e, got, err)
}

// rejected returns the client's own error for a request whose id, amount or subscription cycle cannot be recorded. The client receives a
// context that has already ended, so that it sends nothing even if it does not reject the request.
func (r *request) rejected(ctx context.Context) (gatewayResult, error) {
	over, cancel := context.WithCancelCause(ctx)
	cancel(errUnfit)
	return r.send(over)
}

var errUnfit = errors.New("journal: the request has an id, an amount or a subscription cycle that cannot be recorded")

// notClaimed returns the error of a call that could not claim the payment: this call sent nothing. But if an earlier call
// of this Journal may have sent the payment, or another one has recorded something meanwhile that cannot be read, it returns an unknown outcome
// instead, because "not sent" would be taken for a statement about the payment. That is not so if the caller knows and accepts its state.
func (j *Journal) notClaimed(r *request, err error) error {
	before := j.memory.get(r.intent.ID)
	notSent, ok := errors.AsType[*cardgateway.NotSentError](err)
	switch {
	case ok && errors.Is(err, ErrChanged):
		return j.unknownWithoutEntry(&r.intent, riskingTwice, notSent.Cause)
	case !before.returned || !ok || r.accepts.from(before.state):
		return err
	case before.intent != nil && !before.intent.same(&r.intent):
		return &MismatchError{Asked: r.intent, Recorded: *before.intent}
	}
	return j.unknownWithoutEntry(&r.intent, onlyUnsent, notSent.Cause)
}

// recordOutcome records the result of a submission before it returns it. If another process has meanwhile recorded more from a
// query, it returns that instead.
func (j *Journal) recordOutcome(ctx context.Context, r *request, e Entry, got gatewayResult, err error) (gatewayResult, error) {
	e, failed := j.recordWithRetries(ctx, e, func(known *projection) Evidence {
		ev := evidenceOfCall(got, err, known.once)
		ev.Sender = r.intent.Sender
		r.secrets.removeFrom(ev.Transaction)
		return ev
	})
	j.memory.setChanged(r.intent.ID)
	if failed != nil {
		return j.notRecorded(r, e.project(), got, err, failed)
	}
	ev, known := &e.Evidence[len(e.Evidence)-1], e.project()
	j.memory.returnedByCall(&e, known)
	switch {
	case ev.Invalid && known.current() == NotSent: // otherwise what is known of an earlier submission applies again
		_ = j.ack(context.WithoutCancel(ctx), &e) // best effort: otherwise Recover reports that it was not sent
		return gatewayResult{}, err
	case known.conflict || known.state >= Pending && known.state != ev.State, known.current() == Tested && err == nil:
		return e.outcome()
	case ev.State == Unknown && errors.Is(err, cardgateway.ErrDeclined):
		return gatewayResult{}, known.complete(r.intent.unknown(got, ErrRepeatDeclined))
	}
	return got, known.complete(err)
}

// notRecorded returns the outcome of a payment whose outcome could not be recorded. If it is certain that this call sent
// nothing, it returns that error, and remembers the sender: the next call of this process, or its Recover, records it. Everything
// else it returns as unknown, because the journal does not know it: the payment is open, and Recover will report the outcome.
func (j *Journal) notRecorded(r *request, known *projection, got gatewayResult, err, failed error) (gatewayResult, error) {
	if errors.Is(err, cardgateway.ErrNotSent) || errors.Is(err, cardgateway.ErrInvalidRequest) {
		j.memory.addUnsent(r.intent.ID, r.intent.Sender)
		return gatewayResult{}, err // until then the payment is open in the store, and Ack returns ErrOpen
	}
	if unknown, ok := asUnknown(err); ok {
		got, known.seen = unknown.got, known.seen || unknown.seen
	}
	known.seen = known.seen || got.facts().id != ""
	return gatewayResult{}, known.complete(r.intent.unknown(got, fmt.Errorf("journal: the outcome could not be recorded: %w", failed)))
}

// claim makes sure that this call, and no other call in any process, may send the payment. It returns the entry, and
// false if this call must not send: another call is sending the payment, or its state does not allow another submission.
// An error means that this call sent nothing.
func (j *Journal) claim(ctx context.Context, in Intent, accepts resubmission) (e Entry, mine bool, err error) {
	if err := ctx.Err(); err != nil {
		return e, false, in.notSent(err)
	}
	if e, mine, err = j.begin(ctx, in); err != nil || mine {
		return e, mine, err
	}
	version, isKnown := j.knows(in.ID)
	lost := isKnown && e.Version() < version
	patience := time.Now().Add(j.opts.WaitElsewhere)
	var queried string // the sender of the submission for which the gateway was queried
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		known := e.project()
		now := claimState{
			known: known, version: e.Version(), asked: &in, accepts: accepts,
			unsent: j.isKnownUnsent(known), queried: queried, late: time.Now().After(patience),
		}
		switch now.next() {
		case refuseMismatch:
			return e, false, &MismatchError{Asked: in, Recorded: known.intent}
		case refuseTooOften:
			return e, false, &cardgateway.ValidationError{Op: in.Operation, Problems: []cardgateway.Problem{{
				Field: in.ID.member(), Rule: cardgateway.RuleRange, Message: "was submitted too often: use another one",
			}}}
		case returnKnown:
			return e, false, nil
		case recordUnsent:
			if e, err = j.recordUnsent(ctx, e, known); err != nil {
				return e, false, in.notSent(fmt.Errorf("journal: it could not be recorded that an earlier call sent nothing: %w", err))
			}
		case queryFirst:
			queried = known.intent.Sender
			if e, err = j.queryFirst(ctx, e, &in, known.state == Refused && accepts == riskingTwice); err != nil {
				return e, false, err
			}
		case submitAgain:
			if lost { // it may have been sent since what is left
				return e, false, in.notSent(errLost)
			}
			if mine, err = j.beginAgain(ctx, &e, in); err != nil || mine {
				return e, mine, err
			}
			// Another caller was faster. The time limit ends the loop if a faulty store reports that forever.
			if now.late {
				return e, false, nil
			}
			fallthrough
		case waitForOther:
			if retry.Sleep(ctx, pause) != nil {
				return e, false, nil
			}
			read, err := j.get(ctx, in.Key())
			if err != nil { // the other call may be sending it
				return e, false, e.project().unknown(fmt.Errorf("%w, and the entry cannot be read: %w", ErrOpen, err))
			}
			e = read
		}
	}
}

// errLost is an alarm: somebody has emptied or replaced the tables, or restored a backup, while the program was running.
var errLost = errors.New("journal: the store has lost the entry, or some of it, and nothing is sent again; see Journal.Restore")

// knows reports whether this process knows an entry that may have been sent, and that no store may have forgotten, see CheckForget; and
// its version.
func (j *Journal) knows(id ID) (version int, ok bool) {
	before := j.memory.get(id)
	return int(before.version), before.returned && before.state != NotSent && CheckForget(time.Unix(0, before.latest)) != nil
}

// claimState is what claim knows about an entry that another call has begun.
type claimState struct {
	known   *projection
	version int     // of the entry
	asked   *Intent // of this call
	accepts resubmission
	unsent  bool   // the latest submission belongs to a call that ended before it sent anything; see isKnownUnsent
	queried string // the sender of the submission for which this call has queried the gateway
	late    bool   // this call has waited for WaitElsewhere
}

// claimStep is what claim does next with an entry that another call has begun.
type claimStep int

const (
	refuseMismatch claimStep = iota // the entry is another payment
	refuseTooOften                  // the entry has too much evidence
	returnKnown                     // this call does not send: it returns what is known
	recordUnsent                    // record first that the latest submission was not sent
	queryFirst                      // query first whether the gateway has what it refused, or did not know
	submitAgain                     // record another submission, of this call
	waitForOther                    // another process may be about to record an outcome
)

// next returns the next step. The first case that applies decides.
func (c *claimState) next() claimStep {
	known := c.known
	switch {
	case !known.invalid && !known.intent.same(c.asked):
		return refuseMismatch
	case c.unsent:
		return recordUnsent
	case c.accepts.from(known.current()):
		switch {
		case c.version >= maxEvidence:
			return refuseTooOften
		case known.state != NotSent && known.intent.Sender != c.queried:
			return queryFirst
		}
		return submitAgain
	case known.inFlight(c.asked.At) && !c.late:
		return waitForOther
	}
	return returnKnown
}

// maxEvidence is how much evidence an entry may have before its payment can no longer be submitted again. Each
// submission that is proved unsent adds two pieces of evidence, and stores write an entry as a whole. Evidence of
// outcomes is recorded beyond this limit too.
const maxEvidence = 2000

// from reports whether another submission is allowed in a state.
func (r resubmission) from(s State) bool {
	switch s {
	case NotSent:
		return true
	case Refused:
		return r == afterRefusal || r == riskingTwice
	case PresumedAbsent:
		return r == riskingTwice
	}
	return false
}

// inFlight reports whether another process may still be about to record an outcome.
func (p *projection) inFlight(now time.Time) bool {
	return p.state == Unknown && !p.answered && now.Sub(p.intent.At) < maxFlight
}

// begin creates the entry. If the store fails, it tries again for up to two seconds. A failed attempt may have written
// the entry all the same: an entry with this call's Sender belongs to this call.
func (j *Journal) begin(ctx context.Context, in Intent) (Entry, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	_, known := j.knows(in.ID)
	if known {
		if _, err := j.get(ctx, in.Key()); errors.Is(err, ErrNoEntry) {
			return Entry{}, false, in.notSent(errLost)
		}
	}
	for again := newBackOff(25*time.Millisecond, 250*time.Millisecond); ; {
		e, created, err := j.tryBegin(ctx, in)
		_, unreadable := errors.AsType[*EntryError](err)
		switch {
		case err == nil && created && known: // the table has lost it a moment ago, or has lost its key
			return Entry{}, false, in.notSent(errLost)
		case err == nil:
			return e, created || e.isJustSubmitted(in.Sender), nil
		case unreadable: // there is an entry
			return e, false, j.unknownWithoutEntry(&in, onlyUnsent, err)
		case !again.wait(ctx):
			return e, false, j.failUnsent(ctx, in, "the intent could not be recorded", err)
		}
	}
}

// isJustSubmitted reports whether the submission of this sender is the latest thing that an entry records.
func (e *Entry) isJustSubmitted(sender string) bool {
	if n := len(e.Evidence); n > 0 {
		last := e.Evidence[n-1].Submission
		return last != nil && last.Sender == sender
	}
	return e.Begun.Sender == sender
}

// beginAgain records that this call submits the payment again. It returns false, and the entry as it is now, if another caller recorded
// something first.
func (j *Journal) beginAgain(ctx context.Context, e *Entry, in Intent) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	for again := newBackOff(100*time.Millisecond, 500*time.Millisecond); ; {
		failed := j.recordOnce(ctx, e, Evidence{At: in.At, Source: SourceSubmission, Submission: &in})
		if failed == nil {
			return true, nil
		}
		if errors.Is(failed, ErrChanged) { // any other failure may have written it, but not where it is durable
			if now, err := j.get(ctx, in.Key()); err == nil {
				*e = now
				return now.isJustSubmitted(in.Sender), nil
			}
		}
		if again.wait(ctx) {
			continue
		}
		return false, j.failUnsent(ctx, in, "the submission could not be recorded", failed)
	}
}

// failUnsent returns the error of a call that has sent nothing and will send nothing. The store may nevertheless have the
// call's intent, or receive it when the database comes back. So the sender is remembered: its intent is known to be
// unsent.
func (j *Journal) failUnsent(ctx context.Context, in Intent, what string, err error) error {
	j.memory.addUnsent(in.ID, in.Sender)
	if over := ctx.Err(); !errors.Is(err, over) {
		err = errors.Join(err, over)
	}
	return in.notSent(fmt.Errorf("journal: %s: %w", what, err))
}

// isKnownUnsent reports whether the latest submission belongs to a call of this process that ended before it sent anything.
func (j *Journal) isKnownUnsent(known *projection) bool {
	return known.state == Unknown && slices.Contains(j.memory.get(known.intent.ID).unsent, known.intent.Sender)
}

// recordUnsent records that the latest submission was not sent. If somebody else has recorded something meanwhile, it
// records nothing and returns the entry as it is now.
func (j *Journal) recordUnsent(ctx context.Context, e Entry, known *projection) (Entry, error) {
	err := j.recordOnce(ctx, &e, Evidence{At: j.clock.now(), Source: SourceAnswer, State: NotSent, Sender: known.intent.Sender})
	if errors.Is(err, ErrChanged) {
		return j.getChanged(ctx, e.Key())
	}
	return e, err
}

// callGroup makes each payment or refund only once in this process, however many concurrent callers there are, as
// golang.org/x/sync/singleflight does for functions.
type callGroup struct {
	mu    sync.Mutex
	calls map[ID]*call
}

// call is a payment or a refund that this process is making.
type call struct {
	intent  Intent
	accepts resubmission
	done    chan struct{}
	// The result: set before done is closed.
	returned bool // false if the call has panicked
	got      gatewayResult
	err      error
}

// start returns the call of an intent. It returns true to exactly one caller, which must make the payment and finish the
// call.
func (g *callGroup) start(r *request) (*call, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.calls[r.intent.ID]; c != nil {
		return c, false
	}
	if g.calls == nil {
		g.calls = make(map[ID]*call)
	}
	c := &call{intent: r.intent, accepts: r.accepts, done: make(chan struct{})}
	g.calls[r.intent.ID] = c
	return c, true
}

// errNoReturn is the cause that the other callers receive if the call that they wait for panics, for example in a hook of
// the client.
var errNoReturn = errors.New("journal: the call that made the payment did not return")

// finish removes a call, and releases the callers that wait for its result.
func (g *callGroup) finish(c *call) {
	g.mu.Lock()
	delete(g.calls, c.intent.ID)
	g.mu.Unlock()
	close(c.done)
}

func (g *callGroup) inFlight(id ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[id] != nil
}

// wait waits for the result of a call that another caller makes.
func (j *Journal) wait(ctx context.Context, c *call, in *Intent) (gatewayResult, error) {
	if !c.intent.same(in) {
		return gatewayResult{}, &MismatchError{Asked: *in, Recorded: c.intent}
	}
	select {
	case <-c.done:
		if !c.returned {
			return gatewayResult{}, j.unknownWithoutEntry(&c.intent, c.accepts, errNoReturn)
		}
		return c.result()
	case <-ctx.Done():
		return gatewayResult{}, j.unknownWithoutEntry(&c.intent, c.accepts, ctx.Err())
	}
}

// result returns the result of a call, with a separate transaction or refund for each caller.
func (c *call) result() (gatewayResult, error) { return c.got.copied(), c.err }
