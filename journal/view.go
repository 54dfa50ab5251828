package journal

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

	before    *view       // what was known before the latest submission; returns if that was not sent; nil at the first
	saidNo    bool        // state has been one of those that a success contradicts, since the latest submission
	fates     []*Evidence // the final outcomes, once each
	successes int         // among them
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
	if v.fate(ev) {
		v.successes++
	}
	v.conflict = v.conflict || v.saidNo || v.successes > 1
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

// fate notes a final outcome, and reports whether it is one more.
func (v *view) fate(ev *Evidence) bool {
	for _, known := range v.fates {
		t := known.Transaction
		same := t.UniqueID == ev.Transaction.UniqueID && t.Code == ev.Transaction.Code
		if same && (t.UniqueID != "" || !toldApart(known, ev)) {
			return false
		}
	}
	v.fates = append(v.fates, ev)
	return true
}

// toldApart reports whether two outcomes without ids are those of two transactions: both were said in the same way,
// with different times. An answer's time and a row's need not agree.
func toldApart(a, b *Evidence) bool {
	at, other := a.Transaction.TransactionAt, b.Transaction.TransactionAt
	return a.Source == b.Source && at != other && !at.IsZero() && !other.IsZero()
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
