package journal_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestRunAcknowledgesWhatItTold: what is recorded while tell stores an outcome is reported too, even if a call has
// returned it or a notification has brought it meanwhile: that caller may have crashed since.
func TestRunAcknowledgesWhatItTold(t *testing.T) {
	for _, tt := range []struct {
		name      string
		before    func(*testing.T, *shop) // what leads to the first report
		meanwhile func(*testing.T, *shop)
		want      []string
	}{
		{"not sent, then sent", func(_ *testing.T, s *shop) {
			s.refuse = errDisk
			_, _ = s.pay("a", approved)
			s.refuse = nil
		}, func(t *testing.T, s *shop) {
			if got, err := s.pay("a", approved); err != nil || got.State() != cardgateway.StateApproved {
				t.Errorf("got %v, %v", got, err)
			}
		}, []string{"not sent", "succeeded"}},
		{"abandoned, then paid", func(t *testing.T, s *shop) {
			s.opensPage()
			searchShows(s, 301)
			time.Sleep(8 * 24 * time.Hour)
		}, func(t *testing.T, s *shop) {
			succeeds(t, s.Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "1")))
		}, []string{"abandoned", "succeeded"}},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			tt.before(t, s)
			var told []string
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			_ = s.Run(ctx, time.Minute, func(_ context.Context, e journal.Entry) error {
				told = append(told, e.State().String())
				if len(told) == 1 {
					tt.meanwhile(t, s)
				}
				return nil
			})
			if len(told) != len(tt.want) || told[len(told)-1] != tt.want[len(tt.want)-1] {
				t.Errorf("reported %q, want %q", told, tt.want)
			}
			wantStates(t, s.restarted(journal.Options{}), nil)
		})
	}
}

// TestRunKeepsConflict: Run reports a conflict once, and counts it in each list until a person has acknowledged it. An alert that looks once
// a minute would otherwise miss it.
func TestRunKeepsConflict(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		var told []string
		lists, conflicts := 0, 0
		var log bytes.Buffer
		j := s.restarted(journal.Options{
			Observe: func(_ context.Context, i journal.RecoverInfo) { lists, conflicts = lists+1, conflicts+i.Conflicts },
			Logger:  slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
		run := func() {
			ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second) // between two lists
			defer cancel()
			lists, conflicts = 0, 0
			_ = j.Run(ctx, 0, func(_ context.Context, e journal.Entry) error {
				told = append(told, e.State().String())
				return nil
			})
		}
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
		for range 2 {
			_, _ = s.client.CreateSubscription(t.Context(), order("a", approved)) // what a proxy does that sends a request twice
		}
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyReset})
		_, _ = j.CreateSubscription(t.Context(), order("a", approved))
		run()
		if want := []string{"conflict"}; len(told) != 1 || told[0] != want[0] || lists < 10 || conflicts < lists-1 {
			t.Errorf("reported %q, counted in %d of %d lists; want %q, and all but the first", told, conflicts, lists, want)
		}
		if warnings := strings.Count(log.String(), "conflicts=1"); warnings != 1 {
			t.Errorf("got %d warnings, want one:\n%s", warnings, log.String())
		}
		succeeds(t, j.Ack(t.Context(), journal.PaymentID("a"), journal.Conflicting))
		if run(); len(told) != 1 || conflicts > 0 {
			t.Errorf("after Ack: reported %q, counted %d times", told, conflicts)
		}
	})
}
