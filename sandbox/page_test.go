package sandbox

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// browser is a client that does not follow redirects.
func browser(g *Gateway) *http.Client {
	return &http.Client{
		Transport:     g.RoundTripper(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func read(t *testing.T, resp *http.Response, err error) (*http.Response, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func form(o Outcome) url.Values {
	e := TestCard(o)
	return url.Values{
		"cardNumber": {e.Number}, "expiredMonth": {e.Month}, "expiredYear": {e.Year}, "cvv": {e.CVV},
		"cardholder": {e.Cardholder}, "action": {"pay"},
	}
}

func TestCardPage(t *testing.T) {
	g := New(Options{})
	a := send(t, g, "POST", "/checkout/payment", body("t", nil))
	page := a.str("redirectUrl")
	b := browser(g)

	resp, err := b.Get(page)
	resp, text := read(t, resp, err)
	for _, want := range []string{
		`<html lang="en">`, "8.80 USD", `autocomplete="cc-number"`, `<label for="cvv">`, `name="viewport"`,
		`id="pay"`, `aria-describedby="cardNumber-hint"`, "shop.example", "Candle", "order-t", `value="challenged"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, header := range []string{"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy", "X-Content-Type-Options"} {
		if resp.Header.Get(header) == "" {
			t.Errorf("no %s header", header)
		}
	}
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src data:") {
		t.Errorf("the policy %q blocks the page's own icon, of which a browser warns", policy)
	}

	resp, err = b.Get(page + "?card=declined")
	if _, text = read(t, resp, err); !strings.Contains(text, `value="4300000000000000"`) || !strings.Contains(text, `value="900"`) {
		t.Errorf("the button of a test card does not fill the form: %s", text)
	}
	wrong := form(Approved)
	wrong.Set("expiredMonth", "13")
	wrong.Set("cardholder", `"><script>alert(1)</script>`)
	resp, err = b.PostForm(page, wrong)
	resp, text = read(t, resp, err)
	if resp.StatusCode != 422 || !strings.Contains(text, `id="expiredMonth-error"`) {
		t.Errorf("HTTP %d without the error of the month", resp.StatusCode)
	}
	if n := strings.Count(text, "must be two digits"); n != 1 {
		t.Errorf("the error of the month stands there %d times, want once", n)
	}
	if strings.Contains(text, "<script") || strings.Contains(text, TestCard(Approved).Number) {
		t.Errorf("the page repeats markup or the card number: %s", text)
	}

	resp, err = b.PostForm(page, form(Approved))
	resp, _ = read(t, resp, err)
	if got := resp.Header.Get("Location"); resp.StatusCode != 303 || got != "https://shop.example/back" {
		t.Errorf("HTTP %d to %q, want 303 to the callbackUrl", resp.StatusCode, got)
	}
	resp, err = b.PostForm(page, form(Approved)) // sent twice
	resp, _ = read(t, resp, err)
	if resp.StatusCode != 303 || g.Executed("t") != 1 {
		t.Errorf("second submission: HTTP %d, charged %d times, want 303 and once", resp.StatusCode, g.Executed("t"))
	}
	resp, err = b.Get(page)
	if _, text = read(t, resp, err); !strings.Contains(text, "finished") {
		t.Errorf("the page of a finished payment says %s", text)
	}
}

func TestCardPageRefusals(t *testing.T) {
	g := New(Options{})
	b := browser(g)
	t.Run("unknown page", func(t *testing.T) {
		resp, err := b.Get("https://gateway.test/hosted/card/none")
		if resp, _ = read(t, resp, err); resp.StatusCode != 404 {
			t.Errorf("HTTP %d, want 404", resp.StatusCode)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		a := send(t, g, "POST", "/checkout/payment", body("cancelled", nil))
		resp, err := b.PostForm(a.str("redirectUrl"), url.Values{"action": {"cancel"}})
		if resp, _ = read(t, resp, err); resp.StatusCode != 303 {
			t.Errorf("HTTP %d, want 303", resp.StatusCode)
		}
		wantCode(t, send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil), 101)
	})
	t.Run("put", func(t *testing.T) {
		r, _ := http.NewRequest("PUT", "https://gateway.test/hosted/card/none", nil)
		resp, err := b.Do(r)
		if resp, _ = read(t, resp, err); resp.StatusCode != 405 {
			t.Errorf("HTTP %d, want 405", resp.StatusCode)
		}
	})
}

// TestThreeDPage goes from the card page through the 3D page to the shop.
func TestThreeDPage(t *testing.T) {
	g := New(Options{})
	b := browser(g)
	resp, err := b.PostForm(send(t, g, "POST", "/checkout/payment", body("t", nil)).str("redirectUrl"), form(Challenged))
	resp, _ = read(t, resp, err)
	page := "https://gateway.test" + resp.Header.Get("Location")
	resp, err = b.Get(page)
	if _, text := read(t, resp, err); !strings.Contains(text, `id="approve"`) || !strings.Contains(text, "430000******0000") {
		t.Fatalf("after the card comes %s", text)
	}
	resp, err = b.PostForm(page, url.Values{"decision": {"maybe"}})
	if resp, _ = read(t, resp, err); resp.StatusCode != 422 {
		t.Errorf("HTTP %d for an unknown decision, want 422", resp.StatusCode)
	}
	resp, err = b.PostForm(page, url.Values{"decision": {"approve"}})
	if resp, _ = read(t, resp, err); resp.StatusCode != 303 || resp.Header.Get("Location") != "https://shop.example/back" {
		t.Errorf("HTTP %d to %q, want 303 to the shop", resp.StatusCode, resp.Header.Get("Location"))
	}
	if got := g.Executed("t"); got != 1 {
		t.Errorf("charged %d times, want once", got)
	}
}
