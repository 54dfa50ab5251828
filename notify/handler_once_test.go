package notify_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/cardgateway/cardgateway-go/notify"
)

// Each event is handled once, however often and by however many senders it is delivered.

// TestHandlerOnce delivers several notifications to one handler, one after another.
func TestHandlerOnce(t *testing.T) {
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
			s := newShop(t, notify.Options{})
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

var errNoTable = errors.New("no such table")

// seam is a logger and a Deduper, which stop where the test says.
type seam struct {
	slog.Handler
	*notify.MemoryDeduper
	stop func(at string)
}

func (s *seam) Handle(_ context.Context, r slog.Record) error { s.stop(r.Message); return nil }

func (s *seam) Claim(ctx context.Context, key string) (notify.ClaimResult, error) {
	s.stop("Claim")
	return s.MemoryDeduper.Claim(ctx, key)
}

func (s *seam) Handled(context.Context, string) error {
	s.stop("Handled")
	return errNoTable // the claim does not end
}

// TestHandlerStops: whatever panics, or ends its goroutine, a request is observed once, and is confirmed and handled when it comes again,
// unless it has been handled.
func TestHandlerStops(t *testing.T) {
	for name, stop := range map[string]func(){"panics": func() { panic("a fault of the merchant's") }, "ends the goroutine": runtime.Goexit} {
		for at, repeated := range map[string]bool{
			"Verify": false, "Claim": false, "function": false, "Handled": true, "cardgateway notification": true,
			"cardgateway notification: the Deduper could not end a claim": true,
		} {
			t.Run(at+" "+name, func(t *testing.T) {
				stopped := false
				stopAt := func(here string) {
					if here == at && !stopped {
						stopped = true
						stop()
					}
				}
				merchant := &seam{slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}), notify.NewMemoryDeduper(0), stopAt}
				s := newShop(t, notify.Options{
					Logger: slog.New(merchant), Deduper: merchant, Verify: func(*notify.Notification) error { stopAt("Verify"); return nil },
				})
				calls := 0
				s.handle = func(context.Context, *notify.Notification) error { stopAt("function"); calls++; return nil }
				ended := make(chan bool)
				go func() {
					defer close(ended)
					defer func() { _ = recover() }()
					s.post("", approved)
				}()
				<-ended
				if !stopped || len(s.infos) != 1 {
					t.Fatalf("stopped: %t, observed %+v, want one", stopped, s.infos)
				}
				if got := s.infos[0]; at == "function" && (got.Status != 503 || got.UniqueID != "987654321" || !says(got.Err, "a function of the merchant panicked")) {
					t.Errorf("observed %+v", got)
				}
				s.expect(t, s.post("", approved), 200, 0)
				if calls != 1 || s.infos[1].Repeated != repeated {
					t.Errorf("handled %d times, the second repeats it: %t, want 1 and %t", calls, s.infos[1].Repeated, repeated)
				}
			})
		}
	}
}

// TestHandlerOverlapping delivers the same notification again while the first is being confirmed, and while it is being
// handled.
func TestHandlerOverlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, notify.Options{})
		s.gateway.RegisterResponder("GET", gatewayURL+"/search/order/987654321",
			httpmock.NewStringResponder(200, `{"code":100,"uniqueId":"987654321"}`).Delay(5*time.Second))
		calls := 0
		s.handle = func(context.Context, *notify.Notification) error {
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

// scriptedDeduper returns configured results, and records its calls.
type scriptedDeduper struct {
	result   notify.ClaimResult
	claimErr error
	ended    []bool
	ctxErr   error // of the context with which a claim was ended
	keys     []string
}

func (d *scriptedDeduper) Claim(_ context.Context, key string) (notify.ClaimResult, error) {
	d.keys = append(d.keys, key)
	return d.result, d.claimErr
}

func (d *scriptedDeduper) Handled(ctx context.Context, _ string) error { return d.end(ctx, true) }

func (d *scriptedDeduper) Release(ctx context.Context, _ string) error { return d.end(ctx, false) }

func (d *scriptedDeduper) end(ctx context.Context, handled bool) error {
	d.ended = append(d.ended, handled)
	if _, bounded := ctx.Deadline(); !bounded {
		d.ctxErr = errors.New("has no deadline")
	} else {
		d.ctxErr = ctx.Err()
	}
	return errors.New("lost") // must not change the response
}

func TestHandlerSharedDeduper(t *testing.T) {
	tests := []struct {
		name            string
		deduper         scriptedDeduper
		fail            error
		status, handled int
		ended           int
	}{
		{name: "fresh", deduper: scriptedDeduper{result: notify.ClaimFresh}, status: 200, handled: 1, ended: 1},
		{name: "fresh and failed", deduper: scriptedDeduper{result: notify.ClaimFresh}, fail: errors.New("no"), status: 503, handled: 1, ended: 1},
		{name: "handled elsewhere", deduper: scriptedDeduper{result: notify.ClaimHandled}, status: 200},
		{name: "being handled elsewhere", deduper: scriptedDeduper{result: notify.ClaimBusy}, status: 503},
		{name: "no claim", deduper: scriptedDeduper{result: notify.ClaimFresh, claimErr: errors.New("down")}, status: 503},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, notify.Options{Deduper: &tt.deduper})
			s.fail = tt.fail
			s.expect(t, s.post("", approved), tt.status, tt.handled)
			if err := s.infos[0].Err; tt.fail != nil && !errors.Is(err, tt.fail) || tt.deduper.claimErr != nil && !errors.Is(err, tt.deduper.claimErr) {
				t.Errorf("error: got %v", err)
			}
			if len(tt.deduper.ended) != tt.ended || tt.ended > 0 && tt.deduper.ended[0] != (tt.fail == nil) {
				t.Errorf("ended: got %v, want %d times %v", tt.deduper.ended, tt.ended, tt.fail == nil)
			}
			if want := "payment 987654321 100"; tt.deduper.keys[0] != want {
				t.Errorf("key: got %q, want %q", tt.deduper.keys[0], want)
			}
			if tt.fail != nil { // then this process must not remember the event either
				s.expect(t, s.post("", approved), tt.status, tt.handled+1)
			}
		})
	}
}

// TestHandlerEndsClaimAfterTheRequest cancels the request while the merchant's function runs.
func TestHandlerEndsClaimAfterTheRequest(t *testing.T) {
	deduper := &scriptedDeduper{result: notify.ClaimFresh}
	s := newShop(t, notify.Options{Deduper: deduper})
	ctx, hangUp := context.WithCancel(context.Background())
	s.handle = func(ctx context.Context, _ *notify.Notification) error {
		hangUp()
		return ctx.Err()
	}
	r := httptest.NewRequestWithContext(ctx, "POST", "/notify", strings.NewReader(approved))
	r.Header.Set("Content-Type", "application/json")
	if w := s.serve(r); w.Code != 503 || len(deduper.ended) != 1 || deduper.ended[0] || deduper.ctxErr != nil {
		t.Errorf("got status %d, ended %v with a context that %v, want 503 and one claim given back in time",
			w.Code, deduper.ended, deduper.ctxErr)
	}
}
