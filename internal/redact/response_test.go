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
		{"a verification code", `{"CVV":"973","cvv" : 1234,"request":"{\"cvv\":\"973\"}"}`, 100, `{"CVV":"***","cvv" : "***","request":"{\"cvv\":\"***\"}"}`, false},
		{"a verification code behind escapes", `{"c\u0076v":"973","cvc":"\u0039\u0037\u0033"}`, 100, `{"c\u0076v":"***","cvc":"***"}`, false},
		{"a verification code behind escapes, and no JSON", `{"c\u0076v":"973","cvv":"\u0039\u0037\u0033"}`, 100, "***", false},
		{"the token behind escapes in JSON", `{"code":101,"of":"tk\/9f8e+7d6c5b4a=x"}`, 100, `{"code":101,"of":"***"}`, false},
		{"a long number in JSON", `{"at":1700000000000}`, 100, `{"at":"170000***0000"}`, false},
		{"a card number behind escapes", `"4539\u00200000\u002d0000\u0030001"`, 100, `"453900******0001"`, false},
		{"escapes that stay", `"\u0022\u005c\u00e9\u000a\\u0030\/\n\ud83d\ude42\u"`, 100, `"\u0022\u005c\u00e9\u000a\\u0030\/\n\ud83d\ude42\u"`, false},
		{"beside what came of one", `{"cvv":"M","code":101,"avs":"Y"}`, 100, `{"cvv":"M","code":101,"avs":"Y"}`, false},
		{"a card number in pieces", `{"pan":["4539","0000", "0000","0001"],"code":101}`, 100, `{"pan":["***","***", "***","***"],"code":101}`, false},
		{"beside its name", `{"value":"973","name":"cvv"}`, 100, `{"value":"***","name":"cvv"}`, false},
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

func TestKept(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		shown       string
		withheld    bool
	}{
		{"cvv", `"973"`, "cvv", true}, {"Cvv", `9731`, "Cvv", true}, {"card", `{"cvv":"973"}`, "card", true}, {"request", `"{\"cvv\":\"973\"}"`, "request", true},
		{"cvv", `"\u0039\u0037\u0033"`, "cvv", true}, {"card", `{"c\u0076v":973}`, "card", true}, {"cvv", `{"a":["973"]}`, "cvv", true},
		{"card", "{\"cVv\"\n:\t[{\"code\":\r\"973\"}]}", "card", true}, {"card_security_code", `"973"`, "card_security_code", true},
		{"CVC2", `" 9 7 3 "`, "CVC2", true}, {"a", `{"b":"<cvc>973</cvc>"}`, "a", true}, {"cid", `973`, "cid", true},
		{"transactionCardNumber", `[1]`, "transactionCardNumber", true},
		{"remark", `"4111 1111 1111 1111"`, "remark", true}, {"pan", `4111111111111111`, "pan", true}, {"a", `[["4111-1111-1111-1111"]]`, "a", true},
		{"of 4111111111111111", `1`, "of 411111******1111", true}, {"a", `{"4111111111111111":1}`, "a", true}, {"a", `"paid 2026-10-05 4111\u00a01111\u20131111 - 1111"`, "a", true},
		{"cardCvd", `"973"`, "cardCvd", true}, {"CV2", `973`, "CV2", true}, {"a", `"4111.1111.1111.1111"`, "a", true}, {"a", `"4111/1111/1111/1111"`, "a", true},
		{"cardVerification", `"973"`, "cardVerification", true}, {"cvv-2", `973`, "cvv-2", true}, {"cvvEntered", `"973"`, "cvvEntered", true}, {"cvx2", `973`, "cvx2", true},
		{"a", `{"value":"973","name":"cvv"}`, "a", true}, {"a", `["cvv","973"]`, "a", true}, {"a", `{"field":"card[cvv]","data":973}`, "a", true},
		{"a", "\"--b\\r\\nContent-Disposition: form-data; name=\\\"cvv\\\"\\r\\nContent-Type: text/plain; charset=UTF-8\\r\\nContent-Length: 3\\r\\n\\r\\n973\"", "a", true},
		{"a", `"<ns1:cvv xmlns:ns1='urn:x' encrypted='false'>973</ns1:cvv>"`, "a", true}, {"a", `"[cvv:protected] => 973"`, "a", true}, {"a", `"(cvv) VALUES ('973')"`, "a", true},
		{"a", `"c\u0000v\u0000v\u0000=\u00009\u00007\u00003"`, "a", true}, {"a", `"4111\u20601111\u20601111\u22121111"`, "a", true}, {"pan", `4.111111111111111e+15`, "pan", true},
		{"a", `"{\"value\":\"973\",\"name\":\"cvv\"}"`, "a", true}, {"a", `"{\"cvv\":\"M\",\"code\":101}"`, "a", false}, {"a", `{"message":"wrong cvv","code":101}`, "a", false},
		{"a", `"4111:1111:1111:1111"`, "a", true}, {"a", `"4111 | 1111 | 1111 | 1111"`, "a", true}, {"a", `"(4111)(1111)(1111)(1111)"`, "a", true},
		{"pan", `"0004111111111111111"`, "pan", true}, {"pan", `0.4111111111111111`, "pan", true}, {"a", `"card ４１１１ １１１１ １１１１ １１１１"`, "a", true},
		{"a", `"\uff14１１１１１１１１１１１１１１１"`, "a", true}, {"cvv", `"９７３"`, "cvv", true}, {"a", `{"cvv":"９７３"}`, "a", true}, {"a", `"cvv ９７３"`, "a", true},
		{"a", `"card ٤١١١ ١١١١ ١١١١ ١١١١"`, "a", true}, {"a", `"\u0967１11111111111111 cvv ٩٧٣"`, "a", true}, {"a", `{"४१११११११११११११११":1}`, "a", true},
		{"安全码", `"973"`, "安全码", true}, {"a", `"安全碼：973"`, "a", true}, {"a", `"安全码973"`, "a", true}, {"a", `"安全码错误 12"`, "a", false},
		{"ccv", `"973"`, "ccv", true}, {"cardCCV", `973`, "cardCCV", true}, {"CVE", `"973"`, "CVE", true}, {"a", `"ccv=973"`, "a", true}, {"校验码", `973`, "校验码", true},
		{"a", `"卡片驗證碼：973"`, "a", true}, {"accident", `973`, "accident", false}, {"号码", `"973"`, "号码", false},
		{"a", `"card 4,111,111,111,111,111."`, "a", true}, {"a", `"378.282.246.310.005"`, "a", true}, {"a", `"4’111’111’111’111’111"`, "a", true},
		{"amount", `"4,111,111,111,111.00"`, "amount", false}, {"amounts", `"4,111,111,111 of 4,111,111,111"`, "amounts", false},
		{"pan", `["4111","1111","1111","1111"]`, "pan", true}, {"pan", `[4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]`, "pan", true},
		{"a", `{"pan":[["411111"], ["1111", "111111"]]}`, "a", true}, {"pan", `["\u0034111",1111,"1111 1111"]`, "pan", true}, {"pan", `"[4111,1111,1111,1111]"`, "pan", true},
		{"ids", `[4111,1111,1111,1112]`, "ids", false}, {"lines", `["4111","of 1111","1111","1111"]`, "lines", false}, {"counts", `[1,2,3]`, "counts", false},
		{"id", `"0004111111111111112"`, "id", false}, {"at", `"2230:4111 1111"`, "at", false}, {"words", `"4111 of 1111, 1111, 1111"`, "words", false},
		{"a", `"東京都港区４−１−１"`, "a", false}, {"amounts", `"5000.00, 6000.00, 7000.00"`, "amounts", false},
		{"cvvCheck", `"973"`, "cvvCheck", false}, {"amount", `1250.50`, "amount", false}, {"recvDate", `"2026"`, "recvDate", false},
		{"at", `"2026/10/05 10:00:00.000000"`, "at", false}, {"hosts", `"45.140.10.2, 45.140.10.3"`, "hosts", false},
		{"at", `"16:42:42.111111119 0001"`, "at", false}, {"days", `"31/10/2026 18/11/2026"`, "days", false},
		{"cvv", `"M"`, "cvv", false}, {"cvv", `null`, "cvv", false}, {"cvvResult", `"973"`, "cvvResult", false}, {"code", `"973"`, "code", false},
		{"a", `{"cvv":"M","code":101}`, "a", false}, {"a", `{"cvv":null,"code":101}`, "a", false}, {"savvy", `973`, "savvy", false},
		{"orderNo", `"2018062815300001"`, "orderNo", false}, {"at", `1700000000000`, "at", false}, {"phone", `"+4915112345678"`, "phone", false},
		{"id", `"4111111111111112"`, "id", false}, {"civilId", `973`, "civilId", false}, {"excavation", `"cava 123"`, "excavation", false},
	} {
		t.Run(tt.name+tt.value, func(t *testing.T) {
			shown, value, withheld := redact.Kept(tt.name, []byte(tt.value))
			if shown != tt.shown || withheld != tt.withheld || string(value) != tt.value && !withheld {
				t.Errorf("%s: %s: got %s: %s, withheld %t", tt.name, tt.value, shown, value, withheld)
			}
		})
	}
}

func TestRequestIDs(t *testing.T) {
	got := secretsOf(token).RequestIDs(http.Header{
		"X-Request-Id": {"1", "2"}, "Cf-Ray": {token}, "Traceparent": {"4539000000000001"}, "X-Trace": {"t"},
		"X-Customer-Id": {"c"}, "4111111111111111-Id": {"1"}, "X-Card-Trace": {"918"}, "Set-Cookie": {"a=b"}, "X-Identity": {"i"}, "Date": {"today"},
	})
	want := http.Header{"X-Request-Id": {"1", "2"}, "Cf-Ray": {"***"}, "Traceparent": {"453900******0001"}, "X-Trace": {"t"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := secretsOf(token).RequestIDs(nil); got == nil || len(got) > 0 {
		t.Errorf("no headers: got %v, want an empty one", got)
	}
}
