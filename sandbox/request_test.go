package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// interfaceTable is the part of testdata/interface.json that these tests use.
type interfaceTable struct {
	Operations, PublishedOperations []struct {
		Name, Method, Path, Body string
		Payment                  bool
		Members                  []tableMember
	}
	Objects, PublishedMembers map[string][]tableMember
}

func readInterface(t *testing.T) interfaceTable {
	t.Helper()
	data, err := os.ReadFile("../testdata/interface.json")
	if err != nil {
		t.Fatal(err)
	}
	var table interfaceTable
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

// TestRequired leaves out every required member of every payment operation, and gives every member another type.
func TestRequired(t *testing.T) {
	checked := 0
	for _, op := range readInterface(t).Operations {
		if !op.Payment {
			continue
		}
		g := New(Options{})
		path := strings.ReplaceAll(op.Path, "{tokenization}", newToken(t, g, "token order", Approved))
		try := func(t *testing.T, changes map[string]any) answer {
			return send(t, g, op.Method, path, body(t.Name(), changes))
		}
		t.Run(op.Name+"/whole", func(t *testing.T) {
			if code := try(t, nil).code(); code != 100 && code != 102 && code != 301 {
				t.Errorf("code = %d, want a success", code)
			}
		})
		for _, m := range op.Members {
			wrong := map[string]map[string]any{}
			if m.Required == "R" {
				wrong["missing"] = map[string]any{m.Name: nil}
				wrong["null"] = map[string]any{m.Name: json.RawMessage("null")}
			}
			if m.RequiredWhen == "secure" {
				wrong["missing when secure"] = map[string]any{m.Name: nil, "secure": true}
			}
			wrong["wrong type"] = map[string]any{m.Name: []any{[]any{1}}}
			for what, changes := range wrong {
				checked++
				t.Run(op.Name+"/"+m.Name+" "+what, func(t *testing.T) {
					a := try(t, changes)
					if a.code() != 500 || !strings.Contains(a.str("transactionMessage"), m.Name) {
						t.Errorf("answer %s, want code 500 that names %s", a.text, m.Name)
					}
					if n := g.Executed(t.Name()); n != 0 {
						t.Errorf("Executed = %d, want 0", n)
					}
				})
			}
		}
	}
	if checked < 120 {
		t.Errorf("only %d cases came out of the table", checked)
	}
}

// TestPublishedRequiredAndLimits does the same for the operations that are only published, and makes every member as long as it may be,
// and longer.
func TestPublishedRequiredAndLimits(t *testing.T) {
	checked := 0
	for _, op := range readInterface(t).PublishedOperations {
		g := New(Options{RefundDuplicates: RefundDuplicatesExecuted})
		paid := send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId")
		try := func(changes map[string]any) answer {
			m := map[string]any{"uniqueId": paid, "amount": "0.01", "refundTransactionId": "r-1", "company": "SF"}
			for name, value := range changes {
				m[name] = value
			}
			if op.Body == "Array" {
				return send(t, g, op.Method, op.Path, []any{m})
			}
			return send(t, g, op.Method, op.Path, m)
		}
		if code := try(nil).code(); code != 110 && code != 141 {
			t.Errorf("%s: code = %d, want a success", op.Name, code)
		}
		for _, m := range op.Members {
			wrong := map[string]any{"wrong type": []any{[]any{1}}}
			if m.Required == "R" {
				wrong["null"] = json.RawMessage("null")
			}
			if m.Limit > 0 {
				wrong["too long"] = strings.Repeat("1", m.Limit+1)
				if a := try(map[string]any{m.Name: strings.Repeat("1", m.Limit)}); a.code() == 500 {
					t.Errorf("%s, %s of %d characters: answer %s, want it accepted", op.Name, m.Name, m.Limit, a.text)
				}
			}
			for what, value := range wrong {
				checked++
				if a := try(map[string]any{m.Name: value}); a.code() != 500 || !strings.Contains(a.str("transactionMessage"), m.Name) {
					t.Errorf("%s, %s %s: answer %s, want code 500 that names it", op.Name, m.Name, what, a.text)
				}
			}
		}
	}
	if checked < 18 {
		t.Errorf("only %d cases came out of the table", checked)
	}
}

// TestDocumentedRequests sends every request of testdata/exchanges: the sandbox must understand all of them.
func TestDocumentedRequests(t *testing.T) {
	files, err := filepath.Glob("../testdata/exchanges/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		name := strings.TrimPrefix(file, "../testdata/exchanges/")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var exchange struct {
				Token   string
				Request struct {
					Method, Path, Query string
					Body                json.RawMessage
				}
			}
			if err := json.Unmarshal(data, &exchange); err != nil {
				t.Fatal(err)
			}
			g := New(Options{NoNotifications: true})
			r := exchange.Request
			path := strings.Replace(r.Path, exchange.Token, newToken(t, g, "token order", Approved), 1)
			if exchange.Token == "" {
				path = r.Path
			}
			if r.Query != "" {
				path += "?" + r.Query
			}
			a := send(t, g, r.Method, path, string(r.Body))
			if code := a.code(); code == 500 || code == 404 && !strings.HasPrefix(r.Path, "/search/order/") {
				t.Errorf("refused: %s", a.text)
			}
		})
	}
}

// TestValues tests values that are refused or accepted for other reasons than a limit; see TestEveryLimit.
func TestValues(t *testing.T) {
	tests := []struct {
		name    string
		changes map[string]any
		problem string // "" means accepted
	}{
		{"amount as a number", map[string]any{"amount": json.Number("8.80")}, ""},
		{"amount without decimals", map[string]any{"amount": "123456789012"}, ""},
		{"amount zero", map[string]any{"amount": "0.00"}, "amount"},
		{"amount negative", map[string]any{"amount": "-1"}, "amount"},
		{"amount in exponent form", map[string]any{"amount": "1e3"}, "amount"},
		{"amount ends in a point", map[string]any{"amount": "10."}, "amount"},
		{"currency lower case", map[string]any{"currency": "usd"}, "currency"},
		{"currency of two letters", map[string]any{"currency": "US"}, "currency"},
		{"appId as text", map[string]any{"appId": "77"}, ""},
		{"appId with a fraction", map[string]any{"appId": json.Number("7.5")}, "appId"},
		{"URL without scheme", map[string]any{"callbackUrl": "shop.example/back"}, "callbackUrl"},
		{"URL of a file", map[string]any{"notificationUrl": "file://localhost/etc/passwd"}, "notificationUrl"},
		{"no products", map[string]any{"productInfos": []any{}}, "productInfos"},
		{"product is text", map[string]any{"productInfos": []any{"candle"}}, "productInfos[0]"},
		{"product quantity", map[string]any{"productInfos": []any{map[string]any{"quantity": 1.5}}}, "productInfos[0].quantity"},
		{"billing without country", map[string]any{"billingAddress": map[string]any{"city": "X"}}, "billingAddress.country"},
		{"secure with browser", map[string]any{"secure": true, "browser": map[string]any{"userAgent": "x"}}, ""},
		{"unknown member", map[string]any{"somethingElse": 1}, ""},
		{"card number", map[string]any{"card": map[string]any{"cardNumber": "4300"}}, "card.cardNumber"},
		{"no cycle", map[string]any{"extension": map[string]any{"subscriptionPeriod": 3}}, "extension.subscriptionCycle"},
		{"period zero", map[string]any{"extension": map[string]any{"subscriptionCycle": "WEEK", "subscriptionPeriod": 0}}, "extension.subscriptionPeriod"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := send(t, New(Options{}), "POST", "/api/subscription", body("t", tt.changes))
			refused := a.code() == 500 && strings.Contains(a.str("transactionMessage"), tt.problem)
			if refused != (tt.problem != "") {
				t.Errorf("answer %s, want problem %q", a.text, tt.problem)
			}
		})
	}
}

func TestMalformedBodies(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"array":             "[]",
		"cut":               `{"transactionId":"a"`,
		"repeated member":   `{"transactionId":"a","transactionId":"b"}`,
		"trailing data":     `{} {}`,
		"invalid UTF-8":     "{\"transactionId\":\"\xff\"}",
		"repeated in depth": `{"billingAddress":{"country":"US","country":"DE"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			wantCode(t, send(t, New(Options{}), "POST", "/checkout/payment", text), 500)
		})
	}
}

// FuzzDecodePayment searches for a body that the decoder accepts although a required member is missing, or that makes it
// panic.
func FuzzDecodePayment(f *testing.F) {
	f.Add([]byte(encode(f, body("t", nil))))
	f.Add([]byte(`{"amount":1e400,"appId":-1,"card":{"cvv":"1"},"productInfos":[null]}`))
	f.Add([]byte(`{"amount":"","secure":null,"browser":[],"extension":{"subscriptionPeriod":"x"}}`))
	operations := []Operation{OpCreateTokenOrder, OpTokenPayment, OpCreateSubscription, OpCreateCheckout, OpCreateCheckoutSubscription}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, op := range operations {
			p, problems := decodePayment(op, data, false)
			if len(problems) > 0 {
				continue
			}
			if p.transactionID == "" || p.callbackURL == "" || len(p.currency) != 3 || money.Thousandths(p.amount) <= 0 {
				t.Errorf("%s: accepted with %+v", op, p)
			}
			if op == OpCreateSubscription && !strings.Contains(p.card.masked, "*") {
				t.Errorf("card is not masked: %q", p.card.masked)
			}
		}
		_, _ = decodeRefund(data)
	})
}
