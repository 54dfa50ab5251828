package retry_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// TestAttempts counts the attempts and measures the pauses between them, in virtual time.
func TestAttempts(t *testing.T) {
	policy := retry.Policy{MaxAttempts: 4, MinWait: time.Second, MaxWait: 3 * time.Second}
	failed := retry.Attempt{Failed: true, ProvenUnsent: true}
	tests := []struct {
		name     string
		run      func(context.Context, func(context.Context) retry.Attempt)
		facts    []retry.Attempt // of the attempts; the last one repeats
		limit    time.Duration   // of the context; zero means none
		attempts int
		longest  time.Duration
	}{
		{"a query succeeds", query(policy), []retry.Attempt{{Status: 200}}, 0, 1, 0},
		{"a query succeeds at last", query(policy), []retry.Attempt{failed, {Status: 503}, {Status: 200}}, 0, 3, 3 * time.Second},
		{"a query fails", query(policy), []retry.Attempt{failed}, 0, 4, 6 * time.Second},
		{"a query is redirected", query(policy), []retry.Attempt{{Status: 302}}, 0, 1, 0},
		{"a query's response is unreadable", query(policy), []retry.Attempt{{Status: 200, Failed: true}, {Status: 200}}, 0, 2, time.Second},
		{"a query is told when to come again", query(policy), []retry.Attempt{{Status: 429, RetryAfter: 3 * time.Second}, {Status: 200}}, 0, 2, 3 * time.Second},
		{"a query has no time for the pause", query(policy), []retry.Attempt{{Status: 429, RetryAfter: 3 * time.Second}}, 2 * time.Second, 1, 0},
		{"a payment is answered", policy.RunPayment, []retry.Attempt{{Status: 503}}, 0, 1, 0},
		{"a payment is not sent", policy.RunPayment, []retry.Attempt{failed}, 0, 3, 3 * time.Second},
		{"a payment may have been sent", policy.RunPayment, []retry.Attempt{failed, {Failed: true}}, 0, 2, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.limit > 0 {
					limited, cancel := context.WithTimeout(ctx, tt.limit)
					defer cancel()
					ctx = limited
				}
				begun, attempts := time.Now(), 0
				payment := tt.name[:len("a payment")] == "a payment"
				tt.run(ctx, func(context.Context) retry.Attempt {
					facts := tt.facts[min(attempts, len(tt.facts)-1)]
					attempts++
					facts.Payment, facts.Number = payment, attempts
					return facts
				})
				if took := time.Since(begun); attempts != tt.attempts || took > tt.longest {
					t.Errorf("got %d attempts in %v, want %d in at most %v", attempts, took, tt.attempts, tt.longest)
				}
			})
		})
	}
}

// TestAttemptsEndWithContext: if the context ends during a pause, the attempts end at once.
func TestAttemptsEndWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := retry.Policy{MaxAttempts: 4, MinWait: time.Hour, MaxWait: time.Hour}
		ended := errors.New("ended")
		for _, run := range []func(context.Context, func(context.Context) retry.Attempt){query(policy), policy.RunPayment} {
			ctx, cancel := context.WithCancelCause(t.Context())
			begun, attempts := time.Now(), 0
			time.AfterFunc(time.Second, func() { cancel(ended) })
			run(ctx, func(context.Context) retry.Attempt {
				attempts++
				return retry.Attempt{Failed: true, ProvenUnsent: true, Number: attempts, RetryAfter: time.Hour}
			})
			if took := time.Since(begun); attempts != 1 || took != time.Second {
				t.Errorf("got %d attempts in %v", attempts, took)
			}
		}
	})
}

// TestSeedDecidesPauses: what a test seeds with cryptotest makes the same pauses every time.
func TestSeedDecidesPauses(t *testing.T) {
	policy := retry.Policy{MaxAttempts: 8, MinWait: time.Second, MaxWait: time.Minute}
	for name, run := range map[string]func(context.Context, func(context.Context) retry.Attempt){
		"query": query(policy), "payment": policy.RunPayment,
	} {
		pauses := func(t *testing.T, seed uint64) (pauses []time.Duration) {
			cryptotest.SetGlobalRandom(t, seed)
			synctest.Test(t, func(t *testing.T) {
				last := time.Now()
				run(t.Context(), func(context.Context) retry.Attempt {
					pauses = append(pauses, time.Since(last))
					last = time.Now()
					return retry.Attempt{Payment: name == "payment", Number: len(pauses), Failed: true, ProvenUnsent: true}
				})
			})
			return pauses
		}
		t.Run(name, func(t *testing.T) {
			first, again, other := pauses(t, 1), pauses(t, 1), pauses(t, 2)
			if !slices.Equal(first, again) || len(first) < 3 {
				t.Errorf("with the same seed got pauses %v, then %v", first, again)
			}
			if slices.Equal(first, other) {
				t.Errorf("two seeds have the same pauses: %v", first)
			}
		})
	}
}

// query makes the attempts of a query; each is an exchange of a GET with a server that does not exist.
func query(p retry.Policy) func(context.Context, func(context.Context) retry.Attempt) {
	return func(ctx context.Context, attempt func(context.Context) retry.Attempt) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://gateway.invalid/", nil)
		if err != nil {
			panic(err)
		}
		p.RunQuery(request, attempt)
	}
}
