package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// mailbox is a merchant's notification endpoint in memory. It responds with each of the statuses in turn, and then always
// with the last one.
type mailbox struct {
	mu       sync.Mutex
	statuses []int
	times    []time.Time
	got      []map[string]any
	bodies   []string
}

func (m *mailbox) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	status := m.statuses[0]
	if len(m.statuses) > 1 {
		m.statuses = m.statuses[1:]
	}
	m.times = append(m.times, time.Now())
	m.got = append(m.got, fields)
	m.bodies = append(m.bodies, string(text))
	w := httptest.NewRecorder()
	w.WriteHeader(status)
	return w.Result(), nil
}

func TestNotifications(t *testing.T) {
	m := &mailbox{statuses: []int{200}}
	g := New(Options{SecretKey: "test-secret", Notifications: Notifications{Transport: m, TokenMember: "tokenization"}})
	defer g.Close()
	token := newToken(t, g, "order", Approved)
	flush(t, g) // keeps the order of the notifications
	paid := send(t, g, "POST", "/checkout/tokenization/payment/"+token, body("paid", nil))
	flush(t, g)
	send(t, g, "POST", "/api/subscription", body("declined", map[string]any{"card": cardBody(Declined)}))
	flush(t, g)
	if _, err := g.Refund(paid.str("uniqueId"), "2.00", "r"); err != nil {
		t.Fatal(err)
	}
	flush(t, g)
	if err := g.Chargeback(paid.str("uniqueId")); err != nil {
		t.Fatal(err)
	}
	flush(t, g)
	if err := g.Notify("paid"); err != nil {
		t.Fatal(err)
	}
	flush(t, g)
	var kinds []string
	for i, fields := range m.got {
		kinds = append(kinds, fields["transactionType"].(string))
		values := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(m.bodies[i]), &values); err != nil {
			t.Fatal(err)
		}
		if want := sign("test-secret", values); fields["sign"] != want {
			t.Errorf("sign of %v = %v, want %s", fields, fields["sign"], want)
		}
		if fields["appId"] != json.Number("98765432109876543210") {
			t.Errorf("appId = %v", fields["appId"])
		}
	}
	if want := []string{"Tokenization", "Tokenization", "Sale", "Refund", "Chargeback", "Tokenization"}; !slices.Equal(kinds, want) {
		t.Fatalf("notifications of %v, want %v", kinds, want)
	}
	if got := m.got[0]["tokenization"]; got != token {
		t.Errorf("the token order's notification carries %v, want the token", got)
	}
	if m.got[2]["code"] != json.Number("101") || m.got[2]["transactionMessage"] != "Declined" {
		t.Errorf("the declined payment's notification is %v", m.got[2])
	}
	if m.got[3]["refundAmount"] != "2.00" || m.got[3]["code"] != json.Number("111") {
		t.Errorf("the refund's notification is %v", m.got[3])
	}
	if err := g.Notify("nobody"); err == nil {
		t.Error("Notify of an unknown transaction succeeded")
	}
}

// TestRepeats: the published schedule in virtual time, which ends after the fifth failure.
func TestRepeats(t *testing.T) {
	tests := []struct {
		name     string
		statuses []int
		scale    float64
		want     []time.Duration // of the attempts after the first
	}{
		{"accepted", []int{200}, 0, nil},
		{"accepted the second time", []int{500, 200}, 0, []time.Duration{5 * time.Second}},
		{"204 is not 200", []int{204, 302, 200}, 0, []time.Duration{5 * time.Second, 5 * time.Minute}},
		{"never accepted", []int{503}, 0, []time.Duration{5 * time.Second, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute}},
		{"scaled", []int{503}, 0.001, []time.Duration{5 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond, 1800 * time.Millisecond}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mailbox{statuses: tt.statuses}
				g := New(Options{Notifications: Notifications{Transport: m, Scale: tt.scale}})
				send(t, g, "POST", "/api/subscription", body("t", nil))
				flush(t, g)
				var got []time.Duration
				for _, at := range m.times[1:] {
					got = append(got, at.Sub(m.times[0]))
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("repeated after %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mailbox{statuses: []int{500}}
		g := New(Options{Notifications: Notifications{Transport: m}, SettleAfter: time.Hour})
		send(t, g, "POST", "/api/subscription", body("t", nil))
		token := newToken(t, g, "order", Approved)
		send(t, g, "POST", "/checkout/tokenization/payment/"+token, body("p", nil))
		g.Inject(Fault{Commit: CommitLate, Late: time.Hour})
		send(t, g, "POST", "/api/subscription", body("late", nil))
		g.Inject(Fault{Before: time.Hour})
		waiting := make(chan int, 1)
		go func() { waiting <- send(t, g, "POST", "/api/subscription", body("waiting", nil)).status }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Flush(ctx); err != context.DeadlineExceeded {
			t.Errorf("Flush = %v, want a deadline", err)
		}
		start := time.Now()
		g.Close()
		g.Close() // a second time does nothing
		if status, took := <-waiting, time.Since(start); took != 0 || status != http.StatusServiceUnavailable {
			t.Errorf("Close took %v, what waits is answered with HTTP %d", took, status)
		}
		if err := g.Flush(t.Context()); err == nil {
			t.Error("Flush says that all is delivered")
		}
		send(t, g, "POST", "/api/subscription", body("after", nil)) // still answers, notifies nobody
		time.Sleep(2 * time.Hour)
		if g.Executed("late")+g.Executed("waiting") != 0 {
			t.Error("what waited is carried out after Close")
		}
	})
}

// TestPublishedSignature checks the rule with the published test vector.
func TestPublishedSignature(t *testing.T) {
	fields := map[string]any{
		"code": 100, "appId": 77, "uniqueId": "987654321", "transactionType": "Sale", "transactionCurrency": "USD",
		"transactionAmount": "20.00", "transactionId": "WG-SIGN-TEST", "timestamp": 1756180000,
		"transactionMessage": "", "nothing": nil, "nested": map[string]any{"a": 1}, "sign": "old",
	}
	r, err := NotificationRequest("https://shop.example/notify", "test-secret", fields)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Sign string }
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if want := "1ecd74d78d8df6914bc553587967fe0662f6e1e4f726e2cff849940b0d3c9286"; got.Sign != want {
		t.Errorf("sign = %s, want %s", got.Sign, want)
	}
	if r.Method != "POST" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s with %v", r.Method, r.Header)
	}
	if _, err := NotificationRequest("https://shop.example/notify", "k", map[string]any{"x": func() {}}); err == nil {
		t.Error("a func was accepted as a member")
	}
}

// echo is a merchant's endpoint that responds with so many letters and then with the token that it got.
type echo int

func (e echo) RoundTrip(r *http.Request) (*http.Response, error) {
	var fields struct{ Token string }
	if err := json.NewDecoder(r.Body).Decode(&fields); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	_, _ = io.WriteString(w, strings.Repeat("x", int(e))+fields.Token)
	return w.Result(), nil
}

// TestEchoedToken: a token in a merchant's response is masked, also if the response is cut within it.
func TestEchoedToken(t *testing.T) {
	for _, before := range []int{0, 2030} {
		g := New(Options{Notifications: Notifications{Transport: echo(before)}})
		token := newToken(t, g, "to", Approved)
		flush(t, g)
		_, shown := control(t, g, "GET", "notifications", nil)
		if text := encode(t, shown); strings.Contains(text, token[:8]) || !strings.Contains(text, "***") {
			t.Errorf("after %d letters: %s", before, text)
		}
		g.Close()
	}
}
