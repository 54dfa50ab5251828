package notify_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/notify"
)

// Texts of the errors of rejected URLs.
const (
	unbound = "the URL was not created for the token of this transaction"
	expired = "the URL for the token of this transaction has expired"
)

var (
	urlKey      = []byte("a key of thirty-two bytes, or so!")
	otherURLKey = []byte("another key of thirty-two bytes..")
)

func mustTokenURLs(t testing.TB, base string, key []byte, older ...[]byte) *notify.TokenURLs {
	t.Helper()
	u, err := notify.NewTokenURLs(base, key, older...)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// made returns a URL for transactionID that holds for an hour.
func made(t testing.TB, u *notify.TokenURLs, transactionID string) *url.URL {
	t.Helper()
	return madeUntil(t, u, transactionID, time.Now().Add(time.Hour))
}

func madeUntil(t testing.TB, u *notify.TokenURLs, transactionID string, expires time.Time) *url.URL {
	t.Helper()
	text, err := u.URL(transactionID, expires)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestTokenURLs(t *testing.T) {
	u := mustTokenURLs(t, "https://shop.example/notify?shop=1", urlKey)
	good := made(t, u, "order-1")
	if !strings.HasPrefix(good.String(), "https://shop.example/notify?shop=1&bind=") {
		t.Errorf("URL: got %s, want one that begins with the base", good)
	}
	binding := good.Query().Get("bind")
	with := func(bind string) *url.URL { return &url.URL{RawQuery: "bind=" + bind} }
	raw, err := base64.RawURLEncoding.DecodeString(binding)
	if err != nil {
		t.Fatal(err)
	}
	later := bytes.Clone(raw)
	later[4]++ // the last byte of the expiry
	tests := []struct {
		name          string
		urls          *notify.TokenURLs
		url           *url.URL
		transactionID string
		want          string
	}{
		{"as made", u, good, "order-1", ""},
		{"behind a proxy", u, with(binding), "order-1", ""},
		{"another order", u, good, "order-2", unbound},
		{"no order", u, good, "", unbound},
		{"no binding", u, &url.URL{RawQuery: "shop=1"}, "order-1", unbound},
		{"an empty binding", u, with(""), "order-1", unbound},
		{"two bindings", u, with(binding + "&bind=" + binding), "order-1", unbound},
		{"a cut binding", u, with(binding[:27]), "order-1", unbound},
		{"a longer binding", u, with(binding + "AAAA"), "order-1", unbound},
		{"no base64", u, with(strings.Repeat("!", 28)), "order-1", unbound},
		{"a later expiry", u, with(base64.RawURLEncoding.EncodeToString(later)), "order-1", unbound},
		{"another key", mustTokenURLs(t, "https://shop.example/", otherURLKey), good, "order-1", unbound},
		{"an older key", mustTokenURLs(t, "https://shop.example/", otherURLKey, urlKey), good, "order-1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.urls.Check(tt.url, tt.transactionID); !says(err, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTokenURLsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := mustTokenURLs(t, "https://shop.example/notify", urlKey)
		good := made(t, u, "order-1")
		time.Sleep(time.Hour - time.Second)
		if err := u.Check(good, "order-1"); err != nil {
			t.Errorf("a second before: got %v, want nil", err)
		}
		time.Sleep(time.Second)
		if err := u.Check(good, "order-1"); !says(err, expired) {
			t.Errorf("at the time: got %v, want %q", err, expired)
		}
	})
}

func TestTokenURLsValidate(t *testing.T) {
	longest := "https://shop.example/" + strings.Repeat("x", 255-38-len("https://shop.example/"))
	tests := []struct {
		name, base string
		key        []byte
		older      [][]byte
		field      string // empty: valid
	}{
		{"valid", "https://shop.example/notify", urlKey, nil, ""},
		{"loopback", "http://127.0.0.1:8080/notify", urlKey, nil, ""},
		{"the longest", longest, urlKey, nil, ""},
		{"too long", longest + "x", urlKey, nil, "base"},
		{"too long when it is escaped", "https://shop.example/" + strings.Repeat("ü", 100), urlKey, nil, "base"},
		{"no base", "", urlKey, nil, "base"},
		{"no absolute URL", "/notify", urlKey, nil, "base"},
		{"http to another host", "http://shop.example/notify", urlKey, nil, "base"},
		{"user info", "https://a:b@shop.example/", urlKey, nil, "base"},
		{"a fragment", "https://shop.example/#a", urlKey, nil, "base"},
		{"a binding of its own", "https://shop.example/?bind=1", urlKey, nil, "base"},
		{"no key", "https://shop.example/", nil, nil, "key"},
		{"a short key", "https://shop.example/", urlKey[:31], nil, "key"},
		{"a short older key", "https://shop.example/", urlKey, [][]byte{urlKey[:31]}, "key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := notify.NewTokenURLs(tt.base, tt.key, tt.older...)
			if tt.field != "" {
				invalid, ok := errors.AsType[*cardgateway.ValidationError](err)
				if !ok || invalid.Problems[0].Field != tt.field {
					t.Errorf("got %v, want a problem of %s", err, tt.field)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := len(made(t, u, strings.Repeat("é", 128)).String()); n > 255 || n != len(tt.base)+38 {
				t.Errorf("length: got %d, want %d", n, len(tt.base)+38)
			}
		})
	}
	u := mustTokenURLs(t, "https://shop.example/", urlKey)
	for _, tt := range []struct {
		name, transactionID string
		expires             time.Time
	}{
		{"no transactionId", "", time.Now().Add(time.Hour)},
		{"a long transactionId", strings.Repeat("x", 129), time.Now().Add(time.Hour)},
		{"no expiry", "order-1", time.Time{}},
		{"an expiry in the past", "order-1", time.Now().Add(-time.Second)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if text, err := u.URL(tt.transactionID, tt.expires); !errors.Is(err, cardgateway.ErrInvalidRequest) {
				t.Errorf("got %q, %v, want %v", text, err, cardgateway.ErrInvalidRequest)
			}
		})
	}
}

// TestTokenURLsKeepTheirKey prints a TokenURLs, which must not show the key, and overwrites the caller's copy of the key.
func TestTokenURLsKeepTheirKey(t *testing.T) {
	key := bytes.Clone(urlKey)
	u := mustTokenURLs(t, "https://shop.example/", key)
	good := made(t, u, "order-1")
	clear(key)
	if err := u.Check(good, "order-1"); err != nil {
		t.Errorf("after the caller wiped its key: got %v, want nil", err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		for _, form := range []string{string(urlKey), fmt.Sprintf("%x", urlKey), fmt.Sprintf("%d", urlKey[:4])[1:10]} {
			if text := fmt.Sprintf(verb, u); strings.Contains(text, form) {
				t.Errorf("%s shows the key: %s", verb, text)
			}
		}
	}
}

const tokenized = `{"code":100,"transactionType":"Tokenization","uniqueId":"987654321","transactionId":"order-1","token":"tok-secret"}`

// newTokenShop returns a shop with TokenURLs, and the path of the one for order-1.
func newTokenShop(t *testing.T) (s *shop, own string) {
	t.Helper()
	urls := mustTokenURLs(t, "https://shop.example/notify", urlKey)
	return newShop(t, notify.Options{TokenURLs: urls}), made(t, urls, "order-1").RequestURI()
}

func TestHandlerTokens(t *testing.T) {
	urls := mustTokenURLs(t, "https://shop.example/notify", urlKey)
	own, foreign := made(t, urls, "order-1").RequestURI(), made(t, urls, "order-2").RequestURI()
	tests := []struct {
		name         string
		opts         notify.Options
		target, body string
		status       int
		token        string // as handed over
		bound        bool
	}{
		{"to its own URL", notify.Options{TokenURLs: urls}, own, tokenized, 200, "tok-secret", true},
		{"to a plain URL", notify.Options{TokenURLs: urls}, "/notify", tokenized, 403, "", false},
		{"to another order's URL", notify.Options{TokenURLs: urls}, foreign, tokenized, 403, "", false},
		{
			"to another order's URL, claiming that order", notify.Options{TokenURLs: urls}, foreign,
			strings.Replace(tokenized, "order-1", "order-2", 1), 409, "", false,
		},
		{
			"to another order's URL, claiming no order", notify.Options{TokenURLs: urls}, foreign,
			strings.Replace(tokenized, `"transactionId":"order-1",`, "", 1), 403, "", false,
		},
		{"without TokenURLs", notify.Options{}, own, tokenized, 403, "", false},
		{"unbound, allowed", notify.Options{AllowUnboundTokens: true}, "/notify", tokenized, 200, "tok-secret", false},
		{"unbound, allowed beside TokenURLs", notify.Options{TokenURLs: urls, AllowUnboundTokens: true}, foreign, tokenized, 200, "tok-secret", false},
		{"bound, unbound allowed", notify.Options{TokenURLs: urls, AllowUnboundTokens: true}, own, tokenized, 200, "tok-secret", true},
		{
			"under the merchant's name", notify.Options{TokenURLs: urls, TokenMember: "vaultRef"}, own,
			strings.Replace(tokenized, `"token"`, `"vaultRef"`, 1), 200, "tok-secret", true,
		},
		{"under another than the merchant's name", notify.Options{TokenURLs: urls, TokenMember: "vaultRef"}, "/notify", tokenized, 200, "", false},
		{
			"before the order is final", notify.Options{TokenURLs: urls}, own,
			strings.Replace(tokenized, "987654321", "301", 1), 200, "tok-secret", true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, tt.opts)
			s.knows("301", `{"code":301,"uniqueId":"301","transactionId":"order-1"}`)
			handled := 0
			if tt.status == 200 {
				handled = 1
			}
			s.expect(t, s.post(tt.target, tt.body), tt.status, handled)
			if handled > 0 && (s.handled[0].Token.Reveal() != tt.token || s.handled[0].Bound != tt.bound) {
				t.Errorf("token: got %q, bound %v, want %q, %v", s.handled[0].Token.Reveal(), s.handled[0].Bound, tt.token, tt.bound)
			}
		})
	}
}

// TestHandlerFirstToken: the first token of an order remains its only one.
func TestHandlerFirstToken(t *testing.T) {
	s, own := newTokenShop(t)
	other := strings.Replace(tokenized, "tok-secret", "tok-forged", 1)

	s.expect(t, s.post(own, approved), 200, 1) // the payment's own notification does not take the token's place
	s.expect(t, s.post(own, tokenized), 200, 2)
	queries := s.gateway.GetTotalCallCount()
	s.expect(t, s.post(own, tokenized), 200, 2)
	if n := s.gateway.GetTotalCallCount(); n != queries {
		t.Errorf("queries for a repetition: got %d more, want none", n-queries)
	}
	s.expect(t, s.post(own, other), 409, 2)
	s.knows("987654321", `{"code":103,"uniqueId":"987654321","transactionId":"order-1"}`)
	s.expect(t, s.post(own, strings.Replace(other, "100", "103", 1)), 409, 2)
	s.expect(t, s.post(own, strings.Replace(tokenized, "100", "103", 1)), 200, 3)
	if s.handled[2].Token.Reveal() != "tok-secret" {
		t.Error("token of the later event: got another than the first")
	}
}

// TestHandlerTokenAfterFailure shows that a token which could not be stored comes again, and no other.
func TestHandlerTokenAfterFailure(t *testing.T) {
	s, own := newTokenShop(t)
	s.fail = errors.New("database is down")
	s.expect(t, s.post(own, tokenized), 503, 1)
	s.fail = nil
	s.expect(t, s.post(own, strings.Replace(tokenized, "tok-secret", "tok-forged", 1)), 409, 1)
	s.expect(t, s.post(own, tokenized), 200, 2)
}

// TestHandlerOtherHandler: a second process, which shares the Deduper, does not take a token for the first
// that it was not asked to handle.
func TestHandlerOtherHandler(t *testing.T) {
	urls, shared := mustTokenURLs(t, "https://shop.example/notify", urlKey), notify.NewMemoryDeduper(0)
	own := made(t, urls, "order-1").RequestURI()
	first := newShop(t, notify.Options{TokenURLs: urls, Deduper: shared})
	first.expect(t, first.post(own, tokenized), 200, 1)
	second := newShop(t, notify.Options{TokenURLs: urls, Deduper: shared})
	second.expect(t, second.post(own, strings.Replace(tokenized, "tok-secret", "tok-other", 1)), 200, 0) // handled, as the Deduper says
	second.expect(t, second.post(own, tokenized), 200, 0)
}

// slowDeduper takes its time, so that two events are claimed side by side.
type slowDeduper struct{ *notify.MemoryDeduper }

func (d slowDeduper) Claim(ctx context.Context, key string) (notify.ClaimResult, error) {
	time.Sleep(time.Second)
	return d.MemoryDeduper.Claim(ctx, key)
}

// TestHandlerTwoTokensAtOnce: of two tokens that come at once, by different ids and as different events, one
// is handed over.
func TestHandlerTwoTokensAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		urls := mustTokenURLs(t, "https://shop.example/notify", urlKey)
		s := newShop(t, notify.Options{TokenURLs: urls, Deduper: slowDeduper{notify.NewMemoryDeduper(0)}})
		s.orders(`{"code":100,"uniqueId":"987654321","transactionId":"order-1"}`)
		own := made(t, urls, "order-1").RequestURI()
		codes := make(chan int)
		for _, body := range []string{
			`{"code":100,"transactionType":"Sale","uniqueId":"987654321","token":"tok-one"}`,
			`{"code":100,"transactionType":"Other","transactionId":"order-1","token":"tok-two"}`,
		} {
			go func() { codes <- s.post(own, body).Code }()
		}
		if a, b := <-codes, <-codes; a+b != 200+409 || len(s.handled) != 1 {
			t.Errorf("got status %d and %d, %d tokens were handed over", a, b, len(s.handled))
		}
	})
}

// FuzzTokenURLsCheck looks for panics, and for a URL that is accepted without having been made for the transaction.
func FuzzTokenURLsCheck(f *testing.F) {
	// A key that makes one URL only: a second one, of another process or of an earlier run's corpus, would be
	// genuine too, and look like a forgery here.
	u := mustTokenURLs(f, "https://shop.example/notify?shop=1", []byte("a key that nothing but this fuzz target uses"))
	good := madeUntil(f, u, "order-1", time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)).RawQuery
	binding := strings.TrimPrefix(good, "shop=1&bind=")
	f.Add(good, "order-2")
	f.Add(good+"&"+good, "order-1")
	f.Add(good[:len(good)-1], "order-1")
	f.Add("bind=%zz;", "")
	f.Fuzz(func(t *testing.T, query, transactionID string) {
		sent := &url.URL{RawQuery: query}
		same := strings.NewReplacer("\r", "", "\n", "").Replace(sent.Query().Get("bind")) == binding // base64 passes over line ends
		if err := u.Check(sent, transactionID); err == nil && (transactionID != "order-1" || !same) {
			t.Errorf("%q was accepted for %q", query, transactionID)
		}
	})
}
