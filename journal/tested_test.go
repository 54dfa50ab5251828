package journal_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestTestPayments: two processes with different settings share a journal. What one calls tested the other calls succeeded, whoever
// learned it and however; nothing is a conflict, and what either acknowledges is acknowledged.
func TestTestPayments(t *testing.T) {
	learned := map[string]func(t *testing.T, s *shop, by *journal.Journal){
		"by a call": func(t *testing.T, _ *shop, by *journal.Journal) {
			_, _ = by.CreateSubscription(t.Context(), order("a", approved))
		},
		"by Recover": func(t *testing.T, s *shop, by *journal.Journal) {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
			_, _ = by.CreateSubscription(t.Context(), order("a", approved))
			time.Sleep(time.Minute)
			_ = recovered(t, by)
		},
		"by Confirm": func(t *testing.T, s *shop, by *journal.Journal) {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
			_, _ = by.CreateSubscription(t.Context(), order("a", approved))
			page, err := s.client.SearchOrders(t.Context(), cardgateway.OrderQuery{
				TransactionID: "a", Start: time.Now().Add(-time.Hour), End: time.Now().Add(time.Hour),
			}, cardgateway.PageRequest{})
			if err != nil || len(page.Data) != 1 {
				t.Fatalf("got %v, %v", page, err)
			}
			succeeds(t, by.Confirm(t.Context(), &page.Data[0]))
		},
	}
	for name, learn := range learned {
		for _, isLive := range []bool{true, false} {
			runInBubble(t, name, sandbox.Options{}, func(t *testing.T, s *shop) {
				system := s.Journal
				client := s.newClient(live)
				live := journal.New(client, s.store, journal.Options{})
				by, other := system, live
				if isLive {
					by, other = live, system
				}
				learn(t, s, by)
				wantStates(t, system, map[string]string{"a": "succeeded"})
				wantStates(t, live, map[string]string{"a": "tested"})
				if paid, err := system.CreateSubscription(t.Context(), order("a", approved)); err != nil || !client.Paid(&cardgateway.Transaction{Code: 100}) || !paid.IsTest {
					t.Errorf("in the test system: got %v, %v", paid, err)
				}
				paid, err := live.CreateSubscription(t.Context(), order("a", approved))
				if !errors.Is(err, cardgateway.ErrTestPayment) || paid == nil || client.Paid(paid) || journal.StateOf(paid, err) != journal.Tested {
					t.Errorf("live: got %v, %v", paid, err)
				}
				if err := live.Ack(t.Context(), journal.PaymentID("a"), journal.Succeeded); !errors.Is(err, journal.ErrChanged) {
					t.Errorf("live, Ack of a success: got %v", err)
				}
				state := map[*journal.Journal]journal.State{live: journal.Tested, system: journal.Succeeded}[other]
				succeeds(t, other.Ack(t.Context(), journal.PaymentID("a"), state))
				wantStates(t, by, map[string]string{})
				if e, err := by.Get(t.Context(), journal.PaymentID("a")); err != nil || e.Evidence[len(e.Evidence)-1].State != journal.Succeeded || s.sent.Load() != 1 {
					t.Errorf("got %+v, %v, %d payments", e, err, s.sent.Load())
				}
			})
		}
	}
}

// TestMarksThatCannotBeRead: an approval whose mark cannot be read is no outcome, from a call and from a query, with either setting.
func TestMarksThatCannotBeRead(t *testing.T) {
	for _, isSystem := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			body := clienttest.OrderRow(100, "1", `,"isTest":"perhaps"`)
			client := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, TestPayments: isSystem, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodGet {
						return clienttest.Respond(r, 200, clienttest.Page(body))
					}
					return clienttest.Respond(r, 200, body)
				})},
			})
			j := journal.New(client, journal.NewMemoryStore(), journal.Options{})
			got, err := j.TokenPayment(t.Context(), cardgateway.NewToken("tok"), clienttest.TokenPaymentRequest("t-1"))
			if !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
				t.Errorf("got %v, %v", got, err)
			}
			time.Sleep(time.Minute)
			wantStates(t, j, map[string]string{"t-1": "unknown"})
			row := &cardgateway.Transaction{
				Code: 100, UniqueID: "1", TransactionID: "t-1", TransactionAmount: decimal.RequireFromString("12.50"), TransactionCurrency: "USD",
				Extra: map[string]json.RawMessage{"isTest": json.RawMessage(`7`)},
			}
			succeeds(t, j.Confirm(t.Context(), row))
			wantStates(t, j, map[string]string{"t-1": "unknown"})
		})
	}
}
