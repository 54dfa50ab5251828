//go:build browser

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// journey is a way to pay: what a customer does in the browser before the cardholder has to act.
type journey struct {
	name  string
	ready func(*tab, sandbox.Outcome) // up to the button
	pay   string                      // the button
	typed bool                        // the card is already known, and decides at once
}

var journeys = []journey{
	{"hosted page", func(b *tab, _ sandbox.Outcome) { b.toCheckout("pillar") }, "#pay", false},
	{"saved card", func(b *tab, card sandbox.Outcome) {
		b.saveCard(card)
		b.toCheckout("tapers")
	}, "#pay", true},
	{"weekly", func(b *tab, _ sandbox.Outcome) {
		b.visit("/weekly")
		b.fillBuyer()
	}, "#subscribe", false},
	{"weekly, typed card", func(b *tab, card sandbox.Outcome) {
		b.visit("/weekly")
		b.click("#typed")
		b.fillBuyer()
		b.enterCard(card)
	}, "#subscribe", true},
}

// trouble is a fault.
type trouble struct {
	name   string
	before func(*world)           // the payment is submitted
	during func(*testing.T, *tab) // it has been, and is not final
}

var troubles = []trouble{
	{"", nil, nil},
	{"answer lost", func(w *world) {
		w.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
	}, nil},
	{"answer lost, notification dropped", func(w *world) {
		w.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
		w.courier.SetMode(courierDrop)
	}, nil},
	{"notification late", func(w *world) { w.courier.SetMode(courierLate) }, nil},
	{"notification twice", func(w *world) { w.courier.SetMode(courierTwice) }, nil},
	{"notification dropped", func(w *world) { w.courier.SetMode(courierDrop) }, nil},
	{"notification before the answer", func(w *world) {
		w.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 250 * time.Millisecond})
	}, nil},
	{"notification forged", nil, func(t *testing.T, b *tab) {
		id := b.orderID()
		for range 3 {
			if err := b.w.forge(b.ctx, id); err != nil {
				t.Error(err)
			}
		}
		if o, err := b.w.payments.Order(b.ctx, id); err != nil || o.State == payments.Paid {
			t.Errorf("a forged notification makes the order %s (%v)", o.State, err)
		}
	}},
}

// TestBrowserPay tests every way to pay in a real browser, with every fault.
func TestBrowserPay(t *testing.T) {
	for _, j := range journeys {
		for _, trouble := range troubles {
			t.Run(strings.TrimSuffix(j.name+", "+trouble.name, ", "), func(t *testing.T) {
				t.Parallel()
				w := open(t)
				b := newTab(t, w)
				card := sandbox.Approved
				if trouble.during != nil && j.typed {
					card = sandbox.Challenged // so that the order is unpaid for some time
				}
				j.ready(b, card)
				if trouble.before != nil {
					trouble.before(w)
				}
				b.click(j.pay)
				if trouble.during != nil {
					trouble.during(t, b)
				}
				b.reaches(cardholder{card: card}, payments.Paid)
				if n := w.gateway.Executed(b.orderID()); n != 1 {
					t.Errorf("charged %d times", n)
				}
			})
		}
	}
}
