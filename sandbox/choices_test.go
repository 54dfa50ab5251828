package sandbox

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHostedRetry: after a decline the page accepts another card, and each attempt is a row of its own.
func TestHostedRetry(t *testing.T) {
	m := &mailbox{statuses: []int{200}}
	g := New(Options{Cards: Cards{HostedRetry: true}, Notifications: Notifications{Transport: m}})
	defer g.Close()
	page := send(t, g, "POST", "/checkout/payment", body("t", nil)).str("redirectUrl")
	pay := func(o Outcome) string {
		t.Helper()
		resp, _ := submit(t, g, page, form(o))
		if resp.StatusCode != 303 {
			t.Fatalf("HTTP %d, want 303", resp.StatusCode)
		}
		return resp.Header.Get("Location")
	}
	if next := pay(Declined); !strings.HasSuffix(page, next) {
		t.Fatalf("after a decline the browser is sent to %q, want the card page", next)
	}
	if _, text := visit(t, g, page); !strings.Contains(text, "declined") || !strings.Contains(text, `id="pay"`) {
		t.Errorf("the page does not offer another card: %s", text)
	}
	wrong := form(Approved)
	wrong.Set("cvv", "1")
	if resp, _ := submit(t, g, page, wrong); resp.StatusCode != 422 { // makes no row
		t.Errorf("HTTP %d for a wrong CVV, want 422", resp.StatusCode)
	}
	if rows := send(t, g, "GET", "/search/list/order"+thisMonth()+"&transactionId=t", nil).rows(); len(rows) != 1 {
		t.Errorf("%d rows after a card that cannot be one, want the declined one alone", len(rows))
	}
	pay(Declined)
	if next := pay(Approved); next != "https://shop.example/back" {
		t.Errorf("after an approval the browser is sent to %q", next)
	}
	codes := send(t, g, "GET", "/search/list/order"+thisMonth()+"&transactionId=t", nil).texts("code")
	slices.Sort(codes)
	if want := []string{"100", "101", "101"}; !slices.Equal(codes, want) {
		t.Errorf("rows with codes %v, want %v", codes, want)
	}
	if got := g.Executed("t"); got != 1 {
		t.Errorf("Executed = %d, want 1", got)
	}
	if err := g.Flush(t.Context()); err != nil || len(m.got) != 3 {
		t.Errorf("%d notifications, %v; want 3", len(m.got), err)
	}
}

// TestHostedRetryEnds: the cardholder cancels, or fails to authenticate and then pays.
func TestHostedRetryEnds(t *testing.T) {
	g := New(Options{Cards: Cards{HostedRetry: true}})
	page := send(t, g, "POST", "/checkout/payment", body("given up", nil)).str("redirectUrl")
	enter(t, g, page, Declined)
	if resp, _ := submit(t, g, page, url.Values{"action": {"cancel"}}); resp.Header.Get("Location") != "https://shop.example/back" {
		t.Errorf("cancel leads to %q", resp.Header.Get("Location"))
	}
	if rows := send(t, g, "GET", "/search/list/order"+thisMonth()+"&transactionId=given+up", nil).rows(); len(rows) != 1 {
		t.Errorf("%d rows, want the declined one", len(rows))
	}

	page = send(t, g, "POST", "/checkout/payment", body("3d", nil)).str("redirectUrl")
	threeD := enter(t, g, page, Challenged)
	next, err := g.Authenticate(threeD, false)
	if err != nil || !strings.HasSuffix(page, next) {
		t.Fatalf("after a failed authentication: %q, %v, want the card page", next, err)
	}
	if _, err := g.EnterCard(page, TestCard(Approved)); err != nil || g.Executed("3d") != 1 {
		t.Errorf("%v, charged %d times, want once", err, g.Executed("3d"))
	}
	if submit(t, g, "https://gateway.test"+threeD, url.Values{"decision": {"approve"}}); g.Executed("3d") != 1 { // sent twice
		t.Errorf("charged %d times, want once", g.Executed("3d"))
	}
}

// TestOtherPage: a payment is found by the page on which its cardholder is awaited, and afterwards by its card page, but by no other path
// that ends in the same way.
func TestOtherPage(t *testing.T) {
	g := New(Options{Cards: Cards{SecureForEveryCard: true}})
	secure := map[string]any{"secure": true, "browser": map[string]any{"userAgent": "x"}}
	page := send(t, g, "POST", "/checkout/payment", body("t", secure)).str("redirectUrl")
	threeD := enter(t, g, page, Pending)
	if _, err := g.Authenticate(page, true); err == nil {
		t.Error("authenticated on the card page")
	}
	if _, err := g.Authenticate(threeD, true); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{threeD, path.Base(page), "/other/" + path.Base(page)} {
		if err := g.Settle(other, true); err == nil || !strings.Contains(err.Error(), "not waiting on that page") {
			t.Errorf("%s: %v, want that the payment does not wait there", other, err)
		}
	}
	if err := g.Settle(page, true); err != nil || g.Executed("t") != 1 {
		t.Errorf("by its card page: %v, charged %d times", err, g.Executed("t"))
	}
}

// TestDirectPaymentsHaveNoRetry: only a payment on the hosted page has a card page to go back to, however its 3D authentication ends.
func TestDirectPaymentsHaveNoRetry(t *testing.T) {
	for _, approve := range []bool{true, false} {
		g := New(Options{Cards: Cards{HostedRetry: true, SecureForEveryCard: true}})
		secure := body("t", map[string]any{"card": cardBody(Declined), "secure": true, "browser": map[string]any{"userAgent": "x"}})
		next, err := g.Authenticate(send(t, g, "POST", "/api/subscription", secure).str("redirectUrl"), approve)
		if err != nil || strings.Contains(next, "/card/") {
			t.Errorf("authenticated %t: it goes on at %q (%v), want the shop's page", approve, next, err)
		}
	}
}

// TestAppID: leading zeros do not matter, and anything but digits is a mistake of the test.
func TestAppID(t *testing.T) {
	g := New(Options{AppID: "0123"})
	g.Seed(3, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	wantCode(t, send(t, g, "POST", "/api/subscription", body("t", map[string]any{"appId": "0123"})), 100)
	wantCode(t, send(t, g, "POST", "/api/subscription", body("u", map[string]any{"appId": 124})), 500)
	if rows := send(t, g, "GET", "/search/list/order"+thisMonth(), nil).rows(); len(rows) != 4 {
		t.Errorf("%d rows, want 4", len(rows))
	}
	defer func() {
		if recover() == nil {
			t.Error("an AppID of letters is accepted")
		}
	}()
	New(Options{AppID: "abc"})
}

// TestControlFilters: a list refuses a filter that it does not have, which would select every row.
func TestControlFilters(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	send(t, g, "POST", "/api/subscription", body("t", nil))
	for _, query := range []string{
		"payments?refundTransactionId=x", "payments?transactionType=Chargeback", "payments?state=accepted", "payments?since=9", "refunds?orderId=x",
		"refunds?operation=TokenPayment", "refunds?state=x", "requests?orderId=x", "requests?uniqueId=1", "requests?refundTransactionId=x",
		"notifications?orderId=x", "notifications?refundTransactionId=x", "notifications?operation=TokenPayment",
		"wait?for=refunds&orderId=x&timeout=50ms", "wait?for=notifications&refundTransactionId=x&timeout=50ms",
	} {
		if status, data := control(t, g, "GET", query, nil); status != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d, %v", query, status, data)
		}
	}
	for _, query := range []string{"payments?transactionId=t&orderId=x", "refunds?refundTransactionId=x", "requests?since=9&operation=TokenPayment",
		"notifications?state=x"} {
		if status, data := control(t, g, "GET", query, nil); status != http.StatusOK || len(data["data"].([]any)) != 0 {
			t.Errorf("%s: HTTP %d, %v", query, status, data)
		}
	}
}

// TestChoices tests the options for behaviour that the interface leaves open.
func TestChoices(t *testing.T) {
	secure := map[string]any{"secure": true, "browser": map[string]any{"userAgent": "x"}}
	pay := func(t *testing.T, g *Gateway, o Outcome, more map[string]any) answer {
		t.Helper()
		changes := map[string]any{"card": cardBody(o)}
		for name, value := range more {
			changes[name] = value
		}
		return send(t, g, "POST", "/api/subscription", body("t", changes))
	}
	for _, tt := range []struct {
		outcome         Outcome
		usual, everyone int // codes of the response without and with SecureForEveryCard
		after           int // code once authenticated
	}{
		{Approved, 301, 301, 100}, {Pending, 102, 301, 102}, {Declined, 101, 301, 101}, {Challenged, 301, 301, 100},
	} {
		t.Run("secure "+tt.outcome.String(), func(t *testing.T) {
			wantCode(t, pay(t, New(Options{}), tt.outcome, secure), tt.usual)
			g := New(Options{Cards: Cards{SecureForEveryCard: true}})
			a := pay(t, g, tt.outcome, secure)
			wantCode(t, a, tt.everyone)
			if _, err := g.Authenticate(a.str("redirectUrl"), true); err != nil {
				t.Fatal(err)
			}
			row := send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil)
			if row.code() != tt.after || row.str("is3d") != "true" {
				t.Errorf("row %s, want code %d after 3D", row.text, tt.after)
			}
		})
	}
	for _, tt := range []struct {
		outcome      Outcome
		usual, bound int // codes of a finished token order without and with TokenOrderUsesCard
	}{
		{Approved, 100, 100}, {Pending, 100, 102}, {Challenged, 100, 301}, {Declined, 100, 101},
	} {
		t.Run("token order "+tt.outcome.String(), func(t *testing.T) {
			for uses, want := range map[bool]int{false: tt.usual, true: tt.bound} {
				g := New(Options{Cards: Cards{TokenOrderUsesCard: uses}})
				a := send(t, g, "POST", "/checkout/tokenization/create", body("t", nil))
				enter(t, g, a.str("redirectUrl"), tt.outcome)
				wantCode(t, send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil), want)
				if _, err := g.Token("t"); (err == nil) != (want == 100) {
					t.Errorf("code %d and a token: %v", want, err)
				}
			}
		})
	}
	t.Run("is3d as a boolean", func(t *testing.T) {
		g := New(Options{Responses: Responses{Is3DBoolean: true}})
		a := pay(t, g, Approved, nil)
		if got := send(t, g, "GET", "/search/order/"+a.str("uniqueId"), nil).data["is3d"]; got != false {
			t.Errorf("is3d = %#v, want the boolean false", got)
		}
	})
	t.Run("redirectUrl in rows", func(t *testing.T) {
		for without, want := range map[bool]int{false: 1, true: 0} {
			g := New(Options{Responses: Responses{NoRedirectURLInRows: without}})
			a := send(t, g, "POST", "/checkout/payment", body("t", nil))
			if a.str("redirectUrl") == "" {
				t.Errorf("the response %s has no redirectUrl", a.text)
			}
			from, to := time.Now().AddDate(0, 0, -2).Format(time.DateOnly), time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
			for _, path := range []string{"/search/order/" + a.str("uniqueId"), "/search/list/order?transactionId=t&startDate=" + from + "&endingDate=" + to} {
				row := send(t, g, "GET", path, nil)
				if got := strings.Count(row.text, "redirectUrl"); got != want {
					t.Errorf("without %t: row %s has %d, want %d", without, row.text, got, want)
				}
			}
		}
	})
	t.Run("an id with a wide range", func(t *testing.T) {
		for wide, want := range map[bool]int{false: 500, true: 121} {
			g := New(Options{Search: Search{WideRangeWithID: wide}})
			wantCode(t, send(t, g, "GET", "/search/list/order?startDate=2020-01-01&endingDate=2024-01-01&transactionId=t", nil), want)
			wantCode(t, send(t, g, "GET", "/search/list/order?startDate=2020-01-01&endingDate=2024-01-01", nil), 500)
		}
	})
	t.Run("code of a fault", func(t *testing.T) {
		for _, code := range []int{103, 122, 201, 999} {
			g := New(Options{})
			g.Inject(Fault{Code: code, Commit: CommitNever})
			a := pay(t, g, Approved, nil)
			if a.code() != code || a.status != 200 || g.Executed("t") != 0 {
				t.Errorf("HTTP %d, %s, charged %d times; want code %d", a.status, a.text, g.Executed("t"), code)
			}
		}
	})
	t.Run("a page beyond every integer", func(t *testing.T) {
		a := send(t, New(Options{}), "GET",
			"/search/list/order?startDate=2024-01-01&endingDate=2024-01-02&currPage=99999999999999999999", nil)
		if got := number(a.data["currPage"]); got != "99999999999999999999" || len(a.rows()) != 0 {
			t.Errorf("currPage = %s with %d rows, want the page that was asked for, empty", got, len(a.rows()))
		}
	})
}

func TestSeedOrders(t *testing.T) {
	g := New(Options{})
	to := january.AddDate(0, 0, 20)
	g.SeedOrders(SeedOptions{
		N: 90, From: january, To: to, Currencies: []string{"USD", "JPY", "KWD"}, RefundEvery: 3, RefundStates: true,
	})
	decimals := map[string]int{"USD": 2, "JPY": 0, "KWD": 3}
	orders := send(t, g, "GET", "/search/list/order"+rangeQuery(january, to, g.opts.Location, 1, 999), nil).rows()
	seenCurrencies := map[string]int{}
	for _, row := range orders {
		currency, amount := row["transactionCurrency"].(string), row["transactionAmount"].(string)
		seenCurrencies[currency]++
		_, fraction, _ := strings.Cut(amount, ".")
		if len(fraction) != decimals[currency] {
			t.Errorf("%s %s has %d decimals, want %d", amount, currency, len(fraction), decimals[currency])
		}
	}
	if seenCurrencies["USD"] != 30 || seenCurrencies["JPY"] != 30 || seenCurrencies["KWD"] != 30 {
		t.Errorf("currencies %v, want 30 each", seenCurrencies)
	}
	refunds := send(t, g, "GET", "/search/list/refund"+rangeQuery(january, to, g.opts.Location, 1, 999), nil).rows()
	codes := map[string]int{}
	for _, row := range refunds {
		codes[number(row["code"])]++
		found := send(t, g, "GET", "/search/order/"+row["uniqueId"].(string), nil)
		if found.code() != 100 || found.str("transactionCurrency") != row["refundCurrency"] {
			t.Errorf("refund %v of %s", row, found.text)
		}
	}
	if codes["110"] != 6 || codes["112"] != 4 || codes["111"] != 20 {
		t.Errorf("refunds by code %v, want 6 at 110, 4 at 112 and 20 at 111", codes)
	}
	none := New(Options{})
	none.SeedOrders(SeedOptions{N: 90, From: january, To: to, RefundEvery: -1})
	if got := slices.Collect(none.RefundIDs(january, to)); len(got) != 0 {
		t.Errorf("%d refunds, want none", len(got))
	}
}

// TestSeedTwice seeds orders charged twice and refunds made twice, and finds both by every id.
func TestSeedTwice(t *testing.T) {
	g := New(Options{})
	to := january.AddDate(0, 0, 20)
	g.SeedOrders(SeedOptions{N: 90, From: january, To: to, RefundEvery: 3, TwiceEvery: 17, RefundTwiceEvery: 4})
	search := func(kind, more string) []map[string]any {
		return send(t, g, "GET", "/search/list/"+kind+rangeQuery(january, to, g.opts.Location, 1, 999)+more, nil).rows()
	}
	approved := map[string]int{}
	for _, row := range search("order", "") {
		if number(row["code"]) == "100" {
			approved[row["transactionId"].(string)]++
		}
	}
	twice := 0
	for id, n := range approved {
		if got := len(search("order", "&transactionId="+id)); got != n {
			t.Errorf("%s: %d are found by its transactionId, want %d", id, got, n)
		}
		if n > 1 {
			twice++
		}
	}
	if twice != 5 {
		t.Errorf("%d are charged twice, want 5", twice)
	}
	refunds := map[string]int{}
	for _, row := range search("refund", "") {
		refunds[row["uniqueId"].(string)]++
	}
	twice = 0
	for id, n := range refunds {
		if got := len(search("refund", "&uniqueId="+id)); got != n {
			t.Errorf("%s: %d refunds are found by its uniqueId, want %d", id, got, n)
		}
		if n > 1 {
			twice++
		}
	}
	if twice != 7 || len(refunds) != 30 {
		t.Errorf("%d of %d are given back twice, want 7 of 30", twice, len(refunds))
	}
}

// TestRenew: a later charge of a subscription is a row of its own, notified, with the id that the option says. It does not count
// as executed, because no request makes it.
func TestRenew(t *testing.T) {
	for _, newID := range []bool{false, true} {
		t.Run(map[bool]string{false: "the same id", true: "a new id"}[newID], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mailbox{statuses: []int{200}}
				g := New(Options{RenewalsHaveNewID: newID, Notifications: Notifications{Transport: m}})
				defer g.Close()
				first := send(t, g, "POST", "/api/subscription", body("t", nil))
				seen := map[string]bool{first.str("uniqueId"): true}
				for range 2 {
					time.Sleep(7 * 24 * time.Hour)
					uniqueID, err := g.Renew(first.str("uniqueId"))
					if err != nil {
						t.Fatal(err)
					}
					row := send(t, g, "GET", "/search/order/"+uniqueID, nil)
					if seen[uniqueID] || (row.str("transactionId") != "t") != newID || row.str("transactionAmount") != first.str("transactionAmount") {
						t.Errorf("got %v, want another charge of %v", row, first)
					}
					seen[uniqueID] = true
				}
				flush(t, g)
				if n := len(m.bodies); n != 3 {
					t.Errorf("got %d notifications, want 3", n)
				}
				rows := g.Rows("t")
				if renewals := slices.IndexFunc(rows, func(r Row) bool { return r.Renewal }); newID != (len(rows) == 1) || newID != (renewals < 0) {
					t.Errorf("got rows %+v", rows)
				}
				if n, moves := g.Executed("t"), len(g.Moves(0)); n != 1 || moves != 3 {
					t.Errorf("got %d executions and %d movements of money, want 1 and 3", n, moves)
				}
			})
		})
	}
}
