package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCloseLeavesNothing uses everything that starts goroutines and checks for leaks afterwards.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	merchant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError) // so that deliveries are still waiting at Close
	}))
	s, err := Start(Options{SettleAfter: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	post := func(id string) {
		resp, err := client.Post(s.URL+"/api/subscription", "application/json",
			strings.NewReader(encode(t, body(id, map[string]any{"notificationUrl": merchant.URL}))))
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	post("a")
	s.Inject(Fault{Commit: CommitLate, Late: time.Hour})
	post("b")
	s.Inject(Fault{Before: time.Hour})
	var waiting sync.WaitGroup
	waiting.Go(func() { post("c") })
	time.Sleep(20 * time.Millisecond)
	s.Close()
	waiting.Wait()
	s.Close() // a second time does nothing
	client.CloseIdleConnections()
	merchant.Close()
	for range 200 { // net/http ends its own goroutines a moment after the connections
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	var stacks bytes.Buffer
	buf := make([]byte, 1<<20)
	stacks.Write(buf[:runtime.Stack(buf, true)])
	t.Errorf("%d goroutines, were %d before:\n%s", runtime.NumGoroutine(), before, stacks.String())
}

func TestBasicAuthentication(t *testing.T) {
	g := New(Options{MerchantID: "m", SecretKey: "s"})
	for name, tt := range map[string]struct {
		user, password string
		code           int
	}{
		"right":          {"m", "s", 404}, // the uniqueId is unknown
		"wrong password": {"m", "x", 401},
		"wrong user":     {"x", "s", 401},
		"shifted":        {"m\x00s", "", 401},
		"none":           {"", "", 401},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/search/order/1", nil)
			if tt.user != "" {
				r.SetBasicAuth(tt.user, tt.password)
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if a := readAnswer(t, w.Result()); a.code() != tt.code || a.status != 200 {
				t.Errorf("HTTP %d, %s; want HTTP 200 and code %d", a.status, a.text, tt.code)
			}
		})
	}
}

// TestRedirectURL: redirectUrl begins with the address that the caller used, or with Options.BaseURL.
func TestRedirectURL(t *testing.T) {
	for base, want := range map[string]string{
		"": "https://gateway.test/hosted/card/", "https://pay.shop.test": "https://pay.shop.test/hosted/card/",
		"https://pay.shop.test/": "https://pay.shop.test/hosted/card/",
	} {
		a := send(t, New(Options{BaseURL: base}), "POST", "/checkout/payment", body("t", nil))
		if got := a.str("redirectUrl"); !strings.HasPrefix(got, want) || len(got) < len(want)+20 {
			t.Errorf("BaseURL %q: redirectUrl = %q, want %s and an unguessable id", base, got, want)
		}
	}
}

// TestCutAnswersKeepTheirStatus: over a socket a response that is cut off has the status of the complete one.
func TestCutAnswersKeepTheirStatus(t *testing.T) {
	s := start(t, Options{NoNotifications: true})
	s.Inject(Fault{Reply: ReplyCutBody, Status: 502, RetryAfter: "7"})
	resp, err := http.Get(s.URL + "/search/order/1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != 502 || resp.Header.Get("Retry-After") != "7" || err == nil {
		t.Errorf("got HTTP %d with Retry-After %q, and %v when it was read", resp.StatusCode, resp.Header.Get("Retry-After"), err)
	}
}

// TestSeededRefunds: what a seeded refund has refunded cannot be refunded again, and every refund is found by its own ids. Another payment can be.
func TestSeededRefunds(t *testing.T) {
	now := time.Now()
	g := New(Options{Location: time.UTC, NoNotifications: true})
	g.Seed(20, now.Add(-2*time.Hour), now.Add(-time.Hour))
	g.SeedOrders(SeedOptions{From: now.Add(-2 * time.Hour), To: now.Add(-time.Hour), StrayRefunds: 5})
	between := "/search/list/refund?startDate=" + wall(now.UTC().AddDate(0, 0, -2)) + "&endingDate=" + wall(now.UTC().AddDate(0, 0, 2))
	refunds := send(t, g, "GET", between, nil).rows()
	if len(refunds) != 7 {
		t.Fatalf("%d refunds", len(refunds))
	}
	for _, r := range refunds {
		id := r["uniqueId"].(string)
		if found := send(t, g, "GET", between+"&uniqueId="+id, nil).rows(); len(found) != 1 {
			t.Errorf("%d refunds of %s", len(found), id)
		}
		if _, err := g.Refund(id, "", ""); err == nil {
			t.Errorf("%s was given back twice", id)
		}
	}
	if _, err := g.Refund("book-transaction-0-1", "0.01", "r1"); err != nil {
		t.Errorf("a seeded payment: %v", err)
	}
}
