package sandbox

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
)

// Settle ends a payment that is at 102, for example one with a Pending card, and sends its notification: with 100 if
// approved, otherwise with 101.
func (g *Gateway) Settle(id string, approved bool) error {
	_, err := forConsole{g}.Act(id, console.Action{Kind: console.Settle, Approve: approved})
	return err
}

// CloseOrder ends a payment that is waiting for its cardholder or in processing, with the published code 103 (order closed),
// and sends its notification.
func (g *Gateway) CloseOrder(id string) error {
	_, err := forConsole{g}.Act(id, console.Action{Kind: console.Close})
	return err
}

// Notify sends the notification of a final payment again, like a gateway that did not receive the merchant's response.
func (g *Gateway) Notify(id string) error {
	_, err := forConsole{g}.Act(id, console.Action{Kind: console.Notify})
	return err
}

// Chargeback sends the notification of a chargeback of the whole amount of a payment that has moved money. Nothing else
// changes, because the interface returns no chargebacks.
func (g *Gateway) Chargeback(id string) error {
	_, err := forConsole{g}.Act(id, console.Action{Kind: console.Chargeback})
	return err
}

// Renew makes a later charge of a subscription whose first charge was approved, now, sends its notification, and returns its
// uniqueId. The charge is approved. What the interface does not document is up to Options.RenewalsHaveNewID. Neither the time
// since the last charge nor the number of charges is checked: without a new id, Client.Resolve and package journal take a charge
// that is less than a cycle after the last one for a second payment, a conflict. Tests with virtual time can wait.
func (g *Gateway) Renew(id string) (uniqueID string, err error) {
	p, err := forConsole{g}.Act(id, console.Action{Kind: console.Renew})
	return p.UniqueID, err
}

// EnterCard acts as the cardholder on the card page, and returns where the browser would be sent: the callbackUrl, or the
// path of the next page. The id can also be the redirectUrl or the path of the page.
func (g *Gateway) EnterCard(id string, entry CardEntry) (next string, err error) {
	p, err := forConsole{g}.Act(id, console.Action{Kind: console.EnterCard, Card: console.Card(entry)})
	return p.Next(), err
}

// Authenticate acts as the cardholder on the 3D page, and returns where the browser would be sent. The id can also be the
// redirectUrl or the path of the page, such as EnterCard returns.
func (g *Gateway) Authenticate(id string, approve bool) (next string, err error) {
	p, err := forConsole{g}.Act(id, console.Action{Kind: console.Authenticate, Approve: approve})
	return p.Next(), err
}

// Act carries out an action on a payment. It is the one implementation behind the methods above, the control API, the
// dashboard and the hosted pages. It returns the payment afterwards, which is another one if the cardholder tries another
// card or a subscription is renewed.
func (g forConsole) Act(id string, a console.Action) (console.Payment, error) {
	g.lockSettled()
	defer g.mu.Unlock()
	o, err := g.ledger.payment(id)
	if err == nil {
		err = o.refusal(a.Kind)
	}
	if err == nil {
		o, err = g.ledger.act(o, a)
	}
	if err != nil {
		return console.Payment{}, err
	}
	return g.ledger.view(o), nil
}

// refusal returns why the state of a payment does not allow an action, or nil.
func (o *order) refusal(k console.Kind) error {
	if o.seeded {
		return console.Conflict("a seeded payment cannot be changed, and has no notifications", "")
	}
	allowed, why, hint := o.allows(k)
	if allowed {
		return nil
	}
	return console.Conflict(fmt.Sprintf("the payment %s, its code is %d", why, o.code), hint)
}

// allows reports whether the state of a payment, unless it is seeded, allows an action, and what is to be said if it does not. The
// dashboard has buttons for what it allows.
func (o *order) allows(k console.Kind) (allowed bool, why, hint string) {
	switch k {
	case console.Settle:
		return o.stage == stageProcessing, "is not in processing", "a payment with a card with CVV 650 stays in processing"
	case console.Close:
		return o.stage != stageFinal, "is final", "only a payment that is waiting or in processing can be closed"
	case console.Notify:
		return o.stage == stageFinal, "is not final", "there is nothing to notify before"
	case console.Chargeback:
		return o.movedMoney(), "has moved no money", ""
	case console.Renew:
		return o.isRenewable(), "is not an approved charge of a subscription", ""
	case console.EnterCard, console.Cancel:
		return o.awaits(stageCard), "is not waiting for a card", ""
	case console.Authenticate:
		return o.awaits(stage3D), "is not waiting for 3D authentication", ""
	}
	return false, "", ""
}

// act carries out an action that the state of the payment allows.
func (l *ledger) act(o *order, a console.Action) (*order, error) {
	switch a.Kind {
	case console.Settle:
		l.settle(o, a.Approve)
	case console.Close:
		l.close(o)
	case console.Notify:
		l.notices.payment(o)
	case console.Chargeback:
		o.record("charged back")
		l.notices.chargeback(o)
	case console.Renew:
		return l.renew(o), nil
	case console.EnterCard:
		c, invalid := readCard(CardEntry(a.Card))
		if invalid != nil {
			return nil, invalid
		}
		return l.enterCard(o, c), nil
	case console.Authenticate:
		l.authenticate(o, a.Approve)
	case console.Cancel:
		if o.canRetry {
			o.canRetry = false // the decline stands
		} else {
			l.finish(o, false, "Cancelled by the cardholder")
		}
	}
	return o, nil
}

// Refund refunds money of a payment, and returns the refundUniqueId. An empty amount means all that has not been refunded,
// an empty refundTransactionID means a generated one. It has the same effect as POST /api/refund.
func (g *Gateway) Refund(id, amount, refundTransactionID string) (refundUniqueID string, err error) {
	r, err := forConsole{g}.MakeRefund(id, console.RefundRequest{Amount: amount, RefundTransactionID: refundTransactionID})
	return r.RefundUniqueID, err
}

// MakeRefund is Refund, for everyone.
func (g forConsole) MakeRefund(id string, m console.RefundRequest) (console.Refund, error) {
	g.lockSettled()
	defer g.mu.Unlock()
	o, err := g.ledger.payment(id)
	if err != nil {
		return console.Refund{}, err
	}
	request := refundRequest{uniqueID: o.uniqueID, amount: m.Amount, merchantRefundID: m.RefundTransactionID, remark: m.Remark}
	if problems := checkRefund(request); problems != nil {
		return console.Refund{}, console.Invalid(strings.Join(problems, "; "))
	}
	r, err := g.ledger.giveBack(request)
	if err != nil {
		return console.Refund{}, console.Conflict(err.Error(), "")
	}
	return g.ledger.viewRefund(r), nil
}

// SettleRefund ends a refund that is at 110: if approved, with 111, otherwise with 112, and no money is refunded. The id is
// its refundUniqueId or its refundTransactionId, which means the newest refund with it.
func (g *Gateway) SettleRefund(id string, approved bool) error {
	_, err := forConsole{g}.EndRefund(id, approved)
	return err
}

// EndRefund is SettleRefund, for everyone.
func (g forConsole) EndRefund(id string, approved bool) (console.Refund, error) {
	g.lockSettled()
	defer g.mu.Unlock()
	r, err := g.ledger.refund(id)
	switch {
	case err != nil:
		return console.Refund{}, err
	case r.seeded:
		return console.Refund{}, console.Conflict("a seeded refund cannot be changed", "")
	case r.code != codes.RefundRequested:
		return console.Refund{}, console.Conflict(fmt.Sprintf("the refund is final, its code is %d", r.code),
			"the option refundSettleAfter keeps refunds at 110")
	}
	g.ledger.completeRefund(r, approved)
	return g.ledger.viewRefund(r), nil
}

// NewToken returns a token for a test card, without a hosted page: payments with it have the outcome of the card. It
// replaces a token order that a cardholder has completed, except that no row is found and no notification is sent. It also
// creates a token for a declined card, whatever Cards.TokenOrderUsesCard is.
func (g *Gateway) NewToken(o Outcome) string {
	c, _ := readCard(TestCard(o))
	token := "tok" + rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ledger.tokens[token] = payment{appID: g.opts.AppID, card: c, billing: address{country: "US"}}
	return token
}
