package sandbox

import (
	"fmt"
	"html"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// deed is an action, as a Go test, a program and a person carry it out.
type deed struct {
	name   string
	path   string // of the control API and of the dashboard; the id is inserted
	body   map[string]any
	method func(g *Gateway, id string) (result string, err error)
	hosted url.Values // the form of the hosted page, if there is one

	otherReasons bool // it is not refused for the state of the payment alone
}

func deeds() []deed {
	plain := func(f func(g *Gateway, id string) error) func(*Gateway, string) (string, error) {
		return func(g *Gateway, id string) (string, error) { return "", f(g, id) }
	}
	return []deed{
		{"settle", "payments/%s/settle", nil, plain(func(g *Gateway, id string) error { return g.Settle(id, true) }), nil, false},
		{"decline", "payments/%s/decline", nil, plain(func(g *Gateway, id string) error { return g.Settle(id, false) }), nil, false},
		{"close", "payments/%s/close", nil, plain((*Gateway).CloseOrder), nil, false},
		{"notify", "payments/%s/notify", nil, plain((*Gateway).Notify), nil, false},
		{"renew", "payments/%s/renew", nil, (*Gateway).Renew, nil, false},
		{"chargeback", "payments/%s/chargeback", nil, plain((*Gateway).Chargeback), nil, false},
		{"refund", "payments/%s/refund", map[string]any{"amount": "1.00", "refundTransactionId": "new"}, func(g *Gateway, id string) (string, error) {
			return g.Refund(id, "1.00", "new")
		}, nil, true},
		{"refund of too much", "payments/%s/refund", map[string]any{"amount": "99"}, func(g *Gateway, id string) (string, error) {
			return g.Refund(id, "99", "")
		}, nil, true},
		{"refund of words", "payments/%s/refund", map[string]any{"amount": "some"}, func(g *Gateway, id string) (string, error) {
			return g.Refund(id, "some", "")
		}, nil, true},
		{"card", "payments/%s/card", map[string]any{"testCard": "declined"}, func(g *Gateway, id string) (string, error) {
			return g.EnterCard(id, TestCard(Declined))
		}, form(Declined), false},
		{"wrong card", "payments/%s/card", map[string]any{"cvv": "1"}, func(g *Gateway, id string) (string, error) {
			entry := TestCard(Approved)
			entry.CVV = "1"
			return g.EnterCard(id, entry)
		}, nil, true},
		{"authenticate", "payments/%s/authenticate", nil, func(g *Gateway, id string) (string, error) {
			return g.Authenticate(id, true)
		}, url.Values{"decision": {"approve"}}, false},
		{"settle refund", "refunds/%s/settle", nil, plain(func(g *Gateway, id string) error { return g.SettleRefund(id, true) }), nil, true},
		{"decline refund", "refunds/%s/decline", nil, plain(func(g *Gateway, id string) error { return g.SettleRefund(id, false) }), nil, true},
	}
}

// scene is a state of a gateway, and the id on which the deeds are done.
type scene struct {
	name    string
	opts    Options
	prepare func(t *testing.T, g *Gateway) (id string)
	allowed []string // the deeds that are done; the others are refused
	refused string   // part of every refusal without other reasons
}

// pays returns a preparation: a direct payment with that card.
func pays(o Outcome) func(*testing.T, *Gateway) string {
	return func(t *testing.T, g *Gateway) string {
		send(t, g, "POST", "/api/subscription", body("t", map[string]any{"card": cardBody(o)}))
		return "t"
	}
}

// renews is a preparation: a later charge of the subscription t.
func renews(t *testing.T, g *Gateway) string {
	id, err := g.Renew("t")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// opens returns a preparation: a checkout, and the cards that are entered one after the other.
func opens(path string, cards ...Outcome) func(*testing.T, *Gateway) string {
	return func(t *testing.T, g *Gateway) string {
		page := send(t, g, "POST", path, body("t", nil)).str("redirectUrl")
		for _, o := range cards {
			enter(t, g, page, o)
		}
		return "t"
	}
}

// givesBack returns a preparation: a payment, and so many refunds with one refundTransactionId, of which the first is settled.
func givesBack(n int) func(*testing.T, *Gateway) string {
	return func(t *testing.T, g *Gateway) string {
		paid := send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId")
		for i := range n {
			id, err := g.Refund(paid, "1.00", "r")
			if err == nil && i == 0 && n > 1 {
				err = g.SettleRefund(id, true)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return "r"
	}
}

func seeds(id string) func(*testing.T, *Gateway) string {
	return func(t *testing.T, g *Gateway) string {
		g.SeedOrders(SeedOptions{N: 100, From: time.Now().Add(-2 * time.Hour), To: time.Now().Add(-time.Hour), RefundStates: true})
		return id
	}
}

func scenes() []scene {
	final, refund := "notify", []string{"settle refund", "decline refund"}
	then := func(first, second func(*testing.T, *Gateway) string) func(*testing.T, *Gateway) string {
		return func(t *testing.T, g *Gateway) string { first(t, g); return second(t, g) }
	}
	again := Options{Duplicates: DuplicatesExecuted}
	return []scene{
		{"nobody", Options{}, func(*testing.T, *Gateway) string { return "nobody" }, nil, `no payment "nobody"`},
		{"in processing", Options{}, pays(Pending), []string{"settle", "decline", "close"}, "code is 102"},
		{"paid", Options{}, pays(Approved), []string{final, "chargeback", "refund", "renew"}, "code is 100"},
		{"paid once", Options{}, opens("/checkout/payment", Approved), []string{final, "chargeback", "refund"}, "code is 100"},
		{"subscribed on the page", Options{}, opens("/checkout/subscription", Approved), []string{final, "chargeback", "refund", "renew"}, "code is 100"},
		{"renewed", Options{}, then(pays(Approved), renews), []string{final, "chargeback", "refund", "renew"}, "code is 100"},
		{"renewed with another id", Options{RenewalsHaveNewID: true}, then(pays(Approved), renews), []string{final, "chargeback", "refund", "renew"}, "code is 100"},
		{"declined", Options{}, pays(Declined), []string{final}, "code is 101"},
		{"closed", Options{}, func(t *testing.T, g *Gateway) string {
			if err := g.CloseOrder(pays(Pending)(t, g)); err != nil {
				t.Fatal(err)
			}
			return "t"
		}, []string{final}, "code is 103"},
		{"waiting for a card", Options{}, opens("/checkout/payment"), []string{"close", "card"}, "code is 301"},
		{"waiting for 3D", Options{}, opens("/checkout/payment", Challenged), []string{"close", "authenticate"}, "code is 301"},
		{"another card is possible", Options{Cards: Cards{HostedRetry: true}}, opens("/checkout/payment", Declined), []string{final, "card"}, "code is 101"},
		{"token made", Options{}, opens("/checkout/tokenization/create", Approved), []string{final}, "code is 100"},
		{"by its uniqueId", Options{}, func(t *testing.T, g *Gateway) string {
			return send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId")
		}, []string{final, "chargeback", "refund", "renew"}, "code is 100"},
		{"in processing, then paid", again, then(pays(Pending), pays(Approved)), []string{final, "chargeback", "refund", "renew"}, "code is 100"},
		{"paid, then in processing", again, then(pays(Approved), pays(Pending)), []string{"settle", "decline", "close"}, "code is 102"},
		{"seeded, paid", Options{}, seeds("1600000000000000000"), nil, "a seeded payment cannot be changed"},
		{"seeded, at 102", Options{}, seeds("1600000000000000026"), nil, "a seeded payment cannot be changed"},
		{"seeded refund at 110", Options{}, seeds("1700000000000000004"), nil, "no payment"},
		{"refund at 110", Options{RefundSettleAfter: -1}, givesBack(1), refund, "no payment"},
		{"refunded", Options{}, givesBack(1), nil, "no payment"},
		{"refunded, then at 110", Options{RefundSettleAfter: -1, RefundDuplicates: RefundDuplicatesExecuted}, givesBack(2), refund, "no payment"},
	}
}

// TestThreeWays does every deed in every scene as a Go test, by the control API, with a button, and, if the cardholder is
// awaited, on the hosted page: all have the same result, and refuse for the same reason.
func TestThreeWays(t *testing.T) {
	for _, s := range scenes() {
		for _, d := range deeds() {
			t.Run(s.name+"/"+d.name, func(t *testing.T) { threeWays(t, s, d) })
		}
	}
}

func threeWays(t *testing.T, s scene, d deed) {
	begin := func() (*Gateway, string) {
		opts := s.opts
		opts.Notifications.Transport = &mailbox{statuses: []int{200}}
		g := New(opts)
		t.Cleanup(g.Close)
		id := s.prepare(t, g)
		time.Sleep(time.Microsecond)
		return g, id
	}
	g, id := begin()
	before := stateOf(t, g)
	result, err := d.method(g, id)
	if strings.HasPrefix(result, "/") || strings.HasPrefix(result, "https://") {
		result = path.Dir(result) // the rest is random
	}
	refusal, after := "", stateOf(t, g)
	if err != nil {
		refusal = strings.TrimPrefix(err.Error(), "sandbox: ")
	}
	switch allowed := slices.Contains(s.allowed, d.name); {
	case allowed != (err == nil):
		t.Errorf("Go: %v, want it done: %v", err, allowed)
	case !allowed && before != after:
		t.Errorf("refused, and it changed\n%s\nto\n%s", before, after)
	case !allowed && !d.otherReasons && !strings.Contains(refusal, s.refused):
		t.Errorf("refused with %q, want %q", refusal, s.refused)
	case !allowed && len(refusal) < 10:
		t.Errorf("refused with %q, want a reason", refusal)
	}

	g, id = begin()
	var request any // without a body
	if d.body != nil {
		request = d.body
	}
	status, data := control(t, g, "POST", fmt.Sprintf(d.path, url.PathEscape(id)), request)
	if got, _ := data["error"].(string); got != refusal || (status == 200) != (refusal == "") {
		t.Errorf("control API: HTTP %d, %q; Go: %q", status, got, refusal)
	}
	if got := stateOf(t, g); got != after {
		t.Errorf("control API:\n%s\nGo:\n%s", got, after)
	}
	if err == nil && status == 200 && resultOf(d, data) != result {
		t.Errorf("control API: result %q; Go: %q", resultOf(d, data), result)
	}

	g, id = begin()
	fields := url.Values{}
	for name, value := range d.body {
		fields.Set(name, fmt.Sprint(value))
	}
	resp, page := submit(t, g, "http://127.0.0.1/_sandbox/"+fmt.Sprintf(d.path, url.PathEscape(id)), fields)
	if (resp.StatusCode == 303) != (refusal == "") || !strings.Contains(html.UnescapeString(page), refusal) {
		t.Errorf("dashboard: HTTP %d, %s; Go: %q", resp.StatusCode, page, refusal)
	}
	if got := stateOf(t, g); got != after {
		t.Errorf("dashboard:\n%s\nGo:\n%s", got, after)
	}

	if g, id = begin(); d.hosted == nil || len(g.Rows(id)) == 0 || g.Rows(id)[0].Page == "" {
		return
	}
	resp, _ = submit(t, g, "https://gateway.test"+g.Rows(id)[0].Page, d.hosted)
	if got := stateOf(t, g); got != after {
		t.Errorf("hosted page:\n%s\nGo:\n%s", got, after)
	}
	if got := path.Dir(resp.Header.Get("Location")); err == nil && got != result {
		t.Errorf("hosted page: leads to %q; Go: %q", got, result)
	}
}

// resultOf returns from the response of the control API what the method returns.
func resultOf(d deed, data map[string]any) string {
	page, open := data["page"].(string)
	switch {
	case d.name == "refund":
		return data["refundUniqueId"].(string)
	case d.name == "renew":
		return data["uniqueId"].(string)
	case d.name != "card" && d.name != "authenticate":
		return ""
	case open:
		return path.Dir(page)
	}
	return path.Dir("https://shop.example/back")
}

// stateOf returns everything that a deed can change, without times and random texts.
func stateOf(t *testing.T, g *Gateway) string {
	t.Helper()
	var lines []string
	for list, members := range map[string][]string{
		"payments": {"uniqueId", "code", "transactionMessage", "waitsFor", "is3d", "executed", "refunded", "transactionCardNumber"},
		"refunds":  {"refundUniqueId", "refundTransactionId", "code", "refundAmount", "refunded"}, "notifications": {"number", "transactionType", "code", "uniqueId"},
	} {
		for _, row := range must(t, g, "GET", list+"?limit=1000", nil)["data"].([]any) {
			line := list
			for _, name := range members {
				line += fmt.Sprint(" ", row.(map[string]any)[name])
			}
			if events, ok := row.(map[string]any)["events"].([]any); ok {
				for _, e := range events {
					line += fmt.Sprint(", ", e.(map[string]any)["text"])
				}
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
