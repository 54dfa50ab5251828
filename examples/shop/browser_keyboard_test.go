//go:build browser

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestKeyboardHosted pays on the hosted pages without a mouse: Tab reaches every field and button in visual order, Enter in
// a field submits the form, and the first invalid field has the focus.
func TestKeyboardHosted(t *testing.T) {
	t.Parallel()
	g := startGateway(t, sandbox.Options{NoNotifications: true, MerchantName: "Wick & Wax"})
	b := newTab(t, nil)
	b.open(g.checkout(t, "tx-1"))
	want := []string{"card", "card", "card", "card", "cardNumber", "expiredMonth", "expiredYear", "cvv", "cardholder", "pay", "cancel"}
	if got := b.tabThrough(); !slices.Equal(got, want) {
		t.Errorf("Tab leads to %q, want %q", got, want)
	}

	b.open(g.checkout(t, "tx-2"))
	b.tabTo("Name on the card")
	b.press("Ada Gross")
	b.follow(kb.Enter)
	if f := b.focusOn("cardNumber"); f.Name != "cardNumber" || !b.has(`#cardNumber[aria-invalid="true"][aria-describedby="cardNumber-error"]`) {
		t.Errorf("after a form without a card the focus is at %+v", f)
	}
	card := sandbox.TestCard(sandbox.Challenged)
	b.press(card.Number + kb.Tab + card.Month + kb.Tab + card.Year + kb.Tab + card.CVV)
	b.follow(kb.Enter)
	if got, want := b.tabThrough(), []string{"approve", "refuse"}; !slices.Equal(got, want) {
		t.Fatalf("on the 3D page Tab leads to %q, want %q", got, want)
	}
	b.tabTo("Yes, approve")
	b.follow(kb.Enter)
	if n := g.Executed("tx-2"); n != 1 || b.where() != "/_sandbox/payments" {
		t.Errorf("charged %d times, at %s; want once, at the callbackUrl", n, b.where())
	}

	b.open(g.checkout(t, "tx-3"))
	b.press(kb.Tab)
	b.follow(kb.Enter) // the first test card
	if f := b.focusOn("pay"); f.Name != "pay" {
		t.Errorf("after a test card the focus is at %+v, want the button that pays", f)
	}
	b.follow(" ")
	if n := g.Executed("tx-3"); n != 1 {
		t.Errorf("charged %d times", n)
	}
}

// TestKeyboardDashboard uses the dashboard without a mouse.
func TestKeyboardDashboard(t *testing.T) {
	t.Parallel()
	g := startGateway(t, sandbox.Options{NoNotifications: true})
	g.checkout(t, "tx-1")
	paid := g.checkout(t, "tx-2")
	enterCard(t, g.Gateway, paid, sandbox.Pending)
	b := newTab(t, nil)
	for _, page := range []string{"", "payments", "payments/tx-2", "refunds", "notifications", "requests", "requests/1", "faults"} {
		b.open(g.URL + "/_sandbox/" + page)
		if got := b.tabThrough(); len(got) < 8 {
			t.Errorf("/_sandbox/%s: Tab leads to %q only", page, got)
		}
	}
	b.open(g.URL + "/_sandbox/payments")
	b.tabTo("Settle tx-2")
	b.follow(kb.Enter)
	if n := g.Executed("tx-2"); n != 1 || !b.has(".notice") || b.where() != "/_sandbox/payments" {
		t.Errorf("charged %d times, at %s; want once, and a notice on the page of the button", n, b.where())
	}
	b.open(g.URL + "/_sandbox/")
	b.tabTo("Transaction")
	b.press("tx-9")
	b.follow(kb.Enter)
	b.tabTo("Faults")
	b.follow(kb.Enter)
	if got := b.text("main"); !strings.Contains(got, "carried out, reply close") {
		t.Errorf("no fault is active: %s", got)
	}
	b.tabTo("OpenAPI description of the gateway")
	b.follow(kb.Enter)
	if place := b.where(); place != "/_sandbox/openapi.json" {
		t.Errorf("the link leads to %s", place)
	}
}

// TestKeyboardShop goes through the steps of the README without a mouse, and then with Tab through every page.
func TestKeyboardShop(t *testing.T) {
	t.Parallel()
	b := newTab(t, open(t, impatient))
	b.use(screens[1]) // one column, so that the order of the page is that from top to bottom
	b.visit("/")
	b.tabTo("Skip to the content")

	b.putInCart("pillar")
	b.tabTo("First name")
	b.press("Ada" + kb.Tab + "Gross" + kb.Tab + "ada@mail.test")
	b.payOnPage("Pay 24.00 USD", sandbox.Approved)
	b.awaitsWord("Paid")
	id := b.orderID()
	b.activate("For the staff")
	b.activate("Refund 24.00 USD of " + id)
	b.activate("Orders")
	b.visit("/orders/" + id)
	b.awaitsWord("Refunded")

	b.putInCart("orange")
	b.payOnPage("pay", sandbox.Declined)
	b.awaitsWord("Declined")
	b.payOnPage("Pay 29.00 USD", sandbox.Challenged)
	eventually(t, "the bank's page", func() string { return is(b.where(), "3D page", nil) })
	b.activate("Yes, approve")
	b.awaitsWord("Paid")

	b.putInCart("cedar")
	b.payOnPage("pay", sandbox.Pending)
	b.awaitsWord("Processing")
	id = b.orderID()
	b.activate("Make it misbehave")
	b.activate("Forge a notification for " + id)
	b.activate("Bank declines " + id)
	b.activate(id)
	b.awaitsWord("Declined")

	b.activate("Cards")
	b.payOnPage("Save a card", sandbox.Approved)
	eventually(t, "the card", func() string {
		if b.visit("/cards"); !b.has(`[data-state="ready"]`) {
			return "is not ready"
		}
		return ""
	})
	b.activate("Make it misbehave")
	b.tabTo("courier-prompt")
	for range 10 { // Tab leads to the group, and an arrow to the next of it
		if b.focused().Name == "courier-drop" {
			break
		}
		b.press(kb.ArrowDown)
	}
	b.activate("Change")
	b.activate("Lose it for the next payment")
	b.putInCart("tapers")
	b.activate("pay")
	b.awaitsWord("Paid")
	id = b.orderID()
	if n := b.w.gateway.Executed(id); n != 1 || !slices.Contains(b.moments(), "Answer lost") {
		t.Errorf("charged %d times, and the order went so: %q", n, b.moments())
	}
	b.activate("Show this large")

	b.activate("Weekly")
	b.payOnPage("subscribe", sandbox.Approved)
	b.awaitsWord("Paid")

	for _, page := range []string{"/", "/cart", "/orders", "/orders/" + id, "/orders/" + id + "/story", "/cards", "/weekly", "/weekly/card", "/refunds", "/staff",
		"/sandbox", "/nothing"} {
		b.visit(page)
		if got := b.tabThrough(); len(got) < 7 {
			t.Errorf("%s: Tab leads to %q only", page, got)
		}
	}
}

// putInCart puts a product into the cart, and goes to the checkout.
func (b *tab) putInCart(sku string) {
	b.t.Helper()
	b.visit("/")
	b.activate("add-" + sku)
	b.activate("Check out")
}

// payOnPage activates a button that leads to the gateway's page, and enters a card there.
func (b *tab) payOnPage(button string, of sandbox.Outcome) {
	b.t.Helper()
	b.activate(button)
	eventually(b.t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
	card := sandbox.TestCard(of)
	b.tabTo("cardNumber")
	b.press(card.Number + kb.Tab + card.Month + kb.Tab + card.Year + kb.Tab + card.CVV + kb.Tab + card.Cardholder)
	b.follow(kb.Enter)
}

// activate presses Tab until the link or button has the focus, then Enter, and waits for the next page.
func (b *tab) activate(label string) {
	b.t.Helper()
	b.tabTo(label)
	b.follow(kb.Enter)
}

// focus is the focused element.
type focus struct {
	Name     string // its id, otherwise its name, otherwise its text
	Label    string // accessible name
	Outlined bool   // it has a visible focus indicator
	OnScreen bool
	Top      int // on the page
}

// focused describes the focus. The zero value is the page itself.
func (b *tab) focused() focus {
	b.t.Helper()
	return evaluate[focus](b, `(() => {
		const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e)
		if (e === document.body) return {}
		const label = e.ariaLabel || (e.labels && e.labels.length ? e.labels[0].innerText : e.innerText)
		return {
			Name: e.id || e.name || e.innerText, Label: label.trim().replace(/\s+/g, " "), Top: Math.round(box.top + scrollY),
			Outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
			OnScreen: box.width > 0 && box.height > 0 && box.top < innerHeight && box.bottom > 0 && box.left >= 0 && box.right <= innerWidth,
		}
	})()`)
}

// focusOn waits for an element to have the focus, and returns what has it then: a browser moves the focus of autofocus a moment
// after the page was loaded.
func (b *tab) focusOn(name string) (f focus) {
	b.t.Helper()
	for range 50 {
		if f = b.focused(); f.Name == name {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return f
}

// press presses keys in sequence.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// follow presses a key that leads to another page, and waits for it.
func (b *tab) follow(key string) {
	b.t.Helper()
	if _, err := chromedp.RunResponse(b.ctx, chromedp.KeyEvent(key)); err != nil {
		b.t.Fatal(err)
	}
}

// tabTo presses Tab until the element with that label, or that name, has the focus.
func (b *tab) tabTo(label string) {
	b.t.Helper()
	var labels []string
	for range 100 {
		b.press(kb.Tab)
		f := b.focused()
		if f.Label == label || f.Name == label {
			return
		}
		labels = append(labels, f.Label)
	}
	b.t.Fatalf("Tab does not lead to %q, only to %q", label, labels)
}

// tabThrough presses Tab from the beginning of the page to its end, and returns the focused elements. Each must have a
// name, be visible, and be below the previous one.
func (b *tab) tabThrough() (names []string) {
	b.t.Helper()
	before := focus{}
	for range 200 {
		b.press(kb.Tab)
		f := b.focused()
		switch {
		case f == focus{}:
			return names
		case f.Label == "" || !f.Outlined || !f.OnScreen:
			b.t.Errorf("at the focus: %+v", f)
		case f.Top < before.Top-40: // one row of a table or of a form is not level
			b.t.Errorf("Tab leads up from %+v to %+v", before, f)
		}
		names = append(names, f.Name)
		before = f
	}
	b.t.Fatal("Tab does not end")
	return nil
}
