//go:build browser

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

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

// TestBrowserNotPaid tests every way to pay without completing the payment.
func TestBrowserNotPaid(t *testing.T) {
	for _, j := range journeys {
		for _, tt := range []struct {
			name string
			who  cardholder
			said string
		}{
			{"declined", cardholder{card: sandbox.Declined}, "The payment service says: Declined"},
			{"3D refused", cardholder{card: sandbox.Challenged, refuses: true}, "The payment service says: 3D authentication failed"},
			{"cancelled", cardholder{cancels: true}, "You cancelled the payment."},
		} {
			if j.typed && tt.who.cancels {
				continue // there is no card page
			}
			t.Run(j.name+", "+tt.name, func(t *testing.T) {
				t.Parallel()
				w := open(t)
				b := newTab(t, w)
				j.ready(b, tt.who.card)
				b.click(j.pay)
				b.reaches(tt.who, payments.Declined)
				if got := b.text("main"); !strings.Contains(got, tt.said) || strings.Contains(got, "bank says") {
					t.Errorf("the page says %q, want %q", got, tt.said)
				}
				if n := w.gateway.Executed(b.orderID()); n != 0 {
					t.Errorf("charged %d times", n)
				}
			})
		}
	}
}

// TestBrowserThreeD confirms on the bank's page: because the card requires it, and because the amount does.
func TestBrowserThreeD(t *testing.T) {
	for _, j := range journeys {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			b := newTab(t, w)
			j.ready(b, sandbox.Challenged)
			b.click(j.pay)
			b.reaches(cardholder{card: sandbox.Challenged}, payments.Paid)
		})
	}
	t.Run("large amount", func(t *testing.T) {
		t.Parallel()
		b := newTab(t, open(t))
		b.toCheckout("holder")
		if got := b.text("#secure"); !strings.Contains(got, "bank will ask") {
			t.Errorf("the checkout says %q", got)
		}
		b.click("#pay")
		eventually(t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
		b.enterCard(sandbox.Approved)
		b.click("#pay")
		eventually(t, "the bank's page", func() string { return is(b.where(), "3D page", nil) })
		b.reaches(cardholder{}, payments.Paid)
	})
}

// TestBrowserAgain uses another card after a decline.
func TestBrowserAgain(t *testing.T) {
	b := newTab(t, open(t))
	b.toCheckout("orange")
	b.click("#pay")
	b.reaches(cardholder{card: sandbox.Declined}, payments.Declined)
	b.click("#pay-otherwise")
	b.reaches(cardholder{card: sandbox.Approved}, payments.Paid)
}

// TestBrowserProcessing closes the page while the bank decides.
func TestBrowserProcessing(t *testing.T) {
	w := open(t)
	b := newTab(t, w)
	b.toCheckout("cedar")
	b.click("#pay")
	b.reaches(cardholder{card: sandbox.Pending}, payments.Processing)
	id := b.orderID()
	b.do(chromedp.Navigate("about:blank"))
	w.gateway.Settle(id, true)
	eventually(t, "the order", func() string {
		o, err := w.payments.Order(context.Background(), id)
		return is(string(o.State), string(payments.Paid), err)
	})
	b.visit("/orders/" + id)
	if got := b.text("#state"); got != "Paid" {
		t.Errorf("the page says %q", got)
	}
}

// TestBrowserSandboxPage causes a lost response and a refund with the buttons for visitors.
func TestBrowserSandboxPage(t *testing.T) {
	w := open(t)
	b := newTab(t, w)
	b.saveCard(sandbox.Approved)
	b.visit("/sandbox")
	b.do(chromedp.Click(chromedp.CSS("#courier-drop")))
	b.click("#courier")
	b.click("#lose")
	b.toCheckout("tealights")
	b.click("#pay")
	b.reaches(cardholder{}, payments.Paid)
	if n := w.gateway.Executed(b.orderID()); n != 1 {
		t.Errorf("charged %d times", n)
	}
	b.visit("/sandbox")
	b.click("#lose-refund")
	b.refund(b.orderID())
	b.awaitsWord("Refunded")
	if n := w.gateway.Refunded(b.orderID() + "-R1"); n != 1 {
		t.Errorf("refunded %d times", n)
	}
	b.visit("/refunds")
	if got := b.text("main"); !strings.Contains(got, b.orderID()) || !strings.Contains(got, "12.50 USD") {
		t.Errorf("the refunds are %q", got)
	}
}
