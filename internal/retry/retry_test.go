package retry_test

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

func TestNextAgain(t *testing.T) {
	policy := retry.Policy{}.WithDefaults()
	tests := []struct {
		name    string
		attempt retry.Attempt
		again   bool
	}{
		{"query failed", retry.Attempt{Number: 1, Failed: true}, true},
		{"query failed the third time", retry.Attempt{Number: 3, Failed: true}, true},
		{"query failed the fourth time", retry.Attempt{Number: 4, Failed: true}, false},
		{"query answered", retry.Attempt{Number: 1, Status: 200}, false},
		{"query unreadable", retry.Attempt{Number: 1, Status: 200, Failed: true}, true},
		{"query 429", retry.Attempt{Number: 1, Status: 429}, true},
		{"query 500", retry.Attempt{Number: 1, Status: 500}, true},
		{"query 503", retry.Attempt{Number: 1, Status: 503}, true},
		{"query 599", retry.Attempt{Number: 1, Status: 599}, true},
		{"query 400", retry.Attempt{Number: 1, Status: 400}, false},
		{"query 404", retry.Attempt{Number: 1, Status: 404}, false},
		{"query 408", retry.Attempt{Number: 1, Status: 408}, false},
		{"query 302", retry.Attempt{Number: 1, Status: 302}, false},
		{"query refused here", retry.Attempt{Number: 1, Failed: true, Local: true}, false},
		{"payment not sent", retry.Attempt{Payment: true, Number: 1, Failed: true, ProvenUnsent: true}, true},
		{"payment not sent twice", retry.Attempt{Payment: true, Number: 2, Failed: true, ProvenUnsent: true}, true},
		{"payment not sent three times", retry.Attempt{Payment: true, Number: 3, Failed: true, ProvenUnsent: true}, false},
		{"payment refused here", retry.Attempt{Payment: true, Number: 1, Failed: true, ProvenUnsent: true, Local: true}, false},
		{"payment failed", retry.Attempt{Payment: true, Number: 1, Failed: true}, false},
		{"payment answered without being sent", retry.Attempt{Payment: true, Number: 1, ProvenUnsent: true, Status: 503}, false},
		{"payment 429", retry.Attempt{Payment: true, Number: 1, Status: 429}, false},
		{"payment 503", retry.Attempt{Payment: true, Number: 1, Status: 503}, false},
		{"payment answered", retry.Attempt{Payment: true, Number: 1, Status: 200}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, again := policy.Next(tt.attempt, 0.5); again != tt.again {
				t.Errorf("%s: got %v, want %v", tt.name, again, tt.again)
			}
		})
	}
	for _, payment := range []bool{false, true} {
		once := retry.Policy{MaxAttempts: 1}.WithDefaults()
		if _, again := once.Next(retry.Attempt{Payment: payment, Number: 1, Failed: true, ProvenUnsent: true}, 0); again {
			t.Errorf("MaxAttempts 1, payment %v: repeated", payment)
		}
	}
	if _, again := (retry.Policy{MaxAttempts: 2}.WithDefaults()).Next(retry.Attempt{Payment: true, Number: 2, Failed: true, ProvenUnsent: true}, 0); again {
		t.Error("MaxAttempts 2 bounds a payment too")
	}
}

func TestNextPause(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)
	almost := math.Nextafter(1, 0)
	tests := []struct {
		name       string
		policy     retry.Policy
		attempts   int
		retryAfter time.Duration
		chance     float64
		want       time.Duration
	}{
		{"no chance, no pause", retry.Policy{}, 1, 0, 0, 0},
		{"half of the first bound", retry.Policy{}, 1, 0, 0.5, 100 * time.Millisecond},
		{"half of the second bound", retry.Policy{}, 2, 0, 0.5, 200 * time.Millisecond},
		{"half of the third bound", retry.Policy{}, 3, 0, 0.5, 400 * time.Millisecond},
		{"bound by MaxWait", retry.Policy{MaxAttempts: 99}, 50, 0, 0.5, 2500 * time.Millisecond},
		{"MinWait above MaxWait", retry.Policy{MinWait: time.Minute, MaxWait: time.Second}, 1, 0, 0.5, 500 * time.Millisecond},
		{"Retry-After", retry.Policy{}, 1, 3 * time.Second, 0.5, 3 * time.Second},
		{"Retry-After below the pause", retry.Policy{}, 1, time.Millisecond, 0.5, 100 * time.Millisecond},
		{"Retry-After capped", retry.Policy{}, 1, time.Hour, 0.5, 5 * time.Second},
		{"Retry-After as long as can be", retry.Policy{}, 1, longest, 0, 5 * time.Second},
		{"MaxWait as long as can be", retry.Policy{MaxWait: longest}, 1, longest, 0, longest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, again := tt.policy.WithDefaults().Next(retry.Attempt{Number: tt.attempts, Failed: true, RetryAfter: tt.retryAfter}, tt.chance)
			if !again || got != tt.want {
				t.Errorf("%s: got %v (again %v), want %v", tt.name, got, again, tt.want)
			}
		})
	}
	// Growing bounds never overflow to zero.
	for _, policy := range []retry.Policy{{}, {MaxWait: longest}, {MinWait: longest, MaxWait: longest}, {MinWait: 1, MaxWait: longest - 1}} {
		policy.MaxAttempts = 1000
		policy = policy.WithDefaults()
		before := time.Duration(0)
		for n := 1; n < 200; n++ {
			pause, _ := policy.Next(retry.Attempt{Number: n, Failed: true}, almost)
			if pause < before-time.Second || pause < 0 || pause > policy.MaxWait {
				t.Fatalf("%+v, attempt %d: got %v after %v", policy, n, pause, before)
			}
			before = pause
		}
	}
}

func TestParseRetryAfter(t *testing.T) {
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
		t.Run(tt.header, func(t *testing.T) {
			if got := retry.ParseRetryAfter(tt.header, now); got != tt.want {
				t.Errorf("%q: got %v, want %v", tt.header, got, tt.want)
			}
		})
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
		t.Run(tt.name, func(t *testing.T) {
			if got := retry.Fits(tt.ctx, tt.pause); got != tt.want {
				t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
			}
		})
	}
}

// FuzzParseRetryAfter: whatever a header says, the pause is not negative, and digits alone are seconds.
func FuzzParseRetryAfter(f *testing.F) {
	for _, text := range []string{"", "0", "120", "99999999999999999999", "-1", "Mon, 04 May 2026 03:02:31 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(text)
	}
	digits := regexp.MustCompile(`^[0-9]{1,9}$`)
	f.Fuzz(func(t *testing.T, text string) {
		got := retry.ParseRetryAfter(text, time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC))
		if got < 0 {
			t.Errorf("%q: got %v", text, got)
		}
		if digits.MatchString(text) {
			if n, err := strconv.Atoi(text); err != nil || got != time.Duration(n)*time.Second {
				t.Errorf("%q: got %v, want %d s", text, got, n)
			}
		}
	})
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := retry.Sleep(t.Context(), time.Minute); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("slept %v, %v, want 1m, nil", time.Since(begun), err)
		}
		begun = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := retry.Sleep(ctx, time.Minute); err != context.DeadlineExceeded || time.Since(begun) != time.Second {
			t.Errorf("slept %v, %v, want 1s, %v", time.Since(begun), err, context.DeadlineExceeded)
		}
	})
}

// TestBackoff: the longest that a pause can be doubles up to a limit, and no pause is shorter than half of that.
func TestBackoff(t *testing.T) {
	for range 20 { // the pauses are random
		again := retry.Backoff{Pause: time.Second, Max: 5 * time.Second}
		for i, longest := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
			if pause := again.Next(); pause < longest/2 || pause > longest {
				t.Errorf("pause %d: got %v, want %v to %v", i, pause, longest/2, longest)
			}
		}
	}
}
