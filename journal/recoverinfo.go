package journal

import "time"

// RecoverInfo says what one Recover found: for gauges and alerts. The counts are of what is not acknowledged,
// payments and refunds together.
type RecoverInfo struct {
	Told           int // payments and refunds given to the loop; the sum of the following but for Unreadable
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
