package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestPay tests every way to pay, with every card, and what can happen to the answer and the notification of the payment. The
// token of a card arrives only by notification, so that one comes at once.
func TestPay(t *testing.T) {
	for _, trouble := range []struct {
		name, courier string
		fault         sandbox.Fault
	}{
		{"no trouble", courierPrompt, sandbox.Fault{}},
		{"notification late", courierLate, sandbox.Fault{}},
		{"notification twice", courierTwice, sandbox.Fault{}},
		{"notification dropped", courierDrop, sandbox.Fault{}},
		{"notification before the answer", courierPrompt, sandbox.Fault{After: 100 * time.Millisecond}},
		{"answer lost", courierPrompt, sandbox.Fault{Reply: sandbox.ReplyReset}},
		{"answer lost, notification dropped", courierDrop, sandbox.Fault{Reply: sandbox.ReplyReset}},
	} {
		w := open(t)
		trouble.fault.Operation = sandbox.OpPayments
		for _, card := range []sandbox.Outcome{sandbox.Approved, sandbox.Declined, sandbox.Challenged} {
			for way, pay := range map[string]func(s *shopper, troubled func()) (id string, typed bool){
				"hosted": func(s *shopper, troubled func()) (string, bool) {
					troubled()
					return s.buy("pillar", ""), false
				},
				"saved card": func(s *shopper, troubled func()) (string, bool) {
					saved := s.saveCard(card)
					s.post("/cart", values("sku", "pillar")).get("/checkout").match("(Pay with the card ending in 0000)")
					troubled()
					return s.buy("tapers", saved), true
				},
				"weekly": func(s *shopper, troubled func()) (string, bool) {
					troubled()
					return s.subscribe("/weekly").orderID(), false
				},
				"weekly with a typed card": func(s *shopper, troubled func()) (string, bool) {
					troubled()
					c := sandbox.TestCard(card)
					return s.subscribe("/weekly/card", "cardNumber", "4300 0000 0000 0000", "expiredMonth", c.Month,
						"expiredYear", c.Year, "cvv", c.CVV, "cardholder", c.Cardholder).orderID(), true
				},
			} {
				t.Run(trouble.name+", "+way+", "+card.String(), func(t *testing.T) {
					w.courier.SetMode(courierPrompt)
					s := newShopper(t, w)
					id, typed := pay(s, func() {
						w.gateway.Inject(trouble.fault)
						w.courier.SetMode(trouble.courier)
					})
					if !typed || card == sandbox.Challenged {
						s.awaits(id, payments.Waiting)
						s.get("/orders/" + id + "/pay")
					}
					switch {
					case !typed:
						s.enter(s.hostedPage(), card)
					case card == sandbox.Challenged && trouble.fault.Reply == sandbox.ReplyReset:
						s.awaitsWord(id, "Not confirmed") // the journal keeps no page of a payment with a card or a token that only a query has shown
						return
					case card == sandbox.Challenged:
						if _, err := w.gateway.Authenticate(s.hostedPage(), true); err != nil {
							t.Fatal(err)
						}
					}
					want, charged := payments.Paid, 1
					if card == sandbox.Declined {
						want, charged = payments.Declined, 0
					}
					s.awaits(id, want)
					if n := w.gateway.Executed(id); n != charged {
						t.Errorf("charged %d times, want %d", n, charged)
					}
				})
			}
		}
	}
}

func TestPages(t *testing.T) {
	w := open(t)
	s := newShopper(t, w)
	for path, want := range map[string]string{
		"/": "Beeswax pillar", "/cart": "nothing in it", "/orders": "not ordered anything", "/cards": "Save a card",
		"/weekly": "every week", "/weekly/card": "PCI DSS", "/refunds": "There are none", "/staff": "There are none yet", "/sandbox": "4300 0000 0000 0000",
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
	if got := s.match(`id="total">([^<]+)`); got != "167.00 USD" {
		t.Errorf("total %s", got)
	}
	s.post("/cart", values("sku", "pillar", "quantity", "5"))
	s.post("/cart", values("sku", "holder", "quantity", "1", "remove", "1"))
	if got := s.match(`id="total">([^<]+)`); got != "120.00 USD" {
		t.Errorf("total %s", got)
	}
	s.post("/cart", values("sku", "pillar", "quantity", "1000000"))
	if got := s.match(`id="total">([^<]+)`); got != "480.00 USD" {
		t.Errorf("total %s, want that of twenty", got)
	}
	for _, sku := range []string{"nothing", ""} {
		if s.post("/cart", values("sku", sku)); s.status != 404 {
			t.Errorf("sku %q: HTTP %d", sku, s.status)
		}
	}
	if s.post("/cart", values("sku", "pillar", "quantity", "x")); s.status != 400 {
		t.Errorf("quantity x: HTTP %d", s.status)
	}
}

func TestCheckoutForm(t *testing.T) {
	s := newShopper(t, open(t))
	s.post("/cart", values("sku", "pillar"))
	s.post("/checkout", values("firstName", "<script>alert(1)</script>", "email", "x", "country", "XX"))
	if s.status != 422 {
		t.Errorf("HTTP %d", s.status)
	}
	for _, want := range []string{`href="#lastName"`, `href="#email"`, `href="#country"`, "&lt;script&gt;", `aria-invalid="true"`} {
		if !strings.Contains(s.page, want) {
			t.Errorf("the form does not have %s:\n%s", want, s.page)
		}
	}
	seen := s.hidden("cart")
	for _, other := range []string{"", "1 cedar 29", "2 pillar 24", "1 pillar 23"} {
		if s.post("/checkout", buyer("cart", other)); s.status != 409 || !strings.Contains(s.page, "Your cart has changed") {
			t.Errorf("another cart than the customer saw, %q: HTTP %d", other, s.status)
		}
	}
	if s.post("/checkout", buyer("cart", seen, "pay", "C-OTHER")); s.status != 422 {
		t.Errorf("somebody else's card: HTTP %d", s.status)
	}
	first := s.post("/checkout", buyer("cart", seen)).orderID()
	if s.post("/checkout", buyer("cart", seen)); s.path != "/orders" || !strings.Contains(s.page, first) {
		t.Errorf("the form sent twice leads to %s", s.path)
	}
	if n := strings.Count(s.page, `href="/orders/`); n != 1 {
		t.Errorf("the form sent twice made %d orders", n)
	}
}

// TestLongNames: a name has at most 64 letters, in any script.
func TestLongNames(t *testing.T) {
	for name, want := range map[string]int{strings.Repeat("雪", 64): 0, strings.Repeat("雪", 65): 1, strings.Repeat("a", 65): 1} {
		if f := readBuyer(buyer("firstName", name).Get); len(f.Problems) != want {
			t.Errorf("%q: problems %v, want %d", name, f.Problems, want)
		}
	}
}

// TestFormIsText: a form that is not text makes no order, and leaves the cart as it is.
func TestFormIsText(t *testing.T) {
	s := newShopper(t, open(t))
	s.post("/cart", values("sku", "pillar"))
	seen := s.get("/checkout").hidden("cart")
	for _, name := range []string{"A\xffda", "A\x00da"} {
		f := buyer("cart", seen)
		f.Set("firstName", name)
		if s.post("/checkout", f); s.status != 400 {
			t.Errorf("first name %q: HTTP %d at %s", name, s.status, s.path)
		}
	}
	if s.get("/orders"); !strings.Contains(s.page, "not ordered anything") {
		t.Errorf("there is an order:\n%s", s.page)
	}
	if s.get("/checkout"); s.path != "/checkout" {
		t.Errorf("the cart is empty: at %s", s.path)
	}
}

// TestSubscribedTwice: the form of a subscription that is sent twice, also at once, makes one order and one charge. Another customer cannot
// use its id, and only the shop makes ids.
func TestSubscribedTwice(t *testing.T) {
	w := open(t)
	c := sandbox.TestCard(sandbox.Approved)
	for path, more := range map[string][]string{
		"/weekly": nil, "/weekly/card": {"cardNumber", c.Number, "expiredMonth", c.Month, "expiredYear", c.Year, "cvv", c.CVV, "cardholder", c.Cardholder},
	} {
		t.Run(path, func(t *testing.T) {
			s := newShopper(t, w).get(path)
			form := buyer(append([]string{"id", s.hidden("id")}, more...)...)
			s.postTwice(path, form)
			id := s.post(path, form).orderID()
			if id != form.Get("id") {
				t.Errorf("the form leads to order %s, want %s", id, form.Get("id"))
			}
			if s.get("/orders"); strings.Count(s.page, `href="/orders/`) != 1 {
				t.Errorf("the form sent three times made these orders:\n%s", s.page)
			}
			if n := w.gateway.Executed(id); path == "/weekly/card" && n != 1 {
				t.Errorf("charged %d times, want once", n)
			}
			if other := newShopper(t, w); other.post(path, form).status != 404 {
				t.Errorf("another customer with this id: HTTP %d", other.status)
			}
			form.Set("id", "S-1")
			if s.post(path, form); s.status != 400 {
				t.Errorf("an id that is none: HTTP %d", s.status)
			}
		})
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
	for _, path := range []string{"/orders/" + id + "/pay", "/orders/" + id + "/otherwise"} {
		if other.post(path, nil); other.status != 404 {
			t.Errorf("POST %s by another customer: HTTP %d", path, other.status)
		}
	}
}

// TestAttempts pays an order after a decline, after a page that was not finished, and with another card than one that the gateway does not
// know: each time the order is paid once, whatever is sent twice.
func TestAttempts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first func(t *testing.T, w *world, s *shopper) string // begins an order whose first attempt ends unpaid
		state payments.State
		card  bool // the second attempt is with a stored card, or else on the page
		paid  int  // by which attempt
	}{
		{"declined, then on the page", func(_ *testing.T, _ *world, s *shopper) string {
			id := s.buy("orange", "")
			s.enter(s.hostedPage(), sandbox.Declined)
			return id
		}, payments.Declined, false, 2},
		{"a stored card is declined, then another", func(t *testing.T, w *world, s *shopper) string {
			return s.buy("orange", s.saveCard(sandbox.Declined))
		}, payments.Declined, true, 2},
		{"the gateway does not know the card", func(t *testing.T, w *world, s *shopper) string {
			card := s.saveCard(sandbox.Approved)
			w.gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Commit: sandbox.CommitNever, Code: 201})
			return s.buy("orange", card)
		}, payments.Refused, true, 1},
		{"the page was not finished, then a stored card", func(t *testing.T, w *world, s *shopper) string {
			id := s.buy("orange", "")
			if _, err := w.payments.DB.ExecContext(t.Context(), `UPDATE attempts SET state = 'closed' WHERE id = $1`, id); err != nil { // a day passes
				t.Fatal(err)
			}
			return id
		}, payments.Closed, true, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t)
			s := newShopper(t, w)
			good, page := "", ""
			if tt.card {
				good = s.saveCard(sandbox.Approved)
			}
			id := tt.first(t, w, s)
			s.awaits(id, tt.state)
			if o, err := w.payments.Order(t.Context(), id); err == nil {
				page = o.RedirectURL
			}
			s.postTwice("/orders/"+id+"/otherwise", values("pay", good))
			if !tt.card {
				s.get("/orders/" + id + "/pay")
				s.enter(s.hostedPage(), sandbox.Approved)
			}
			s.awaits(id, payments.Paid)
			s.post("/orders/"+id+"/otherwise", values("pay", good)) // a form that was still open in another window
			s.awaits(id, payments.Paid)
			attempts, err := w.payments.Attempts(t.Context(), id)
			if err != nil || len(attempts) != tt.paid {
				t.Errorf("its attempts are %q, %v; want %d", attempts, err, tt.paid)
			}
			for i, attempt := range attempts {
				if n, want := w.gateway.Executed(attempt), map[bool]int{true: 1}[i+1 == tt.paid]; n != want {
					t.Errorf("%s was charged %d times, want %d", attempt, n, want)
				}
			}
			if tt.state != payments.Closed {
				return
			}
			s.enter(page, sandbox.Approved) // it was still open in another window
			eventually(t, "an alert", func() string {
				return is(fmt.Sprint(strings.Contains(w.logs.String(), "an order was paid twice")), "true", nil)
			})
		})
	}
}

// TestUnsent makes the gateway unreachable: the order says that nothing was sent, and is then paid with the same
// transactionId.
func TestUnsent(t *testing.T) {
	gone := new(unreachable)
	w := open(t, gone.option)
	s := newShopper(t, w)
	gone.Store(true)
	id := s.buy("cedar", "")
	if got := s.match(`data-state="([^"]+)"`); got != string(payments.Unsent) {
		t.Fatalf("state %s", got)
	}
	gone.Store(false)
	s.post("/orders/"+id+"/pay", nil)
	s.enter(s.hostedPage(), sandbox.Approved)
	s.awaits(id, payments.Paid)
	if n := w.gateway.Executed(id); n != 1 {
		t.Errorf("charged %d times", n)
	}
	s.post("/orders/"+id+"/pay", nil) // a form that was still open in another window
	s.awaits(id, payments.Paid)
	if n := w.gateway.Executed(id); n != 1 {
		t.Errorf("charged %d times after the form was sent again", n)
	}
}

// TestInvalidRequest: that an order can never be paid as it is, is an error of the program, which it gets to log.
func TestInvalidRequest(t *testing.T) {
	w := open(t)
	o := &payments.Order{ID: "S1", Amount: decimal.RequireFromString("12.505"), Attempt: payments.Attempt{Kind: payments.KindHosted}}
	o.Currency = "USD"
	must(t, w.payments.Transaction(t.Context(), func(tx *sql.Tx) error { return w.payments.Place(t.Context(), tx, o) }))
	if err := w.payments.Pay(t.Context(), o, payments.Visitor{IP: "203.0.113.7"}, cardgateway.Card{}); !errors.Is(err, cardgateway.ErrInvalidRequest) {
		t.Errorf("got %v, want what is invalid", err)
	}
	if o, err := w.payments.Order(t.Context(), "S1"); err != nil || o.State != payments.Unsent {
		t.Errorf("got %s, %v, want that nothing was sent", o.State, err)
	}
}

func TestRefunds(t *testing.T) {
	w := open(t)
	s := newShopper(t, w)
	id := s.buy("pillar", "")
	s.enter(s.hostedPage(), sandbox.Approved)
	s.awaits(id, payments.Paid)
	if strings.Contains(s.page, "/refund\"") {
		t.Error("a customer has the button of the staff")
	}
	if got := s.get("/staff").match(`id="refund-` + id + `"[^>]*>([^<]+)`); got != "Refund 24.00 USD" {
		t.Errorf("the button says %q", got)
	}
	customers := &world{Shop: &Shop{settings: w.settings, payments: w.payments}}
	customers.staff = false
	for _, path := range []string{"/staff", "/staff/orders/" + id + "/refund/" + id + "-R1"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if got := record(customers, method, path, nil).Code; got != http.StatusNotFound {
				t.Errorf("%s %s where it is not served: HTTP %d", method, path, got)
			}
		}
	}
	if n := w.gateway.Refunded(id + "-R1"); n != 0 {
		t.Errorf("refunded %d times without the staff", n)
	}
	s.post("/staff/orders/"+id+"/refund/"+id+"-R1", nil)
	s.awaitsWord(id, "Refunded")
	for _, path := range []string{"/orders/" + id, "/orders", "/refunds"} {
		s.get(path)
		for _, want := range []string{id, "24.00 USD", "Refunded"} {
			if !strings.Contains(s.page, want) {
				t.Errorf("%s does not say %q:\n%s", path, want, s.page)
			}
		}
	}
	s.get("/orders/" + id)
	if want := "We returned 24.00 USD on " + time.Now().UTC().Format("2 January 2006"); !strings.Contains(s.page, want) {
		t.Errorf("the order does not say %q:\n%s", want, s.page)
	}
	if got := s.get("/staff").match(`id="no-refund-` + id + `">([^<]+)`); got != "Nothing is left to refund." || strings.Contains(s.page, `id="refund-`+id) {
		t.Errorf("of another refund it says %q", got)
	}
	s.post("/staff/orders/"+id+"/refund/"+id+"-R1", nil) // a form that was still open in another window
	if n := w.gateway.Refunded(id + "-R1"); n != 1 || strings.Count(s.get("/orders/"+id).page, "data-refund=") != 1 {
		t.Errorf("refunded %d times:\n%s", n, s.page)
	}
	other := newShopper(t, w)
	otherID := other.buy("pillar", "")
	other.enter(other.hostedPage(), sandbox.Approved)
	other.awaits(otherID, payments.Paid)
	if other.get("/refunds"); strings.Contains(other.page, id) {
		t.Error("another customer sees the refund")
	}
}

// TestRefundFaults refunds with every fault of the sandbox, each form sent twice. Run alone brings each refund into the state that the
// gateway has.
func TestRefundFaults(t *testing.T) {
	w := open(t, impatient)
	s := newShopper(t, w)
	card := s.saveCard(sandbox.Approved)
	w.courier.SetMode(courierDrop)
	for _, fault := range sandbox.Faults(400 * time.Millisecond) {
		t.Run(fault.Name, func(t *testing.T) {
			s := *s
			s.t = t
			id := s.buy("tapers", card)
			s.awaits(id, payments.Paid)
			fault.Operation = sandbox.OpCreateRefund
			w.gateway.Inject(fault.Fault)
			for range 2 {
				s.post("/staff/orders/"+id+"/refund/"+id+"-R1", nil)
			}
			want, made := "Refunded", 1
			if fault.Commit == sandbox.CommitNever {
				want, made = "Refund being checked", 0
			}
			s.awaitsWord(id, want)
			if n := w.gateway.Refunded(id + "-R1"); n != made {
				t.Errorf("refunded %d times, want %d", n, made)
			}
		})
	}
}

// TestOfficeRefund makes refunds in the gateway's back office. The shop shows them, also if their notifications are lost, and refunds the
// rest itself.
func TestOfficeRefund(t *testing.T) {
	for mode, every := range map[string]time.Duration{courierPrompt: time.Hour, courierDrop: 25 * time.Millisecond} {
		t.Run(mode, func(t *testing.T) {
			w := open(t, func(s *setup) { s.refundsEvery = every })
			s := newShopper(t, w)
			id := s.buy("pillar", "")
			s.enter(s.hostedPage(), sandbox.Approved)
			s.awaits(id, payments.Paid)
			w.courier.SetMode(mode)
			if _, err := w.gateway.Refund(id, "4.50", ""); err != nil {
				t.Fatal(err)
			}
			s.awaitsWord(id, "Partly refunded")
			if got := s.get("/staff").match(`id="refund-` + id + `"[^>]*>([^<]+)`); got != "Refund 19.50 USD" {
				t.Errorf("the button says %q", got)
			}
			s.post("/staff/orders/"+id+"/refund/"+id+"-R2", nil)
			s.awaitsWord(id, "Refunded")
			if !strings.Contains(s.page, "We returned 24.00 USD") {
				t.Errorf("the order does not say how much:\n%s", s.page)
			}
		})
	}
}

// TestRefundNotMade: a refund that the gateway refuses or declines, and one for which it cannot be reached, return no money. The order
// says so, and offers it again: with the same id, or with another one after a decline, which is final.
func TestRefundNotMade(t *testing.T) {
	gone := new(unreachable)
	w := open(t, gone.option)
	for _, tt := range []struct {
		state payments.State
		code  int // with which the gateway answers; 0 if it cannot be reached
		id    string
	}{{payments.Unsent, 0, "-R1"}, {payments.Refused, 201, "-R1"}, {payments.Declined, 112, "-R2"}} {
		t.Run(string(tt.state), func(t *testing.T) {
			s := newShopper(t, w)
			id := s.buy("pillar", "")
			s.enter(s.hostedPage(), sandbox.Approved)
			s.awaits(id, payments.Paid)
			if tt.code != 0 {
				w.gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Commit: sandbox.CommitNever, Code: tt.code})
			}
			gone.Store(tt.code == 0)
			s.post("/staff/orders/"+id+"/refund/"+id+"-R1", nil)
			gone.Store(false)
			if got := s.get("/orders/" + id).match(`data-refund="([^"]+)"`); got != string(tt.state) {
				t.Errorf("the refund is %s", got)
			}
			s.post("/staff/orders/"+id+"/refund/"+id+tt.id, nil)
			s.awaitsWord(id, "Refunded")
			if n := w.gateway.Refunded(id + tt.id); n != 1 {
				t.Errorf("refunded %d times as %s", n, tt.id)
			}
		})
	}
}

// TestProcessing shows a payment in processing until it is settled.
func TestProcessing(t *testing.T) {
	w := open(t, processingFor(-time.Second))
	s := newShopper(t, w)
	card := s.saveCard(sandbox.Approved)
	id := s.buy("pillar", card)
	if got := s.match(`data-state="([^"]+)"`); got != string(payments.Processing) {
		t.Errorf("state %s", got)
	}
	for path, want := range map[string][3]bool{ // without script it loads itself again, says so, and can be told to stay
		"/orders/" + id: {true, true, false}, "/orders/" + id + "?stay": {true, false, true}, "/orders": {false, false, false},
	} {
		s.get(path)
		has := func(text string) bool { return strings.Contains(s.page, text) }
		if got := [3]bool{has("follow.js"), has(`http-equiv="refresh"`) && has("?stay"), has("Look again")}; got != want {
			t.Errorf("%s: got %v, want %v: a script, a refresh that can be stopped, a link", path, got, want)
		}
	}
	s.post("/sandbox", values("do", "decline", "order", id))
	s.awaits(id, payments.Declined)
	if s.get("/orders/" + id); strings.Contains(s.page, "follow.js") || strings.Contains(s.page, "refresh") {
		t.Errorf("a final order is loaded again:\n%s", s.page)
	}
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

// TestCardSavedTwice: the form that is sent twice, also at once, makes one token order. Another customer cannot use its id.
func TestCardSavedTwice(t *testing.T) {
	w := open(t)
	s := newShopper(t, w).get("/cards")
	form := values("id", s.hidden("id"))
	s.postTwice("/cards", form)
	s.post("/cards", form)
	if want := "/cards/" + form.Get("id") + "/enter"; s.path != want {
		t.Errorf("the form leads to %s, want %s", s.path, want)
	}
	if rows := w.gateway.Rows(form.Get("id")); len(rows) != 1 {
		t.Errorf("token orders %v, want one", rows)
	}
	if s.get("/cards"); strings.Count(s.page, `class="card-row"`) != 1 {
		t.Errorf("the form sent three times saved these cards:\n%s", s.page)
	}
	if other := newShopper(t, w).post("/cards", form); other.status != 404 {
		t.Errorf("another customer with this id: HTTP %d", other.status)
	}
	if s.post("/cards", values("id", "C-1")); s.status != 400 {
		t.Errorf("an id that is none: HTTP %d", s.status)
	}
}

// TestPayWithRemovedCard: a card is removed in another window while the checkout, or an order that was not sent, has it. The customer
// can pay in another way.
func TestPayWithRemovedCard(t *testing.T) {
	gone := new(unreachable)
	s := newShopper(t, open(t, gone.option))
	card := s.saveCard(sandbox.Approved)
	gone.Store(true)
	unsent := s.buy("cedar", card)
	gone.Store(false)
	s.post("/cart", values("sku", "pillar"))
	seen := s.get("/checkout").hidden("cart")
	s.post("/cards/"+card+"/remove", nil)
	if s.post("/checkout", buyer("cart", seen, "pay", card)); s.status != 422 || !strings.Contains(s.page, "no longer saved") {
		t.Errorf("a checkout with the card: HTTP %d\n%s", s.status, s.page)
	}
	s.post("/checkout", buyer("cart", seen, "pay", "")).orderID()
	if s.post("/orders/"+unsent+"/pay", nil); s.path != "/checkout" || !strings.Contains(s.page, "Cedar and smoke") {
		t.Fatalf("paying the order that was not sent: HTTP %d at %s", s.status, s.path)
	}
	again := s.post("/checkout", buyer("cart", s.hidden("cart"), "pay", "")).orderID()
	s.enter(s.hostedPage(), sandbox.Approved)
	s.awaits(again, payments.Paid)
}
