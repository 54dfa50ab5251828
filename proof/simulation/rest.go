package simulation

import (
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// rest lets the world come to rest: everything works, what is late arrives, and each shop recovers. Then nothing may be
// missing.
func (w *world) rest() {
	for _, s := range w.shops {
		s.post, s.query = "", ""
		foreign := s.gateway.config.LeakRows > 0 || s.config.SharesCredentials
		for _, t := range w.things {
			t.foreignRows = t.foreignRows || t.shop == s && foreign
		}
		s.gateway.config.LeakRows, s.config.SharesCredentials = 0, false // with foreign rows, an absence is never certain
		s.gateway.sandbox.SetSearch(s.gateway.config.Search)
		for _, p := range s.processes {
			p.stopRunning()
		}
	}
	for _, t := range w.things {
		t.disguisedUntil, t.lockedUntil = time.Time{}, time.Time{}
		if t.damaged {
			w.medium.damage(t, true)
			t.damaged = false
		}
		g := t.shop.gateway.sandbox
		for _, r := range t.rows() { // an error: it is final already
			if t.isRefund() {
				_ = g.SettleRefund(r.UniqueID, true)
			} else {
				_ = g.Settle(r.UniqueID, t.Card != 3)
			}
		}
	}
	w.together = false
	for round := range 3 {
		w.scheduler.sleep(50 * time.Hour)
		for _, s := range w.shops {
			p, settings := s.processes[0], s.config.Settings
			settings.ClockAhead = 0
			if round != 1 || p.isDead() {
				p.stop()
				w.revive(p, settings)
				p = s.processes[0]
			}
			w.recoverAtRest(p, round)
		}
		for _, t := range w.things {
			w.touch(t.key())
		}
		w.check()
		if w.isBroken() {
			return
		}
	}
	for _, a := range w.actors {
		a.rest()
	}
	for _, s := range w.shops { // what the last notifications have confirmed is told, too
		w.recoverAtRest(s.processes[0], 3)
	}
	w.check()
	for _, t := range w.things {
		w.checkAtRest(t)
	}
	w.medium.eachFile(func(name string, b []byte) { w.searchSecrets("the file "+name, b) })
}

func (m *merchant) rest() {}

func (x *surroundings) rest() {}

// recoverAtRest lets a process recover, with nothing else going on.
func (w *world) recoverAtRest(p *process, round int) {
	w.scheduler.setOn(true)
	w.scheduler.run(uint64(round), []func(){w.call(&Step{Do: "recover", Ack: true}, p, (&merchant{w}).recoverAll)})
	w.scheduler.setOn(false)
}

// checkAtRest checks that a thing is known, and told.
func (w *world) checkAtRest(t *thing) {
	if t.frozen || !t.hasEntry() {
		return
	}
	n := t.successes()
	if n > 0 && !t.stored[paid] && !t.stored[conflict] && !(t.givenUp && !t.entry.Unacked()) && !t.cameBack && !t.cameLate() {
		w.violate("everything charged is told", "%s was made %d times and the merchant has stored %v; its entry is %v", t.name(), n, t.stored, t.entry.State())
	}
	if t.entry.State() == journal.Unknown && t.entry.Unacked() && !t.contradictory() {
		w.violate("what is unknown becomes known", "%s is open in the end; rows %v", t.name(), t.rows())
	}
	if s := t.entry.State(); (s == journal.Unknown || s == journal.Pending) && t.entry.Unacked() && t.isOnlyDeclined() {
		w.violate("what is declined becomes known", "%s is %v in the end; rows %v", t.name(), s, t.rows())
	}
}

// isOnlyDeclined reports whether the gateway has only declined rows of a payment on the hosted page, and the page could no
// longer be used when the last Recover but one began.
func (t *thing) isOnlyDeclined() bool {
	open := slices.ContainsFunc(t.rows(), func(r sandbox.Row) bool { return r.Code != 101 && r.Code != 103 })
	lifetime := t.shop.config.Settings.hostedPageLifetime()
	return t.isHosted() && len(t.rows()) > 0 && !open && time.Since(t.entry.Intent().At) > lifetime+100*time.Hour
}

// contradictory reports whether the gateway has several declined rows and nothing else, which tells no outcome, or whether
// it has shown an unreadable row of something else in a search for this one, which may have been this one.
func (t *thing) contradictory() bool {
	n := len(t.rows())
	seen := slices.ContainsFunc(t.entry.Evidence, func(ev journal.Evidence) bool { return ev.Seen })
	return t.successes() == 0 && n > 1 || n == 0 && seen && (t.foreignRows || t.isRefundAmongOthers())
}

// isRefundAmongOthers reports whether the payment has other refunds, which a search for this one returns too.
func (t *thing) isRefundAmongOthers() bool {
	return t.isRefund() && slices.ContainsFunc(t.w.things, func(o *thing) bool {
		return o != t && o.isRefund() && o.shop == t.shop && o.uniqueID == t.uniqueID
	})
}

// cameLate reports whether the success came after a final outcome had been acknowledged, or beside it, in a way that the
// documentation names: by a request that took longer than AbsentAfter, after the hosted page was abandoned, or beside a decline.
func (t *thing) cameLate() bool {
	if t.entry.State() == journal.Abandoned {
		return true // it is no longer queried
	}
	if t.entry.State() == journal.Declined && t.mayBeDeclined() {
		return true
	}
	return t.ackedAs != "" && t.ackedAs != paid && t.ackedSuccesses == 0 && (t.whole > 1 || t.isHosted() || t.doubled)
}
