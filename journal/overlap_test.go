package journal_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// What happens if two processes handle one payment at the same time.

// TestAnswerMeetsNews: a call whose own response does not tell the outcome returns what another process has recorded
// meanwhile. A success that contradicts that is a conflict.
func TestAnswerMeetsNews(t *testing.T) {
	for _, tt := range []struct {
		name  string
		code  cardgateway.Code
		check func(*cardgateway.Transaction, error) bool
	}{
		{"a success", cardgateway.CodeSuccess, func(got *cardgateway.Transaction, err error) bool {
			return err == nil && got.State() == cardgateway.StateApproved
		}},
		{"that it waits", cardgateway.CodeProcessing, func(got *cardgateway.Transaction, err error) bool {
			return err == nil && got.State() == cardgateway.StateProcessing
		}},
		{"a decline, and its response is a success", cardgateway.CodeFailed, func(_ *cardgateway.Transaction, err error) bool {
			return errors.Is(err, cardgateway.ErrConflict)
		}},
		{"nothing", 0, func(_ *cardgateway.Transaction, err error) bool {
			return errors.Is(err, cardgateway.ErrOutcomeUnknown) && !errors.Is(err, journal.ErrRepeatDeclined)
		}},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			other := s.restarted(journal.Options{})
			s.network = rewriting{s.network, func(q *http.Request, body []byte) []byte {
				if q.Method != http.MethodPost {
					return body
				}
				if tt.code != 0 {
					succeeds(t, other.Confirm(t.Context(), shownAs(tt.code, "1")))
				}
				if tt.code == cardgateway.CodeFailed {
					return body
				}
				return body[:len(body)/2]
			}}
			if got, err := s.pay("a", approved); !tt.check(got, err) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// TestSubmittedAgainDuringQuery: what a query returns is not taken for the outcome of a payment that was submitted once, or a day
// ago, if it has been submitted again meanwhile.
func TestSubmittedAgainDuringQuery(t *testing.T) {
	pay := func(j methods) error {
		_, err := j.CreateSubscription(context.Background(), order("a", declined))
		return err
	}
	checkout := func(j methods) error {
		_, err := j.CreateCheckout(context.Background(), hosted("a"))
		return err
	}
	for _, tt := range []struct {
		name   string
		pay    func(methods) error
		first  sandbox.Fault
		age    time.Duration // of the first submission, when it is queried
		before bool          // it is submitted again before the gateway searches, and not after that
		again  sandbox.Fault
		err    error // of the second submission
		want   string
	}{
		{"refused, then declined", pay, refusal, time.Minute, true, sandbox.Fault{}, journal.ErrRepeatDeclined, "unknown"},
		{"refused, then waiting for the cardholder", checkout, refusal, 25 * time.Hour, true, sandbox.Fault{}, nil, "pending"},
		{"not found, then lost", pay, lost, 25 * time.Hour, false, lost, cardgateway.ErrOutcomeUnknown, "unknown"},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.gateway.Inject(tt.first)
			_ = tt.pay(s)
			time.Sleep(tt.age)
			network := s.network
			again := func() {
				s.network = network
				other := s.restarted(journal.Options{})
				for range other.Recover(t.Context()) { // records that it is absent
				}
				s.gateway.Inject(tt.again)
				if err := tt.pay(other.PayAgainRiskingSecondCharge()); !errors.Is(err, tt.err) {
					t.Errorf("submitted again: got %v, want %v", err, tt.err)
				}
			}
			s.network = roundTripper(func(q *http.Request) (*http.Response, error) {
				if tt.before {
					again()
				} else {
					defer again()
				}
				return network.RoundTrip(q)
			})
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.want})
		})
	}
}

// TestSubmittedAgainDuringConfirm: what a row means is decided with the entry as it is when it is recorded.
func TestSubmittedAgainDuringConfirm(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(refusal)
		_, _ = s.pay("a", declined)
		store := &faulty{Store: s.store, before: map[string]func(){"Record": func() {
			if _, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", pending)); err != nil {
				t.Errorf("submitted again: %v", err)
			}
		}}}
		succeeds(t, journal.New(s.client, store, journal.Options{}).Confirm(t.Context(), shownAs(cardgateway.CodeFailed, "0")))
		wantStates(t, s.Journal, map[string]string{"a": "pending"})
	})
}

// TestAnswerAfterADay: a program was stopped for a day while its request was under way, and another process has submitted the payment
// again. The decline of the first submission does not tell the outcome of the second.
func TestAnswerAfterADay(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		network := s.network
		s.network = roundTripper(func(q *http.Request) (*http.Response, error) {
			resp, err := network.RoundTrip(q.WithContext(context.Background()))
			time.Sleep(25 * time.Hour)
			s.network = network // for the other process
			searchShows(s)
			other := s.restarted(journal.Options{})
			wantStates(t, other, map[string]string{"a": "presumed absent"})
			s.gateway.Inject(lost)
			_, again := other.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", declined))
			if !errors.Is(again, cardgateway.ErrOutcomeUnknown) {
				t.Errorf("submitted again: got %v, want an unknown outcome", again)
			}
			return resp, err
		})
		if _, err := s.pay("a", declined); !errors.Is(err, journal.ErrRepeatDeclined) {
			t.Errorf("got %v, want ErrRepeatDeclined", err)
		}
		wantStates(t, s.Journal, map[string]string{"a": "unknown"})
	})
}
