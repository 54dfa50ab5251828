package journal_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// shownAs is a transaction of payment "a" as a query shows it.
func shownAs(code cardgateway.Code, uniqueID string) *cardgateway.Transaction {
	return &cardgateway.Transaction{
		Code: code, UniqueID: uniqueID, TransactionID: "a", TransactionAmount: decimal.RequireFromString("12.50"), TransactionCurrency: "USD",
	}
}

// silence makes every query fail.
func silence(s *shop) {
	s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Status: 503, Reply: sandbox.ReplyHTML, Times: -1})
}

// TestConfirm: what was confirmed elsewhere is known to the next call and the next Recover without a query.
func TestConfirm(t *testing.T) {
	for _, tt := range []struct {
		name      string
		code      cardgateway.Code
		state     string
		err       error // of the next call
		stored    journal.State
		ack       error
		confirmed bool // a second time, with a contradicting outcome
	}{
		{"paid", cardgateway.CodeSuccess, "succeeded", nil, journal.Succeeded, nil, false},
		{"declined", cardgateway.CodeFailed, "declined", cardgateway.ErrDeclined, journal.Declined, nil, false},
		{"in processing", cardgateway.CodeProcessing, "pending", nil, journal.Pending, nil, false},
		{"an unlisted code", 777, "unknown", journal.ErrOpen, journal.Succeeded, journal.ErrOpen, false},
		{"paid twice", cardgateway.CodeSuccess, "conflict", cardgateway.ErrConflict, journal.Succeeded, journal.ErrChanged, true},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.gateway.Inject(lost)
			_, _ = s.pay("a", approved) // its outcome is unknown
			silence(s)
			succeeds(t, s.Confirm(t.Context(), shownAs(tt.code, "1")))
			if tt.confirmed {
				succeeds(t, s.Confirm(t.Context(), shownAs(tt.code, "2")))
			}
			succeeds(t, s.Confirm(t.Context(), shownAs(tt.code, "1")))
			if e, err := s.Get(t.Context(), journal.PaymentID("a")); err != nil || len(e.Evidence) > 3 {
				t.Errorf("a confirmation without anything new was recorded: %d pieces of evidence, %v", len(e.Evidence), err)
			}
			if err := s.Ack(t.Context(), journal.PaymentID("a"), tt.stored); !errors.Is(err, tt.ack) {
				t.Errorf("Ack: got %v, want %v", err, tt.ack)
			}
			other := s.restarted(journal.Options{})
			if _, err := other.CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, tt.err) {
				t.Errorf("the next call: got %v, want %v", err, tt.err)
			}
			if tt.ack != nil {
				wantStates(t, other, map[string]string{"a": tt.state})
			}
			if n := s.sent.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestConfirmRefuses(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(lost)
		_, _ = s.pay("a", approved)
		silence(s)
		for name, c := range map[string]struct {
			change func(*cardgateway.Transaction)
			want   error
		}{
			"another amount":   {func(t *cardgateway.Transaction) { t.TransactionAmount = decimal.New(1251, -2) }, journal.ErrMismatch},
			"no amount":        {func(t *cardgateway.Transaction) { t.TransactionAmount = decimal.Decimal{} }, journal.ErrMismatch},
			"another currency": {func(t *cardgateway.Transaction) { t.TransactionCurrency = "usd" }, journal.ErrMismatch},
			"another app":      {func(t *cardgateway.Transaction) { t.AppID = "8" }, journal.ErrMismatch},
			"another payment":  {func(t *cardgateway.Transaction) { t.TransactionID = "b" }, journal.ErrNoEntry},
		} {
			shown := shownAs(cardgateway.CodeSuccess, "1")
			c.change(shown)
			if err := s.Confirm(t.Context(), shown); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
		if err := s.Confirm(t.Context(), nil); err == nil {
			t.Error("no transaction: no error")
		}
		wantStates(t, s.Journal, map[string]string{"a": "unknown"})
		own := shownAs(cardgateway.CodeSuccess, "1")
		own.AppID = "7"
		succeeds(t, s.Confirm(t.Context(), own))
	})
}

// TestConfirmThatCannotBeRecorded: the caller receives the failure of the store, and can try again.
func TestConfirmThatCannotBeRecorded(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose})
		_, _ = s.pay("a", approved)
		store := &failing{Store: s.store}
		store.records.Store(1000)
		if err := journal.New(s.client, store, journal.Options{}).Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "1")); !errors.Is(err, errDisk) {
			t.Errorf("got %v, want the failure of the store", err)
		}
	})
}

// TestSeenIsNeverAbsent: a transactionId that the gateway has returned in any form is never presumed absent.
func TestSeenIsNeverAbsent(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(lost)
		_, _ = s.pay("a", approved)
		succeeds(t, s.Confirm(t.Context(), shownAs(777, "1")))
		time.Sleep(48 * time.Hour)
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "unknown"})
		if _, err := s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, journal.ErrOpen) {
			t.Errorf("paying again: %v", err)
		}
	})
}

// TestConfirmOfAnOldAttempt: on the hosted page each attempt is a row. One that was declined does not end a payment that
// another attempt may have made, however long ago the page was opened; only a query of all of them does.
func TestConfirmOfAnOldAttempt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		row   cardgateway.Code // that is confirmed
		shows []int            // all of them
		want  string
	}{
		{"declined, another one approved", 101, []int{101, 100}, "succeeded"},
		{"declined, no other one", 101, []int{101}, "declined"},
		{"closed, another one approved", 103, []int{103, 100}, "succeeded"},
		{"closed, no other one", 103, []int{103}, "declined"},
		{"waiting, another one approved", 301, []int{301, 100}, "succeeded"},
		{"waiting, no other one", 301, []int{301}, "abandoned"},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.opensPage()
			time.Sleep(8 * 24 * time.Hour)
			succeeds(t, s.Confirm(t.Context(), shownAs(tt.row, "1")))
			if e, err := s.Get(t.Context(), journal.PaymentID("a")); err != nil || e.State() != journal.Pending {
				t.Errorf("after Confirm: got %v, %v; want pending", e.State(), err)
			}
			searchShows(s, tt.shows...)
			recovered(t, s.Journal)
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.want})
		})
	}
}

// TestConfirmOneOfSeveral: the decline of a repeated submission is one row, and the first submission may have made another one.
// However old the payment is, only a query, which returns all rows, ends it.
func TestConfirmOneOfSeveral(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(refusal)
		_, _ = s.pay("a", declined)
		if _, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", declined)); !errors.Is(err, journal.ErrRepeatDeclined) {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Hour)
		succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeFailed, "4711")))
		if e, err := s.Get(t.Context(), journal.PaymentID("a")); err != nil || e.State() != journal.Unknown {
			t.Errorf("after Confirm the payment is %v (%v), want unknown", e.State(), err)
		}
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "declined"})
	})
}

// TestConfirmLaterCharges: a later charge of a subscription is recorded, and is no news about the first one; two of them within
// a day are a conflict.
func TestConfirmLaterCharges(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		first, err := s.pay("a", approved)
		if err != nil {
			t.Fatal(err)
		}
		renew := func() {
			t.Helper()
			id, err := s.gateway.Renew("a")
			if err != nil {
				t.Fatal(err)
			}
			charge, err := s.client.GetTransaction(t.Context(), id)
			if err == nil {
				err = s.Confirm(t.Context(), charge)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		resolve := func() (*cardgateway.Transaction, error) {
			return s.client.Resolve(t.Context(), cardgateway.ResolveQuery{
				TransactionID: "a", Amount: first.TransactionAmount, Currency: "USD", SentAt: first.Timestamp, Wait: 1,
				SubscriptionCycle: cardgateway.CycleWeek,
			})
		}
		time.Sleep(7 * 24 * time.Hour)
		renew()
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"}) // not acknowledged yet
		succeeds(t, s.Ack(t.Context(), journal.PaymentID("a"), journal.Succeeded))
		time.Sleep(7 * 24 * time.Hour)
		renew()
		wantStates(t, s.Journal, nil)
		e, err := s.Get(t.Context(), journal.PaymentID("a"))
		if err != nil || len(e.Evidence) != 3 || e.Intent().SubscriptionCycle != cardgateway.CycleWeek {
			t.Errorf("got %d pieces of evidence of cycle %q, %v; want 3 of WEEK", len(e.Evidence), e.Intent().SubscriptionCycle, err)
		}
		if got, err := s.pay("a", approved); err != nil || got.UniqueID != first.UniqueID {
			t.Errorf("called again: %+v, %v; want %s", got, err, first.UniqueID)
		}
		if got, err := resolve(); err != nil || got.UniqueID != first.UniqueID {
			t.Errorf("Resolve: %+v, %v; want %s", got, err, first.UniqueID)
		}
		time.Sleep(time.Hour)
		renew()
		wantStates(t, s.Journal, map[string]string{"a": "conflict"})
		if _, err := resolve(); !errors.Is(err, cardgateway.ErrConflict) {
			t.Errorf("Resolve: %v, want ErrConflict", err)
		}
	})
}

// TestRenewedBeforeTheQuery: the search that tells the outcome of a subscription shows its later charge, too.
func TestRenewedBeforeTheQuery(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.loseNext(sandbox.CommitNow)
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Fatalf("got %v, want an unknown outcome", err)
		}
		time.Sleep(7 * 24 * time.Hour)
		if _, err := s.gateway.Renew("a"); err != nil {
			t.Fatal(err)
		}
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
	})
}

// TestTwoSubscriptions: the gateway executes a subscription, and does not show it for six days. It is presumed absent and submitted
// again. Its second charge is not a later one of the first.
func TestTwoSubscriptions(t *testing.T) {
	for _, tt := range []struct {
		name   string
		second sandbox.Reply
	}{{"the second response arrives", sandbox.ReplyAsIs}, {"both are lost", sandbox.ReplyReset}} {
		runInBubble(t, tt.name, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
			s.loseNext(sandbox.CommitNow)
			_, _ = s.pay("a", approved)
			usual := s.network
			searchShows(s)
			time.Sleep(6 * 24 * time.Hour)
			wantStates(t, s.Journal, map[string]string{"a": "presumed absent"})
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: tt.second})
			_, _ = s.PayAgainRiskingSecondCharge().CreateSubscription(t.Context(), order("a", approved))
			s.network = usual
			wantExecuted(t, s, "a", 2)
			time.Sleep(time.Hour)
			wantStates(t, s.Journal, map[string]string{"a": "conflict"})
		})
	}
}

// TestConfirmOfAnother: a single row that declines does not tell the outcome of what was submitted at another time: it was made long before, or it
// is a later charge of a subscription, whose first one was approved then.
func TestConfirmOfAnother(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name     string
		declined time.Duration // after the payment was sent
		confirm  time.Duration
		codes    []cardgateway.Code
		want     journal.State
	}{
		{"its own", time.Second, 8 * day, []cardgateway.Code{cardgateway.CodeFailed}, journal.Declined},
		{"a later charge", 7 * day, 8 * day, []cardgateway.Code{cardgateway.CodeFailed}, journal.Unknown},
		{"a later charge, in processing at first", 7 * day, 8 * day, []cardgateway.Code{cardgateway.CodeProcessing, cardgateway.CodeFailed}, journal.Pending},
		{"days before", -3 * day, time.Hour, []cardgateway.Code{cardgateway.CodeFailed}, journal.Unknown},
		{"closed days before", -3 * day, time.Hour, []cardgateway.Code{cardgateway.CodeClosed}, journal.Unknown},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			at := time.Now().Add(tt.declined).In(s.client.Location())
			s.gateway.Inject(lost)
			_, _ = s.pay("a", approved)
			time.Sleep(tt.confirm)
			for _, code := range append(tt.codes, tt.codes[len(tt.codes)-1]) { // the last one twice
				shown := shownAs(code, "1")
				var err error
				if shown.TransactionAt, err = cardgateway.ParseWallTime(at.Format(time.DateTime)); err == nil {
					err = s.Confirm(t.Context(), shown)
				}
				if err != nil {
					t.Error(err)
				}
			}
			silence(s)
			wantStates(t, s.Journal, map[string]string{"a": tt.want.String()})
		})
	}
}

// TestRestore: after a backup was restored that lacks payments and refunds, a repeated call makes them again, unless what a walk shows was
// restored, too.
func TestRestore(t *testing.T) {
	for _, tt := range []struct {
		name     string
		restores bool
		moves    int
	}{{"without a walk", false, 2}, {"by the procedure", true, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			opts := sandbox.Options{Duplicates: sandbox.DuplicatesExecuted, RefundDuplicates: sandbox.RefundDuplicatesExecuted}
			inBubble(t, opts, func(t *testing.T, s *shop) {
				begun := time.Now()
				token := cardgateway.NewToken(s.gateway.NewToken(sandbox.Approved))
				cheap := clienttest.TokenPaymentRequest("token")
				cheap.Amount = decimal.New(12, 0)
				uniqueID := s.paidFor("kept")
				calls := map[string]func() error{
					"paid":     func() error { _, err := s.pay("paid", approved); return err },
					"declined": func() error { _, err := s.pay("declined", declined); return err },
					"pending":  func() error { _, err := s.pay("pending", pending); return err },
					"page":     func() error { _, err := s.CreateCheckout(t.Context(), hosted("page")); return err },
					"token":    func() error { _, err := s.TokenPayment(t.Context(), token, cheap); return err },
					"refund":   func() error { _, err := s.CreateRefund(t.Context(), refund("r", uniqueID)); return err },
				}
				for _, call := range calls {
					_ = call()
				}
				time.Sleep(20 * time.Minute)
				s.store = journal.NewMemoryStore() // as it was in the backup
				s.Journal = s.restarted(journal.Options{})
				query := cardgateway.OrderQuery{Start: begun.Add(-time.Hour), End: time.Now()}
				for range 2 { // a second time, because the first one did not end
					for row, err := range s.client.Orders(t.Context(), query) {
						if err == nil && tt.restores {
							err = s.Restore(t.Context(), row)
						}
						if err != nil {
							t.Fatal(err)
						}
					}
					refunds := cardgateway.RefundQuery{Start: query.Start, End: query.End}
					for row, err := range s.client.Refunds(t.Context(), refunds) {
						if err == nil && tt.restores {
							err = s.RestoreRefund(t.Context(), row)
						}
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				sent := s.sent.Load()
				for name, call := range calls {
					if err := call(); errors.Is(err, journal.ErrMismatch) || errors.Is(err, cardgateway.ErrInvalidRequest) || errors.Is(err, cardgateway.ErrNotSent) {
						t.Errorf("%s once more: %v", name, err)
					}
				}
				if again := s.sent.Load() - sent; int(again) != (tt.moves-1)*len(calls) {
					t.Errorf("%d of %d were sent again", again, len(calls))
				}
				for _, id := range []string{"paid", "token"} {
					if n := s.gateway.Executed(id); n != tt.moves {
						t.Errorf("%s: charged %d times, want %d", id, n, tt.moves)
					}
				}
				if n := s.gateway.Refunded("r"); n != tt.moves {
					t.Errorf("refunded %d times, want %d", n, tt.moves)
				}
				if !tt.restores {
					return
				}
				succeeds(t, s.gateway.Settle("pending", true))
				time.Sleep(20 * time.Hour)
				wantStates(t, s.restarted(journal.Options{}), map[string]string{
					"kept": "succeeded", "paid": "succeeded", "declined": "pending", "pending": "succeeded", "page": "pending", "token": "succeeded", "": "succeeded",
				})
				other := shownAs(cardgateway.CodeSuccess, "1")
				other.AppID = "8"
				if err := s.Restore(t.Context(), other); err != nil || !errors.Is(s.Confirm(t.Context(), other), journal.ErrNoEntry) {
					t.Errorf("of another app: %v", err)
				}
				other.AppID, other.TransactionID = "7", "token"
				if err := s.Restore(t.Context(), other); !errors.Is(err, journal.ErrMismatch) {
					t.Errorf("another amount: %v", err)
				}
				for id, amount := range map[string]string{"large": "999999999999", "large with decimals": "9999999999.5"} { // of twelve digits at most, as sent
					shown, sent := shownAs(cardgateway.CodeSuccess, id), clienttest.TokenPaymentRequest(id)
					shown.TransactionID, sent.Amount = id, decimal.RequireFromString(amount)
					shown.TransactionAmount = sent.Amount.Add(decimal.New(0, -3)) // with three decimals
					succeeds(t, s.Restore(t.Context(), shown))
					if _, err := s.TokenPayment(t.Context(), token, sent); err != nil || s.gateway.Executed(id) != 0 {
						t.Errorf("%s once more: %v, charged %d times", id, err, s.gateway.Executed(id))
					}
				}
				other.TransactionID = ""
				office := &cardgateway.Refund{Code: cardgateway.CodeRefundSuccess, UniqueID: "1", RefundUniqueID: "2", RefundAmount: decimal.New(1, 0)}
				succeeds(t, errors.Join(s.Restore(t.Context(), other), s.RestoreRefund(t.Context(), office)))
			})
		})
	}
}

// TestRestoreUnsent: the backup was made after a call had sent nothing, and before the call was made again. What the gateway shows is of that
// one: it is not made a third time, and is no conflict.
func TestRestoreUnsent(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first func(*shop, *cardgateway.SubscriptionRequest)
		shown cardgateway.Code
		want  journal.State
	}{
		{"a failed connection", func(s *shop, _ *cardgateway.SubscriptionRequest) { s.refuse = errReset }, cardgateway.CodeSuccess, journal.Succeeded},
		{"then declined", func(s *shop, _ *cardgateway.SubscriptionRequest) { s.refuse = errReset }, cardgateway.CodeFailed, journal.Declined},
		{"an unlisted code", func(s *shop, _ *cardgateway.SubscriptionRequest) { s.refuse = errReset }, 777, journal.Unknown},
		{"of another amount", func(s *shop, req *cardgateway.SubscriptionRequest) {
			s.refuse, req.Amount = errReset, decimal.New(1, 0)
		}, cardgateway.CodeSuccess, journal.NotSent},
		{"another amount, since that was invalid", func(_ *shop, req *cardgateway.SubscriptionRequest) { req.Amount = decimal.RequireFromString("12.501") },
			cardgateway.CodeSuccess, journal.Succeeded},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			req := order("a", approved)
			tt.first(s, &req)
			if _, err := s.CreateSubscription(t.Context(), req); err == nil {
				t.Fatal("no error")
			}
			s.refuse = nil
			shown, restored := shownAs(tt.shown, "1"), s.restarted(journal.Options{})
			for range 2 {
				if err := restored.Restore(t.Context(), shown); errors.Is(err, journal.ErrMismatch) != (tt.want == journal.NotSent) {
					t.Errorf("Restore: %v", err)
				}
			}
			silence(s)
			_, err := restored.CreateSubscription(t.Context(), order("a", approved))
			if e := s.stored("a"); e.State() != tt.want || s.sent.Load() != 0 {
				t.Errorf("got %v, sent %d times: %v; want %v", e.State(), s.sent.Load(), err, tt.want)
			}
			wantStates(t, restored, map[string]string{"a": tt.want.String()})
		})
	}
}

// TestRestoreRefund: a restored refund is not made again, under whichever of two names the gateway shows what was sent, and is a conflict if it
// comes back.
func TestRestoreRefund(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*cardgateway.Refund)
		want   journal.State
	}{
		{"one name", func(*cardgateway.Refund) {}, journal.Conflicting},
		{"the second of two names", func(r *cardgateway.Refund) {
			r.MerchantRefundID, r.Extra = "G-4711", map[string]json.RawMessage{"refundTransactionId": json.RawMessage(`"r"`)}
		}, journal.Unknown},
	} {
		runInBubble(t, tt.name, executing, func(t *testing.T, s *shop) {
			req := refund("r", s.paidFor("a"))
			if _, err := s.client.CreateRefund(t.Context(), req); err != nil { // the store was restored since
				t.Fatal(err)
			}
			shown := cardgateway.Refund{
				Code: 111, UniqueID: req.UniqueID, MerchantRefundID: "r", RefundUniqueID: "4711", RefundAmount: req.Amount, RefundCurrency: "USD",
			}
			tt.change(&shown)
			silence(s)
			for range 2 {
				succeeds(t, s.RestoreRefund(t.Context(), &shown))
			}
			_, err := s.CreateRefund(t.Context(), req)
			wantRefunded(t, s, "r", 1)
			shown.Code = 112
			if failed := s.ConfirmRefund(t.Context(), &shown); failed != nil {
				t.Error(failed)
			}
			if e, failed := s.Get(t.Context(), journal.RefundID("r")); e.State() != tt.want {
				t.Errorf("got %v, %v, want %v; the next call: %v", e.State(), failed, tt.want, err)
			}
		})
	}
}
