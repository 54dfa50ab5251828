package journal_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

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
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
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
	}
}
