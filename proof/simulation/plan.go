package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
		s := d.shop(i)
		if i > 0 { // a shop that shares credentials sees the rows of the others, in the zone of its own gateway
			s.Gateway.ZoneHours = h.World.Shops[0].Gateway.ZoneHours
		}
		h.World.Shops = append(h.World.Shops, s)
	}
	p := &plan{draw: d, h: h, trouble: one(d, 0.02, 0.1, 0.3, 0.6), swarm: d.swarm(h.World.Store)}
	p.steps(days)
	if d.chance(6) {
		p.setClocks()
	}
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
		s.SharesCredentials = d.chance(2) && s.Gateway.StatesApp == "" // otherwise the client does not check the appId
	}
	return s
}

func (d *draw) gateway() Gateway {
	g := Gateway{
		Duplicates:       sandbox.Duplicates(d.IntN(4)),
		RefundDuplicates: sandbox.RefundDuplicates(d.IntN(3)),
		HostedRetry:      d.chance(2), DeclineLater: d.chance(4), RenewalsHaveNewID: d.chance(3), StatusIsCode: d.chance(6), RefundIDPublished: d.chance(3),
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
	s.HostedPageLifetime = one(d, 0, 12*time.Hour, day, 3*day, 7*day)
	s.Wait = one(d, 0, 0, 30*time.Second)
	s.WaitElsewhere = one[time.Duration](d, -1, 0)
	return s
}

// plan draws the steps.
type plan struct {
	*draw
	h       *History
	trouble float64 // how often something is disturbed
	swarm   swarm
	thing   int    // the one that the last step was about
	next    []Step // what follows from the last steps
}

// swarm is what can happen in one history. Where everything can happen, each thing is rare, and two rare things hardly ever
// meet: so most histories have only some of it, and that often.
type swarm struct {
	kinds     []string // of steps; one that is listed twice is twice as frequent
	fates     []string
	queries   []string // faults of queries
	stores    []string // and of the store
	disguises []string
	newThing  int // a new thing is wanted once in so many steps
	tale      int // a tale begins once in so many steps
	tales     []func(*plan)
}

func (d *draw) swarm(store string) swarm {
	s := swarm{
		fates: some(d, fates), queries: some(d, queryFaults), stores: some(d, storeFaults), disguises: some(d, disguises),
		newThing: one(d, 3, 6, 6, 12), tale: one(d, 2, 3, 6, 12), tales: some(d, tales),
	}
	everything := d.chance(3)
	for _, k := range kinds {
		n := k.often
		switch {
		case k.do == "damage" && store == "sqlite":
			n *= 5
		case everything || k.always:
		default:
			n *= one(d, 0, 0, 1, 1, 4)
		}
		for range n {
			s.kinds = append(s.kinds, k.do)
		}
	}
	return s
}

// some returns all of these or a few.
func some[T any](d *draw, all []T) []T {
	if d.chance(3) {
		return all
	}
	var few []T
	for range 1 + d.IntN(4) {
		few = append(few, one(d, all...))
	}
	return few
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
	ahead := func() time.Duration { return time.Duration(p.Int64N(int64(2*maxAhead))) - maxAhead }
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
	if len(p.next) == 0 && p.chance(p.swarm.tale) {
		one(p.draw, p.swarm.tales...)(p)
	}
	if len(p.next) > 0 && !p.chance(8) {
		s := p.next[0]
		p.next = p.next[1:]
		p.disturb(&s)
		return s
	}
	s := p.step()
	then := func(all ...string) {
		for _, do := range all {
			p.then(s, Step{Do: do, Process: p.IntN(2)})
		}
	}
	switch {
	case !p.chance(2):
	case s.Do == "disguise":
		then(one(p.draw, "confirm", "recover"))
	case s.Do == "pay" && slices.Contains(refusals, s.Post):
		then(one(p.draw, "pay after refusal", "recover"), one(p.draw, "pay after refusal", "confirm", "recover"))
	case s.Do == "pay" && s.Post != "":
		then(one(p.draw, "pay", "recover", "pay again", "confirm"), one(p.draw, "pay", "recover", "confirm"))
	case s.Do == "restart" || s.Do == "crash":
		then(one(p.draw, "pay", "recover"))
	case s.Do == "backup":
		then("pay", "restore", "recover")
	case s.Do == "damage", s.Do == "lock":
		then("pay", "recover")
	}
	return s
}

// then adds a step that is about the same thing as s.
func (p *plan) then(s, next Step) {
	next.Thing, next.Shop = s.Thing, s.Shop
	p.next = append(p.next, next)
}

// strange are forms of a row that do not tell an outcome.
var strange = []string{"announced", "no amount", "other amount", "other currency", "unlisted code", "unreadable"}

// disguises are what a search can show instead of a row.
var disguises = append(slices.Clip(strange), "hidden", "first hidden", "displaced", "no id")

// tales are sequences of ordinary steps about a new thing. Each is an order of events that is rare where every step is drawn
// for itself. They put a step into p.next; what disturbs it, and steps between them, are drawn as always.
var tales = []func(*plan){(*plan).shownOnce, (*plan).afterRefusal, (*plan).notRecorded, (*plan).attempts, (*plan).told, (*plan).whileTold, (*plan).renewals,
	(*plan).lockedRow,
}

// begin draws something that a customer wants, and pays for it with one of these fates.
func (p *plan) begin(fates ...string) Step {
	p.newThing()
	s := Step{Do: "pay", Thing: p.thing, Shop: p.h.Things[p.thing].Shop, Process: p.IntN(2), Post: one(p.draw, fates...)}
	s.Delay = p.between(10*time.Second, 40*time.Hour)
	p.next = append(p.next, s)
	return s
}

// soon is a time within which a gateway may not yet show what it has.
func (p *plan) soon() time.Duration { return p.between(time.Second, 10*time.Minute) }

// unanswered are fates after which the outcome is not known.
var unanswered = []string{
	"lost", "lost", "late", "twice, lost", "made, 502", "made, 999", "made, empty", "made, unlisted code", "made, other amount", "another's answer",
}

// shownOnce lets the gateway show in a strange form what has no outcome, perhaps, and then for days nothing of it, or nothing
// that tells.
func (p *plan) shownOnce() {
	s := p.begin(unanswered...)
	if p.chance(2) {
		p.then(s, Step{Do: "disguise", Text: one(p.draw, strange...), Delay: 3 * time.Hour, After: time.Second})
		p.then(s, Step{Do: "recover", Process: s.Process, After: p.between(time.Second, time.Hour)})
	}
	p.hide(s)
}

// hide lets the gateway show nothing of a payment, or nothing that tells, until it is old.
func (p *plan) hide(s Step) {
	how := one(p.draw, "hidden", "hidden", "displaced", one(p.draw, strange...))
	p.then(s, Step{Do: "disguise", Text: how, Delay: 60 * time.Hour, After: time.Second})
	p.then(s, Step{Do: one(p.draw, "recover", "recover", "pay again"), Process: s.Process, After: one(p.draw, 0, day) + p.between(15*time.Minute, day)})
}

// afterRefusal submits again what was refused. The query before can fail, or not show what was made all the same; the
// repetition can be declined.
func (p *plan) afterRefusal() {
	s := p.begin(refusals...)
	if t := &p.h.Things[s.Thing]; t.Op != opRefund {
		t.Op, t.Card = one(p.draw, "CreateSubscription", "TokenPayment", t.Op), one(p.draw, sandbox.Approved, sandbox.Approved, sandbox.Declined)
	}
	late := p.chance(2)
	if late {
		p.then(s, Step{
			Do: "disguise", Text: one(p.draw, "first hidden", "first hidden", "hidden"), Delay: p.between(10*time.Minute, 3*time.Hour), After: time.Second,
		})
	}
	p.then(s, Step{Do: "pay after refusal", Process: p.IntN(2), After: p.soon(), Query: one(p.draw, "", "", "", one(p.draw, p.swarm.queries...))})
	if late || p.chance(3) {
		p.then(s, Step{Do: "recover", Process: p.IntN(2), After: p.soon()})
	} else {
		p.hide(s)
	}
	p.then(s, Step{Do: one(p.draw, "recover", "recover", "confirm", "pay after refusal"), Process: p.IntN(2)})
}

// notRecorded lets the store fail when something is to be sent again that was not sent, or was refused.
func (p *plan) notRecorded() {
	s := p.begin("unsent", "unsent", "201", "403")
	p.then(s, Step{
		Do: one(p.draw, "pay", "pay after refusal", "pay again"), Process: p.IntN(2), StoreAt: 1 + p.IntN(5), Store: one(p.draw, storeFaults...),
	})
	p.then(s, Step{Do: one(p.draw, "recover", "pay"), Process: p.IntN(2)})
}

// attempts lets the cardholder try several cards on the hosted page. The merchant hears of one attempt, perhaps much later.
func (p *plan) attempts() {
	s := p.begin("", "", "lost")
	t := &p.h.Things[s.Thing]
	t.Card, t.Op = sandbox.Approved, one(p.draw, "CreateCheckout", "CreateTokenOrder", "CreateCheckoutSubscription")
	for _, n := range one(p.draw, []int{3, 0}, []int{3, 0}, []int{3, 3, 0}, []int{p.IntN(4), p.IntN(4)}) { // 3: declined
		p.then(s, Step{Do: "card", N: n, After: p.between(time.Second, time.Hour)})
	}
	p.then(s, Step{
		Do: one(p.draw, "confirm", "confirm", "recover"), N: one(p.draw, 0, 1, 2, 2), Process: p.IntN(2),
		After: one(p.draw, p.between(time.Minute, 10*day), p.between(10*time.Hour, 2*day), p.between(5*day, 12*day)),
	})
	p.then(s, Step{Do: one(p.draw, "confirm", "recover"), N: p.IntN(3), Process: p.IntN(2)})
}

// renewals lets the gateway make later charges of a subscription, and one of them twice, perhaps. The merchant hears of them, or
// looks for the first one only then.
func (p *plan) renewals() {
	s := p.begin("", "", "lost")
	t := &p.h.Things[s.Thing]
	t.Card, t.Op = sandbox.Approved, one(p.draw, "CreateSubscription", "CreateCheckoutSubscription")
	p.then(s, Step{Do: "card", After: time.Second})
	if p.chance(2) {
		p.then(s, Step{Do: "recover", Process: p.IntN(2), Ack: true, After: p.between(time.Minute, time.Hour)})
	}
	for range 1 + p.IntN(3) {
		p.then(s, Step{Do: "renew", N: one(p.draw, 0, 0, 0, 1), After: 7*day + p.between(time.Second, time.Hour)})
		p.then(s, Step{Do: one(p.draw, "confirm", "confirm", "notify", "recover", "resolve", "get"), Process: p.IntN(2), After: p.between(time.Minute, day)})
	}
	p.then(s, Step{Do: one(p.draw, "confirm", "recover", "pay"), Process: p.IntN(2)})
}

// told lets a process acknowledge later what it was told, when another one may have recorded more.
func (p *plan) told() {
	s := p.begin("", "", "429")
	p.then(s, Step{Do: one(p.draw, "card", "settle"), After: p.between(time.Second, time.Hour)})
	p.then(s, Step{
		Do: one(p.draw, "recover", "confirm", "pay after refusal"), Process: 1 - s.Process, After: p.between(time.Second, time.Hour),
		Books: one(p.draw, "", "fail"),
	})
	p.then(s, Step{Do: "ack told", Process: s.Process, After: p.between(time.Second, time.Hour)})
}

// whileTold lets Run tell an outcome, and the merchant be slow in storing it, while something else becomes known.
func (p *plan) whileTold() {
	s := p.begin("unsent", "unsent", "")
	p.then(s, Step{Do: "stop run", Process: s.Process, After: time.Second})
	p.then(s, Step{Do: "run", Process: s.Process, N: 10 + p.IntN(60), Delay: p.between(time.Minute, time.Hour), After: time.Second, Books: one(p.draw, "", "panic")})
	for range 1 + p.IntN(2) {
		p.then(s, Step{
			Do: one(p.draw, "pay", "pay", "confirm", "recover"), Process: s.Process, After: p.soon(), Books: one(p.draw, "", "fail"),
		})
	}
	p.then(s, Step{Do: "stop run", Process: s.Process, After: p.between(time.Minute, 2*time.Hour)})
}

// lockedRow lets somebody hold the row of a payment with an unknown outcome, while a younger one is open, too.
func (p *plan) lockedRow() {
	s := p.begin("lost", "lost")
	p.then(s, Step{Do: "lock", After: time.Second, Delay: p.between(10*time.Minute, 2*time.Hour)})
	p.begin("lost", "")
	p.then(s, Step{Do: "recover", Process: p.IntN(2), After: p.between(time.Second, 5*time.Minute)})
}

// refusals are fates after which the gateway seems to have refused.
var refusals = []string{"made, 201", "made, 401", "made, 403", "201", "401", "403", "429", "refused, then delivered"}

// kinds are the steps, and how often each happens where everything does.
var kinds = []struct {
	do     string
	often  int
	always bool // in every history
}{
	{"pay", 52, true}, {"pay after refusal", 10, false}, {"pay again", 12, false}, {"recover", 42, true}, {"run", 4, false},
	{"stop run", 6, true}, {"ack", 8, false}, {"ack told", 4, false}, {"get", 4, false}, {"confirm", 10, false}, {"card", 8, true},
	{"settle", 4, false}, {"close", 1, false}, {"disguise", 12, false}, {"weather", 4, false}, {"restart", 4, false},
	{"crash", 4, false}, {"forget", 4, false}, {"mismatch", 4, false}, {"backup", 1, false}, {"restore", 1, false},
	{"damage", 1, false}, {"lock", 3, false}, {"sleep", 5, true},
}

// step draws one step. Most are about the thing that the step before was about.
func (p *plan) step() Step {
	if len(p.h.Things) == 0 || p.chance(p.swarm.newThing) {
		p.newThing()
	} else if p.chance(4) {
		p.thing = max(0, len(p.h.Things)-1-int(p.ExpFloat64()*4))
	}
	t := &p.h.Things[p.thing]
	s := Step{Do: one(p.draw, p.swarm.kinds...), Thing: p.thing, Shop: t.Shop, Process: p.IntN(2)}
	switch s.Do {
	case "recover":
		s.N = one(p.draw, 0, 0, 0, 0, 0, 1+p.IntN(4))
	case "run":
		s.Delay = p.between(time.Minute, 12*time.Hour)
	case "confirm":
		s.N = one(p.draw, 0, 0, 1+p.IntN(3))
	case "card":
		s.N = one(p.draw, 0, 0, 1, 2, 3)
	case "settle":
		s.N = p.IntN(2)
	case "disguise":
		s.Delay, s.Text = p.between(time.Minute, 60*time.Hour), one(p.draw, p.swarm.disguises...)
		if t.Op == opRefund && p.chance(2) {
			s.Text = "came back"
		}
	case "weather":
		if p.Float64() < p.trouble {
			s.Post, s.Query = one(p.draw, "", "lost", "dropped", "500", "401", "unsent"), one(p.draw, "", "down", "500", "html", "429")
		}
	case "restart", "crash":
		if p.chance(2) {
			changed := p.settings()
			s.Settings = &changed
			p.address(s.Settings, t.Shop)
		}
	case "lock":
		s.Delay = p.between(time.Second, 2*time.Hour)
	case "forget":
		s.Delay = p.between(day+time.Hour, 60*day)
	}
	p.disturb(&s)
	return s
}

// address draws another spelling of the gateway's address, or a new one with the old one as the journal's.
func (p *plan) address(s *Settings, shop int) {
	base := cmp.Or(p.h.World.Shops[shop].Base, "https://gw.test")
	host := base[len("https://"):]
	spelled := []string{"", base, base + "/", "https://" + strings.ToUpper(host), base + ":443", "HTTPS://" + host}
	switch p.IntN(3) {
	case 0:
		s.BaseURL = one(p.draw, spelled...)
	case 1:
		s.BaseURL, s.Gateway = "https://new."+host, one(p.draw, spelled[1:]...)
	}
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
			t.ID = cmp.Or(p.h.Things[t.Of].ID, fmt.Sprintf("p-%d", t.Of)) // the payment's id
		}
	case len(p.h.World.Shops) > 1 && len(p.h.Things) > 0 && p.chance(2): // the id that another shop has
		i := p.IntN(len(p.h.Things))
		t.ID = cmp.Or(p.h.Things[i].ID, fmt.Sprintf("p-%d", i))
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
		s.Post = one(p.draw, p.swarm.fates...)
		s.PostTimes = one(p.draw, 0, 0, 1, 2)
		if s.Delay == 0 {
			s.Delay = one(p.draw, time.Minute, 10*time.Second, p.between(time.Minute, 40*time.Hour), 20*time.Second, 45*time.Second)
		}
	}
	if first := rarely(); first && rarely() {
		s.Query = one(p.draw, p.swarm.queries...)
		s.QueryTimes = one(p.draw, 0, 0, 1, 2, 5)
	}
	if rarely() && p.chance(3) {
		s.DieAt = 1 + p.IntN(14)
	}
	if rarely() && p.chance(3) {
		s.StoreAt, s.Store = 1+p.IntN(5), one(p.draw, p.swarm.stores...)
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
	"made, no transactionId", "cut", "no body", "refused, then delivered", "another's answer", "another's answer", "twice, lost", "twice, lost",
}

var (
	queryFaults = []string{"down", "down", "500", "html", "429", "cut", "no body", "slow"}
	storeFaults = []string{"before", "after", "hang", "late", "outage", "full"}
)

// scatter puts steps between those that a history has. Steps that follow each other directly stay together.
func (h *History) scatter(d *draw, steps []Step) {
	at := make([][]Step, len(h.Steps)+1)
	place := 0
	for i, s := range steps {
		if i == 0 || s.After > 0 && steps[i-1].With == 0 {
			place = d.IntN(len(at))
		}
		at[place] = append(at[place], s)
	}
	var all []Step
	for i := range at {
		all = append(all, at[i]...)
		if i < len(h.Steps) {
			all = append(all, h.Steps[i])
		}
	}
	h.Steps = all
}

func (m *merchant) plan(*draw, *History) {}

func (x *surroundings) plan(*draw, *History) {}
