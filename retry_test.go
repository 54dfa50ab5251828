package cardgateway

import (
	"context"
	"math"
	"testing"
	"time"
)

// Whether and when an attempt is repeated is a pure function, and so is what a Retry-After header asks for.

func TestRetryDecision(t *testing.T) {
	policy := RetryPolicy{}.withDefaults()
	tests := []struct {
		name  string
		tried tried
		again bool
	}{
		{"query failed", tried{attempts: 1, failed: true}, true},
		{"query failed the third time", tried{attempts: 3, failed: true}, true},
		{"query failed the fourth time", tried{attempts: 4, failed: true}, false},
		{"query answered", tried{attempts: 1, status: 200}, false},
		{"query unreadable", tried{attempts: 1, status: 200, failed: true}, true},
		{"query 429", tried{attempts: 1, status: 429}, true},
		{"query 500", tried{attempts: 1, status: 500}, true},
		{"query 503", tried{attempts: 1, status: 503}, true},
		{"query 599", tried{attempts: 1, status: 599}, true},
		{"query 400", tried{attempts: 1, status: 400}, false},
		{"query 404", tried{attempts: 1, status: 404}, false},
		{"query 408", tried{attempts: 1, status: 408}, false},
		{"query 302", tried{attempts: 1, status: 302}, false},
		{"query refused here", tried{attempts: 1, failed: true, here: true}, false},
		{"payment not sent", tried{payment: true, attempts: 1, failed: true, unsent: true}, true},
		{"payment not sent twice", tried{payment: true, attempts: 2, failed: true, unsent: true}, true},
		{"payment not sent three times", tried{payment: true, attempts: 3, failed: true, unsent: true}, false},
		{"payment refused here", tried{payment: true, attempts: 1, failed: true, unsent: true, here: true}, false},
		{"payment failed", tried{payment: true, attempts: 1, failed: true}, false},
		{"payment answered without being sent", tried{payment: true, attempts: 1, unsent: true, status: 503}, false},
		{"payment 429", tried{payment: true, attempts: 1, status: 429}, false},
		{"payment 503", tried{payment: true, attempts: 1, status: 503}, false},
		{"payment answered", tried{payment: true, attempts: 1, status: 200}, false},
	}
	for _, tt := range tests {
		if _, again := policy.next(tt.tried, 0.5); again != tt.again {
			t.Errorf("%s: got %v, want %v", tt.name, again, tt.again)
		}
	}
	for _, payment := range []bool{false, true} {
		once := RetryPolicy{MaxAttempts: 1}.withDefaults()
		if _, again := once.next(tried{payment: payment, attempts: 1, failed: true, unsent: true}, 0); again {
			t.Errorf("MaxAttempts 1, payment %v: repeated", payment)
		}
	}
	if _, again := (RetryPolicy{MaxAttempts: 2}.withDefaults()).next(tried{payment: true, attempts: 2, failed: true, unsent: true}, 0); again {
		t.Error("MaxAttempts 2 bounds a payment too")
	}
}

func TestRetryPause(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)
	almost := math.Nextafter(1, 0)
	tests := []struct {
		name       string
		policy     RetryPolicy
		attempts   int
		retryAfter time.Duration
		chance     float64
		want       time.Duration
	}{
		{"no chance, no pause", RetryPolicy{}, 1, 0, 0, 0},
		{"half of the first bound", RetryPolicy{}, 1, 0, 0.5, 100 * time.Millisecond},
		{"half of the second bound", RetryPolicy{}, 2, 0, 0.5, 200 * time.Millisecond},
		{"half of the third bound", RetryPolicy{}, 3, 0, 0.5, 400 * time.Millisecond},
		{"bound by MaxWait", RetryPolicy{MaxAttempts: 99}, 50, 0, 0.5, 2500 * time.Millisecond},
		{"MinWait above MaxWait", RetryPolicy{MinWait: time.Minute, MaxWait: time.Second}, 1, 0, 0.5, 500 * time.Millisecond},
		{"Retry-After", RetryPolicy{}, 1, 3 * time.Second, 0.5, 3 * time.Second},
		{"Retry-After below the pause", RetryPolicy{}, 1, time.Millisecond, 0.5, 100 * time.Millisecond},
		{"Retry-After capped", RetryPolicy{}, 1, time.Hour, 0.5, 5 * time.Second},
		{"Retry-After as long as can be", RetryPolicy{}, 1, longest, 0, 5 * time.Second},
		{"MaxWait as long as can be", RetryPolicy{MaxWait: longest}, 1, longest, 0, longest},
	}
	for _, tt := range tests {
		got, again := tt.policy.withDefaults().next(tried{attempts: tt.attempts, failed: true, retryAfter: tt.retryAfter}, tt.chance)
		if !again || got != tt.want {
			t.Errorf("%s: got %v (again %v), want %v", tt.name, got, again, tt.want)
		}
	}
	// Growing bounds never overflow into no pause at all.
	for _, policy := range []RetryPolicy{{}, {MaxWait: longest}, {MinWait: longest, MaxWait: longest}, {MinWait: 1, MaxWait: longest - 1}} {
		policy.MaxAttempts = 1000
		policy = policy.withDefaults()
		before := time.Duration(0)
		for n := 1; n < 200; n++ {
			pause, _ := policy.next(tried{attempts: n, failed: true}, almost)
			if pause < before-time.Second || pause < 0 || pause > policy.MaxWait {
				t.Fatalf("%+v, attempt %d: got %v after %v", policy, n, pause, before)
			}
			before = pause
		}
	}
}

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	tests := []struct {
		header string
		want   time.Duration
	}{
		{"", 0}, {"0", 0}, {"1", time.Second}, {"120", 2 * time.Minute}, {" 7 ", 0},
		{"9223372036", 9223372036 * time.Second}, {"9223372037", 9223372036 * time.Second},
		{"18446744073709551615", 9223372036 * time.Second}, {"18446744073709551616", math.MaxInt64},
		{"99999999999999999999", math.MaxInt64}, {"-1", 0}, {"+1", 0}, {"1.5", 0}, {"1e3", 0}, {"0x10", 0}, {"1_000", 0}, {"soon", 0}, {"١", 0},
		{"Mon, 04 May 2026 03:02:31 GMT", 30 * time.Second}, {"Monday, 04-May-26 03:02:31 GMT", 30 * time.Second},
		{"Mon May  4 03:02:31 2026", 30 * time.Second}, {"Mon, 04 May 2026 03:02:00 GMT", 0},
		{"Fri, 31 Dec 9999 23:59:59 GMT", math.MaxInt64}, {"2026-05-04T03:02:31Z", 0}, {"Mon, 32 May 2026 03:02:31 GMT", 0},
	}
	for _, tt := range tests {
		if got := retryAfter(tt.header, now); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.header, got, tt.want)
		}
	}
}

func TestFits(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	soon, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		pause time.Duration
		want  bool
	}{
		{"no deadline", t.Context(), math.MaxInt64, true},
		{"over", over, 0, false},
		{"before the deadline", soon, time.Minute, true},
		{"after the deadline", soon, 2 * time.Hour, false},
	} {
		if got := fits(tt.ctx, tt.pause); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
