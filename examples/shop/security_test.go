package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

func TestHeaders(t *testing.T) {
	w := open(t)
	for _, path := range []string{"/", "/cart", "/nothing", payments.NotificationPath} {
		resp, err := http.Get(w.url + path)
		must(t, err)
		_ = resp.Body.Close()
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := resp.Header.Get(header); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q", path, header, got)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestCookie(t *testing.T) {
	for _, tt := range []struct {
		url, name string
		secure    bool
	}{{"http://127.0.0.1", "shop", false}, {"https://shop.test", "__Host-shop", true}} {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, withoutRun)
			w.Shop.url = tt.url
			if got := record(w, http.MethodGet, "/", nil).Result().Cookies(); len(got) != 0 {
				t.Errorf("%s: the catalog alone starts a session", tt.url)
			}
			rec := record(w, http.MethodGet, "/cart", nil)
			cookies := rec.Result().Cookies()
			if len(cookies) != 1 {
				t.Fatalf("%s: %d cookies", tt.url, len(cookies))
			}
			c := cookies[0]
			if c.Name != tt.name || c.Secure != tt.secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || len(c.Value) != sessionLength {
				t.Errorf("%s: %v", tt.url, c)
			}
			if got := rec.Header().Get("Strict-Transport-Security") != ""; got != tt.secure {
				t.Errorf("%s: HSTS is %v", tt.url, got)
			}
			again := record(w, http.MethodGet, "/cart", func(r *http.Request) { r.AddCookie(c) })
			if len(again.Result().Cookies()) != 0 {
				t.Errorf("%s: a second cookie", tt.url)
			}
			forged := record(w, http.MethodGet, "/cart", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: tt.name, Value: "chosen"}) })
			if len(forged.Result().Cookies()) != 1 {
				t.Errorf("%s: a session that the visitor made up was taken", tt.url)
			}
			other := &http.Cookie{Name: tt.name, Value: "of another program"}
			if n := len(record(w, http.MethodGet, "/checkout", func(r *http.Request) { r.AddCookie(other) }).Result().Cookies()); n != 1 {
				t.Errorf("%s: one request with another program's cookie starts %d sessions", tt.url, n)
			}
			known := record(w, http.MethodGet, "/cart", func(r *http.Request) {
				r.AddCookie(other)
				r.AddCookie(c)
			})
			if len(known.Result().Cookies()) != 0 {
				t.Errorf("%s: with another program's cookie the customer is not known", tt.url)
			}
		})
	}
}

// TestOtherSites sends forms as a browser sends them from other sites.
func TestOtherSites(t *testing.T) {
	w := open(t)
	for name, from := range map[string]http.Header{
		"another site":         {"Sec-Fetch-Site": {"cross-site"}},
		"another host of ours": {"Sec-Fetch-Site": {"same-site"}},
		"an older browser":     {"Origin": {"https://evil.test"}},
		"a sandboxed frame":    {"Origin": {"null"}},
	} {
		rec := record(w, http.MethodPost, "/cart", func(r *http.Request) { r.Header = from })
		if rec.Code != http.StatusForbidden || !strings.Contains(rec.Body.String(), "Wick &amp; Wax") {
			t.Errorf("%s: HTTP %d, %s", name, rec.Code, rec.Body)
		}
		if len(rec.Result().Cookies()) != 0 { // it would replace the customer's session
			t.Errorf("%s: gets a new session", name)
		}
	}
}

func TestLongForm(t *testing.T) {
	s := newShopper(t, open(t))
	for _, path := range []string{"/cart", "/checkout", "/weekly", "/weekly/card", "/sandbox"} {
		if s.post(path, values("sku", strings.Repeat("x", maxForm))); s.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: HTTP %d", path, s.status)
		}
	}
}

// TestTypedCardIsNotKept sends an invalid card, and one that is declined, and searches for them everywhere: in the
// response, the database and, as in every test, the log.
func TestTypedCardIsNotKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	w := open(t, withDB(file))
	s := newShopper(t, w)
	card := func(number string) url.Values {
		return buyer("id", newID("W"), "cardNumber", number, "expiredMonth", "12", "expiredYear", "39", "cvv", "917", "cardholder", "Augusta Byron")
	}
	if s.post("/weekly/card", card("4300 0000 0000 00x0")); s.status != http.StatusUnprocessableEntity {
		t.Errorf("HTTP %d", s.status)
	}
	page := s.page
	s.post("/weekly/card", card("4300000000000000"))
	s.awaits(s.orderID(), payments.Declined)
	page += s.page
	var books strings.Builder
	for _, name := range []string{file, file + "-wal"} {
		if content, err := os.ReadFile(name); err == nil {
			books.WriteString(string(content))
		}
	}
	if !strings.Contains(books.String(), "cardgateway_journal") {
		t.Fatal("these are not the books")
	}
	for _, secret := range []string{"4300000000000000", "4300 0000 0000", "917\"", "Augusta"} {
		for where, text := range map[string]string{"page": page, "books": books.String(), "log": w.logs.String()} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in the %s", secret, where)
			}
		}
	}
}

func TestClientIP(t *testing.T) {
	r, err := http.NewRequest(http.MethodGet, "/", nil)
	must(t, err)
	r.RemoteAddr = "203.0.113.7:4711"
	r.Header.Set("X-Real-IP", "198.51.100.9")
	if got := new(Shop).visitor(r).IP; got != "203.0.113.7" {
		t.Errorf("without a proxy: %s", got)
	}
	s := &Shop{settings: settings{clientIPHeader: "X-Real-IP"}}
	if got := s.visitor(r).IP; got != "198.51.100.9" {
		t.Errorf("with a proxy: %s", got)
	}
	r.Header.Set("X-Real-IP", "no address")
	if got := s.visitor(r).IP; got != "203.0.113.7" {
		t.Errorf("with a broken proxy: %s", got)
	}
}

func TestUserAgentIsCut(t *testing.T) {
	for name, tt := range map[string]struct{ sent, want string }{
		"short":           {"Browser/1.0", "Browser/1.0"},
		"in a character":  {strings.Repeat("a", 127) + "é", strings.Repeat("a", 127)},
		"in another code": {"caf\xe9 browser", "caf browser"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("User-Agent", tt.sent)
		if got := new(Shop).visitor(r).UserAgent; got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestPublishedLimits: a gateway that checks the published limits accepts the shop's payments.
func TestPublishedLimits(t *testing.T) {
	s := newShopper(t, open(t, func(s *setup) { s.gateway.PublishedLimits = true }))
	if id := s.buy("holder", ""); s.path != "/orders/"+id+"/pay" {
		t.Errorf("the order does not wait on the payment page:\n%s", s.page)
	}
}

// TestKeyIsMadeOnce: of several processes that start for the first time, those that get a key have the same one, which no other
// user can read.
func TestKeyIsMadeOnce(t *testing.T) {
	for round := range 100 {
		file := filepath.Join(t.TempDir(), strconv.Itoa(round))
		var all sync.WaitGroup
		start, keys := make(chan struct{}), make([][]byte, 20)
		for i := range keys {
			all.Go(func() {
				<-start
				if key, err := LoadKey(file); err == nil {
					keys[i] = key
				}
			})
		}
		close(start)
		all.Wait()
		want, err := LoadKey(file)
		must(t, err)
		for _, key := range keys {
			if key != nil && !bytes.Equal(key, want) {
				t.Fatal("a process has a key that is not the one in the file")
			}
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the key file: %v, %v", info, err)
		}
	}
}
