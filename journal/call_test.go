package journal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

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
		if got, err := s.pay("a", approved); err != nil || !got.Paid() || time.Since(begun) != 20*time.Second {
			t.Errorf("got %v, %v after %v", got, err, time.Since(begun))
		}
		if n := s.sent.Load(); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}
