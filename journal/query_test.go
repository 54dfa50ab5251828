package journal_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestRecover resolves a payment whose response was lost, in a new process, and reports it again until it is
// acknowledged.
func TestRecover(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for id, cvv := range map[string]string{"yes": approved, "no": declined} {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
			if _, err := s.pay(id, cvv); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
				t.Fatalf("got %v, want ErrOutcomeUnknown", err)
			}
		}
		for range 2 {
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"yes": "succeeded", "no": "declined"})
		}
		for _, e := range recovered(t, s.Journal) {
			got, err := outcomeOf(e)
			if got == nil || got.UniqueID == "" || errors.Is(err, cardgateway.ErrDeclined) != (e.ID().Text == "no") {
				t.Errorf("outcome of %s: %+v, %v", e.ID().Text, got, err)
			}
			if err := s.Ack(t.Context(), e.ID(), e.State()); err != nil {
				t.Error(err)
			}
		}
		wantStates(t, s.Journal, nil)
	})
}

// TestPresumedAbsent: the request is lost at first, and arrives thirty hours later.
func TestPresumedAbsent(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitLate, Late: 30 * time.Hour})
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		time.Sleep(24*time.Hour - time.Minute)
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "unknown"})
		time.Sleep(time.Minute)
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "presumed absent"})
		_, err := s.pay("a", approved)
		if !errors.Is(err, journal.ErrPresumedAbsent) || cardgateway.SafeToRetry(err) || !strings.Contains(err.Error(), "PayAgainRiskingSecondCharge") {
			t.Errorf("called again: %v", err)
		}
		time.Sleep(7 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "conflict"})
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrConflict) {
			t.Errorf("called again: %v, want ErrConflict", err)
		}
		if n := s.sent.Load(); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

// TestAckIsOfWhatWasTold acknowledges a presumed absence after the payment has arrived.
func TestAckIsOfWhatWasTold(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitLate, Late: 30 * time.Hour})
		_, _ = s.pay("a", approved)
		time.Sleep(25 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
		time.Sleep(7 * time.Hour)
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "conflict"})
		if err := s.Ack(t.Context(), journal.PaymentID("a"), journal.PresumedAbsent); !errors.Is(err, journal.ErrChanged) {
			t.Errorf("Ack of an absence that no longer applies: %v, want ErrChanged", err)
		}
		wantStates(t, s.Journal, map[string]string{"a": "conflict"})
		if err := s.Ack(t.Context(), journal.PaymentID("a"), journal.Conflicting); err != nil {
			t.Error(err)
		}
		wantStates(t, s.Journal, nil)
	})
}

func TestAbsentAfterHasAMinimum(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		j := s.restarted(journal.Options{AbsentAfter: time.Second})
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
		_, _ = j.CreateSubscription(t.Context(), order("a", approved))
		time.Sleep(15*time.Minute - time.Second)
		wantStates(t, j, map[string]string{"a": "unknown"})
		time.Sleep(3 * time.Minute)
		wantStates(t, j, map[string]string{"a": "presumed absent"})
	})
}

// TestAbsenceIsPresumedSoon: it is presumed by the first query after AbsentAfter, and an entry is queried at least each eighth of its age.
func TestAbsenceIsPresumedSoon(t *testing.T) {
	for _, last := range []time.Duration{20 * time.Hour, 23 * time.Hour, 24*time.Hour - time.Minute} {
		t.Run("queried after "+last.String(), func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
				s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
				begun := time.Now()
				_, _ = s.pay("a", approved)
				time.Sleep(last)
				told := make(chan time.Duration, 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go s.Run(ctx, time.Minute, func(_ context.Context, e journal.Entry) error {
					if e.State() == journal.PresumedAbsent {
						told <- time.Since(begun)
						cancel()
					}
					return nil
				})
				if after := <-told; after < 24*time.Hour || after > 27*time.Hour+30*time.Minute {
					t.Errorf("presumed absent after %v", after)
				}
			})
		})
	}
}

// TestAbsenceNeedsAnAnswer lets every query fail for days: the payment is not presumed absent.
func TestAbsenceNeedsAnAnswer(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
		_, _ = s.pay("a", approved)
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Status: 503, Reply: sandbox.ReplyHTML, Times: -1})
		time.Sleep(72 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "unknown"})
	})
}

// TestPayAgain pays again after a presumed absence, for each way in which a gateway may treat a repeated id, and with the
// first request lost or late.
func TestPayAgain(t *testing.T) {
	for name, c := range map[string]struct {
		duplicates sandbox.Duplicates
		late       bool
		charged    int
		state      string
	}{
		"refused, gone":  {sandbox.DuplicatesRefused, false, 1, "succeeded"},
		"refused, late":  {sandbox.DuplicatesRefused, true, 1, "succeeded"},
		"declined, late": {sandbox.DuplicatesDeclined, true, 1, "succeeded"},
		"racy, late":     {sandbox.DuplicatesPerOrder, true, 2, "conflict"},
		"executed, late": {sandbox.DuplicatesExecuted, true, 2, "conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sandbox.Options{Duplicates: c.duplicates}, func(t *testing.T, s *shop) {
				lost := sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose}
				if c.late {
					lost.Commit, lost.Late = sandbox.CommitLate, 26*time.Hour
				}
				s.gateway.Inject(lost)
				_, _ = s.pay("a", approved)
				again := func() (*cardgateway.Transaction, error) {
					return s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
				}
				if _, err := again(); !errors.Is(err, journal.ErrOpen) {
					t.Errorf("before the absence is presumed: %v, want ErrOpen", err)
				}
				time.Sleep(25 * time.Hour)
				wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
				if got, err := again(); err != nil || got.State() != cardgateway.StateApproved {
					t.Errorf("after the absence is presumed: %v, %v", got, err)
				}
				if got, err := again(); err != nil || got.State() != cardgateway.StateApproved || s.sent.Load() != 2 {
					t.Errorf("once more: %v, %v, %d requests", got, err, s.sent.Load())
				}
				time.Sleep(48 * time.Hour)
				wantStates(t, s.Journal, map[string]string{"a": c.state})
				wantExecuted(t, s, "a", c.charged)
			})
		})
	}
}

// TestPayAgainNotSent: a repeated submission that is proved not sent is reported as not sent, and the payment stays
// presumed absent.
func TestPayAgainNotSent(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
		_, _ = s.pay("a", approved)
		time.Sleep(25 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
		s.refuse = errReset
		if _, err := s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved)); !cardgateway.SafeToRetry(err) {
			t.Errorf("got %v, want ErrNotSent", err)
		}
		s.refuse = nil
		wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
	})
}

// TestAbsentFarApart: if two submissions are far apart, the payment is presumed absent only if the gateway knows neither.
func TestAbsentFarApart(t *testing.T) {
	lost := sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose}
	unheard := sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyClose}
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name          string
		first, second sandbox.Fault
		want          string
	}{
		{"both lost", lost, lost, "presumed absent"},
		{"the first has arrived, and is shown late", unheard, lost, "succeeded"},
		{"the second has arrived", lost, unheard, "succeeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, sandbox.Options{Search: sandbox.Search{Lag: 100 * 365 * day}}, func(t *testing.T, s *shop) {
				s.gateway.Inject(tt.first)
				_, _ = s.pay("a", approved)
				time.Sleep(20 * day)
				wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
				s.gateway.Inject(tt.second)
				_, _ = s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
				time.Sleep(25 * time.Hour)
				s.gateway.SetSearch(sandbox.Search{}) // until now it has shown nothing
				wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.want})
			})
		})
	}
}

// TestDeclinedFarApart: two submissions are far apart, and the query for the first one fails. The decline of the second one is not the
// outcome: the first one was paid.
func TestDeclinedFarApart(t *testing.T) {
	const day = 24 * time.Hour
	inBubble(t, sandbox.Options{Search: sandbox.Search{Lag: 100 * 365 * day}}, func(t *testing.T, s *shop) {
		begun := time.Now()
		s.loseNext(sandbox.CommitNow)
		_, _ = s.pay("a", approved)
		time.Sleep(20 * day)
		wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
		s.loseNext(sandbox.CommitNever)
		_, _ = s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
		time.Sleep(25 * time.Hour)
		usual := s.network
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("startDate") < begun.Add(day).UTC().Format(time.DateTime) {
				return nil, errors.New("no answer")
			}
			return page(r, "1", `{"code":101,"uniqueId":"2","transactionId":"a","transactionAmount":"12.50","transactionCurrency":"USD"}`), nil
		})
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "unknown"})
		s.network = usual
		s.gateway.SetSearch(sandbox.Search{})
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "succeeded"})
	})
}

// TestPayAgainDeclined: the first request has arrived meanwhile, and the gateway declines the repeated one. That decline
// is not the outcome; the query returns that the payment was made.
func TestPayAgainDeclined(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesDeclined}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitLate, Late: 26 * time.Hour})
		_, _ = s.pay("a", approved)
		time.Sleep(25 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
		time.Sleep(2 * time.Hour)
		_, err := s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
		if !errors.Is(err, journal.ErrRepeatDeclined) || errors.Is(err, cardgateway.ErrDeclined) {
			t.Fatalf("got %v, want ErrRepeatDeclined", err)
		}
		unknown, _ := errors.AsType[*cardgateway.OutcomeUnknownError](err)
		if tx, err := s.client.Resolve(t.Context(), unknown.Query()); err != nil || tx.State() != cardgateway.StateApproved {
			t.Errorf("Resolve: got %v, want the payment that was made", err)
		}
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "succeeded"})
		wantExecuted(t, s, "a", 1)
	})
}

func TestPayAgainWithTokenNeedsAcceptance(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		req := cardgateway.TokenPaymentRequest{TransactionID: "a", Currency: "USD", Amount: decimal.New(1, 0)}
		_, err := s.PayAgainRiskingSecondCharge(journal.AcceptSecondRefund).TokenPayment(t.Context(), cardgateway.NewToken("tok"), req)
		if !errors.Is(err, cardgateway.ErrInvalidRequest) || !strings.Contains(err.Error(), "AcceptNoOrderGuard") {
			t.Errorf("got %v", err)
		}
		if n := s.sent.Load(); n != 0 {
			t.Errorf("%d requests, want 0", n)
		}
	})
}

// TestRefusal: a refusal is only the gateway's statement. A success that is found later is a conflict.
func TestRefusal(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Status: 429, Commit: sandbox.CommitNever, Reply: sandbox.ReplyHTML})
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrRefused) {
			t.Fatalf("got %v, want ErrRefused", err)
		}
		wantStates(t, s.Journal, map[string]string{"a": "refused"})
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrRefused) {
			t.Errorf("called again: %v, want the refusal", err)
		}
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Status: 403, Reply: sandbox.ReplyHTML})
		if _, err := s.pay("b", approved); !errors.Is(err, cardgateway.ErrRefused) {
			t.Fatalf("got %v, want ErrRefused", err)
		}
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "refused", "b": "conflict"})
	})
}

// TestAnswerThatCannotBeRecorded: if the result of a query cannot be recorded, Recover ends with the store's error, and
// does not report the result.
func TestAnswerThatCannotBeRecorded(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
		_, _ = s.pay("a", approved)
		j := journal.New(s.client, &faulty{Store: s.store, fail: map[string]bool{"Record": true}}, journal.Options{})
		var got []error
		for e, err := range j.Recover(t.Context()) {
			if err == nil {
				t.Errorf("reported %s as %v", e.ID().Text, e.State())
			}
			got = append(got, err)
		}
		if len(got) != 1 || !errors.Is(got[0], errDisk) {
			t.Errorf("got %v, want the failure of the store", got)
		}
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
	})
}

// TestRefusalThatCannotBeSettled: a payment that was refused but charged is not submitted again while the store cannot
// record that.
func TestRefusalThatCannotBeSettled(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Status: 403, Reply: sandbox.ReplyHTML})
		_, _ = s.pay("a", approved)
		store := &failing{Store: s.store}
		store.records.Store(1)
		_, err := journal.New(s.client, store, journal.Options{}).AfterRefusal().CreateSubscription(t.Context(), order("a", approved))
		if !cardgateway.SafeToRetry(err) || !errors.Is(err, errDisk) {
			t.Errorf("got %v, want ErrNotSent because of the disk", err)
		}
		wantExecuted(t, s, "a", 1)
	})
}

// TestAbsenceOvertaken: while one process queries for a payment, another one presumes it absent and submits it again. The
// result of the query belongs to the earlier submission: it must not make the new one absent.
func TestAbsenceOvertaken(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
		_, _ = s.pay("a", approved)
		time.Sleep(25 * time.Hour)
		other := s.restarted(journal.Options{})
		s.gateway.SetSearch(sandbox.Search{Latency: 10 * time.Second})
		first := make(chan map[string]string)
		go func() { first <- states(t, s.Journal) }()
		time.Sleep(time.Second)
		s.gateway.SetSearch(sandbox.Search{})
		wantStates(t, other, map[string]string{"a": "presumed absent"})
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Before: time.Minute, After: time.Minute})
		go func() {
			_, _ = other.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
		}()
		if got := <-first; got["a"] != "unknown" {
			t.Errorf("reported %v while the payment is in flight", got)
		}
		if e := s.stored("a"); e.State() != journal.Unknown {
			t.Errorf("recorded as %v while it is in flight", e.State())
		}
		time.Sleep(3 * time.Minute)
		wantExecuted(t, s, "a", 1)
	})
}

// TestQueryThatCouldNotBeRecorded: the store fails when the result of a query is to be recorded. The next Recover queries again, however old the
// payment is.
func TestQueryThatCouldNotBeRecorded(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.loseNext(sandbox.CommitNow)
		_, _ = s.pay("a", approved)
		time.Sleep(16 * time.Hour)
		j := journal.New(s.client, &failsOnce{Store: s.store}, journal.Options{})
		for _, err := range j.Recover(t.Context()) {
			if !errors.Is(err, errDisk) {
				t.Errorf("Recover: got %v, want the error of the store", err)
			}
		}
		time.Sleep(time.Minute)
		wantStates(t, j, map[string]string{"a": "succeeded"})
	})
}

// failsOnce is a store whose first Record fails.
type failsOnce struct {
	journal.Store
	failed bool
}

func (s *failsOnce) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	if !s.failed {
		s.failed = true
		return errDisk
	}
	return s.Store.Record(ctx, key, version, ev)
}
