package journal

import (
	"context"
	"log/slog"
	"time"
)

// RecoverInfo says what one Recover found: for gauges and alerts. The counts are of what is not acknowledged.
type RecoverInfo struct {
	Told           int // payments given to the loop; the sum of the following but for Unreadable
	Open           int // Unknown: a payment may have been made, and the gateway does not tell
	Pending        int // in processing, or waiting for the cardholder
	PresumedAbsent int
	Refused        int
	Conflicts      int // a person has to look
	Settled        int // with an outcome: NotSent, Abandoned, Declined or Succeeded
	Unreadable     int // entries that cannot be read

	Unanswered int       // payments about which the gateway was last asked in vain
	LastError  error     // why, of the latest of those; nil if there is none
	OldestOpen time.Time // when the oldest of Open was submitted; zero if there is none
	Complete   bool      // the loop was not left, and nothing failed
	Duration   time.Duration
}

func (i *RecoverInfo) count(e *Entry, known *projection) {
	i.Told++
	switch {
	case known.conflict:
		i.Conflicts++
	case known.state == Unknown:
		i.Open++
		if at := known.intent.At; i.OldestOpen.IsZero() || at.Before(i.OldestOpen) {
			i.OldestOpen = at
		}
	case known.state == Pending:
		i.Pending++
	case known.state == PresumedAbsent:
		i.PresumedAbsent++
	case known.state == Refused:
		i.Refused++
	default:
		i.Settled++
	}
	if e.why != nil {
		i.Unanswered++
		i.LastError = e.why
	}
}

// observe logs what a Recover found, and tells the observer.
func (j *Journal) observe(ctx context.Context, i RecoverInfo) {
	level := slog.LevelDebug
	if i.Conflicts > 0 || i.Unreadable > 0 || i.Unanswered > 0 || !i.Complete {
		level = slog.LevelWarn
	}
	if i.Told > 0 || level > slog.LevelDebug {
		j.opts.Logger.LogAttrs(ctx, level, "journal: recovered",
			slog.Int("open", i.Open), slog.Int("pending", i.Pending), slog.Int("presumedAbsent", i.PresumedAbsent),
			slog.Int("refused", i.Refused), slog.Int("conflicts", i.Conflicts), slog.Int("settled", i.Settled),
			slog.Int("unreadable", i.Unreadable), slog.Int("unanswered", i.Unanswered), slog.Any("lastError", i.LastError),
			slog.Bool("complete", i.Complete), slog.Duration("duration", i.Duration))
	}
	if j.opts.Observe != nil {
		j.opts.Observe(ctx, i)
	}
}
