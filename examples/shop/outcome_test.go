package main

import (
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestEveryFault pays with every fault of the sandbox, and drops every notification. Run alone brings each order
// into the state that the gateway's ledger has.
func TestEveryFault(t *testing.T) {
	w := open(t, impatient)
	saved := newShopper(t, w)
	card := saved.saveCard(sandbox.Approved)
	w.courier.SetMode(courierDrop)
	for _, fault := range sandbox.Faults(400 * time.Millisecond) {
		t.Run(fault.Name, func(t *testing.T) {
			fault.Operation = sandbox.OpPayments
			w.gateway.Inject(fault.Fault)
			s := *saved
			s.t = t
			id := s.buy("tapers", card)
			want := payments.Paid
			if fault.Commit == sandbox.CommitNever {
				want = payments.Checking // for a day, until it is presumed absent
			}
			eventually(t, "the order", func() string {
				o, err := w.payments.Order(t.Context(), id)
				return is(string(o.State), string(want), err)
			})
			charged := 0
			if want == payments.Paid {
				charged = 1
			}
			if n := w.gateway.Executed(id); n != charged {
				t.Errorf("charged %d times, want %d", n, charged)
			}
		})
	}
}

// TestAbandonedCheckout: an order whose customer does not finish the gateway's page is closed, and can still be paid there.
func TestAbandonedCheckout(t *testing.T) {
	w := open(t, func(s *setup) { s.hostedPageLifetime = time.Millisecond })
	s := newShopper(t, w)
	id := s.buy("cedar", "")
	s.awaits(id, payments.Closed)
	if !strings.Contains(s.page, `id="pay-otherwise"`) || strings.Contains(s.page, `id="to-page"`) {
		t.Errorf("the page of a closed order:\n%s", s.page)
	}
	o, err := w.payments.Order(t.Context(), id)
	must(t, err)
	s.enter(o.RedirectURL, sandbox.Approved) // it was still open in another window
	s.awaits(id, payments.Paid)
}

// TestNotified sends false claims to the shop's notification handler. Only what the gateway confirms counts.
func TestNotified(t *testing.T) {
	w := open(t, withoutRun)
	w.courier.SetMode(courierDrop)
	s := newShopper(t, w)
	id := s.buy("pillar", "")
	must(t, w.forge(t.Context(), id))
	if o, _ := w.payments.Order(t.Context(), id); o.State != payments.Waiting {
		t.Errorf("a forged notification makes the order %s", o.State)
	}
	s.enter(s.hostedPage(), sandbox.Approved)
	if s.get("/orders/" + id); s.match(`data-state="([^"]+)"`) != string(payments.Paid) {
		t.Error("coming back does not ask the gateway")
	}
	if strings.Contains(s.get("/orders/"+id+"?code=101&state=declined").page, `data-state="declined"`) {
		t.Error("the callback URL moves the state")
	}
}
