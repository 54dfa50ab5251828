//go:build browser

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// gateway is a sandbox without a shop, with a client and a merchant who receives notifications.
type gateway struct {
	*sandbox.Server
	client   *cardgateway.Client
	merchant string
}

func startGateway(t *testing.T, o sandbox.Options) gateway {
	t.Helper()
	server, err := sandbox.Start(o)
	must(t, err)
	t.Cleanup(server.Close)
	client := clienttest.NewClient(t, cardgateway.Config{BaseURL: server.URL, AppID: demoAppID, TestPayments: true})
	var seen atomic.Int64
	merchant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if seen.Add(1) == 1 {
			http.Error(w, "order tx-1042 is locked", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(merchant.Close)
	return gateway{server, client, merchant.URL + "/notifications"}
}

// checkout opens a payment that comes back to /_sandbox/payments, and returns its hosted page.
func (g gateway) checkout(t *testing.T, transactionID string) string {
	t.Helper()
	opened, err := g.client.CreateCheckout(t.Context(), cardgateway.CheckoutRequest{
		TransactionID: transactionID, OrderID: "order-" + transactionID, Currency: "USD", Amount: price("129.90"),
		TransactionIP: "203.0.113.7", CallbackURL: g.URL + "/_sandbox/payments", NotificationURL: g.merchant,
		ProductInfos: []cardgateway.ProductInfo{
			{ProductName: "Brass candle holder", Quantity: 1, Price: price("104.90"), Currency: "USD"},
			{ProductName: "Dipped tapers, a dozen", Quantity: 2, Price: price("12.50"), Currency: "USD"},
		},
		BillingAddress: cardgateway.Address{FirstName: "Ada", LastName: "Gross", Country: "US"},
	})
	must(t, err)
	return opened.RedirectURL
}

func (b *tab) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
}

// TestDashboardUnderAName uses a button of a dashboard that is reached with a host name and without TLS, as in a network of
// containers: the browser then sends less about the origin of a form. The same form on a page of another site has no
// effect.
func TestDashboardUnderAName(t *testing.T) {
	t.Parallel()
	g := startGateway(t, sandbox.Options{NoNotifications: true, Console: sandbox.Console{Access: sandbox.ControlAnywhere}})
	named := strings.Replace(g.URL, "127.0.0.1", "gateway.test", 1)
	enterCard(t, g.Gateway, g.checkout(t, "tx-1"), sandbox.Pending)
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

// TestGatewayLook checks the sandbox's pages; see looksAt.
func TestGatewayLook(t *testing.T) {
	t.Parallel()
	newTab(t, nil).looksAt("", gatewayLooks(t))
}

// gatewayLooks are the pages of a gateway with a payment of each kind, and of one with the longest ids.
func gatewayLooks(t *testing.T) []look {
	options := sandbox.Options{MerchantName: "Wick & Wax", Notifications: sandbox.Notifications{Scale: 0.001}, RefundSettleAfter: -1}
	g, long := startGateway(t, options), startGateway(t, options)
	enter := func(g gateway, page string, card sandbox.Outcome) (next string) {
		return enterCard(t, g.Gateway, page, card)
	}
	finished := g.checkout(t, "tx-1042")
	enter(g, finished, sandbox.Approved)
	must(t, g.Flush(t.Context()))
	enter(g, g.checkout(t, "tx-1043"), sandbox.Pending)
	enter(g, g.checkout(t, "tx-1044"), sandbox.Declined)
	threeD := g.URL + enter(g, g.checkout(t, "tx-1045"), sandbox.Challenged)
	card := g.checkout(t, "tx-1046")
	now := time.Now()
	found, err := g.client.SearchOrders(t.Context(), cardgateway.OrderQuery{TransactionID: "tx-1042", Start: now.Add(-time.Hour), End: now.Add(time.Hour)},
		cardgateway.PageRequest{})
	must(t, err)
	if _, err := g.Refund(found.Data[0].UniqueID, "25.00", "refund-1"); err != nil {
		t.Fatal(err)
	}
	g.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})

	longID := strings.Repeat("w", 122) // orderId has more
	enter(long, long.checkout(t, longID), sandbox.Approved)
	return []look{
		{"sandbox-card", card, "docs", nil},
		{"sandbox-card-problems", card, "", func(b *tab) { b.click("#pay") }},
		{"sandbox-card-filled", card + "?card=declined", "", nil},
		{"sandbox-3d", threeD, "docs", nil},
		{"sandbox-finished", finished, "", nil},
		{"sandbox-dashboard", g.URL + "/_sandbox/", "docs", nil},
		{"sandbox-payment", g.URL + "/_sandbox/payments/tx-1042", "", nil},
		{"sandbox-notification", g.URL + "/_sandbox/notifications/1", "docs", nil},
		{"sandbox-requests", g.URL + "/_sandbox/requests", "", nil},
		{"sandbox-request", g.URL + "/_sandbox/requests/1", "", nil},
		{"sandbox-faults", g.URL + "/_sandbox/faults", "", nil},
		{"sandbox-dashboard-long", long.URL + "/_sandbox/", "", nil},
		{"sandbox-payment-long", long.URL + "/_sandbox/payments/" + longID, "", nil},
	}
}
