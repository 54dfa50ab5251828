package faults

import (
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// A thing is a payment or a refund of a world.
type thing struct {
	order  *Order
	refund *Refund
}

// id is the transactionId or, with a mark, the refundTransactionId.
func (o thing) id() string {
	if o.refund != nil {
		return refundMark + o.refund.ID
	}
	return o.order.ID
}

const refundMark = "refund "

// idOf returns the id of the thing in a request.
func idOf(body []byte) string {
	before, rest, _ := strings.Cut(string(body), `ransactionId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if strings.HasSuffix(before, "refundT") {
		return refundMark + id
	}
	return id
}

// thingOf returns the thing of an entry.
func (w *world) thingOf(e *journal.Entry) thing {
	for _, o := range w.things {
		if e.ID() == o.journalID() {
			return o
		}
	}
	w.t.Fatalf("there is an entry %+v that nobody made", e.Begun)
	return thing{}
}

func (o thing) pay(p *process) Verdict {
	if o.refund != nil {
		return refundVerdict(p.CreateRefund(background, o.refund.request()))
	}
	return verdictOf(p.CreateSubscription(background, o.order.subscription()))
}

func (o thing) payAgain(p *process) Verdict {
	again := p.PayAgainRiskingSecondCharge(journal.AcceptSecondRefund)
	if o.refund != nil {
		return refundVerdict(again.CreateRefund(background, o.refund.request()))
	}
	return verdictOf(again.CreateSubscription(background, o.order.subscription()))
}

func (o thing) ack(p *process, stored journal.State) error {
	return p.Ack(background, o.journalID(), stored)
}

func (o thing) journalID() journal.ID {
	if o.refund != nil {
		return journal.RefundID(o.refund.ID)
	}
	return journal.PaymentID(o.order.ID)
}

// moved returns how many times money was moved.
func (o thing) moved(g *sandbox.Gateway) int {
	if o.refund != nil {
		return g.Refunded(o.refund.ID)
	}
	return g.Executed(o.order.ID)
}

// worldKind configures a world.
type worldKind struct {
	duplicates       sandbox.Duplicates
	refundDuplicates sandbox.RefundDuplicates
	settleAfter      time.Duration      // of refunds
	cards            [2]sandbox.Outcome // of payments; Declined of a refund is of more than was paid
	refunds          [2]bool            // which of the things are refunds
}

// things returns the things of a world. A refund and a payment have the same id.
func (k *worldKind) things(g *sandbox.Gateway) (things [2]thing, err error) {
	orders := Orders(1, 2)
	refunds, err := Refunds(g, 2, 2)
	if err != nil {
		return things, err
	}
	for i := range things {
		if !k.refunds[i] {
			orders[i].Card = k.cards[i]
			things[i].order = &orders[i]
			continue
		}
		refunds[i].Amount = []string{fmt.Sprint(refundedPayment), "12.50"}[i] // the whole payment cannot be given back twice
		if k.cards[i] == sandbox.Declined {
			refunds[i].Amount = tooMuch
		}
		if !k.refunds[1-i] {
			refunds[i].ID = orders[1-i].ID
		}
		things[i].refund = &refunds[i]
	}
	return things, nil
}
