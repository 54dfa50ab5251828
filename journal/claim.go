package journal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// claim makes sure that this call, and no other anywhere, may send the payment. It returns the entry, and false if
// the payment is somebody else's or needs no sending. An error means that nothing was sent.
func (j *Journal) claim(ctx context.Context, in Intent, again bool) (e Entry, mine bool, err error) {
	if err := ctx.Err(); err != nil {
		return e, false, in.notSent(err)
	}
	patience := time.Now().Add(j.opts.WaitElsewhere)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		e, mine, err = j.begin(ctx, in)
		if err != nil || mine {
			return e, mine, err
		}
		known := e.project()
		switch {
		case !known.invalid && !known.intent.same(&in):
			return e, false, &MismatchError{Asked: in, Recorded: known.intent}
		case known.maySubmit(again) && len(e.Evidence) >= mostEvidence:
			return e, false, &cardgateway.ValidationError{Op: in.Operation, Problems: []cardgateway.Problem{{
				Field: "transactionId", Rule: cardgateway.RuleRange, Message: "was submitted too often: use another one",
			}}}
		case known.maySubmit(again):
			mine, err = j.submit(ctx, &e, in)
			if err != nil || mine {
				return e, mine, err
			}
			continue // somebody was faster
		case !known.inFlight(in.At) || time.Now().After(patience) || !sleep(ctx, pause):
			return e, false, nil
		}
	}
}

// mostEvidence bounds how often a payment is submitted, proved unsent, and submitted again: each time adds two pieces of
// evidence, and stores write an entry whole. It leaves room for what the gateway can still be found to say.
const mostEvidence = 2000

// maySubmit reports whether another submission is allowed. Where an earlier one is proved unsent it always is. Where
// one was refused or is presumed absent it takes a caller who accepts the risk. Otherwise never.
func (p *projection) maySubmit(again bool) bool {
	return !p.conflict && (p.state == NotSent || again && (p.state == PresumedAbsent || p.state == Refused))
}

// inFlight reports whether another process may be about to record an outcome.
func (p *projection) inFlight(now time.Time) bool {
	return p.state == Unknown && !p.answered && now.Sub(p.intent.At) < longestFlight
}

// begin creates the entry. A store that failed is asked again, at least once, since it may have written all the same:
// an entry with this call's own mark is this call's.
func (j *Journal) begin(ctx context.Context, in Intent) (Entry, bool, error) {
	begun := time.Now()
	for n := 1; ; n++ {
		e, created, err := j.tryBegin(ctx, in)
		if err == nil {
			return e, created || len(e.Evidence) == 0 && e.Begun.Sender == in.Sender, nil
		}
		if n > 1 && (ctx.Err() != nil || time.Since(begun) >= beginPatience) {
			return e, false, in.notSent(fmt.Errorf("journal: the intent could not be recorded: %w", err))
		}
		time.Sleep(rand.N(beginPause))
	}
}

// A store that cannot take an intent is asked again for a while, at random moments: a database can be busy with other
// payments, or come back.
const (
	beginPatience = time.Second
	beginPause    = 100 * time.Millisecond
)

// submit records that this call submits the payment once more. It reports false if somebody else was faster.
func (j *Journal) submit(ctx context.Context, e *Entry, in Intent) (bool, error) {
	ev := Evidence{At: in.At, Source: SourceSubmission, Submission: &in}
	failed := j.append(ctx, e, ev)
	if failed == nil {
		return true, nil
	}
	now, err := j.get(ctx, e.TransactionID())
	if err != nil {
		return false, in.notSent(fmt.Errorf("journal: the submission could not be recorded: %w", failed))
	}
	*e = now
	known := now.project()
	return known.intent.Sender == in.Sender && !known.answered && known.state == Unknown, nil
}
