package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/notify"
)

// noGateway are the settings that notify needs.
func noGateway() map[string]string {
	return map[string]string{"CARDGATEWAY_SECRET": secretKey, "CARDGATEWAY_ZONE": "UTC"}
}

// verifying answers as a handler does that looks at the signature alone.
func verifying(t *testing.T, seen *[]*notify.Notification) http.HandlerFunc {
	verify := notify.SignatureSHA256(secretKey)
	return func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		if _, err := r.Body.Read(body); err != nil && len(body) == 0 {
			t.Error(err)
		}
		n, err := notify.Parse(body, r.Header.Get("Content-Type"))
		if err != nil {
			t.Error(err)
		}
		if err := verify(n); err != nil {
			http.Error(w, "wrong signature", http.StatusForbidden)
			return
		}
		*seen = append(*seen, n)
		_, _ = w.Write([]byte("stored"))
	}
}

func TestNotify(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		kind notify.Kind
		code int
		want string
	}{
		{"a payment", nil, notify.KindPayment, 100, `-> payment  approved  t-test  12.50 EUR  \[n-1\]  signed\n.*<- 200 in \d+ ms .*body: "stored"`},
		{"declined", []string{"--event", "declined", "--transaction", "t-7", "--unique-id", "77"}, notify.KindPayment, 101, `payment  declined  t-7  12.50 EUR`},
		{"a refund", []string{"--event", "refunded", "--amount", "2.50", "--currency", "USD", "--refund-id", "r-7"}, notify.KindRefund, 111,
			`refund   refunded  r-7 of 1867098610731065345  2.50 USD`},
		{"a declined refund", []string{"--event", "refund-declined"}, notify.KindRefund, 112, `refund   declined  r-test of`},
		{"a chargeback", []string{"--event", "chargeback"}, notify.KindChargeback, 0, `chargeback claimed   1867098610731065345  12.50 EUR`},
	} {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			var seen []*notify.Notification
			shop := newReceiver(t, verifying(t, &seen))
			r := tool(t, noGateway(), append([]string{"notify", shop.URL + "/n?bind=secret-bind"}, test.args...)...)
			r.want(t, exit.OK)
			wantWords(t, r.out, test.want)
			if len(seen) != 1 || seen[0].Claimed.Kind != test.kind || int(seen[0].Claimed.Code) != test.code || !seen[0].Claimed.IsTest {
				t.Fatalf("got %+v", seen)
			}
			if shop.requests[0].URL.RawQuery != "bind=secret-bind" || strings.Contains(r.out+r.err, "secret-bind") {
				t.Errorf("got query %q, printed %s", shop.requests[0].URL.RawQuery, r.out)
			}
		})
	}
}

// TestNotifyMembers: each event carries the members of its published example.
func TestNotifyMembers(t *testing.T) {
	for event, want := range map[string]string{
		"approved": "appId billDescription code isTest sign timestamp transactionAmount transactionCardNumber " +
			"transactionCurrency transactionId transactionType uniqueId",
		"refunded":   "appId code isTest merchantRefundId message refundAmount refundCurrency refundMessage refundUniqueId sign timestamp transactionType uniqueId",
		"chargeback": "appId chargebackAmount chargebackCurrency isTest sign timestamp transactionType uniqueId",
	} {
		t.Run(event, func(t *testing.T) {
			shop := newReceiver(t, nil)
			tool(t, with(noGateway(), "CARDGATEWAY_APP_ID", "7"), "notify", shop.URL, "--event", event).want(t, exit.OK)
			var got map[string]any
			succeeds(t, json.Unmarshal(shop.got()[0], &got))
			if names := strings.Join(slices.Sorted(maps.Keys(got)), " "); names != want {
				t.Errorf("members %s, want %s", names, want)
			}
		})
	}
}

func TestNotifyDefences(t *testing.T) {
	var seen []*notify.Notification
	shop := newReceiver(t, verifying(t, &seen))
	r := tool(t, noGateway(), "notify", shop.URL, "--wrong-signature")
	r.want(t, exit.Negative, "not accepted")
	wantWords(t, r.out, `wrong signature\n.*<- 403 in \d+ ms .*body: "wrong signature"`)

	careless := newReceiver(t, nil)
	tool(t, noGateway(), "notify", careless.URL, "--wrong-signature").want(t, exit.OK, "THE HANDLER ACCEPTED A NOTIFICATION WITH A WRONG SIGNATURE")

	closed := httptest.NewServer(nil)
	closed.Close()
	tool(t, noGateway(), "notify", closed.URL).want(t, exit.Failed, "no response")
}

func TestNotifyWrongUse(t *testing.T) {
	for _, test := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"no secret", nil, []string{"http://127.0.0.1:1/"}, "the secret key is missing, which signs notifications"},
		{"no URL", noGateway(), []string{"localhost:8080"}, "URL must be an http or https URL"},
		{"amount", noGateway(), []string{"http://127.0.0.1:1/", "--amount", "1,50"}, "--amount:"},
		{"currency", noGateway(), []string{"http://127.0.0.1:1/", "--currency", "euro"}, "--currency:"},
		{"unique id", noGateway(), []string{"http://127.0.0.1:1/", "--unique-id", "u-1"}, "--unique-id must be 1 to 32 digits"},
		{"app id", with(noGateway(), "CARDGATEWAY_APP_ID", "x"), []string{"http://127.0.0.1:1/"}, "app-id must be at most 32 digits"},
		{"event", noGateway(), []string{"http://127.0.0.1:1/", "--event", "paid"}, "--event must be one of"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool(t, test.env, append([]string{"notify"}, test.args...)...).wantRefused(t, test.want)
		})
	}
}
