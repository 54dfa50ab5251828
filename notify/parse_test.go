package notify_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/notify"
)

// TestParseDocumented parses every notification of testdata and checks that the result has each of its members.
func TestParseDocumented(t *testing.T) {
	for name, x := range notifications(t) {
		t.Run(name, func(t *testing.T) {
			n := mustParseAs(t, x.body(t), x.ContentType)
			if n.Transaction != nil || n.Refund != nil || n.Bound {
				t.Errorf("facts: got %+v, want none: nothing was asked", n)
			}
			if diff := cmp.Diff(sentTexts(t, &x), readTexts(n.Claimed)); diff != "" {
				t.Errorf("claims (-sent +read):\n%s", diff)
			}
		})
	}
}

// sentTexts returns the members that were sent as clienttest.ReadTexts returns those that were read, without the signature, the
// token and empty members.
func sentTexts(t *testing.T, x *notified) map[string]string {
	t.Helper()
	doc := clienttest.Normal(t, x.Body)
	if x.ContentType != "application/json" {
		form, err := url.ParseQuery(string(x.body(t)))
		if err != nil {
			t.Fatal(err)
		}
		members := map[string]any{}
		for name := range form {
			members[name] = form.Get(name)
		}
		doc = members
	}
	texts := clienttest.DocumentedTexts(doc)
	maps.DeleteFunc(texts, func(name, text string) bool {
		return name == ".sign" || name == ".token" || text == "" || text == "0"
	})
	return texts
}

// readTexts returns the members of claims, without what is derived or zero.
func readTexts(claims notify.Claims) map[string]string {
	texts := clienttest.ReadTexts(claims)
	maps.DeleteFunc(texts, func(name, text string) bool { return name == ".kind" || text == "0" })
	return texts
}

func TestParseKinds(t *testing.T) {
	tests := []struct {
		transactionType string
		want            notify.Kind
	}{
		{"Sale", notify.KindPayment},
		{"Authorization", notify.KindPayment},
		{"Tokenization", notify.KindPayment},
		{"Refund", notify.KindRefund},
		{"Chargeback", notify.KindChargeback},
		{"sale", notify.KindUnknown},
		{"Dispute", notify.KindUnknown},
		{"", notify.KindUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.transactionType, func(t *testing.T) {
			n := mustParse(t, fmt.Sprintf(`{"transactionType":%q}`, tt.transactionType))
			if n.Claimed.Kind != tt.want || string(n.Claimed.TransactionType) != tt.transactionType {
				t.Errorf("got %v of %q, want %v of %q", n.Claimed.Kind, n.Claimed.TransactionType, tt.want, tt.transactionType)
			}
		})
	}
}

func TestParseTolerates(t *testing.T) {
	tests := []struct {
		name, media, body string
		want              notify.Claims
	}{
		{"an empty object", "application/json", `{}`, notify.Claims{}},
		{"an empty form", "application/x-www-form-urlencoded", ``, notify.Claims{}},
		{"no media type", "", `{"code":100}`, notify.Claims{Code: 100}},
		{"another media type", "text/json", "\n\t{\"code\":100}", notify.Claims{Code: 100}},
		{"the media type of a form", "application/x-www-form-urlencoded", ` {"code":100,"message":"a=b&c"}`, notify.Claims{Code: 100, Message: "a=b&c"}},
		{"a parameter without a value", "application/json; UTF-8", `{"code":100}`, notify.Claims{Code: 100}},
		{"no media type at all", ";;=", `{"code":100}`, notify.Claims{Code: 100}},
		{"a byte order mark", "text/plain", "\ufeff{\"code\":100}", notify.Claims{Code: 100}},
		{"a form with a parameter without a value", "Application/X-WWW-Form-Urlencoded ; charset", `code=100`, notify.Claims{Code: 100}},
		{"white space and parameters of the media type", "Application/JSON; charset=UTF-8", " {\"code\": 100}\r\n ", notify.Claims{Code: 100}},
		{"texts for numbers and numbers for texts", "application/json",
			`{"code":"100","uniqueId":1867098610731065345,"appId":"3","transactionAmount":8.50,"timestamp":"1733985979185","isTest":"true"}`,
			notify.Claims{
				Code: 100, UniqueID: "1867098610731065345", AppID: "3", TransactionAmount: decimal.RequireFromString("8.50"),
				Timestamp: time.UnixMilli(1733985979185).UTC(), IsTest: true,
			}},
		{"a form without a media type", "", "\ufeffcode=100&message=a", notify.Claims{Code: 100, Message: "a"}},
		{"a form with the media type of JSON", "application/json", "code=100", notify.Claims{Code: 100}},
		{"the other name of the refund's id", "application/json", `{"refundTransactionId":"r-1"}`, notify.Claims{MerchantRefundID: "r-1"}},
		{"both names", "application/json", `{"refundTransactionId":"r-1","merchantRefundId":"r-2"}`, notify.Claims{MerchantRefundID: "r-2"}},
		{"both names, the other one last", "application/json", `{"merchantRefundId":"r-2","refundTransactionId":"r-1"}`,
			notify.Claims{MerchantRefundID: "r-2", Extra: map[string]json.RawMessage{"refundTransactionId": json.RawMessage(`"r-1"`)}}},
		{"null and empty members", "application/json", `{"code":null,"uniqueId":"","message":null}`, notify.Claims{}},
		{"unknown and unreadable members", "application/json", `{"code":[1],"nested":{"a":1},"other":"x"}`,
			notify.Claims{Extra: map[string]json.RawMessage{
				"code": json.RawMessage(`[1]`), "nested": json.RawMessage(`{"a":1}`), "other": json.RawMessage(`"x"`),
			}}},
		{"a whole card number, which is masked", "application/json",
			`{"transactionCardNumber":"4300000000000000","message":"card 4300000000000000"}`,
			notify.Claims{TransactionCardNumber: "430000******0000", Message: "card 430000******0000"}},
		{"verification codes, which are not kept", "application/json", `{"cvv":"973","card":{"c\u0076v":973},"request":"{\"cvv\":\"973\"}","message":"cvv: 973"}`,
			notify.Claims{Message: "cvv: ***", Extra: map[string]json.RawMessage{
				"cvv": json.RawMessage(`"***"`), "card": json.RawMessage(`"***"`), "request": json.RawMessage(`"***"`),
			}}},
		{"a percent sign in a form", "", "code=100&message=100%+sure,+5%x", notify.Claims{Code: 100, Message: "100% sure, 5%x"}},
		{"escapes of a form", "application/x-www-form-urlencoded; charset=utf-8", "message=a+b%26c%0A&&transactionId=%22x%22\n",
			notify.Claims{Message: "a b&c\n", TransactionID: `"x"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := mustParseAs(t, []byte(tt.body), tt.media)
			if diff := cmp.Diff(tt.want, n.Claimed); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseTokenFlags: true and false, in whatever spelling, say whether there is a token, and are none. Names may be spelled otherwise.
func TestParseTokenFlags(t *testing.T) {
	for body, want := range map[string]string{
		`{"tokenization":false}`: "", `{"tokenization":true}`: "", `{"token":true,"tokenId":"tok-1"}`: "tok-1", `{"token":1234}`: "1234",
		`{"tokenization":1,"tokenId":"tok-1"}`: "tok-1", `{"token":"TRUE","cardToken":"tok-1"}`: "tok-1", `{"tokenization":"0"}`: "", `{"token":"no"}`: "",
		`{"card_token":"tok-1"}`: "tok-1", `{"TokenId":"tok-1","Token":"tok-2"}`: "tok-2",
	} {
		if got := mustParse(t, body).Token.Reveal(); got != want {
			t.Errorf("%s: got token %q, want %q", body, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const jsonMedia, formMedia = "application/json", "application/x-www-form-urlencoded"
	tests := []struct{ name, media, body, want string }{
		{"no media type", "", `<code>100</code>`, "neither JSON nor a form"},
		{"another media type", "text/plain", `code: 100`, "neither JSON nor a form"},
		{"an address", "text/plain", `https://shop.example/?code=100`, "neither JSON nor a form"},
		{"a list", "text/json", `[{}]`, "neither JSON nor a form"},
		{"no object", "application/json; UTF-8", `[{}]`, "is not a JSON object"},
		{"too much", jsonMedia, `{"a":"` + strings.Repeat("x", 64<<10) + `"}`, "64 KiB"},
		{"nothing", jsonMedia, ``, "is empty"},
		{"null", jsonMedia, `null`, "not a JSON object"},
		{"a cut object", jsonMedia, `{"code":100`, "not one whole JSON value"},
		{"a second value", jsonMedia, `{"code":100}{}`, "not one whole JSON value"},
		{"a repeated member", jsonMedia, `{"code":101,"code":100}`, "repeats a member"},
		{"a member repeated by an escape", jsonMedia, `{"code":101,"c\u006fde":100}`, "repeats a member"},
		{"deep nesting", jsonMedia, `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "nested too deep"},
		{"a long number", jsonMedia, `{"code":1` + strings.Repeat("0", 200) + `}`, "number that is too long"},
		{"a uniqueId that is a path", jsonMedia, `{"uniqueId":"../list/order"}`, "uniqueId"},
		{"a transactionId that is an object", jsonMedia, `{"transactionId":{}}`, "transactionId"},
		{"a refundUniqueId with other characters than an id", jsonMedia, `{"refundUniqueId":"cvv 918"}`, "refundUniqueId"},
		{"half a surrogate pair in an id", jsonMedia, `{"refundUniqueId":"\ud800"}`, "refundUniqueId"},
		{"a repeated member of a form", formMedia, `code=101&code=100`, "repeats a member"},
		{"a form without a name", formMedia, `=100`, "not one whole JSON value"},
		{"invalid UTF-8 in an id of a form", formMedia, `transactionId=%ff`, "transactionId"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := notify.Parse([]byte(tt.body), tt.media)
			if err == nil {
				t.Fatalf("got %+v, want an error with %q", n, tt.want)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error: got %q, want one with %q", err, tt.want)
			}
		})
	}
}
