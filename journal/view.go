package journal

import "github.com/cardgateway/cardgateway-go"

// view is what the evidence of an entry comes to. It is computed by adding one piece after another, so that two
// processes that read the same evidence always know the same.
type view struct {
	intent   Intent // of the latest submission
	state    State
	conflict bool
	fresh    bool      // every earlier submission is proved unsent: a decline can only mean this one
	answered bool      // the latest submission has been answered, if only with something uncertain
	invalid  bool      // the latest submission violated a limit
	deciding *Evidence // what state rests on; nil if on nothing but the intent

	before *view       // what was known before the latest submission; returns if that was not sent; nil at the first
	saidNo bool        // state has been one of those that a success contradicts, since the latest submission
	fates  []*Evidence // the final outcomes, once each
}

func (e *Entry) view() *view {
	v := &view{intent: e.Begun, fresh: true}
	for i := range e.Evidence {
		v.add(&e.Evidence[i])
	}
	return v
}

func (v *view) add(ev *Evidence) {
	if ev.Source == SourceSubmission {
		v.submit(ev)
		return
	}
	v.answered = v.answered || ev.Source == SourceAnswer && ev.Sender == v.intent.Sender
	switch ev.State {
	case NotSent, Refused:
		v.deny(ev)
	case PresumedAbsent:
		if v.state == Unknown {
			v.decide(ev)
		}
	case Pending:
		if v.state <= Pending {
			v.decide(ev)
		}
	case Declined:
		v.fate(ev)
		if v.state == Succeeded {
			v.conflict = true
		} else {
			v.decide(ev)
		}
	case Succeeded:
		v.succeed(ev)
	}
}

// submit begins another submission: what was known before says nothing about it.
func (v *view) submit(ev *Evidence) {
	before := *v
	v.fresh = v.fresh && v.state == NotSent
	v.before, v.state, v.deciding = &before, Unknown, nil
	v.intent, v.answered, v.invalid, v.saidNo = *ev.Submission, false, false, false
}

// deny takes the word of a submission that it was not sent, or refused. That says nothing about the ones before.
func (v *view) deny(ev *Evidence) {
	switch {
	case ev.Sender != v.intent.Sender: // of an earlier one
	case v.state == Succeeded:
		v.conflict = true
	case v.state != Unknown:
	case v.before == nil || v.before.state == NotSent:
		v.invalid = ev.Invalid
		v.decide(ev)
	default:
		v.state, v.saidNo, v.deciding = v.before.state, v.before.saidNo, v.before.deciding
	}
}

// succeed is final whatever was known, and a conflict if that was a no, or another success.
func (v *view) succeed(ev *Evidence) {
	v.fate(ev)
	v.conflict = v.conflict || v.saidNo || v.paid() > 1
	if v.state != Succeeded {
		v.decide(ev)
	}
}

func (v *view) decide(ev *Evidence) {
	v.state, v.deciding = ev.State, ev
	switch ev.State {
	case NotSent, Refused, PresumedAbsent, Declined:
		v.saidNo = true
	}
}

// fate notes a final outcome, unless it is known.
func (v *view) fate(ev *Evidence) {
	for _, known := range v.fates {
		t := known.Transaction
		same := t.UniqueID == ev.Transaction.UniqueID && t.Code == ev.Transaction.Code
		if same && (t.UniqueID != "" || known.Source == ev.Source && atOneTime(t, ev.Transaction)) {
			return
		}
	}
	v.fates = append(v.fates, ev)
}

// atOneTime reports whether two answers, or two rows, that have no ids can be the same by their times.
func atOneTime(a, b *cardgateway.Transaction) bool {
	return a.TransactionAt == b.TransactionAt || a.TransactionAt.IsZero() || b.TransactionAt.IsZero()
}

// paid is how many successes there are at least. An answer and a row without ids can be of the same one, whatever
// their times.
func (v *view) paid() int {
	ids, without := 0, map[Source]int{}
	for _, ev := range v.fates {
		switch {
		case ev.State != Succeeded:
		case ev.Transaction.UniqueID != "":
			ids++
		default:
			without[ev.Source]++
		}
	}
	return ids + max(without[SourceAnswer], without[SourceQuery])
}

// adds reports whether a piece of evidence would change what is known.
func (v *view) adds(ev *Evidence, e *Entry) bool {
	more := *e
	more.Evidence = append(more.Evidence[:len(more.Evidence):len(more.Evidence)], *ev)
	after := more.view()
	return after.state != v.state || after.conflict != v.conflict || len(after.fates) != len(v.fates)
}

// open reports whether asking the gateway can still change what is known. NotSent is proved, and a final outcome
// final, unless an earlier submission may have another; a refusal is only the gateway's word.
func (v *view) open() bool {
	return !v.fresh || v.state == Unknown || v.state == Refused || v.state == PresumedAbsent || v.state == Pending
}
