package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

const day = 24 * time.Hour

// Plan draws a history of about so many days.
func Plan(seed uint64, days int, store string) *History {
	d := newDraw(seed)
	h := &History{Seed: seed, World: World{Store: store}}
	if store == "mixed" {
		h.World.Store = one(d, "memory", "memory", "memory", "memory", "memory", "memory", "sqlite", "postgres")
	}
	for i := range one(d, 1, 1, 1, 2, 3) {
		h.World.Shops = append(h.World.Shops, d.shop(i))
	}
	p := &plan{draw: d, h: h, clocks: d.chance(6), trouble: one(d, 0.02, 0.1, 0.3, 0.6)}
	p.steps(days)
	p.setClocks()
	for i, a := range newActors(nil) {
		a.plan(newDraw(mix(seed, uint64(i))), h)
	}
	return h
}

// shop draws the i-th shop.
func (d *draw) shop(i int) Shop {
	s := Shop{Processes: 1 + d.IntN(2), Gateway: d.gateway(), Settings: d.settings()}
	switch {
	case i > 0 && d.chance(3):
		s.Base = fmt.Sprintf("https://gw%d.test", i) // and the same appId
	case i > 0:
		s.AppID = fmt.Sprint(7 + i)
		s.SharesCredentials = d.chance(2) && s.Gateway.StatesApp == "" // the client then does not check the appId
	}
	if s.SharesCredentials { // then its client compares the appId
		s.Gateway.StatesApp = ""
	}
	return s
}

func (d *draw) gateway() Gateway {
	g := Gateway{
		Duplicates:       sandbox.Duplicates(d.IntN(4)),
		RefundDuplicates: sandbox.RefundDuplicates(d.IntN(3)),
		HostedRetry:      d.chance(2), DeclineLater: d.chance(4), StatusIsCode: d.chance(6), RefundIDPublished: d.chance(3),
		ZoneHours: one(d, 0, 8, 8, -12, 14, d.IntN(27)-12),
	}
	if d.chance(3) {
		g.SettleAfter = d.between(time.Minute, 30*time.Hour)
	}
	if d.chance(2) {
		g.RefundSettleAfter = d.between(time.Minute, 10*day)
	}
	if d.chance(2) {
		g.Lag, g.LagOneIn = d.between(time.Second, 30*time.Minute), 1+d.IntN(3)
	}
	if d.chance(4) {
		g.LeakRows = 1 + d.IntN(3)
	}
	if d.chance(4) {
		g.PageSize, g.OldestFirst, g.UnstableTies = 1+d.IntN(20), d.chance(2), d.chance(2)
	}
	if d.chance(4) {
		g.StartExclusive, g.EndExclusive = d.chance(2), d.chance(2)
	}
	if d.chance(3) {
		g.NoIDs, g.NoAmounts, g.BareFailures = d.chance(2), d.chance(3), d.chance(3)
	}
	if d.chance(10) {
		g.StatesApp = "4711"
	}
	g.Echoes = d.chance(8)
	return g
}

func (d *draw) settings() Settings {
	s := Settings{Parallel: one(d, 1, 1, 1, 4), MaxAttempts: one(d, 1, 1, 2, 4)}
	s.AbsentAfter = one(d, 0, 0, 15*time.Minute, 2*time.Hour, 48*time.Hour)
	s.AbandonAfter = one(d, 0, 0, -1, day, 3*day)
	s.Settle = one(d, 0, 0, 30*time.Second)
	s.WaitElsewhere = one[time.Duration](d, -1, 0)
	return s
}

// plan draws the steps.
type plan struct {
	*draw
	h       *History
	clocks  bool    // that are not right
	trouble float64 // how often something is disturbed
	thing   int     // the one that the last step was about
	next    []Step  // what follows from the last steps
}

// steps draws steps over so many days.
func (p *plan) steps(days int) {
	span := time.Duration(days) * day
	n := one(p.draw, 5, 10, 20) * days
	gap := span / time.Duration(n)
	if p.chance(8) {
		span *= 4 // a few steps over months
	}
	for at := time.Duration(0); at < span && len(p.h.Steps) < n; {
		s := p.follow()
		if s.After == 0 {
			s.After = p.pause(gap)
		}
		s.After += time.Duration(p.IntN(1000)) // no two timers at the same instant
		s.Seed = uint64(p.IntN(1000))
		at += s.After
		p.h.Steps = append(p.h.Steps, s)
	}
}

// pause draws the time before a step.
func (p *plan) pause(gap time.Duration) time.Duration {
	switch {
	case p.chance(4):
		return time.Duration(p.IntN(int(time.Second)))
	case p.chance(60):
		return p.between(day, 40*day)
	case p.chance(3):
		return p.between(time.Second, time.Hour)
	}
	return p.between(time.Second, gap*4)
}

// setClocks sets clocks wrong. Then every payment has an id of the gateway: the journal compares times of those that have
// none, and here these are the shifted ones.
func (p *plan) setClocks() {
	if !p.clocks {
		return
	}
	ahead := func() time.Duration { return time.Duration(p.Int64N(int64(2*mostAhead))) - mostAhead }
	for i := range p.h.World.Shops {
		s := &p.h.World.Shops[i]
		s.Settings.ClockAhead, s.Gateway.NoIDs = ahead(), false
	}
	for i := range p.h.Steps {
		s := &p.h.Steps[i]
		if s.Settings != nil {
			s.Settings.ClockAhead = ahead()
		}
		if s.Text == "no id" || s.Post == "made, no id" {
			s.Text, s.Post = "", ""
		}
	}
}

// follow draws a step that often follows what went before, or any step.
func (p *plan) follow() Step {
	if len(p.next) > 0 && !p.chance(5) {
		s := p.next[0]
		p.next = p.next[1:]
		p.disturb(&s)
		return s
	}
	s := p.step()
	then := func(all ...string) {
		for _, do := range all {
			p.next = append(p.next, Step{Do: do, Thing: s.Thing, Shop: s.Shop, Process: p.IntN(2)})
		}
	}
	switch {
	case !p.chance(2):
	case slices.Contains([]string{"made, 201", "made, 401", "made, 403", "201", "401", "403", "429"}, s.Post) && s.Do == "pay":
		then(one(p.draw, "pay after refusal", "recover"), one(p.draw, "pay after refusal", "confirm", "recover"))
	case s.Do == "disguise" && p.chance(2), s.Do == "pay" && s.Post == "lost" && p.chance(3):
		p.shownOnce(s, false)
	case s.Do == "pay" && slices.Contains([]string{"made, unlisted code", "made, other amount", "made, 999"}, s.Post):
		p.shownOnce(s, true)
	case s.Do == "disguise":
		then(one(p.draw, "confirm", "recover"))
	case s.Do == "pay" && s.Post != "":
		then(one(p.draw, "pay", "recover", "pay again", "confirm"), one(p.draw, "pay", "recover", "confirm"))
	case s.Do == "restart" || s.Do == "crash":
		then(one(p.draw, "pay", "recover"))
	case s.Do == "backup":
		then("pay", "restore", "recover")
	}
	return s
}

// strange are forms of a row that do not tell an outcome.
var strange = []string{"announced", "no amount", "other amount", "other currency", "unlisted code", "unreadable"}

// shownOnce lets the gateway show what the step is about in a strange form, unless its answer was one, and then for days no
// more.
func (p *plan) shownOnce(s Step, answered bool) {
	about := Step{Thing: s.Thing, Shop: s.Shop, Process: s.Process}
	shown, seen, hidden, later := about, about, about, about
	shown.Do, shown.Text, shown.Delay, shown.After = "disguise", one(p.draw, strange...), 3*time.Hour, time.Second
	seen.Do, seen.After = "recover", p.between(time.Second, time.Hour)
	hidden.Do, hidden.Text, hidden.Delay, hidden.After = "disguise", "hidden", 60*time.Hour, time.Second
	later.Do, later.After = "recover", p.between(day, 2*day)
	if !answered {
		p.next = append(p.next, shown, seen)
	}
	p.next = append(p.next, hidden, later)
}

// step draws one step. Most are about the thing that the step before was about.
func (p *plan) step() Step {
	if len(p.h.Things) == 0 || p.chance(6) {
		p.newThing()
	} else if p.chance(4) {
		p.thing = max(0, len(p.h.Things)-1-int(p.ExpFloat64()*4))
	}
	t := &p.h.Things[p.thing]
	s := Step{Thing: p.thing, Shop: t.Shop, Process: p.IntN(2)}
	switch k := p.IntN(100); {
	case k < 26:
		s.Do = "pay"
	case k < 31:
		s.Do = "pay after refusal"
	case k < 37:
		s.Do = "pay again"
	case k < 58:
		s.Do = "recover"
		s.N = one(p.draw, 0, 0, 0, 0, 0, 1+p.IntN(4))
	case k < 60:
		s.Do, s.Delay = "run", p.between(10*time.Second, 2*time.Hour)
	case k < 63:
		s.Do = "stop run"
	case k < 67:
		s.Do = "ack"
	case k < 69:
		s.Do = "get"
	case k < 74:
		s.Do = "confirm"
	case k < 80:
		s.Do, s.N = one(p.draw, "card", "card", "settle"), one(p.draw, 0, 0, 1, 2, 3)
	case k < 81:
		s.Do = one(p.draw, "close", "sleep")
	case k < 87:
		s.Do, s.Delay = "disguise", p.between(time.Minute, 60*time.Hour)
		s.Text = one(p.draw, append(strange, "hidden", "no id")...)
		if t.Op == opRefund && p.chance(2) {
			s.Text = "came back"
		}
	case k < 89:
		s.Do, s.Post, s.Query = "weather", "", ""
		if p.Float64() < p.trouble {
			s.Post, s.Query = one(p.draw, "", "lost", "dropped", "500", "401", "unsent"), one(p.draw, "", "down", "500", "html", "429")
		}
	case k < 93:
		s.Do = one(p.draw, "restart", "crash")
		if p.chance(2) {
			changed := p.settings()
			s.Settings = &changed
			p.address(s.Settings, t.Shop)
		}
	case k < 95:
		s.Do, s.Delay = "forget", p.between(day+time.Hour, 60*day)
	case k < 97:
		s.Do = "mismatch"
	case k < 98:
		s.Do = one(p.draw, "backup", "backup", "restore", "damage", "damage", "unaccepted", "nobody's context")
	default:
		s.Do = "sleep"
	}
	p.disturb(&s)
	return s
}

// address draws another spelling of the gateway's address, or a new one with the old one as the journal's.
func (p *plan) address(s *Settings, shop int) {
	base := orElse(p.h.World.Shops[shop].Base, "https://gw.test")
	host := base[len("https://"):]
	spelled := []string{"", base, base + "/", "https://" + upper(host), base + ":443", "HTTPS://" + host}
	switch p.IntN(3) {
	case 0:
		s.BaseURL = one(p.draw, spelled...)
	case 1:
		s.BaseURL, s.Gateway = "https://new."+host, one(p.draw, spelled[1:]...)
	}
}

func upper(s string) string {
	b := []byte(s)
	for i := range b {
		if 'a' <= b[i] && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// newThing draws something that a customer wants.
func (p *plan) newThing() {
	t := Thing{
		Shop: p.IntN(len(p.h.World.Shops)), Amount: fmt.Sprintf("%d.%02d", 1+p.IntN(90), p.IntN(100)),
		Op:   one(p.draw, "CreateSubscription", "CreateSubscription", "TokenPayment", "CreateCheckout", "CreateTokenOrder", "CreateCheckoutSubscription"),
		Card: one(p.draw, sandbox.Approved, sandbox.Approved, sandbox.Approved, sandbox.Declined, sandbox.Pending, sandbox.Challenged),
	}
	if t.Op != "CreateSubscription" && t.Op != "TokenPayment" && t.Card == sandbox.Challenged {
		t.Card = sandbox.Approved
	}
	same := slices.IndexFunc(p.h.Things, func(o Thing) bool { return o.Shop == t.Shop && o.Op != opRefund })
	switch {
	case same >= 0 && p.chance(2): // a refund of a recent payment
		t.Of, t.Op = same, opRefund
		for i, o := range p.h.Things {
			if o.Shop == t.Shop && o.Op != opRefund && (i == p.thing || p.chance(3)) {
				t.Of = i
			}
		}
		t.Amount = one(p.draw, "0.50", "0.70", p.h.Things[t.Of].Amount, "500.00")
		if p.chance(4) {
			t.ID = orElse(p.h.Things[t.Of].ID, fmt.Sprintf("p-%d", t.Of)) // the payment's id
		}
	case len(p.h.World.Shops) > 1 && len(p.h.Things) > 0 && p.chance(2): // the id that another shop has
		i := p.IntN(len(p.h.Things))
		t.ID = orElse(p.h.Things[i].ID, fmt.Sprintf("p-%d", i))
		if p.chance(2) {
			t.Amount = p.h.Things[i].Amount
		}
	}
	p.h.Things = append(p.h.Things, t)
	p.thing = len(p.h.Things) - 1
}

// disturb draws what goes wrong with a call.
func (p *plan) disturb(s *Step) {
	s.Ack = p.chance(2)
	rarely := func() bool { return p.Float64() < p.trouble }
	if s.Do == "weather" {
		return
	}
	if rarely() {
		s.Post = one(p.draw, fates...)
		s.PostTimes = one(p.draw, 0, 0, 1, 2)
		if s.Delay == 0 {
			s.Delay = one(p.draw, time.Minute, 10*time.Second, p.between(time.Minute, 40*time.Hour), 20*time.Second, 45*time.Second)
		}
	}
	if first := rarely(); first && rarely() {
		s.Query = one(p.draw, "down", "down", "500", "html", "429", "cut", "no body", "slow")
		s.QueryTimes = one(p.draw, 0, 0, 1, 2, 5)
	}
	if rarely() && p.chance(3) {
		s.DieAt = 1 + p.IntN(14)
	}
	if rarely() && p.chance(3) {
		s.StoreAt, s.Store = 1+p.IntN(5), one(p.draw, "before", "after", "hang", "late", "outage")
	}
	if rarely() && p.chance(4) {
		s.Books = one(p.draw, "fail", "crash")
	}
	if rarely() && p.chance(6) {
		s.Timeout = p.between(time.Millisecond, 20*time.Second)
	}
	if p.chance(8) {
		s.With = 1 + p.IntN(2)
	}
}

// fates are what can happen to a request that moves money; see world.carry.
var fates = []string{
	"unsent", "unsent", "lost", "lost", "dropped", "late", "late", "slow", "slow, then delivered", "twice", "twice, later", "403", "429",
	"201", "401", "made, 201", "made, 401", "made, 403", "500", "made, 502", "made, 999", "html", "made, empty", "made, error with secrets",
	"made, no code", "made, unlisted code", "made, other amount", "made, no id", "made, other app", "made, foreign", "made, echo",
	"made, no transactionId", "cut", "no body",
}

func (m *merchant) plan(*draw, *History) {}

func (x *surroundings) plan(*draw, *History) {}
