//go:build browser

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// finding is a finding of axe-core.
type finding struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML string `json:"html"`
	} `json:"nodes"`
}

// examine runs axe-core on the current page. The page's own policy forbids scripts, but the debugger may run them.
func (b *tab) examine(name string) (counted map[string]int) {
	b.t.Helper()
	axe, err := os.ReadFile(filepath.Join("testdata", "axe", "axe.min.js"))
	must(b.t, err)
	if !b.script { // the checker is one: the page that was loaded without it stays as it is
		b.scripting(true)
		defer b.scripting(false)
	}
	// Without script, a page loads itself again. It says so, and can be told to stay, which the rule does not know.
	findings := evaluate[[]finding](b, fmt.Sprintf(`%s;
		axe.run(document, {resultTypes: ["violations"], rules: {"meta-refresh": {enabled: %t}}}).then(r => r.violations)`, axe, b.script),
		chromedp.EvalAwaitPromise)
	counted = make(map[string]int)
	for _, f := range findings {
		counted[f.Impact]++
		report := b.t.Logf
		if f.Impact == "serious" || f.Impact == "critical" {
			report = b.t.Errorf
		}
		for _, n := range f.Nodes {
			report("%s: %s, %s: %s: %s", name, f.Impact, f.ID, f.Help, n.HTML)
		}
	}
	return counted
}

// screen is a size of the window and a colour scheme.
type screen struct {
	name          string
	width, height int64
	scale         float64
	scheme        string
}

var screens = []screen{
	{"desk", 1280, 800, 1, "light"},
	{"phone", 390, 780, 1.5, "light"},
	{"desk-dark", 1280, 800, 1, "dark"},
	{"phone-dark", 390, 780, 1.5, "dark"},
}

// use gives the window the size and the scheme.
func (b *tab) use(s screen) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateScale(s.scale)))
	b.media("", "prefers-color-scheme", s.scheme)
}

// media emulates a kind of medium, such as print, and a preference.
func (b *tab) media(kind, preference, value string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media: kind, Features: []*emulation.MediaFeature{{Name: preference, Value: value}},
		})
		return err
	}))
}

// isSound fails the test if the accessibility checker finds anything on the page, or if it is wider than the window.
func (b *tab) isSound(name string) {
	b.t.Helper()
	for impact, n := range b.examine(name) {
		b.t.Errorf("%s: %d findings, %s", name, n, impact)
	}
	b.fits(name)
}

func (b *tab) fits(name string) {
	b.t.Helper()
	if wider := evaluate[int](b, "document.documentElement.scrollWidth - innerWidth"); wider > 0 {
		b.t.Errorf("%s: %d pixels too wide", name, wider)
	}
}

// TestBrowserLook checks every page; see looksAt.
func TestBrowserLook(t *testing.T) {
	t.Parallel()
	w := open(t, withoutRun, func(s *setup) { s.gateway.RefundSettleAfter, s.tokenLate = -1, time.Nanosecond })
	b := newTab(t, w)
	b.looksAt(w.url, prepareLooks(b))
}

// looksAt checks pages on desktop and phone, light and dark; see isSound. Without CARDGATEWAY_LONG=1, it looks at each size and each
// scheme, not at each with each. With CARDGATEWAY_SCREENSHOTS=1 it takes the screenshots of the README and of docs.
func (b *tab) looksAt(base string, looks []look) {
	b.t.Helper()
	shown := screens
	if !long && !screenshots {
		shown = []screen{screens[0], screens[3]}
	}
	for _, screen := range shown {
		b.use(screen)
		for _, look := range looks {
			b.open(base + look.path)
			if look.then != nil {
				look.then(b)
			}
			b.isSound(look.name + ", " + screen.name)
			switch {
			case !screenshots:
			case look.picture == screen.name:
				b.picture(filepath.Join("docs", look.name+".png"), screen.width > 500)
			case look.picture == "docs" && screen.width > 500:
				b.picture(filepath.Join("..", "..", "docs", "images", look.name+"-1280-"+screen.scheme+".png"), look.name != "shop-story")
			}
		}
	}
}

// look is a page to check.
type look struct {
	name, path string
	picture    string     // at which screen it is taken for the README, or "docs"
	then       func(*tab) // what is done there first
}

// prepareLooks creates an order of every kind and state.
func prepareLooks(b *tab) []look {
	gateway := b.w.gateway
	buy := func(sku string, who cardholder, want payments.State) string {
		b.toCheckout(sku)
		b.click("#pay")
		b.reaches(who, want)
		return b.orderID()
	}
	declined := buy("orange", cardholder{card: sandbox.Declined}, payments.Declined)
	cancelled := buy("orange", cardholder{cancels: true}, payments.Declined)
	paid := buy("tealights", cardholder{card: sandbox.Approved}, payments.Paid)
	processing := buy("cedar", cardholder{card: sandbox.Pending}, payments.Processing)
	refund := func(made bool) string {
		id := buy("tealights", cardholder{card: sandbox.Approved}, payments.Paid)
		b.refund(id)
		if made {
			must(b.t, gateway.SettleRefund(id+"-R1", true))
			b.awaitsWord("Refunded")
		}
		return id
	}
	refunded, refunding := refund(true), refund(false)
	b.saveCard(sandbox.Approved)
	b.w.courier.SetMode(courierDrop)
	story := b.loseAnswer("pillar")
	b.visit("/cards")
	b.click("#save-card")
	eventually(b.t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
	b.enterCard(sandbox.Approved)
	b.click("#pay") // its token is lost
	b.toCheckout("tapers")
	b.do(chromedp.Click(chromedp.CSS("#pay-hosted")))
	b.click("#pay")
	waiting := b.orderID()
	eventually(b.t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyReset})
	b.toCheckout("pillar")
	b.click("#pay")
	checking := b.orderID()
	b.visit("/")
	b.click("#add-pillar")
	b.visit("/")
	b.click("#add-tapers")

	send := func(form string) func(*tab) {
		return func(b *tab) { b.click(form + ` [type="submit"]`) }
	}
	return []look{
		{"shop", "/", "desk", nil},
		{"cart", "/cart", "phone", nil},
		{"checkout", "/checkout", "desk", nil},
		{"checkout-problems", "/checkout", "", func(b *tab) {
			b.do(chromedp.SetValue(chromedp.CSS("#email"), "ada"))
			send("#checkout-form")(b)
		}},
		{"order-paid", "/orders/" + paid, "phone", nil},
		{"order-declined", "/orders/" + declined, "phone", nil},
		{"order-cancelled", "/orders/" + cancelled, "", nil},
		{"order-refunded", "/orders/" + refunded, "phone", nil},
		{"order-being-refunded", "/orders/" + refunding, "", nil},
		{"shop-story", "/orders/" + story + "/story", "docs", nil},
		{"order-resolved", "/orders/" + story, "desk", nil},
		{"order-processing", "/orders/" + processing, "", nil},
		{"order-waiting", "/orders/" + waiting, "", nil},
		{"order-checking", "/orders/" + checking, "", nil},
		{"orders", "/orders", "phone", nil},
		{"cards", "/cards", "", nil},
		{"weekly", "/weekly", "", nil},
		{"weekly-card", "/weekly/card", "desk", nil},
		{"weekly-card-problems", "/weekly/card", "", send("#weekly-card-form")},
		{"refunds", "/refunds", "", nil},
		{"staff", "/staff", "", nil},
		{"sandbox", "/sandbox", "desk", func(b *tab) { b.click("#lose-refund") }},
		{"not-found", "/nothing", "", nil},
	}
}

// loseAnswer pays with the saved card, and loses the answer and the notification. It returns the order, which is paid.
func (b *tab) loseAnswer(sku string) string {
	b.t.Helper()
	b.w.courier.SetMode(courierDrop)
	b.w.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
	b.toCheckout(sku)
	b.click("#pay")
	b.reaches(cardholder{}, payments.Paid)
	return b.orderID()
}

// awaitsWord waits until the order's page shows this status, without doing anything.
func (b *tab) awaitsWord(want string) {
	b.t.Helper()
	eventually(b.t, "the order", func() string {
		word := evaluate[string](b, `document.querySelector("#state")?.innerText ?? "no order"`)
		return is(word, want, nil)
	})
}

// picture writes a screenshot of what the window shows, or of the whole page.
func (b *tab) picture(file string, whole bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	shot := chromedp.CaptureScreenshot()
	if whole {
		shot = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(ctx, shot)
	must(b.t, err)
	must(b.t, os.WriteFile(file, png, 0o644))
}

// TestPrintAndMotion: on paper there is only the order, in light colours; and nothing moves if the customer does not want that.
func TestPrintAndMotion(t *testing.T) {
	t.Parallel()
	b := newTab(t, open(t))
	b.toCheckout("cedar")
	b.click("#pay")
	b.reaches(cardholder{card: sandbox.Pending}, payments.Processing)
	defer b.media("", "prefers-reduced-motion", "")
	for value, moves := range map[string]bool{"no-preference": true, "reduce": false} {
		b.media("", "prefers-reduced-motion", value)
		if got := evaluate[bool](b, "document.getAnimations().length > 0"); got != moves {
			t.Errorf("with prefers-reduced-motion %s, something moves: %t", value, got)
		}
	}
	b.media("print", "prefers-color-scheme", "dark")
	for _, hidden := range []string{".notice", "nav", "footer", ".actions"} {
		if !evaluate[bool](b, `getComputedStyle(document.querySelector("`+hidden+`")).display === "none"`) {
			t.Errorf("%s is printed", hidden)
		}
	}
	if !evaluate[bool](b, `getComputedStyle(document.body).color === "rgb(36, 31, 26)" && getComputedStyle(document.body).backgroundColor === "rgba(0, 0, 0, 0)"`) {
		t.Error("the page is printed in dark colours")
	}
}

// TestScripts: the only script is the file that keeps a page up to date. No page has others, or inline styles, which the policy would
// forbid.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("templates/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal("no templates", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		rest := strings.ReplaceAll(string(text), `<script src="{{static "follow.js"}}" defer></script>`, "")
		for _, forbidden := range []string{"<script", "javascript:", " onclick", " style="} {
			if strings.Contains(rest, forbidden) {
				t.Errorf("%s has %s", file, forbidden)
			}
		}
	}
}
