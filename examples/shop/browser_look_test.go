package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

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
	if err != nil {
		b.t.Fatal(err)
	}
	findings, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]finding](string(axe)+`;
		axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations)`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
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

// screen is a size of the window.
type screen struct {
	name          string
	width, height int64
	scale         float64
}

var screens = []screen{
	{"desk", 1120, 700, 1},
	{"phone", 390, 780, 1.5},
}

// TestBrowserLook checks every page with an accessibility checker, on desktop and phone: there are no serious and no
// critical findings, and no horizontal scrolling. With CARDGATEWAY_SCREENSHOTS=1 it takes the screenshots of the README.
func TestBrowserLook(t *testing.T) {
	w := open(t, withoutRun, processingFor(-time.Second))
	b := newTab(t, w)
	looks := prepareLooks(b)
	findings := make(map[string]int)
	for _, screen := range screens {
		b.do(chromedp.EmulateViewport(screen.width, screen.height, chromedp.EmulateScale(screen.scale)))
		for _, look := range looks {
			b.visit(look.path)
			if look.then != nil {
				look.then(b)
			}
			for impact, n := range b.examine(look.name + ", " + screen.name) {
				findings[impact] += n
			}
			wider, err := chromedp.Run(b.ctx, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth"))
			if err != nil || wider > 0 {
				t.Errorf("%s, %s: %d pixels too wide (%v)", look.name, screen.name, wider, err)
			}
			if look.picture == screen.name && os.Getenv("CARDGATEWAY_SCREENSHOTS") == "1" {
				b.picture(look.name)
			}
		}
	}
	t.Logf("%d pages at %d sizes; findings by impact: %v", len(looks), len(screens), findings)
}

// look is a page to check.
type look struct {
	name, path string
	picture    string     // at which screen it is taken for the README
	then       func(*tab) // what is done there first
}

// prepareLooks creates an order of every kind and state.
func prepareLooks(b *tab) []look {
	gateway := b.w.gateway
	buy := func(sku string, who cardholder, want State) string {
		b.toCheckout(sku)
		b.click("#pay")
		b.reaches(who, want)
		return b.orderID()
	}
	declined := buy("orange", cardholder{card: sandbox.Declined}, Declined)
	paid := buy("tealights", cardholder{card: sandbox.Approved}, Paid)
	processing := buy("cedar", cardholder{card: sandbox.Pending}, Processing)
	o, err := b.w.store.Order(b.ctx, paid)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := gateway.Refund(o.UniqueID, "4.50", ""); err != nil {
		b.t.Fatal(err)
	}
	b.toCheckout("tapers")
	b.click("#pay")
	waiting := b.orderID()
	eventually(b.t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
	b.toCheckout("pillar")
	b.click("#pay")
	checking := b.orderID()
	b.saveCard(sandbox.Approved)
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
		{"checkout", "/checkout", "desk", func(b *tab) {
			b.fillBuyer()
			b.do(chromedp.Click(chromedp.CSS(`[name="pay"]:not([value=""])`)))
		}},
		{"checkout-problems", "/checkout", "", send("#checkout-form")},
		{"order-paid", "/orders/" + paid, "phone", nil},
		{"order-declined", "/orders/" + declined, "phone", nil},
		{"order-processing", "/orders/" + processing, "", nil},
		{"order-waiting", "/orders/" + waiting, "", nil},
		{"order-checking", "/orders/" + checking, "desk", nil},
		{"orders", "/orders", "phone", nil},
		{"cards", "/cards", "", nil},
		{"weekly", "/weekly", "", nil},
		{"weekly-card", "/weekly/card", "desk", nil},
		{"weekly-card-problems", "/weekly/card", "", send("#weekly-card-form")},
		{"refunds", "/refunds", "", nil},
		{"sandbox", "/sandbox", "desk", nil},
		{"not-found", "/nothing", "", nil},
	}
}

// picture writes a screenshot of the page, up to three screens.
func (b *tab) picture(name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("docs", name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// TestNoScript: no page has a script, or inline styles, which the policy would forbid.
func TestNoScript(t *testing.T) {
	files, err := filepath.Glob("templates/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal("no templates", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, forbidden := range []string{"<script", "javascript:", " onclick", " style="} {
			if strings.Contains(string(text), forbidden) {
				t.Errorf("%s has %s", file, forbidden)
			}
		}
	}
}
