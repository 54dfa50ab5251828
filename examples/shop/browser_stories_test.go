//go:build browser

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// story is something that a customer lives through, from the README or beyond it.
type story struct {
	name    string
	options []option
	tell    func(*testing.T, *tab)
}

// TestBrowserStories tells every story to its end, at two sizes, in two schemes, with and without script. Every page at which a story
// stops is checked; see stops. With CARDGATEWAY_LONG=1, any two of a size, a scheme, and script or none occur together.
func TestBrowserStories(t *testing.T) {
	type setting struct {
		screen
		script bool
	}
	settings := []setting{{screens[0], true}, {screens[3], false}}
	if long {
		settings = []setting{{screens[0], true}, {screens[3], true}, {screens[2], false}, {screens[1], false}}
	}
	for _, s := range settings {
		for _, story := range stories() {
			t.Run(fmt.Sprintf("%s, %s, script %t", story.name, s.name, s.script), func(t *testing.T) {
				t.Parallel()
				b := newTab(t, open(t, append([]option{withoutRun}, story.options...)...))
				b.use(s.screen)
				b.allowScript(s.script)
				t.Cleanup(func() { b.allowScript(true) })
				story.tell(t, b)
			})
		}
	}
}

func (b *tab) allowScript(allowed bool) {
	b.t.Helper()
	b.script = allowed
	b.scripting(allowed)
}

func (b *tab) scripting(allowed bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !allowed})
		return err
	}))
}

// stops checks a page at which a story stops: nothing is too wide. With CARDGATEWAY_LONG=1 the accessibility checker looks at it, too; it looks
// at every page in TestBrowserLook.
func (b *tab) stops(name string) {
	b.t.Helper()
	if long {
		b.isSound(name)
	} else {
		b.fits(name)
	}
}

// says fails the test if the page does not say one of these.
func (b *tab) says(wants ...string) {
	b.t.Helper()
	got := b.text("body")
	for _, want := range wants {
		if !strings.Contains(got, want) {
			b.t.Errorf("the page does not say %q:\n%s", want, got)
		}
	}
	b.stops(b.where())
}

// moments returns the words of the timeline.
func (b *tab) moments() []string {
	b.t.Helper()
	return evaluate[[]string](b, `[...document.querySelectorAll(".timeline strong")].map(e => e.innerText.replace(/, \d+ times/, ""))`)
}

// goesOn checks a page that is not final: it says how it goes on. After the change, the page becomes the next one without a click: quietly by
// script, and otherwise because it loads itself again.
func (b *tab) goesOn(now, next string, change func()) {
	b.t.Helper()
	b.awaitsWord(now)
	if got := strings.Contains(b.text("body"), "loads itself again"); got == b.script {
		b.t.Errorf("with script %t, the page announces that it loads itself again: %t", b.script, got)
	}
	b.stops(now)
	if !b.script { // it may have loaded itself while the checker was allowed to run, and then waits for a script of its own
		b.do(chromedp.Reload())
	}
	evaluate[bool](b, "(window.mark = true)")
	change()
	b.awaitsWord(next)
	if marked := evaluate[bool](b, "window.mark === true"); marked != b.script {
		b.t.Errorf("with script %t, the page was not loaded again: %t", b.script, marked)
	}
	if b.script && !evaluate[bool](b, `document.querySelector("#news").innerText === document.querySelector("h1").innerText`) {
		b.t.Error("a screen reader is not told")
	}
	b.stops(next)
}

// searchesFail lets all searches of the shop fail, so that an unknown outcome can be seen until the faults are cleared.
func (b *tab) searchesFail(operation sandbox.Operation) {
	b.w.gateway.Inject(sandbox.Fault{Operation: operation, Times: -1, Code: 999})
}

func stories() []story {
	gone := new(unreachable)
	return []story{
		{"pay", nil, func(t *testing.T, b *tab) {
			b.toCheckout("pillar")
			b.stops("checkout")
			b.click("#pay")
			eventually(t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
			if !evaluate[bool](b, `document.body.innerText.includes("Wick & Wax")`) {
				t.Error("the payment page does not name the shop")
			}
			b.reaches(cardholder{card: sandbox.Approved}, payments.Paid)
			b.says("Thank you. Your order is paid.", "ending in 0000")
			for _, want := range []string{"Written down", "Sent", "Answered: redirect", "Charged", "Answered: approved"} {
				if got := b.moments(); !slices.Contains(got, want) {
					t.Errorf("the timeline is %q, without %q", got, want)
				}
			}
		}},
		{"declined", nil, func(t *testing.T, b *tab) {
			b.toCheckout("pillar")
			b.click("#pay")
			b.reaches(cardholder{card: sandbox.Declined}, payments.Declined)
			b.says("The payment was declined.", "Nothing was charged.", "The payment service says: Declined")
			b.click("#pay-otherwise")
			b.reaches(cardholder{card: sandbox.Approved}, payments.Paid)
		}},
		{"cancelled", nil, func(t *testing.T, b *tab) {
			b.toCheckout("pillar")
			b.click("#pay")
			b.reaches(cardholder{cancels: true}, payments.Declined)
			b.says("You cancelled the payment.", "Pay on the payment page")
			if got := b.text("main"); strings.Contains(got, "says:") || strings.Contains(got, "declined.") {
				t.Errorf("the page of a cancelled payment says %q", got)
			}
		}},
		{"3D", nil, func(t *testing.T, b *tab) {
			b.toCheckout("holder")
			b.says("Your bank will ask you")
			b.click("#pay")
			eventually(t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
			b.enterCard(sandbox.Approved) // the amount requires it, not the card
			b.click("#pay")
			eventually(t, "the bank's page", func() string { return is(b.where(), "3D page", nil) })
			b.reaches(cardholder{}, payments.Paid)
			b.says("Your order is paid.")
		}},
		{"3D refused", nil, func(t *testing.T, b *tab) {
			b.toCheckout("pillar")
			b.click("#pay")
			b.reaches(cardholder{card: sandbox.Challenged, refuses: true}, payments.Declined)
			b.says("The payment service says: 3D authentication failed")
		}},
		{"processing", nil, func(t *testing.T, b *tab) {
			b.toCheckout("cedar")
			b.click("#pay")
			b.reaches(cardholder{card: sandbox.Pending}, payments.Processing)
			id := b.orderID()
			b.visit("/sandbox")
			b.click(`[value="approve"]`)
			b.says("The bank has approved.")
			b.visit("/orders/" + id)
			b.awaitsWord("Paid")
			b.says("Notified")
		}},
		{"processing goes on", nil, func(t *testing.T, b *tab) {
			b.toCheckout("cedar")
			b.click("#pay")
			b.reaches(cardholder{card: sandbox.Pending}, payments.Processing)
			id := b.orderID()
			b.goesOn("Processing", "Declined", func() { _ = b.w.gateway.Settle(id, false) })
		}},
		{"saved card", nil, func(t *testing.T, b *tab) {
			b.saveCard(sandbox.Approved)
			b.says("Card ending in 0000")
			b.visit("/")
			b.click("#add-tapers")
			b.click("#checkout")
			b.fillBuyer()
			if b.has("#pay-hosted:checked") || !b.has(`[name="pay"]:checked`) {
				t.Error("the saved card is not preselected")
			}
			b.click("#pay")
			b.reaches(cardholder{}, payments.Paid)
			b.visit("/")
			b.click("#add-tapers")
			b.click("#checkout")
			if !b.has(`#firstName[value="Ada"]`) || !b.has(`#email[value="ada@mail.test"]`) {
				t.Error("the buyer is not remembered")
			}
			b.stops("checkout")
		}},
		{"answer lost", nil, func(t *testing.T, b *tab) {
			b.saveCard(sandbox.Approved)
			b.visit("/sandbox")
			b.do(chromedp.Click(chromedp.CSS("#courier-drop")))
			b.click("#courier")
			b.says("Changed.")
			b.click("#lose")
			b.says("Armed. Now pay")
			b.searchesFail(sandbox.OpSearchOrders)
			b.toCheckout("pillar")
			b.click("#pay")
			id := b.orderID()
			if n := b.w.gateway.Executed(id); n != 1 {
				t.Errorf("charged %d times before the answer was lost", n)
			}
			b.goesOn("Being checked", "Paid", b.w.gateway.ClearFaults)
			want := []string{"Written down", "Sent", "Charged", "Answer lost", "Asked", "Answered: approved"}
			if got := b.moments(); !slices.Equal(got, want) {
				t.Errorf("the timeline is %q, want %q", got, want)
			}
			b.click(`a[href$="/story"]`)
			b.says("Charged. Answer lost. Resolved. Charged once.", "charged once")
			if n := b.w.gateway.Executed(id); n != 1 {
				t.Errorf("charged %d times", n)
			}
		}},
		{"armed", nil, func(t *testing.T, b *tab) {
			b.visit("/sandbox")
			b.click("#lose-refund")
			b.says("Armed. Now refund")
			b.click("#faults")
			b.says("CreateRefund", "carried out, reply reset")
			b.visit("/sandbox")
			b.click("#requests")
			b.says("Requests")
		}},
		{"weekly", nil, func(t *testing.T, b *tab) {
			b.visit("/weekly")
			b.fillBuyer()
			b.click("#subscribe")
			b.reaches(cardholder{card: sandbox.Declined}, payments.Declined)
			b.click("#subscribe-again")
			b.click("#subscribe")
			b.reaches(cardholder{card: sandbox.Approved}, payments.Paid)
			b.says("every week")
			if b.has("#subscribe-again") {
				t.Error("a subscription that is paid is offered again")
			}
			b.visit("/weekly")
			b.click("#typed")
			b.says("Why the payment page is better")
			b.enterCard(sandbox.Approved)
			b.click("#subscribe")
			b.reaches(cardholder{}, payments.Paid)
		}},
		{"refund", []option{func(s *setup) { s.gateway.RefundSettleAfter = -1 }}, func(t *testing.T, b *tab) {
			b.toCheckout("pillar")
			b.click("#pay")
			b.reaches(cardholder{card: sandbox.Approved}, payments.Paid)
			id := b.orderID()
			b.refund(id)
			b.goesOn("Being refunded", "Refunded", func() { _ = b.w.gateway.SettleRefund(id+"-R1", true) })
			b.says("We returned 24.00 USD on "+time.Now().UTC().Format("2 January 2006"), "Answered: refunded")
			b.visit("/staff")
			b.says("Refunded", "Nothing is left to refund.")
			if b.has("#refund-" + id) {
				t.Error("a refunded order can be refunded")
			}
			b.visit("/orders")
			b.says("Refunded", "Beeswax pillar")
			b.visit("/refunds")
			b.says("Refunded", "24.00 USD")
		}},
		{"refund, answer lost", nil, func(t *testing.T, b *tab) {
			b.toCheckout("pillar")
			b.click("#pay")
			b.reaches(cardholder{card: sandbox.Approved}, payments.Paid)
			id := b.orderID()
			b.w.courier.SetMode(courierDrop)
			b.visit("/sandbox")
			b.click("#lose-refund")
			b.searchesFail(sandbox.OpSearchRefunds)
			b.refund(id)
			b.goesOn("Refund being checked", "Refunded", b.w.gateway.ClearFaults)
			if n := b.w.gateway.Refunded(id + "-R1"); n != 1 {
				t.Errorf("refunded %d times", n)
			}
			got := b.moments()
			want := []string{"Written down", "Sent", "Returned", "Answer lost", "Asked", "Answered: refunded"}
			if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
				t.Errorf("the timeline is %q, want at its end %q", got, want)
			}
		}},
		{"token never comes", []option{func(s *setup) { s.tokenLate, s.settleEvery = time.Nanosecond, 25*time.Millisecond }}, func(t *testing.T, b *tab) {
			b.w.courier.SetMode(courierDrop)
			b.visit("/cards")
			b.click("#save-card")
			eventually(t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
			b.enterCard(sandbox.Approved)
			b.click("#pay")
			eventually(t, "the page of cards", func() string { // it goes on by itself
				if !b.has("#late") {
					return "says nothing"
				}
				return ""
			})
			b.says("Its confirmation has not come", "remove this entry and save the card again", "Nothing was charged.")
			b.click(".card-row button")
			b.w.courier.SetMode(courierPrompt)
			b.saveCard(sandbox.Approved)
		}},
		{"gateway unreachable", []option{gone.option}, func(t *testing.T, b *tab) {
			b.toCheckout("pillar")
			b.visit("/checkout")
			b.fillBuyer()
			gone.Store(true)
			defer gone.Store(false)
			b.click("#pay")
			b.says("The payment could not be started.", "Not sent", "nothing was charged")
			b.visit("/cards")
			b.click("#save-card")
			b.says("Not saved", "could not be reached")
		}},
		{"errors", nil, func(t *testing.T, b *tab) {
			b.visit("/nothing")
			b.says("There is nothing here")
			evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprintf(w, `<!doctype html><form method="post" action="%s/cart"><input name="sku" value="pillar"><button id="win">Win</button></form>`, b.w.url)
			}))
			defer evil.Close()
			b.open(strings.Replace(evil.URL, "127.0.0.1", "evil.test", 1))
			b.click("#win")
			b.says("That did not come from this shop")
			if err := b.w.payments.DB.Close(); err != nil {
				t.Error(err)
			}
			b.visit("/orders")
			b.says("Something went wrong", "It is not your fault.")
		}},
	}
}
