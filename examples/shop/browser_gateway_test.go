package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// focus is the element that the keyboard acts on.
type focus struct {
	Name     string // its id, else its name, else what it says
	Label    string // what it is called for those who do not see it
	Outlined bool   // it can be told apart from the others
	OnScreen bool
	Top      int // on the page
}

// focused describes the focus. The zero value is the page itself.
func (b *tab) focused() focus {
	b.t.Helper()
	f, err := chromedp.Run(b.ctx, chromedp.Evaluate[focus](`(() => {
		const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e)
		if (e === document.body) return {}
		const label = e.ariaLabel || (e.labels && e.labels.length ? e.labels[0].innerText : e.innerText)
		return {
			Name: e.id || e.name || e.innerText, Label: label.trim(), Top: Math.round(box.top + scrollY),
			Outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
			OnScreen: box.width > 0 && box.height > 0 && box.top < innerHeight && box.bottom > 0 && box.left >= 0 && box.right <= innerWidth,
		}
	})()`))
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

// press presses keys one after the other.
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

// tabTo presses Tab until the focus is at what is called so.
func (b *tab) tabTo(label string) {
	b.t.Helper()
	for range 100 {
		b.press(kb.Tab)
		if b.focused().Label == label {
			return
		}
	}
	b.t.Fatalf("Tab does not lead to %q", label)
}

// tabThrough presses Tab from the beginning of the page to its end, and returns where it leads. Each place must have a
// name, be seen, and stand below the one before.
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

// gateway is a sandbox alone, with a client.
type gateway struct {
	*sandbox.Server
	client *cardgateway.Client
}

func startGateway(t *testing.T, o sandbox.Options) gateway {
	t.Helper()
	server, err := sandbox.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: demoAppID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return gateway{server, client}
}

// checkout opens a payment that comes back to /_sandbox/payments, and returns its hosted page.
func (g gateway) checkout(t *testing.T, transactionID string) string {
	t.Helper()
	opened, err := g.client.CreateCheckout(t.Context(), cardgateway.CheckoutRequest{
		TransactionID: transactionID, OrderID: "order-" + transactionID, Currency: "USD", Amount: price("129.90"),
		TransactionIP: "203.0.113.7", CallbackURL: g.URL + "/_sandbox/payments", NotificationURL: g.URL + "/notify",
		ProductInfos: []cardgateway.ProductInfo{
			{ProductName: "Brass candle holder", Quantity: 1, Price: price("104.90"), Currency: "USD"},
			{ProductName: "Dipped tapers, a dozen", Quantity: 2, Price: price("12.50"), Currency: "USD"},
		},
		BillingAddress: cardgateway.Address{FirstName: "Ada", LastName: "Gross", Country: "US"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return opened.RedirectURL
}

func (b *tab) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
}

// TestKeyboardHosted pays on the hosted pages without a mouse: every field and button is reached by Tab, in the order in
// which it stands there, Enter in a field sends the form, and the first wrong field has the focus.
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
	if f := b.focused(); f.Name != "cardNumber" || !b.has(`#cardNumber[aria-invalid="true"][aria-describedby="cardNumber-error"]`) {
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
	if f := b.focused(); f.Name != "pay" {
		t.Errorf("after a test card the focus is at %+v, want the button that pays", f)
	}
	b.follow(" ")
	if n := g.Executed("tx-3"); n != 1 {
		t.Errorf("charged %d times", n)
	}
}

// TestKeyboardDashboard works on the dashboard without a mouse.
func TestKeyboardDashboard(t *testing.T) {
	t.Parallel()
	g := startGateway(t, sandbox.Options{NoNotifications: true})
	g.checkout(t, "tx-1")
	paid := g.checkout(t, "tx-2")
	if _, err := g.EnterCard(paid, sandbox.TestCard(sandbox.Pending)); err != nil {
		t.Fatal(err)
	}
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
	if n := g.Executed("tx-2"); n != 1 || !b.has(".notice") {
		t.Errorf("charged %d times, want once, and a notice", n)
	}
	b.open(g.URL + "/_sandbox/")
	b.tabTo("Transaction")
	b.press("tx-9")
	b.follow(kb.Enter)
	b.tabTo("Faults")
	b.follow(kb.Enter)
	if got := b.text("main"); !strings.Contains(got, "carried out, reply close") {
		t.Errorf("no fault was armed: %s", got)
	}
	b.tabTo("OpenAPI description of the gateway")
	b.follow(kb.Enter)
	if place := b.where(); place != "/_sandbox/openapi.json" {
		t.Errorf("the link leads to %s", place)
	}
}

// TestDashboardUnderAName presses a button of a dashboard that is reached under a name and without TLS, as in a network of
// containers: the browser then says less of where a form comes from. The same form on a page of another site does nothing.
func TestDashboardUnderAName(t *testing.T) {
	t.Parallel()
	g := startGateway(t, sandbox.Options{NoNotifications: true, Control: sandbox.ControlAnywhere})
	named := strings.Replace(g.URL, "127.0.0.1", "gateway.test", 1)
	if _, err := g.EnterCard(g.checkout(t, "tx-1"), sandbox.TestCard(sandbox.Pending)); err != nil {
		t.Fatal(err)
	}
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `<!doctype html><form method="post" action="%s/_sandbox/payments/tx-1/settle"><button id="win">Win</button></form>`, named)
	}))
	defer evil.Close()
	b := newTab(t, nil)
	b.open(strings.Replace(evil.URL, "127.0.0.1", "evil.test", 1))
	b.click("#win")
	if got := b.text("body"); g.Executed("tx-1") != 0 || !strings.Contains(got, "another site") {
		t.Errorf("charged %d times by another site, which sees %q", g.Executed("tx-1"), got)
	}
	b.open(named + "/_sandbox/payments")
	b.click(`[aria-label="Settle tx-1"]`)
	if n := g.Executed("tx-1"); n != 1 {
		t.Errorf("charged %d times by the button; the page says %q", n, b.text("body"))
	}
}

// TestGatewayLook shows the sandbox's pages, at a desk and on a phone, light and dark, to an accessibility checker: it finds
// nothing, and nothing has to be scrolled sideways. With CARDGATEWAY_SCREENSHOTS=1 it takes the pictures of the docs.
func TestGatewayLook(t *testing.T) {
	t.Parallel()
	g := startGateway(t, sandbox.Options{MerchantName: "Wick & Wax", NotificationScale: 1000, RefundSettleAfter: -1})
	b := newTab(t, nil)
	looks := gatewayLooks(t, g)
	for _, width := range []int64{1280, 390} {
		height := map[int64]int64{1280: 900, 390: 844}[width]
		for _, scheme := range []string{"light", "dark"} {
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
			b.do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
				_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
				return err
			}))
			for _, look := range looks {
				name := fmt.Sprintf("sandbox-%s-%d-%s", look.name, width, scheme)
				b.open(look.path)
				if look.then != nil {
					look.then(b)
				}
				b.inspect(name)
				if dir := os.Getenv("CARDGATEWAY_SCREENSHOTS"); dir != "" {
					png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
					if err == nil {
						err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// inspect finds what is wrong with how the page looks.
func (b *tab) inspect(name string) {
	b.t.Helper()
	for impact, n := range b.examine(name) {
		b.t.Errorf("%s: %d findings, %s", name, n, impact)
	}
	wider, err := chromedp.Run(b.ctx, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth"))
	if err != nil || wider > 0 {
		b.t.Errorf("%s: %d pixels too wide (%v)", name, wider, err)
	}
}

// gatewayLooks are the pages of a gateway with a payment of each kind.
func gatewayLooks(t *testing.T, g gateway) []look {
	long := strings.Repeat("w", 122)
	open := g.checkout(t, "tx-1046")
	asks := g.checkout(t, "tx-1045")
	cards := map[string]sandbox.Outcome{"tx-1042": sandbox.Approved, "tx-1043": sandbox.Pending, "tx-1044": sandbox.Declined, long: sandbox.Approved}
	finished := ""
	for _, id := range []string{long, "tx-1042", "tx-1043", "tx-1044"} {
		finished = g.checkout(t, id)
		if _, err := g.EnterCard(finished, sandbox.TestCard(cards[id])); err != nil {
			t.Fatal(err)
		}
	}
	next, err := g.EnterCard(asks, sandbox.TestCard(sandbox.Challenged))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	found, err := g.client.SearchOrders(t.Context(), cardgateway.OrderQuery{TransactionID: "tx-1042", Start: now.Add(-time.Hour), End: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Refund(found.Data[0].UniqueID, "25.00", "refund-1"); err != nil {
		t.Fatal(err)
	}
	g.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
	page := func(path string) string { return g.URL + "/_sandbox/" + path }
	return []look{
		{"card", open, "", nil},
		{"card-problems", open, "", func(b *tab) { b.click("#pay") }},
		{"card-filled", open + "?card=declined", "", nil},
		{"3d", g.URL + next, "", nil},
		{"finished", finished, "", nil},
		{"dashboard", page(""), "", nil},
		{"payments", page("payments"), "", nil},
		{"payment", page("payments/tx-1042"), "", nil},
		{"payment-long", page("payments/" + long), "", nil},
		{"refunds", page("refunds"), "", nil},
		{"notifications", page("notifications"), "", nil},
		{"notification", page("notifications/2"), "", nil},
		{"requests", page("requests"), "", nil},
		{"request", page("requests/1"), "", nil},
		{"faults", page("faults"), "", nil},
		{"wrong", page("nothing"), "", nil},
	}
}
