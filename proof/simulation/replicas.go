package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// replicas is the processes of a shop that all call Run: one at a time has the lease of the shop.
type replicas struct{ w *world }

// shopReplicas is what the world knows of the lease of a shop with Replicas, from what the store has answered.
type shopReplicas struct {
	holder *process
	since  time.Time // of this holder
	until  time.Time
	news   []awaited // what was confirmed and must be reported soon
}

// awaited is something that was confirmed while a process worked without any trouble.
type awaited struct {
	thing *thing
	at    time.Time
	until time.Time // it must be reported
	by    *process  // which works
}

// processReplica is a process of such a shop.
type processReplica struct {
	runs         bool
	runSince     time.Time
	every        time.Duration // the interval of its Run
	ended        time.Time     // of its Run, or of the process
	trouble      string        // of its store: before, hang
	troubleUntil time.Time
	telling      context.Context // while the merchant's function runs
	slowUntil    time.Time       // it was slow until then
}

const (
	// maxTakeover is how long nobody may work, after a process that worked has ended.
	maxTakeover = 10 * time.Second
	// soonReported is how long what the working process confirms may wait; what another one confirms waits for the interval, too.
	soonReported = 2 * time.Second
	// maxLeasedRun limits a Run with a lease, which is checked four times a second.
	maxLeasedRun = 20 * time.Minute
)

// leasedStore is the store of a process that has a lease. Leases go by the world's clock, which is that of the store.
type leasedStore struct {
	journal.Store
	p *process
}

func (s leasedStore) Lease(ctx context.Context, shop journal.Shop, holder string, length time.Duration) (string, error) {
	if err := s.reach(ctx, "Lease"); err != nil {
		return holder, err // with an error, that is not to be believed
	}
	w := s.p.w
	to, err := w.leases.Lease(ctx, shop, holder, length)
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := &s.p.shop.replicas; to == holder && err == nil {
		if now := time.Now(); l.holder != s.p || !now.Before(l.until) {
			l.since = now
		}
		l.holder, l.until = s.p, time.Now().Add(length)
	}
	return to, err
}

func (s leasedStore) Release(ctx context.Context, shop journal.Shop, holder string) error {
	if err := s.reach(ctx, "Release"); err != nil {
		return err
	}
	w := s.p.w
	err := w.leases.Release(ctx, shop, holder)
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := &s.p.shop.replicas; l.holder == s.p {
		l.until = time.Now()
	}
	return err
}

// reach is a contact with the store, which can be in trouble.
func (s leasedStore) reach(ctx context.Context, what string) error {
	c, p := s.p.callOf(ctx), s.p
	c.contact(what)
	p.w.mu.Lock()
	trouble := p.replica.trouble
	if !time.Now().Before(p.replica.troubleUntil) {
		trouble = ""
	}
	p.w.mu.Unlock()
	if trouble == "hang" {
		<-ctx.Done()
	}
	if trouble != "" {
		return errStore
	}
	return nil
}

func (x *replicas) do(s *Step) (do func(), ok bool) {
	w := x.w
	switch s.Do {
	case "replica: run":
		if p := w.processOf(s); !p.isDead() && p.shop.config.Replicas {
			p.stopRunning()
			p.startRun(s)
		}
	case "replica: trouble": // with the lease
		p := w.processOf(s)
		w.tell("the store of %s is in trouble: %q for %v", p.name(), s.Text, s.Delay)
		w.mu.Lock()
		p.replica.trouble, p.replica.troubleUntil = s.Text, time.Now().Add(s.Delay)
		w.mu.Unlock()
	default:
		return nil, false
	}
	return nil, true
}

// tellSlowly takes time within the merchant's function, as the step of a Run says: N seconds for everything, unless its context
// ends before, or N minutes for the step's thing, whatever its context says.
func (p *process) tellSlowly(ctx context.Context, s *Step, t *thing) error {
	var length time.Duration
	switch {
	case s.Do == "replica: run":
		length = time.Duration(s.N) * time.Second
	case s.Do == "run" && t == p.w.thing(s.Thing):
		length, ctx = time.Duration(s.N)*time.Minute, context.WithoutCancel(ctx)
	}
	if length == 0 {
		return nil
	}
	p.w.mu.Lock()
	p.replica.slowUntil = time.Now().Add(length + soonReported)
	p.w.mu.Unlock()
	if wait(ctx, length) {
		p.program.contact("the database of the merchant")
	}
	if ctx.Err() != nil {
		p.checkLost(ctx)
	}
	return context.Cause(ctx)
}

// checkLost checks that a process has a reason if it loses the lease while it reports.
func (p *process) checkLost(ctx context.Context) {
	p.w.mu.Lock()
	wasTrouble := time.Since(p.replica.troubleUntil) < maxTakeover
	p.w.mu.Unlock()
	if errors.Is(context.Cause(ctx), journal.ErrLeaseLost) && !wasTrouble && !p.isDead() {
		p.w.violate("a lease is kept", "%s has lost the lease while it reported, and its store was in no trouble", p.name())
	}
}

// beginsTelling is called when Run calls the merchant's function. It checks that the process has the lease, and that no other
// one is reporting, unless the context of that report has ended.
func (w *world) beginsTelling(ctx context.Context, p *process, t *thing) (ends func()) {
	if !p.shop.config.Replicas {
		return func() {}
	}
	w.mu.Lock()
	l := &p.shop.replicas
	holder, until := l.holder, l.until
	var other *process
	for _, q := range p.shop.processes {
		if q != p && q.replica.telling != nil && q.replica.telling.Err() == nil && !q.isDead() {
			other = q
		}
	}
	p.replica.telling = ctx
	l.news = slices.DeleteFunc(l.news, func(a awaited) bool { return a.thing == t })
	w.mu.Unlock()
	switch {
	case other != nil:
		w.violate("one process reports at a time", "%s reports %s while %s reports", p.name(), t.name(), other.name())
	case holder != p || !time.Now().Before(until):
		w.violate("one process reports at a time", "%s reports %s without the lease", p.name(), t.name())
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		p.replica.telling = nil
	}
}

// awaitReport is called when something was confirmed: if a process works, it must be reported soon, or at its interval. A call that is under way tells its
// caller the same, and the next list has it.
func (w *world) awaitReport(c *call, t *thing) {
	p := c.process
	e, err := w.entryOf(t)
	if err != nil || !p.shop.config.Replicas || t.frozen || t.damaged || !e.Unacked() || !verdictOfState(&e).isFinal() ||
		e.State() == journal.Conflicting && t.stored[conflict] { // a person acknowledges it
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l, now := &p.shop.replicas, time.Now()
	if h := l.holder; h != nil && t.calls.Load() == 0 && !t.reportFailed && !t.isLocked() && h.works(now) && now.Before(l.until) && now.Sub(l.since) > time.Second && p.works(now) {
		within := soonReported
		if h != p {
			within += h.replica.every
		}
		l.news = append(l.news, awaited{t, now, now.Add(within), h})
	}
}

// works reports whether Run runs, and is in no trouble.
func (p *process) works(now time.Time) bool {
	r := &p.replica
	return r.runs && !p.isDead() && now.Sub(r.runSince) < maxLeasedRun-time.Minute && !now.Before(r.troubleUntil.Add(10*time.Second)) &&
		!now.Before(r.slowUntil)
}

// checkReplicas checks that a process works in each shop where one could, and that what is confirmed has been reported.
func (w *world) checkReplicas() {
	for _, s := range w.shops {
		if s.config.Replicas {
			w.checkShopReplicas(s)
		}
	}
}

func (w *world) checkShopReplicas(s *shop) {
	w.mu.Lock()
	l, now := &s.replicas, time.Now()
	var late []awaited
	l.news = slices.DeleteFunc(l.news, func(a awaited) bool {
		if !now.After(a.until) && a.by.works(now) {
			return false
		}
		if a.by.works(now) && a.by == l.holder && l.since.Before(a.at) && now.Before(l.until) {
			late = append(late, a)
		}
		return true
	})
	var able *process
	for _, p := range s.processes {
		if p.works(now) && now.Sub(p.replica.runSince) > maxTakeover+5*time.Second && now.Sub(p.replica.troubleUntil) > maxTakeover+5*time.Second {
			able = p
		}
	}
	nobody := time.Duration(0)
	if able != nil {
		worked := l.until
		if h := l.holder; h != nil && !h.replica.runs && h.replica.ended.Before(worked) {
			worked = h.replica.ended
		}
		nobody = now.Sub(worked)
	}
	w.mu.Unlock()
	if nobody > maxTakeover {
		w.violate("some process works", "nobody has worked for %s in %v, and %s could", s.name, nobody, able.name())
	}
	for _, a := range late {
		if e, err := w.entryOf(a.thing); err == nil && e.Unacked() && !a.thing.frozen && !a.thing.damaged {
			w.violate("what is confirmed is reported within an interval", "%s was confirmed %v ago, and %s has not reported it", a.thing.name(), now.Sub(a.at), a.by.name())
		}
	}
}

func (x *replicas) plan(d *draw, h *History) {
	for i := range h.World.Shops {
		s := &h.World.Shops[i]
		if !d.chance(2) {
			continue
		}
		s.Replicas, s.Processes = true, 2+d.IntN(2)
		for range 1 + d.IntN(3) {
			tale := x.tale(d, h, i, s.Processes)
			h.Steps = slices.Insert(h.Steps, d.IntN(len(h.Steps)+1), tale...)
		}
	}
}

// tale draws some minutes in which all processes of a shop call Run.
func (x *replicas) tale(d *draw, h *History, shop, processes int) (steps []Step) {
	every := one(d, 5*time.Second, d.between(time.Second, 10*time.Minute))
	run := func(process int) {
		steps = append(steps, Step{
			Do: "replica: run", Shop: shop, Process: process, Delay: every, N: one(d, 0, 0, 0, 1+d.IntN(20)), Books: one(d, "", "", "fail", "panic"),
			After: time.Duration(1 + d.IntN(int(time.Second))),
		})
	}
	for n := range processes {
		run(n)
	}
	for range 3 + d.IntN(12) {
		process := d.IntN(processes)
		s := Step{
			Shop: shop, Process: process, Thing: len(h.Things), After: one(d, d.between(time.Millisecond, time.Minute), d.between(3*time.Second, 20*time.Second)),
			Seed: d.Uint64() % 1000,
		}
		newThing := func() {
			h.Things = append(h.Things, Thing{
				Shop: shop, Amount: fmt.Sprintf("%d.%02d", 1+d.IntN(90), d.IntN(100)), Op: one(d, "CreateSubscription", "TokenPayment", "CreateCheckout"),
				Card: one(d, sandbox.Approved, sandbox.Approved, sandbox.Declined),
			})
		}
		switch d.IntN(7) {
		case 0, 1, 2: // paid, and confirmed at any process
			newThing()
			s.Do, s.Post = "pay", one(d, "lost", "lost", "dropped", "")
			s.DieAt = one(d, 0, 0, 0, 1, 2, 3)
			steps = append(steps, s)
			if s.DieAt > 0 {
				steps = append(steps, Step{Do: "crash", Shop: shop, Process: process})
				run(process)
			}
			for range 1 + d.IntN(2) {
				c := s
				c.Do, c.Post, c.DieAt, c.Process, c.After = "confirm", "", 0, d.IntN(processes), d.between(10*time.Millisecond, 10*time.Second)
				steps = append(steps, c, Step{Do: "sleep", After: 3 * time.Second})
			}
		case 3, 4:
			s.Do, s.Text, s.Delay = "replica: trouble", one(d, "before", "hang"), d.between(time.Second, 30*time.Second)
			steps = append(steps, s)
		case 5:
			s.Do = one(d, "crash", "crash", "restart", "stop run")
			steps = append(steps, s, Step{Do: "sleep", After: d.between(time.Second, 20*time.Second)})
			run(process)
		case 6:
			steps = append(steps, Step{Do: "sleep", After: d.between(time.Second, 3*time.Minute)})
		}
	}
	for n := range processes {
		steps = append(steps, Step{Do: "stop run", Shop: shop, Process: n, After: time.Second})
	}
	return steps
}

func (x *replicas) rest() {}
