//go:build browser

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// theBrowser is started by the first test that needs it and stopped by TestMain. It has a window for each concurrent test,
// with separate cookies; the next test reuses the window without them.
var theBrowser struct {
	once    sync.Once
	err     error
	windows chan context.Context
}

const windows = 2

// browser returns a window for the duration of the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	theBrowser.once.Do(startBrowser)
	testprogram.Browser.Check(t, theBrowser.err)
	window := <-theBrowser.windows
	t.Cleanup(func() { theBrowser.windows <- window })
	return window
}

func startBrowser() {
	path, err := testprogram.Browser.Find()
	if err != nil {
		theBrowser.err = err
		return
	}
	profile, err := os.MkdirTemp("", "shop-browser-")
	if err != nil {
		theBrowser.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("host-resolver-rules", "MAP *.test 127.0.0.1"),
		// No new process for each page: the tests open a thousand.
		chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("disable-features", "Translate,BackForwardCache,IsolateOrigins,site-per-process,OptimizationHints,MediaRouter"),
	)
	if os.Geteuid() == 0 { // Chromium's own sandbox does not work for root
		options = append(options, chromedp.NoSandbox)
	}
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated)
	theBrowser.err = chromedp.Do(ctx)
	theBrowser.windows = make(chan context.Context, windows)
	for range windows {
		window, _ := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext()) // ends with the browser
		theBrowser.err = errors.Join(theBrowser.err, chromedp.Do(window))       // opens it for several tests
		theBrowser.windows <- window
	}
	stopBrowser = func() {
		_ = chromedp.Cancel(ctx)
		cancel()
		stop()
		for range 50 { // its children write for a moment longer
			if os.RemoveAll(profile) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

var (
	long        = os.Getenv("CARDGATEWAY_LONG") == "1"        // the tests run in full, as in .ci/long
	screenshots = os.Getenv("CARDGATEWAY_SCREENSHOTS") == "1" // they take the pictures of README and docs
)

// patience is a timeout for slow machines: a test takes a second or two.
const patience = 5 * time.Minute

// tab is a customer with a browser.
type tab struct {
	t   *testing.T
	w   *world
	ctx context.Context

	script bool // is allowed
}

func newTab(t *testing.T, w *world) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(browser(t), patience)
	t.Cleanup(cancel)
	b := &tab{t: t, w: w, ctx: ctx, script: true}
	b.do(chromedp.Navigate("about:blank"), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.ClearBrowserCookies, cdp.Empty{})
		return err
	}))
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, step := range steps {
		must(b.t, chromedp.Do(b.ctx, onPage(step)))
	}
}

// onPage repeats a step with an element that was found and then gone, before anything was done with it: the browser had replaced
// the document in between.
func onPage[T any](step chromedp.Action[T]) chromedp.Action[T] {
	return func(ctx context.Context, target *chromedp.Target) (T, error) {
		for {
			result, err := step(ctx, target)
			var refused *cdproto.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Message, "node with given id") {
				return result, err
			}
		}
	}
}

// visit goes to a page of the shop.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.w.url + path))
}

// click clicks on a link or button, and waits for the next page.
func (b *tab) click(selector string) {
	b.t.Helper()
	if _, err := chromedp.RunResponse(b.ctx, onPage(chromedp.Click(chromedp.CSS(selector)))); err != nil {
		b.t.Fatalf("clicking on %s at %s: %v", selector, b.where(), err)
	}
}

func (b *tab) fill(fields ...string) {
	b.t.Helper()
	for i := 0; i < len(fields); i += 2 {
		b.do(chromedp.SendKeys(chromedp.CSS("#"+fields[i]), fields[i+1]))
	}
}

// evaluate returns the value of a script on the page. A page that loads itself again has no elements for a moment: it tries again.
func evaluate[T any](b *tab, script string, options ...chromedp.EvaluateOption) (value T) {
	b.t.Helper()
	eventually(b.t, "the page", func() string {
		got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](`if (document.readyState !== "complete") throw Error("loading"); `+script, options...))
		if err != nil {
			return err.Error()
		}
		value = got
		return ""
	})
	return value
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return strings.TrimSpace(evaluate[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector)))
}

// has reports whether there is such an element on the page now.
func (b *tab) has(selector string) bool {
	b.t.Helper()
	return evaluate[bool](b, fmt.Sprintf("document.querySelector(%q) !== null", selector))
}

// where returns the name of the current page, and for an order its state.
func (b *tab) where() string {
	place, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`(() => {
		if (document.readyState !== "complete") return "loading";
		if (document.querySelector("#card-form")) return "card page";
		if (document.querySelector("#threed-form")) return "3D page";
		if (document.querySelector("#back")) return "finished page";
		const state = document.querySelector("#state");
		return state ? "order " + state.dataset.state : location.pathname;
	})()`))
	if err != nil {
		return "loading" // between two pages
	}
	return place
}

// cardholder is what somebody does on the gateway's pages.
type cardholder struct {
	card    sandbox.Outcome
	refuses bool // at the bank's page
	cancels bool // at the card page
}

// reaches continues like a patient customer, through the gateway's pages and back, until the order is in a state.
func (b *tab) reaches(who cardholder, want payments.State) {
	b.t.Helper()
	trail := []string{}
	for end := time.Now().Add(patience / 2); time.Now().Before(end); {
		place := b.where()
		if len(trail) == 0 || trail[len(trail)-1] != place {
			trail = append(trail, place)
		}
		switch {
		case place == "order "+string(want):
			return
		case place == "card page" && who.cancels:
			b.click("#cancel")
		case place == "card page":
			b.enterCard(who.card)
			b.click("#pay")
		case place == "3D page" && who.refuses:
			b.click("#refuse")
		case place == "3D page":
			b.click("#approve")
		case place == "finished page": // paid, and the shop did not know it yet
			b.click("#back")
		case place == "order waiting": // the page may be replacing the link
			_, _ = chromedp.RunResponse(b.ctx, onPage(chromedp.Click(chromedp.CSS("#to-page"))))
		case strings.HasPrefix(place, "order ") && b.has("main[data-again]"):
			time.Sleep(50 * time.Millisecond) // the page goes on by itself
		case strings.HasPrefix(place, "order ") && b.where() == place:
			b.t.Fatalf("the order ends as %q instead of %q, on the way %q", place, want, trail)
		default:
			time.Sleep(20 * time.Millisecond)
		}
	}
	b.t.Fatalf("the order does not become %q, on the way %q", want, trail)
}

func (b *tab) enterCard(card sandbox.Outcome) {
	b.t.Helper()
	c := sandbox.TestCard(card)
	b.fill("cardNumber", c.Number, "expiredMonth", c.Month, "expiredYear", c.Year, "cvv", c.CVV, "cardholder", c.Cardholder)
}

func (b *tab) fillBuyer() {
	b.t.Helper()
	if !b.has(`#firstName[value="Ada"]`) { // remembered
		b.fill("firstName", "Ada", "lastName", "Gross", "email", "ada@mail.test")
	}
}

// toCheckout adds a product to the cart and goes to the checkout.
func (b *tab) toCheckout(sku string) {
	b.t.Helper()
	b.visit("/")
	b.click("#add-" + sku)
	b.click("#checkout")
	b.fillBuyer()
}

// saveCard stores a card, and waits until it can be used for payments.
func (b *tab) saveCard(card sandbox.Outcome) {
	b.t.Helper()
	b.visit("/cards")
	b.click("#save-card")
	eventually(b.t, "the gateway's page", func() string { return is(b.where(), "card page", nil) })
	b.enterCard(card)
	b.click("#pay")
	eventually(b.t, "the card", func() string {
		if !b.has(`[data-state="ready"]`) {
			b.visit("/cards")
			return "is not ready"
		}
		return ""
	})
}

// refund refunds an order as the staff does, and looks at it as its customer.
func (b *tab) refund(id string) {
	b.t.Helper()
	b.visit("/staff")
	b.click("#refund-" + id)
	b.visit("/orders/" + id)
}

// orderID returns the newest order.
func (b *tab) orderID() string {
	b.t.Helper()
	var id string
	row := b.w.payments.DB.QueryRowContext(b.ctx, `SELECT id FROM orders ORDER BY created DESC LIMIT 1`)
	must(b.t, row.Scan(&id))
	return id
}
