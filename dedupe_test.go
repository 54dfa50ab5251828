package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
)

func TestMemoryDeduper(t *testing.T) {
	ctx := context.Background()
	d := NewMemoryDeduper(2)
	claim := func(key string, want ClaimResult) {
		t.Helper()
		if got, err := d.Claim(ctx, key); got != want || err != nil {
			t.Errorf("Claim(%s): got %v, %v, want %v", key, got, err, want)
		}
	}
	settle := func(key string, handled bool) {
		t.Helper()
		if err := d.Done(ctx, key, handled); err != nil {
			t.Errorf("Done(%s): %v", key, err)
		}
	}
	claim("a", ClaimFresh)
	claim("a", ClaimBusy)
	settle("a", false)
	claim("a", ClaimFresh)
	settle("a", true)
	claim("a", ClaimHandled)
	for _, key := range []string{"b", "c"} {
		claim(key, ClaimFresh)
		settle(key, true)
		settle(key, true)
	}
	claim("a", ClaimFresh) // forgotten: there is room for two
	claim("b", ClaimHandled)
	claim("c", ClaimHandled)
	settle("a", true)
	claim("b", ClaimFresh)
	claim("c", ClaimHandled)
	claim("a", ClaimHandled)
}

func TestMemoryDeduperIsBounded(t *testing.T) {
	d := NewMemoryDeduper(100)
	for i := range 10_000 {
		key := fmt.Sprint(i)
		_, _ = d.Claim(context.Background(), key)
		_ = d.Done(context.Background(), key, true)
	}
	if len(d.busy) != 0 || len(d.handled.entries) != 100 || len(d.handled.order) != 100 {
		t.Errorf("kept: got %d busy, %d and %d handled, want 0, 100 and 100", len(d.busy), len(d.handled.entries), len(d.handled.order))
	}
}

// TestNotificationHandlerOnce delivers several notifications to one handler, one after another.
func TestNotificationHandlerOnce(t *testing.T) {
	const chargeback = `{"transactionType":"Chargeback","uniqueId":"987654321","chargebackAmount":"11.00"}`
	type delivery struct {
		body             string
		status           int
		handled, queries int // so far
	}
	tests := []struct {
		name       string
		deliveries []delivery
	}{
		{"a repetition costs nothing", []delivery{{approved, 200, 1, 1}, {approved, 200, 1, 1}}},
		{"a repetition with another time", []delivery{
			{approved, 200, 1, 1}, {strings.Replace(approved, "{", `{"timestamp":1,`, 1), 200, 1, 1},
		}},
		{"another code that is not true", []delivery{
			{approved, 200, 1, 1}, {strings.Replace(approved, "100", "101", 1), 200, 1, 2},
		}},
		{"a forged one first", []delivery{
			{strings.Replace(approved, "999.00", "0.01", 1), 200, 1, 1}, {approved, 200, 1, 1},
		}},
		{"a refund beside its payment", []delivery{{approved, 200, 1, 1}, {refunded, 200, 2, 3}, {refunded, 200, 2, 3}}},
		{"a copy of a chargeback", []delivery{{chargeback, 200, 1, 1}, {chargeback, 200, 1, 2}}},
		{"a forged chargeback first", []delivery{
			{strings.Replace(chargeback, "11.00", "0.01", 1), 200, 1, 1}, {chargeback, 200, 2, 2},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, NotificationOptions{})
			s.refunds(`{"code":111,"uniqueId":"987654321","refundUniqueId":"55","merchantRefundId":"r-1"}`)
			for _, d := range tt.deliveries {
				s.expect(t, s.post("", d.body), d.status, d.handled)
				if n := s.gateway.GetTotalCallCount(); n != d.queries {
					t.Errorf("queries: got %d, want %d", n, d.queries)
				}
			}
		})
	}
}

func TestNotificationHandlerFailures(t *testing.T) {
	s := newShop(t, NotificationOptions{})
	s.fail = errors.New("database is down")
	s.expect(t, s.post("", approved), 503, 1)
	if err := s.infos[0].Err; !errors.Is(err, s.fail) {
		t.Errorf("error: got %v, want %v", err, s.fail)
	}
	s.fail = nil
	s.expect(t, s.post("", approved), 200, 2)
	s.expect(t, s.post("", approved), 200, 2)
	if !s.infos[2].Repeated || s.infos[1].Repeated {
		t.Errorf("repeated: got %v and %v, want false and true", s.infos[1].Repeated, s.infos[2].Repeated)
	}
}

func TestNotificationHandlerPanics(t *testing.T) {
	s := newShop(t, NotificationOptions{})
	calls := 0
	s.handle = func(context.Context, *Notification) error {
		if calls++; calls == 1 {
			panic("a fault of the merchant's")
		}
		return nil
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("panic: got none, want the merchant's")
			}
		}()
		s.post("", approved)
	}()
	if len(s.infos) != 1 || s.infos[0].Status != 503 || s.infos[0].UniqueID != "987654321" || s.infos[0].Err != errPanicked {
		t.Errorf("observed %+v, want one that panicked", s.infos)
	}
	if w := s.post("", approved); w.Code != 200 || calls != 2 {
		t.Errorf("afterwards: got status %d and %d calls, want 200 and 2", w.Code, calls)
	}
}

// TestNotificationHandlerOverlapping delivers the same notification again while the first is being asked about, and
// while it is being handled.
func TestNotificationHandlerOverlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, NotificationOptions{})
		s.gateway.RegisterResponder("GET", testBase+"/search/order/987654321",
			httpmock.NewStringResponder(200, `{"code":100,"uniqueId":"987654321"}`).Delay(5*time.Second))
		calls := 0
		s.handle = func(context.Context, *Notification) error {
			calls++
			time.Sleep(5 * time.Second)
			return nil
		}
		const body = `{"uniqueId":"987654321","transactionType":"Sale","code":100}`
		first := make(chan int)
		go func() { first <- s.post("", body).Code }()
		for range 9 {
			time.Sleep(time.Second)
			if w := s.post("", body); w.Code != http.StatusServiceUnavailable {
				t.Errorf("overlapping: got status %d, want 503", w.Code)
			}
		}
		if status := <-first; status != 200 {
			t.Errorf("first: got status %d, want 200", status)
		}
		if w := s.post("", body); w.Code != 200 || calls != 1 || s.gateway.GetTotalCallCount() != 1 {
			t.Errorf("afterwards: got status %d, %d calls and %d queries, want 200, 1 and 1", w.Code, calls, s.gateway.GetTotalCallCount())
		}
	})
}

// scriptedDeduper answers as told, and notes what it was told.
type scriptedDeduper struct {
	result   ClaimResult
	claimErr error
	settled  []bool
	ended    error // of the context that Done was given
	keys     []string
}

func (d *scriptedDeduper) Claim(_ context.Context, key string) (ClaimResult, error) {
	d.keys = append(d.keys, key)
	return d.result, d.claimErr
}

func (d *scriptedDeduper) Done(ctx context.Context, _ string, handled bool) error {
	d.settled = append(d.settled, handled)
	if _, bounded := ctx.Deadline(); !bounded {
		d.ended = errors.New("has no deadline")
	} else {
		d.ended = ctx.Err()
	}
	return errors.New("lost") // which is not the gateway's business
}

func TestNotificationHandlerSharedDeduper(t *testing.T) {
	tests := []struct {
		name            string
		deduper         scriptedDeduper
		fail            error
		status, handled int
		settled         int
	}{
		{name: "fresh", deduper: scriptedDeduper{result: ClaimFresh}, status: 200, handled: 1, settled: 1},
		{name: "fresh and failed", deduper: scriptedDeduper{result: ClaimFresh}, fail: errors.New("no"), status: 503, handled: 1, settled: 1},
		{name: "handled elsewhere", deduper: scriptedDeduper{result: ClaimHandled}, status: 200},
		{name: "being handled elsewhere", deduper: scriptedDeduper{result: ClaimBusy}, status: 503},
		{name: "no answer", deduper: scriptedDeduper{result: ClaimFresh, claimErr: errors.New("down")}, status: 503},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, NotificationOptions{Deduper: &tt.deduper})
			s.fail = tt.fail
			s.expect(t, s.post("", approved), tt.status, tt.handled)
			if len(tt.deduper.settled) != tt.settled || tt.settled > 0 && tt.deduper.settled[0] != (tt.fail == nil) {
				t.Errorf("settled: got %v, want %d times %v", tt.deduper.settled, tt.settled, tt.fail == nil)
			}
			if want := "payment 987654321 100"; tt.deduper.keys[0] != want {
				t.Errorf("key: got %q, want %q", tt.deduper.keys[0], want)
			}
			if tt.fail != nil { // then this process must not remember it either
				s.expect(t, s.post("", approved), tt.status, tt.handled+1)
			}
		})
	}
}

// TestNotificationHandlerSettlesAfterTheRequest lets the gateway hang up while the merchant's function runs.
func TestNotificationHandlerSettlesAfterTheRequest(t *testing.T) {
	deduper := &scriptedDeduper{result: ClaimFresh}
	s := newShop(t, NotificationOptions{Deduper: deduper})
	ctx, hangUp := context.WithCancel(context.Background())
	s.handle = func(ctx context.Context, _ *Notification) error {
		hangUp()
		return ctx.Err()
	}
	r := httptest.NewRequestWithContext(ctx, "POST", "/notify", strings.NewReader(approved))
	r.Header.Set("Content-Type", "application/json")
	if w := s.serve(r); w.Code != 503 || len(deduper.settled) != 1 || deduper.settled[0] || deduper.ended != nil {
		t.Errorf("got status %d, settled %v with a context that %v, want 503 and one claim given back in time",
			w.Code, deduper.settled, deduper.ended)
	}
}

// TestNotificationKeys compares the keys of two notifications.
func TestNotificationKeys(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"another time", `{"transactionType":"Sale","uniqueId":"1","timestamp":1}`, `{"transactionType":"Sale","uniqueId":"1","timestamp":2}`, true},
		{"another code", `{"transactionType":"Sale","uniqueId":"1","code":100}`, `{"transactionType":"Sale","uniqueId":"1","code":101}`, false},
		{"another transaction", `{"transactionType":"Sale","uniqueId":"1"}`, `{"transactionType":"Sale","uniqueId":"2"}`, false},
		{"another kind", `{"transactionType":"Sale","uniqueId":"1"}`, `{"transactionType":"Refund","uniqueId":"1"}`, false},
		{"with a token", `{"transactionType":"Sale","uniqueId":"1"}`, `{"transactionType":"Sale","uniqueId":"1","token":"a"}`, false},
		{"another token of a kind without facts", `{"uniqueId":"1","token":"a"}`, `{"uniqueId":"1","token":"b"}`, true},
		{"another possible token of a kind without facts", `{"uniqueId":"1","my_token":"a"}`, `{"uniqueId":"1","my_token":"b"}`, true},
		{"another value of a kind without facts", `{"uniqueId":"1","a":"b","c":"d"}`, `{"uniqueId":"1","a":"bc","e":"d"}`, false},
		{
			"ids of refunds, shifted",
			`{"transactionType":"Refund","refundUniqueId":"12","merchantRefundId":"3"}`,
			`{"transactionType":"Refund","refundUniqueId":"1","merchantRefundId":"23"}`, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := mustParse(t, tt.a).claimedKey(), mustParse(t, tt.b).claimedKey()
			if (a == b) != tt.same {
				t.Errorf("got %q and %q, want them the same: %v", a, b, tt.same)
			}
		})
	}
}

// TestNotificationKeysAreShort uses the longest ids that are read.
func TestNotificationKeysAreShort(t *testing.T) {
	for _, kind := range []string{"Sale", "Refund", "Chargeback", "Other"} {
		n := mustParse(t, fmt.Sprintf(`{"transactionType":%q,"uniqueId":%q,"refundUniqueId":%q,"merchantRefundId":%q,"code":999999999,"token":"x"}`,
			kind, strings.Repeat("9", 128), strings.Repeat("é", 255), strings.Repeat("🙂", 255)))
		key := n.claimedKey()
		if len(key) > 255 || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%s: got %d bytes, want at most 255 of ASCII: %q", kind, len(key), key)
		}
	}
}
