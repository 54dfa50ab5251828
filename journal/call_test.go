package journal_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestJoinedRepetition: a caller who no longer waits for a repetition learns that the payment may be sent again, also if it is the
// repetition that is about to be recorded.
func TestJoinedRepetition(t *testing.T) {
	for _, tt := range []struct {
		name string
		slow sandbox.Fault
	}{
		{"before it is recorded", sandbox.Fault{Operation: sandbox.OpSearches, After: 10 * time.Second}},
		{"before it is answered", sandbox.Fault{Operation: sandbox.OpPayments, After: 10 * time.Second}},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			begun := time.Now()
			s.gateway.Inject(refusal)
			_, _ = s.pay("a", declined)
			time.Sleep(time.Hour)
			s.gateway.Inject(tt.slow)
			go func() { _, _ = s.AfterRefusal().CreateSubscription(t.Context(), order("a", declined)) }()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := s.CreateSubscription(ctx, order("a", declined))
			unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
			if !ok || !errors.Is(err, context.DeadlineExceeded) || !unknown.SentAgain || !unknown.SentAt.Equal(begun) {
				t.Errorf("got %+v (%v), want an unknown outcome, sent again, and first at %v", unknown, err, begun)
			}
			time.Sleep(time.Minute)
		})
	}
}

// TestJoinedPanic: if the call that makes a payment panics, those who wait for it learn that its outcome is unknown.
func TestJoinedPanic(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		begun := time.Now()
		s.network = panicking{}
		go func() {
			defer func() { _ = recover() }()
			_, _ = s.pay("a", approved)
		}()
		synctest.Wait()
		_, err := s.pay("a", approved)
		unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
		if !ok || unknown.SentAgain || !unknown.SentAt.Equal(begun) || !strings.Contains(err.Error(), "did not return") {
			t.Errorf("got %+v (%v)", unknown, err)
		}
	})
}

// panicking is a transport that panics after a second.
type panicking struct{}

func (panicking) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(time.Second)
	panic("no network")
}

// TestJoinedCall: a caller whose payment is already being made by another caller of this process waits for the outcome,
// no longer than its own context, and only if it is the same payment.
func TestJoinedCall(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 20 * time.Second})
		begun := time.Now()
		go func() { _, _ = s.pay("a", approved) }()
		synctest.Wait()
		another := order("a", approved)
		another.Amount = decimal.NewFromInt(1)
		_, err := s.CreateSubscription(t.Context(), another)
		mismatch, ok := errors.AsType[*journal.MismatchError](err)
		if !ok || !mismatch.Asked.Amount.Equal(another.Amount) || mismatch.Recorded.Amount.Equal(another.Amount) || time.Since(begun) != 0 {
			t.Errorf("another amount: got %v after %v, want a *MismatchError at once", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.CreateSubscription(ctx, order("a", approved))
		unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
		if !ok || !errors.Is(err, context.DeadlineExceeded) || !unknown.SentAt.Equal(begun) || time.Since(begun) != time.Second {
			t.Errorf("with a deadline: got %v after %v", err, time.Since(begun))
		}
		if got, err := s.pay("a", approved); err != nil || got.State() != cardgateway.StateApproved || time.Since(begun) != 20*time.Second {
			t.Errorf("got %v, %v after %v", got, err, time.Since(begun))
		}
		if n := s.sent.Load(); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}
