package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestStateOf: the state of what a payment method has returned. What is about the call, or not certain, is Unknown.
func TestStateOf(t *testing.T) {
	transaction := func(code cardgateway.Code) *cardgateway.Transaction { return &cardgateway.Transaction{Code: code} }
	declined := &cardgateway.DeclinedError{Transaction: transaction(cardgateway.CodeFailed)}
	unknown := func(cause error) error { return &cardgateway.OutcomeUnknownError{Cause: cause} }
	for _, tt := range []struct {
		name string
		t    *cardgateway.Transaction
		err  error
		want journal.State
	}{
		{"approved", transaction(cardgateway.CodeSuccess), nil, journal.Succeeded},
		{"in processing", transaction(cardgateway.CodeProcessing), nil, journal.Pending},
		{"to the hosted page", transaction(301), nil, journal.Pending},
		{"a code that is not listed", transaction(777), nil, journal.Unknown},
		{"nothing", nil, nil, journal.Unknown},
		{"declined", transaction(cardgateway.CodeFailed), declined, journal.Declined},
		{"refused", nil, &cardgateway.RefusedError{}, journal.Refused},
		{"refused before", nil, &journal.RecordedError{Err: &cardgateway.RefusedError{}}, journal.Refused},
		{"a conflict", nil, &cardgateway.ConflictError{}, journal.Conflicting},
		{"presumed absent", nil, unknown(fmt.Errorf("%w: %w", journal.ErrPresumedAbsent, errDisk)), journal.PresumedAbsent},
		{"abandoned", nil, unknown(journal.ErrAbandoned), journal.Abandoned},
		{"open", nil, unknown(journal.ErrOpen), journal.Unknown},
		{"open, approved as far as is known", transaction(cardgateway.CodeSuccess), unknown(errDisk), journal.Unknown},
		{"a repetition was declined", transaction(cardgateway.CodeFailed), unknown(fmt.Errorf("%w: %w", journal.ErrRepeatDeclined, declined)), journal.Unknown},
		{"not sent by this call", nil, &cardgateway.NotSentError{Cause: errDisk}, journal.Unknown},
		{"not sent, after something else", nil, &cardgateway.NotSentError{Cause: unknown(journal.ErrPresumedAbsent)}, journal.Unknown},
		{"not sent, after a refusal", nil, &cardgateway.NotSentError{Cause: &cardgateway.RefusedError{}}, journal.Unknown},
		{"invalid", nil, &cardgateway.ValidationError{}, journal.Unknown},
		{"another payment's id", nil, &journal.MismatchError{}, journal.Unknown},
		{"the store failed", nil, errDisk, journal.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := journal.StateOf(tt.t, tt.err); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	if got := journal.StateOf(&cardgateway.Refund{Code: 110}, nil); got != journal.Pending {
		t.Errorf("an accepted refund: got %v", got)
	}
}

// TestAckOfAState: whoever acknowledges, in whatever process: the entry is acknowledged if it has the state that was stored.
func TestAckOfAState(t *testing.T) {
	states := []journal.State{
		journal.Unknown, journal.NotSent, journal.Refused, journal.PresumedAbsent, journal.Pending, journal.Abandoned, journal.Declined,
		journal.Succeeded, journal.Conflicting,
	}
	for name, tt := range map[string]struct {
		prepare func(*testing.T, *shop)
		is      journal.State
	}{
		"succeeded": {func(_ *testing.T, s *shop) { _, _ = s.pay("a", approved) }, journal.Succeeded},
		"declined":  {func(_ *testing.T, s *shop) { _, _ = s.pay("a", declined) }, journal.Declined},
		"pending":   {func(_ *testing.T, s *shop) { _, _ = s.pay("a", pending) }, journal.Pending},
		"not sent": {func(_ *testing.T, s *shop) {
			s.refuse = errReset
			_, _ = s.pay("a", approved)
		}, journal.NotSent},
		"refused": {func(_ *testing.T, s *shop) {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Code: 201})
			_, _ = s.pay("a", approved)
		}, journal.Refused},
		"presumed absent": {func(t *testing.T, s *shop) {
			s.gateway.Inject(lost)
			_, _ = s.pay("a", approved)
			time.Sleep(25 * time.Hour)
			recovered(t, s.Journal)
		}, journal.PresumedAbsent},
		"conflict": {func(t *testing.T, s *shop) {
			_, _ = s.pay("a", declined)
			succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "1")))
		}, journal.Conflicting},
	} {
		runInBubble(t, name, sandbox.Options{}, func(t *testing.T, s *shop) {
			tt.prepare(t, s)
			id := journal.PaymentID("a")
			other := s.restarted(journal.Options{})
			for _, stored := range states {
				err := other.Ack(t.Context(), id, stored)
				if stored != tt.is && !errors.Is(err, journal.ErrChanged) || stored == tt.is && err != nil {
					t.Errorf("Ack of %v: %v", stored, err)
				}
				if want := fmt.Sprintf("it is %v, and not %v", tt.is, stored); stored != tt.is && !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("got error %v, want in it %q", err, want)
				}
			}
			if e := s.stored("a"); e.State() != tt.is || e.Unacked() {
				t.Errorf("the entry is %v, unacknowledged %t", e.State(), e.Unacked())
			}
		})
	}
	runInBubble(t, "unknown", sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
		_, _ = s.pay("a", approved)
		for _, stored := range states {
			if err := s.Ack(t.Context(), journal.PaymentID("a"), stored); !errors.Is(err, journal.ErrOpen) {
				t.Errorf("Ack of %v: %v, want ErrOpen", stored, err)
			}
		}
	})
}
