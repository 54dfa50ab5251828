package cardgateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
)

// notified is one notification of testdata; see testdata/README.md.
type notified struct {
	Source, ContentType, SecretKey string
	Body                           json.RawMessage
}

// body returns the bytes as they are sent.
func (x *notified) body(t testing.TB) []byte {
	t.Helper()
	if x.ContentType == "application/json" {
		return x.Body
	}
	var form string
	if err := json.Unmarshal(x.Body, &form); err != nil {
		t.Fatal(err)
	}
	return []byte(form)
}

// notifications reads every notification of testdata, by name.
func notifications(t testing.TB) map[string]notified {
	t.Helper()
	files, err := filepath.Glob("testdata/notifications/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d notifications, want at least 10 (%v)", len(files), err)
	}
	all := map[string]notified{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var x notified
		if err := json.Unmarshal(data, &x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = x
	}
	return all
}

// TestParseNotificationDocumented reads every notification of testdata and looks for each member of it in the result.
func TestParseNotificationDocumented(t *testing.T) {
	for name, x := range notifications(t) {
		t.Run(name, func(t *testing.T) {
			n, err := ParseNotification(x.body(t), x.ContentType)
			if err != nil {
				t.Fatal(err)
			}
			if n.Transaction != nil || n.Refund != nil || n.Bound {
				t.Errorf("facts: got %+v, want none: nothing was asked", n)
			}
			got := readTexts(n.Claimed)
			delete(got, ".kind")
			if n.Claimed.Code == 0 {
				delete(got, ".code")
			}
			if diff := cmp.Diff(claimedTexts(t, &x), got); diff != "" {
				t.Errorf("claims (-sent +read):\n%s", diff)
			}
		})
	}
}

// claimedTexts lists the members that were sent in the form of readTexts, but for the signature and the token.
func claimedTexts(t *testing.T, x *notified) map[string]string {
	t.Helper()
	if x.ContentType == "application/json" {
		texts := documentedTexts(normal(t, x.Body))
		maps.DeleteFunc(texts, func(path, text string) bool { return path == ".sign" || path == ".token" || text == "" })
		return texts
	}
	form, err := url.ParseQuery(string(x.body(t)))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name := range form {
		if name != "sign" {
			texts["."+strings.ToLower(name)] = form.Get(name)
		}
	}
	return texts
}

func TestParseNotificationKinds(t *testing.T) {
	tests := []struct {
		transactionType string
		want            NotificationKind
	}{
		{"Sale", KindPayment},
		{"Authorization", KindPayment},
		{"Tokenization", KindPayment},
		{"Refund", KindRefund},
		{"Chargeback", KindChargeback},
		{"sale", KindUnknown},
		{"Dispute", KindUnknown},
		{"", KindUnknown},
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

func mustParse(t testing.TB, body string) *Notification {
	t.Helper()
	n, err := ParseNotification([]byte(body), "application/json")
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return n
}

func TestParseNotificationTolerates(t *testing.T) {
	tests := []struct {
		name, media, body string
		want              NotificationClaims
	}{
		{"an empty object", "application/json", `{}`, NotificationClaims{}},
		{"an empty form", "application/x-www-form-urlencoded", ``, NotificationClaims{}},
		{"white space and parameters of the media type", "Application/JSON; charset=UTF-8", " {\"code\": 100}\r\n ", NotificationClaims{Code: 100}},
		{"texts for numbers and numbers for texts", "application/json",
			`{"code":"100","uniqueId":1867098610731065345,"appId":"3","transactionAmount":8.50,"timestamp":"1733985979185","isTest":"true"}`,
			NotificationClaims{
				Code: 100, UniqueID: "1867098610731065345", AppID: "3", TransactionAmount: decimal.RequireFromString("8.50"),
				Timestamp: time.UnixMilli(1733985979185).UTC(), IsTest: true,
			}},
		{"null and empty members", "application/json", `{"code":null,"uniqueId":"","message":null}`, NotificationClaims{}},
		{"unknown and unreadable members", "application/json", `{"code":[1],"nested":{"a":1},"other":"x"}`,
			NotificationClaims{Extra: map[string]json.RawMessage{
				"code": json.RawMessage(`[1]`), "nested": json.RawMessage(`{"a":1}`), "other": json.RawMessage(`"x"`),
			}}},
		{"a whole card number, which is masked", "application/json",
			`{"transactionCardNumber":"4300000000000000","message":"card 4300000000000000"}`,
			NotificationClaims{TransactionCardNumber: "430000******0000", Message: "card 430000******0000"}},
		{"escapes of a form", "application/x-www-form-urlencoded; charset=utf-8", "message=a+b%26c%0A&&transactionId=%22x%22\n",
			NotificationClaims{Message: "a b&c\n", TransactionID: `"x"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := ParseNotification([]byte(tt.body), tt.media)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, n.Claimed); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNotificationRefuses(t *testing.T) {
	const jsonMedia, formMedia = "application/json", "application/x-www-form-urlencoded"
	tests := []struct{ name, media, body, want string }{
		{"no media type", "", `{}`, "neither JSON nor a form"},
		{"another media type", "text/plain", `{}`, "neither JSON nor a form"},
		{"a malformed media type", "application/json;;=", `{}`, "neither JSON nor a form"},
		{"too much", jsonMedia, `{"a":"` + strings.Repeat("x", 64<<10) + `"}`, "64 KiB"},
		{"nothing", jsonMedia, ``, "is empty"},
		{"null", jsonMedia, `null`, "not a JSON object"},
		{"an array", jsonMedia, `[{"code":100}]`, "not a JSON object"},
		{"a cut object", jsonMedia, `{"code":100`, "not one whole JSON value"},
		{"a second value", jsonMedia, `{"code":100}{}`, "not one whole JSON value"},
		{"a repeated member", jsonMedia, `{"code":101,"code":100}`, "repeats a member"},
		{"a member repeated by an escape", jsonMedia, `{"code":101,"c\u006fde":100}`, "repeats a member"},
		{"deep nesting", jsonMedia, `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "nested too deep"},
		{"a long number", jsonMedia, `{"code":1` + strings.Repeat("0", 200) + `}`, "number that is too long"},
		{"a uniqueId that is a path", jsonMedia, `{"uniqueId":"../list/order"}`, "uniqueId"},
		{"a transactionId that is an object", jsonMedia, `{"transactionId":{}}`, "transactionId"},
		{"half a surrogate pair in an id", jsonMedia, `{"refundUniqueId":"\ud800"}`, "refundUniqueId"},
		{"a repeated member of a form", formMedia, `code=101&code=100`, "repeats a member"},
		{"a broken escape of a form", formMedia, `code=%zz`, "not a well-formed form"},
		{"a form without a name", formMedia, `=100`, "not one whole JSON value"},
		{"invalid UTF-8 in an id of a form", formMedia, `transactionId=%ff`, "transactionId"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := ParseNotification([]byte(tt.body), tt.media)
			if err == nil {
				t.Fatalf("got %+v, want an error with %q", n, tt.want)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error: got %q, want one with %q", err, tt.want)
			}
		})
	}
}
