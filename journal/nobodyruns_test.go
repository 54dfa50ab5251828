package journal_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestOutcomeMethods: Transaction, Refund and Err are what Outcome passes, and Version grows with each piece of evidence.
func TestOutcomeMethods(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		paid, err := s.pay("paid", approved)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.pay("pending", pending)
		_, _ = s.pay("declined", declined)
		s.loseNext(sandbox.CommitNever)
		_, _ = s.pay("lost", approved)
		refund := cardgateway.RefundRequest{UniqueID: paid.UniqueID, RefundTransactionID: "r", Amount: decimal.RequireFromString("2.50")}
		if _, err := s.CreateRefund(t.Context(), refund); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			id                  journal.ID
			transaction, refund bool
			err                 error
		}{
			{journal.PaymentID("paid"), true, false, nil},
			{journal.PaymentID("pending"), true, false, nil},
			{journal.PaymentID("declined"), true, false, cardgateway.ErrDeclined},
			{journal.PaymentID("lost"), false, false, cardgateway.ErrOutcomeUnknown},
			{journal.RefundID("r"), false, true, nil},
		} {
			e, err := s.Get(t.Context(), tt.id)
			if err != nil {
				t.Fatal(err)
			}
			if (e.Transaction() != nil) != tt.transaction || (e.Refund() != nil) != tt.refund || !errors.Is(e.Err(), tt.err) || e.Version() != len(e.Evidence) {
				t.Errorf("%v: %+v, %+v, %v, version %d", tt.id, e.Transaction(), e.Refund(), e.Err(), e.Version())
			}
		}
	})
}

// TestNobodyRuns: the first unknown outcome in a process that looks for none says so, once.
func TestNobodyRuns(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(t *testing.T, j *journal.Journal)
		want   int
	}{
		{"nothing is called", func(*testing.T, *journal.Journal) {}, 1},
		{"Run", func(t *testing.T, j *journal.Journal) { running(t, j, 0, nil) }, 0},
		{"Recover", func(t *testing.T, j *journal.Journal) { recovered(t, j) }, 0},
		{"Resolve", func(t *testing.T, j *journal.Journal) { _, _ = j.Resolve(t.Context(), journal.PaymentID("x")) }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
				var log bytes.Buffer
				s.Journal = s.restarted(journal.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				tt.before(t, s.Journal)
				_, _ = s.pay("paid", approved)
				for _, id := range []string{"a", "b"} {
					s.loseNext(sandbox.CommitNever)
					_, _ = s.CreateSubscription(context.Background(), order(id, approved))
				}
				if n := strings.Count(log.String(), "neither Run nor Recover"); n != tt.want || n > 0 && !strings.Contains(log.String(), "transactionId=a") {
					t.Errorf("logged %d times, want %d: %s", n, tt.want, &log)
				}
			})
		})
	}
}
