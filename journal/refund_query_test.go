package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestRefundRefused: a refusal is only the gateway's statement, and only AfterRefusal sends again, after a query.
func TestRefundRefused(t *testing.T) {
	inBubble(t, executing, func(t *testing.T, s *shop) {
		req := refund("r", s.paidFor("a"))
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Status: 429, Commit: sandbox.CommitNever, Reply: sandbox.ReplyHTML})
		for range 2 {
			if _, err := s.CreateRefund(t.Context(), req); !errors.Is(err, cardgateway.ErrRefused) {
				t.Fatalf("got %v, want ErrRefused", err)
			}
		}
		silence(s)
		if _, err := s.AfterRefusal().CreateRefund(t.Context(), req); !errors.Is(err, cardgateway.ErrNotSent) || s.sent.Load() != 1 {
			t.Errorf("if the gateway cannot be queried: %v, %d requests", err, s.sent.Load())
		}
		s.gateway.ClearFaults()
		if got, err := s.AfterRefusal().CreateRefund(t.Context(), req); err != nil || got == nil || s.sent.Load() != 2 {
			t.Errorf("after the refusal: %v, %v, %d requests", got, err, s.sent.Load())
		}
		req.RefundTransactionID = "s" // refused in words only
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Status: 403, Reply: sandbox.ReplyHTML})
		if _, err := s.CreateRefund(t.Context(), req); !errors.Is(err, cardgateway.ErrRefused) {
			t.Fatalf("got %v, want ErrRefused", err)
		}
		if _, err := s.AfterRefusal().CreateRefund(t.Context(), req); !errors.Is(err, cardgateway.ErrConflict) || s.sent.Load() != 3 {
			t.Errorf("if the gateway has the refund: %v, %d requests", err, s.sent.Load())
		}
		wantRefunded(t, s, "r", 1)
		wantRefunded(t, s, "s", 1)
	})
}

// TestRefundPresumedAbsent loses a request, forever or for a day, and makes the refund again in the meantime.
func TestRefundPresumedAbsent(t *testing.T) {
	for _, tt := range []struct {
		name       string
		duplicates sandbox.RefundDuplicates
		late       bool
		state      string
		refunded   int
	}{
		{"gone", sandbox.RefundDuplicatesExecuted, false, "succeeded", 1},
		{"late, executed again", sandbox.RefundDuplicatesExecuted, true, "conflict", 2},
		{"late, refused", sandbox.RefundDuplicatesRefused, true, "succeeded", 1},
	} {
		runInBubble(t, tt.name, sandbox.Options{RefundDuplicates: tt.duplicates}, func(t *testing.T, s *shop) {
			req := refund("r", s.paidFor("a"))
			lost := sandbox.Fault{Operation: sandbox.OpCreateRefund, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose}
			if tt.late {
				lost.Commit, lost.Late = sandbox.CommitLate, 26*time.Hour
			}
			s.gateway.Inject(lost)
			_, _ = s.CreateRefund(t.Context(), req)
			again := func() (*cardgateway.Refund, error) {
				return s.PayAgainRiskingSecondCharge(journal.AcceptSecondRefund).CreateRefund(t.Context(), req)
			}
			if _, err := again(); !errors.Is(err, journal.ErrOpen) {
				t.Errorf("before the absence is presumed: %v, want ErrOpen", err)
			}
			time.Sleep(25 * time.Hour)
			wantRefunds(t, s.Journal, map[string]string{"r": "presumed absent"})
			if _, err := s.CreateRefund(t.Context(), req); !errors.Is(err, journal.ErrPresumedAbsent) || cardgateway.SafeToRetry(err) {
				t.Errorf("called again: %v, want ErrPresumedAbsent", err)
			}
			for _, accept := range []journal.Acceptance{0, journal.AcceptNoOrderGuard} {
				_, err := s.PayAgainRiskingSecondCharge(accept).CreateRefund(t.Context(), req)
				if !errors.Is(err, cardgateway.ErrInvalidRequest) || !strings.Contains(err.Error(), "AcceptSecondRefund") {
					t.Errorf("without its acceptance: %v", err)
				}
			}
			if got, err := again(); err != nil || got == nil {
				t.Errorf("after the absence is presumed: %v, %v", got, err)
			}
			if _, err := again(); err != nil || s.sent.Load() != 2 {
				t.Errorf("once more: %v, %d requests", err, s.sent.Load())
			}
			time.Sleep(48 * time.Hour)
			wantRefunds(t, s.Journal, map[string]string{"r": tt.state})
			wantRefunded(t, s, "r", tt.refunded)
		})
	}
}

// TestRefundAgainDeclined: after the first request has arrived late, not enough is left of the payment for the second.
// Its decline says nothing about the first.
func TestRefundAgainDeclined(t *testing.T) {
	inBubble(t, executing, func(t *testing.T, s *shop) {
		req := refund("r", s.paidFor("a"))
		req.Amount = decimal.RequireFromString("12.50") // the whole payment
		begun := time.Now()
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Commit: sandbox.CommitLate, Late: 26 * time.Hour})
		_, _ = s.CreateRefund(t.Context(), req)
		time.Sleep(25 * time.Hour)
		wantRefunds(t, s.Journal, map[string]string{"r": "presumed absent"})
		time.Sleep(2 * time.Hour)
		s.gateway.SetSearch(sandbox.Search{Lag: 24 * time.Hour})
		_, err := s.PayAgainRiskingSecondCharge(journal.AcceptSecondRefund).CreateRefund(t.Context(), req)
		s.gateway.SetSearch(sandbox.Search{})
		unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err)
		if !ok || !errors.Is(err, journal.ErrRepeatDeclined) || unknown.Refund == nil || errors.Is(err, cardgateway.ErrDeclined) {
			t.Fatalf("got %v, want ErrRepeatDeclined", err)
		}
		if !unknown.SentAgain || !unknown.SentAt.Equal(begun) {
			t.Errorf("got %+v, want SentAgain, first at %v", unknown, begun)
		}
		wantRefunds(t, s.restarted(journal.Options{}), map[string]string{"r": "succeeded"})
		wantRefunded(t, s, "r", 1)
	})
}

// TestRefundsDeclined: both submissions of a refund were declined. That is its outcome, once none of them can still arrive.
func TestRefundsDeclined(t *testing.T) {
	inBubble(t, executing, func(t *testing.T, s *shop) {
		req := refund("r", s.paidFor("a"))
		never := sandbox.Fault{Operation: sandbox.OpCreateRefund, Commit: sandbox.CommitNever, Reply: sandbox.ReplyReset}
		s.gateway.Inject(never)
		_, _ = s.CreateRefund(t.Context(), req)
		time.Sleep(25 * time.Hour)
		wantRefunds(t, s.Journal, map[string]string{"r": "presumed absent"})
		s.gateway.Inject(never)
		_, _ = s.PayAgainRiskingSecondCharge(journal.AcceptSecondRefund).CreateRefund(t.Context(), req)
		row := func(id string) string {
			return fmt.Sprintf(`{"code":112,"uniqueId":%q,"merchantRefundId":"r","refundUniqueId":%q,"refundAmount":%q}`, req.UniqueID, id, req.Amount)
		}
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) { return page(r, "2", row("1")+","+row("2")), nil })
		time.Sleep(23 * time.Hour)
		wantRefunds(t, s.restarted(journal.Options{}), map[string]string{"r": "unknown"})
		time.Sleep(time.Hour)
		wantRefunds(t, s.restarted(journal.Options{}), map[string]string{"r": "declined"})
	})
}

// TestRefundSeenIsNeverAbsent: the gateway returns the refund with another amount, and later not at all.
func TestRefundSeenIsNeverAbsent(t *testing.T) {
	inBubble(t, executing, func(t *testing.T, s *shop) {
		req := refund("r", s.paidFor("a"))
		s.lose()
		_, _ = s.CreateRefund(t.Context(), req)
		network := s.network
		s.network = rewriting{network, func(r *http.Request, body []byte) []byte {
			return bytes.Replace(body, []byte(`"refundAmount":"2.50"`), []byte(`"refundAmount":"2.51"`), 1)
		}}
		wantRefunds(t, s.Journal, map[string]string{"r": "unknown"})
		searchShows(s)
		time.Sleep(72 * time.Hour)
		wantRefunds(t, s.restarted(journal.Options{}), map[string]string{"r": "unknown"})
		s.network = network
		wantRefunds(t, s.restarted(journal.Options{}), map[string]string{"r": "succeeded"})
	})
}
