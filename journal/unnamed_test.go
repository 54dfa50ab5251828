package journal_test

import (
	"errors"
	"net/http"
	"regexp"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestConfirmOfUnnamed: an approval without an id and its confirmation with one are one payment, and the outcome then has the
// id. A confirmation with another id is another payment.
func TestConfirmOfUnnamed(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.network = rewriting{s.network, func(q *http.Request, body []byte) []byte {
			if q.Method == http.MethodGet {
				return body
			}
			return regexp.MustCompile(`"uniqueId":"[^"]*",?`).ReplaceAll(body, nil)
		}}
		if got, err := s.pay("a", approved); err != nil || got.State() != cardgateway.StateApproved || got.UniqueID != "" {
			t.Fatalf("got %+v, %v; want an approval without an id", got, err)
		}
		for range 2 {
			succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "1")))
		}
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "succeeded"})
		if got, err := s.pay("a", approved); err != nil || got.UniqueID != "1" {
			t.Errorf("the next call: %+v, %v; want the id of the confirmation", got, err)
		}
		if e, err := s.Get(t.Context(), journal.PaymentID("a")); err != nil || len(e.Evidence) != 2 {
			t.Errorf("%d pieces of evidence, %v; want 2", len(e.Evidence), err)
		}
		succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "2")))
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "conflict"})
		_, err := s.pay("a", approved)
		if conflict, ok := errors.AsType[*cardgateway.ConflictError](err); !ok || len(conflict.Transactions) != 3 {
			t.Errorf("the next call: %v, want ErrConflict with what was shown, each once", err)
		}
	})
}
