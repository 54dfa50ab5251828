package verdict_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// refusing returns whether a 403 with a body is a refusal. For an object, its Statement has only what the test says.
func refusing(body []byte, says verdict.Statement) bool {
	var object map[string]json.RawMessage
	says.Unreadable = json.Unmarshal(body, &object)
	if object == nil && says.Unreadable == nil {
		says.Unreadable = errors.New("null")
	}
	v, _ := verdict.Of(&verdict.Response{Status: 403, Body: body}, &says)
	return v == verdict.Refused
}

// TestRefusals: which bodies of a 4xx agree that nothing was processed. Statements of the objects are empty, as if the objects had
// nothing but what is not known.
func TestRefusals(t *testing.T) {
	approval := `{"code":100,"uniqueId":"1","transactionId":"t-1"}`
	quoted, _ := json.Marshal(approval)
	utf16 := func(text string) (wide string) {
		for i := range len(text) {
			wide += text[i:i+1] + "\x00"
		}
		return wide
	}
	for _, tt := range []struct {
		name, body string
		want       bool
	}{
		{"nothing", "", true},
		{"white space", " \r\n", true},
		{"a word", "Forbidden", true},
		{"a sentence", "404 page not found\n", true},
		{"with a colon", "RBAC: access denied", true},
		{"with a code of the proxy", "error code: 1020", true},
		{"lines", "Bad Request\n\nThe amount (12.50) is too large; see the manual.", true},
		{"a quoted word", "the member 'amount' is missing", true},
		{"another language", "Доступ запрещён", true},
		{"about an id", "Invalid transaction ID", true},

		{"a page", "<!DOCTYPE html><html>sorry</html>", true},
		{"a page in capitals", "\n<HTML><HEAD>", true},
		{"a part of a page", "<h1>403 Forbidden</h1>", true},
		{"a title", "<title>no</title>", true},
		{"a tag with attributes", `<html lang="en">`, true},
		{"a page after a comment", "<!-- a\nproxy --> <html>", true},
		{"a page of XHTML", `<?xml version="1.0"?><!DOCTYPE html PUBLIC "x">`, true},
		{"a page with styles", "<html><style>.btn-success{color:#fff}</style><p>Sorry</p>", true},
		{"a page with JSON", "<html><script>" + approval + "</script>", false},
		{"a page with a code", `<html><script>data={"code":100}</script>`, false},
		{"a page with a code in a table", "<table><tr><td>Code</td>\n<td>100</td>", false},
		{"a page with escapes", "<html>&quot;uniqueId&quot;:1", false},
		{"a page with escapes of a script", `<html><script>a="\u0063\u006fde\u0022:100"</script>`, false},
		{"a page with escapes of a URL", "<html><a href='/?a=%63%6Fde%22%3A100'>", false},
		{"a page with a form", `<html><form><input name="code" value="100"></form>`, false},
		{"a page that says so", "<html><h1>Payment approved</h1>", false},
		{"JSON after a warning", "<br />\n<b>Warning</b>: x in pay.php on line 5<br />\n" + approval, false},

		{"a success in text", "Transaction successful", false},
		{"a short one", "OK", false},
		{"a repetition", "Duplicate order", false},
		{"an order that was paid before", "Order already paid", false},
		{"a repetition, as the name of an error", `{"code":403,"errorCode":"DUPLICATE_TRANSACTION"}`, false},
		{"an order that was paid before, as a name", `{"errors":[{"type":"orderAlreadyPaid"}]}`, false},
		{"what exists", `{"message":"transactionId exists"}`, false},
		{"an id of before", `{"message":"transactionId has been used"}`, false},
		{"an id that is not new", `{"message":"transactionId must be unique"}`, false},
		{"a payment of before", "The order was processed", false},
		{"a payment that waits", `{"state":"PENDING"}`, false},
		{"a refund of before", "Refund r-1 exists", false},
		{"a refund that waits", `{"message":"The refund is pending"}`, false},
		{"a refund that waits, as a name", `{"error":"REFUND_PENDING"}`, false},
		{"a state of a refund", `{"status":"REFUNDED"}`, false},
		{"a payment that was refunded", "The payment has been refunded", false},
		{"a refund in progress in Chinese", `{"message":"退款中"}`, false},
		{"a refund of before in Chinese", `{"message":"该订单已退款"}`, false},
		{"a refund that was not made", `{"message":"Refund not allowed: the amount cannot be refunded"}`, true},
		{"a refund that was not made, in Chinese", `{"message":"退款金额超限,不允许退款"}`, true},
		{"a subscription of before", "Subscription exists", false},
		{"a subscription that was begun", `{"message":"The subscription is active"}`, false},
		{"no subscription", `{"message":"no active subscription plan of this merchant"}`, true},
		{"a charge of before", "This charge was created at 10:00", false},
		{"a request that waits", "Too many requests: your request was queued", false},
		{"a payment that was begun", `{"message":"Payment initiated"}`, false},
		{"a payment of before, with its id", `{"code":400,"message":"Transaction T-1 has been processed"}`, false},
		{"an order that exists, with its id", `Order "A1B" exists`, false},
		{"a payment that was authorized", "The payment has been authorized", false},
		{"a payment in one word", "Processing", false},
		{"a state of one in progress", `{"status":"PROCESSING"}`, false},
		{"a number and such words", `{"code":400,"message":"merchant 12345 registered with 3 used keys"}`, true},
		{"a failure in progress", `{"code":400,"message":"processing failed, merchant pending"}`, true},
		{"a result that begins like a yes", `{"result":"your IP is not allowed"}`, true},
		{"an account that waits", `{"message":"the merchant account is pending review"}`, true},
		{"a state of a success", `{"state":"settled"}`, false},
		{"a truth value of a success by another name", `{"ok":true}`, false},
		{"other truth values", `{"retryable":true,"ok":false}`, true},
		{"a card that is not accepted", `{"message":"card not accepted, the card cannot be used"}`, true},
		{"a code in a message", `{"message":"failed with code 100"}`, false},
		{"an id in another spelling", `{"Transaction ID":"1"}`, false},
		{"a transaction with an id", `{"transaction":{"id":"1"}}`, false},
		{"what does not exist", `{"message":"The order does not exist"}`, true},
		{"an order of before", `{"error":"ORDER_COMPLETED"}`, false},
		{"a check that was not completed", `{"message":"authentication not completed"}`, true},
		{"an escaped word", `{"message":"dup\u006cicate"}`, false},
		{"a success in Chinese", `{"message":"支付成功"}`, false},
		{"a success in a page, in numbers", "<html>&#25903;&#20184;&#25104;&#21151;", false},
		{"a success in a page, in GBK", "<html>\xd6\xa7\xb8\xb6\xb3\xc9\xb9\xa6", false},
		{"one in progress in Chinese", `{"message":"订单支付中"}`, false},
		{"one in progress, as a name", `{"error":"TRANSACTION_IN_PROGRESS"}`, false},
		{"one in progress, with hyphens", `{"type":"payment-in-progress"}`, false},
		{"one that is handled", "The order is being handled", false},
		{"one that was handled", "The request was handled before", false},
		{"an id that has existed", `{"message":"TransactionID has existed"}`, false},
		{"a repetition in other words", "Repetitive order", false},
		{"a success in GBK", "{\"message\":\"\xd6\xa7\xb8\xb6\xb3\xc9\xb9\xa6\"}", false},
		{"a repetition in Chinese", "订单重复提交", false},
		{"a payment of before in Chinese", `{"message":"该订单已经支付"}`, false},
		{"an id of before in Chinese", `{"message":"订单号已被使用"}`, false},
		{"an expired card in Chinese", `{"message":"卡已过期"}`, true},
		{"a refusal in Chinese", `{"message":"签名错误"}`, true},
		{"one in progress", "The payment is being processed", false},
		{"one that failed in progress", "The request could not be processed", true},
		{"a page with a background", "<html><style>body{background:no-repeat}</style>", true},
		{"a code in words", "the code is 100", false},
		{"another code", "resultCode: 100", false},
		{"no success", "Unsuccessful: the account is unpaid", true},
		{"a success in an object", `{"message":"Payment approved"}`, false},
		{"a repetition in an object", `{"message":"duplicate transactionId"}`, false},
		{"a truth value of a success", `{"isSuccess":true}`, false},
		{"a status of a success", `{"status": "success"}`, false},
		{"a truth value of no success", `{"success":false,"message":"no"}`, true},
		{"another code in an object", `{"resp_code":"100"}`, false},
		{"a status of an approval", `{"status":100}`, false},
		{"a status of a refusal", `{"status":403}`, true},
		{"another id in an object", `{"merchantTransactionId":"t-1"}`, false},

		{"an empty object", "{}", true},
		{"an object with a message", `{"message":"Forbidden"}`, true},
		{"an object in an object", `{"error":{"code":403,"message":"no","details":[{"reason":"x"},1,null]}}`, true},
		{"violations by field", `{"errors":[{"field":"transactionId","message":"is too long"}]}`, true},
		{"violations of fields", `{"errors":{"transactionId":["is too long"]}}`, true},
		{"a message about a member", `{"message":"transactionId is required"}`, true},
		{"a message with a list", `{"message":"not one of [a, b]"}`, true},
		{"members without a value", `{"transactionAmount":null,"Redirect_Url":"","data":{"uniqueId":null}}`, true},

		{"a list", "[" + approval + "]", false},
		{"an empty list", "[]", false},
		{"a string", string(quoted), false},
		{"an empty string", `""`, false},
		{"a number", "100", false},
		{"a truth value", "true", false},
		{"null", "null", false},
		{"text before an object", "OK " + approval, false},
		{"text after an object", approval + " OK", false},
		{"text before a list", "result: [100]", false},
		{"text with a member", `"code": 100`, false},
		{"two objects", "{}" + approval, false},
		{"two objects in lines", "{}\n{}", false},
		{"a cut object", approval[:20], false},
		{"a repeated member", `{"code":400,"code":100`, false},
		{"an object after a guard", ")]}',\n" + approval, false},
		{"an object in a call", "callback(" + approval + ")", false},
		{"an object with names without quotes", "{code:100}", false},
		{"a byte order mark", "\uFEFF" + approval, false},
		{"a byte order mark before text", "\uFEFFForbidden", false},
		{"a byte order mark before a page", "\uFEFF<html>", false},
		{"UTF-16", utf16(approval), false},
		{"UTF-16 text", utf16("Forbidden"), false},
		{"UTF-16 page", utf16("<html>"), false},
		{"Latin-1", "Zugriff verweigert f\xfcr", false},
		{"gzip", gzipped, false},
		{"gzip of less", "\x1f\x8b\x08", false},
		{"control characters", "Forbidden\x00", false},
		{"a hidden character", "For\u200bbidden", false},
		{"a form", "code=100&transactionId=t-1", false},
		{"an escaped object", "%7B%22code%22%3A100%7D", false},
		{"escapes", `\u007b\u0022code`, false},
		{"base64", "eyJjb2RlIjoxMDAsInVuaXF1ZUlkIjoiMSJ9", false},
		{"YAML", "code: 100\nmessage: done", false},
		{"YAML with an id", "transaction_id: t-1", false},
		{"an id in text", "uniqueId 1", false},
		{"XML", `<?xml version="1.0"?><response><code>100</code></response>`, false},
		{"XML without a declaration", "<response><code>100</code></response>", false},
		{"XML with a comment", "<!-- html --><response/>", false},
		{"XML that begins like HTML", "<htmlResponse>", false},
		{"XML of a name space", "<html:response>", false},
		{"SOAP", "<soap:Envelope>", false},
		{"an unfinished tag", "<", false},

		{"an amount", `{"transactionAmount":"12.50"}`, false},
		{"an amount of a refund", `{"refundAmount":"12.50"}`, false},
		{"a currency", `{"transactionCurrency":"EUR"}`, false},
		{"a currency of a refund", `{"refundCurrency":"EUR"}`, false},
		{"a card", `{"transactionCardNumber":"453900******0000"}`, false},
		{"a redirect", `{"redirectUrl":"https://pay.example/p"}`, false},
		{"another spelling of an id", `{"UniqueID":"1"}`, false},
		{"another spelling of two words", `{"transaction_id":7}`, false},
		{"another spelling of the code", `{"Code":100}`, false},
		{"a transaction in an object", `{"data":` + approval + `}`, false},
		{"a transaction in a list in an object", `{"data":[1,[` + approval + `]]}`, false},
		{"a refund in an object", `{"result":{"merchantRefundId":"r-1"}}`, false},
		{"a code in an object", `{"result":{"code":"102"}}`, false},
		{"a transaction in a text", `{"body":` + string(quoted) + `}`, false},
		{"a transaction after words in a text", `{"message":"upstream said {\"code\": 100}"}`, false},
		{"a transaction in a text in a list", `{"body":[` + string(quoted) + `]}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refusing([]byte(tt.body), verdict.Statement{}); got != tt.want {
				t.Errorf("%s: %q: refused: got %t", tt.name, tt.body, got)
			}
		})
	}
}

const gzipped = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xaaV*.I,IU\xb2R\xca\xcfV\xaa\x05\x04\x00\x00\xff\xff"

// TestRefusalsByStatement: what an object says of its own, by its Statement.
func TestRefusalsByStatement(t *testing.T) {
	for _, tt := range []struct {
		name string
		says verdict.Statement
		want bool
	}{
		{"a refusal", verdict.Statement{Code: 400, Refuses: true}, true},
		{"a refusal that names the payment", verdict.Statement{Code: 400, Refuses: true, HasMerchantID: true}, true},
		{"a decline that names the payment", verdict.Statement{Code: 101, State: verdict.Declined, HasMerchantID: true}, true},
		{"the status as code", verdict.Statement{Code: 403, HasMerchantID: true}, true},
		{"the payment without a code", verdict.Statement{HasMerchantID: true}, false},
		{"a code that is none of a refusal", verdict.Statement{Code: 999}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refusing([]byte("{}"), tt.says); got != tt.want {
				t.Errorf("%s: refused: got %t", tt.name, got)
			}
		})
	}
}

// FuzzRefusals: a body that contains a transaction is no refusal, whatever else it contains.
func FuzzRefusals(f *testing.F) {
	for _, seed := range []string{"", "Forbidden", "[]", `{"a":[{"b":"c"}]}`, `"{}"`, "<html>", "100", "{}{}", ")]}'", "\uFEFF{}", "a=b"} {
		f.Add(seed, uint8(0))
	}
	const approval = `{"code":100,"uniqueId":"1","transactionId":"t-1"}`
	f.Fuzz(func(t *testing.T, text string, at uint8) {
		page := strings.HasPrefix(strings.TrimSpace(text), "<")
		refused := refusing([]byte(text), verdict.Statement{})
		var value any
		if err := json.Unmarshal([]byte(text), &value); err == nil {
			if _, isObject := value.(map[string]any); !isObject && refused {
				t.Errorf("%q is JSON and no object, and refuses", text)
			}
		}
		if !utf8.ValidString(text) && !page && refused {
			t.Errorf("%q is no text, and refuses", text)
		}
		cut := int(at) % (len(text) + 1)
		with := text[:cut] + approval + text[cut:]
		if strings.TrimSpace(with) != approval && refusing([]byte(with), verdict.Statement{}) {
			t.Errorf("%q contains a transaction, and refuses", with)
		}
	})
}
