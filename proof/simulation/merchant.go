package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// merchant calls the journal.
type merchant struct{ w *world }

func (m *merchant) do(s *Step) (do func(), ok bool) {
	w := m.w
	switch s.Do {
	case "pay", "pay after refusal", "pay again":
		return m.pay(s), true
	case "mismatch":
		return m.mismatch(s), true
	case "recover":
		return w.call(s, w.processOf(s), m.recoverAll), true
	case "run":
		if p := w.processOf(s); !p.isDead() {
			p.startRun(s)
		}
		return nil, true
	case "stop run":
		w.processOf(s).stopRunning()
		return nil, true
	case "ack":
		return w.callAbout(s, m.acknowledge), true
	case "ack told":
		return w.callAbout(s, m.acknowledgeStored), true
	case "get":
		return w.callAbout(s, func(c *call, t *thing) { m.get(c, t) }), true
	case "confirm":
		return w.callAbout(s, m.confirm), true
	}
	return nil, false
}

// shopOf and processOf return the shop and the process of a step that is not about a thing.
func (w *world) shopOf(s *Step) *shop       { return w.shops[s.Shop%len(w.shops)] }
func (w *world) processOf(s *Step) *process { return w.shopOf(s).process(s.Process) }

// pay calls a payment method.
func (m *merchant) pay(s *Step) func() {
	w := m.w
	t := w.thing(s.Thing)
	how := map[string]resubmission{"pay": normally, "pay after refusal": afterRefusal, "pay again": riskingTwice}[s.Do]
	if t.frozen || !t.prepare() {
		return nil
	}
	t.called = true
	return w.callAbout(s, func(c *call, t *thing) {
		if t.frozen { // meanwhile
			return
		}
		p := c.process
		c.again = how
		w.tell("%s: %s %s of %s", p.name(), s.Do, t.name(), t.Op)
		var by payer = p.journal
		switch how {
		case afterRefusal:
			by = p.journal.AfterRefusal()
		case riskingTwice:
			by = p.journal.PayAgainRiskingSecondCharge(journal.AcceptNoOrderGuard, journal.AcceptSecondRefund)
		}
		r, err := func() (result, error) {
			t.calls.Add(1)
			defer t.calls.Add(-1) // also if the process is killed
			return t.pay(c, by, t.amount())
		}()
		v := verdictOf(r, err)
		if p.isDead() {
			return
		}
		w.hear(c, t, v, err, nil)
		if v == unknown && !w.together {
			w.mu.Lock()
			t.lost = err
			w.mu.Unlock()
		}
		w.checkRecorded(t, v)
		m.keep(c, t, v, r.state(err))
	})
}

// prepare returns whether the thing can be called for: a refund needs a payment that was made.
func (t *thing) prepare() bool {
	if !t.isRefund() || t.uniqueID != "" {
		return true
	}
	of := t.w.thing(t.Of)
	if of.shop != t.shop || of.isRefund() || of.Op == "CreateTokenOrder" {
		return false
	}
	if paid := of.approvedRows(); len(paid) > 0 {
		t.uniqueID = paid[0].UniqueID
	}
	return t.uniqueID != ""
}

// keep is what the merchant does with what a call has told.
func (m *merchant) keep(c *call, t *thing, v verdict, state journal.State) {
	if c.step.Books == "crash" {
		c.process.kill()
		return
	}
	if c.step.Books == "fail" {
		return
	}
	m.w.mu.Lock()
	t.store(v, state)
	m.w.mu.Unlock()
	if c.step.Ack && v.isFinal() && v != notSent {
		m.ack(c, t, state, false)
	}
}

// ack acknowledges, and checks that nothing was acknowledged that the merchant was not told.
func (m *merchant) ack(c *call, t *thing, state journal.State, giveUp bool) {
	w, p := m.w, c.process
	ctx, cancel := c.context()
	defer cancel()
	err := p.journal.Ack(ctx, t.journalID(), state)
	if err != nil && giveUp { // the store may have it, now or later
		w.mu.Lock()
		t.givenUp = true
		w.mu.Unlock()
	}
	if p.isDead() {
		return
	}
	w.tell("%s: acknowledges %s as %v: %v", p.name(), t.name(), state, err)
	w.searchError("an error of Ack", err)
	if err == nil {
		w.acknowledged(t, giveUp)
	}
}

// acknowledge acknowledges what is known, whatever it is: for what has no outcome it means that it is given up. Half of the
// time, what is known is what the merchant stored last, maybe long ago and from another process.
func (m *merchant) acknowledge(c *call, t *thing) {
	if c.step.Seed%2 == 1 {
		m.acknowledgeStored(c, t)
		return
	}
	if state, ok := m.get(c, t); ok && !c.process.isDead() {
		m.ack(c, t, state, true)
	}
}

// acknowledgeStored acknowledges what the merchant stored last, maybe long ago and from another process, whatever is known by
// now.
func (m *merchant) acknowledgeStored(c *call, t *thing) {
	m.w.mu.Lock()
	last := t.last
	m.w.mu.Unlock()
	if last != journal.Unknown && !t.frozen {
		m.ack(c, t, last, true)
	}
}

// get reads an entry, stores what it tells and returns its state. It reports false if it could not.
func (m *merchant) get(c *call, t *thing) (state journal.State, ok bool) {
	w, p := m.w, c.process
	ctx, cancel := c.context()
	defer cancel()
	e, err := p.journal.Get(ctx, t.journalID())
	if p.isDead() {
		return 0, false
	}
	if err != nil {
		if errors.Is(err, journal.ErrNoEntry) && t.hasEntry() && !t.frozen && !w.together {
			w.violate("nothing is forgotten", "%s has an entry and Get says %v", t.name(), err)
		}
		return 0, false
	}
	v, told := verdictOfEntry(&e)
	w.hear(c, t, v, told, &e)
	w.mu.Lock()
	defer w.mu.Unlock()
	t.store(v, e.State())
	return t.last, true
}

// recover runs Recover. The step's N is after how many entries the loop is left.
func (m *merchant) recoverAll(c *call) {
	w, p := m.w, c.process
	ctx, cancel := c.context()
	defer cancel()
	told, complete := make(map[*thing]bool), true
	for e, err := range p.journal.Recover(ctx) {
		if p.isDead() {
			return
		}
		if err != nil {
			w.searchError("an error of Recover", err)
			if _, ok := errors.AsType[*journal.EntryError](err); !ok && !errors.Is(err, errLocked) {
				complete = false
			}
			continue
		}
		t := w.thingOfKey(e.Key())
		if t == nil {
			w.violate("an entry belongs to its shop", "Recover of %s tells %v, which nobody made", p.name(), e.Key())
			continue
		}
		if t.shop != p.shop {
			w.violate("an entry belongs to its shop", "Recover of %s tells %s of %s", p.name(), t.name(), t.shop.name)
		}
		told[t] = true
		w.searchError("the error of the last query", e.LastQueryError())
		v, outcome := verdictOfEntry(&e)
		w.hear(c, t, v, outcome, &e)
		m.keep(c, t, v, e.State())
		if p.isDead() {
			return
		}
		if c.step.N > 0 && len(told) >= c.step.N {
			complete = false
			break
		}
	}
	if p.isDead() {
		return
	}
	if complete && !w.together && ctx.Err() == nil && !c.troubled {
		w.recovered(c, told)
	}
}

// toldByRun is the function that Run calls.
func (p *process) toldByRun(ctx context.Context, s *Step, e *journal.Entry) error {
	w := p.w
	if p.isDead() {
		return errStore
	}
	t := w.thingOfKey(e.Key())
	if t == nil {
		return nil
	}
	defer w.beginsTelling(ctx, p, t)()
	v, err := verdictOfEntry(e)
	w.hear(p.program, t, v, err, e)
	w.mu.Lock()
	t.runs++
	fails := (s.Books == "fail" || s.Books == "panic") && t.runs%2 == 1
	w.mu.Unlock()
	if err := p.tellSlowly(ctx, s, t); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.reportFailed = fails; fails && s.Books == "panic" {
		panic("the program of the merchant")
	} else if fails {
		return errStore
	}
	t.store(v, e.State())
	return nil
}

// confirm looks a thing up, as a walk or a notification would, and passes it to the journal.
func (m *merchant) confirm(c *call, t *thing) {
	p := c.process
	ctx, cancel := c.context()
	defer cancel()
	from, to := time.Now().Add(-25*day), time.Now().Add(2*day)
	if t.isRefund() {
		page, err := p.client.SearchRefunds(ctx, cardgateway.RefundQuery{RefundTransactionID: t.id, Start: from, End: to}, cardgateway.PageRequest{})
		if err != nil {
			return
		}
		for i := range page.Data {
			if r := &page.Data[i]; r.MerchantRefundID == t.id && c.step.isAbout(i, len(page.Data)) && !p.isDead() {
				other := *r
				other.UniqueID += "0"
				if err := p.journal.ConfirmRefund(ctx, &other); err == nil && !p.isDead() {
					p.w.violate("a row belongs to what it names", "a refund of %s was confirmed as %s, of %s", other.UniqueID, t.name(), t.uniqueID)
				}
				_ = p.confirmRefund(ctx, c, r)
			}
		}
		return
	}
	page, err := p.client.SearchOrders(ctx, cardgateway.OrderQuery{TransactionID: t.id, Start: from, End: to}, cardgateway.PageRequest{})
	if err != nil {
		return
	}
	for i := range page.Data {
		if row := &page.Data[i]; row.TransactionID == t.id && c.step.isAbout(i, len(page.Data)) && !p.isDead() {
			_ = p.confirm(ctx, c, row)
		}
	}
}

// confirm passes a row of the gateway to the journal.
func (p *process) confirm(ctx context.Context, c *call, row *cardgateway.Transaction) error {
	err := p.journal.Confirm(ctx, row)
	if t := p.shop.byID[journal.PaymentID(row.TransactionID)]; t != nil && !p.isDead() {
		p.w.confirmed(c, t, row.State() == cardgateway.StateApproved, row.State() == cardgateway.StateDeclined, row.UniqueID, err)
	}
	return err
}

func (p *process) confirmRefund(ctx context.Context, c *call, row *cardgateway.Refund) error {
	err := p.journal.ConfirmRefund(ctx, row)
	if t := p.shop.byID[journal.RefundID(row.MerchantRefundID)]; t != nil && !p.isDead() {
		p.w.confirmed(c, t, row.Refunded(), row.State() == cardgateway.StateDeclined, row.RefundUniqueID, err)
	}
	return err
}

// isAbout reports whether a step that confirms is about the i-th of so many rows: N of them, counted from 1, or all.
func (s *Step) isAbout(i, rows int) bool { return s.N == 0 || (s.N-1)%rows == i }

// mismatch calls with another amount.
func (m *merchant) mismatch(s *Step) func() {
	w := m.w
	if t := w.thing(s.Thing); t.frozen || t.whole == 0 || !t.hasEntry() {
		return nil
	}
	return w.callAbout(s, func(c *call, t *thing) {
		if t.frozen || t.damaged { // meanwhile
			return
		}
		p := c.process
		r, err := t.pay(c, p.journal, t.amount().Add(decimal.New(1, 0)))
		if p.isDead() {
			return
		}
		v := verdictOf(r, err)
		w.tell("%s: pays %s with another amount: %s", p.name(), t.name(), v)
		w.searchError("a mismatch", err)
		if c.whole > 0 {
			w.violate("a mismatch sends nothing", "%s with another amount left", t.name())
		}
		if v != mismatch && v != notSent && !(v == unknown && c.troubled) {
			w.violate("a mismatch is said", "%s with another amount is told %s (%v)", t.name(), v, err)
		}
	})
}
