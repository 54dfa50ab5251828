package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestPay tests every way to pay, with every card.
func TestPay(t *testing.T) { testPay(t, courierPrompt) }

// TestPayWithoutNotifications does the same with every notification of a payment dropped. The token of a card arrives only
// by notification, so those are delivered.
func TestPayWithoutNotifications(t *testing.T) { testPay(t, courierDrop) }

func testPay(t *testing.T, mode string) {
	w := open(t)
	for _, tt := range []struct {
		card sandbox.Outcome
		want State
	}{
		{sandbox.Approved, Paid}, {sandbox.Declined, Declined}, {sandbox.Challenged, Paid},
	} {
		t.Run("hosted, "+tt.card.String(), func(t *testing.T) {
			w.courier.SetMode(mode)
			s := newShopper(t, w)
			id := s.buy("pillar", "")
			s.enter(s.hostedPage(), tt.card)
			s.awaits(id, tt.want)
		})
		t.Run("saved card, "+tt.card.String(), func(t *testing.T) {
			w.courier.SetMode(courierPrompt)
			s := newShopper(t, w)
			card := s.saveCard(tt.card)
			w.courier.SetMode(mode)
			s.post("/cart", values("sku", "pillar")).get("/checkout")
			if !strings.Contains(s.page, "Pay with the card ending in 0000") {
				t.Errorf("the checkout does not offer the card:\n%s", s.page)
			}
			id := s.buy("tapers", card)
			if tt.card == sandbox.Challenged {
				if _, err := w.gateway.Authenticate(s.hostedPage(), true); err != nil {
					t.Fatal(err)
				}
			}
			s.awaits(id, tt.want)
		})
		t.Run("weekly, "+tt.card.String(), func(t *testing.T) {
			s := newShopper(t, w).post("/weekly", buyer())
			id := s.orderID()
			s.enter(s.hostedPage(), tt.card)
			s.awaits(id, tt.want)
		})
		t.Run("weekly with a typed card, "+tt.card.String(), func(t *testing.T) {
			c := sandbox.TestCard(tt.card)
			s := newShopper(t, w).post("/weekly/card", buyer("cardNumber", "4300 0000 0000 0000", "expiredMonth", c.Month,
				"expiredYear", c.Year, "cvv", c.CVV, "cardholder", c.Cardholder))
			id := s.orderID()
			if tt.card == sandbox.Challenged {
				if _, err := w.gateway.Authenticate(s.hostedPage(), true); err != nil {
					t.Fatal(err)
				}
			}
			s.awaits(id, tt.want)
		})
	}
}

func TestPages(t *testing.T) {
	w := open(t)
	s := newShopper(t, w)
	for path, want := range map[string]string{
		"/": "Beeswax pillar", "/cart": "nothing in it", "/orders": "not ordered anything", "/cards": "Save a card",
		"/weekly": "every week", "/weekly/card": "PCI DSS", "/refunds": "There are none", "/sandbox": "4300 0000 0000 0000",
	} {
		if s.get(path); s.status != 200 || !strings.Contains(s.page, want) {
			t.Errorf("%s: HTTP %d without %q", path, s.status, want)
		}
	}
	for path, want := range map[string]int{"/nothing": 404, "/orders/S-OTHER": 404, "/cards/C-OTHER/enter": 404, "/static/none": 404} {
		if s.get(path); s.status != want {
			t.Errorf("%s: HTTP %d, want %d", path, s.status, want)
		}
	}
	if s.get("/checkout"); s.path != "/cart" {
		t.Errorf("an empty cart checks out at %s", s.path)
	}
}

func TestCart(t *testing.T) {
	s := newShopper(t, open(t))
	s.post("/cart", values("sku", "pillar"))
	s.post("/cart", values("sku", "pillar"))
	s.post("/cart", values("sku", "holder"))
	if got := s.match(`id="total">([^<]+)`); got != "$167.00" {
		t.Errorf("total %s", got)
	}
	s.post("/cart", values("sku", "pillar", "quantity", "5"))
	s.post("/cart", values("sku", "holder", "quantity", "1", "remove", "1"))
	if got := s.match(`id="total">([^<]+)`); got != "$120.00" {
		t.Errorf("total %s", got)
	}
	s.post("/cart", values("sku", "pillar", "quantity", "1000000"))
	if got := s.match(`id="total">([^<]+)`); got != "$480.00" {
		t.Errorf("total %s, want that of twenty", got)
	}
	for _, bad := range []struct {
		form string
		want int
	}{{"nothing", 404}, {"", 404}} {
		t.Run(bad.form, func(t *testing.T) {
			if s.post("/cart", values("sku", bad.form)); s.status != bad.want {
				t.Errorf("sku %q: HTTP %d", bad.form, s.status)
			}
		})
	}
	if s.post("/cart", values("sku", "pillar", "quantity", "x")); s.status != 400 {
		t.Errorf("quantity x: HTTP %d", s.status)
	}
}

func TestCheckoutForm(t *testing.T) {
	s := newShopper(t, open(t))
	s.post("/cart", values("sku", "pillar"))
	s.post("/checkout", values("total", "24", "firstName", "<script>alert(1)</script>", "email", "x", "country", "XX"))
	if s.status != 422 {
		t.Errorf("HTTP %d", s.status)
	}
	for _, want := range []string{`href="#lastName"`, `href="#email"`, `href="#country"`, "&lt;script&gt;", `aria-invalid="true"`} {
		if !strings.Contains(s.page, want) {
			t.Errorf("the form does not have %s:\n%s", want, s.page)
		}
	}
	if s.post("/checkout", buyer("total", "23")); s.status != 409 || !strings.Contains(s.page, "Your cart has changed") {
		t.Errorf("another total than the cart's: HTTP %d", s.status)
	}
	if s.post("/checkout", buyer("total", "24", "pay", "C-OTHER")); s.status != 404 {
		t.Errorf("somebody else's card: HTTP %d", s.status)
	}
	first := s.post("/checkout", buyer("total", "24.00")).orderID()
	if s.post("/checkout", buyer("total", "24.00")); s.path != "/orders" || !strings.Contains(s.page, first) {
		t.Errorf("the form sent twice leads to %s", s.path)
	}
	if n := strings.Count(s.page, `href="/orders/`); n != 1 {
		t.Errorf("the form sent twice made %d orders", n)
	}
}

// TestOthersOrder requests an order as another customer.
func TestOthersOrder(t *testing.T) {
	w := open(t)
	id := newShopper(t, w).buy("pillar", "")
	other := newShopper(t, w)
	for _, path := range []string{"/orders/" + id, "/orders/" + id + "/pay"} {
		if other.get(path); other.status != 404 {
			t.Errorf("GET %s by another customer: HTTP %d", path, other.status)
		}
	}
	for _, path := range []string{"/orders/" + id + "/pay", "/orders/" + id + "/again"} {
		if other.post(path, nil); other.status != 404 {
			t.Errorf("POST %s by another customer: HTTP %d", path, other.status)
		}
	}
}

// TestDeclinedAgain orders again after a decline: a new order, with its own payment.
func TestDeclinedAgain(t *testing.T) {
	w := open(t)
	s := newShopper(t, w)
	first := s.buy("orange", "")
	s.enter(s.hostedPage(), sandbox.Declined)
	s.awaits(first, Declined)
	if got := s.match(`id="reason">([^<]+)`); got != "Declined" {
		t.Errorf("reason %q", got)
	}
	s.post("/orders/"+first+"/again", nil)
	second := s.post("/checkout", buyer("total", s.match(`name="total" value="([^"]+)"`))).orderID()
	s.enter(s.hostedPage(), sandbox.Approved)
	s.awaits(second, Paid)
	s.awaits(first, Declined)
}

// TestUnsent makes the gateway unreachable: the order says that nothing was sent, and is then paid with the same
// transactionId.
func TestUnsent(t *testing.T) {
	var broken atomic.Bool
	dialer := &net.Dialer{}
	w := open(t, func(s *setup) {
		s.httpClient = &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if broken.Load() {
					return nil, errors.New("the network is down")
				}
				return dialer.DialContext(ctx, network, address)
			},
		}}
	})
	s := newShopper(t, w)
	broken.Store(true)
	id := s.buy("cedar", "")
	if got := s.match(`data-state="([^"]+)"`); got != string(Unsent) {
		t.Fatalf("state %s", got)
	}
	broken.Store(false)
	s.post("/orders/"+id+"/pay", nil)
	s.enter(s.hostedPage(), sandbox.Approved)
	s.awaits(id, Paid)
	if n := w.gateway.Executed(id); n != 1 {
		t.Errorf("charged %d times", n)
	}
	s.post("/orders/"+id+"/pay", nil) // a form that was still open in another window
	s.awaits(id, Paid)
	if n := w.gateway.Executed(id); n != 1 {
		t.Errorf("charged %d times after the form was sent again", n)
	}
}

func TestRefunds(t *testing.T) {
	w := open(t)
	s := newShopper(t, w)
	id := s.buy("pillar", "")
	s.enter(s.hostedPage(), sandbox.Approved)
	s.awaits(id, Paid)
	s.post("/sandbox", values("do", "refund", "order", id))
	s.get("/refunds")
	if !strings.Contains(s.page, id) || !strings.Contains(s.page, "$24.00") || !strings.Contains(s.page, "Refunded") {
		t.Errorf("the refund is not listed:\n%s", s.page)
	}
	other := newShopper(t, w)
	otherID := other.buy("pillar", "")
	other.enter(other.hostedPage(), sandbox.Approved)
	other.awaits(otherID, Paid)
	if other.get("/refunds"); strings.Contains(other.page, id) {
		t.Error("another customer sees the refund")
	}
}

// TestProcessing shows a payment in processing until it is settled.
func TestProcessing(t *testing.T) {
	w := open(t, processingFor(-time.Second))
	s := newShopper(t, w)
	card := s.saveCard(sandbox.Approved)
	id := s.buy("pillar", card)
	if got := s.match(`data-state="([^"]+)"`); got != string(Processing) {
		t.Errorf("state %s", got)
	}
	s.post("/sandbox", values("do", "decline", "order", id))
	s.awaits(id, Declined)
}

func TestRemovedCard(t *testing.T) {
	w := open(t)
	s := newShopper(t, w)
	card := s.saveCard(sandbox.Approved)
	newShopper(t, w).post("/cards/"+card+"/remove", nil)
	if s.get("/cards"); !strings.Contains(s.page, "Card ending in 0000") {
		t.Error("somebody else removed the card")
	}
	s.post("/cards/"+card+"/remove", nil)
	if s.get("/cards"); strings.Contains(s.page, "0000") {
		t.Error("the card is still there")
	}
}
