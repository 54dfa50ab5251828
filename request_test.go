package cardgateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"context"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// What a request contains beyond the table: exact amounts, members that the interface does not name, and the parameters
// of the queries.

func sendAmount(t *testing.T, amount decimal.Decimal) (string, error) {
	t.Helper()
	var sent struct{ Amount string }
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, AnyDecimals: true, HTTPClient: clienttest.Keeping(t, &sent, "{}")})
	req := clienttest.TokenPaymentRequest("t-1")
	req.Amount = amount
	_, err := c.TokenPayment(t.Context(), cardgateway.NewToken(clienttest.Token), req)
	return sent.Amount, err
}

// TestPrices: a price that the caller sets is sent, even if it is zero.
func TestPrices(t *testing.T) {
	for _, tt := range []struct {
		name  string
		price decimal.Decimal
		want  any
	}{
		{"not set", decimal.Decimal{}, nil},
		{"a gift", decimal.RequireFromString("0.00"), "0.00"},
		{"zero without decimals", decimal.New(0, 0), "0"},
		{"a discount", decimal.RequireFromString("-1.50"), "-1.50"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sent struct{ ProductInfos []map[string]any }
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: clienttest.Keeping(t, &sent, "{}")})
			req := clienttest.TokenPaymentRequest("t-1")
			req.ProductInfos[0].Price = tt.price
			if _, err := c.TokenPayment(t.Context(), cardgateway.NewToken(clienttest.Token), req); errors.Is(err, cardgateway.ErrInvalidRequest) {
				t.Fatal(err)
			}
			if got := sent.ProductInfos[0]["price"]; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestAmountsIgnoreGlobals: a host program that changes the decimal package for its own use changes no payment.
func TestAmountsIgnoreGlobals(t *testing.T) { // not parallel: it changes what all see
	quotes, trim, scientific := decimal.MarshalJSONWithoutQuotes, decimal.TrimTrailingZeros, decimal.UseScientificNotation
	precision, exponent := decimal.DivisionPrecision, decimal.MaxDecodeExponent
	defer func() {
		decimal.MarshalJSONWithoutQuotes, decimal.TrimTrailingZeros, decimal.UseScientificNotation = quotes, trim, scientific
		decimal.DivisionPrecision, decimal.MaxDecodeExponent = precision, exponent
	}()
	decimal.DivisionPrecision, decimal.MaxDecodeExponent = 1, 20
	tab := readTable(t)
	for n := range 8 {
		decimal.MarshalJSONWithoutQuotes, decimal.TrimTrailingZeros, decimal.UseScientificNotation = n&1 != 0, n&2 != 0, n&4 != 0
		for _, text := range []string{"12.50", "0.001", "100.000", "999999999999", "1000000"} {
			if sent, err := sendAmount(t, decimal.RequireFromString(text)); sent != text {
				t.Errorf("globals %03b, %s: sent %q (%v)", n, text, sent, err)
			}
		}
		sent, _ := send(t, tableOperation{Name: "CreateTokenOrder"}, tab.document(tab.payments()[0]))
		if !strings.Contains(string(sent), `"price":"12.50"`) || !strings.Contains(string(sent), `"appId":12,`) {
			t.Errorf("globals %03b: sent %s", n, sent)
		}
		a, err := cardgateway.DecodeTransaction([]byte(`{"transactionAmount":"12.500"}`))
		if got := a.TransactionAmount.StringFixed(-a.TransactionAmount.Exponent()); err != nil || got != "12.500" {
			t.Errorf("globals %03b: read %s (%v)", n, got, err)
		}
	}
}

// TestExtra: members that the interface does not name are sent as they are, and no named one gets through there in any
// spelling that a reader might take for it.
func TestExtra(t *testing.T) {
	tab, cases := readTable(t), 0
	named := map[string]bool{}
	for _, op := range tab.payments() {
		for _, m := range op.Members {
			named[m.Name] = true
		}
	}
	spellings := func(name string) []string {
		return []string{name, strings.ToUpper(name), strings.ToLower(name), strings.ToUpper(name[:1]) + name[1:],
			strings.Replace(name, "s", "ſ", 1), strings.Replace(strings.ToUpper(name), "K", "\u212a", 1),
			name[:1] + "_" + name[1:], strings.ToUpper(name[:1] + "-" + name[1:]), name + " ", "\u200b" + name, name + "."}
	}
	refused := func(where, key string, set func(req *cardgateway.CheckoutRequest, extra map[string]any)) {
		req := cardgateway.CheckoutRequest{}
		c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL})
		set(&req, map[string]any{key: "smuggled"})
		_, err := c.CreateCheckout(t.Context(), req)
		if path := where + key + " " + cardgateway.RuleReserved; !slices.Contains(clienttest.Problems(err), path) {
			t.Errorf("%s: got %v, want %s among them", where, clienttest.Problems(err), path)
		}
		cases++
	}
	for name := range named {
		for _, key := range spellings(name) {
			refused("", key, func(req *cardgateway.CheckoutRequest, x map[string]any) { req.Extra = x })
		}
	}
	for object, set := range map[string]func(req *cardgateway.CheckoutRequest, x map[string]any){
		"productInfo productInfos[0].": func(req *cardgateway.CheckoutRequest, x map[string]any) {
			req.ProductInfos = []cardgateway.ProductInfo{{Extra: x}}
		},
		"address billingAddress.": func(req *cardgateway.CheckoutRequest, x map[string]any) { req.BillingAddress.Extra = x },
		"address shippingAddress.": func(req *cardgateway.CheckoutRequest, x map[string]any) {
			req.ShippingAddress = &cardgateway.Address{Extra: x}
		},
		"browser browser.": func(req *cardgateway.CheckoutRequest, x map[string]any) { req.Browser = &cardgateway.Browser{Extra: x} },
		"checkoutExtension extension.": func(req *cardgateway.CheckoutRequest, x map[string]any) {
			req.Extension = &cardgateway.CheckoutExtension{Extra: x}
		},
	} {
		object, path, _ := strings.Cut(object, " ")
		for _, m := range tab.Objects[object] {
			for _, key := range spellings(m.Name) {
				refused(path, key, set)
			}
		}
	}
	for _, m := range tab.Objects["card"] { // wherever a caller puts it
		for _, key := range spellings(m.Name) {
			refused("", key, func(req *cardgateway.CheckoutRequest, x map[string]any) { req.Extra = x })
			refused("billingAddress.", key, func(req *cardgateway.CheckoutRequest, x map[string]any) { req.BillingAddress.Extra = x })
		}
	}
	t.Logf("%d spellings of members", cases)

	var body json.RawMessage
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: clienttest.BaseURL, AppID: cardgateway.AppID(strings.Repeat("9", 32)), HTTPClient: clienttest.Keeping(t, &body, "{}"),
	})
	req := clienttest.TokenPaymentRequest("t-1")
	req.Extra = map[string]any{"domain": "shop.example", "amount\n": []int{1}, "nested": map[string]any{"a": nil}}
	_, err := c.TokenPayment(t.Context(), cardgateway.NewToken(clienttest.Token), req)
	if got := clienttest.Problems(err); !slices.Equal(got, []string{"extra format"}) {
		t.Errorf("a key with a line break: got %v", got)
	}
	delete(req.Extra, "amount\n")
	req.Extra["token"] = cardgateway.NewToken(clienttest.Token)
	if _, err := c.TokenPayment(
		t.Context(), cardgateway.NewToken(clienttest.Token), req,
	); !slices.Equal(clienttest.Problems(err), []string{"token format"}) || body != nil {
		t.Errorf("a token, which would be sent as its mask: got %v, sent %s", err, body)
	}
	delete(req.Extra, "token")
	req.Extra["täg \"1\""] = []int{1}
	if _, err = c.TokenPayment(t.Context(), cardgateway.NewToken(clienttest.Token), req); body == nil {
		t.Fatal(err)
	}
	sent := clienttest.Normal(t, body).(map[string]any)
	want := map[string]any{"domain": "shop.example", "täg \"1\"": []any{json.Number("1")}, "nested": map[string]any{"a": nil}}
	maps.DeleteFunc(sent, func(name string, _ any) bool { _, ok := want[name]; return !ok && name != "appId" })
	want["appId"] = json.Number(strings.Repeat("9", 32))
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("extra members (-want +sent):\n%s", diff)
	}
	for name, value := range map[string]any{"func": func() {}, "NaN": nan(), "channel": make(chan int)} {
		t.Run(name, func(t *testing.T) {
			req.Extra = map[string]any{name: value}
			if _, err := c.TokenPayment(t.Context(), cardgateway.NewToken(clienttest.Token), req); fmt.Sprint(clienttest.Problems(err)) != "["+name+" format]" {
				t.Errorf("%s in Extra: got %v", name, clienttest.Problems(err))
			}
		})
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// TestTokenInPath: whatever the token is, it is one element of the path and comes back out of it.
func TestTokenInPath(t *testing.T) {
	var path string
	c := clienttest.NewClient(t,
		cardgateway.Config{BaseURL: clienttest.BaseURL + "/a%20b/",
			HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				path = r.URL.EscapedPath()
				return clienttest.Respond(r, 200, "{}")
			})}})
	for token, want := range map[string]string{
		"abc-._~123": "", "a/b": "", "a?b#c": "", "a%2fb": "", "%2e%2e": "", "...": "", "a b+c&d=e;f": "", "tökén": "", "a\\b": "", `a"b`: "", strings.Repeat(
			"x", 512,
		): "",
		"": "token required", ".": "token format", "..": "token format", "a\nb": "token format", "a\x00": "token format",
		"a\xff": "token format", strings.Repeat("x", 513): "token length",
	} {
		t.Run(token, func(t *testing.T) {
			path = ""
			_, err := c.TokenPayment(t.Context(), cardgateway.NewToken(token), clienttest.TokenPaymentRequest("t-1"))
			if got := strings.Join(clienttest.Problems(err), ", "); got != want || (path == "") != (want != "") {
				t.Errorf("%.20q: got %q, sent to %q, want %q", token, got, path, want)
			}
			if want != "" {
				return
			}
			element, ok := strings.CutPrefix(path, "/base/a%20b/checkout/tokenization/payment/")
			if back, err := url.PathUnescape(element); !ok || err != nil || back != token || strings.ContainsAny(element, "/?#") {
				t.Errorf("%q: sent to %q", token, path)
			}
		})
	}
}

// Mistakes that merchants make: each is refused before anything is sent, by an error that names the field and the rule.

// TestZerosThatACurrencyDoesNotHave: a column of a database pads an amount with zeros, which are not sent. Such an amount can be
// resolved.
func TestZerosThatACurrencyDoesNotHave(t *testing.T) {
	for _, tt := range []struct {
		amount, currency string
		any              bool
		want             string
	}{
		{"12.5000", "USD", false, "12.50"}, {"12.500", "EUR", false, "12.500"}, {"12.5", "USD", false, "12.5"}, {"12.00000000", "EUR", false, "12.00"},
		{"1500.0000", "JPY", false, "1500"}, {"1500", "JPY", false, "1500"}, {"1.50000", "KWD", false, "1.500"}, {"1.50000", "XYZ", false, "1.500"},
		{"12.5000", "USD", true, "12.500"}, {"1234567890.500000", "USD", false, "1234567890.50"},
	} {
		t.Run(tt.amount+" "+tt.currency, func(t *testing.T) {
			req := clienttest.TokenPaymentRequest("t-1")
			req.Amount, req.Currency = decimal.RequireFromString(tt.amount), tt.currency
			var sent struct{ Amount string }
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, AnyDecimals: tt.any, AnyCurrency: true,
				HTTPClient: clienttest.Keeping(t, &sent, `{"code":121,"totalCount":0}`)})
			_, err := c.TokenPayment(t.Context(), cardgateway.NewToken(clienttest.Token), req)
			unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
			if !ok || sent.Amount != tt.want {
				t.Fatalf("sent %q, got %v, want %q", sent.Amount, err, tt.want)
			}
			query := unknown.Query()
			query.Wait = time.Nanosecond
			if _, err := c.Resolve(t.Context(), query); !errors.Is(err, cardgateway.ErrNotFound) {
				t.Errorf("resolve: got %v, want not found", err)
			}
		})
	}
}

// TestNilContext: the error says so, and there is no panic that leaves it unclear whether something was sent.
func TestNilContext(t *testing.T) {
	sent := 0
	c := clienttest.NewClient(t,
		cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(*http.Request) (*http.Response, error) {
			sent++
			return nil, errors.New("sent")
		})}})
	var none context.Context
	now := time.Now()
	calls := map[string]func() error{
		"GetTransaction": func() error { _, err := c.GetTransaction(none, "1"); return err },
		"SearchOrders": func() error {
			_, err := c.SearchOrders(none, cardgateway.OrderQuery{Start: now, End: now}, cardgateway.PageRequest{})
			return err
		},
		"SearchRefunds": func() error {
			_, err := c.SearchRefunds(none, cardgateway.RefundQuery{Start: now, End: now}, cardgateway.PageRequest{})
			return err
		},
		"Resolve": func() error { _, err := c.Resolve(none, paymentSentNow()); return err },
		"ResolveRefund": func() error {
			_, err := c.ResolveRefund(none, cardgateway.ResolveRefundQuery{UniqueID: "77", RefundTransactionID: "r-1", Amount: clienttest.Amount, SentAt: now})
			return err
		},
		"Orders": func() (err error) {
			for _, err = range c.Orders(none, cardgateway.OrderQuery{Start: now, End: now}) {
			}
			return err
		},
		"UploadTrackingNumbers": func() error {
			return c.UploadTrackingNumbers(none, []cardgateway.Shipment{{UniqueID: "77", Company: "SF"}})
		},
	}
	for _, op := range clienttest.PaymentOperations {
		calls[op.Name] = func() error { _, err := op.Call(none, c, "t-1"); return err }
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			if got := clienttest.Problems(call()); !slices.Equal(got, []string{"ctx required"}) {
				t.Errorf("%s: got %v, want ctx required", name, got)
			}
		})
	}
	if sent != 0 {
		t.Errorf("%d requests were sent", sent)
	}
}

// TestKnownValues: a value that this version does not know is refused unless its option is set, and no problem names an option.
func TestKnownValues(t *testing.T) {
	type request = cardgateway.SubscriptionRequest
	for _, tt := range []struct {
		name, problem string
		change        func(*request)
		any           cardgateway.Config // allows it; none does if it is empty
	}{
		{"currency", "currency format", func(r *request) { r.Currency = "XYZ" }, cardgateway.Config{AnyCurrency: true}},
		{"currency of a product", "productInfos[0].currency format", func(r *request) { r.ProductInfos[0].Currency = "XYZ" }, cardgateway.Config{AnyCurrency: true}},
		{"decimals", "amount format", func(r *request) { r.Amount = decimal.RequireFromString("12.505") }, cardgateway.Config{AnyDecimals: true}},
		{"country", "billingAddress.country format", func(r *request) { r.BillingAddress.Country = "UK" }, cardgateway.Config{AnyCountry: true}},
		{"country of delivery", "shippingAddress.country format", func(r *request) { r.ShippingAddress = &cardgateway.Address{Country: "ZZ"} }, cardgateway.Config{AnyCountry: true}},
		{"cycle", "extension.subscriptionCycle format", func(r *request) { r.Extension.SubscriptionCycle = "weekly" }, cardgateway.Config{AnyCycle: true}},
		{"address", "transactionIp format", func(r *request) { r.TransactionIP = "203.0.113.7, 10.0.0.1" }, cardgateway.Config{}},
		{"order", "orderId format", func(r *request) { r.OrderID = "order-17 " }, cardgateway.Config{}},
		{"browser", "browser required", func(r *request) { r.Secure, r.Browser = true, new(cardgateway.Browser) }, cardgateway.Config{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			isStrict := !tt.any.AnyDecimals && !tt.any.AnyCurrency && !tt.any.AnyCountry && !tt.any.AnyCycle
			everything := cardgateway.Config{AnyDecimals: true, AnyAppID: true, AnyCurrency: true, AnyCountry: true, AnyCycle: true}
			for cfg, want := range map[*cardgateway.Config]string{{}: tt.problem, &tt.any: "", &everything: ""} {
				if isStrict {
					want = tt.problem
				}
				req := clienttest.SubscriptionRequest("t-1", clienttest.NewCard(clienttest.CardNumber, clienttest.CVV))
				tt.change(&req)
				cfg.BaseURL, cfg.HTTPClient = clienttest.BaseURL, &http.Client{Transport: clienttest.Answering(200, "{}")}
				_, err := clienttest.NewClient(t, *cfg).CreateSubscription(t.Context(), req)
				if got := strings.Join(clienttest.Problems(err), ", "); got != want || strings.Contains(fmt.Sprint(err), "Any") {
					t.Errorf("got %q (%v), want %q", got, err, want)
				}
			}
		})
	}
}
