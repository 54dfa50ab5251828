package journal

import "time"

// RecoverInfo reports what one Recover found, for metrics and alerts. It counts entries that are not acknowledged,
// payments and refunds together.
type RecoverInfo struct {
	Told           int // payments and refunds yielded to the loop; the sum of the following except Unreadable
	Open           int // Unknown: a payment may have been made, and its outcome is not known
	Pending        int // in processing, or waiting for the cardholder
	PresumedAbsent int
	Refused        int
	Conflicts      int // need manual review
	Settled        int // with an outcome: NotSent, Abandoned, Declined or Succeeded
	Unreadable     int // entries that cannot be read

	Unanswered int       // payments whose last query failed
	LastError  error     // the error of the latest of these queries; nil if there is none
	OldestOpen time.Time // when the oldest of Open was submitted; zero if there is none
	Complete   bool      // the loop was not left early, and nothing failed
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
