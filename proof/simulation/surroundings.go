package simulation

import (
	"context"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// surroundings is what happens without a call: cardholders, the gateway's back office, the weather of the network,
// processes that start and end, an administrator of the database.
type surroundings struct{ w *world }

func (x *surroundings) do(s *Step) (do func(), ok bool) {
	w := x.w
	switch s.Do {
	case "sleep":
	case "card":
		x.card(w.thing(s.Thing), s)
	case "settle":
		t := w.thing(s.Thing)
		if t.isRefund() {
			_ = t.shop.gateway.sandbox.SettleRefund(t.id, s.N == 0) // an error: it has not arrived, or is final
		} else {
			_ = t.shop.gateway.sandbox.Settle(t.id, s.N == 0)
		}
	case "renew":
		x.renew(w.thing(s.Thing), s.N > 0)
	case "close":
		t := w.thing(s.Thing)
		if !t.isRefund() && t.shop.gateway.sandbox.CloseOrder(t.id) == nil {
			w.tell("the gateway closes %s", t.name())
		}
	case "disguise":
		t := w.thing(s.Thing)
		t.setDisguise(s.Text, s.Delay)
		w.tell("the gateway shows %s %q for %v", t.name(), s.Text, s.Delay)
	case "weather":
		shop := w.shopOf(s)
		shop.post, shop.query = s.Post, s.Query
		w.tell("%s: every request %q, every query %q", shop.name, s.Post, s.Query)
	case "restart", "crash":
		p := w.processOf(s)
		settings := p.settings
		if s.Settings != nil {
			settings = *s.Settings
		}
		if s.Do == "crash" {
			p.kill()
		} else {
			p.stop()
		}
		w.revive(p, settings)
	case "forget":
		x.forget(s)
	case "damage":
		t := w.thing(s.Thing)
		if t.hasEntry() && w.medium.damage(t, t.damaged) {
			t.damaged = !t.damaged
			w.tell("the entry of %s is damaged: %v", t.name(), t.damaged)
		}
	case "lock":
		t := w.thing(s.Thing)
		t.lockedUntil = time.Now().Add(s.Delay)
		w.tell("the row of %s is locked for %v", t.name(), s.Delay)
	case "backup":
		w.backup = w.newBackup()
	case "restore":
		w.restore()
	default:
		return nil, false
	}
	return nil, true
}

// revive starts a process in place of one that has ended.
func (w *world) revive(p *process, settings Settings) {
	w.tell("%s starts", p.name())
	p.stopRun = nil
	w.start(p.shop, p.number, settings)
}

// card acts as the cardholder on the hosted page, with the thing's card or, for N other than zero, another one.
func (x *surroundings) card(t *thing, s *Step) {
	for _, r := range t.rows() {
		if r.Page == "" || t.isRefund() {
			continue
		}
		outcome := t.Card
		if s.N > 0 {
			outcome = sandbox.Outcome((int(t.Card) + s.N) % 4)
		}
		g := t.shop.gateway.sandbox
		if _, err := g.EnterCard(r.Page, sandbox.TestCard(outcome)); err != nil {
			_, err = g.Authenticate(r.Page, s.N%2 == 0)
			x.w.tell("the cardholder of %s authenticates: %v", t.name(), err)
		} else {
			x.w.tell("the cardholder of %s enters a card that is %v", t.name(), outcome)
		}
		return
	}
}

// renew lets the gateway make a later charge of a subscription, if the last one is a week old. It can make it twice, by mistake.
func (x *surroundings) renew(t *thing, twice bool) {
	charges := t.approvedRows()
	if !t.isSubscription() || len(charges) == 0 || time.Since(charges[len(charges)-1].At) < 7*day {
		return
	}
	g := t.shop.gateway.sandbox
	for range map[bool]int{false: 1, true: 2}[twice] {
		must(g.Renew(charges[0].UniqueID))
		moves := g.Moves(0)
		if id := moves[len(moves)-1].TransactionID; id != t.id {
			t.renewed, t.shop.byID[journal.PaymentID(id)] = append(t.renewed, id), t
		}
	}
	t.renewedTwice = t.renewedTwice || twice && !t.shop.gateway.config.RenewalsHaveNewID
	x.w.tell("the gateway charges %s again, twice: %v", t.name(), twice)
}

// forget lets the administrator forget what is older than Delay.
func (x *surroundings) forget(s *Step) {
	w := x.w
	before := time.Now().Add(-s.Delay)
	n, err := w.medium.read().Forget(context.Background(), before)
	w.tell("the administrator forgets what is older than %v: %d entries, %v", s.Delay, n, err)
	w.afterForget(before) // after an error it may have forgotten some
}
