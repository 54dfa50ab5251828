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

// TestSentWithClockAhead: the clock of the machine was two days ahead when the payment was sent, and was set right then.
func TestSentWithClockAhead(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		req := order("a", approved)
		s.begins(t, &req, time.Now().Add(48*time.Hour))
		if _, err := s.client.CreateSubscription(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		time.Sleep(73 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
	})
}

// wrongClock is a store of a machine whose clock is wrong when a payment is begun.
type wrongClock struct {
	journal.Store
	by time.Duration
}

func (w wrongClock) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	in.At = in.At.Add(w.by)
	return w.Store.Begin(ctx, in)
}

// TestAnsweredWithWrongClock: what the gateway has answered says when it was sent. A page that was opened a moment ago is not abandoned because
// the clock was days behind then, and the outcome is found if it was days ahead.
func TestAnsweredWithWrongClock(t *testing.T) {
	for name, by := range map[string]time.Duration{"behind": -72 * time.Hour, "ahead": 120 * time.Hour} {
		runInBubble(t, name, sandbox.Options{}, func(t *testing.T, s *shop) {
			j := journal.New(s.client, wrongClock{s.store, by}, journal.Options{})
			_, err := j.CreateCheckout(t.Context(), hosted("page"))
			if _, failed := j.CreateSubscription(t.Context(), order("a", pending)); failed != nil || err != nil {
				t.Fatal(err, failed)
			}
			time.Sleep(time.Minute)
			wantStates(t, s.Journal, map[string]string{"page": "pending", "a": "pending"})
			succeeds(t, s.gateway.Settle("a", true))
			time.Sleep(25 * time.Hour)
			wantStates(t, s.Journal, map[string]string{"page": "abandoned", "a": "succeeded"})
		})
	}
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
		runInBubble(t, name, sandbox.Options{Duplicates: c.duplicates}, func(t *testing.T, s *shop) {
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
	}
}

// TestPayAgainAsksFirst: what was presumed absent and acknowledged, and has arrived since, is not made again at the caller's risk: one query
// shows it. If the query fails, nothing is sent.
func TestPayAgainAsksFirst(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted, RefundDuplicates: sandbox.RefundDuplicatesExecuted}, func(t *testing.T, s *shop) {
		req := refund("r", s.paidFor("b"))
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitLate, Late: 26 * time.Hour})
		_, _ = s.pay("a", approved)
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Commit: sandbox.CommitLate, Late: 26 * time.Hour})
		_, _ = s.CreateRefund(t.Context(), req)
		time.Sleep(25 * time.Hour)
		recovered(t, s.Journal)
		for _, id := range []journal.ID{journal.PaymentID("a"), journal.RefundID("r")} {
			succeeds(t, s.Ack(t.Context(), id, journal.PresumedAbsent))
		}
		time.Sleep(30 * 24 * time.Hour)
		usual := s.network
		for _, want := range []error{cardgateway.ErrNotSent, cardgateway.ErrConflict} {
			if want == cardgateway.ErrNotSent {
				s.network = roundTripper(func(*http.Request) (*http.Response, error) { return nil, errReset })
			}
			_, err := s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
			_, failed := s.PayAgainRiskingSecondCharge(journal.AcceptSecondRefund).CreateRefund(t.Context(), req)
			if !errors.Is(err, want) || !errors.Is(failed, want) {
				t.Errorf("got %v and %v, want %v", err, failed, want)
			}
			s.network = usual
		}
		wantExecuted(t, s, "a", 1)
		wantRefunded(t, s, "r", 1)
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
		fails         bool // the query for the second
		want          string
	}{
		{"both lost", lost, lost, false, "presumed absent"},
		{"the first has arrived, and is shown late", unheard, lost, false, "succeeded"},
		{"the second has arrived", lost, unheard, false, "succeeded"},
		{"the query for the second fails", lost, lost, true, "unknown"},
	} {
		runInBubble(t, tt.name, sandbox.Options{Search: sandbox.Search{Lag: 100 * 365 * day}}, func(t *testing.T, s *shop) {
			begun := time.Now()
			s.gateway.Inject(tt.first)
			_, _ = s.pay("a", approved)
			time.Sleep(20 * day)
			wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
			s.gateway.Inject(tt.second)
			_, _ = s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
			time.Sleep(25 * time.Hour)
			s.gateway.SetSearch(sandbox.Search{}) // until now it has shown nothing
			if tt.fails {
				s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.URL.Query().Get("startDate") > begun.Add(day).UTC().Format(time.DateTime) {
						return nil, errReset
					}
					return s.gateway.RoundTripper().RoundTrip(r)
				})
			}
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.want})
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

// TestQueryThatCouldNotBeRecorded: the store fails when the result of a query is to be recorded. The next Recover queries again, however old the
// payment is.
func TestQueryThatCouldNotBeRecorded(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.loseNext(sandbox.CommitNow)
		_, _ = s.pay("a", approved)
		time.Sleep(16 * time.Hour)
		store := &failing{Store: s.store}
		store.records.Store(1)
		j := journal.New(s.client, store, journal.Options{})
		for _, err := range j.Recover(t.Context()) {
			if !errors.Is(err, errDisk) {
				t.Errorf("Recover: got %v, want the error of the store", err)
			}
		}
		time.Sleep(time.Minute)
		wantStates(t, j, map[string]string{"a": "succeeded"})
	})
}
