package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// form is a response that a description allows, with one code; for a page, the code of its row.
type form struct {
	code   int
	schema schema // of the response, merged
	row    schema // of the row of a page, merged; nil if it is none
	places []place
}

// forms returns all responses of an operation.
func (op *operation) forms() (list []form) {
	for _, branch := range subschemas(op.result, "anyOf") {
		branch = merged(branch)
		code := merged(properties(branch)["code"].(schema))
		codes := asList(code["enum"])
		if code["const"] != nil {
			codes = append(codes, code["const"])
		}
		for _, c := range codes {
			n, _ := strconv.Atoi(fmt.Sprint(c))
			f := form{code: n, schema: branch, places: places(branch, nil)}
			data, isPage := properties(branch)["data"].(schema)
			if !isPage {
				list = append(list, f)
				continue
			}
			for _, row := range subschemas(data["items"].(schema), "anyOf") {
				f.row = merged(row)
				f.places = append(places(branch, nil), places(f.row, path{"data", 0})...)
				list = append(list, f)
			}
		}
	}
	return list
}

// document returns a response of the form, about what the call requested.
func (f form) document(v values, c call) map[string]any {
	document := v.of(f.schema, "").(map[string]any)
	if f.row != nil {
		row := v.of(f.row, "").(map[string]any)
		document["data"] = []any{row}
		return document
	}
	document["code"] = json.Number(strconv.Itoa(f.code))
	for member, value := range c.echo() {
		if document[member] != nil {
			document[member] = value
		}
	}
	return document
}

// oneRefundID leaves one of the two names of the merchant's refund id in each row of a page; the one at p, if p is one of
// them.
func oneRefundID(document map[string]any, p path) map[string]any {
	rows, _ := document["data"].([]any)
	for i, row := range rows {
		members, _ := row.(map[string]any)
		if members["merchantRefundId"] == nil || members["refundTransactionId"] == nil {
			continue
		}
		other := "refundTransactionId"
		if p.name() == other {
			other = "merchantRefundId"
		}
		changed, _ := with(document, path{"data", i, other}, absent{})
		document = changed.(map[string]any)
	}
	return document
}

// echo returns what a response has to repeat of the request.
func (c call) echo() map[string]any {
	sent, _ := c.document.(map[string]any)
	switch {
	case slices.Contains(paymentOperations, c.operation):
		return map[string]any{"transactionId": sent["transactionId"], "transactionAmount": sent["amount"], "transactionCurrency": sent["currency"]}
	case c.operation == "GetTransaction":
		return map[string]any{"uniqueId": sent["uniqueId"]}
	case c.operation == "CreateRefund":
		return map[string]any{
			"uniqueId": sent["uniqueId"], "refundTransactionId": sent["refundTransactionId"], "merchantRefundId": sent["refundTransactionId"],
			"refundAmount": sent["amount"],
		}
	}
	return nil
}

// responses compares what the client reads with the description.
type responses struct {
	op    *operation
	call  call
	meant departures

	stopAtFirst bool // one disagreement is enough

	cases, allowed, forbidden, notSaid int
	disagreements                      []string
}

// Departures for responses: the client accepts some that are not described, and rejects some that are.
func responseDepartures() departures {
	return newDepartures(
		departure{name: "scalar", reason: "the client reads numbers and truth values as text and text as those, and null as a missing member"},
		departure{name: "missing", reason: "a row of a query may lack all but what was asked for, a page what nothing hangs on, and a payment its uniqueId"},
		departure{name: "timestamp", reason: "nothing depends on when a page was made"},
		departure{name: "address", reason: "beside a card or token that was sent, and in an error, an address keeps nothing that could not be read"},
		departure{name: "form", reason: "the client keeps a currency, a masked card number and a date without a time as they are: nothing is decided by their form"},
		departure{name: "code", reason: "the client knows every code for every operation, and keeps an unknown one in a row, or that there is none"},
		departure{name: "refusal", reason: "of a refusal, and of an upload, the code alone decides"},
		departure{name: "decline", reason: "a decline that names anything has to name its transactionId, or the client does not believe it"},
		departure{name: "masked", reason: "what could be a card number is masked in every text"},
		departure{name: "redirect", reason: "the client sends nobody to a URL with user info, or to one that it could not open"},
	)
}

func newResponses(op *operation, meant departures) *responses {
	v := newValues(*seed)
	v.client, v.full = true, true
	document := v.of(op.input(), "")
	if members, ok := document.(map[string]any); ok {
		for _, name := range []string{"transactionId", "orderId", "refundTransactionId"} {
			if members[name] != nil {
				members[name] = name + "-1"
			}
		}
		if members["amount"] != nil {
			members["amount"] = "12.50"
		}
	}
	return &responses{op: op, call: call{op.name, document}, meant: meant}
}

func (r *responses) disagree(p path, value any, format string, args ...any) {
	r.disagreements = append(r.disagreements,
		fmt.Sprintf("%s: response, %q with %.160s: %s", r.op.name, p, encode(valueText(value)), fmt.Sprintf(format, args...)))
}

// compare lets the client read a response. The value is the special one in it, at p.
func (r *responses) compare(document map[string]any, p path, value any) {
	if r.stopAtFirst && r.disagreements != nil {
		return
	}
	document = oneRefundID(document, p)
	described := r.op.check("result", inClosed, document)
	if _, echoed := r.call.echo()[p.name()]; echoed && described == nil && value != any(absent{}) {
		r.notSaid++ // of another transaction, or in another form of the amount
		return
	}
	if text, ok := value.(string); ok && described == nil && strings.HasSuffix(p.name(), "At") && !possible(map[string]any{"startDate": text}) {
		r.notSaid++
		return
	}
	r.cases++
	x, err := r.call.do(func(*message) (int, []byte) { return 200, encode(document) })
	if err != nil {
		r.disagree(p, value, "the request of the test: %v", err)
		return
	}
	if x.sent == nil {
		r.disagree(p, value, "the request of the test was not sent: %v", x.err)
		return
	}
	problem := r.read(document, x)
	if described == nil {
		r.allowed++
		if problem != "" && !r.refusesMeant(document, value) {
			r.disagree(p, value, "described, but %s: %s", problem, encode(document))
		}
		return
	}
	r.forbidden++
	if problem == "" && !r.readsMeant(document, p, value) {
		r.disagree(p, value, "the client reads it, and it is not described: %s: %v", encode(document), short(described))
	}
}

// read returns why the client did not read the whole response correctly, or "".
func (r *responses) read(document map[string]any, x exchange) string {
	code, err := strconv.Atoi(fmt.Sprint(document["code"]))
	if err != nil {
		return "the code is no number"
	}
	if want := r.outcome(code); !errors.Is(x.err, want) {
		return fmt.Sprintf("the error is %v, want %v", x.err, want)
	}
	result := x.result
	payment, isPayment := errors.AsType[*cardgateway.DeclinedError](x.err)
	refund, isRefund := errors.AsType[*cardgateway.RefundDeclinedError](x.err)
	if isPayment || isRefund {
		if isPayment {
			result = payment.Transaction
		} else {
			result = refund.Refund
		}
		if kept := extras(reflect.ValueOf(result)); kept != nil {
			return fmt.Sprintf("not read: %v", kept)
		}
		return "" // masked, so not compared
	}
	if result == nil || x.err != nil {
		return ""
	}
	if kept := extras(reflect.ValueOf(result)); kept != nil {
		return fmt.Sprintf("not read: %v", kept)
	}
	got := clienttest.ReadTexts(result)
	for path, want := range clienttest.DocumentedTexts(document) {
		if want != "" && got[path] != want && !sameAmount(got[path], want) {
			return fmt.Sprintf("%s is %q, want %q", path, got[path], want)
		}
	}
	return ""
}

// outcome returns the error for a code of the operation, or nil.
func (r *responses) outcome(code int) error {
	isRefusal := slices.Contains([]int{201, 400, 401, 404, 500}, code)
	switch r.op.name {
	case "SearchOrders", "SearchRefunds":
		if code != 121 {
			return cardgateway.ErrQueryFailed
		}
		return nil
	case "GetTransaction":
		switch {
		case code == 404:
			return cardgateway.ErrNotFound
		case isRefusal, code == 122, code == 501, code == 999:
			return cardgateway.ErrQueryFailed
		}
		return nil
	case "UploadTrackingNumbers":
		if code != 141 {
			return cardgateway.ErrRefused
		}
		return nil
	case "CreateRefund":
		switch code {
		case 110, 111:
			return nil
		case 112:
			return cardgateway.ErrDeclined
		}
	default:
		switch code {
		case 100, 102, 301:
			return nil
		case 101, 103:
			return cardgateway.ErrDeclined
		}
	}
	if isRefusal {
		return cardgateway.ErrRefused
	}
	return cardgateway.ErrOutcomeUnknown
}

func sameAmount(a, b string) bool {
	x, err := decimal.NewFromString(a + strings.Repeat("0", max(0, 1-len(a))))
	y, err2 := decimal.NewFromString(b)
	return err == nil && err2 == nil && x.Equal(y)
}

// extras returns the members that the client could not read, from all Extra fields of a result.
func extras(v reflect.Value) (names []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return extras(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			names = append(names, extras(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "Extra" {
				for _, key := range v.Field(i).MapKeys() {
					names = append(names, key.String())
				}
			} else if v.Type().Field(i).IsExported() {
				names = append(names, extras(v.Field(i))...)
			}
		}
	}
	return names
}

// longDigits finds digits that could be a card number.
var longDigits = regexp.MustCompile(`[0-9]{13}`)

// refusesMeant reports whether the client rejects a described response on purpose.
func (r *responses) refusesMeant(document map[string]any, value any) bool {
	isPayment := slices.Contains(paymentOperations, r.op.name)
	if text, ok := value.(string); ok && longDigits.MatchString(text) {
		return r.meant.take("masked")
	}
	code := fmt.Sprint(document["code"])
	switch {
	case (isPayment && (code == "101" || code == "103") && document["transactionId"] == nil) ||
		r.op.name == "CreateRefund" && code == "112" && document["refundTransactionId"] == nil && document["merchantRefundId"] == nil:
		return r.meant.take("decline")
	case isPayment || r.op.name == "GetTransaction" || r.op.name == "SearchOrders":
		return hasOddURL(document) && r.meant.take("redirect")
	}
	return false
}

// hasOddURL reports whether a redirectUrl differs from those that the tests usually send.
func hasOddURL(document map[string]any) bool {
	if rows, ok := document["data"].([]any); ok && len(rows) == 1 {
		document, _ = rows[0].(map[string]any)
	}
	text, _ := document["redirectUrl"].(string)
	return text != "" && !strings.HasPrefix(text, "https://pay.example/")
}

// readsMeant reports whether the client accepts on purpose what is not described.
func (r *responses) readsMeant(document map[string]any, p path, value any) bool {
	name := p.name()
	isForm := strings.HasSuffix(name, "Currency") || name == "transactionCardNumber" || strings.HasSuffix(name, "At")
	code, _ := strconv.Atoi(fmt.Sprint(document["code"]))
	sendsSecret := r.op.name == "TokenPayment" || r.op.name == "CreateSubscription"
	switch _, isText := value.(string); {
	case name == "code" && (value != any(absent{}) || len(p) > 1):
		return r.meant.take("code")
	case r.op.check("result", asDescribed, document) == nil:
		return false // a member that is not described
	case r.isRefusal(code), r.op.name == "UploadTrackingNumbers" && name != "code":
		return r.meant.take("refusal")
	case value == any(absent{}) && name != "code" && (r.op.body == nil || name == "uniqueId") && !(r.op.name == "GetTransaction" && name == "uniqueId"):
		return r.meant.take("missing")
	case name == "data" && string(encode(value)) == "[{}]":
		return r.meant.take("missing")
	case name == "timestamp" && len(p) == 1 && strings.HasPrefix(r.op.name, "Search"):
		return r.meant.take("timestamp")
	case len(p) > 1 && p[0] == "billingAddress" && (code == 101 || code == 103 || sendsSecret):
		return r.meant.take("address")
	case isText && value != "" && isForm:
		return r.meant.take("form")
	case value == nil, isNumber(value), isText, value == true, value == false:
		return r.meant.take("scalar")
	}
	return false
}

func (r *responses) isRefusal(code int) bool {
	return code == 122 || code == 142 || code >= 201 && code != 301
}

func isNumber(value any) bool {
	_, ok := value.(json.Number)
	return ok
}

func TestResponsesReadByTheClient(t *testing.T) {
	t.Parallel()
	d, err := read(served(t))
	if err != nil {
		t.Fatal(err)
	}
	meant := responseDepartures()
	allMembers, cases, disagreements := 0, 0, 0
	for _, op := range d.operations {
		r := newResponses(op, meant)
		v := newValues(*seed)
		members, seen := 0, make(map[string]bool)
		for _, f := range op.forms() {
			r.whole(v, f, 20)
			for _, at := range f.places {
				kind := at.path.String() + fmt.Sprint(r.isRefusal(f.code))
				if !seen[kind] || at.required && !r.isRefusal(f.code) { // the optional members are those of the form before
					seen[kind] = true
					r.around(v, f, at)
					members++
				}
			}
		}
		t.Logf("%-27s %2d forms, %3d members, %5d responses: %5d allowed, %5d forbidden; %d of what no schema can say; disagreements %d",
			op.name, len(op.forms()), members, r.cases, r.allowed, r.forbidden, r.notSaid, len(r.disagreements))
		allMembers, cases, disagreements = allMembers+members, cases+r.cases, disagreements+len(r.disagreements)
		for _, text := range r.disagreements[:min(len(r.disagreements), 5)] {
			t.Error(text)
		}
	}
	t.Logf("%d operations, %d members, %d responses; disagreements %d", len(d.operations), allMembers, cases, disagreements)
	meant.report(t)
}

// whole lets the client read responses with random values: all are described.
func (r *responses) whole(v values, f form, n int) {
	for range n {
		r.compare(f.document(v, r.call), path{"(whole)"}, absent{})
	}
}

// around changes one member of a full and of a minimal response.
func (r *responses) around(v values, f form, at place) {
	full := v
	full.full = true
	bases := []map[string]any{f.document(full, r.call), f.document(v, r.call)}
	for i, value := range v.near(at.schema, at.path.name()) {
		changed, ok := with(bases[i%4/3], at.path, value)
		if !ok {
			changed, ok = with(bases[0], at.path, value)
		}
		if ok {
			r.compare(changed.(map[string]any), at.path, value)
		}
	}
}
