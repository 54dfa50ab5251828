package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// resubmission says when a caller accepts that a payment is submitted again.
type resubmission int

const (
	onlyUnsent   resubmission = iota // only if every earlier submission is proved unsent
	afterRefusal                     // also after a refusal: the gateway says that it did not process the earlier one
	riskingTwice                     // also after a presumed absence: an earlier one may still arrive
)

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
	patience := time.Now().Add(j.opts.WaitElsewhere)
	var queried string // the sender of the refused submission for which the gateway was queried
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		known := e.project()
		switch {
		case !known.invalid && !known.intent.same(&in):
			return e, false, &MismatchError{Asked: in, Recorded: known.intent}
		case j.gaveUp(known):
			if e, err = j.recordUnsent(ctx, e, known); err != nil {
				return e, false, in.notSent(fmt.Errorf("journal: it could not be recorded that an earlier call sent nothing: %w", err))
			}
			continue
		case known.maySubmit(accepts) && e.version() >= mostEvidence:
			return e, false, &cardgateway.ValidationError{Op: in.Operation, Problems: []cardgateway.Problem{{
				Field: in.ID.member(), Rule: cardgateway.RuleRange, Message: "was submitted too often: use another one",
			}}}
		case known.state == Refused && accepts == afterRefusal && known.intent.Sender != queried:
			queried = known.intent.Sender
			if e, err = j.checkRefused(ctx, e, &in); err != nil {
				return e, false, err
			}
			continue
		case known.maySubmit(accepts):
			if mine, err = j.submit(ctx, &e, in); err != nil || mine {
				return e, mine, err
			}
			// Another caller was faster. The time limit ends the loop if a faulty store reports that forever.
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

// mostEvidence is how much evidence an entry may have before its payment can no longer be submitted again. Each
// submission that is proved unsent adds two pieces of evidence, and stores write an entry as a whole. Evidence of
// outcomes is recorded beyond this limit too.
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

// inFlight reports whether another process may still be about to record an outcome.
func (p *projection) inFlight(now time.Time) bool {
	return p.state == Unknown && !p.answered && now.Sub(p.intent.At) < longestFlight
}

// begin creates the entry. If the store fails, it tries again for up to two seconds. A failed attempt may have written
// the entry all the same: an entry with this call's Sender belongs to this call.
func (j *Journal) begin(ctx context.Context, in Intent) (Entry, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	for again := newRetry(25*time.Millisecond, 250*time.Millisecond); ; {
		e, created, err := j.tryBegin(ctx, in)
		if err == nil {
			return e, created || e.isJustSubmitted(in.Sender), nil
		}
		if _, ok := errors.AsType[*EntryError](err); ok { // there is an entry, but it cannot be read
			return e, false, in.unknown(err)
		}
		if !again.wait(ctx) {
			return e, false, j.giveUp(ctx, in, "the intent could not be recorded", err)
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

// submit records that this call submits the payment again. It returns false if another caller recorded something first:
// the entry must then be read again.
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
			return true, nil // the failed attempt has written it
		}
		if errors.Is(failed, ErrChanged) {
			return false, nil
		}
		if !again.wait(ctx) {
			return false, j.giveUp(ctx, in, "the submission could not be recorded", failed)
		}
	}
}

// giveUp returns the error of a call that has sent nothing and will send nothing. The store may nevertheless have the
// call's intent, or receive it when the database comes back. So the sender is remembered: its intent is known to be
// unsent.
func (j *Journal) giveUp(ctx context.Context, in Intent, what string, err error) error {
	j.memory.giveUp(in.ID, in.Sender)
	if over := ctx.Err(); !errors.Is(err, over) {
		err = errors.Join(err, over)
	}
	return in.notSent(fmt.Errorf("journal: %s: %w", what, err))
}

// gaveUp reports whether the latest submission belongs to a call of this process that gave up before it sent anything.
func (j *Journal) gaveUp(known *projection) bool {
	return known.state == Unknown && slices.Contains(j.memory.get(known.intent.ID).gaveUp, known.intent.Sender)
}

// recordUnsent records that the latest submission was not sent. If somebody else has recorded something meanwhile, it
// records nothing and returns the entry as it is now.
func (j *Journal) recordUnsent(ctx context.Context, e Entry, known *projection) (Entry, error) {
	err := j.append(ctx, &e, Evidence{At: j.clock.now(), Source: SourceAnswer, State: NotSent, Sender: known.intent.Sender})
	if errors.Is(err, ErrChanged) {
		return j.get(ctx, e.Key())
	}
	return e, err
}
