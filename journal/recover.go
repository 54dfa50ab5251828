package journal

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

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
// end of ctx, and ends the walk. Each entry is read anew by Begin, so that the store must be one that can be written.
func (j *Journal) Recover(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range j.store.Unacked(ctx) {
			news := false
			if err == nil {
				e, news, err = j.catchUp(ctx, e)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !news {
				continue
			}
			j.tell(&e, e.State())
			if !yield(e, nil) {
				return
			}
		}
	}
}

// catchUp settles an entry of a list, which can be older than what callers have done and been told since, and reports
// whether there is still something to tell.
func (j *Journal) catchUp(ctx context.Context, e Entry) (_ Entry, news bool, err error) {
	id := e.TransactionID()
	if j.isFlying(id) {
		return e, false, nil
	}
	switch err = j.store.Ack(ctx, id, -1); { // no entry has so many pieces: it only says whether there is something to tell
	case errors.Is(err, ErrNoEntry): // acknowledged and forgotten since it was listed
		return e, false, nil
	case !errors.Is(err, ErrChanged): // acknowledged, or a failure
		return e, false, err
	}
	if e, _, err = j.tryBegin(ctx, e.Begun); err != nil || !e.Unacked() {
		return e, false, err
	}
	if e, err = j.settle(ctx, e); err != nil {
		return e, false, err
	}
	// Asking takes time, in which a caller can have been told more.
	if e, _, err = j.tryBegin(ctx, e.Begun); err != nil {
		return e, false, err
	}
	return e, e.Unacked() && !j.isFlying(id), nil
}

// Ack acknowledges that the merchant's own books hold the outcome that this Journal last told of the payment, by a
// payment method or by Recover, or after a restart the outcome that the store holds: it will not be repeated. Of a
// payment that is Pending, Refused or PresumedAbsent it means also that nobody asks any more what became of it.
// Acknowledge a pending one only if something else, such as the notification, will say how it ends, and an absence only
// when it is too late for the request to arrive.
//
// Ack returns ErrOpen for a payment without an outcome, ErrChanged if more is known by now than was told (Recover
// will tell it), ErrNoEntry for a payment that was never begun, and any failure of the store. A call that could not
// look into the store, or was a mismatch, has told nothing: after it, too, Ack returns ErrChanged until the payment is
// told by this Journal.
func (j *Journal) Ack(ctx context.Context, transactionID string) error {
	t, err := j.toldOf(ctx, transactionID)
	if err != nil {
		return err
	}
	if t.state == Unknown {
		return ErrOpen
	}
	err = j.store.Ack(ctx, transactionID, t.pieces)
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(err, ErrChanged) && j.told[transactionID] == t {
		j.told[transactionID] = told{t.intent, -1, t.state, t.at} // whatever the store holds is news: it can have lost some
	}
	if err == nil || errors.Is(err, ErrNoEntry) {
		delete(j.told, transactionID)
		delete(j.asked, transactionID)
	}
	return err
}

// toldOf returns what was told of a payment. If this Journal told nothing, which is so after a restart, the caller
// means what the store says now.
func (j *Journal) toldOf(ctx context.Context, transactionID string) (told, error) {
	j.mu.Lock()
	t, ok := j.told[transactionID]
	j.mu.Unlock()
	if ok {
		return t, nil
	}
	for e, err := range j.store.Unacked(ctx) {
		if err != nil {
			return told{}, err
		}
		if e.TransactionID() == transactionID {
			return told{intent: e.Intent(), pieces: len(e.Evidence), state: e.State()}, nil
		}
	}
	// Acknowledged already, or never begun: the store knows which, and for the former any number will do.
	return told{state: NotSent}, nil
}

// settle asks the gateway about an open payment and returns the entry with what was learnt.
func (j *Journal) settle(ctx context.Context, e Entry) (Entry, error) {
	v := e.view()
	if !v.open() || !j.due(&e) {
		return e, ctx.Err()
	}
	queries, absent := e.queries(), 0
	for _, at := range queries {
		t, err := j.client.Resolve(ctx, cardgateway.ResolveQuery{
			TransactionID: v.intent.TransactionID, OrderID: v.intent.OrderID,
			Amount: v.intent.Amount, Currency: v.intent.Currency, SentAt: at, Wait: j.opts.Settle,
		})
		if ctx.Err() != nil {
			j.notAsked(e.TransactionID())
			return e, ctx.Err()
		}
		if errors.Is(err, cardgateway.ErrNotFound) {
			if absent++; absent < len(queries) {
				continue // the other windows have to say so too
			}
		}
		for _, ev := range j.learnt(&e, t, err) {
			if e, err = j.learn(ctx, e, ev); err != nil {
				return e, err
			}
		}
	}
	return e, nil
}

// learn records evidence of a query if it changes what is known. If another process has recorded something
// meanwhile, it is judged against that.
func (j *Journal) learn(ctx context.Context, e Entry, ev Evidence) (Entry, error) {
	ev.At = j.clock.now()
	for range recordTries {
		if !e.view().adds(&ev, &e) {
			return e, nil
		}
		err := j.append(ctx, &e, ev)
		if err == nil || !errors.Is(err, ErrChanged) {
			return e, err
		}
		if e, _, err = j.tryBegin(ctx, e.Begun); err != nil {
			return e, err
		}
		if ev.State == PresumedAbsent && !j.absent(e.view()) {
			return e, nil // it was submitted again meanwhile
		}
	}
	return e, ErrChanged
}

// learnt turns what Resolve returned into evidence.
func (j *Journal) learnt(e *Entry, t *cardgateway.Transaction, err error) []Evidence {
	conflict, isConflict := errors.AsType[*cardgateway.ConflictError](err)
	switch {
	case isConflict:
		return fatesOf(conflict, e)
	case errors.Is(err, cardgateway.ErrDeclined) && len(e.submissions()) > 1 && !j.isOld(e.Intent()):
		return nil // it may be how the gateway turned a repetition away, and the first submission still be on its way
	case t != nil && (err == nil || errors.Is(err, cardgateway.ErrDeclined)):
		return []Evidence{{Source: SourceQuery, State: stateOf(t), Transaction: keptOfQuery(t, e)}}
	case errors.Is(err, cardgateway.ErrNotFound) && j.absent(e.view()):
		return []Evidence{{Source: SourceQuery, State: PresumedAbsent}}
	}
	return nil
}

// fatesOf gives the outcomes of a conflict one by one, so that they add up to a conflict here too, successes first:
// if the next one cannot be recorded, it is known that money has moved. A decline beside a success is none if the
// payment was submitted more than once: it is then how the gateway turned the repetition away.
func fatesOf(conflict *cardgateway.ConflictError, e *Entry) (all []Evidence) {
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
func (j *Journal) absent(v *view) bool {
	return v.state == Unknown && j.isOld(v.intent)
}

// isOld reports whether a submission that still brings something new is no longer expected.
func (j *Journal) isOld(in Intent) bool { return j.clock.earliest().Sub(in.At) >= j.opts.AbsentAfter }

// due reports whether a payment should be asked about now, and notes that it is.
func (j *Journal) due(e *Entry) bool {
	now := j.clock.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	last, asked := j.asked[e.TransactionID()]
	if asked && now.Sub(last) < j.clock.earliest().Sub(e.Intent().At)/8 {
		return false
	}
	j.asked[e.TransactionID()] = now
	return true
}

// notAsked takes back what due has noted.
func (j *Journal) notAsked(transactionID string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.asked, transactionID)
}

// submissions returns the times of the submissions that may have left, or of the last one if none did.
func (e *Entry) submissions() []time.Time {
	sent := []*Intent{&e.Begun}
	last := sent[0]
	for i := range e.Evidence {
		switch ev := &e.Evidence[i]; {
		case ev.Source == SourceSubmission:
			last = ev.Submission
			sent = append(sent, last)
		case ev.State == NotSent:
			sent = slices.DeleteFunc(sent, func(in *Intent) bool { return in.Sender == ev.Sender })
		}
	}
	if len(sent) == 0 {
		return []time.Time{last.At}
	}
	times := make([]time.Time, len(sent))
	for i, in := range sent {
		times[i] = in.At
	}
	return times
}

// queries returns the times from which on the gateway is asked: of submissions far apart each by itself, so that a
// decline of a later one is seen alone.
func (e *Entry) queries() (times []time.Time) {
	const spanned = 14 * 24 * time.Hour
	for _, at := range e.submissions() {
		if len(times) == 0 || at.Sub(times[len(times)-1]) > spanned {
			times = append(times, at)
		}
	}
	return times
}
