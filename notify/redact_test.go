package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"text/template"

	"github.com/jarcoal/httpmock"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/notify"
)

// secretToken is long enough not to occur by chance.
const secretToken = "tok-0123456789abcdef"

// TestNotificationHidesToken prints notifications that hold a token, under a known name and under others.
func TestNotificationHidesToken(t *testing.T) {
	tests := []struct{ name, media, body string }{
		{"token", "application/json", `{"token":"` + secretToken + `"}`},
		{"tokenization", "application/json", `{"tokenization":"` + secretToken + `"}`},
		{"the second of two names", "application/json", `{"cardToken":"` + secretToken + `","token":"other"}`},
		{"two names, the likelier behind", "application/json", `{"cardToken":"other","token":"` + secretToken + `"}`},
		{"an unexpected name", "application/json", `{"vaultTokenRef":"` + secretToken + `"}`},
		{"nested under an unexpected name", "application/json", `{"card":{"cardToken":"` + secretToken + `"}}`},
		{"nested under an escaped name", "application/json", `{"card":{"card\u0054oken":"` + secretToken + `"}}`},
		{"nested under an expected name", "application/json", `{"token":{"id":"` + secretToken + `"}}`},
		{"in a list", "application/json", `{"tokens":["` + secretToken + `"]}`},
		{"under the name of a claim", "application/json", `{"message":{"token":"` + secretToken + `"}}`},
		{"in a form", "application/x-www-form-urlencoded", `uniqueId=1&token=` + secretToken},
		{"in a form with an unexpected name", "application/x-www-form-urlencoded", `uniqueId=1&my_token=` + secretToken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := mustParseAs(t, []byte(tt.body), tt.media)
			for sink, text := range printed(t, *n) {
				if strings.Contains(text, secretToken) || strings.Contains(text, fmt.Sprintf("%x", secretToken)) ||
					strings.Contains(text, fmt.Sprint([]byte(secretToken))[1:30]) {
					t.Errorf("%s shows the token: %s", sink, text)
				}
			}
		})
	}
}

// printed writes v in all the usual ways.
func printed(t testing.TB, v any) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		all[verb] = fmt.Sprintf(verb, v)
		all["inside "+verb] = fmt.Sprintf(verb, struct{ inner any }{v}) // where fmt calls no methods
	}
	all["json"] = encoded(v)
	var b bytes.Buffer
	timeless := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	slog.New(slog.NewTextHandler(&b, timeless)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&b, timeless)).Info("x", "v", v)
	if err := template.Must(template.New("").Parse("{{.}}{{printf `%v` .}}")).Execute(&b, v); err != nil {
		t.Fatal(err)
	}
	all["slog and template"] = b.String()
	return all
}

// TestParseTokens checks which member is read as the token, and which members are withheld.
func TestParseTokens(t *testing.T) {
	tests := []struct{ name, body, token, extra string }{
		{"token", `{"token":"a"}`, "a", ``},
		{"tokenization", `{"tokenization":"a"}`, "a", ``},
		{"tokenId as a number", `{"tokenId":123}`, "123", ``},
		{"the likelier of two", `{"cardToken":"b","token":"a"}`, "a", `{"cardToken":"***"}`},
		{"the likelier of two is empty", `{"token":"","cardToken":"b"}`, "b", `{"token":"***"}`},
		{"an unexpected name", `{"theToken":"a"}`, "", `{"theToken":"***"}`},
		{"nested", `{"data":{"token":"a"},"b":"c"}`, "", `{"b":"c","data":"***"}`},
		{"in other members too", `{"token":"abcd-1234-efgh","reference":"abcd-1234-efgh","abcd-1234-efgh":1,"link":"x?t=abcd-1234%2Defgh","b":"c"}`,
			"abcd-1234-efgh", `{"***":"***","b":"c","link":"***","reference":"***"}`},
		{"the uniqueId as the token", `{"uniqueId":"100000000000001","token":"100000000000001"}`, "100000000000001", ``},
		{"none", `{"code":100}`, "", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := mustParse(t, tt.body)
			extra := ""
			if n.Claimed.Extra != nil {
				encoded, err := json.Marshal(n.Claimed.Extra)
				if err != nil {
					t.Fatal(err)
				}
				extra = string(encoded)
			}
			if strings.Contains(tt.body, "uniqueId") && n.Claimed.UniqueID != tt.token {
				t.Errorf("uniqueId: got %q", n.Claimed.UniqueID)
			}
			if n.Token.Reveal() != tt.token || extra != tt.extra {
				t.Errorf("got token %q and extra %s, want %q and %s", n.Token.Reveal(), extra, tt.token, tt.extra)
			}
		})
	}
}

// TestHandlerHidesToken sends tokens along every path through the handler, and checks its logs and Info values.
func TestHandlerHidesToken(t *testing.T) {
	urls := mustTokenURLs(t, "https://shop.example/notify", urlKey)
	var logs bytes.Buffer
	gateway := httpmock.NewMockTransport()
	gateway.RegisterResponder("GET", gatewayURL+"/search/order/1",
		httpmock.NewStringResponder(200, `{"code":100,"uniqueId":"1","transactionId":"order-1"}`))
	logger := slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: gatewayURL, AppID: "77", HTTPClient: &http.Client{Transport: gateway}, Logger: logger,
	})
	deduper := &scriptedDeduper{result: notify.ClaimFresh}
	statuses := map[int]bool{}
	s := &shop{gateway: gateway}
	s.Handler = notify.NewHandler(c, notify.Options{
		TokenURLs: urls, Deduper: deduper, Logger: logger,
		Observe: func(_ context.Context, info notify.Info) {
			statuses[info.Status] = true
			fmt.Fprintf(&logs, "%v %+v %#v\n", info, info, info)
		},
	}, func(_ context.Context, n *notify.Notification) error {
		return fmt.Errorf("could not store %+v", n)
	})

	own := made(t, urls, "order-1").RequestURI()
	const body = `{"uniqueId":"1","transactionType":"Other","token":"` + secretToken + `","myToken":"` + secretToken + `"}`
	for _, target := range []string{own, "/notify"} {
		for _, b := range []string{
			body, body + "x", body[1:], strings.Replace(body, "{", `{"transactionId":"other",`, 1),
			strings.Replace(body, secretToken, secretToken+"-2", 1), strings.Replace(body, `"1"`, `"2"`, 1),
			strings.Replace(body, `"1"`, `"`+secretToken+`"`, 1),
		} {
			w := s.post(target, b)
			fmt.Fprintln(&logs, w.Header(), w.Body)
		}
	}
	for _, want := range []int{400, 403, 409, 503} {
		if !statuses[want] {
			t.Errorf("no response had status %d", want)
		}
	}
	fmt.Fprintln(&logs, deduper.keys)
	if strings.Contains(logs.String(), secretToken) {
		t.Errorf("the token was shown:\n%s", logs.String())
	}
	if !strings.Contains(logs.String(), "status=409") || !strings.Contains(logs.String(), "level=WARN") {
		t.Errorf("logs: got none of the conflict:\n%s", logs.String())
	}
}

// FuzzParse checks for panics, for errors that quote the body, and for a visible token: with another token in its place,
// everything that is printed must be the same.
func FuzzParse(f *testing.F) {
	for _, x := range notifications(f) {
		f.Add(x.body(f), x.ContentType)
	}
	f.Add([]byte(`{"card":{"token":"`+secretToken+`"},"tokenId":"`+secretToken+`-2","code":[1]}`), "application/json")
	f.Add([]byte(`a=%7B&token=`+secretToken+`&code=1e2&&x`), "application/x-www-form-urlencoded; charset=utf-8")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		n, err := notify.Parse(body, contentType)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > 'z' }) || len(err.Error()) > 100 {
				t.Fatalf("an error that may quote: %q", err)
			}
			return
		}
		if id := n.Claimed.UniqueID; len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool { return r < '0' || r > '9' }) {
			t.Fatalf("uniqueId: got %q", id)
		}
		if notify.SignatureSHA256("a key")(n) == nil {
			t.Fatal("a signature was accepted that nobody can have made")
		}
		token := n.Token.Reveal()
		if len(token) < 6 || bytes.Count(body, []byte(token)) != 1 || bytes.ContainsAny(body, `\%+`) {
			return
		}
		stand := strings.Map(func(r rune) rune { return 'x' }, strings.ToValidUTF8(token, "x"))
		if bytes.Contains(body, []byte(stand)) {
			return
		}
		other, err := notify.Parse(bytes.Replace(body, []byte(token), []byte(stand), 1), contentType)
		if err != nil {
			return // the token was a number
		}
		if got, want := deeply(t, *n), deeply(t, *other); got != want {
			t.Fatalf("something of the token can be seen:\n%s\n%s", got, want)
		}
	})
}

// deeply prints v with the formats that show the most.
func deeply(t testing.TB, v any) string {
	t.Helper()
	return fmt.Sprintf("%+v\n%#v\n%s", v, v, encoded(v))
}

// encoded returns v as JSON, or the error of a token that refuses to be encoded.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestTokenThatIsTheOrdersID: a gateway may use the merchant's ids as tokens; queries by these ids must still work.
func TestTokenThatIsTheOrdersID(t *testing.T) {
	s := newShop(t, notify.Options{AllowUnboundTokens: true})
	s.knows("1", `{"code":100,"uniqueId":"1","transactionId":"order-20261122-1"}`)
	w := s.post("/notify", `{"uniqueId":"1","transactionId":"order-20261122-1","code":100,"token":"order-20261122-1"}`)
	s.expect(t, w, 200, 1)
}

// TestNotificationQuotesItsToken: a token that occurs in another member of its notification, or of the gateway's
// confirmation, is hidden everywhere.
func TestNotificationQuotesItsToken(t *testing.T) {
	s, own := newTokenShop(t)
	s.knows("1", `{"code":100,"uniqueId":"1","transactionId":"order-1","transactionMessage":"made `+secretToken+`","note":"`+secretToken+`"}`)
	w := s.post(own, `{"uniqueId":"1","transactionType":"Tokenization","token":"`+secretToken+
		`","message":"made `+secretToken+`","billDescription":"`+secretToken+`","x":{"y":["`+secretToken+`"]}}`)
	s.expect(t, w, 200, 1)
	n := s.handled[0]
	if text := deeply(t, n) + deeply(t, *n.Transaction); strings.Contains(text, secretToken) || n.Token.Reveal() != secretToken {
		t.Errorf("got %s", text)
	}
	if n.Claimed.Message != "made ***" || n.Transaction.TransactionMessage != "made ***" {
		t.Errorf("the words beside it: got %q and %q", n.Claimed.Message, n.Transaction.TransactionMessage)
	}
}
