package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go"
)

// claim makes sure that this call, and no other anywhere, may send the payment. It returns the entry, and false if
// the payment is somebody else's or needs no sending. An error means that nothing was sent.
func (j *Journal) claim(ctx context.Context, p *payment) (e Entry, mine bool, err error) {
	if err := ctx.Err(); err != nil {
		return e, false, p.intent.notSent(err)
	}
	patience := time.Now().Add(j.opts.WaitElsewhere)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		e, mine, err = j.begin(ctx, p.intent)
		if err != nil || mine {
			return e, mine, err
		}
		v := e.view()
		switch {
		case !v.invalid && !v.intent.same(&p.intent):
			return e, false, &MismatchError{Asked: p.intent, Recorded: v.intent}
		case v.maySubmit(p.again) && len(e.Evidence) >= mostEvidence:
			return e, false, &cardgateway.ValidationError{Op: p.intent.Operation, Problems: []cardgateway.Problem{{
				Field: "transactionId", Rule: cardgateway.RuleRange, Message: "was submitted too often: use another one",
			}}}
		case v.maySubmit(p.again):
			mine, err = j.submit(ctx, &e, p.intent)
			if err != nil || mine {
				return e, mine, err
			}
			continue // somebody was faster
		case !v.inFlight(p.intent.At) || time.Now().After(patience) || !sleep(ctx, pause):
			return e, false, nil
		}
	}
}

// mostEvidence bounds how often a payment is submitted, proved unsent, and submitted again: each time adds two pieces of
// evidence, and stores write an entry whole. It leaves room for what the gateway can still be found to say.
const mostEvidence = 2000

// maySubmit reports whether another submission is allowed. Where an earlier one is proved unsent it always is. Where
// one was refused or is presumed absent it takes a caller who accepts the risk. Otherwise never.
func (v *view) maySubmit(again bool) bool {
	return !v.conflict && (v.state == NotSent || again && (v.state == PresumedAbsent || v.state == Refused))
}

// inFlight reports whether another process may be about to record an outcome.
func (v *view) inFlight(now time.Time) bool {
	return v.state == Unknown && !v.answered && now.Sub(v.intent.At) < longestFlight
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

func (j *Journal) tryBegin(ctx context.Context, in Intent) (Entry, bool, error) {
	ctx, cancel := j.detached(ctx)
	defer cancel()
	return j.store.Begin(ctx, in)
}

// submit records that this call submits the payment once more. It reports false if somebody else was faster.
func (j *Journal) submit(ctx context.Context, e *Entry, in Intent) (bool, error) {
	ev := Evidence{At: in.At, Source: SourceSubmission, Submission: &in}
	failed := j.append(ctx, e, ev)
	if failed == nil {
		return true, nil
	}
	now, _, err := j.tryBegin(ctx, e.Begun)
	if err != nil {
		return false, in.notSent(fmt.Errorf("journal: the submission could not be recorded: %w", failed))
	}
	*e = now
	v := now.view()
	return v.intent.Sender == in.Sender && !v.answered && v.state == Unknown, nil
}

// record appends evidence that must not be lost, whatever others have appended meanwhile. It returns the entry with
// it.
func (j *Journal) record(ctx context.Context, e Entry, ev Evidence) (Entry, error) {
	ev.At = j.clock.now()
	var err error
	begun := time.Now()
	for range recordTries {
		if err = j.append(ctx, &e, ev); err == nil {
			return e, nil
		}
		if !errors.Is(err, ErrChanged) {
			if time.Since(begun) >= j.opts.WriteTimeout {
				break
			}
			time.Sleep(recordPause)
		}
		now, _, failed := j.tryBegin(ctx, e.Begun)
		if failed == nil {
			e = now
		}
	}
	return e, err
}

// recordTries bounds how often evidence is offered to a store. Each refusal but a failure means that another process
// has recorded something, of which there is little. After a failure there is a pause, in which a database may come back.
const (
	recordTries = 10
	recordPause = 100 * time.Millisecond
)

// append records evidence as the next piece of the entry.
func (j *Journal) append(ctx context.Context, e *Entry, ev Evidence) error {
	ctx, cancel := j.detached(ctx)
	defer cancel()
	if err := j.store.Record(ctx, e.TransactionID(), len(e.Evidence), ev); err != nil {
		return err
	}
	return e.record(len(e.Evidence), ev)
}

// detached is a context for a write, which the caller's cancellation does not stop.
func (j *Journal) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), j.opts.WriteTimeout)
}

// recordable reports whether an intent can be kept by any store. The limits are the interface's own ("Limits"), so
// that the client refuses whatever is refused here.
func (in *Intent) recordable() bool {
	exp := in.Amount.Exponent()
	return in.TransactionID != "" && isStorable(in.TransactionID) && isStorable(in.OrderID) && isStorable(in.Currency) &&
		exp >= -3 && exp <= 12 && in.Amount.NumDigits() <= 12
}

// isStorable reports whether a text has at most 128 characters and none that a store could refuse or change.
func isStorable(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= 128 && !strings.ContainsFunc(s, unicode.IsControl)
}

// sleep waits, and reports false if ctx ended first.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
