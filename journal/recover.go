package journal

import (
	"context"
	"errors"
	"iter"

	"github.com/cardgateway/cardgateway-go"
)

// Recover asks the gateway about every payment that is open, and gives every payment that has something the merchant
// has not acknowledged, oldest first: what it comes to is in the entry's Outcome. Payments that this Journal is just
// making are left to their callers; those of another process can appear while it makes them, since asking does no
// harm, and are then told twice.
//
// Call it at the start and then regularly, from one process at a time. A payment is asked about again when an eighth
// of the time since its submission has passed since it was last asked, so a walk every minute is cheap. An answer
// that the gateway could not give leaves the payment open and is no error: an error is a failure of the store, or the
// end of ctx, and ends the walk.
func (j *Journal) Recover(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range j.store.Unacked(ctx) {
			news := false
			if err == nil {
				e, news, err = j.refresh(ctx, e)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !news {
				continue
			}
			j.reported.set(&e, e.State())
			if !yield(e, nil) {
				return
			}
		}
	}
}

// refresh settles an entry of a list, which can be older than what callers have done and been told since, and reports
// whether there is still something to tell.
func (j *Journal) refresh(ctx context.Context, e Entry) (_ Entry, news bool, err error) {
	id := e.TransactionID()
	if j.calls.inFlight(id) {
		return e, false, nil
	}
	if e, err = j.get(ctx, id); err == nil && e.Unacked() {
		if e, err = j.settle(ctx, e); err == nil {
			e, err = j.get(ctx, id) // asking takes time, in which a caller can have been told more
		}
	}
	if errors.Is(err, ErrNoEntry) { // acknowledged and forgotten since it was listed
		return e, false, nil
	}
	return e, err == nil && e.Unacked() && !j.calls.inFlight(id), err
}

// settle asks the gateway about an open payment and returns the entry with what the gateway showed.
func (j *Journal) settle(ctx context.Context, e Entry) (Entry, error) {
	known := e.project()
	if !known.open() || !j.due(&e) {
		return e, ctx.Err()
	}
	queries, absent := e.queries(), 0
	for _, at := range queries {
		t, err := j.client.Resolve(ctx, cardgateway.ResolveQuery{
			TransactionID: known.intent.TransactionID, OrderID: known.intent.OrderID,
			Amount: known.intent.Amount, Currency: known.intent.Currency, SentAt: at, Wait: j.opts.Settle,
		})
		if ctx.Err() != nil {
			j.asked.forget(e.TransactionID()) // the question was cut off
			return e, ctx.Err()
		}
		if errors.Is(err, cardgateway.ErrNotFound) {
			if absent++; absent < len(queries) {
				continue // the other windows have to say so too
			}
		}
		for _, ev := range j.evidenceFrom(&e, t, err) {
			if e, err = j.addIfNew(ctx, e, ev); err != nil {
				return e, err
			}
		}
	}
	return e, nil
}

// addIfNew records evidence of a query if it changes what is known. If another process has recorded something
// meanwhile, it is judged against that.
func (j *Journal) addIfNew(ctx context.Context, e Entry, ev Evidence) (Entry, error) {
	ev.At = j.clock.now()
	for range recordTries {
		if !e.project().changedBy(&ev, &e) {
			return e, nil
		}
		err := j.append(ctx, &e, ev)
		if err == nil || !errors.Is(err, ErrChanged) {
			return e, err
		}
		if e, err = j.get(ctx, e.TransactionID()); err != nil {
			return e, err
		}
		if ev.State == PresumedAbsent && !j.absent(e.project()) {
			return e, nil // it was submitted again meanwhile
		}
	}
	return e, ErrChanged
}

// evidenceFrom turns what Resolve returned into evidence.
func (j *Journal) evidenceFrom(e *Entry, t *cardgateway.Transaction, err error) []Evidence {
	conflict, isConflict := errors.AsType[*cardgateway.ConflictError](err)
	switch {
	case isConflict:
		return outcomesOf(conflict, e)
	case errors.Is(err, cardgateway.ErrDeclined) && len(e.submissions()) > 1 && !j.isOld(e.Intent()):
		return nil // it may be how the gateway turned a repetition away, and the first submission still be on its way
	case t != nil && (err == nil || errors.Is(err, cardgateway.ErrDeclined)):
		return []Evidence{{Source: SourceQuery, State: stateOf(t), Transaction: keptOfQuery(t, e)}}
	case errors.Is(err, cardgateway.ErrNotFound) && j.absent(e.project()):
		return []Evidence{{Source: SourceQuery, State: PresumedAbsent}}
	}
	return nil
}

// outcomesOf gives the outcomes of a conflict one by one, so that they add up to a conflict here too, successes first:
// if the next one cannot be recorded, it is known that money has moved. A decline beside a success is none if the
// payment was submitted more than once: it is then how the gateway turned the repetition away.
func outcomesOf(conflict *cardgateway.ConflictError, e *Entry) (all []Evidence) {
	repeated := len(e.submissions()) > 1
	for _, state := range []State{Succeeded, Declined} {
		for i := range conflict.Transactions {
			t := &conflict.Transactions[i]
			if stateOf(t) == state && !(repeated && state == Declined) {
				all = append(all, Evidence{Source: SourceQuery, State: state, Transaction: keptOfQuery(t, e)})
			}
		}
	}
	return all
}

// absent reports whether a payment that the gateway does not know has been open for so long that it is presumed
// absent.
func (j *Journal) absent(known *projection) bool {
	return known.state == Unknown && j.isOld(known.intent)
}

// isOld reports whether a submission that still brings something new is no longer expected.
func (j *Journal) isOld(in Intent) bool { return j.clock.earliest().Sub(in.At) >= j.opts.AbsentAfter }

// due reports whether a payment should be asked about now, and notes that it is.
func (j *Journal) due(e *Entry) bool {
	open := j.clock.earliest().Sub(e.Intent().At)
	return j.asked.due(e.TransactionID(), j.clock.now(), open/8)
}
