package simulation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// notifications is what the gateways send to the shops: late, repeatedly, in another order or never, and what others send
// who have seen it.
type notifications struct {
	w        *world
	handlers map[*process]http.Handler
	shared   map[*shop]*sharedDeduper
	handled  map[event]int  // successful calls of the merchant's function
	accepted map[string]int // successful calls by shop and uniqueId
	begun    map[*call]event
	tokens   map[*process]map[string]string // the token with which the merchant's function was told first that a transactionId is paid
}

func newNotifications(w *world) *notifications {
	return &notifications{
		w: w, handlers: make(map[*process]http.Handler), shared: make(map[*shop]*sharedDeduper), handled: make(map[event]int),
		accepted: make(map[string]int), begun: make(map[*call]event), tokens: make(map[*process]map[string]string),
	}
}

// Notifications is how a shop receives notifications.
type Notifications struct {
	Unverified bool // no signature is checked
	OwnKey     bool // notifications are signed with a key that is about to be replaced
	Shared     bool // the processes share a Deduper
}

// event identifies what must be handled once, by everybody who shares a Deduper.
type event struct {
	by  any // a process or a shop
	key string
}

const (
	notificationBase = "https://shop.example/notifications"
	olderKey         = "sk-0f9e8d7c6b5a4321"
)

// notificationURL returns where the gateway is told to send notifications about a thing: a token order has a URL that
// nobody can guess.
func (t *thing) notificationURL() string {
	if t.Op != "CreateTokenOrder" {
		return notificationBase
	}
	if t.tokenURL == "" {
		t.tokenExpires = time.Now().Add(40 * day)
		t.tokenURL = must(tokenURLs(t.shop).URL(t.id, t.tokenExpires))
	}
	return t.tokenURL
}

// tokenURLs returns the URLs of a shop's token orders. Every process has the same key.
func tokenURLs(s *shop) *notify.TokenURLs {
	key := bytes.Repeat([]byte{byte(len(s.name)), s.name[len(s.name)-1]}, 16)
	return must(notify.NewTokenURLs(notificationBase, key))
}

// cardToken returns the token with which a thing is paid: that of a token order, if it has arrived, or one that was stored
// earlier.
func (t *thing) cardToken() cardgateway.Token {
	if of := t.w.thing(t.Of); t.Of > 0 && of.shop == t.shop && !of.token.IsZero() {
		return of.token
	}
	return cardgateway.NewToken(t.shop.gateway.tokens[t.Card])
}

func (x *notifications) do(s *Step) (made func(), ok bool) {
	switch s.Do {
	case "notify":
		return x.deliver(s), true
	case "charge back":
		t := x.w.thing(s.Thing)
		for _, r := range t.approvedRows() {
			if t.shop.gateway.sandbox.Chargeback(r.UniqueID) == nil {
				x.w.tell("the cardholder charges back %s", t.name())
			}
		}
		return nil, true
	case "notify again":
		t := x.w.thing(s.Thing)
		if !t.isRefund() {
			for _, r := range t.rows() {
				_ = t.shop.gateway.sandbox.Notify(r.UniqueID) // an error: it is not final yet
			}
		}
		return nil, true
	}
	return nil, false
}

// deliver delivers the N-th newest notification of a shop to one of its processes, changed as Text says.
func (x *notifications) deliver(s *Step) func() {
	w := x.w
	shop := w.shopOf(s)
	from := shop
	if s.Text == "another shop's" {
		from = w.shops[(s.Shop+1)%len(w.shops)]
	}
	all := from.mail.list(w)
	if len(all) == 0 {
		return nil
	}
	if s.Text == "token" || s.Text == "second token" { // the newest of a token order
		all = slices.DeleteFunc(slices.Clone(all), func(m mail) bool { return m.token == "" })
		if len(all) == 0 {
			return nil
		}
	}
	m := all[len(all)-1-s.N%len(all)]
	p := shop.process(s.Process)
	return w.call(s, p, func(c *call) { x.post(c, m, s.Text) })
}

// post sends a notification to the handler of a process, and checks the response.
func (x *notifications) post(c *call, m mail, how string) (status int) {
	w, p := x.w, c.process
	ctx, cancel := c.context()
	defer cancel()
	r, forged := m.request(p.shop, how, c.step.Seed)
	x.parse(r)
	before := x.successes(p, m)
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if e, is := x.begun[c]; is && p.isDead() { // it may have died before the Deduper knew
			x.handled[e]--
		}
		delete(x.begun, c)
	}()
	w.tell("%s: a notification arrives %s: %s", p.name(), cmp.Or(how, "as it is"), m)
	recorder := httptest.NewRecorder()
	x.handler(p).ServeHTTP(recorder, r.WithContext(ctx))
	if p.isDead() {
		return 0
	}
	w.tell("%s: answers the notification with %d", p.name(), recorder.Code)
	w.searchSecrets("the answer to a notification", fmt.Appendf(recorder.Body.Bytes(), "%v", recorder.Header()))
	after := x.successes(p, m)
	wrong := func(why string) {
		w.violate("a notification is answered as documented", "%s %s was answered with %d: %s", cmp.Or(how, "unchanged"), m, recorder.Code, why)
	}
	switch {
	case forged && (recorder.Code == http.StatusOK && after == 0 || after > before && !w.scheduler.isOn()): // with others at once, it may be theirs
		wrong("it was forged")
	case how == "second token" && recorder.Code == http.StatusOK && x.hasFirst(p, m):
		wrong("the process has got another token of this transaction before")
	case recorder.Code == http.StatusOK && after == 0 && how == "" && !p.shop.config.Notifications.Shared: // otherwise another process may have
		wrong("the merchant's function has never accepted it")
	case recorder.Code != http.StatusOK && after > before && !c.troubled && !w.scheduler.isOn():
		wrong("the merchant's function has accepted it")
	}
	return recorder.Code
}

// parse reads a notification without the handler, as a program does that puts it into a queue.
func (x *notifications) parse(r *http.Request) {
	body, _ := io.ReadAll(r.Body) // from memory
	r.Body = io.NopCloser(bytes.NewReader(body))
	n, err := notify.Parse(body, r.Header.Get("Content-Type"))
	x.w.searchError("an error of Parse", err)
	if err != nil {
		return
	}
	x.w.searchPrinted("a parsed notification", *n)
	if n.Transaction != nil || n.Refund != nil || n.Bound {
		x.w.violate("a parsed notification has no facts", "%+v", n.Claimed)
	}
}

// successes returns how often the merchant's function has accepted something about the transaction of a notification.
func (x *notifications) successes(p *process, m mail) int {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	return x.accepted[p.shop.name+fmt.Sprint(decode(m.body)["uniqueId"])]
}

// hasFirst reports whether a process has told the merchant of a token of the transaction of a notification, when it was paid.
func (x *notifications) hasFirst(p *process, m mail) bool {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	id, _ := decode(m.body)["transactionId"].(string)
	first := x.tokens[p][id]
	return first != "" && first != p.shop.gateway.tokens[sandbox.Declined]
}

// handler returns the handler of a process, which ends with it.
func (x *notifications) handler(p *process) http.Handler {
	if h := x.handlers[p]; h != nil {
		return h
	}
	w, config := x.w, p.shop.config.Notifications
	opts := notify.Options{
		TokenURLs: tokenURLs(p.shop), Logger: w.logger, QueriesPerSecond: 100,
		Observe: func(_ context.Context, info notify.Info) {
			w.searchPrinted("notify.Info", info)
			w.searchError("notify.Info.Err", info.Err)
		},
	}
	switch {
	case config.OwnKey:
		opts.Verify = notify.AnySignature(notify.SignatureSHA256(olderKey), notify.SignatureSHA256(secretKey))
	case !config.Unverified:
		opts.Verify = notify.SignatureSHA256(secretKey)
	}
	if config.Shared {
		if x.shared[p.shop] == nil {
			x.shared[p.shop] = &sharedDeduper{rows: make(map[string]*dedupeRow)}
		}
		opts.Deduper = dedupeConnection{p, x.shared[p.shop]}
	}
	h := notify.NewHandler(p.client, opts, func(ctx context.Context, n *notify.Notification) error {
		return x.handle(ctx, p, n)
	})
	x.handlers[p] = h
	return h
}

// handle is the merchant's function.
func (x *notifications) handle(ctx context.Context, p *process, n *notify.Notification) error {
	w, c := x.w, p.callOf(ctx)
	p.endIfDead()
	w.searchPrinted("a notification", *n)
	x.checkFacts(p, n)
	x.keepToken(p, n)
	x.confirmAgain(ctx, p, n)
	if c.step.Books == "crash" {
		p.kill()
		runtime.Goexit()
	}
	err := x.confirm(ctx, c, n)
	p.endIfDead()
	if err != nil {
		return err
	}
	if c.step.Books == "fail" {
		return errStore
	}
	x.store(ctx, p, n)
	return nil
}

// confirmAgain confirms a notification as a program does that has no handler, now and then.
func (x *notifications) confirmAgain(ctx context.Context, p *process, n *notify.Notification) {
	if p.callOf(ctx).step.Seed%8 != 0 {
		return
	}
	again := *n
	again.Transaction, again.Refund = nil, nil
	err := notify.Confirm(ctx, p.client, &again)
	p.endIfDead()
	x.w.searchError("an error of Confirm", err)
	if err == nil {
		x.checkFacts(p, &again)
	}
}

// keepToken notes the first token of a paid transaction, and checks that no other one follows in this process.
func (x *notifications) keepToken(p *process, n *notify.Notification) {
	if n.Token.IsZero() || n.Transaction.State() != cardgateway.StateApproved {
		return
	}
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	if x.tokens[p] == nil {
		x.tokens[p] = make(map[string]string)
	}
	id := n.Transaction.TransactionID
	x.tokens[p][id] = cmp.Or(x.tokens[p][id], n.Token.Reveal())
}

// confirm passes on to the journal what the gateway has confirmed.
func (x *notifications) confirm(ctx context.Context, c *call, n *notify.Notification) (err error) {
	if n.Refund != nil {
		err = c.process.confirmRefund(ctx, c, n.Refund)
	} else {
		err = c.process.confirm(ctx, c, n.Transaction)
	}
	if errors.Is(err, journal.ErrNoEntry) { // not made through the journal
		return nil
	}
	return err
}

// checkFacts compares what the merchant's function gets with the ledger.
func (x *notifications) checkFacts(p *process, n *notify.Notification) {
	w, facts := x.w, n.Transaction
	wrong := func(why string) {
		w.violate("a notification's facts are true", "%s gets %v of transaction %v, code %v: %s",
			p.name(), n.Claimed.Kind, facts.TransactionID, facts.Code, why)
	}
	t := p.shop.byID[journal.PaymentID(facts.TransactionID)]
	if t == nil {
		wrong("the shop has no such transaction")
		return
	}
	at := slices.IndexFunc(t.rows(), func(r sandbox.Row) bool { return r.UniqueID == facts.UniqueID })
	switch {
	case at < 0:
		wrong("the gateway has no such row")
	case t.disguise == "" && (facts.State() == cardgateway.StateApproved) != (t.rows()[at].Code == 100) && !(t.rows()[at].Code == 100 && facts.State() == cardgateway.StateProcessing):
		wrong(fmt.Sprintf("the ledger has code %d", t.rows()[at].Code))
	case !n.Token.IsZero() && !n.Bound:
		wrong("its token has not come to its own URL")
	case !n.Token.IsZero() && n.Token.Reveal() != p.shop.gateway.tokens[sandbox.Declined] && !slices.Contains(p.shop.mail.tokens(t.id), n.Token.Reveal()):
		wrong("its token is that of another order")
	}
	if n.Refund == nil {
		return
	}
	refund := p.shop.byID[journal.RefundID(n.Refund.MerchantRefundID)]
	if refund == nil {
		return // made in the back office
	}
	made := slices.ContainsFunc(refund.rows(), func(r sandbox.Row) bool { return r.UniqueID == n.Refund.RefundUniqueID && r.Code == 111 })
	if n.Refund.Refunded() && !made {
		wrong("the ledger has no such refund")
	}
}

// store is what the merchant keeps, and checks that nothing is handled twice.
func (x *notifications) store(ctx context.Context, p *process, n *notify.Notification) {
	w := x.w
	var by any = p
	if p.shop.config.Notifications.Shared {
		by = p.shop
	}
	code, refundID := n.Transaction.Code, ""
	if n.Refund != nil {
		code, refundID = n.Refund.Code, n.Refund.RefundUniqueID
	}
	key := fmt.Sprint(n.Claimed.Kind, n.Transaction.UniqueID, refundID, code, n.Token.IsZero())
	w.mu.Lock()
	x.handled[event{by, key}]++
	times := x.handled[event{by, key}]
	x.begun[p.callOf(ctx)] = event{by, key}
	x.accepted[p.shop.name+n.Transaction.UniqueID]++
	t := p.shop.byID[journal.PaymentID(n.Transaction.TransactionID)]
	if t != nil && !n.Token.IsZero() && n.Transaction.State() == cardgateway.StateApproved {
		t.token = n.Token
	}
	w.mu.Unlock()
	if times > 1 && n.Claimed.Kind != notify.KindChargeback && n.Claimed.Kind != notify.KindUnknown && !x.dedupeFailed(p.shop) {
		w.violate("a notification is handled once", "%s has accepted %s %d times", p.name(), key, times)
	}
}

func (x *notifications) dedupeFailed(s *shop) bool {
	d := x.shared[s]
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// rest delivers the newest notifications once more, to processes that nothing disturbs: each must be accepted.
func (x *notifications) rest() {
	w := x.w
	for _, s := range w.shops {
		all := s.mail.list(w)
		for _, m := range all[max(0, len(all)-5):] {
			if s.config.Gateway.StatesApp != "" || !x.canConfirm(s, m) {
				continue
			}
			id, _ := decode(m.body)["transactionId"].(string)
			if t := s.byID[journal.PaymentID(id)]; t != nil && m.token != "" && time.Now().After(t.tokenExpires) {
				continue
			}
			status := 0
			w.runAlone(w.call(&Step{Do: "notify"}, s.processes[0], func(c *call) { status = x.post(c, m, "") }))
			if status != http.StatusOK && status != http.StatusConflict && !w.isBroken() {
				w.violate("a notification is accepted once the gateway answers", "%s was answered with %d", m, status)
			}
		}
	}
}

// canConfirm reports whether a notification can be confirmed now: a refund by a search of its request's time, 54 days long.
func (x *notifications) canConfirm(s *shop, m mail) bool {
	fields := decode(m.body)
	if fields["transactionType"] != "Refund" {
		return true
	}
	id, _ := fields["merchantRefundId"].(string)
	t := s.byID[journal.RefundID(id)]
	return t != nil && len(t.rows()) == 1 && time.Since(t.rows()[0].At) < 53*day && !t.frozen && t.shop.gateway.config.Lag == 0
}

func (x *notifications) plan(d *draw, h *History) {
	for i := range h.World.Shops {
		h.World.Shops[i].Notifications = Notifications{Unverified: d.chance(4), OwnKey: d.chance(4), Shared: d.chance(2)}
	}
	var steps []Step
	for range len(h.Steps) / 6 {
		s := Step{
			Do: "notify", After: d.between(time.Second, time.Hour), Shop: d.IntN(4), Process: d.IntN(4), N: d.IntN(4), Seed: d.Uint64() % 1000,
			Text: one(d, "", "", "", "", "", "shifted", "forged", "another token", "another URL", "unsigned", "without uniqueId", "older key"),
		}
		if d.chance(4) {
			s.N = d.IntN(50)
		}
		if h.World.Shops[s.Shop%len(h.World.Shops)].SharesCredentials && d.chance(3) {
			s.Text = "another shop's"
		}
		switch d.IntN(12) {
		case 0:
			s.Books = one(d, "fail", "crash")
		case 1:
			s.DieAt = 1 + d.IntN(12)
		case 2:
			s.Query = one(d, "dropped", "500", "html", "429", "slow")
		case 3:
			s.Refuse = one(d, "dedupe Claim", "dedupe Done", "authenticate", "limiter")
		case 4:
			s.StoreAt, s.Store = 1+d.IntN(4), one(d, "before", "after")
		case 5:
			s.With = 1 + d.IntN(2)
		}
		steps = append(steps, s)
		for s.With > 0 || d.chance(4) { // the same again, at once or a moment later
			again := s
			again.With, again.Books, again.DieAt, again.Process = 0, "", 0, d.IntN(4)
			if s.With > 0 {
				again.After = 0
			}
			steps = append(steps, again)
			s.With--
		}
	}
	steps = append(steps, planTokens(d, h)...)
	for range len(h.Steps) / 40 {
		steps = append(steps, Step{Do: one(d, "charge back", "notify again"), Thing: d.IntN(max(len(h.Things), 1))})
	}
	h.scatter(d, steps)
	if d.chance(8) {
		planSlowRefunds(h)
	}
}

// planSlowRefunds lets refunds take longer than a search may be long. They are made when the history ends.
func planSlowRefunds(h *History) {
	for i := range h.World.Shops {
		s := &h.World.Shops[i]
		s.Gateway.RefundSettleAfter = 29 * day
		for n := range s.Processes {
			h.Steps = append(h.Steps, Step{Do: "stop run", Shop: i, Process: n})
		}
	}
	h.Steps = append(h.Steps, Step{Do: "sleep", After: 30 * day})
}

// planTokens draws, in some histories, steps in which a token order is paid and its token arrives, and then another one at the
// same URL.
func planTokens(d *draw, h *History) (steps []Step) {
	if !d.chance(2) {
		return nil
	}
	for i, t := range h.Things {
		if t.Op != "CreateTokenOrder" || !d.chance(2) {
			continue
		}
		process := d.IntN(2)
		about := func(do, text string, n int) Step {
			return Step{Do: do, Text: text, Shop: t.Shop, Thing: i, Process: process, N: n, Seed: d.Uint64() % 1000}
		}
		newest := one(d, 0, 0, 1)
		all := []Step{about("pay", "", 0), about("card", "", 0), about("notify", "token", newest), about("notify", "second token", newest)}
		if d.chance(3) { // not all: the token comes late, or from the cardholder's second card
			k := d.IntN(len(all))
			all = slices.Delete(all, k, k+1)
		}
		all[0].After = d.between(time.Second, time.Hour) // the others follow directly
		steps = append(steps, all...)
	}
	return steps
}
