package journal_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// hosted is a payment that is made on the gateway's page.
func hosted(id string) cardgateway.CheckoutRequest {
	o := order(id, approved)
	return cardgateway.CheckoutRequest{
		TransactionID: id, OrderID: o.OrderID, Currency: o.Currency, Amount: o.Amount, TransactionIP: o.TransactionIP,
		CallbackURL: o.CallbackURL, NotificationURL: o.NotificationURL, ProductInfos: o.ProductInfos,
		BillingAddress: cardgateway.Address{Country: "US", Email: "ada@example.com"},
	}
}

// tokenOrder is a token order, which is made on that page, too.
func tokenOrder(id string) cardgateway.TokenOrderRequest {
	o := hosted(id)
	return cardgateway.TokenOrderRequest{
		TransactionID: id, OrderID: o.OrderID, Currency: o.Currency, Amount: o.Amount, TransactionIP: o.TransactionIP,
		CallbackURL: o.CallbackURL, NotificationURL: o.NotificationURL, ProductInfos: o.ProductInfos, BillingAddress: o.BillingAddress,
	}
}

// hostedSubscription is a subscription that is begun there.
func hostedSubscription(id string) cardgateway.CheckoutSubscriptionRequest {
	o := order(id, approved)
	return cardgateway.CheckoutSubscriptionRequest{
		TransactionID: id, OrderID: o.OrderID, Currency: o.Currency, Amount: o.Amount, TransactionIP: o.TransactionIP, CallbackURL: o.CallbackURL,
		NotificationURL: o.NotificationURL, ProductInfos: o.ProductInfos, BillingAddress: hosted(id).BillingAddress, Extension: o.Extension,
	}
}

// opensPage makes payment "a" on the hosted page.
func (s *shop) opensPage() {
	s.t.Helper()
	_, err := s.CreateCheckout(s.t.Context(), hosted("a"))
	succeeds(s.t, err)
}

// TestHostedPage: what the journal concludes from the result of a search for a payment on the hosted page, after some
// time.
func TestHostedPage(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name  string
		after time.Duration
		shows []int
		state string
		want  error // in the outcome
		later string
	}{
		{"waiting", 6 * day, []int{301}, "pending", nil, "succeeded"},
		{"waiting for too long", 8 * day, []int{301}, "abandoned", journal.ErrAbandoned, ""},
		{"in processing for long", 8 * day, []int{102}, "pending", nil, "succeeded"},
		{"waiting for too long, and a card is in processing", 8 * day, []int{301, 102}, "pending", nil, "succeeded"},
		{"waiting, and a card is in processing", 6 * day, []int{301, 102}, "pending", nil, "succeeded"},
		{"a card was declined", day, []int{101}, "pending", nil, "succeeded"},
		{"two cards were declined", day, []int{101, 101}, "pending", nil, "succeeded"},
		{"a card was declined, and another one is in processing", day, []int{101, 102}, "pending", nil, "succeeded"},
		{"a card was declined, and the page was closed soon", day, []int{101, 103}, "declined", cardgateway.ErrDeclined, ""},
		{"the page was closed", day, []int{103}, "declined", cardgateway.ErrDeclined, ""},
		{"a card was declined, and no other one was tried", 8 * day, []int{101}, "declined", cardgateway.ErrDeclined, ""},
		{"two cards were declined, and no other one was tried", 8 * day, []int{101, 101}, "declined", cardgateway.ErrDeclined, ""},
		{"a card was declined, and the page was closed", 8 * day, []int{101, 103}, "declined", cardgateway.ErrDeclined, ""},
		{"paid", day, []int{100}, "succeeded", nil, ""},
		{"paid with the second card", day, []int{101, 100}, "succeeded", nil, ""},
		{"paid twice", day, []int{100, 100}, "conflict", cardgateway.ErrConflict, ""},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.setHostedPageLifetime(7 * day)
			s.opensPage()
			usual := s.network
			searchShows(s, tt.shows...)
			time.Sleep(tt.after)
			all := recovered(t, s.Journal)
			if len(all) != 1 {
				t.Fatalf("%d payments are reported", len(all))
			}
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.state})
			if got, err := outcomeOf(all[0]); !errors.Is(err, tt.want) || err == nil && int(got.Code) != tt.shows[len(tt.shows)-1] {
				t.Errorf("outcome: %+v, %v; want code %d, %v", got, err, tt.shows, tt.want)
			}
			succeeds(t, all[0].LastQueryError())
			if tt.later == "" {
				return
			}
			s.network = usual
			searchShows(s, 101, 100)
			time.Sleep(2 * day)
			wantStates(t, s.Journal, map[string]string{"a": tt.later})
		})
	}
}

// TestPageWithoutARow: a page of which the search shows nothing ends, too, when it can no longer be used; not what was in processing, or was
// shown in a form that does not tell the outcome.
func TestPageWithoutARow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		begin func(*shop)
		shows []int // at first
		then  []int
		want  string
	}{
		{"a checkout", (*shop).opensPage, nil, nil, "abandoned"},
		{"a token order", func(s *shop) {
			_, err := s.CreateTokenOrder(s.t.Context(), tokenOrder("a"))
			succeeds(s.t, err)
		}, nil, nil, "abandoned"},
		{"a subscription", func(s *shop) {
			_, err := s.CreateCheckoutSubscription(s.t.Context(), hostedSubscription("a"))
			succeeds(s.t, err)
		}, nil, nil, "abandoned"},
		{"a 3D page", func(s *shop) { _, _ = s.pay("a", challenged) }, nil, nil, "abandoned"},
		{"its row has gone", (*shop).opensPage, []int{301}, nil, "abandoned"},
		{"a decline has gone", (*shop).opensPage, []int{101}, nil, "abandoned"},
		{"it was in processing", (*shop).opensPage, []int{102}, nil, "pending"},
		{"a card was in processing beside the page", (*shop).opensPage, []int{301, 102}, []int{301}, "pending"},
		{"a card was in processing beside a decline", (*shop).opensPage, []int{101, 102}, []int{101}, "pending"},
		{"its row beside one that is unclear", (*shop).opensPage, nil, []int{301, 999}, "pending"},
		{"it was shown unclearly", (*shop).opensPage, []int{999}, nil, "pending"},
		{"no page", func(s *shop) { _, _ = s.pay("a", pending) }, nil, nil, "pending"},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			begun := time.Now()
			tt.begin(s)
			usual := s.network
			if tt.shows != nil {
				searchShows(s, tt.shows...)
				time.Sleep(time.Hour)
				recovered(t, s.Journal)
				s.network = usual
			}
			searchShows(s, tt.then...)
			time.Sleep(time.Until(begun.Add(23 * time.Hour)))
			if states(t, s.Journal)["a"] == "abandoned" {
				t.Error("it is abandoned too early")
			}
			time.Sleep(time.Until(begun.Add(25 * time.Hour)))
			recovered(t, s.Journal)
			if e, err := s.Get(t.Context(), journal.PaymentID("a")); err != nil || e.State().String() != tt.want {
				t.Errorf("after a day it is %v (%v), want %s", e.State(), err, tt.want)
			}
		})
	}
}

// TestEndedBeside: a card that was in processing has ended, and of several rows the search returns another one. Its own row is queried, so that the
// payment does not stay in processing for good.
func TestEndedBeside(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends int   // the first card
		then []int // the search, at last
		want string
	}{
		{"two cards were declined", 101, []int{101, 101}, "declined"},
		{"a card was declined, and the page has a row", 101, []int{101, 301}, "abandoned"},
		{"a card was declined, and the page was closed", 101, []int{101, 103}, "declined"},
		{"a card was approved, and the search does not show it", 100, []int{0, 101}, "succeeded"},
		{"a card is in processing, and the search does not show it", 102, []int{0, 101}, "pending"},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			begun := time.Now()
			s.opensPage()
			row := func(id, code int) string {
				return fmt.Sprintf(`{"code":%d,"uniqueId":"%d","transactionId":"a","transactionAmount":"12.50","transactionCurrency":"USD"}`, code, id)
			}
			shows, first := []int{102}, 102
			s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/search/order/1") {
					return clienttest.Respond(r, http.StatusOK, row(1, first))
				}
				var rows []string
				for i, code := range shows {
					if code != 0 {
						rows = append(rows, row(i+1, code))
					}
				}
				return clienttest.Respond(r, http.StatusOK, clienttest.Page(rows...))
			})
			time.Sleep(time.Hour)
			wantStates(t, s.Journal, map[string]string{"a": "pending"})
			shows, first = tt.then, tt.ends
			time.Sleep(time.Until(begun.Add(25 * time.Hour)))
			wantStates(t, s.Journal, map[string]string{"a": tt.want})
		})
	}
}

// TestAbandonedAndPaid: if the cardholder of an abandoned payment pays after all, the success is reported, and is no
// conflict.
func TestAbandonedAndPaid(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.opensPage()
		time.Sleep(8 * 24 * time.Hour)
		wantStates(t, s.Journal, map[string]string{"a": "abandoned"})
		_, err := s.CreateCheckout(t.Context(), hosted("a"))
		unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
		if !ok || !errors.Is(err, journal.ErrAbandoned) || s.sent.Load() != 1 || !unknown.Seen {
			t.Errorf("called again: %+v (%v), %d requests", unknown, err, s.sent.Load())
		}
		succeeds(t, s.Ack(t.Context(), journal.PaymentID("a"), journal.Abandoned))
		wantStates(t, s.Journal, nil)
		succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "1")))
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
	})
}

// TestHostedPageLifetime: Resolve and the journal use the client's value. Before it has passed, a decline is one attempt and
// an unfinished page is waited for; afterwards the decline is final, and the page is abandoned.
func TestHostedPageLifetime(t *testing.T) {
	for _, tt := range []struct {
		name         string
		set, expires time.Duration
		shows        int
		state        string // of the entry, when the page has expired
		want, late   error  // of Resolve, before and after
	}{
		{"default, declined", 0, 24 * time.Hour, 101, "declined", cardgateway.ErrOutcomeUnknown, cardgateway.ErrDeclined},
		{"shorter, declined", time.Hour, time.Hour, 101, "declined", cardgateway.ErrOutcomeUnknown, cardgateway.ErrDeclined},
		{"longer, declined", 60 * time.Hour, 60 * time.Hour, 101, "declined", cardgateway.ErrOutcomeUnknown, cardgateway.ErrDeclined},
		{"default, waiting", 0, 24 * time.Hour, 301, "abandoned", nil, nil},
		{"shorter, waiting", time.Hour, time.Hour, 301, "abandoned", nil, nil},
		{"longer, waiting", 60 * time.Hour, 60 * time.Hour, 301, "abandoned", nil, nil},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.setHostedPageLifetime(tt.set)
			req, sentAt := hosted("a"), time.Now()
			if _, err := s.CreateCheckout(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			searchShows(s, tt.shows)
			wantBoth := func(when string, want error, state string) {
				_, err := s.client.Resolve(t.Context(), cardgateway.ResolveQuery{
					TransactionID: "a", Amount: req.Amount, Currency: req.Currency, SentAt: sentAt, HostedPage: true, Wait: 1,
				})
				if !errors.Is(err, want) {
					t.Errorf("%s: Resolve returns %v, want %v", when, err, want)
				}
				wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": state})
			}
			time.Sleep(tt.expires - time.Minute)
			wantBoth("a minute before the page expires", tt.want, "pending")
			time.Sleep(time.Minute)
			wantBoth("when the page expires", tt.late, tt.state)
		})
	}
}

// TestUnknownKnowsItsQuery: the query of an error that the journal returns has everything that Resolve needs. Without HostedPage,
// Resolve would take a card that was declined on the page for the end; without the cycle, a later charge for a second one; without Seen, a
// search that finds nothing for an absence.
func TestUnknownKnowsItsQuery(t *testing.T) {
	unknown := func(t *testing.T, err error) cardgateway.ResolveQuery {
		t.Helper()
		e, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
		if !ok {
			t.Fatalf("got %v, want an unknown outcome", err)
		}
		return e.Query()
	}
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
		_, err := s.CreateCheckoutSubscription(t.Context(), hostedSubscription("a"))
		if q := unknown(t, err); !q.HostedPage || q.SubscriptionCycle != cardgateway.CycleWeek || q.Seen {
			t.Errorf("of the call: %+v", q)
		}
		searchShows(s, 999)
		for e, err := range s.Recover(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			_ = e.Outcome(func(_ *cardgateway.Transaction, err error) error {
				if q := unknown(t, err); !q.HostedPage || q.SubscriptionCycle != cardgateway.CycleWeek || !q.Seen {
					t.Errorf("of the entry: %+v", q)
				}
				return err
			}, nil)
		}
	})
}
