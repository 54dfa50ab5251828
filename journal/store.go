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
// The version of an entry is the length of its Evidence. Record and Ack take the version that their caller has seen, as
// an optimistic lock: they change nothing if the entry has another one.
//
// Intent and Evidence have a JSON form, which keeps every member.
type Store interface {
	// Begin creates the entry of an intent and reports true, or returns the entry that is already there under this
	// transactionId, acknowledged or not. Of any number of callers at once exactly one creates.
	Begin(ctx context.Context, in Intent) (Entry, bool, error)
	// Get returns the entry of a transactionId, or ErrNoEntry.
	Get(ctx context.Context, transactionID string) (Entry, error)
	// Record appends evidence to an entry of this version; to another one it returns ErrChanged. For an unknown
	// transactionId it returns ErrNoEntry.
	Record(ctx context.Context, transactionID string, version int, ev Evidence) error
	// Ack acknowledges an entry of this version; for another one it returns ErrChanged. An entry of which everything is
	// acknowledged is left as it is, whatever the version. For an unknown transactionId it returns ErrNoEntry.
	Ack(ctx context.Context, transactionID string, version int) error
	// Unacked gives every entry that is not acknowledged, oldest first, at least those that were there when the walk
	// began. The store may be used within the walk. An error ends it.
	Unacked(ctx context.Context) iter.Seq2[Entry, error]
}

// tooRecent keeps Forget from forgetting what a running job may still repeat.
func tooRecent(before time.Time) error {
	if time.Since(before) < 24*time.Hour {
		return errors.New("journal: Forget takes a time at least 24 hours ago: a forgotten transactionId can be paid again")
	}
	return nil
}
