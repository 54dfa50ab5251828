package journal

import (
	"slices"
	"sort"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/recurring"
)

// Intent returns the intent of the latest submission.
func (e *Entry) Intent() Intent { return e.project().intent }

// State returns the state that results from all evidence. In an entry that comes from a Store and not from a Journal, a success
// that is marked as a test is Tested.
func (e *Entry) State() State { return e.project().current() }

// current returns the state, or Conflicting, or Tested.
func (p *projection) current() State {
	if p.conflict {
		return Conflicting
	}
	if p.isTest() && !p.testPayments {
		return Tested
	}
	return p.state
}

// isTest reports whether it succeeded, and the gateway has marked it as a test in any form in which it returned it.
func (p *projection) isTest() bool {
	return p.state == Succeeded && slices.ContainsFunc(p.tests, func(ev *Evidence) bool {
		return ev.canBeOne(p.deciding) && !p.isLater(ev, p.deciding)
	})
}

// projection is the result of an entry's evidence, in the sense of event sourcing: a left fold over the evidence. It
// depends on nothing else, so that two processes that read the same evidence always reach the same result. Only whether a test counts
// as paid is a setting, which changes the name of that result: see current.
type projection struct {
	intent   Intent // of the latest submission
	state    State
	conflict bool
	sent     []submission // all that may have been sent. One that was refused may have been processed all the same: a refusal is no proof
	sentAt   time.Time    // the first time that it may have been sent
	once     bool         // at most one submission may have been sent: a decline can only belong to that one
	answered bool         // the result of the latest submission's call was recorded, even if it is unknown
	invalid  bool         // the latest submission violated a limit
	seen     bool         // the gateway has returned the id in some form
	deciding *Evidence    // the evidence that determines state; nil if only the intent does

	// What the gateway has shown since the latest submission: the latest evidence of each row, and of these what is in processing.
	rows       map[row]*Evidence
	processing []*Evidence

	earlier  *projection // the result before the latest submission, valid again if that was not sent; nil if it is the first
	ruledOut bool        // since the latest submission, state has been one that a success contradicts
	outcomes []*Evidence // the final outcomes
	charges  []*Evidence // the successes of them that differ in id, source or time, by time
	tests    []*Evidence // what is marked as a test, and succeeded or pending: a gateway may mark only its first response, with code 102

	answeredAt   time.Time // when the gateway answered the latest submission's call, by its own clock; zero if that is not known
	testPayments bool      // of the entry
}

func (e *Entry) project() *projection {
	p := &projection{intent: e.Begun, sent: []submission{{e.Begun.Sender, e.Begun.At}}, testPayments: e.testPayments}
	for i := range e.Evidence {
		p.add(&e.Evidence[i])
	}
	p.once, p.sentAt = len(p.sent) <= 1, p.intent.At
	if len(p.sent) > 0 {
		p.sentAt = p.sent[0].at
	}
	return p
}

// add adds one piece of evidence:
//
//	state \ evidence  NotSent, Refused  PresumedAbsent   Pending  Abandoned  Declined  Succeeded
//	Unknown           it, or back       it, unless seen  it       it         it        it
//	NotSent, Refused  stays             stays            it       it         it        conflict
//	PresumedAbsent    stays             stays            it       it         it        conflict
//	Pending           stays             stays            it       it         it        it
//	Abandoned         stays             stays            stays    it         it        it
//	Declined          stays             stays            stays    stays      it        conflict
//	Succeeded         conflict          stays            stays    stays      conflict  stays, or conflict if it is another one,
//	                                                                                   unless that is a later charge: see isLater
//
// A row that is shown again, pending or declined, with the same code and evidence of the same state, adds nothing. While a row is in
// processing, Pending is decided by it, and not by the decline of another row or a page that waits for the cardholder.
//
// "Back" is the result before the latest submission, if that submission may have been sent. NotSent and Refused count only for
// the latest submission. PresumedAbsent becomes Unknown once the gateway has returned the id in any form. A success is a conflict
// also if a state that it contradicts came before, since that submission.
func (p *projection) add(ev *Evidence) {
	if ev.Source == SourceSubmission {
		p.submit(ev)
		return
	}
	p.seen = p.seen || ev.Seen
	if (ev.State == Succeeded || ev.State == Pending) && ev.Transaction != nil && ev.Transaction.IsTest {
		p.tests = append(p.tests, ev)
	}
	if ev.Source == SourceAnswer && ev.Sender == p.intent.Sender {
		p.answered = true
		if at := ev.facts().timestamp; p.intent.At.Sub(at) < believedAhead {
			p.answeredAt = at
		}
	}
	if p.show(ev) {
		p.addState(ev)
	}
	if p.seen && p.state == PresumedAbsent { // the gateway has it after all
		p.state, p.deciding = Unknown, nil
	}
}

// believedAhead is how far ahead this machine's clock may have been when a payment was sent, by the gateway's time in the answer. No clock is
// ahead by more: the time is wrong then.
const believedAhead = 60 * 24 * time.Hour

// addState adds the state of one piece of evidence.
func (p *projection) addState(ev *Evidence) {
	switch ev.State {
	case NotSent, Refused:
		p.addDenial(ev)
	case PresumedAbsent:
		if p.state == Unknown && !p.seen {
			p.decide(ev)
		}
	case Pending:
		if n := len(p.processing); n > 0 {
			ev = p.processing[n-1]
		}
		if p.state <= Pending {
			p.decide(ev)
		}
	case Abandoned:
		if p.state <= Abandoned {
			p.decide(ev)
		}
	case Declined:
		p.outcomes = append(p.outcomes, ev)
		if p.state == Succeeded {
			p.conflict = true
		} else {
			p.decide(ev)
		}
	case Succeeded:
		p.addSuccess(ev)
	}
}

// row identifies what the gateway shows: by its id, or without one by the source of the evidence and the gateway's time.
type row struct {
	id     string
	source Source
	at     cardgateway.WallTime
}

func (ev *Evidence) row() row {
	shown := ev.facts()
	if shown.id != "" {
		return row{id: shown.id}
	}
	return row{source: ev.Source, at: shown.at}
}

// show remembers what evidence shows of a row, and reports whether that adds anything. A success always does: see canBeOne.
func (p *projection) show(ev *Evidence) bool {
	got := ev.facts()
	if ev.result().isNothing() {
		return true
	}
	if last := p.rows[ev.row()]; last != nil && ev.State != Succeeded && last.State == ev.State && last.facts().code == got.code {
		return false
	}
	if p.rows == nil {
		p.rows = make(map[row]*Evidence)
	}
	p.rows[ev.row()] = ev
	p.processing = slices.DeleteFunc(p.processing, ev.canBeOne)
	if ev.State == Pending && got.state == cardgateway.StateProcessing {
		p.processing = append(p.processing, ev)
	}
	return true
}

// isProcessingBeside reports whether another row than that of the evidence is in processing.
func (p *projection) isProcessingBeside(ev *Evidence) bool {
	return slices.ContainsFunc(p.processing, func(other *Evidence) bool { return !ev.canBeOne(other) })
}

// submit begins another submission: what was known before says nothing about it.
func (p *projection) submit(ev *Evidence) {
	p.sent = append(p.sent, submission{ev.Submission.Sender, ev.Submission.At})
	earlier := *p
	earlier.earlier = nil // never used: without this, all of them would stay in memory
	p.earlier, p.state, p.deciding = &earlier, Unknown, nil
	p.intent, p.answered, p.answeredAt, p.invalid, p.ruledOut = *ev.Submission, false, time.Time{}, false, false
	p.rows, p.processing = nil, nil
}

// addDenial adds that a submission was not sent, or was refused. That says nothing about earlier submissions: if one of them
// may have been sent, what was known about it applies again.
func (p *projection) addDenial(ev *Evidence) {
	if ev.State == NotSent {
		p.sent = slices.DeleteFunc(p.sent, func(s submission) bool { return s.sender == ev.Sender })
	}
	switch {
	case ev.Sender != p.intent.Sender: // it belongs to an earlier submission
	case p.state == Succeeded:
		p.conflict = true
	case p.state != Unknown:
	case p.earlier == nil || p.earlier.state == NotSent || p.earlier.state == Refused && ev.State == Refused:
		p.invalid = ev.Invalid
		p.decide(ev)
	default:
		p.state, p.ruledOut, p.deciding = p.earlier.state, p.earlier.ruledOut, p.earlier.deciding
		p.rows, p.processing = p.earlier.rows, p.earlier.processing
	}
}

// addSuccess adds a success, which is final whatever was known. It is a conflict after a state that contradicts it, and if
// there is another success. The first charge of a subscription decides, whichever became known first.
func (p *projection) addSuccess(ev *Evidence) {
	another := func(before *Evidence) bool {
		return !ev.canBeOne(before) && !p.isLater(ev, before) && !p.isLater(before, ev)
	}
	if !p.conflict {
		p.conflict = p.ruledOut || slices.ContainsFunc(p.rivals(ev), another)
		p.insertCharge(ev)
	}
	p.outcomes = append(p.outcomes, ev)
	switch {
	case p.state != Succeeded, p.isLater(p.deciding, ev):
		p.decide(ev)
	case p.deciding.facts().id == "" && ev.facts().id != "" && !p.isLater(ev, p.deciding): // the id is needed for a refund
		p.decide(ev)
	}
}

// rivals returns the successes that can be a second payment beside this one. Any other is an earlier or later charge of the subscription: see
// isLater. There are few as long as there is no conflict, so that the years of a subscription with daily charges cost time in proportion.
func (p *projection) rivals(ev *Evidence) (near []*Evidence) {
	gap, at := recurring.Gap(string(p.intent.SubscriptionCycle)), ev.chargedAt()
	if gap == 0 || at.IsZero() {
		return p.charges
	}
	add := func(from, to time.Time) {
		for i := p.chargesBefore(from); i < len(p.charges) && !p.charges[i].chargedAt().After(to); i++ {
			near = append(near, p.charges[i])
		}
	}
	add(time.Time{}, time.Time{}) // those without a time
	add(at.Add(-gap), at.Add(gap))
	for i, s := range p.sent {
		for _, before := range p.sent[:i] {
			apart, day := s.at.Sub(before.at).Abs(), recurring.Gap("DAY")
			add(at.Add(-apart-day), at.Add(-apart+day))
			add(at.Add(apart-day), at.Add(apart+day))
		}
	}
	return near
}

// insertCharge adds a success to those that are sorted by time.
func (p *projection) insertCharge(ev *Evidence) {
	i := p.chargesBefore(ev.chargedAt())
	for j := i; j < len(p.charges) && p.charges[j].chargedAt().Equal(ev.chargedAt()); j++ {
		if p.charges[j].row() == ev.row() && p.charges[j].Source == ev.Source {
			return
		}
	}
	p.charges = slices.Insert(p.charges, i, ev)
}

// chargesBefore returns how many successes were made before a time.
func (p *projection) chargesBefore(at time.Time) int {
	return sort.Search(len(p.charges), func(i int) bool { return !p.charges[i].chargedAt().Before(at) })
}

// chargedAt returns the gateway's time in a form that can be compared, or zero.
func (ev *Evidence) chargedAt() time.Time {
	if at := ev.facts().at; !at.IsZero() {
		return at.In(time.UTC)
	}
	return time.Time{}
}

// isNoNewsAfter reports whether the outcome is the same success as before: what was added is a later charge of a subscription.
func (p *projection) isNoNewsAfter(before *projection) bool {
	return !p.conflict && before.state == Succeeded && p.current() == before.current() && p.deciding.facts().id == before.deciding.facts().id
}

// isLater reports whether evidence is about a later charge of a subscription than other evidence, by the gateway's times: about
// a cycle later, or more. It is not a second payment then. See package recurring. If two submissions are as far apart as the
// charges, each may have made one of them: then the customer has two subscriptions.
func (p *projection) isLater(ev, than *Evidence) bool {
	gap, at, before := recurring.Gap(string(p.intent.SubscriptionCycle)), ev.chargedAt(), than.chargedAt()
	if gap == 0 || at.IsZero() || before.IsZero() {
		return false
	}
	apart := at.Sub(before)
	return apart >= gap && !p.submittedApart(apart)
}

// submission is when a call of a sender recorded that it was about to send.
type submission struct {
	sender string
	at     time.Time
}

// submittedApart reports whether two submissions are about so far apart.
func (p *projection) submittedApart(apart time.Duration) bool {
	for i, s := range p.sent {
		if slices.ContainsFunc(p.sent[:i], func(before submission) bool { return (s.at.Sub(before.at) - apart).Abs() < recurring.Gap("DAY") }) {
			return true
		}
	}
	return false
}

func (p *projection) decide(ev *Evidence) {
	p.state, p.deciding = ev.State, ev
	switch ev.State {
	case NotSent, Refused, PresumedAbsent, Declined:
		p.ruledOut = true
	}
}

// canBeOne reports whether two successes can be one transaction, or one refund, of the gateway. Their ids decide if both have
// one. Otherwise the times distinguish two responses, or two query results. A response and a query result can be one
// success, whatever their times: the gateway may name the id in only one of them.
//
// All successes of an entry can be one if every two of them can be, so the order in which they became known does not matter.
func (ev *Evidence) canBeOne(other *Evidence) bool {
	a, b := ev.facts(), other.facts()
	if a.id != "" && b.id != "" {
		return a.id == b.id
	}
	return ev.Source != other.Source || a.at == b.at || a.at.IsZero() || b.at.IsZero()
}

// reverses reports whether a decline belongs to the very payment or refund that succeeded: it was made, and then came back.
// Their ids decide if both have one; otherwise nothing else can have been declined if there was only one submission.
func (p *projection) reverses(decline *Evidence) bool {
	id := decline.facts().id
	return slices.ContainsFunc(p.outcomes, func(ev *Evidence) bool {
		if other := ev.facts().id; id != "" && other != "" {
			return id == other && ev.State == Succeeded
		}
		return p.once && ev.State == Succeeded
	})
}

// outcomeID identifies a final outcome: one with the same row and code repeats it.
type outcomeID struct {
	row  row
	code cardgateway.Code
}

func (ev *Evidence) outcomeID() outcomeID { return outcomeID{ev.row(), ev.facts().code} }

// repeats reports whether a final outcome repeats an earlier one.
func (ev *Evidence) repeats(earlier []*Evidence) bool {
	return slices.ContainsFunc(earlier, func(other *Evidence) bool { return ev.outcomeID() == other.outcomeID() })
}

// changedBy reports whether more evidence would change what is known of an entry. Nothing else is recorded, so an entry grows only with what
// changes: a row that is shown again and again, with the code that it had, adds no evidence.
func (p *projection) changedBy(ev *Evidence, e *Entry) bool {
	more := *e
	more.Evidence = append(slices.Clip(more.Evidence), *ev)
	after := more.project()
	return after.state != p.state || after.conflict != p.conflict || after.seen != p.seen || after.code() != p.code() ||
		after.isTest() != p.isTest() || after.state == Pending && len(after.processing) != len(p.processing) ||
		len(after.outcomes) > len(p.outcomes) && !ev.repeats(p.outcomes)
}

// code returns the code of the gateway's transaction that determines state: while a payment is pending, it shows the
// cardholder's attempts.
func (p *projection) code() cardgateway.Code {
	if p.deciding == nil {
		return 0
	}
	return p.deciding.facts().code
}

// queryable reports whether a query can still change what is known. NotSent is proved, and a final outcome is final, unless
// another submission may have another outcome. A refusal is only the gateway's statement.
func (p *projection) queryable() bool {
	return !p.once || p.state == Unknown || p.state == Refused || p.state == PresumedAbsent || p.state == Pending
}

// queries returns the times from which the gateway is queried: those of the submissions that may have been sent, or of the last one
// if none was. Submissions that are more than two weeks apart are queried separately, so that the decline of a later one is not found
// together with the success of an earlier one.
func (p *projection) queries() (times []time.Time) {
	const spanned = 14 * 24 * time.Hour
	for _, s := range p.sent {
		if s.sender == p.intent.Sender && !p.answeredAt.IsZero() { // this machine's clock can have been ahead
			s.at = earlier(s.at, p.answeredAt)
		}
		if len(times) == 0 || s.at.Sub(times[len(times)-1]) > spanned {
			times = append(times, s.at)
		}
	}
	if len(times) == 0 {
		return []time.Time{p.intent.At}
	}
	return times
}
