package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// asShop is the variable with which the tests start their own program as the shop.
const asShop = "SHOP_IS_TESTED"

var stopBrowser = func() {} // if one was started

func TestMain(m *testing.M) {
	if os.Getenv(asShop) != "" {
		main()
		return
	}
	code := m.Run()
	stopBrowser()
	if err := pgserver.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// world is a shop and its gateway, each on its own socket.
type world struct {
	*Shop
	url     string
	gateway *sandbox.Gateway
	courier *Courier
	logs    *clienttest.Buffer
}

// setup configures a world.
type setup struct {
	settings
	gateway sandbox.Options
}

type option func(*setup)

// withDB makes the shop use this database instead of one in memory.
func withDB(name string) option { return func(s *setup) { s.database = name } }

// withoutRun lets Run look only once, at the beginning: only what a test does itself happens.
func withoutRun(s *setup) { s.settleEvery = time.Hour }

// processingFor keeps token payments in processing.
func processingFor(d time.Duration) option { return func(s *setup) { s.gateway.SettleAfter = d } }

// impatient shortens the waits of the sandbox's slow faults.
func impatient(s *setup) { s.attemptTimeout = 300 * time.Millisecond }

// unreachable makes the gateway unreachable while it is true.
type unreachable struct{ atomic.Bool }

func (u *unreachable) option(s *setup) {
	s.httpClient = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if u.Load() {
				return nil, errors.New("the network is down")
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}
}

// open starts a shop. At the end of the test it is closed, and its log is searched for card data.
func open(t testing.TB, options ...option) *world {
	t.Helper()
	logs := new(clienttest.Buffer)
	s := &setup{
		settings: settings{
			listen: "127.0.0.1:0", settleEvery: 25 * time.Millisecond, attemptTimeout: 5 * time.Second,
			log: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		},
		gateway: sandbox.Options{Notifications: sandbox.Notifications{Scale: 0.001}},
	}
	for _, o := range options {
		o(s)
	}
	demo, err := StartDemo(t.Context(), s.gateway)
	must(t, err)
	s.settings = demo.settings(s.settings)
	listener, err := net.Listen("tcp", s.listen)
	must(t, err)
	s.url = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	shop, err := NewShop(ctx, s.settings, demo)
	must(t, err)
	w := &world{Shop: shop, url: s.url, gateway: demo.Server.Gateway, courier: demo.Courier, logs: logs}
	var served sync.WaitGroup
	served.Go(func() {
		if err := shop.serve(ctx, listener); err != nil {
			t.Error("serving:", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		served.Wait()
		if err := shop.Close(); err != nil {
			t.Error("closing:", err)
		}
		demo.Server.Close()
		w.checkLog(t, demo.secret)
	})
	return w
}

// record serves one request without a socket.
func record(w *world, method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if change != nil {
		change(r)
	}
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, r)
	return rec
}

// checkLog fails the test if the log contains card data or other secrets.
func (w *world) checkLog(t testing.TB, secret string) {
	logged := w.logs.String()
	if t.Failed() {
		for line := range strings.Lines(logged) {
			if strings.Contains(line, "level=ERROR") {
				t.Log(line)
			}
		}
	}
	known := strings.NewReplacer("unknown token", "", "a token may be lost", "", "tokenization", "")
	for line := range strings.Lines(logged) {
		for _, forbidden := range []string{"4300000000000000", "4300 0000", "tok", "bind=", secret, "cvv", "Ada Gross"} {
			if strings.Contains(known.Replace(line), forbidden) {
				t.Errorf("the log contains %q: %s", forbidden, line)
			}
		}
	}
}

// shopper is a customer without a browser: it handles forms, links and cookies like a browser, and nothing else.
type shopper struct {
	t      testing.TB
	w      *world
	client *http.Client
	path   string // where the shopper is
	page   string // the HTML of the page
	status int
}

func newShopper(t testing.TB, w *world) *shopper {
	jar, err := cookiejar.New(nil)
	must(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &shopper{t: t, w: w, client: &http.Client{Jar: jar, Transport: transport}}
}

func (s *shopper) get(path string) *shopper {
	s.t.Helper()
	return s.do(http.MethodGet, path, nil)
}

func (s *shopper) post(path string, form url.Values) *shopper {
	s.t.Helper()
	return s.do(http.MethodPost, path, form)
}

// postTwice sends a form from two tabs at once.
func (s *shopper) postTwice(path string, form url.Values) {
	s.t.Helper()
	var both sync.WaitGroup
	for range 2 {
		again := *s
		both.Go(func() { again.post(path, form) })
	}
	both.Wait()
}

func (s *shopper) do(method, path string, form url.Values) *shopper {
	s.t.Helper()
	r, err := http.NewRequest(method, s.w.url+path, strings.NewReader(form.Encode()))
	must(s.t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	resp, err := s.client.Do(r)
	must(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	must(s.t, err)
	s.path, s.page, s.status = resp.Request.URL.Path, string(body), resp.StatusCode
	return s
}

func values(pairs ...string) url.Values {
	v := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

func buyer(more ...string) url.Values {
	return values(append([]string{"firstName", "Ada", "lastName", "Gross", "email", "ada@mail.test", "country", "US"}, more...)...)
}

// subscribe fills the form of a subscription.
func (s *shopper) subscribe(path string, more ...string) *shopper {
	s.t.Helper()
	return s.get(path).post(path, buyer(append([]string{"id", s.hidden("id")}, more...)...))
}

// hidden returns the value of a hidden field of the page.
func (s *shopper) hidden(name string) string {
	s.t.Helper()
	return s.match(`name="` + name + `" value="([^"]+)"`)
}

// buy puts a product into the cart and checks out. It returns the order's id.
func (s *shopper) buy(sku, pay string) string {
	s.t.Helper()
	s.post("/cart", values("sku", sku))
	s.get("/checkout").post("/checkout", buyer("cart", s.hidden("cart"), "pay", pay))
	return s.orderID()
}

var orderPath = regexp.MustCompile(`^/orders/([^/]+)`)

func (s *shopper) orderID() string {
	s.t.Helper()
	m := orderPath.FindStringSubmatch(s.path)
	if m == nil {
		s.t.Fatalf("at %s with HTTP %d instead of an order:\n%s", s.path, s.status, s.page)
	}
	return m[1]
}

// match returns the match of a pattern on the page.
func (s *shopper) match(pattern string) string {
	s.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(s.page)
	if m == nil {
		s.t.Fatalf("no %s at %s:\n%s", pattern, s.path, s.page)
	}
	return html.UnescapeString(m[1])
}

// hostedPage returns the hosted page to which the current page links.
func (s *shopper) hostedPage() string {
	s.t.Helper()
	return s.match(`id="continue" href="([^"]+)"`)
}

// enter enters a card at the hosted page, and confirms it if the bank asks.
func (s *shopper) enter(page string, card sandbox.Outcome) {
	s.t.Helper()
	next := enterCard(s.t, s.w.gateway, page, card)
	if card == sandbox.Challenged {
		if _, err := s.w.gateway.Authenticate(next, true); err != nil {
			s.t.Fatal(err)
		}
	}
}

// enterCard enters a card at the hosted page, and returns where it leads.
func enterCard(t testing.TB, g *sandbox.Gateway, page string, card sandbox.Outcome) (next string) {
	t.Helper()
	next, err := g.EnterCard(page, sandbox.TestCard(card))
	must(t, err)
	return next
}

// saveCard stores a card, and returns its id.
func (s *shopper) saveCard(card sandbox.Outcome) string {
	s.t.Helper()
	s.get("/cards").post("/cards", values("id", s.hidden("id")))
	id := regexp.MustCompile(`^/cards/([^/]+)`).FindStringSubmatch(s.path)[1]
	enterCard(s.t, s.w.gateway, s.hostedPage(), card)
	eventually(s.t, "the card is ready", func() string {
		return is(fmt.Sprint(strings.Contains(s.get("/cards").page, `data-card="`+id+`" data-state="ready"`)), "true", nil)
	})
	return id
}

// awaits waits until an order is in a state, according to its page.
func (s *shopper) awaits(id string, want payments.State) {
	s.t.Helper()
	eventually(s.t, "order "+id, func() string {
		s.get("/orders/" + id)
		return is(s.match(`data-state="([^"]+)"`), string(want), nil)
	})
}

// awaitsWord waits until the page of an order shows this status.
func (s *shopper) awaitsWord(id, want string) {
	s.t.Helper()
	eventually(s.t, "order "+id, func() string {
		s.get("/orders/" + id)
		return is(s.match(`data-state="[^"]+">([^<]+)`), want, nil)
	})
}

// must ends the test if a call that is to have no error has one.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is(got, want string, err error) string {
	if err != nil {
		return err.Error()
	}
	if got != want {
		return fmt.Sprintf("got %q, want %q", got, want)
	}
	return ""
}

// eventually waits until check returns no error.
func eventually(t testing.TB, what string, check func() string) {
	t.Helper()
	problem := ""
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if problem = check(); problem == "" {
			return
		}
	}
	t.Fatalf("%s: %s", what, problem)
}
