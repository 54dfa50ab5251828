package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestControlAccess: access depends on address, host name, proxy headers and, for requests that change something, origin.
func TestControlAccess(t *testing.T) {
	tests := []struct {
		name    string
		access  ControlAccess
		method  string
		remote  string
		host    string
		headers map[string]string
		status  int
	}{
		{"loopback", ControlLoopback, "GET", "127.0.0.1:5000", "127.0.0.1:8080", nil, 200},
		{"loopback by name", ControlLoopback, "GET", "127.0.0.1:5000", "localhost:8080", nil, 200},
		{"loopback of version 6", ControlLoopback, "GET", "[::1]:5000", "[::1]:8080", nil, 200},
		{"another machine", ControlLoopback, "GET", "192.0.2.7:5000", "127.0.0.1:8080", nil, 403},
		{"rebound name", ControlLoopback, "GET", "127.0.0.1:5000", "evil.example:8080", nil, 403},
		{"name that begins like loopback", ControlLoopback, "GET", "127.0.0.1:5000", "127.0.0.1.evil.example", nil, 403},
		{"through a proxy", ControlLoopback, "GET", "127.0.0.1:5000", "localhost", map[string]string{"X-Forwarded-For": "192.0.2.7"}, 403},
		{"button", ControlLoopback, "POST", "127.0.0.1:5000", "localhost:8080", map[string]string{"Sec-Fetch-Site": "same-origin"}, 200},
		{"program", ControlLoopback, "POST", "127.0.0.1:5000", "localhost:8080", nil, 200},
		{"form of another site", ControlLoopback, "POST", "127.0.0.1:5000", "localhost:8080", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"form of an old browser", ControlLoopback, "POST", "127.0.0.1:5000", "localhost:8080", map[string]string{"Origin": "https://evil.example"}, 403},
		{"link of another site", ControlLoopback, "GET", "127.0.0.1:5000", "localhost:8080", map[string]string{"Sec-Fetch-Site": "cross-site"}, 200},
		{"anywhere", ControlAnywhere, "GET", "192.0.2.7:5000", "sandbox.internal", nil, 200},
		{"anywhere, another site", ControlAnywhere, "POST", "192.0.2.7:5000", "sandbox.internal", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"off", ControlOff, "GET", "127.0.0.1:5000", "localhost", nil, 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := New(Options{Console: Console{Access: tt.access}})
			path := "/_sandbox/api/v1/info"
			if tt.method == "POST" {
				path = "/_sandbox/api/v1/reset"
			}
			r := httptest.NewRequest(tt.method, path, nil)
			r.RemoteAddr, r.Host = tt.remote, tt.host
			for name, value := range tt.headers {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != tt.status || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("HTTP %d, %s; want %d", w.Code, w.Body, tt.status)
			}
		})
	}
}

// control sends a request to the control API and returns the HTTP status and the JSON.
func control(t *testing.T, g *Gateway, method, path string, request any) (int, map[string]any) {
	t.Helper()
	var body []byte
	if request != nil {
		body = []byte(encode(t, request))
	}
	r := httptest.NewRequest(method, "http://127.0.0.1/_sandbox/api/v1/"+path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	resp, err := g.RoundTripper().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	a := readAnswer(t, resp)
	return a.status, a.data
}

// must is control for a request that must succeed.
func must(t *testing.T, g *Gateway, method, path string, request any) map[string]any {
	t.Helper()
	status, data := control(t, g, method, path, request)
	if status != 200 {
		t.Fatalf("%s %s: HTTP %d, %v", method, path, status, data)
	}
	return data
}

func number(v any) string { return string(v.(json.Number)) }

// TestControlInterface does with the control API what a Go test can do, besides the actions of TestThreeWays.
func TestControlInterface(t *testing.T) {
	m := &mailbox{statuses: []int{500, 200}}
	g := New(Options{Notifications: Notifications{Transport: m, Scale: 0.0001}, Cards: Cards{HostedRetry: true}})
	defer g.Close()

	// Notifications: the first delivery fails.
	id := send(t, g, "POST", "/api/subscription", body("tx", nil)).str("uniqueId")
	must(t, g, "GET", "wait?for=notifications&state=accepted&timeout=10s", nil)
	first := must(t, g, "GET", "notifications?transactionId=tx", nil)["data"].([]any)[0].(map[string]any)
	deliveries := first["deliveries"].([]any)
	if d := deliveries[0].(map[string]any); len(deliveries) != 2 || d["reason"] != "only HTTP 200 counts" || number(d["status"]) != "500" ||
		first["state"] != "accepted" {
		t.Errorf("notification %v", first)
	}
	again := must(t, g, "POST", "notifications/"+number(first["number"])+"/resend", nil)
	must(t, g, "GET", "wait?for=notifications&state=accepted&count=2&timeout=10s", nil)
	if len(m.got) != 3 || again["number"] == first["number"] {
		t.Errorf("sent again as %v: %d deliveries, want 3", again["number"], len(m.got))
	}
	if p := must(t, g, "GET", "payments/tx", nil); p["uniqueId"] != id || number(p["executed"]) != "1" {
		t.Errorf("payment %v", p)
	}
	must(t, g, "POST", "payments/tx/refund", map[string]any{"refundTransactionId": "r1"})
	if r := must(t, g, "GET", "refunds/r1", nil); number(r["refunded"]) != "1" {
		t.Errorf("refund %v", r)
	}

	// Faults: by fields, by name, and removed.
	must(t, g, "POST", "faults", map[string]any{"operation": "CreateSubscription", "reply": "close", "commit": "never", "times": 1})
	if got := seen(exchange(g, "POST", "/api/subscription", body("f", nil))); got != "error" || g.Executed("f") != 0 {
		t.Errorf("the caller sees %q, charged %d times", got, g.Executed("f"))
	}
	must(t, g, "POST", "faults", map[string]any{"name": "carried out, 502 with HTML", "transactionId": "f"})
	armed := must(t, g, "GET", "faults", nil)["data"].([]any)
	if f := armed[0].(map[string]any)["fault"].(map[string]any); len(armed) != 1 || f["reply"] != "html" || f["transactionId"] != "f" {
		t.Errorf("armed %v", armed)
	}
	must(t, g, "DELETE", "faults/"+number(armed[0].(map[string]any)["number"]), nil)
	must(t, g, "DELETE", "faults", nil)

	// Tokens.
	token := must(t, g, "POST", "tokens", map[string]any{"testCard": "declined"})["token"].(string)
	wantCode(t, send(t, g, "POST", "/checkout/tokenization/payment/"+token, body("tp", nil)), 101)
	made := send(t, g, "POST", "/checkout/tokenization/create", body("to", nil))
	must(t, g, "POST", "payments/to/card", map[string]any{
		"cardNumber": "4200 0000 0000 0000", "expiredMonth": "09", "expiredYear": "31", "cvv": "123", "cardholder": "A",
	})
	if got := must(t, g, "GET", "payments/"+made.str("uniqueId")+"/token", nil)["token"]; got != tokenOf(t, g, "to") || got == "" {
		t.Errorf("token %v", got)
	}
	g.Seed(50, january, january.AddDate(0, 0, 5))

	// Requests, and totals of the gateway.
	requests := must(t, g, "GET", "requests?operation=TokenPayment", nil)["data"].([]any)
	if r := requests[0].(map[string]any); len(requests) != 1 || strings.Contains(r["path"].(string), token) || number(r["code"]) != "101" {
		t.Errorf("requests %v", requests)
	}
	info := must(t, g, "GET", "info", nil)
	if info["options"].(map[string]any)["cards"].(map[string]any)["hostedRetry"] != true || number(info["seededOrders"]) != "50" {
		t.Errorf("info %v", info)
	}
	must(t, g, "POST", "reset", nil)
	if got := must(t, g, "GET", "payments", nil)["data"].([]any); len(got) != 0 || g.Executed("tx") != 0 {
		t.Errorf("after a reset: %v", got)
	}
	if next := send(t, g, "POST", "/api/subscription", body("tx", nil)); next.code() != 100 || next.str("uniqueId") == id {
		t.Errorf("after a reset: %s", next.text)
	}
}

// TestResetForgetsDeliveries: after a reset, a notification that waits for its next delivery is not sent, and a payment
// that a fault delays is not carried out. What is paid then is notified.
func TestResetForgetsDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mailbox{statuses: []int{500}}
		g := New(Options{Notifications: Notifications{Transport: m}})
		defer g.Close()
		send(t, g, "POST", "/api/subscription", body("t", nil))
		g.Inject(Fault{Commit: CommitLate, Late: time.Minute})
		send(t, g, "POST", "/api/subscription", body("late", nil))
		time.Sleep(time.Second)
		g.Reset()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(m.got) != 1 || g.Executed("late") != 0 {
			t.Errorf("%d deliveries and %d late payments, want the delivery before the reset alone", len(m.got), g.Executed("late"))
		}
		send(t, g, "POST", "/api/subscription", body("then", nil))
		if flush(t, g); len(m.got) != 6 {
			t.Errorf("%d deliveries, want five more", len(m.got))
		}
	})
}

// TestControlRefusals: errors say what is wrong, with the known names.
func TestControlRefusals(t *testing.T) {
	g := New(Options{})
	tests := []struct {
		method, path string
		request      any
		status       int
		text         string
	}{
		{"GET", "nothing", nil, 404, "no such path"},
		{"POST", "payments/nobody/settle", nil, 404, "no payment"},
		{"POST", "refunds/nobody/settle", nil, 404, "no refund"},
		{"POST", "notifications/7/resend", nil, 404, "no notification"},
		{"GET", "requests/7", nil, 404, "no request"},
		{"DELETE", "faults/7", nil, 404, "no fault"},
		{"POST", "faults", map[string]any{"operaton": "TokenPayment"}, 400, `"operation"`},
		{"POST", "faults", map[string]any{"operation": "TokenPayments"}, 400, "TokenPayment"},
		{"POST", "faults", map[string]any{"reply": "explode"}, 400, `reply: "explode" must be one of asIs, `},
		{"POST", "faults", map[string]any{"times": 2, "after": "soon"}, 400, `after: not a duration such as "1.5s"`},
		{"POST", "faults", map[string]any{"before": 5}, 400, "1.5s"},
		{"POST", "faults", map[string]any{"times": "many"}, 400, "times"},
		{"POST", "faults", map[string]any{"name": "no such fault"}, 400, "faults/names"},
		{"POST", "tokens", map[string]any{"testCard": "lucky"}, 400, "approved"},
		{"POST", "tokens", map[string]any{"testcard": "approved"}, 400, `"testCard"`},
		{"GET", "payments?limit=x", nil, 400, "limit"},
		{"GET", "payments?transaction=x", nil, 400, "transactionId"},
		{"GET", "wait?for=miracles", nil, 400, "notifications"},
		{"GET", "wait?for=payments&timeout=1h", nil, 400, "timeout"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			status, data := control(t, g, tt.method, tt.path, tt.request)
			text, _ := data["error"].(string)
			hint, _ := data["hint"].(string)
			if status != tt.status || !strings.Contains(text+" "+hint, tt.text) {
				t.Errorf("HTTP %d, %v; want %d and %q", status, data, tt.status, tt.text)
			}
		})
	}
	r := httptest.NewRequest("POST", "/_sandbox/api/v1/reset", strings.NewReader("{}"))
	r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
	r.Header.Set("Content-Type", "text/plain") // what a page of another site could send without asking
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	if w.Code != 415 {
		t.Errorf("text/plain: HTTP %d, want 415", w.Code)
	}
}

func TestControlWait(t *testing.T) {
	g := New(Options{})
	status, data := control(t, g, "GET", "wait?for=requests&timeout=20ms", nil)
	if status != 408 || data["soFar"] == nil {
		t.Errorf("HTTP %d, %v; want 408 with what there is", status, data)
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		_, _ = exchange(g, "POST", "/api/subscription", body("t", nil))
	}()
	for _, kind := range []string{"requests", "payments"} {
		if status, data := control(t, g, "GET", "wait?for="+kind+"&transactionId=t&count=1&timeout=10s", nil); status != 200 {
			t.Errorf("%s: HTTP %d, %v", kind, status, data)
		}
	}
}

// TestLogIsBounded: only the newest requests are kept, and numbering continues.
func TestLogIsBounded(t *testing.T) {
	g := New(Options{Console: Console{RequestLog: 3}})
	for range 10 {
		send(t, g, "GET", "/search/order/1", nil)
	}
	rows := must(t, g, "GET", "requests", nil)["data"].([]any)
	if len(rows) != 3 || number(rows[0].(map[string]any)["number"]) != "10" {
		t.Errorf("%d requests, the newest %v; want 3 and number 10", len(rows), rows[0])
	}
	off := New(Options{Console: Console{RequestLog: -1}})
	send(t, off, "GET", "/search/order/1", nil)
	if rows := must(t, off, "GET", "requests", nil)["data"].([]any); len(rows) != 0 {
		t.Errorf("%d requests, want none", len(rows))
	}
}

// TestNoSecretIsShown sends secrets everywhere a program could send them, and searches for them in every page, every list
// and the log.
func TestNoSecretIsShown(t *testing.T) {
	var log bytes.Buffer
	g := New(Options{
		SecretKey: "KEY-secret-8471", Log: &log, Notifications: Notifications{TokenMember: "ref", Transport: &mailbox{statuses: []int{200}}},
	})
	defer g.Close()
	const number, cvv = "4300001234567895", "9871"
	card := map[string]any{"cardNumber": number, "expiredMonth": "12", "expiredYear": "39", "cvv": cvv, "cardholder": "Grace-Holder"}
	for i, text := range []string{
		encode(t, body("t1", map[string]any{"card": card})),
		encode(t, body("t2", map[string]any{"Card": card, "CVV": cvv, "card_number": number})),
		`{"transactionId":"t3","\u0063ard":{"cardNumber":"` + number + `","\u0063vv":"` + cvv + `"},"cvv":` + cvv + `}`,
		`{"transactionId":"t4","card":{"cardNumber":"` + number + `","cvv":"` + cvv + `"`,
		`{"transactionId":"t5","card":[{"deep":[{"any":"` + number + `"}]},"` + cvv + `"]}`,
	} {
		if _, err := exchange(g, "POST", "/api/subscription", text); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	made := send(t, g, "POST", "/checkout/tokenization/create", body("to", map[string]any{"notificationUrl": "https://shop.example/n?guard=GUARD-5512"}))
	if _, err := g.EnterCard(made.str("redirectUrl"), CardEntry{Number: number, Month: "12", Year: "39", CVV: "123", Cardholder: "Grace-Holder"}); err != nil {
		t.Fatal(err)
	}
	token := tokenOf(t, g, "to")
	send(t, g, "POST", "/checkout/tokenization/payment/"+token, body("tp", nil))
	_, _ = exchange(g, "POST", "/checkout/tokenisation/payment/"+token, body("tq", nil))
	_, _ = exchange(g, "POST", "/checkout/tokenization/payment/FOREIGN-token-3391", body("tr", nil))
	flush(t, g)
	var all strings.Builder
	all.WriteString(log.String())
	links := []string{"/_sandbox/"}
	visited := map[string]bool{}
	for len(links) > 0 {
		link := links[0]
		links = links[1:]
		if visited[link] || strings.HasPrefix(link, "/hosted/") {
			continue
		}
		visited[link] = true
		resp, text := visit(t, g, "http://127.0.0.1"+link)
		if resp.StatusCode != 200 {
			t.Errorf("%s: HTTP %d", link, resp.StatusCode)
		}
		all.WriteString(text)
		for _, found := range regexp.MustCompile(`href="(/[^"?]*)`).FindAllStringSubmatch(text, -1) {
			links = append(links, found[1])
		}
	}
	for _, list := range []string{"info", "requests?limit=1000", "payments", "notifications", "refunds"} {
		_, data := control(t, g, "GET", list, nil)
		all.WriteString(encode(t, data))
	}
	if len(visited) < 15 {
		t.Errorf("only %d pages were found", len(visited))
	}
	if code := regexp.MustCompile(`\b` + cvv + `\b`).FindString(all.String()); code != "" { // within longer numbers it is chance
		t.Errorf("the CVV %s is shown", code)
	}
	for _, secret := range []string{number, token, "Grace-Holder", "KEY-secret-8471", "GUARD-5512", "FOREIGN-token"} {
		if i := strings.Index(all.String(), secret); i >= 0 {
			t.Errorf("%s is shown: %q", secret, all.String()[max(0, i-100):min(all.Len(), i+60)])
		}
	}
	if !strings.Contains(all.String(), "430000******7895") {
		t.Error("the masked card number is not shown")
	}
}

// press submits a form as a browser does that shows a page, and returns where the browser goes.
func press(t *testing.T, g *Gateway, page, path string, form url.Values) string {
	t.Helper()
	r := httptest.NewRequest("POST", "http://127.0.0.1/_sandbox/"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Referer", page)
	resp, text := browse(t, g, r)
	if resp.StatusCode != 303 {
		t.Fatalf("%s: HTTP %d, %s", path, resp.StatusCode, text)
	}
	return resp.Header.Get("Location")
}

// TestButtons submits the forms of the dashboard as a browser does, besides the actions of TestThreeWays.
func TestButtons(t *testing.T) {
	g := New(Options{Notifications: Notifications{Transport: &mailbox{statuses: []int{200}}}})
	defer g.Close()
	press := func(path string, form url.Values) string {
		t.Helper()
		return press(t, g, "http://127.0.0.1/_sandbox/payments?code=100", path, form)
	}
	send(t, g, "POST", "/api/subscription", body("t", nil))
	if got := press("payments/t/refund", url.Values{"amount": {""}}); got != "/_sandbox/payments?done=1" {
		t.Errorf("the browser goes to %q", got)
	}
	flush(t, g)
	press("notifications/1/resend", nil)
	press("faults", url.Values{"operation": {"any"}, "name": {"carried out, then reset"}, "code": {"none"}, "times": {"2"}, "transactionId": {""}})
	press("faults", url.Values{"operation": {"TokenPayment"}, "name": {"carried out, then reset"}, "code": {"999 system error"}})
	armed := must(t, g, "GET", "faults", nil)["data"].([]any)
	if len(armed) != 2 || number(armed[0].(map[string]any)["left"]) != "2" || number(armed[1].(map[string]any)["fault"].(map[string]any)["code"]) != "999" {
		t.Errorf("armed %v", armed)
	}
	press("faults/1/remove", nil)
	press("reset", nil)
	if rows := send(t, g, "GET", "/search/list/order"+thisMonth(), nil).rows(); len(rows) != 0 {
		t.Errorf("%d rows after a reset", len(rows))
	}
}

// TestDashboardPage checks the header and the filter, and that there is no script.
func TestDashboardPage(t *testing.T) {
	g := New(Options{Console: Console{Label: `<b>"mine"</b>`}})
	send(t, g, "POST", "/api/subscription", body("<script>alert(1)</script>", nil))
	send(t, g, "POST", "/api/subscription", body("other", nil))
	resp, text := visit(t, g, "http://127.0.0.1/_sandbox/payments?transactionId=other")
	for _, want := range []string{
		`<html lang="en">`, `aria-current="page"`, `value="other"`, "prefers-color-scheme", "&lt;b&gt;",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "alert(1)") {
		t.Error("the page has a script, or shows what the filter leaves out")
	}
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "form-action 'self'") {
		t.Errorf("policy %q", policy)
	}
	if resp, _ := visit(t, g, "http://127.0.0.1/_sandbox"); resp.StatusCode/100 != 3 || resp.Header.Get("Location") != "/_sandbox/" {
		t.Errorf("HTTP %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	if resp, _ := visit(t, g, "http://127.0.0.1/_sandbox/nothing"); resp.StatusCode != 404 {
		t.Errorf("HTTP %d, want 404", resp.StatusCode)
	}
}

// TestDashboardTells: what is refunded, which response a fault has taken away, what is not shown and where it is, and that a reset asks.
func TestDashboardTells(t *testing.T) {
	g := New(Options{RefundSettleAfter: -1, NoNotifications: true, Location: time.FixedZone("", 8*3600)})
	defer g.Close()
	page := func(path string) string {
		t.Helper()
		_, text := visit(t, g, "http://127.0.0.1/_sandbox/"+path)
		return text
	}
	want := func(path string, there bool, words ...string) {
		t.Helper()
		for text, i := page(path), 0; i < len(words); i++ {
			if strings.Contains(text, words[i]) != there {
				t.Errorf("/_sandbox/%s: %q is there: %v, want %v", path, words[i], !there, there)
			}
		}
	}
	id := send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId")
	refund := func(amount string) string {
		t.Helper()
		return must(t, g, "POST", "payments/"+id+"/refund", map[string]any{"amount": amount})["refundUniqueId"].(string)
	}
	want("payments", true, "100 ", ">Refund<", time.Now().In(g.opts.Location).Format(time.DateOnly), " &#43;08:00<")
	first := refund("2.50")
	want("payments", true, "refund requested", ">Refund<")
	must(t, g, "POST", "refunds/"+first+"/settle", nil)
	want("payments", true, "refunded in part", ">Refund<")
	must(t, g, "POST", "refunds/"+refund("")+"/settle", nil)
	want("payments", true, ">refunded<")
	want("payments", false, ">Refund<", "100 ")
	g.Seed(20, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	must(t, g, "POST", "payments/book-transaction-0-1/refund", map[string]any{"amount": "0.01"})
	want("payments/book-transaction-0-1", true, "refund requested")

	g.Inject(Fault{Reply: ReplyClose})
	if _, err := exchange(g, "POST", "/api/subscription", "{}"); err == nil {
		t.Error("got a response, want none")
	}
	for range 60 {
		send(t, g, "GET", "/search/order/"+id, nil)
	}
	want("requests?method=POST", true, `class="tone bad">`, "/api/subscription")
	want("requests?method=POST", false, "/search/order/")
	want("requests", true, `<a href="/_sandbox/requests?limit=1000">12 more</a>`)
	want("requests?limit=1000", false, " more")
	want("", false, "/search/order/")
	want("", true, "<summary>Reset everything</summary>")
}

// TestOpenAPIIsServed: the description is served to everyone who can use the control API.
func TestOpenAPIIsServed(t *testing.T) {
	if _, text := visit(t, New(Options{}), "http://127.0.0.1/_sandbox/openapi.json"); text != string(openAPI) {
		t.Errorf("got %.100s", text)
	}
}
