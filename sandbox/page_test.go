package sandbox

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// visit gets a page as a browser does that follows no redirect.
func visit(t *testing.T, g *Gateway, page string) (*http.Response, string) {
	t.Helper()
	return browse(t, g, httptest.NewRequest("GET", page, nil))
}

// submit sends a form to a page in the same way.
func submit(t *testing.T, g *Gateway, page string, form url.Values) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest("POST", page, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return browse(t, g, r)
}

func browse(t *testing.T, g *Gateway, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := g.RoundTripper().RoundTrip(r)
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

	resp, text := visit(t, g, page)
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

	if _, text := visit(t, g, page+"?card=declined"); !strings.Contains(text, `value="4300000000000000"`) || !strings.Contains(text, `value="900"`) {
		t.Errorf("the button of a test card does not fill the form: %s", text)
	}
	wrong := form(Approved)
	wrong.Set("expiredMonth", "13")
	wrong.Set("cardholder", `"><script>alert(1)</script>`)
	resp, text = submit(t, g, page, wrong)
	if resp.StatusCode != 422 || !strings.Contains(text, `id="expiredMonth-error"`) {
		t.Errorf("HTTP %d without the error of the month", resp.StatusCode)
	}
	if n := strings.Count(text, "must be two digits"); n != 1 {
		t.Errorf("the error of the month stands there %d times, want once", n)
	}
	if strings.Contains(text, "<script") || strings.Contains(text, TestCard(Approved).Number) {
		t.Errorf("the page repeats markup or the card number: %s", text)
	}

	resp, _ = submit(t, g, page, form(Approved))
	if got := resp.Header.Get("Location"); resp.StatusCode != 303 || got != "https://shop.example/back" {
		t.Errorf("HTTP %d to %q, want 303 to the callbackUrl", resp.StatusCode, got)
	}
	resp, _ = submit(t, g, page, form(Approved)) // sent twice
	if resp.StatusCode != 303 || g.Executed("t") != 1 {
		t.Errorf("second submission: HTTP %d, charged %d times, want 303 and once", resp.StatusCode, g.Executed("t"))
	}
	if _, text := visit(t, g, page); !strings.Contains(text, "finished") {
		t.Errorf("the page of a finished payment says %s", text)
	}
}

func TestCardPageRefusals(t *testing.T) {
	g := New(Options{})
	t.Run("unknown page", func(t *testing.T) {
		if resp, _ := visit(t, g, "https://gateway.test/hosted/card/none"); resp.StatusCode != 404 {
			t.Errorf("HTTP %d, want 404", resp.StatusCode)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		a := send(t, g, "POST", "/checkout/payment", body("cancelled", nil))
		if resp, _ := submit(t, g, a.str("redirectUrl"), url.Values{"action": {"cancel"}}); resp.StatusCode != 303 {
			t.Errorf("HTTP %d, want 303", resp.StatusCode)
		}
		wantCode(t, send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil), 101)
	})
	t.Run("put", func(t *testing.T) {
		if resp, _ := browse(t, g, httptest.NewRequest("PUT", "https://gateway.test/hosted/card/none", nil)); resp.StatusCode != 405 {
			t.Errorf("HTTP %d, want 405", resp.StatusCode)
		}
	})
}

// TestThreeDPage: after the card, the page asks for a decision, and takes no other one.
func TestThreeDPage(t *testing.T) {
	g := New(Options{})
	resp, _ := submit(t, g, send(t, g, "POST", "/checkout/payment", body("t", nil)).str("redirectUrl"), form(Challenged))
	page := "https://gateway.test" + resp.Header.Get("Location")
	if _, text := visit(t, g, page); !strings.Contains(text, `id="approve"`) || !strings.Contains(text, "430000******0000") {
		t.Fatalf("after the card comes %s", text)
	}
	if resp, _ := submit(t, g, page, url.Values{"decision": {"maybe"}}); resp.StatusCode != 422 || g.Executed("t") != 0 {
		t.Errorf("HTTP %d for an unknown decision, charged %d times, want 422 and never", resp.StatusCode, g.Executed("t"))
	}
}
