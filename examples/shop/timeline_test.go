package main

import (
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// TestMomentsOf: every piece of evidence has words, which do not claim more than it says.
func TestMomentsOf(t *testing.T) {
	begun := time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC)
	payment := func(code cardgateway.Code) *cardgateway.Transaction { return &cardgateway.Transaction{Code: code} }
	for _, tt := range []struct {
		name       string
		ev         journal.Evidence
		kind, word string
	}{
		{"lost", journal.Evidence{Source: journal.SourceAnswer, State: journal.Unknown}, "lost", "Answer lost"},
		{"seen", journal.Evidence{Source: journal.SourceQuery, State: journal.Unknown, Seen: true}, "in", "Answered"},
		{"again", journal.Evidence{Source: journal.SourceSubmission, Submission: &journal.Intent{}}, "shop", "Written down again"},
		{"not sent", journal.Evidence{Source: journal.SourceAnswer, State: journal.NotSent}, "bad", "Not sent"},
		{"refused", journal.Evidence{Source: journal.SourceAnswer, State: journal.Refused}, "bad", "Refused"},
		{"absent", journal.Evidence{Source: journal.SourceQuery, State: journal.PresumedAbsent}, "bad", "Not known"},
		{"abandoned", journal.Evidence{Source: journal.SourceQuery, State: journal.Abandoned}, "shop", "Closed"},
		{"redirect", journal.Evidence{Source: journal.SourceAnswer, State: journal.Pending, Transaction: payment(301)}, "in", "Answered: redirect"},
		{"attempt", journal.Evidence{Source: journal.SourceQuery, State: journal.Pending, Transaction: payment(101)}, "bad", "Answered: declined"},
		{"processing", journal.Evidence{Source: journal.SourceQuery, State: journal.Pending, Transaction: payment(102)}, "in", "Answered: in processing"},
		{"declined", journal.Evidence{Source: journal.SourceQuery, State: journal.Declined, Transaction: payment(101)}, "bad", "Answered: declined"},
		{"approved", journal.Evidence{Source: journal.SourceQuery, State: journal.Succeeded, Transaction: payment(100)}, "good", "Answered: approved"},
		{"refunded", journal.Evidence{Source: journal.SourceQuery, State: journal.Succeeded, Refund: &cardgateway.Refund{}}, "good", "Answered: refunded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.ev.At = begun.Add(time.Second)
			got := momentsOf(&journal.Entry{Begun: journal.Intent{At: begun, Amount: price("24.00")}, Evidence: []journal.Evidence{tt.ev}})
			if len(got) != 2 || got[0].Word != "Written down" || !got[0].At.Equal(begun) {
				t.Fatalf("got %+v", got)
			}
			if m := got[1]; m.Kind != tt.kind || m.Word != tt.word || m.Text == "" || !m.At.Equal(tt.ev.At) {
				t.Errorf("got %+v, want %s, %s", m, tt.kind, tt.word)
			}
		})
	}
}
