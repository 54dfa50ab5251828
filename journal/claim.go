package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// resubmission is what a caller accepts for the sake of submitting a payment once more.
type resubmission int

const (
	onlyUnsent   resubmission = iota // nothing: earlier submissions must be proved unsent
	afterRefusal                     // the gateway's word that it did not process the earlier one
	riskingTwice                     // that an earlier one can still arrive
)

// claim makes sure that this call, and no other anywhere, may send the payment. It returns the entry, and false if
// the payment is somebody else's or needs no sending. An error means that this call sent nothing.
func (j *Journal) claim(ctx context.Context, in Intent, accepts resubmission) (e Entry, mine bool, err error) {
	if err := ctx.Err(); err != nil {
		return e, false, in.notSent(err)
	}
	if e, mine, err = j.begin(ctx, in); err != nil || mine {
		return e, mine, err
	}
	patience := time.Now().Add(j.opts.WaitElsewhere)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		known := e.project()
		switch {
		case !known.invalid && !known.intent.same(&in):
			return e, false, &MismatchError{Asked: in, Recorded: known.intent}
		case j.gaveUp(known):
			if e, err = j.recordUnsent(ctx, e, known); err != nil {
				return e, false, in.notSent(fmt.Errorf("journal: an earlier call's end could not be recorded: %w", err))
			}
			continue
		case known.maySubmit(accepts) && e.version() >= mostEvidence:
			return e, false, &cardgateway.ValidationError{Op: in.Operation, Problems: []cardgateway.Problem{{
				Field: in.idMember(), Rule: cardgateway.RuleRange, Message: "was submitted too often: use another one",
			}}}
		case known.maySubmit(accepts):
			if mine, err = j.submit(ctx, &e, in); err != nil || mine {
				return e, mine, err
			}
			// Somebody else was faster. If that was not so, a store that says it for ever ends by patience.
			if time.Now().After(patience) {
				return e, false, in.notSent(ErrChanged)
			}
		case !known.inFlight(in.At) || time.Now().After(patience):
			return e, false, nil
		}
		if !sleep(ctx, pause) {
			return e, false, nil
		}
		now, err := j.get(ctx, in.Key())
		if err != nil {
			return e, false, in.notSent(fmt.Errorf("journal: the entry cannot be read: %w", err))
		}
		e = now
	}
}

// mostEvidence bounds how often a payment is submitted, proved unsent, and submitted again: each time adds two pieces of
// evidence, and stores write an entry whole. It leaves room for what the gateway can still be found to say.
const mostEvidence = 2000

// maySubmit reports whether another submission is allowed.
func (p *projection) maySubmit(accepts resubmission) bool {
	switch {
	case p.conflict:
		return false
	case p.state == NotSent:
		return true
	case p.state == Refused:
		return accepts == afterRefusal || accepts == riskingTwice
	case p.state == PresumedAbsent:
		return accepts == riskingTwice
	}
	return false
}

// inFlight reports whether another process may be about to record an outcome.
func (p *projection) inFlight(now time.Time) bool {
	return p.state == Unknown && !p.answered && now.Sub(p.intent.At) < longestFlight
}

// begin creates the entry. A store that failed is asked again for a while, since it may have written all the same: an
// entry with this call's own mark is this call's.
func (j *Journal) begin(ctx context.Context, in Intent) (Entry, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	for again := newRetry(25*time.Millisecond, 250*time.Millisecond); ; {
		e, created, err := j.tryBegin(ctx, in)
		if err == nil {
			return e, created || e.isJustSubmitted(in.Sender), nil
		}
		if _, ok := errors.AsType[*EntryError](err); ok { // there was a payment, of which nothing is known
			return e, false, in.unknown(err)
		}
		if !again.wait(ctx) {
			return e, false, j.giveUp(ctx, in, "the intent could not be recorded", err)
		}
	}
}

// isJustSubmitted reports whether an entry's latest word is the submission of this sender: nobody knows more since.
func (e *Entry) isJustSubmitted(sender string) bool {
	if n := len(e.Evidence); n > 0 {
		last := e.Evidence[n-1].Submission
		return last != nil && last.Sender == sender
	}
	return e.Begun.Sender == sender
}

// submit records that this call submits the payment once more. It reports false if somebody else was faster: what is known
// by then has to be looked at again.
func (j *Journal) submit(ctx context.Context, e *Entry, in Intent) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	for again := newRetry(100*time.Millisecond, 500*time.Millisecond); ; {
		failed := j.append(ctx, e, Evidence{At: in.At, Source: SourceSubmission, Submission: &in})
		if failed == nil {
			return true, nil
		}
		if now, err := j.get(ctx, in.Key()); err == nil && now.isJustSubmitted(in.Sender) {
			*e = now
			return true, nil // it was written all the same
		}
		if errors.Is(failed, ErrChanged) {
			return false, nil
		}
		if !again.wait(ctx) {
			return false, j.giveUp(ctx, in, "the submission could not be recorded", failed)
		}
	}
}

// giveUp is the error of a call that has sent nothing and never will. The store may still have the call's intent, or get
// it when the database comes back: the sender is remembered, so that its intent is known to be unsent.
func (j *Journal) giveUp(ctx context.Context, in Intent, what string, err error) error {
	j.unsent.update(in.Sender, func(nobody, bool) (nobody, bool) { return nobody{}, true })
	if over := ctx.Err(); !errors.Is(err, over) {
		err = errors.Join(err, over)
	}
	return in.notSent(fmt.Errorf("journal: %s: %w", what, err))
}

// gaveUp reports whether the latest submission is one that a call of this process has given up.
func (j *Journal) gaveUp(known *projection) bool {
	_, gaveUp := j.unsent.get(known.intent.Sender)
	return gaveUp && known.state == Unknown
}

// recordUnsent records that the latest submission was not sent. If somebody else has recorded something meanwhile, it
// returns that.
func (j *Journal) recordUnsent(ctx context.Context, e Entry, known *projection) (Entry, error) {
	err := j.append(ctx, &e, Evidence{At: j.clock.now(), Source: SourceAnswer, State: NotSent, Sender: known.intent.Sender})
	if errors.Is(err, ErrChanged) {
		return j.get(ctx, e.Key())
	}
	return e, err
}
