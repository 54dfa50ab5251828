package simulation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// leaves is called when a complete request that can move money has left a process.
func (w *world) leaves(c *call, t *thing) {
	c.mu.Lock()
	c.whole++
	c.mu.Unlock()
	if t == nil {
		return
	}
	if c.again == afterRefusal && c.answered == 0 && t.whole > 0 {
		w.violate("after a refusal the gateway is queried first", "%s left after %d queries, of which none was answered", t.name(), c.queries)
	}
	w.mu.Lock()
	again, unrefused := t.whole > 0 || c.sent[t], t.unrefused
	t.whole++
	t.unrefused++
	t.lost = nil
	t.sentAt = time.Now()
	if t.firstAt.IsZero() {
		t.firstAt = t.sentAt
	}
	first := !c.sent[t]
	if c.sent == nil {
		c.sent = make(map[*thing]bool)
	}
	c.sent[t] = true
	w.mu.Unlock()
	w.tell("%s: the request for %s leaves", c.process.name(), t.name())
	allowed := !again || first && (c.again == riskingTwice || c.again == afterRefusal && unrefused == 0)
	if !allowed {
		w.violate("nothing is sent twice", "%s left for the %d. time without anybody accepting the risk", t.name(), t.whole)
	}
}

// doubled is called when the network delivers a request twice.
func (w *world) doubled(in *request) {
	if in.thing == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	in.thing.doubled = true
}

// arrives is called when an answer arrives at a process that lives.
func (w *world) arrives(c *call, in *request, a answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	isSearched := !in.isPost && a.err == nil && a.status == 200 && codeOf(decode(a.body)) == searched
	if isSearched {
		c.answered++
	}
	if in.thing == nil {
		return
	}
	if in.isPost && isRefusal(a) {
		in.thing.unrefused--
	}
	if a.err != nil || a.status != 200 {
		return
	}
	named := func() bool { id, _ := decode(a.body)["uniqueId"].(string); return id != "" }
	if in.thing.isShownIn(a.body) && (!in.isPost || named()) {
		c.saw = append(c.saw, in.thing)
	}
	if isSearched && in.thing.isShownTwiceIn(a.body) {
		c.sawTwice = append(c.sawTwice, in.thing)
	}
}

// searched is the code of a search that was carried out.
const searched = "121"

// isShownIn reports whether an answer shows the payment, in whatever form. A page that announces more rows than it has shows
// it only if nothing else can be on that page.
func (t *thing) isShownIn(body []byte) bool {
	if t.isRefund() || len(t.rows()) == 0 {
		return false
	}
	switch t.disguisedAs() {
	case "hidden", "first hidden", "displaced":
		return false
	case "announced":
		m, g := decode(body), t.shop.gateway.config
		rows, isSearch := m["data"].([]any)
		return isSearch && totalOf(m) > 0 && len(rows) == 0 && g.LeakRows == 0 && !t.shop.config.SharesCredentials
	}
	return bytes.Contains(body, fmt.Appendf(nil, `"transactionId":%q`, t.id))
}

// isShownTwiceIn reports whether an answer shows two successes of the payment or the refund, as they are.
func (t *thing) isShownTwiceIn(body []byte) bool {
	if t.disguisedAs() != "" || t.cameBack || t.shop.gateway.config.StatesApp != "" {
		return false
	}
	return t.isTwiceIn(func(r sandbox.Row) bool { return bytes.Contains(body, fmt.Appendf(nil, `niqueId":%q`, r.UniqueID)) })
}

// ended is called when a call has ended in a process that lives.
func (c *call) ended(took time.Duration) {
	w := c.process.w
	limit := 4 * time.Minute
	if c.step.Timeout > 0 {
		limit = c.step.Timeout + 30*time.Second
	}
	if took > limit && strings.HasPrefix(c.step.Do, "pay") {
		w.violate("a call ends in time", "%s of %s took %v", c.step.Do, c.process.name(), took)
	}
	alone := c.step.With == 0 && c.step.N == 0 && c.step.Timeout == 0 && c.step.Store == "" && c.step.Query == "" && !w.together
	if !alone || !slices.Contains([]string{"recover", "pay", "pay after refusal"}, c.step.Do) {
		return
	}
	w.mu.Lock()
	for _, t := range c.saw {
		if t.seen.IsZero() && time.Since(t.lockedUntil) > took { // otherwise it could not be recorded
			t.seen = time.Now()
		}
	}
	w.mu.Unlock()
	for _, t := range c.sawTwice {
		if e, err := w.entryOf(t); err == nil && e.State() != journal.Conflicting && !t.frozen && !t.damaged && time.Since(t.lockedUntil) > took {
			w.violate("two successes are a conflict", "%s was shown twice, %v, and its entry is %v", t.name(), t.rows(), e.State())
		}
	}
}

// isRefusal reports whether an answer says that the request was not processed.
func isRefusal(a answer) bool {
	if a.status == 403 || a.status == 429 || a.status == 401 {
		return true
	}
	code := codeOf(decode(a.body))
	return slices.Contains([]string{"201", "400", "401", "404", "500"}, code)
}

// hear compares what a merchant is told with the ledger. For what an entry tells, e is not nil.
func (w *world) hear(c *call, t *thing, v verdict, err error, e *journal.Entry) {
	n := t.successes()
	if w.telling {
		how := "a call tells"
		if e != nil {
			how = fmt.Sprintf("an entry (%v, %d pieces of evidence) tells", e.State(), len(e.Evidence))
		}
		w.tell("%s: %s of %s: %s (%v)", c.process.name(), how, t.name(), v, err)
	}
	w.searchError("an outcome", err)
	if e != nil {
		w.searchPrinted("an entry", *e)
	}
	if t.frozen && !t.bare {
		return
	}
	if e != nil {
		for i := range e.Evidence {
			w.noteShownTooLate(t, e, i)
		}
	}
	wrong := func(why string) {
		w.violate("what is told is true", "%s is told %s %s; the ledger has %d successes, rows %v (%v)", t.name(), v, why, n, t.rows(), err)
	}
	switch v {
	case paid:
		if n == 0 {
			wrong("and was not made")
		}
	case declined:
		if n > 0 && !t.mayBeDeclined() {
			wrong("and was made")
		}
	case notSent:
		if e == nil && c.whole == 0 && !cardgateway.SafeToRetry(err) {
			wrong("and is not safe to retry")
		}
		if e == nil && c.whole > 0 {
			wrong("by a call that has sent it")
		}
		if e != nil && t.whole > 0 && !(w.together && time.Since(t.sentAt) < 2*time.Second) { // an entry may be a second old
			wrong("and was sent")
		}
	case refused:
		if t.whole == t.unrefused {
			wrong("and nobody refused it")
		}
	case pending, abandoned:
		if len(t.rows()) == 0 {
			wrong("and the gateway has no such thing")
		}
	case unknown, conflict:
		if e == nil && cardgateway.SafeToRetry(err) {
			wrong("and is safe to retry")
		}
	case unlisted:
		wrong("")
	}
	if e != nil && v != verdictOfState(e) {
		w.violate("an entry's outcome is its state", "%s tells %s and is %v", t.name(), v, e.State())
	}
}

// checkRecorded checks that the outcome that a call has returned is in the store.
func (w *world) checkRecorded(t *thing, v verdict) {
	if t.frozen || w.together || !slices.Contains([]verdict{paid, pending, declined, refused, conflict}, v) {
		return
	}
	if e, err := w.entryOf(t); err == nil && e.State() == journal.Unknown {
		w.violate("what is told is recorded", "%s is told %s, and its entry is %v", t.name(), v, e.State())
	}
}

func (w *world) searchError(where string, err error) {
	if err != nil {
		w.searchSecrets(where, fmt.Appendf(nil, "%v %+v", err, err))
		if _, holds := errors.AsType[*holdingError](err); holds {
			w.violate("no secret is stored, logged or told", "%s has the request", where)
		}
	}
}

// entryOf returns the entry of a thing as the store has it.
func (w *world) entryOf(t *thing) (journal.Entry, error) {
	return w.medium.read().Get(context.Background(), t.key())
}

// check is called after each step: it looks at the entries that may have changed.
func (w *world) check() {
	w.checkReplicas()
	w.mu.Lock()
	all := slices.DeleteFunc(slices.Clone(w.things), func(t *thing) bool { return !w.touched[t] })
	clear(w.touched)
	w.mu.Unlock()
	for _, t := range all {
		e, err := w.entryOf(t)
		if err != nil {
			if t.hasEntry() && errors.Is(err, journal.ErrNoEntry) && !t.frozen {
				w.violate("nothing is forgotten", "the entry of %s is gone", t.name())
			}
			continue
		}
		w.checkEntry(t, &e)
		t.entry = e
	}
}

// checkEntry compares an entry with what it was, and each new piece of evidence with the ledger.
func (w *world) checkEntry(t *thing, e *journal.Entry) {
	if t.frozen {
		return
	}
	before, known := &t.entry, len(t.entry.Evidence)
	if t.hasEntry() {
		resubmitted := len(e.Evidence) > known && slices.ContainsFunc(e.Evidence[known:], func(ev journal.Evidence) bool {
			return ev.Source == journal.SourceSubmission
		})
		shown := e.State() == journal.Unknown && slices.ContainsFunc(e.Evidence[min(known, len(e.Evidence)):], func(ev journal.Evidence) bool {
			return ev.Seen // what was presumed absent is unknown again
		})
		switch {
		case len(e.Evidence) < known, e.Acked < before.Acked, before.State() == journal.Conflicting && e.State() != journal.Conflicting:
			w.violate("evidence only grows", "the entry of %s has lost something", t.name())
			return
		case !resubmitted && e.State() < before.State() && !(shown && before.State() == journal.PresumedAbsent):
			w.violate("states go forward", "%s went from %v to %v", t.name(), before.State(), e.State())
		}
	}
	for i := known; i < len(e.Evidence); i++ {
		w.checkEvidence(t, e, i)
	}
	if !e.Unacked() && !(t.hasEntry() && !before.Unacked()) {
		v := verdictOfState(e)
		t.ackedAs, t.ackedSuccesses = v, t.successes()
		if v != notSent && !t.stored[v] {
			w.violate("only what was told is acknowledged", "%s is acknowledged as %s, and the merchant has stored %v", t.name(), v, t.stored)
		}
	}
	if e.State() == journal.Conflicting && !(t.hasEntry() && before.State() == journal.Conflicting) {
		w.checkConflict(t, e)
	}
}

// checkEvidence compares a new piece of evidence with the ledger.
func (w *world) checkEvidence(t *thing, e *journal.Entry, i int) {
	ev := &e.Evidence[i]
	n := t.successes()
	wrong := func(why string) {
		w.violate("what is recorded is true", "%s: %v is recorded from a %s, %s; rows %v", t.name(), ev.State, ev.Source, why, t.rows())
	}
	switch ev.State {
	case journal.Succeeded:
		if n == 0 {
			wrong("and it was not made")
		}
		before := *e
		before.Evidence = e.Evidence[:i]
		if s := before.State(); isNegative(s) && e.State() != journal.Conflicting {
			w.violate("a success after a negative outcome is a conflict", "%s was %v, is recorded as made, and is no conflict", t.name(), s)
		}
	case journal.Declined:
		w.noteShownTooLate(t, e, i)
		if n > 0 && !t.mayBeDeclined() {
			wrong("and it was made")
		}
		w.checkDecline(t, e, i, wrong)
	case journal.PresumedAbsent:
		w.checkAbsence(t, e, i, wrong)
	case journal.Abandoned:
		if ev.At.Sub(submittedBefore(e, i)) < t.hostedPageLifetime()-w.clocks {
			wrong("and the cardholder can still pay")
		}
	}
}

// noteShownTooLate remembers that a payment was submitted twice and that the gateway did not show its success for AbsentAfter:
// a single decline is final then, as documented.
func (w *world) noteShownTooLate(t *thing, e *journal.Entry, i int) {
	ev := &e.Evidence[i]
	if ev.State == journal.Declined && t.whole > 1 && t.isRowHidden(ev.At) && ev.At.Sub(submittedBefore(e, i)) >= t.absentAfter()-w.clocks {
		t.shownTooLate = true
	}
}

// checkDecline checks that a decline on the hosted page, which is one attempt, is not taken for the end.
func (w *world) checkDecline(t *thing, e *journal.Entry, i int, wrong func(string)) {
	ev := &e.Evidence[i]
	if !t.isHosted() || ev.Source != journal.SourceQuery || ev.Transaction == nil || ev.Transaction.Code != 101 {
		return
	}
	if ev.At.Sub(submittedBefore(e, i)) < t.hostedPageLifetime()-w.clocks {
		wrong("and the cardholder can try another card")
	}
}

// hostedPageLifetime returns the shortest HostedPageLifetime of any process of the shop.
func (t *thing) hostedPageLifetime() time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for _, s := range t.shop.settings {
		shortest = min(shortest, s.hostedPageLifetime())
	}
	return shortest
}

func (s *Settings) hostedPageLifetime() time.Duration { return cmp.Or(s.HostedPageLifetime, day) }

// mayBeDeclined reports whether a payment that was made may be taken for declined, as the documentation says: it was declined
// once, and was also made by a request that the network delivered twice, by one that the gateway did not show for AbsentAfter,
// on the hosted page after its lifetime, or it is a refund that the gateway showed as refunded and then as failed.
func (t *thing) mayBeDeclined() bool {
	return t.doubled || t.shownTooLate || t.cameBack || t.paidAfterAbandoned()
}

// paidAfterAbandoned reports whether the cardholder began to pay when the hosted page was taken for abandoned: a decline
// before is final then, as documented.
func (t *thing) paidAfterAbandoned() bool {
	return t.isHosted() && !slices.ContainsFunc(t.rows(), func(r sandbox.Row) bool {
		return r.Code == 100 && r.At.Sub(t.sentAt) < t.hostedPageLifetime()-t.w.clocks
	})
}

// submittedBefore returns when the last submission before a piece of evidence was recorded.
func submittedBefore(e *journal.Entry, i int) time.Time {
	at := e.Begun.At
	for _, ev := range e.Evidence[:i] {
		if ev.Source == journal.SourceSubmission {
			at = ev.At
		}
	}
	return at
}

// checkAbsence checks that an absence was not presumed too early, and not of what the gateway shows.
func (w *world) checkAbsence(t *thing, e *journal.Entry, i int, wrong func(string)) {
	at, submitted := e.Evidence[i].At, submittedBefore(e, i)
	if at.Sub(submitted) < t.absentAfter()-w.clocks {
		wrong(fmt.Sprintf("%v after its submission", at.Sub(submitted)))
	}
	if !t.seen.IsZero() && at.After(t.seen.Add(w.clocks)) {
		wrong(fmt.Sprintf("and the gateway has shown it at %v", t.seen))
	}
	if t.isRowHidden(at) {
		return
	}
	for _, r := range t.rows() {
		if at.Sub(r.At) > t.shop.gateway.config.Lag+time.Minute+w.clocks {
			wrong("and every search shows it")
			return
		}
	}
}

// absentAfter returns the shortest AbsentAfter of any process of the shop.
func (t *thing) absentAfter() time.Duration {
	after := 24 * time.Hour
	for _, s := range t.shop.settings {
		if s.AbsentAfter > 0 {
			after = min(after, max(s.AbsentAfter, 15*time.Minute))
		}
	}
	return after
}

// isNegative reports whether a success contradicts a state.
func isNegative(s journal.State) bool {
	return s == journal.NotSent || s == journal.Refused || s == journal.PresumedAbsent || s == journal.Declined
}

// checkConflict checks that there is a reason for a conflict.
func (w *world) checkConflict(t *thing, e *journal.Entry) {
	n := t.successes()
	negative := slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool { return isNegative(ev.State) })
	if n > 1 || n == 1 && negative || t.cameBack || t.renewedTwice {
		return
	}
	w.violate("a conflict is one", "%s is a conflict: the ledger has %d successes, rows %v", t.name(), n, t.rows())
}

// acknowledged is called when an acknowledgement succeeded: what was acknowledged must have been told.
func (w *world) acknowledged(t *thing, giveUp bool) {
	e, err := w.entryOf(t)
	if err != nil || t.frozen {
		return
	}
	if e.Unacked() {
		if !w.together {
			w.violate("an acknowledgement is kept", "%s was acknowledged, and its entry says that it was not", t.name())
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	v := verdictOfState(&e)
	if giveUp && w.together {
		t.add(v) // what came between Get and Ack
	}
	if giveUp && !v.isFinal() {
		t.givenUp = true
	}
}

// recovered is called when a Recover has run to its end without disturbance: it must have told everything.
func (w *world) recovered(c *call, told map[*thing]bool) {
	p := c.process
	for e, err := range w.medium.read().Unacked(context.Background(), p.journal.Shop()) {
		if err != nil {
			continue
		}
		t := w.thingOfKey(e.Key())
		if t != nil && t.hasEntry() && t.entry.Unacked() && !told[t] && e.Unacked() && time.Since(t.lockedUntil) > 10*time.Minute { // also when Recover began
			w.violate("everything is told until it is acknowledged", "Recover of %s has not told %s, which is %v", p.name(), t.name(), e.State())
		}
	}
}

// confirmed is called after Confirm or ConfirmRefund with a row of the gateway.
func (w *world) confirmed(c *call, t *thing, success, decline bool, uniqueID string, err error) {
	w.tell("%s: confirms %s (success %v, decline %v): %v", c.process.name(), t.name(), success, decline, err)
	w.searchError("an error of Confirm", err)
	if err != nil || t.frozen || c.troubled {
		return
	}
	w.awaitReport(c, t)
	e, err := w.entryOf(t)
	if err != nil {
		return
	}
	if t.confirmed == nil {
		t.confirmed = make(map[string]bool)
	}
	t.confirmed[uniqueID] = t.confirmed[uniqueID] || success
	if t.isTwiceIn(func(r sandbox.Row) bool { return t.confirmed[r.UniqueID] }) && e.State() != journal.Conflicting {
		w.violate("two successes are a conflict", "%s was confirmed twice, %v, and its entry is %v", t.name(), t.rows(), e.State())
	}
	if success && e.State() != journal.Succeeded && e.State() != journal.Conflicting {
		w.violate("what is confirmed is known", "%s was confirmed as made, and its entry is %v", t.name(), e.State())
	}
	if decline && t.cameBack && !t.doubled && e.State() == journal.Succeeded {
		w.violate("what is confirmed is known", "%s was confirmed as failed, its entry is %v, and no error says so", t.name(), e.State())
	}
}

// afterForget checks that nothing young was forgotten, and retires what was.
func (w *world) afterForget(before time.Time) {
	for _, t := range w.things {
		if !t.hasEntry() || t.frozen || t.damaged {
			continue
		}
		if _, err := w.entryOf(t); !errors.Is(err, journal.ErrNoEntry) {
			continue
		}
		last := t.entry.Intent().At
		if !last.Before(before) {
			w.violate("nothing young is forgotten", "%s was submitted at %v, and Forget(%v) has deleted its entry", t.name(), last, before)
		}
		if t.entry.Unacked() {
			w.violate("nothing is forgotten", "%s was not acknowledged, and Forget has deleted its entry", t.name())
		}
		t.frozen = true
	}
}
