package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// lookups are the calls of people and of small programs: they send tracking numbers, resolve what an error left open, and pay
// without a journal.
type lookups struct{ w *world }

func (x *lookups) do(s *Step) (made func(), ok bool) {
	w := x.w
	do, ok := map[string]func(*call, *thing){
		"upload": x.upload, "resolve": x.resolve, "pay bare": x.payBare,
	}[s.Do]
	if !ok {
		return nil, false
	}
	if s.Do == "pay bare" {
		t := w.thing(s.Thing)
		if t.hasEntry() || t.called || t.frozen || !t.prepare() {
			return nil, true
		}
		t.bare, t.frozen = true, true // the journal never hears of it
	}
	return w.callAbout(s, do), true
}

// client returns the process's client, or one with another RetryPolicy.
func (c *call) client() *cardgateway.Client {
	if c.step.N == 0 {
		return c.process.client
	}
	return c.process.client.WithRetry(cardgateway.RetryPolicy{MaxAttempts: c.step.N % 4, MinWait: time.Second, MaxWait: time.Minute})
}

// upload sends the tracking number of a payment. Sent again, it replaces the one before.
func (x *lookups) upload(c *call, t *thing) {
	w := x.w
	rows := t.rows()
	if t.isRefund() || len(rows) == 0 {
		return
	}
	ctx, cancel := c.context()
	defer cancel()
	t.parcels++
	number := fmt.Sprintf("T%d-%s", t.parcels, t.id)
	err := c.client().UploadTrackingNumbers(ctx, []cardgateway.Shipment{{UniqueID: rows[0].UniqueID, Company: "Post", Number: number}})
	if c.process.isDead() {
		return
	}
	w.tell("%s: sends tracking number %s: %v", c.process.name(), number, err)
	w.searchError("an error of UploadTrackingNumbers", err)
	has, _ := t.shop.gateway.sandbox.TrackingNumber(rows[0].UniqueID)
	if err == nil && has.Number != number && !w.scheduler.isOn() && c.step.Query == "" && t.shop.query == "" {
		w.violate("a tracking number arrives", "%s was sent, and the gateway has %q", number, has.Number)
	}
}

// resolve asks the gateway for an outcome with what the call returned, or with what a program that lost that has in its database.
func (x *lookups) resolve(c *call, t *thing) {
	if t.whole == 0 || t.isRefund() && t.uniqueID == "" || t.frozen {
		return
	}
	lost := t.lost
	if lost == nil {
		lost = t.unknownOutcome()
	}
	x.resolveLost(c, t, lost)
}

// resolveLost asks the gateway for the outcome that an error left open.
func (x *lookups) resolveLost(c *call, t *thing, lost error) {
	w := x.w
	r, sentAt, err := c.resolve(lost)
	if c.process.isDead() {
		return
	}
	w.searchError("an error of Resolve", err)
	switch {
	case errors.Is(err, cardgateway.ErrNotFound):
		x.checkNotFound(t, err)
		return
	case errors.Is(err, cardgateway.ErrQueryFailed), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return
	}
	v := verdictOf(r, err)
	w.hear(c, t, v, err, nil)
	x.checkDeclined(c, t, v, sentAt)
	if v == conflict && t.successes() < 2 && !t.cameBack && !t.renewedTwice {
		w.violate("a conflict is one", "%s: Resolve says %v, and the ledger has %v", t.name(), err, t.rows())
	}
}

// unknownOutcome is the error of an unknown outcome, made from what a program has in its database.
func (t *thing) unknownOutcome() error {
	if t.isRefund() {
		return &cardgateway.RefundUnknownError{
			Op: t.Op, UniqueID: t.uniqueID, RefundTransactionID: t.id, Amount: t.amount(), SentAt: t.firstAt, Seen: !t.seen.IsZero(),
			SentAgain: t.whole > 1,
		}
	}
	lost := &cardgateway.OutcomeUnknownError{
		Op: t.Op, TransactionID: t.id, Amount: t.amount(), Currency: "USD", SentAt: t.firstAt, HostedPage: t.isHosted(), Seen: !t.seen.IsZero(),
		SentAgain: t.whole > 1,
	}
	if t.isSubscription() {
		lost.SubscriptionCycle = cardgateway.CycleWeek
	}
	if t.Op != "TokenPayment" {
		lost.OrderID = "o-" + t.id
	}
	return lost
}

// resolve asks the gateway for the outcome that an error left open.
func (c *call) resolve(lost error) (r result, sentAt time.Time, err error) {
	ctx, cancel := c.context()
	defer cancel()
	if unknown, is := errors.AsType[*cardgateway.RefundUnknownError](lost); is {
		r.refund, err = c.client().ResolveRefund(ctx, unknown.Query())
		return r, unknown.SentAt, err
	}
	unknown, is := errors.AsType[*cardgateway.OutcomeUnknownError](lost)
	if !is {
		c.process.w.violate("what is unknown can be resolved", "no query can be made of %v", lost)
		return r, sentAt, lost
	}
	r.payment, err = c.client().Resolve(ctx, unknown.Query())
	return r, unknown.SentAt, err
}

// checkNotFound checks that what is said not to be found was not to be found during all of the search.
func (x *lookups) checkNotFound(t *thing, err error) {
	if t.disguise != "" {
		return
	}
	for _, row := range t.rows() {
		if time.Since(row.At) > t.shop.gateway.config.Lag+3*time.Minute {
			x.w.violate("what is looked up is true", "%s is not found (%v), and the ledger has %v", t.name(), err, row)
			return
		}
	}
}

// payBare makes a payment as a program without a journal does: it repeats the call as long as the error says that this is
// safe, and resolves what is unknown.
func (x *lookups) payBare(c *call, t *thing) {
	w := x.w
	c.again = riskingTwice // what may be repeated is checked here
	for range 3 {
		before := c.whole
		r, err := t.pay(c, c.client(), t.amount())
		if c.process.isDead() {
			return
		}
		if r.payment != nil {
			w.searchPrinted("a payment", *r.payment)
		}
		v := verdictOf(r, err)
		w.hear(c, t, v, err, nil)
		if cardgateway.SafeToRetry(err) != (v == notSent) || v == notSent && c.whole > before {
			w.violate("what is safe to repeat was not sent", "%s: %v, and %d requests have left", t.name(), err, c.whole)
		}
		if errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			x.resolveLost(c, t, err)
		}
		if !cardgateway.SafeToRetry(err) {
			return
		}
	}
}

// checkDeclined checks that Resolve does not take a decline on the hosted page, which is one attempt, for the end.
func (x *lookups) checkDeclined(c *call, t *thing, v verdict, sentAt time.Time) {
	closed := slices.ContainsFunc(t.rows(), func(r sandbox.Row) bool { return r.Code == 103 })
	if v == declined && t.isHosted() && !closed && time.Since(sentAt) < c.process.settings.hostedPageLifetime() {
		x.w.violate("what is told is true", "Resolve tells that %s is declined, and the cardholder can try another card; rows %v", t.name(), t.rows())
	}
}

// rest checks that what was reported as begun has ended.
func (x *lookups) rest() {
	for _, s := range x.w.shops {
		for _, p := range s.processes {
			p.checkBalance()
		}
	}
}

func (x *lookups) plan(d *draw, h *History) {
	for i := range h.Steps {
		if s := &h.Steps[i]; strings.HasPrefix(s.Do, "pay") && d.chance(40) {
			s.Refuse = one(d, "authenticate", "limiter")
		}
	}
	var steps []Step
	for range len(h.Steps) / 14 {
		s := Step{
			Do:    one(d, "upload", "resolve", "resolve", "pay bare"),
			After: d.between(time.Second, time.Hour), Process: d.IntN(4), Thing: d.IntN(max(len(h.Things), 1)), N: d.IntN(8),
			Seed: d.Uint64() % 1000,
		}
		switch d.IntN(6) {
		case 0:
			s.Query, s.QueryTimes = one(d, "dropped", "500", "html", "429", "cut", "lost", "made, echo"), d.IntN(3)
		case 1:
			s.Refuse = one(d, "authenticate", "limiter")
		case 2:
			s.DieAt = 1 + d.IntN(4)
		case 3:
			s.Timeout = d.between(time.Second, time.Minute)
		}
		steps = append(steps, s)
	}
	h.scatter(d, steps)
}
