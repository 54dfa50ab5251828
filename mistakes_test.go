package cardgateway_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Mistakes that merchants make: each is refused before anything is sent, by an error that names the field and the rule.

func TestCardholdersAddress(t *testing.T) {
	for _, tt := range []struct {
		ip   string
		want []string
	}{
		{"203.0.113.7", nil}, {"2001:db8::7", nil}, {"fe80::1%eth0", nil}, {"::ffff:203.0.113.7", nil},
		{"203.0.113.7:4711", []string{"transactionIp format"}}, {"[2001:db8::7]:443", []string{"transactionIp format"}},
		{"localhost", []string{"transactionIp format"}}, {"shop.example", []string{"transactionIp format"}}, {"localhost:80", []string{"transactionIp format"}},
		{"203.0.113", []string{"transactionIp format"}}, {"203.0.113.256", []string{"transactionIp format"}},
		{"203.0.113.7, 198.51.100.9", nil}, // what proxies write: the interface does not show its form
	} {
		t.Run(tt.ip, func(t *testing.T) {
			req := clienttest.TokenPaymentRequest("t-1")
			req.TransactionIP = tt.ip
			if got := clienttest.Problems(payByTokenWith(t, cardgateway.Config{}, req)); !slices.Equal(got, tt.want) {
				t.Errorf("%q: got %v, want %v", tt.ip, got, tt.want)
			}
		})
	}
}

// payByTokenWith makes a payment against a gateway that approves everything.
func payByTokenWith(t *testing.T, cfg cardgateway.Config, req cardgateway.TokenPaymentRequest) error {
	t.Helper()
	cfg.BaseURL = clienttest.BaseURL
	cfg.HTTPClient = &http.Client{Transport: answering(200, `{"code":100,"transactionId":"`+req.TransactionID+`"}`)}
	_, err := clienttest.NewClient(t, cfg).TokenPayment(t.Context(), cardgateway.NewToken("a-token"), req)
	return err
}

func TestIDsOfWhiteSpace(t *testing.T) {
	for _, id := range []string{" ", "\u00a0", "\t"} {
		req := clienttest.TokenPaymentRequest(id)
		if got := clienttest.Problems(payByTokenWith(t, cardgateway.Config{}, req)); !slices.Contains(got, "transactionId format") {
			t.Errorf("%q: got %v, want transactionId format", id, got)
		}
	}
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL})
	now := time.Now()
	_, err := c.SearchOrders(t.Context(), cardgateway.OrderQuery{OrderID: " ", Start: now, End: now}, cardgateway.PageRequest{})
	if got := clienttest.Problems(err); !slices.Equal(got, []string{"orderId format"}) {
		t.Errorf("a search: got %v, want orderId format", got)
	}
}

func TestDecimalsOfCurrencies(t *testing.T) {
	for _, tt := range []struct {
		amount, currency string
		refused          bool
	}{
		{"12.50", "JPY", true}, {"100.00", "JPY", false}, {"100", "JPY", false}, {"0.5", "KRW", true},
		{"12.50", "USD", false}, {"12.500", "USD", false}, {"12.505", "USD", true}, {"0.001", "EUR", true},
		{"12.505", "KWD", false}, {"12.505", "BHD", false}, {"12.505", "XYZ", false}, // none of ISO 4217
	} {
		t.Run(tt.amount, func(t *testing.T) {
			for _, anyDecimals := range []bool{false, true} {
				req := clienttest.TokenPaymentRequest("t-1")
				req.Amount, req.Currency = decimal.RequireFromString(tt.amount), tt.currency
				err := payByTokenWith(t, cardgateway.Config{AnyDecimals: anyDecimals}, req)
				if want := tt.refused && !anyDecimals; slices.Equal(clienttest.Problems(err), []string{"amount format"}) != want {
					t.Errorf("%s %s, any decimals %t: got %v, want refused %t", tt.amount, tt.currency, anyDecimals, err, want)
				}
			}
		})
	}
}

// TestNilContext: the error says so, and there is no panic that leaves it unclear whether something was sent.
func TestNilContext(t *testing.T) {
	sent := 0
	c := clienttest.NewClient(t,
		cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: roundTripFunc(func(*http.Request) (*http.Response, error) {
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

// TestGoFields: a problem names the struct field, whatever the member is called on the wire.
func TestGoFields(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL})
	_, err := c.CreateSubscription(t.Context(), cardgateway.SubscriptionRequest{
		CallbackURL: "x", NotificationURL: "x", ProductInfos: []cardgateway.ProductInfo{{Price: decimal.New(1, -20), Quantity: -1, Currency: "x"}},
		BillingAddress: cardgateway.Address{Country: "x", Extra: map[string]any{"zipCode": 1}}, Secure: true,
		Extra: map[string]any{"cvv": "123"},
	})
	invalid, ok := errors.AsType[*cardgateway.ValidationError](err)
	if !ok {
		t.Fatalf("got %v, want a *ValidationError", err)
	}
	for _, p := range invalid.Problems {
		v := reflect.ValueOf(cardgateway.SubscriptionRequest{ProductInfos: make([]cardgateway.ProductInfo, 1)})
		if p.Field == "appId" { // the client's
			continue
		}
		for name := range strings.SplitSeq(p.GoField(), ".") {
			name, index, _ := strings.Cut(name, "[")
			if v = v.FieldByName(name); !v.IsValid() {
				t.Errorf("%s: there is no field %q", p.Field, p.GoField())
				break
			}
			if index != "" {
				v = v.Index(0)
			}
		}
	}
	if len(invalid.Problems) < 18 {
		t.Errorf("got %d problems: %v", len(invalid.Problems), err)
	}
	for _, tt := range []struct{ field, rule, want string }{
		{"startDate", cardgateway.RuleRequired, "Start"}, {"endingDate", cardgateway.RuleRange, "End"}, {"transactionIp", cardgateway.RuleFormat, "TransactionIP"},
		{"productInfos[0].price", cardgateway.RuleFormat, "ProductInfos[0].Price"}, {"productInfos[2].sku", cardgateway.RuleFormat, "ProductInfos[2].SKU"},
		{"card.cvv", cardgateway.RuleFormat, "Card.CVV"}, {"token", cardgateway.RuleRequired, "token"}, {"SentAt", cardgateway.RuleRequired, "SentAt"},
		{"billingAddress.country", cardgateway.RuleReserved, "BillingAddress.Extra"}, {"currPage", cardgateway.RuleRange, "CurrPage"}, {"", "", ""},
	} {
		t.Run(tt.field, func(t *testing.T) {
			if got := (cardgateway.Problem{Field: tt.field, Rule: tt.rule}).GoField(); got != tt.want {
				t.Errorf("%s, %s: got %q, want %q", tt.field, tt.rule, got, tt.want)
			}
		})
	}
}
