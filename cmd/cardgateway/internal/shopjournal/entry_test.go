package shopjournal

import (
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/shopspring/decimal"
)

// TestWords: the state of an entry, and what it rests on.
func TestWords(t *testing.T) {
	success := func(uniqueID string) journal.Evidence {
		return journal.Evidence{Source: journal.SourceQuery, State: journal.Succeeded, Transaction: &cardgateway.Transaction{
			Code: cardgateway.CodeSuccess, TransactionID: "t-1", UniqueID: uniqueID, TransactionAmount: decimal.NewFromInt(7), TransactionCurrency: "EUR",
		}}
	}
	for _, test := range []struct {
		name       string
		evidence   []journal.Evidence
		state, why string
		acked      bool
	}{
		{"nothing is known", nil, "unknown", "no response is recorded: it is in flight, or the program ended", false},
		{"its call ended", []journal.Evidence{{Source: journal.SourceAnswer, State: journal.Unknown}}, "unknown", "the call ended with an unknown outcome", false},
		{"seen", []journal.Evidence{{Source: journal.SourceQuery, State: journal.Unknown, Seen: true}}, "unknown",
			"the gateway knows the id, but the outcome is not certain", false},
		{"not sent", []journal.Evidence{{Source: journal.SourceAnswer, State: journal.NotSent}}, "not sent", "proved that nothing was sent", false},
		{"a limit", []journal.Evidence{{Source: journal.SourceAnswer, State: journal.NotSent, Invalid: true}}, "not sent",
			"the request is invalid; nothing was sent", false},
		{"paid", []journal.Evidence{success("1")}, "succeeded", "code 100, not acknowledged", false},
		{"paid, acknowledged", []journal.Evidence{success("1")}, "succeeded", "code 100", true},
		{"paid twice", []journal.Evidence{success("1"), success("2")}, "conflict", "contradictory outcomes; needs manual review", false},
		{"paid twice, acknowledged", []journal.Evidence{success("1"), success("2")}, "conflict", "contradictory outcomes", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &journal.Entry{Begun: journal.Intent{
				ID: journal.PaymentID("t-1"), Amount: decimal.NewFromInt(7), Currency: "EUR", At: time.Now(), Operation: "TokenPayment",
			}, Evidence: test.evidence, Acked: -1}
			if test.acked {
				e.Acked = len(e.Evidence)
			}
			if state, why := e.State().String(), Why(e); state != test.state || why != test.why || Kind(e.ID()) != "payment" || Currency(e) != "EUR" {
				t.Errorf("got %s %s %s: %s, want %s: %s", Kind(e.ID()), Currency(e), state, why, test.state, test.why)
			}
			var back State
			if err := back.UnmarshalText([]byte(asWord(e.State()))); back != State(e.State()) || err != nil {
				t.Errorf("got %v, %v back", back, err)
			}
		})
	}
}

// TestCorrected: after an invalid request, which sent nothing, the amount is that of the one that was submitted then.
func TestCorrected(t *testing.T) {
	first := journal.Intent{ID: journal.PaymentID("t-1"), Amount: decimal.RequireFromString("1251.5"), Currency: "JPY", At: time.Now(), Sender: "a"}
	second := first
	second.Amount, second.Currency, second.Sender = decimal.RequireFromString("12.51"), "EUR", "b"
	e := &journal.Entry{Begun: first, Acked: -1, Evidence: []journal.Evidence{
		{Source: journal.SourceAnswer, State: journal.NotSent, Sender: "a", Invalid: true}, {Source: journal.SourceSubmission, Submission: &second},
	}}
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.example", AppID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	Describe(&text, e, time.Hour, client, time.Now(), nil)
	if first, _, _ := strings.Cut(text.String(), "\n"); !strings.HasSuffix(first, "t-1 of 12.51 EUR") || Currency(e) != "EUR" {
		t.Errorf("got %q in %s", first, Currency(e))
	}
}
