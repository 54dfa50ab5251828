package sandbox

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCardDecides(t *testing.T) {
	tests := []struct {
		outcome                     Outcome
		direct, token, hosted, paid int // codes of the answers and, for the hosted page, of the query afterwards; charges
	}{
		{Approved, 100, 102, 100, 1},
		{Pending, 102, 102, 102, 0},
		{Challenged, 301, 301, 301, 0},
		{Declined, 101, 101, 101, 0},
	}
	for _, tt := range tests {
		t.Run(tt.outcome.String(), func(t *testing.T) {
			g := New(Options{})
			wantCode(t, send(t, g, "POST", "/api/subscription", body("direct", map[string]any{"card": cardBody(tt.outcome)})), tt.direct)
			token := body("token", map[string]any{"appId": nil}) // a token made without a page says no appId
			wantCode(t, send(t, g, "POST", "/checkout/tokenization/payment/"+g.NewToken(tt.outcome), token), tt.token)
			a := send(t, g, "POST", "/checkout/payment", body("hosted", nil))
			wantCode(t, a, 301)
			enter(t, g, a.str("redirectUrl"), tt.outcome)
			wantCode(t, send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil), tt.hosted)
			for _, id := range []string{"direct", "token", "hosted"} {
				if got := g.Executed(id); got != tt.paid {
					t.Errorf("Executed(%q) = %d, want %d", id, got, tt.paid)
				}
			}
		})
	}
}

func TestOutcomeOf(t *testing.T) {
	for cvv, want := range map[string]Outcome{
		"001": Approved, "599": Approved, "600": Pending, "699": Pending, "700": Challenged, "799": Challenged,
		"800": Declined, "999": Declined, "000": Declined, "1234": Approved, "9650": Pending,
	} {
		if got := outcomeOf(cvv); got != want {
			t.Errorf("CVV %s: %v, want %v", cvv, got, want)
		}
	}
}

func TestMaskedCard(t *testing.T) {
	for number, want := range map[string]string{
		"430000000000":        "430000**0000",
		"4300 0000 0000 0000": "430000******0000",
		"4300000000000000019": "430000*********0019",
	} {
		e := TestCard(Approved)
		e.Number = number
		c, invalid := readCard(e)
		if c.masked != want || invalid != nil {
			t.Errorf("readCard(%q) = %q, %v, want %q", number, c.masked, invalid, want)
		}
	}
}

// TestAnswerMembers compares the members of each response with those that the interface documents for it.
func TestAnswerMembers(t *testing.T) {
	g := New(Options{})
	token := newToken(t, g, "order", Approved)
	common := []string{
		"appId", "billDescription", "code", "isTest", "message", "timestamp", "transactionAmount", "transactionAt",
		"transactionCurrency", "transactionId", "transactionMessage", "uniqueId",
	}
	tests := []struct {
		name   string
		answer answer
		more   []string
	}{
		{"token create", send(t, g, "POST", "/checkout/tokenization/create", body("1", nil)), []string{"redirectUrl"}},
		{"token payment", send(t, g, "POST", "/checkout/tokenization/payment/"+token, body("2", nil)),
			[]string{"is3d", "transactionCardNumber", "transactionMethod", "transactionType"}},
		{"subscription", send(t, g, "POST", "/api/subscription", body("3", nil)), []string{"transactionCardNumber"}},
		{"checkout", send(t, g, "POST", "/checkout/payment", body("4", nil)), []string{"redirectUrl"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for name := range tt.answer.data {
				got = append(got, name)
			}
			want := append(slices.Clone(common), tt.more...)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("members %v, want %v", got, want)
			}
		})
	}
	a := tests[1].answer
	for name, want := range map[string]any{
		"message": "order processing", "transactionMessage": "success.", "transactionMethod": "CreditCard",
		"transactionType": "Tokenization", "is3d": "false", "isTest": true, "transactionId": "2",
		"transactionAmount": "8.80", "transactionCardNumber": "430000******0000",
		"appId": json.Number("98765432109876543210"),
	} {
		if got := a.data[name]; got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	row := send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil)
	billing, _ := row.data["billingAddress"].(map[string]any)
	if billing["country"] != "US" || billing["zipCode"] != "62701" {
		t.Errorf("billingAddress = %v, want that of the token order", billing)
	}
	if _, has := billing["state"]; has {
		t.Error("billingAddress carries the state, which the interface says is absent in response copies")
	}
}

func TestDuplicates(t *testing.T) {
	tests := []struct {
		mode                   Duplicates
		sameID, sameOrder      int // codes of the second request
		executedID, executedNo int // charges of the repeated transactionId, and of the second one of the order
	}{
		{DuplicatesRefused, 501, 101, 1, 0},
		{DuplicatesDeclined, 101, 101, 1, 0},
		{DuplicatesExecuted, 100, 100, 2, 1},
		{DuplicatesPerOrder, 101, 101, 1, 0},
	}
	for _, tt := range tests {
		g := New(Options{Duplicates: tt.mode})
		pay := func(id string) answer {
			return send(t, g, "POST", "/api/subscription", body(id, map[string]any{"orderId": "one order"}))
		}
		wantCode(t, pay("a"), 100)
		wantCode(t, pay("a"), tt.sameID)
		second := pay("b")
		wantCode(t, second, tt.sameOrder)
		if got := g.Executed("a"); got != tt.executedID {
			t.Errorf("mode %d: Executed(a) = %d, want %d", tt.mode, got, tt.executedID)
		}
		if got := g.Executed("b"); got != tt.executedNo {
			t.Errorf("mode %d: Executed(b) = %d, want %d", tt.mode, got, tt.executedNo)
		}
		if tt.sameOrder == 101 && second.str("transactionMessage") == "" {
			t.Errorf("mode %d: refused without a reason: %s", tt.mode, second.text)
		}
	}
}

// TestPerOrderRaces: two concurrent payments for one order are both charged.
func TestPerOrderRaces(t *testing.T) {
	for mode, want := range map[Duplicates]int{DuplicatesPerOrder: 2, DuplicatesRefused: 1} {
		synctest.Test(t, func(t *testing.T) {
			g := New(Options{Duplicates: mode})
			g.Inject(Fault{Times: -1, Before: time.Second})
			var group sync.WaitGroup
			for _, id := range []string{"a", "b"} {
				group.Go(func() {
					resp, err := exchange(g, "POST", "/api/subscription", body(id, map[string]any{"orderId": "one"}))
					if err != nil {
						t.Error(err)
						return
					}
					resp.Body.Close()
				})
			}
			group.Wait()
			if got := g.Executed("a") + g.Executed("b"); got != want {
				t.Errorf("mode %d: charged %d times, want %d", mode, got, want)
			}
		})
	}
}

func TestOneSuccessPerOrder(t *testing.T) {
	g := New(Options{})
	order := map[string]any{"orderId": "one"}
	first := send(t, g, "POST", "/checkout/payment", body("a", order))
	second := send(t, g, "POST", "/checkout/payment", body("b", order))
	for _, a := range []answer{first, second} {
		enter(t, g, a.str("redirectUrl"), Approved)
	}
	wantCode(t, send(t, g, "GET", "/search/order/"+first.str("uniqueId"), nil), 100)
	wantCode(t, send(t, g, "GET", "/search/order/"+second.str("uniqueId"), nil), 101)
	wantCode(t, send(t, g, "POST", "/checkout/payment", body("c", order)), 101)
	wantCode(t, send(t, g, "POST", "/checkout/tokenization/create", body("d", order)), 301) // takes no money
}

func TestSettling(t *testing.T) {
	tests := []struct {
		name          string
		opts          Options
		card          Outcome
		answer        int
		before, after int // codes when queried at once, and 10 s later
	}{
		{"at once", Options{}, Approved, 102, 100, 100},
		{"after a while", Options{SettleAfter: 5 * time.Second}, Approved, 102, 102, 100},
		{"never by itself", Options{SettleAfter: -1}, Approved, 102, 102, 102},
		{"declined later", Options{SettleAfter: 5 * time.Second, Cards: Cards{DeclineLater: true}}, Declined, 102, 102, 101},
		{"pending card", Options{}, Pending, 102, 102, 102},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := New(tt.opts)
				token := newToken(t, g, "order", tt.card)
				a := send(t, g, "POST", "/checkout/tokenization/payment/"+token, body("p", nil))
				wantCode(t, a, tt.answer)
				wantCode(t, send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil), tt.before)
				time.Sleep(10 * time.Second)
				wantCode(t, send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil), tt.after)
				if settled := g.Settle("p", true) == nil; settled != (tt.after == 102) {
					t.Errorf("Settle = %v with code %d", settled, tt.after)
				}
				if want := map[int]int{100: 1, 101: 0, 102: 1}[tt.after]; g.Executed("p") != want {
					t.Errorf("Executed = %d, want %d", g.Executed("p"), want)
				}
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	g := New(Options{AppID: "5"})
	tests := []struct {
		name, method, path string
		body               any
		status, code       int
	}{
		{"unknown path", "GET", "/search", nil, 404, 404},
		{"path with more", "GET", "/search/order/1/2", nil, 404, 404},
		{"no uniqueId", "GET", "/search/order/", nil, 404, 404},
		{"wrong method", "GET", "/checkout/payment", nil, 405, 400},
		{"unknown token", "POST", "/checkout/tokenization/payment/x", body("a", map[string]any{"appId": 5}), 200, 404},
		{"another app", "POST", "/checkout/payment", body("a", nil), 200, 500},
		{"unknown uniqueId", "GET", "/search/order/123", nil, 200, 404},
		{"parameter beside the uniqueId", "GET", "/search/order/123?x=1", nil, 200, 500},
		{"large body", "POST", "/checkout/payment", strings.Repeat(" ", 2<<20), 413, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := send(t, g, tt.method, tt.path, tt.body)
			if a.status != tt.status || a.code() != tt.code || a.str("message") == "" || a.data["timestamp"] == nil {
				t.Errorf("HTTP %d, %s; want HTTP %d and code %d", a.status, a.text, tt.status, tt.code)
			}
		})
	}
}

func TestStatusFollowsCode(t *testing.T) {
	g := New(Options{Responses: Responses{HTTPStatusFollowsCode: true}, MerchantID: "m", SecretKey: "s"})
	a := send(t, g, "GET", "/search/order/123", nil)
	if a.status != 401 || a.code() != 401 || a.header.Get("WWW-Authenticate") == "" {
		t.Errorf("HTTP %d, %s; want 401 and a challenge", a.status, a.text)
	}
}
