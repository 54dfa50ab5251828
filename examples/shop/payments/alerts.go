package payments

import (
	"context"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
)

// alertIf logs what a person should look at.
func (s *Service) alertIf(ctx context.Context, needed bool, reason string, args ...any) {
	if needed {
		s.Logger.ErrorContext(ctx, "alert", append([]any{"reason", reason}, args...)...)
	}
}

// observeJournal is called at each interval of Run, in every process.
func (s *Service) observeJournal(ctx context.Context, i journal.RecoverInfo) {
	if i.Standby { // another process works, and observes
		return
	}
	s.alertIf(ctx, i.Conflicts > 0, "money may have moved twice: look at what is in state conflict, then run cardgateway journal ack", "entries", i.Conflicts)
	s.alertIf(ctx, i.Refused > 0, "the gateway refuses: correct the cause", "entries", i.Refused)
	s.alertIf(ctx, i.PresumedAbsent > 0, "the gateway has not known a payment or refund for a day: decide what becomes of it", "entries", i.PresumedAbsent)
	s.alertIf(ctx, i.Unanswered > 0, "queries fail: if this lasts, check gateway and credentials", "entries", i.Unanswered, "error", i.LastError)
	s.alertIf(ctx, i.Unreadable > 0, "entries of the journal cannot be read", "entries", i.Unreadable)
	s.alertIf(ctx, !i.OldestOpen.IsZero() && time.Since(i.OldestOpen) > 25*time.Hour,
		"an outcome is unknown for longer than a day: ask the gateway's support", "since", i.OldestOpen)
	if i.Complete {
		s.Logger.InfoContext(ctx, "journal checked", "holder", i.Holder, "open", i.Open, "pending", i.Pending)
	}
}

// observeNotification is called for each notification.
func (s *Service) observeNotification(ctx context.Context, i notify.Info) {
	s.alertIf(ctx, i.Verified && i.Status != 200, "a notification was not handled: a token may be lost if this lasts", "status", i.Status, "error", i.Err)
}
