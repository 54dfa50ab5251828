package redact_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/redact"
)

func TestBody(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		longest    int
		want       string
		truncated  bool
	}{
		{"nothing", "", 10, "", false},
		{"just short enough", "0123456789", 10, "0123456789", false},
		{"too long", "0123456789x", 10, "0123456789", true},
		{"cut within a character", "012345678é", 10, "012345678\uFFFD", true},
		{"the token", "of " + token, 100, "of ***", false},
		{"the token behind escapes", `of tk\/9f8e+7d6c5b4a=x`, 100, "***", false},
		{"a card number", "card 4539 0000 0000 0001.", 100, "card 453900******0001.", false},
		{"a verification code", `{"CVV":"973","cvv" : 1234,"request":"{\"cvv\":\"973\"}"}`, 100, `{"CVV":"***","cvv" : ***,"request":"{\"cvv\":\"***\"}"}`, false},
		{"a verification code behind escapes", `{"c\u0076v":"973","cvv":"\u0039\u0037\u0033"}`, 100, `{"cvv":"***","cvv":"***"}`, false},
		{"a card number behind escapes", `"4539\u00200000\u002d0000\u0030001"`, 100, `"453900******0001"`, false},
		{"escapes that stay", `"\u0022\u005c\u00e9\u000a\\u0030\/\n\ud83d\ude42\u"`, 100, `"\u0022\u005c\u00e9\u000a\\u0030\/\n\ud83d\ude42\u"`, false},
		{"what came of one", `{"cvvResult":"973","cvv":"M"}`, 100, `{"cvvResult":"973","cvv":"M"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, truncated := secretsOf(token).Body([]byte(tt.body), tt.longest)
			if got != tt.want || truncated != tt.truncated {
				t.Errorf("%s: got %q, truncated %t, want %q, %t", tt.name, got, truncated, tt.want, tt.truncated)
			}
		})
	}
}

// TestBodyCut: a secret at the end of the kept text is also masked, wherever it is cut.
func TestBodyCut(t *testing.T) {
	const longest = 100
	for _, secret := range []string{token, url.PathEscape(token), "4539000000000001"} {
		for n := range 2 * longest {
			for _, before := range []string{strings.Repeat("x", n), strings.Repeat(token, n), strings.Repeat("\xff", n)} {
				for _, after := range []string{"", strings.Repeat("x", 3*longest)} {
					got, _ := secretsOf(token).Body([]byte(before+secret+after), longest)
					if strings.Contains(got, secret[:7]) { // six digits of a card may be seen
						t.Fatalf("%d bytes, then %s: got %q", len(before), secret, got)
					}
				}
			}
		}
	}
}

func TestIsCardData(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"cvv", `"973"`, true}, {"Cvv", `9731`, true}, {"card", `{"cvv":"973"}`, true}, {"request", `"{\"cvv\":\"973\"}"`, true},
		{"cvv", `"\u0039\u0037\u0033"`, true}, {"card", `{"c\u0076v":973}`, true},
		{"transactionCardNumber", `[1]`, true},
		{"cvv", `"M"`, false}, {"cvv", `null`, false}, {"cvvResult", `"973"`, false}, {"code", `"973"`, false}, {"cvv", `{"a":"973"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := redact.IsCardData(tt.name, []byte(tt.value)); got != tt.want {
				t.Errorf("%s: %s: got %t, want %t", tt.name, tt.value, got, tt.want)
			}
		})
	}
}

func TestRequestIDs(t *testing.T) {
	got := secretsOf(token).RequestIDs(http.Header{
		"X-Request-Id": {"1", "2"}, "Cf-Ray": {token}, "Traceparent": {"4539000000000001"}, "X-Trace": {"t"},
		"Set-Cookie": {"a=b"}, "X-Identity": {"i"}, "Date": {"today"},
	})
	want := http.Header{"X-Request-Id": {"1", "2"}, "Cf-Ray": {"***"}, "Traceparent": {"453900******0001"}, "X-Trace": {"t"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := secretsOf(token).RequestIDs(nil); got == nil || len(got) > 0 {
		t.Errorf("no headers: got %v, want an empty one", got)
	}
}
