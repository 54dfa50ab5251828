package journal

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Store keeps entries. Package journaltest has a suite that every implementation should pass.
//
// The methods may be called by any number of goroutines, and those of a store that several processes share by all
// of them. Whatever a method has written is durable when it returns without an error, with one latitude: evidence
// for which CanBeAskedAgain holds need only survive the death of the process at once, and a power failure soon.
// After an error it may or may not have been written.
//
// Intent and Evidence have a JSON form, which keeps every member.
type Store interface {
	// Begin creates the entry of an intent and reports true, or returns the entry that is already there under this
	// transactionId, acknowledged or not. Of any number of callers at once exactly one creates.
	Begin(ctx context.Context, in Intent) (Entry, bool, error)
	// Record appends evidence to the entry, if it has exactly so many pieces so far; otherwise it returns
	// ErrChanged. For an unknown transactionId it returns ErrNoEntry.
	Record(ctx context.Context, transactionID string, pieces int, ev Evidence) error
	// Ack acknowledges the entry, if it has exactly so many pieces of evidence; otherwise, also with -1, it returns
	// ErrChanged. An entry of which everything is acknowledged is left as it is, whatever pieces says. For an unknown
	// transactionId it returns ErrNoEntry.
	Ack(ctx context.Context, transactionID string, pieces int) error
	// Unacked gives every entry that is not acknowledged, oldest first, at least those that were there when the walk
	// began. The store may be used within the walk. An error ends it.
	Unacked(ctx context.Context) iter.Seq2[Entry, error]
}

// CanBeAskedAgain reports whether losing this evidence would only leave the payment open, for Recover to ask about:
// so it is with an answer of the gateway, and not with further submissions, with what is proved unsent or presumed
// absent, and with a refusal.
func (ev *Evidence) CanBeAskedAgain() bool {
	switch ev.State {
	case Pending, Declined, Succeeded:
		return true
	case Unknown:
		return ev.Source != SourceSubmission
	}
	return false
}

// Errors of a Store.
var (
	ErrNoEntry = errors.New("journal: no such payment")
	ErrChanged = errors.New("journal: more is known of the payment by now")
)

// tooRecent keeps Forget from forgetting what a running job may still repeat.
func tooRecent(before time.Time) error {
	if time.Since(before) < 24*time.Hour {
		return errors.New("journal: Forget takes a time at least 24 hours ago: a forgotten transactionId can be paid again")
	}
	return nil
}
