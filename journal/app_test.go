package journal_test

import (
	"bytes"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// withApps returns the journal of a process whose client accepts any app, or only its own.
func (s *shop) withApps(anyAppID bool) *journal.Journal {
	s.client = s.newClient(func(cfg *cardgateway.Config) { cfg.AnyAppID = anyAppID })
	return s.restarted(journal.Options{})
}

// TestOtherApp: what the gateway states for another app settles nothing in the journal and is never taken for absence,
// unless the client accepts any app.
func TestOtherApp(t *testing.T) {
	for _, anyAppID := range []bool{false, true} {
		name := "by default"
		if anyAppID {
			name = "any app"
		}
		runInBubble(t, name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.network = rewriting{s.network, func(_ *http.Request, body []byte) []byte {
				return bytes.ReplaceAll(body, []byte(`"appId":7,`), []byte(`"appId":8,`))
			}}
			s.Journal = s.withApps(anyAppID)
			_, err := s.pay("a", approved)
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
			_, lost := s.pay("b", approved)
			if !errors.Is(lost, cardgateway.ErrOutcomeUnknown) {
				t.Fatalf("the lost payment: got %v, want an unknown outcome", lost)
			}
			want := "unknown"
			if anyAppID {
				want = "succeeded"
			}
			if errors.Is(err, cardgateway.ErrOutcomeUnknown) == anyAppID {
				t.Errorf("the payment: got %v, want %s", err, want)
			}
			wantStates(t, s.Journal, map[string]string{"a": want, "b": want})
			time.Sleep(48 * time.Hour) // beyond AbsentAfter
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": want, "b": want})
			shown := shownAs(cardgateway.CodeSuccess, "1")
			shown.AppID = "8"
			if err := s.Confirm(t.Context(), shown); errors.Is(err, journal.ErrMismatch) == anyAppID {
				t.Errorf("Confirm: got %v, want a mismatch %t", err, !anyAppID)
			}
			if !anyAppID { // the payment that a refund needs is unknown
				return
			}
			paid, err := s.pay("c", approved)
			if err == nil {
				_, err = s.CreateRefund(t.Context(), refund("r", paid.UniqueID))
			}
			if err != nil {
				t.Fatal(err)
			}
			ofApp8 := &cardgateway.Refund{
				Code: 111, AppID: "8", UniqueID: paid.UniqueID, MerchantRefundID: "r", RefundUniqueID: "55", RefundAmount: refund("r", "").Amount,
			}
			succeeds(t, s.ConfirmRefund(t.Context(), ofApp8))
			if err := s.withApps(false).ConfirmRefund(t.Context(), ofApp8); !errors.Is(err, journal.ErrMismatch) {
				t.Errorf("ConfirmRefund of another app: got %v, want a mismatch", err)
			}
		})
	}
}
