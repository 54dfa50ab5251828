package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
)

// conflict returns the error of an action that the state of the object does not allow.
func conflict(text, hint string) error { return &controlError{http.StatusConflict, text, hint} }

func notThere(what, id, list string) error {
	return &controlError{http.StatusNotFound, fmt.Sprintf("no %s %.60q", what, id), "GET " + controlPath + "api/v1/" + list + " lists them"}
}

// action is an action of a control request. The id is the one in its path, or empty.
type action struct {
	path string // after the prefix
	do   func(g *Gateway, id string, p *params) (any, error)
}

// actions returns the actions that both the dashboard and the control API offer.
func actions() []action {
	return []action{
		{"payments/{id}/settle", settlePayment(true)},
		{"payments/{id}/decline", settlePayment(false)},
		{"payments/{id}/close", closePayment},
		{"payments/{id}/refund", refundPayment},
		{"payments/{id}/chargeback", chargeBack},
		{"payments/{id}/notify", notifyAgain},
		{"payments/{id}/card", enterCard},
		{"payments/{id}/authenticate", authenticatePayment},
		{"refunds/{id}/settle", settleRefund(true)},
		{"refunds/{id}/decline", settleRefund(false)},
		{"notifications/{id}/resend", resendNotification},
		{"tokens", makeToken},
		{"reset", func(g *Gateway, _ string, p *params) (any, error) {
			if err := p.check(); err != nil {
				return nil, err
			}
			g.Reset()
			return done("everything is reset"), nil
		}},
	}
}

type doneView struct {
	Done string `json:"done"`
}

func done(text string) doneView { return doneView{text} }

// withPayment runs f on the order that id names, with g.mu locked, and returns the resulting view of the order.
func (g *Gateway) withPayment(id string, p *params, f func(o *order) error) (any, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	o := g.payment(id)
	if o == nil {
		return nil, notThere("payment", id, "payments")
	}
	if err := f(o); err != nil {
		return nil, err
	}
	return g.paymentView(o), nil
}

func settlePayment(approved bool) func(*Gateway, string, *params) (any, error) {
	return func(g *Gateway, id string, p *params) (any, error) {
		return g.withPayment(id, p, func(o *order) error {
			if o.stage != stageProcessing {
				return conflict(fmt.Sprintf("the payment is not in processing, its code is %d", o.code),
					"a payment with a card with CVV 650 stays in processing")
			}
			g.settle(o, approved)
			return nil
		})
	}
}

func closePayment(g *Gateway, id string, p *params) (any, error) {
	return g.withPayment(id, p, func(o *order) error {
		if o.stage == stageFinal {
			return conflict(fmt.Sprintf("the payment is final, its code is %d", o.code), "only a payment that is waiting or in processing can be closed")
		}
		g.closeOrder(o)
		return nil
	})
}

func refundPayment(g *Gateway, id string, p *params) (any, error) {
	request := refundRequest{amount: p.text("amount"), merchantRefundID: p.text("refundTransactionId"), remark: p.text("remark")}
	if err := p.check(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	o := g.payment(id)
	if o == nil {
		return nil, notThere("payment", id, "payments")
	}
	request.uniqueID = o.uniqueID
	r, err := g.refund(request)
	if err != nil {
		return nil, conflict(strings.TrimPrefix(err.Error(), "sandbox: "), "")
	}
	return g.refundView(r), nil
}

func chargeBack(g *Gateway, id string, p *params) (any, error) {
	return g.withPayment(id, p, func(o *order) error {
		if o.code != codes.Success {
			return conflict(fmt.Sprintf("the payment has moved no money, its code is %d", o.code), "")
		}
		o.record("charged back")
		g.notifyChargeback(o)
		return nil
	})
}

func notifyAgain(g *Gateway, id string, p *params) (any, error) {
	return g.withPayment(id, p, func(o *order) error {
		if o.stage != stageFinal {
			return conflict("the payment is not final, so there is nothing to notify", "")
		}
		g.notifyOrder(o)
		return nil
	})
}

// enterCard acts as the cardholder on the card page. Without a number it uses a test card.
func enterCard(g *Gateway, id string, p *params) (any, error) {
	var outcome Outcome
	p.choice("testCard", &outcome)
	entry := TestCard(outcome)
	if number := p.text("cardNumber"); number != "" {
		entry = CardEntry{Number: number}
	}
	entry.Month = cmp.Or(p.text("expiredMonth"), entry.Month)
	entry.Year = cmp.Or(p.text("expiredYear"), entry.Year)
	entry.CVV = cmp.Or(p.text("cvv"), entry.CVV)
	entry.Cardholder = cmp.Or(p.text("cardholder"), entry.Cardholder)
	var view any
	_, err := g.withPayment(id, p, func(o *order) error {
		if o.stage != stageCard && !o.canRetry {
			return conflict(fmt.Sprintf("the payment is not waiting for a card, its code is %d", o.code), "")
		}
		next, problems := g.enterCard(o, entry)
		if problems != nil {
			return badRequest(problems[0].field + " " + problems[0].text)
		}
		view = g.paymentView(next)
		return nil
	})
	return view, err
}

func authenticatePayment(g *Gateway, id string, p *params) (any, error) {
	approve := p.truth("approve", true)
	return g.withPayment(id, p, func(o *order) error {
		if o.stage != stage3D {
			return conflict(fmt.Sprintf("the payment is not waiting for 3D authentication, its code is %d", o.code), "")
		}
		g.authenticate(o, approve)
		return nil
	})
}

func settleRefund(approved bool) func(*Gateway, string, *params) (any, error) {
	return func(g *Gateway, id string, p *params) (any, error) {
		if err := p.check(); err != nil {
			return nil, err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.settleDue()
		r := g.refundNamed(id)
		switch {
		case r == nil:
			return nil, notThere("refund", id, "refunds")
		case r.code != codes.RefundRequested:
			return nil, conflict(fmt.Sprintf("the refund is final, its code is %d", r.code), "the option refundSettleAfter keeps refunds at 110")
		}
		g.completeRefund(r, approved)
		return g.refundView(r), nil
	}
}

// resendNotification sends the same bytes as an earlier notification, as a new notification.
func resendNotification(g *Gateway, id string, p *params) (any, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	all, _ := g.history.copyNotifications()
	i := slices.IndexFunc(all, func(r notificationRecord) bool { return fmt.Sprint(r.n) == id })
	if i < 0 {
		return nil, notThere("notification", id, "notifications")
	}
	again := all[i]
	again.at, again.attempts, again.message.Delay = time.Now(), nil, 0
	message := g.history.addNotification(&again) // sets its number
	shown := again.view()                        // before a delivery can change it
	g.notifier.Add(message)
	return shown, nil
}

type tokenView struct {
	Token string `json:"token"`
}

func makeToken(g *Gateway, _ string, p *params) (any, error) {
	var outcome Outcome
	p.choice("testCard", &outcome)
	if err := p.check(); err != nil {
		return nil, err
	}
	return tokenView{g.NewToken(outcome)}, nil
}

// injectFault injects f and returns its view.
func (g *Gateway) injectFault(f Fault) (any, error) {
	if err := f.check(); err != nil {
		return nil, badRequest(err.Error())
	}
	g.Inject(f)
	g.mu.Lock()
	defer g.mu.Unlock()
	views := g.faultViews()
	return views[len(views)-1], nil
}

// namedFault returns the fault with that name in the list of Faults.
func namedFault(name string, wait time.Duration) (Fault, error) {
	for _, f := range Faults(wait) {
		if f.Name == name {
			return f.Fault, nil
		}
	}
	return Fault{}, badRequest(fmt.Sprintf("there is no fault named %.60q; GET %sapi/v1/faults/names lists them", name, controlPath))
}

// removeFault removes the fault with that number, or all faults if number is empty.
func (g *Gateway) removeFault(number string) (any, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.faults)
	g.faults = slices.DeleteFunc(g.faults, func(a *activeFault) bool { return number == "" || fmt.Sprint(a.number) == number })
	if number != "" && len(g.faults) == before {
		return nil, notThere("fault", number, "faults")
	}
	return done(fmt.Sprintf("%d faults removed", before-len(g.faults))), nil
}
