package journal_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// methods are the payment methods in one of their three forms.
type methods interface {
	TokenPayment(context.Context, cardgateway.Token, cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error)
	CreateTokenOrder(context.Context, cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error)
	CreateSubscription(context.Context, cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error)
	CreateCheckout(context.Context, cardgateway.CheckoutRequest) (*cardgateway.Transaction, error)
	CreateCheckoutSubscription(context.Context, cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error)
}

// TestEveryMethod: each payment method records its own operation. After a refusal, AfterRefusal and PayAgain send it
// again, and the plain method does not.
func TestEveryMethod(t *testing.T) {
	o := hosted("a")
	pays := map[string]func(context.Context, methods) (*cardgateway.Transaction, error){
		"CreateTokenOrder": func(ctx context.Context, m methods) (*cardgateway.Transaction, error) {
			return m.CreateTokenOrder(ctx, tokenOrder("a"))
		},
		"TokenPayment": func(ctx context.Context, m methods) (*cardgateway.Transaction, error) {
			return m.TokenPayment(ctx, cardgateway.NewToken("tok"), clienttest.TokenPaymentRequest("a"))
		},
		"CreateSubscription": func(ctx context.Context, m methods) (*cardgateway.Transaction, error) {
			return m.CreateSubscription(ctx, order("a", approved))
		},
		"CreateCheckout": func(ctx context.Context, m methods) (*cardgateway.Transaction, error) {
			return m.CreateCheckout(ctx, o)
		},
		"CreateCheckoutSubscription": func(ctx context.Context, m methods) (*cardgateway.Transaction, error) {
			return m.CreateCheckoutSubscription(ctx, hostedSubscription("a"))
		},
	}
	for name, pay := range pays {
		for form, again := range map[string]func(*journal.Journal) methods{
			"plain":        func(j *journal.Journal) methods { return j },
			"AfterRefusal": func(j *journal.Journal) methods { return j.AfterRefusal() },
			"PayAgain":     func(j *journal.Journal) methods { return j.PayAgainRiskingSecondCharge(journal.AcceptNoOrderGuard) },
		} {
			runInBubble(t, name+", "+form, sandbox.Options{}, func(t *testing.T, s *shop) {
				s.gateway.Inject(refusal)
				if _, err := pay(t.Context(), again(s.Journal)); !errors.Is(err, cardgateway.ErrRefused) {
					t.Fatalf("got %v, want the refusal", err)
				}
				in := s.stored("a").Begun
				if isWeekly := in.SubscriptionCycle == cardgateway.CycleWeek; isWeekly != strings.HasSuffix(name, "Subscription") {
					t.Errorf("recorded cycle is %q", in.SubscriptionCycle)
				}
				if in.Operation != name || !in.Amount.Equal(o.Amount) || in.Currency != "USD" || (in.OrderID == o.OrderID) == (name == "TokenPayment") {
					t.Errorf("recorded is %+v", in)
				}
				sent := int32(1)
				if form != "plain" {
					sent = 2
				}
				if _, err := pay(t.Context(), again(s.Journal)); errors.Is(err, journal.ErrMismatch) || s.sent.Load() != sent {
					t.Errorf("made again: %v, %d requests, want %d", err, s.sent.Load(), sent)
				}
			})
		}
	}
}

// TestAmounts: an amount that the client sends, such as that of a column numeric(12,4), is sent through the journal, too, and one that it rejects
// is rejected.
func TestAmounts(t *testing.T) {
	for _, anyDecimals := range []bool{false, true} {
		inBubble(t, executing, func(t *testing.T, s *shop) {
			s.client = s.newClient(func(cfg *cardgateway.Config) { cfg.AnyDecimals = anyDecimals })
			s.Journal = s.restarted(journal.Options{})
			testAmounts(t, s)
		})
	}
}

func testAmounts(t *testing.T, s *shop) {
	paid := s.paidFor("paid")
	for _, amount := range []string{
		"2.50", "2.5000", "2.5050", "2.5001", "2.000000000000", "100.00000", "1234567890.500000", "999999999999.0000", "9999999999999", "0.0000", "1e-20",
	} {
		for _, currency := range []string{"USD", "JPY", "KWD"} {
			name := amount + " " + currency
			req := clienttest.TokenPaymentRequest(name)
			req.Amount, req.Currency = decimal.RequireFromString(amount), currency
			pay := func(m methods, id string) error {
				req.TransactionID = id
				_, err := m.TokenPayment(t.Context(), cardgateway.NewToken(s.gateway.NewToken(sandbox.Approved)), req)
				return err
			}
			want, got := pay(s.client, name), pay(s.Journal, name+" recorded")
			if (got == nil) != (want == nil) || errors.Is(got, cardgateway.ErrInvalidRequest) != errors.Is(want, cardgateway.ErrInvalidRequest) {
				t.Errorf("%s: got %v, want as without the journal: %v", name, got, want)
			}
			q := cardgateway.ResolveQuery{TransactionID: name, Amount: req.Amount, Currency: currency, SentAt: time.Now(), Wait: 1}
			if _, err := s.client.Resolve(t.Context(), q); want == nil && err != nil {
				t.Errorf("%s was sent, and cannot be resolved: %v", name, err)
			}
		}
		back := cardgateway.RefundRequest{UniqueID: paid, RefundTransactionID: amount, Amount: decimal.RequireFromString(amount)}
		_, want := s.client.CreateRefund(t.Context(), back)
		back.RefundTransactionID += " recorded"
		_, got := s.CreateRefund(t.Context(), back)
		if errors.Is(got, cardgateway.ErrNotSent) || errors.Is(got, cardgateway.ErrInvalidRequest) != errors.Is(want, cardgateway.ErrInvalidRequest) {
			t.Errorf("refund of %s: got %v, want as without the journal: %v", amount, got, want)
		}
	}
}
