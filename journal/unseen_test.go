package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// What a call must not conclude about a payment whose entry it has not read, or only in part.

// searchShows responds to every order search with rows of the payment "a" with these codes, one for each id.
func searchShows(s *shop, codes ...int) {
	s.network = rewriting{s.network, func(q *http.Request, body []byte) []byte {
		if q.Method != http.MethodGet {
			return body
		}
		var rows []string
		for i, code := range codes {
			rows = append(rows, fmt.Sprintf(`{"code":%d,"uniqueId":"%d","transactionId":"a","transactionAmount":"12.50","transactionCurrency":"USD"}`, code, i+1))
		}
		return fmt.Appendf(nil, `{"code":121,"currPage":1,"pageSize":10,"totalCount":%d,"totalPage":1,"data":[%s]}`, len(rows), strings.Join(rows, ","))
	}}
}

// TestDeclineOfRepetitionInTheEnd: a day later, the single decline is final; so are those of both submissions, and nothing that is not a
// decline.
func TestDeclineOfRepetitionInTheEnd(t *testing.T) {
	for _, tt := range []struct {
		codes       []int
		early, late string // before and after a day is over
	}{
		{[]int{101}, "unknown", "declined"},
		{[]int{101, 100}, "succeeded", "succeeded"},
		{[]int{101, 101}, "unknown", "declined"},
		{[]int{101, 102}, "unknown", "unknown"},
	} {
		runInBubble(t, fmt.Sprint(tt.codes), sandbox.Options{}, func(t *testing.T, s *shop) {
			never := sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose}
			s.gateway.Inject(never)
			_, _ = s.pay("a", approved)
			time.Sleep(25 * time.Hour)
			wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
			s.gateway.Inject(never)
			_, _ = s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
			searchShows(s, tt.codes...)
			time.Sleep(23 * time.Hour)
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.early})
			time.Sleep(time.Hour)
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.late})
		})
	}
}

// TestSubmittedTooOften: a payment that is called again and again while nothing can be sent ends with an error that says
// so, before its entry becomes too large for a store.
func TestSubmittedTooOften(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.refuse = errReset
		_, _ = s.pay("a", approved)
		e := s.stored("a")
		in := e.Begun
		for version := 1; version < 1999; version += 2 { // as if called so often
			for i, ev := range []journal.Evidence{{Source: journal.SourceSubmission, Submission: &in}, e.Evidence[0]} {
				succeeds(t, s.store.Record(t.Context(), key("a"), version+i, ev))
			}
		}
		if _, err := s.pay("a", approved); !cardgateway.SafeToRetry(err) {
			t.Errorf("with %d pieces of evidence: %v", s.stored("a").Version(), err)
		}
		s.refuse = nil
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrInvalidRequest) {
			t.Errorf("with %d pieces of evidence: %v", s.stored("a").Version(), err)
		}
		if got, err := s.pay("b", approved); err != nil || got.State() != cardgateway.StateApproved {
			t.Errorf("another payment: %v, %v", got, err)
		}
		if evidence, err := json.Marshal(s.stored("a").Evidence); err != nil || len(evidence) > 3<<18 {
			t.Errorf("its evidence takes %d bytes (%v), too much for a line of a file", len(evidence), err)
		}
		wantStates(t, s.Journal, map[string]string{"a": "not sent", "b": "succeeded"})
		wantExecuted(t, s, "a", 0)
	})
}

// TestUnrecordedNotSent: if a payment was proved not sent but that could not be recorded, it is open in the journal, and
// Ack does not close it. The process that knows it records it later.
func TestUnrecordedNotSent(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.refuse = errors.New("no route to host")
		store := &failing{Store: s.store}
		store.records.Store(100)
		payments := journal.New(s.client, store, journal.Options{})
		if _, err := payments.CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, cardgateway.ErrNotSent) {
			t.Errorf("got %v", err)
		}
		store.records.Store(0)
		s.refuse = nil
		if err := payments.Ack(t.Context(), journal.PaymentID("a"), journal.NotSent); !errors.Is(err, journal.ErrOpen) {
			t.Errorf("Ack: got %v, want ErrOpen", err)
		}
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "unknown"})
		wantStates(t, payments, map[string]string{"a": "not sent"})
	})
}

// TestUnrecordedInvalid: an invalid request is reported as invalid, whether or not that could be recorded.
func TestUnrecordedInvalid(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		store := &failing{Store: s.store}
		store.records.Store(100)
		req := order("a", approved)
		req.TransactionIP = "nowhere"
		if _, err := journal.New(s.client, store, journal.Options{}).CreateSubscription(t.Context(), req); !errors.Is(err, cardgateway.ErrInvalidRequest) {
			t.Errorf("got %v, want ErrInvalidRequest", err)
		}
	})
}
