package journal_test

import (
	"errors"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// otherShop is a journal with the same store for another gateway or app.
func (s *shop) otherShop(baseURL string, app cardgateway.AppID, opts journal.Options) *journal.Journal {
	s.t.Helper()
	return journal.New(s.newClient(func(cfg *cardgateway.Config) { cfg.BaseURL, cfg.AppID = baseURL, app }), s.store, opts)
}

// TestIDText: different ids have different texts, which are read back.
func TestIDText(t *testing.T) {
	texts := map[string]journal.ID{}
	for _, tt := range []struct {
		id   journal.ID
		want string
	}{
		{journal.PaymentID("a"), "a"},
		{journal.RefundID("a"), "refund a"},
		{journal.PaymentID("refund a"), "payment refund a"},
		{journal.PaymentID("payment refund a"), "payment payment refund a"},
		{journal.PaymentID("payment a"), "payment payment a"},
		{journal.RefundID("refund a"), "refund refund a"},
		{journal.RefundID("payment a"), "refund payment a"},
		{journal.PaymentID("refund"), "refund"},
		{journal.PaymentID("refund-a"), "refund-a"},
		{journal.PaymentID(""), ""},
		{journal.RefundID(""), "refund "},
	} {
		t.Run(tt.want, func(t *testing.T) {
			got := tt.id.String()
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if back := journal.ParseID(got); back != tt.id {
				t.Errorf("%q is read back as %+v, want %+v", got, back, tt.id)
			}
			if other, ok := texts[got]; ok {
				t.Errorf("%q is both %+v and %+v", got, tt.id, other)
			}
			texts[got] = tt.id
		})
	}
}

// TestShops: payments of two shops with the same transactionIds in one store do not affect each other.
func TestShops(t *testing.T) {
	for _, tt := range []struct {
		name    string
		baseURL string
		app     cardgateway.AppID
		gateway string // Options.Gateway
		same    bool
	}{
		{"the same", "https://gateway.test", "7", "", true},
		{"the same in another spelling", "https://gateway.test:443/", "7", "", true},
		{"another app", "https://gateway.test", "8", "", false},
		{"another gateway", "https://other.test", "7", "", false},
		{"another path", "https://gateway.test/v2", "7", "", false},
		{"a gateway that has moved", "https://moved.test", "7", "https://gateway.test", true},
		{"moved, with a slash", "https://moved.test", "7", "https://gateway.test/", true},
		{"moved, in capitals", "https://moved.test", "7", "HTTPS://GATEWAY.test", true},
		{"moved, with the port", "https://moved.test", "7", "https://gateway.test:443", true},
		{"moved, from another path", "https://moved.test", "7", "https://gateway.test/v2", false},
	} {
		runInBubble(t, tt.name, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
			_, _ = s.pay("a", approved) // its outcome is unknown
			other := s.otherShop(tt.baseURL, tt.app, journal.Options{Gateway: tt.gateway})
			sent := s.sent.Load()
			if err := other.Ack(t.Context(), journal.PaymentID("a"), journal.Succeeded); errors.Is(err, journal.ErrNoEntry) == tt.same {
				t.Errorf("Ack by the other: %v", err)
			}
			if _, err := other.Get(t.Context(), journal.PaymentID("a")); errors.Is(err, journal.ErrNoEntry) == tt.same {
				t.Errorf("Get by the other: %v", err)
			}
			if told := len(recovered(t, other)); (told > 0) != tt.same {
				t.Errorf("the other shop's Recover yields %d payments", told)
			}
			_, _ = other.CreateSubscription(t.Context(), order("a", approved))
			if again := s.sent.Load() > sent; again == tt.same {
				t.Errorf("the other's payment of this id was sent: %t", again)
			}
		})
	}
}
