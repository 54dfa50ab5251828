package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

// start starts a gateway on a socket, and closes it at the end of the test.
func start(t *testing.T, opts Options) *Server {
	t.Helper()
	s, err := Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// speak sends raw bytes, and returns everything that is received until the connection ends.
func speak(t *testing.T, s *Server, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(response)
}

const bareHead = " HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n"

// TestHostileLog: text that a stranger writes into a request line leaves no control characters in the log.
func TestHostileLog(t *testing.T) {
	var log bytes.Buffer
	s := start(t, Options{Log: &log})
	speak(t, s, "GET|`reboot`'$x /nothing?\u009b31m\u202e'"+bareHead)
	s.Close()
	if strings.ContainsAny(log.String(), "\u009b\u202e\x1b") {
		t.Errorf("the log contains control characters: %q", log.String())
	}
}

// TestHostileQuery: a malformed query is refused. Read in part, it would be a search without its filter.
func TestHostileQuery(t *testing.T) {
	g := New(Options{})
	g.Seed(30, january, january.AddDate(0, 0, 4))
	for _, path := range []string{
		"/search/list/order?startDate=2024-01-01&endingDate=2024-01-05&transactionId=%zz",
		"/search/list/order?startDate=2024-01-01&endingDate=2024-01-05&transactionId=a;b",
		"/search/list/refund?startDate=2024-01-01&endingDate=2024-01-05&uniqueId=%",
		"/search/order/1600000000000000001?%zz=1",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		wantCode(t, readAnswer(t, w.Result()), 500)
	}
}

// TestHostileLength: a request of the largest size gets a short refusal.
func TestHostileLength(t *testing.T) {
	g := New(Options{})
	payment := strings.Replace(encode(t, body("t", nil)), `"productInfos":[`, `"productInfos":[`+strings.Repeat("0,", 500_000), 1)
	for path, text := range map[string]string{
		"/checkout/payment":      payment,
		"/upload/trackingNumber": "[" + strings.Repeat("{},", 300_000) + "{}]",
	} {
		if a := send(t, g, "POST", path, text); a.code() != 500 || len(a.text) > 8<<10 {
			t.Errorf("%s: code %d in %d bytes, want 500 in a few", path, a.code(), len(a.text))
		}
	}
}

// TestHostileForm: a card form that is too long is not read in part, because a truncated CVV is another CVV.
func TestHostileForm(t *testing.T) {
	g := New(Options{NoNotifications: true})
	page := send(t, g, "POST", "/checkout/payment", body("t", nil)).str("redirectUrl")
	f := form(Approved)
	f.Del("cvv")
	text := f.Encode() + "&cvv=123"
	text = "x=" + strings.Repeat("x", 16<<10-len(text)-len("x=&")) + "&" + text + "4" // the last digit is one too many
	r := httptest.NewRequest("POST", page, strings.NewReader(text))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if resp, _ := browse(t, g, r); resp.StatusCode != 400 || g.Executed("t") != 0 {
		t.Errorf("HTTP %d, charged %d times; want 400 and never", resp.StatusCode, g.Executed("t"))
	}
}

// TestHostileSite: requests from a web page of another site are not carried out, although browsers send a text/plain body without a
// preflight request. Such a request could also name a notificationUrl inside the developer's network. A page whose name was resolved
// again, to this machine, is of the same site for the browser. A page that is served under a loopback host, and a program under any
// host, may send them.
func TestHostileSite(t *testing.T) {
	for _, tt := range []struct {
		name, host string
		headers    map[string]string
		want       int
	}{
		{"browser", "127.0.0.1:8080", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403},
		{"older browser", "127.0.0.1:8080", map[string]string{"Origin": "https://evil.example"}, 403},
		{"sandboxed page", "127.0.0.1:8080", map[string]string{"Origin": "null"}, 403},
		{"rebound", "evil.example:8080", map[string]string{"Origin": "http://evil.example:8080"}, 403},
		{"rebound, https", "evil.example", map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, 403},
		{"rebound, without Origin", "evil.example:8080", map[string]string{"Sec-Fetch-Site": "same-origin"}, 403},
		{"rebound below loopback's name", "127.0.0.1.evil.example", map[string]string{"Origin": "http://127.0.0.1.evil.example"}, 403},
		{"a page on loopback", "127.0.0.1:8080", map[string]string{"Origin": "http://127.0.0.1:8080", "Sec-Fetch-Site": "same-origin"}, 200},
		{"a program in another container", "sandbox:8080", nil, 200},
		{"typed into the address bar", "sandbox:8080", map[string]string{"Sec-Fetch-Site": "none"}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := New(Options{NoNotifications: true})
			r := httptest.NewRequest("POST", "/api/subscription", strings.NewReader(encode(t, body("t", nil))))
			r.Host = tt.host
			for header, value := range tt.headers {
				r.Header.Set(header, value)
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != tt.want || (g.Executed("t") == 1) != (tt.want == 200) {
				t.Errorf("HTTP %d, %s, carried out %d times, want %d", w.Code, w.Body, g.Executed("t"), tt.want)
			}
		})
	}
}

// TestHostileBack: after an action the browser stays on the dashboard, whatever page sent the form.
func TestHostileBack(t *testing.T) {
	g := New(Options{})
	for _, page := range []string{
		"/_sandbox/../..//evil.example", "/_sandbox/..%2f..%2f%2fevil.example", "//evil.example/_sandbox/",
		"/_sandbox/%2e%2e//evil.example", `/_sandbox/..\..\\evil.example`, "javascript:/_sandbox/", "/_sandbox/%0d%0aX:y",
		"/_sandbox/../hosted/card/x",
	} {
		if to := press(t, g, page, "tokens", nil); !strings.HasPrefix(to, console.Path) || strings.ContainsAny(to, "\\\r\n ") {
			t.Errorf("%q leads to %q", page, to)
		}
	}
}

// TestHostileSettings: no input of the control API can make a later request panic.
func TestHostileSettings(t *testing.T) {
	g := New(Options{})
	for _, status := range []int{-1, 42, 100, 101, 199, 1000} {
		if code, data := control(t, g, "POST", "faults", map[string]any{"status": status}); code != 400 {
			t.Errorf("a fault with status %d: HTTP %d, %v", status, code, data)
		}
	}
	const half = 1 << (strconv.IntSize / 2) // whose square is 0
	g.SeedOrders(SeedOptions{N: 10, From: january, To: january.AddDate(0, 0, 1), RefundEvery: half, RefundTwiceEvery: half})
	wantCode(t, send(t, g, "GET", "/search/list/refund?startDate=2024-01-01&endingDate=2024-01-02", nil), 121)
	for _, path := range []string{"/_sandbox/api/v1/reset", "/_sandbox/reset", "/checkout/payment", "/hosted/card/x"} {
		r, err := http.NewRequest("POST", "http://127.0.0.1"+path, nil) // without a body, unlike what a server gives
		if err != nil {
			t.Fatal(err)
		}
		g.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// TestHostileAmounts: leading zeros do not change an amount; products with prices too large to compute have no price.
func TestHostileAmounts(t *testing.T) {
	g := New(Options{NoNotifications: true})
	paid := send(t, g, "POST", "/api/subscription", body("t", map[string]any{"amount": "0000000000012.50"})).str("uniqueId")
	for _, r := range []struct {
		id, amount string
		code       int
	}{{"r1", "0000000000002.50", 110}, {"r2", "10.001", 112}, {"r3", "10", 110}, {"r4", "0.001", 112}} {
		t.Run(r.id, func(t *testing.T) {
			wantCode(t, send(t, g, "POST", "/api/refund", map[string]any{"uniqueId": paid, "amount": r.amount, "refundTransactionId": r.id}), r.code)
		})
	}
	product := map[string]any{"productName": "Moon", "quantity": json.Number("9223372036854775807"), "price": "999999999999.999"}
	page := send(t, g, "POST", "/checkout/payment", body("p", map[string]any{"productInfos": []any{product}})).str("redirectUrl")
	if _, text := visit(t, g, page); !strings.Contains(text, "Moon</span> <span></span>") {
		t.Error("the page shows a price that it cannot know")
	}
}

// TestHostileCardPlaces puts a card number and a CVV in the wrong places: under other names, in a query, in another field
// of the form. A merchant's program returns a token in its response.
func TestHostileCardPlaces(t *testing.T) {
	const number, grouped, cvv = "4300001234567895", "4300 0012 3456 7895", "9871798717"
	merchant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	defer merchant.Close()
	var log bytes.Buffer
	s := start(t, Options{Log: &log})
	for _, m := range []any{
		map[string]any{"cardNo": number, "cvv2": cvv}, map[string]any{"creditCard": map[string]any{"number": number, "code": cvv}},
		map[string]any{"productName": number}, map[string]any{"remark": "4300-0012-3456-7895"}, map[string]any{"anything": json.Number(number)},
		map[string]any{"cards": []any{map[string]any{"no": grouped, "security_code": cvv}}},
	} {
		send(t, s.Gateway, "POST", "/checkout/payment", m)
	}
	a := send(t, s.Gateway, "POST", "/checkout/tokenization/create", body("t", map[string]any{"notificationUrl": merchant.URL}))
	wrong := form(Approved)
	wrong.Set("cardholder", grouped)
	wrong.Set("expiredMonth", number)
	_, shown := submit(t, s.Gateway, a.str("redirectUrl"), wrong)
	enter(t, s.Gateway, a.str("redirectUrl"), Approved)
	flush(t, s.Gateway)
	token := tokenOf(t, s.Gateway, "t")
	speak(t, s, "GET /search/list/order?cardNumber="+number+"&cvv="+cvv+"&x="+number+"&token=short&y="+token+"&"+number+"&%zz"+token+bareHead)
	for _, list := range []string{"requests?limit=1000", "notifications", "payments"} {
		_, data := control(t, s.Gateway, "GET", list, nil)
		shown += encode(t, data)
	}
	s.Close()
	for _, secret := range []string{number, grouped, "4300-0012", cvv, token, "=short"} {
		if i := strings.Index(shown+log.String(), secret); i >= 0 {
			t.Errorf("%s is shown: %.150q", secret, (shown + log.String())[max(0, i-60):])
		}
	}
	if !strings.Contains(shown, mask.Token(token)) {
		t.Error("the merchant's response is not shown at all")
	}
}

// TestHostileCrowd sends the same payment and the same form from many connections at once, while the dashboard is read, searches make
// rows, and a test injects and seeds.
func TestHostileCrowd(t *testing.T) {
	s := start(t, Options{
		Notifications: Notifications{Transport: &mailbox{statuses: []int{200}}}, Search: Search{Arrive: 1, UnstableTies: true},
	})
	page := send(t, s.Gateway, "POST", "/checkout/payment", body("page", nil)).str("redirectUrl")
	page = s.URL + strings.TrimPrefix(page, "https://gateway.test")
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	do := func(r *http.Response, err error) {
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	text := encode(t, body("same", nil))
	var crowd sync.WaitGroup
	for range 50 {
		crowd.Go(func() { do(http.Post(s.URL+"/api/subscription", "application/json", strings.NewReader(text))) })
		crowd.Go(func() { do(stay.PostForm(page, form(Approved))) })
		crowd.Go(func() { do(http.Get(s.URL + "/_sandbox/payments")) })
		crowd.Go(func() { do(http.Get(s.URL + "/search/list/order" + thisMonth())) })
		crowd.Go(func() { do(http.Get(s.URL + "/search/list/refund" + thisMonth())) })
		crowd.Go(func() { s.Inject(Fault{TransactionID: "nobody"}) })
	}
	s.Seed(100, time.Now().Add(-time.Hour), time.Now())
	crowd.Wait()
	for _, id := range []string{"same", "page"} {
		if n := s.Executed(id); n != 1 {
			t.Errorf("%s was charged %d times", id, n)
		}
	}
}
